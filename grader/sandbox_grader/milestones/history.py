"""A case as versions of its tables: one number per table and index, equal numbers for equal states.

Policy: a state is numbered by its content, so that a change undone leads back to the old number. Rows are
numbers as well, so that states are compared without looking into them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sandbox_grader.errors import GraderError
from sandbox_grader.milestones.case import MESSAGES, STATE_TABLES, Case, Cells, RowChange
from sandbox_grader.milestones.row_versions import Bits

ZEROS: Mapping[str, Any] = {
    **dict.fromkeys(("cellular", "wifi", "location_service", "low_battery_mode", "is_self"), False),
    **dict.fromkeys(("latitude", "longitude", "creation_timestamp", "reminder_timestamp"), 0.0),
}
"""What stands for an empty cell of a column; in all other columns it is an empty text."""


class History:
    """Events that the milestones of a case are compared with. Indexes count from the first of the candidate range.

    ``versions`` holds a number per table and index, ``rows`` the numbers of each version's rows, ``contents`` the set
    of its rows without empty cells, ``messages`` the message of each index as a row, ``calls`` what was recorded on it.
    """

    def __init__(self, case: Case) -> None:
        self.first = case.first_index()
        self.length = len(case.messages) - self.first
        self.rows: dict[str, list[tuple[int, ...]]] = {}
        self.contents: dict[str, list[Bits]] = {}
        self.versions: dict[str, list[int]] = {MESSAGES: list(range(self.length))}
        self.messages = tuple(
            {"sender": m.sender, "recipient": m.recipient, "content": m.content, "tool_calls": m.calls}
            for m in case.messages[self.first :]
        )
        self.calls = tuple(m.calls or () for m in case.messages[self.first :])
        self._rows = _Numbered()
        self._filled_rows = _Numbered()
        self._filling: list[int] = []
        self._sizes: dict[str, dict[int | None, list[int]]] = {}
        nodes = (*case.milestones.nodes, *case.minefields.nodes)
        named = {constraint.table for node in nodes for constraint in node.constraints}
        guarded = {table for node in nodes for table in node.guarded or ()}
        for table in sorted({*STATE_TABLES, *case.tables, *named, *guarded} - {MESSAGES}):
            self._replay(case, table)

    def row(self, number: int) -> Cells:
        """The row of that number."""
        return self._rows.rows[number]

    def filled(self, table: str, version: int) -> tuple[int, ...]:
        """The numbers of a version's rows with the zero value of its type in every empty cell."""
        return tuple(map(self._filling.__getitem__, self.rows[table][version]))

    def unique(self, table: str, version: int) -> bool:
        """True if all rows of a version differ once they are filled."""
        return self.contents[table][version].bit_count() == len(self.rows[table][version])

    def filled_row(self, number: int) -> Cells:
        """The row of that number without empty cells."""
        return self._filled_rows.rows[number]

    def sizes(self, table: str) -> dict[int | None, list[int]]:
        """The versions of a table by their number of rows; those that hold a row twice also under None."""
        found = self._sizes.get(table)
        if found is None:
            found = self._sizes[table] = {}
            for version, rows in enumerate(self.rows[table]):
                found.setdefault(len(rows), []).append(version)
                if not self.unique(table, version):
                    found.setdefault(None, []).append(version)
        return found

    def _replay(self, case: Case, table: str) -> None:
        changes = {
            index: found
            for index, message in enumerate(case.messages)
            if message.changes and (found := [change for change in message.changes if change.table == table])
        }
        initial = case.tables.get(table, ())
        later = [change.after for found in changes.values() for change in found if change.after]
        columns = tuple(dict.fromkeys(column for row in (*initial, *later) for column in row))
        rows = _Rows([self._number(row, columns) for row in initial], self._filling)
        states, contents, versions = [tuple(rows.numbers)], [rows.content], list[int]()
        known, current = {states[0]: 0}, 0
        for index in range(len(case.messages)):
            if index in changes:
                for change in changes[index]:
                    rows.change(change, None if change.kind == "remove" else self._number(change.after or {}, columns))
                state = tuple(rows.numbers)
                current = known.setdefault(state, len(states))
                if current == len(states):
                    states.append(state)
                    contents.append(rows.content)
            versions.append(current)
        self.rows[table], self.contents[table], self.versions[table] = states, contents, versions[self.first :]

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


class _Rows:
    """The rows of a table while its changes are replayed, and the set of them without empty cells."""

    def __init__(self, numbers: list[int], filling: Sequence[int]) -> None:
        self.numbers = numbers
        self._filling = filling
        self._held = Counter[int]()
        self.content: Bits = 0
        for number in numbers:
            self._count(number, 1)

    def change(self, change: RowChange, after: int | None) -> None:
        """Apply a change; ``after`` is the number of the row as it is then, None if it is removed."""
        if change.kind == "add":
            self.numbers.append(-1)
        elif not 0 <= change.position < len(self.numbers):
            text = f"a change of table {change.table!r} names row {change.position!r}; it has {len(self.numbers)}"
            raise GraderError(text)
        else:
            self._count(self.numbers[change.position], -1)
        position = -1 if change.kind == "add" else change.position
        if after is None:
            del self.numbers[position]
        else:
            self.numbers[position] = after
            self._count(after, 1)

    def _count(self, number: int, more: int) -> None:
        filled = self._filling[number]
        self._held[filled] += more
        if self._held[filled] == (more > 0):  # the first came, or the last went
            self.content ^= 1 << filled


def zero_filled(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with the zero value of its column's type in every empty cell."""
    return {column: ZEROS.get(column, "") if cell is None else cell for column, cell in row.items()}
