"""Small worlds, and what may happen to them: strategies for the laws."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from hypothesis import strategies as st

from sandbox_mcp.engine.world import Clock, IdStream, Running, Snapshot, Transaction, snapshot_of

TABLES = ("animal", "field")
KEY = "id"


class Op(NamedTuple):
    """One write; ``pick`` chooses among the rows there are."""

    kind: str
    table: str
    pick: int
    values: dict[str, Any]


class Step(NamedTuple):
    """One transaction: what it writes, and whether it then fails."""

    ops: list[Op]
    fails: bool


class Failure(Exception):
    """What a transaction of the tests fails with."""


cells = st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2)
columns = st.dictionaries(st.sampled_from(["name", "age"]), cells)
ops = st.builds(
    Op, st.sampled_from(["insert", "update", "delete"]), st.sampled_from(TABLES), st.integers(0, 9), columns
)
steps = st.lists(st.builds(Step, st.lists(ops, max_size=5), st.booleans()), max_size=6)


def start() -> Snapshot:
    """Two tables, the first with two rows."""
    animals = {"a1": {KEY: "a1", "name": "Rex", "age": 3}, "a2": {KEY: "a2", "name": None, "age": None}}
    return snapshot_of({"animal": animals, "field": {}})


def world(seed: str = "seed", now: float = 1_000_000.0, zone: str = "UTC") -> Running:
    """A fresh world."""
    return Running(start(), Clock(now, zone), IdStream(seed))


def write(tx: Transaction, op: Op) -> None:
    """Do one write, or nothing where there is no row to do it to."""
    if op.kind == "insert":
        tx.insert(op.table, KEY, {"name": None, "age": None, **op.values})
        return
    rows = tx.rows(op.table)
    if not rows:
        return
    key = str(rows[op.pick % len(rows)][KEY])
    if op.kind == "update":
        tx.update(op.table, key, op.values)
    else:
        tx.delete(op.table, key)


def run(target: Running, done: Iterable[Step]) -> list[Any]:
    """Let transactions happen; the changes of those that did not fail, in order."""
    changes: list[Any] = []
    for step in done:
        try:
            with target.transaction() as tx:
                for op in step.ops:
                    write(tx, op)
                if step.fails:
                    raise Failure
        except Failure:
            continue
        changes += tx.changes
    return changes


def plain(snapshot: Snapshot) -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """A snapshot as lists and dicts, so that order counts when two are compared."""
    return {name: [(key, dict(row)) for key, row in table.items()] for name, table in snapshot.tables.items()}
