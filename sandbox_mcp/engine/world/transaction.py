"""Transactions: everything a tool reads and writes goes through one, and happens together or not at all.

Policy: what was touched is known down to the cell, because races between calls are decided from it. Reading one column
of one row does not conflict with writing another column of that row; scanning a table conflicts with any write to it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sandbox_mcp.engine.world.clock import Clock, IdStream
from sandbox_mcp.engine.world.fixed import FixedInstance
from sandbox_mcp.engine.world.state import Cell, Change, Row, Snapshot, freeze

Access = tuple[str, str | None, str | None]
"""What was touched: table, row id (None: the whole table), column (None: the whole row)."""


@dataclass(slots=True)
class Transaction:
    """The world as one tool call sees it. Writes are visible to the call itself at once, to others on commit.

    ``notes`` are what a log should say of how the call came by its answer.
    """

    base: Snapshot
    clock: Clock
    ids: IdStream
    drawn: dict[str, int]
    changes: list[Change] = field(default_factory=list[Change])
    reads: set[Access] = field(default_factory=set[Access])
    writes: set[Access] = field(default_factory=set[Access])
    elapsed: float = 0.0
    knowledge: object = None
    fixed: FixedInstance | None = None
    notes: dict[str, str] = field(default_factory=dict[str, str])
    edited: dict[str, dict[str, Row]] = field(default_factory=dict[str, dict[str, Row]])

    def rows(self, table: str) -> list[Row]:
        """All rows of a table, oldest first."""
        self.reads.add((table, None, None))
        return list(self.seen(table).values())

    def row(self, table: str, key: str) -> Row | None:
        """One row, or None where the id is unknown."""
        self.reads.add((table, key, None))
        return self.seen(table).get(key)

    def cell(self, table: str, key: str, column: str) -> Cell:
        """One value of one row; the row must exist."""
        self.reads_cell(table, key, column)
        return self.seen(table)[key][column]

    def reads_cell(self, table: str, key: str, column: str) -> None:
        """Note that a value is read which the caller has at hand."""
        self.reads.add((table, key, column))

    def seen(self, table: str) -> Mapping[str, Row]:
        """The rows of a table by id, for whoever says what it reads of them by other means."""
        edited = self.edited.get(table)
        return self.base.table(table) if edited is None else edited

    def insert(self, table: str, key_column: str, values: Mapping[str, Cell]) -> str:
        """Add a row under a new id, which is put into ``key_column`` first, and return the id."""
        n = self.drawn.get(table, 0)
        self.drawn[table] = n + 1
        key = self.ids.id(table, n)
        self._write(Change(table, key, None, freeze({key_column: key, **values})))
        self.writes.add((table, key, None))
        return key

    def update(self, table: str, key: str, values: Mapping[str, Cell]) -> None:
        """Set some columns of an existing row. Writing a cell's own value is no change, but counts as a write."""
        before = self.seen(table)[key]
        self.writes.update((table, key, column) for column in values)
        after = freeze({**before, **values})
        if after != before:
            self._write(Change(table, key, before, after))

    def delete(self, table: str, key: str) -> None:
        """Remove an existing row."""
        self._write(Change(table, key, self.seen(table)[key], None))
        self.writes.add((table, key, None))

    def put(self, table: str, key: str, row: Row | None) -> None:
        """Make a row be as it is elsewhere, under an id from there; None removes it."""
        self._write(Change(table, key, self.seen(table).get(key), row))
        self.writes.add((table, key, None))

    def _write(self, change: Change) -> None:
        rows = self.edited.get(change.table)
        if rows is None:
            rows = self.edited[change.table] = dict(self.base.table(change.table))
        if change.after is None:
            del rows[change.key]
        else:
            rows[change.key] = change.after
        self.changes.append(change)
