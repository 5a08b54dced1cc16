"""A case as versions of its tables: one number per table and index, equal numbers for equal states.

Policy: a state is numbered by its content, so that a change that is undone leads back to the old number.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from grader.errors import GraderError
from grader.milestones.case import MESSAGES, STATE_TABLES, Case, Cells, RowChange

BOOLEANS = frozenset({"cellular", "wifi", "location_service", "low_battery_mode", "is_self"})
NUMBERS = frozenset({"latitude", "longitude", "creation_timestamp", "reminder_timestamp"})
FilledRow = tuple[tuple[Any, ...], Cells]
"""A row without empty cells: as a tuple, which compares fast, and by column."""


class History:
    """What the milestones of a case are compared with. Indexes count from the first of the candidate range.

    ``versions`` holds a number per table and index, ``messages`` the message of each index as a row, ``calls`` what was
    recorded on it.
    """

    def __init__(self, case: Case) -> None:
        self.first = case.first_index()
        self.length = len(case.messages) - self.first
        self.rows: dict[str, list[tuple[Cells, ...]]] = {}
        self.versions: dict[str, list[int]] = {MESSAGES: list(range(self.length))}
        self.messages = tuple(
            {"sender": m.sender, "recipient": m.recipient, "content": m.content, "tool_calls": m.calls}
            for m in case.messages[self.first :]
        )
        self.calls = tuple(m.calls or () for m in case.messages[self.first :])
        self._filled: dict[tuple[str, int], list[FilledRow]] = {}
        for table in {*STATE_TABLES, *case.tables}:
            self._replay(case, table)

    def filled(self, table: str, version: int) -> list[FilledRow]:
        """The rows of a version with the zero value of its type in every empty cell."""
        rows = self._filled.get((table, version))
        if rows is None:
            named = [zero_filled(row) for row in self.rows[table][version]]
            rows = self._filled[table, version] = [(tuple(row.values()), row) for row in named]
        return rows

    def _replay(self, case: Case, table: str) -> None:
        changes = {
            index: found
            for index, message in enumerate(case.messages)
            if message.changes and (found := [change for change in message.changes if change.table == table])
        }
        columns = _columns(case.tables.get(table, ()), [change for found in changes.values() for change in found])
        rows: list[Cells] = [_ordered(row, columns) for row in case.tables.get(table, ())]
        states, versions = [tuple(rows)], list[int]()
        known, current = {_key(rows): 0}, 0
        for index in range(len(case.messages)):
            if index in changes:
                for change in changes[index]:
                    _apply(rows, change, columns)
                current = known.setdefault(_key(rows), len(states))
                if current == len(states):
                    states.append(tuple(rows))
            versions.append(current)
        self.rows[table], self.versions[table] = states, versions[self.first :]


def _columns(rows: Sequence[Cells], changes: Sequence[RowChange]) -> tuple[str, ...]:
    named = [*rows, *(change.after for change in changes if change.after)]
    return tuple(dict.fromkeys(column for row in named for column in row))


def _ordered(row: Cells, columns: tuple[str, ...]) -> Cells:
    return row if tuple(row) == columns else {column: row.get(column) for column in columns}


def _key(rows: Sequence[Cells]) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(row.values()) for row in rows)


def _apply(rows: list[Cells], change: RowChange, columns: tuple[str, ...]) -> None:
    after = _ordered(change.after or {}, columns)
    if change.kind == "add":
        rows.append(after)
    elif not 0 <= change.position < len(rows):
        raise GraderError(f"a change of table {change.table!r} names row {change.position!r}; it has {len(rows)}")
    elif change.kind == "remove":
        del rows[change.position]
    else:
        rows[change.position] = after


def zero_filled(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with the zero value of its column's type in every empty cell."""
    return {column: _zero(column) if cell is None else cell for column, cell in row.items()}


def _zero(column: str) -> Any:
    return False if column in BOOLEANS else 0.0 if column in NUMBERS else ""
