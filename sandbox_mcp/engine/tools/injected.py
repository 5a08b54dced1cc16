"""Faults that a scenario lets happen once: a call fails before or after it acted, answers late, old or in part.

Policy: the seed picks which call of a tool is struck, among those that pass its gates; the log says so in
``meta.injected``, so that a fault is proven to have landed and can be carried out again.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal, cast, get_args

from sandbox_mcp.engine.tools.calling import Bound, CallError, Outcome, attempt, run
from sandbox_mcp.engine.world import Running, Snapshot

FaultName = Literal["before", "after", "stale", "partial", "slow", "rate_limit"]
KINDS: tuple[FaultName, ...] = get_args(FaultName)
LOOKING: tuple[FaultName, ...] = ("stale", "partial")
"""Kinds that strike tools which only look."""
INJECTED = "injected"
"""Under this key of a call's ``meta`` the log names the kind."""
UNSURE = "no answer within 30 seconds; whether it was done is not known"
LIMITED = "too many requests; try again later"
WAIT = 30.0
"""Seconds that a slow call takes longer."""


@dataclass(frozen=True, slots=True)
class FaultRule:
    """One fault: the tool, which of its calls (the seed picks one from ``first`` to ``last``), and the kind."""

    tool: str
    kind: FaultName
    first: int = 1
    last: int = 1


class InjectedFaults:
    """The faults of one session that have not struck yet."""

    __slots__ = ("_left",)

    def __init__(self, rules: Iterable[FaultRule], seed: str) -> None:
        self._left: list[tuple[FaultRule, int]] = []
        for place, rule in enumerate(rules):
            number = Random(f"{seed}/fault {place}").randint(rule.first, rule.last)  # noqa: S311  (to be drawn again)
            self._left.append((rule, number))

    def next(self, tool: str) -> FaultName | None:
        """Count a call of a tool, and tell the fault that strikes it."""
        struck: FaultName | None = None
        left: list[tuple[FaultRule, int]] = []
        for rule, number in self._left:
            waits = number - (rule.tool == tool)
            if waits == 0 and rule.tool == tool and struck is None:
                struck = rule.kind
            elif waits > 0:
                left.append((rule, waits))
        self._left = left
        return struck


def spoilt(world: Running, call: Bound, kind: FaultName, began: Snapshot) -> Outcome:
    """Run a call that a fault strikes; ``began`` is the state of which a stale answer tells.

    Raises:
        WorldFailedError: the world's own code broke.
    """
    if kind in ("before", "rate_limit"):
        type_, told = ("TimeoutError", UNSURE) if kind == "before" else ("RateLimitError", LIMITED)
        return Outcome(call.tool, call.arguments, fault=CallError("execution", type_, told))
    if kind == "stale":
        transaction = world.begin()
        transaction.base = began
        return attempt(transaction, call)
    outcome = run(world, call)
    if kind == "slow":
        world.tick(WAIT)
    if outcome.fault or kind == "slow":
        return outcome
    if kind == "after":
        return replace(outcome, result=None, fault=CallError("execution", "TimeoutError", UNSURE))
    told: object = outcome.result
    if not isinstance(told, list):
        return outcome
    return replace(outcome, result=cast("list[Any]", told)[: len(cast("list[Any]", told)) // 2])
