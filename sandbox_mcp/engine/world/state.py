"""Tables, rows and snapshots.

Policy: state is only ever replaced, never edited. A write makes a new version of the one table it touches and shares
all others, so that a snapshot is a reference, comparing two versions of a table can start with ``is``, and the
session's past stays true whatever happens later.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

Cell = str | int | float | bool | tuple[str | int | float | bool, ...] | None
Row = Mapping[str, Cell]
Rows = Mapping[str, Row]

EMPTY_TABLE: Rows = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Change:
    """One row before and after a write; ``before`` is None for an insert, ``after`` is None for a delete."""

    table: str
    key: str
    before: Row | None
    after: Row | None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All tables at one moment: table name to row id to row. Row order is insertion order."""

    tables: Mapping[str, Rows]

    def table(self, name: str) -> Rows:
        """The rows of one table by id; empty for a table the world does not have."""
        return self.tables.get(name, EMPTY_TABLE)


def freeze(values: Mapping[str, Cell]) -> Row:
    """A row that cannot be edited, detached from the mapping it was made from."""
    return MappingProxyType(dict(values))


def snapshot_of(tables: Mapping[str, Mapping[str, Mapping[str, Cell]]]) -> Snapshot:
    """Build a snapshot from plain nested mappings: table name to row id to row."""
    frozen = {name: MappingProxyType({key: freeze(row) for key, row in rows.items()}) for name, rows in tables.items()}
    return Snapshot(MappingProxyType(frozen))


def fold(snapshot: Snapshot, changes: Iterable[Change]) -> Snapshot:
    """The state after ``changes``, applied in order.

    Any state of a session can be rebuilt this way from its first snapshot and its log, without running a tool.
    Updates keep the row's place, inserts go to the end.
    """
    edited: dict[str, dict[str, Row]] = {}
    for change in changes:
        rows = edited.get(change.table)
        if rows is None:
            rows = edited[change.table] = dict(snapshot.table(change.table))
        if change.after is None:
            rows.pop(change.key, None)
        else:
            rows[change.key] = change.after
    return replace_tables(snapshot, edited)


def replace_tables(snapshot: Snapshot, edited: Mapping[str, dict[str, Row]]) -> Snapshot:
    """A snapshot with the given tables replaced and all others shared."""
    if not edited:
        return snapshot
    frozen = {name: MappingProxyType(rows) for name, rows in edited.items()}
    return Snapshot(MappingProxyType({**snapshot.tables, **frozen}))
