"""A case as versions of its tables: one number per table and index, equal numbers for equal states.

Policy: a state is numbered by its content, so that a change that is undone leads back to the old number. Rows are
numbers as well, so that states are compared without looking into them.
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

    ``versions`` holds a number per table and index, ``rows`` the numbers of each version's rows, ``messages`` the
    message of each index as a row, ``calls`` what was recorded on it.
    """

    def __init__(self, case: Case) -> None:
        self.first = case.first_index()
        self.length = len(case.messages) - self.first
        self.rows: dict[str, list[tuple[int, ...]]] = {}
        self.versions: dict[str, list[int]] = {MESSAGES: list(range(self.length))}
        self.messages = tuple(
            {"sender": m.sender, "recipient": m.recipient, "content": m.content, "tool_calls": m.calls}
            for m in case.messages[self.first :]
        )
        self.calls = tuple(m.calls or () for m in case.messages[self.first :])
        self._rows = _Numbered()
        self._filled_rows = _Numbered()
        self._filling: list[int] = []
        self._filled: dict[tuple[str, int], Filled] = {}
        self._sizes: dict[str, dict[int | None, list[int]]] = {}
        self._written: dict[str, frozenset[int]] = {}
        self._repetitive: set[str] = set()
        nodes = (*case.milestones.nodes, *case.minefields.nodes)
        named = {constraint.table for node in nodes for constraint in node.constraints}
        guarded = {table for node in nodes for table in node.guarded or ()}
        for table in {*STATE_TABLES, *case.tables, *named, *guarded} - {MESSAGES}:
            self._replay(case, table)

    def row(self, number: int) -> Cells:
        """The row of that number."""
        return self._rows.rows[number]

    def filled(self, table: str, version: int) -> Filled:
        """The rows of a version with the zero value of its type in every empty cell."""
        found = self._filled.get((table, version))
        if found is None:
            numbers = tuple(map(self._filling.__getitem__, self.rows[table][version]))
            known = frozenset(numbers)
            found = self._filled[table, version] = Filled(numbers, known, len(known) == len(numbers))
        return found

    def filled_row(self, number: int) -> Cells:
        """The row of that number without empty cells."""
        return self._filled_rows.rows[number]

    def every_filled(self, table: str) -> frozenset[int]:
        """The numbers of all rows without empty cells that were ever in a table."""
        return self._written[table]

    def sizes(self, table: str) -> dict[int | None, list[int]]:
        """The versions of a table by their number of rows; those that hold a row twice also under None."""
        found = self._sizes.get(table)
        if found is None:
            found = self._sizes[table] = {}
            for version, rows in enumerate(self.rows[table]):
                found.setdefault(len(rows), []).append(version)
                if table in self._repetitive and not self.filled(table, version).unique:
                    found.setdefault(None, []).append(version)
        return found

    def _replay(self, case: Case, table: str) -> None:
        changes = {
            index: found
            for index, message in enumerate(case.messages)
            if message.changes and (found := [change for change in message.changes if change.table == table])
        }
        initial = case.tables.get(table, ())
        columns = _columns(initial, [change for found in changes.values() for change in found])
        rows = [self._number(row, columns) for row in initial]
        written, states, versions = rows.copy(), [tuple(rows)], list[int]()
        known, current = {states[0]: 0}, 0
        for index in range(len(case.messages)):
            if index in changes:
                for change in changes[index]:
                    if change.kind != "remove":
                        written.append(self._number(change.after or {}, columns))
                    _apply(rows, change, written[-1] if written else -1)
                state = tuple(rows)
                current = known.setdefault(state, len(states))
                if current == len(states):
                    states.append(state)
            versions.append(current)
        self.rows[table], self.versions[table] = states, versions[self.first :]
        self._written[table] = frozenset(map(self._filling.__getitem__, written))
        if len(self._written[table]) < len(written):
            self._repetitive.add(table)

    def _number(self, row: Cells, columns: tuple[str, ...]) -> int:
        """The number of a row with all columns in order, the same for equal rows."""
        whole = row if tuple(row) == columns else {column: row.get(column) for column in columns}
        number = self._rows.number(whole)
        if number == len(self._filling):
            self._filling.append(self._filled_rows.number(zero_filled(whole)))
        return number


class _Numbered:
    """Different rows, numbered as they come."""

    def __init__(self) -> None:
        self.rows: list[Cells] = []
        self._numbers: dict[tuple[tuple[str, Any], ...], int] = {}

    def number(self, row: Cells) -> int:
        """The number of the first equal row."""
        number = self._numbers.setdefault(tuple(row.items()), len(self.rows))
        if number == len(self.rows):
            self.rows.append(row)
        return number


def _columns(rows: Sequence[Cells], changes: Sequence[RowChange]) -> tuple[str, ...]:
    named = [*rows, *(change.after for change in changes if change.after)]
    return tuple(dict.fromkeys(column for row in named for column in row))


def _apply(rows: list[int], change: RowChange, after: int) -> None:
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
