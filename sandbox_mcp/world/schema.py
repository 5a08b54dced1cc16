"""What a world's tables hold: the columns a scenario may fill, a tool may write and a milestone may compare."""

from dataclasses import dataclass
from typing import Literal

ColumnType = Literal["string", "number", "boolean", "timestamp"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, what its cells hold and whether a cell may be null."""

    name: str
    type: ColumnType
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class TableSchema:
    """One table; ``key`` is the column that holds the row id.

    ``single`` means that it has one row, ``optional`` that it may have none.
    """

    name: str
    key: str
    columns: tuple[Column, ...]
    single: bool = False
    optional: bool = False

    def column(self, name: str) -> Column | None:
        """The column of that name, if the table has one."""
        return next((column for column in self.columns if column.name == name), None)
