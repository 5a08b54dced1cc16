"""Races between calls that were sent together, decided so that a race is always lost.

Policy. Calls of one batch race when one wrote what another read or wrote, down to the cell. No order is promised
within a batch, so the world chooses, out of what a real device could have done, the order that serves the caller
worst: a call that can only fail before (or after) the other comes before (or after) it, and one whose answer would
change gets the stale answer. What order the calls arrived in plays no part. Calls that do not race are untouched.

How. Every call is tried alone on the state before the batch, which tells what it touches, and once more after the
writes of those it races with, which tells what it stands to lose; a gate that looks at the state is part of the call.
That makes three runs a call, the final one included, however many race; orders are never enumerated.
Source: ToolSandbox, appendix A.6, which asks that races surface.
"""

import heapq
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sandbox_mcp.engine.tools.calling import Bound, Outcome, attempt
from sandbox_mcp.engine.tools.gates import Gates
from sandbox_mcp.engine.world import Access, Running, Transaction, fold

BATCH_KEY = "io.github.sandbox-mcp/batch"
"""Key in a call's ``_meta`` over MCP: ``{"id", "index", "size"}``. Calls with the same id are one batch of ``size``."""
_NEW = "\x00new"
"""Stands for the id of any row that a trial inserted: two inserts never meet, a scan of the table meets both."""


@dataclass(frozen=True, slots=True)
class Plan:
    """In which order to run the calls of a batch (positions in the batch), and which of them race."""

    order: tuple[int, ...]
    racing: frozenset[int]


def plan(world: Running, calls: Sequence[Bound], gates: Gates) -> Plan:
    """Decide the order of a batch. Runs nothing for good."""
    if len(calls) < 2:
        return Plan(tuple(range(len(calls))), frozenset())
    names = [(call.tool.name, json.dumps(call.arguments, sort_keys=True, ensure_ascii=False)) for call in calls]
    canonical = sorted(range(len(calls)), key=names.__getitem__)
    if any(call.tool.once for call in calls):  # a trial would be a deed, so nothing is known of their races
        return Plan(tuple(canonical), frozenset())
    trials = [_tried(world.begin(), call, gates) for call in calls]
    touched = [_touched(trial) for trial in trials]
    rivals = {i: [j for j in canonical if i != j and _meet(touched[i], touched[j])] for i in canonical}
    first = {i: set[int]() for i in canonical}
    for i in canonical:
        for earlier, later in _preferences(world, calls, trials, touched, i, rivals[i], gates):
            first[later].add(earlier)
    return Plan(tuple(_sorted(canonical, first)), frozenset(i for i in canonical if rivals[i]))


def _tried(tx: Transaction, call: Bound, gates: Gates) -> Outcome:
    """The outcome of a call, and of the gate before it."""
    refused = gates.refusal(call, tx)  # what it looks at counts as read by the call
    if refused:
        return Outcome(call.tool, call.arguments, fault=refused, reads=frozenset(tx.reads))
    return attempt(tx, call)


@dataclass(frozen=True, slots=True)
class _Touched:
    reads: frozenset[Access]
    writes: frozenset[Access]


def _touched(trial: Outcome) -> _Touched:
    inserted = {(change.table, change.key) for change in trial.changes if change.before is None}
    writes = (
        (table, _NEW, None) if (table, key) in inserted else (table, key, column) for table, key, column in trial.writes
    )
    return _Touched(trial.reads, frozenset(writes))


def _meet(one: _Touched, other: _Touched) -> bool:
    return _overlap(one.writes, other.reads) or _overlap(other.writes, one.reads) or _overlap(one.writes, other.writes)


def _overlap(some: Iterable[Access], others: Iterable[Access]) -> bool:
    return any(_same(a, b) for a in some for b in others)


def _same(a: Access, b: Access) -> bool:
    if a[0] != b[0] or a[1] == b[1] == _NEW:
        return False
    same_row = a[1] is None or b[1] is None or a[1] == b[1]
    return same_row and (a[2] is None or b[2] is None or a[2] == b[2])


def _preferences(
    world: Running,
    calls: Sequence[Bound],
    trials: Sequence[Outcome],
    touched: Sequence[_Touched],
    i: int,
    rivals: list[int],
    gates: Gates,
) -> list[tuple[int, int]]:
    """Pairs (earlier, later) that make call ``i`` lose against those whose writes it read."""
    writers = [j for j in rivals if _overlap(touched[j].writes, touched[i].reads)]
    if not writers:
        return []
    tx = world.begin()
    tx.base = fold(world.snapshot, (change for j in writers for change in trials[j].changes))
    alone, after = trials[i], _tried(tx, calls[i], gates)
    if alone.fault is None and after.fault is not None:
        return [(j, i) for j in writers]
    if after.fault is None and (alone.fault is not None or alone.result != after.result):
        return [(i, j) for j in writers]
    return []


def _sorted(canonical: Sequence[int], first: Mapping[int, set[int]]) -> list[int]:
    """A topological order; the canonical one decides between equals and where preferences form a circle."""
    rank = {index: position for position, index in enumerate(canonical)}
    waiting = {index: set(before) for index, before in first.items()}
    order: list[int] = []
    ready = [rank[index] for index in canonical if not waiting[index]]
    heapq.heapify(ready)
    while waiting:
        chosen = canonical[heapq.heappop(ready)] if ready else min(waiting, key=rank.__getitem__)
        if chosen not in waiting:
            continue
        del waiting[chosen]
        order.append(chosen)
        for index, before in waiting.items():
            if chosen in before:
                before.discard(chosen)
                if not before:
                    heapq.heappush(ready, rank[index])
    return order
