"""A case as versions of its tables: one number per table and index, equal numbers for equal states.

Policy: a state is numbered by its content, so that a change that is undone leads back to the old number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.errors import GraderError
from grader.milestones.case import MESSAGES, STATE_TABLES, Case, Cells, RowChange

BOOLEANS = frozenset({"cellular", "wifi", "location_service", "low_battery_mode", "is_self"})
NUMBERS = frozenset({"latitude", "longitude", "creation_timestamp", "reminder_timestamp"})


@dataclass(frozen=True, slots=True)
class Filled:
    """A version of a table without empty cells.

    ``numbers`` has one number per row, the same for equal rows, ``known`` the different ones; ``unique`` tells that all
    are different.
    """

    numbers: tuple[int, ...]
    known: frozenset[int]
    unique: bool


class History:
    """What the milestones of a case are compared with. Indexes count from the first of the candidate range.

    ``versions`` holds a number per table and index, ``rows`` the rows of each version, ``messages`` the message of each
    index as a row, ``calls`` what was recorded on it.
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
        self._filled: dict[tuple[str, int], Filled] = {}
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._numbered: dict[int, int] = {}
        self._filled_rows: list[Cells] = []
        self._sizes: dict[str, dict[int | None, list[int]]] = {}
        nodes = (*case.milestones.nodes, *case.minefields.nodes)
        named = {constraint.table for node in nodes for constraint in node.constraints}
        guarded = {table for node in nodes for table in node.guarded or ()}
        for table in {*STATE_TABLES, *case.tables, *named, *guarded} - {MESSAGES}:
            self._replay(case, table)

    def filled(self, table: str, version: int) -> Filled:
        """The rows of a version with the zero value of its type in every empty cell."""
        found = self._filled.get((table, version))
        if found is None:
            numbers = tuple(map(self._numbered.__getitem__, map(id, self.rows[table][version])))
            known = frozenset(numbers)
            found = self._filled[table, version] = Filled(numbers, known, len(known) == len(numbers))
        return found

    def filled_row(self, number: int) -> Cells:
        """The row of that number."""
        return self._filled_rows[number]

    def sizes(self, table: str) -> dict[int | None, list[int]]:
        """The versions of a table by their number of rows; those that hold a row twice also under None."""
        found = self._sizes.get(table)
        if found is None:
            found = self._sizes[table] = {}
            for version, rows in enumerate(self.rows[table]):
                found.setdefault(len(rows), []).append(version)
                if not self.filled(table, version).unique:
                    found.setdefault(None, []).append(version)
        return found

    def _number(self, row: Cells) -> None:
        if id(row) not in self._numbered:
            named = zero_filled(row)
            number = self._numbers.setdefault(tuple(named.items()), len(self._filled_rows))
            if number == len(self._filled_rows):
                self._filled_rows.append(named)
            self._numbered[id(row)] = number

    def _replay(self, case: Case, table: str) -> None:
        changes = {
            index: found
            for index, message in enumerate(case.messages)
            if message.changes and (found := [change for change in message.changes if change.table == table])
        }
        initial = case.tables.get(table, ())
        columns = _columns(initial, [change for found in changes.values() for change in found])
        same: dict[tuple[Any, ...], Cells] = {}
        rows = [_shared(row, columns, same) for row in initial]
        states, versions = [tuple(rows)], list[int]()
        known, current = {tuple(map(id, rows)): 0}, 0
        for index in range(len(case.messages)):
            if index in changes:
                for change in changes[index]:
                    _apply(rows, change, _shared(change.after or {}, columns, same))
                current = known.setdefault(tuple(map(id, rows)), len(states))
                if current == len(states):
                    states.append(tuple(rows))
            versions.append(current)
        self.rows[table], self.versions[table] = states, versions[self.first :]
        for row in same.values():
            self._number(row)


def _columns(rows: Sequence[Cells], changes: Sequence[RowChange]) -> tuple[str, ...]:
    named = [*rows, *(change.after for change in changes if change.after)]
    return tuple(dict.fromkeys(column for row in named for column in row))


def _shared(row: Cells, columns: tuple[str, ...], same: dict[tuple[Any, ...], Cells]) -> Cells:
    """The row with all columns in order; equal rows become one object, which makes states cheap to compare."""
    cells = tuple(map(row.get, columns))
    return same.setdefault(cells, row if tuple(row) == columns else dict(zip(columns, cells, strict=True)))


def _apply(rows: list[Cells], change: RowChange, after: Cells) -> None:
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
