"""Tables of a world: the columns a scenario may fill, a tool may write and a milestone may compare."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

ColumnType = Literal["string", "number", "integer", "boolean", "timestamp", "list"]
RoleKind = Literal["key", "id", "text", "moment", "secret"]
DefaultMeasure = Literal["exact", "close", "rouge"]
REQUIRED: Any = object()
"""In place of a column's default: the column has no default, so every row has to say its value."""


@dataclass(frozen=True, slots=True)
class CellRole:
    """Role of a cell or an argument: ``table`` names the table whose rows an ``id`` points at."""

    kind: RoleKind
    table: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, what its cells hold, and what a scenario, a grader and lint need to know of it.

    ``items`` is what a list holds and ``item_role`` what that is for, ``choices`` the only values there may be.
    ``hidden`` columns never appear in a result. ``passing`` says that a value differs from run to run, so that two
    states are not compared by it. ``measure`` and ``within`` are how a milestone compares a cell where it does not say.
    ``unsaid`` is what a user says only where its brief knows it, and ``person`` a person's name. ``called`` is what
    people call a switch.
    """

    name: str
    type: ColumnType
    nullable: bool = False
    role: CellRole | None = None
    items: ColumnType | None = None
    choices: tuple[str | int, ...] = ()
    default: Any = REQUIRED
    hidden: bool = False
    passing: bool = False
    measure: DefaultMeasure = "exact"
    within: float | None = None
    unsaid: bool = False
    person: bool = False
    called: tuple[str, ...] = ()
    item_role: CellRole | None = None

    @property
    def shown(self) -> bool:
        """True if results may have it."""
        return not self.hidden and (self.role is None or self.role.kind != "secret")


@dataclass(frozen=True, slots=True)
class TableSchema:
    """One table; ``key`` is the column that holds the row id.

    ``single`` means that it has one row, known by ``label``, ``optional`` that it may have none. In a ``lasting`` table
    a row has done its work by being made: removing it undoes nothing. ``fixed`` is the file whose rows it holds, which
    nothing changes. ``owner`` is the column that is true in the row about the user itself.
    """

    name: str
    key: str
    columns: tuple[Column, ...]
    single: bool = False
    optional: bool = False
    lasting: bool = False
    fixed: Path | None = None
    owner: str = ""
    label: str = "only"

    def column(self, name: str) -> Column | None:
        """The column of that name, if the table has one."""
        return next((column for column in self.columns if column.name == name), None)
