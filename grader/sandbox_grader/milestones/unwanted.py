"""Changes of the phone that nobody asked for, anywhere in a session.

Policy: a change is wanted if a milestone that was met, at least in part, is about that row, or if the scenario allows
it. Where a milestone sets columns of an existing row only those columns are wanted; a row that a milestone adds or
removes is wanted whole. A row that was made and removed again within the session left nothing and is nobody's concern,
except that a message once sent stays sent. A row that was there before and was changed back was still changed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sandbox_mcp.trajectory import ToolCall, Trajectory
from sandbox_mcp.world.state import Change, Snapshot

LASTING_TABLES = frozenset({"messaging"})
"""Tables in which a row has done its work by being made."""
WHOLE = "*"
"""As a column: the row as a whole, its being there or not included."""


@dataclass(frozen=True, slots=True)
class Unwanted:
    """One change that nothing explains. ``columns`` maps a changed column to its value before and after."""

    seq: int
    tool: str
    table: str
    row: str
    kind: Literal["added", "removed", "changed"]
    columns: Mapping[str, tuple[Any, Any]] = field(default_factory=dict[str, tuple[Any, Any]])


class AllowedChanges:
    """Which cells may change: by table and row id, then for all rows of a table."""

    def __init__(self, allows: Mapping[str, Iterable[str]]) -> None:
        self._tables = {table: frozenset(columns) for table, columns in allows.items()}
        self._rows: dict[tuple[str, str], set[str]] = {}

    def add(self, table: str, row: str, columns: Iterable[str]) -> None:
        """Allow a row's columns, or with ``WHOLE`` all of it."""
        self._rows.setdefault((table, row), set()).update(columns)

    def whole(self, table: str, row: str) -> bool:
        """Whether the row may come and go."""
        return WHOLE in self._tables.get(table, ()) or WHOLE in self._rows.get((table, row), ())

    def column(self, table: str, row: str, column: str) -> bool:
        """Whether the cell may change."""
        return (
            self.whole(table, row)
            or column in self._tables.get(table, ())
            or column in self._rows.get((table, row), ())
        )


def unwanted(trajectory: Trajectory, start: Snapshot, end: Snapshot, wanted: AllowedChanges) -> tuple[Unwanted, ...]:
    """The unexplained changes in the order in which they happened."""
    found: list[Unwanted] = []
    for event in trajectory.events:
        if isinstance(event, ToolCall):
            for change in event.changes:
                problem = _problem(event, change, start, end, wanted)
                if problem is not None:
                    found.append(problem)
    return tuple(found)


def _problem(
    event: ToolCall, change: Change, start: Snapshot, end: Snapshot, wanted: AllowedChanges
) -> Unwanted | None:
    table, row = change.table, change.key
    tool = event.tool or event.name
    if row in start.table(table):
        if change.after is None:
            return None if wanted.whole(table, row) else Unwanted(event.seq, tool, table, row, "removed")
        columns = {name: cells for name, cells in differing(change).items() if not wanted.column(table, row, name)}
        return Unwanted(event.seq, tool, table, row, "changed", columns) if columns else None
    if change.before is not None or change.after is None or wanted.whole(table, row):
        return None  # a row of this session: its coming is what counts
    if row not in end.table(table) and table not in LASTING_TABLES:
        return None
    added = {name: (None, value) for name, value in change.after.items()}
    return Unwanted(event.seq, tool, table, row, "added", added)


def differing(change: Change) -> dict[str, tuple[Any, Any]]:
    """The columns that a change of a row touches, with the values before and after."""
    before, after = change.before or {}, change.after or {}
    return {
        name: (before.get(name), after.get(name))
        for name in dict.fromkeys((*before, *after))
        if before.get(name) != after.get(name)
    }
