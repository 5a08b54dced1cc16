"""The world as a tool's code sees it: typed rows, the virtual clock, and nothing else.

Policy: whatever a tool does to the world it does here, so that it happens together or not at all, is known down to the
cell, and stays within the effects that the tool declares. A mistake in a tool's own code (an unknown column, a value of
the wrong kind, an effect that was not declared) is a fault of the world, never of whoever called the tool.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, ParamSpec, TypeVar, cast

from sandbox_mcp.engine.world.clock import to_local, to_timestamp
from sandbox_mcp.engine.world.effects import EffectKind, Effects
from sandbox_mcp.engine.world.faults import DuplicateError, NoDataError, UndeclaredEffectError
from sandbox_mcp.engine.world.fixed import FixedRows, fixed_rows
from sandbox_mcp.engine.world.ordered import OrderedRows, in_order
from sandbox_mcp.engine.world.schema import REQUIRED, TableSchema
from sandbox_mcp.engine.world.state import Cell, Row
from sandbox_mcp.engine.world.tables import Id, Table, as_cell, cells_of, checked_cell, row_of, schema_of
from sandbox_mcp.engine.world.transaction import Transaction

_R = TypeVar("_R", bound=Table)
_P = ParamSpec("_P")


class Tx:
    """One call's view of the world. Rows that it gives are read, never written to: see :meth:`change`."""

    __slots__ = ("_effects", "_tool", "transaction")

    def __init__(self, transaction: Transaction, tool: str = "a tool", effects: Effects | None = None) -> None:
        """``effects`` None means that anything may be written."""
        self.transaction = transaction
        self._tool = tool
        self._effects = effects

    def get(self, table: type[_R], id: Id[_R]) -> _R:  # noqa: A002 - what callers call it
        """The row of that id.

        Raises:
            NoDataError: no row has it.
        """
        found = self.find(table, id)
        if found is None:
            raise NoDataError(f"there is no {_words(table)} with the id {str(id)!r}")
        return found

    def find(self, table: type[_R], id: Id[_R]) -> _R | None:  # noqa: A002 - what callers call it
        """The row of that id, or None."""
        fixed = self._fixed(table)
        if fixed is not None:
            return fixed.seen_as(table).get(str(id))
        cells = self.transaction.row(schema_of(table).name, str(id))
        return None if cells is None else row_of(table, cells)

    def all(self, table: type[_R], **equal: Any) -> list[_R]:
        """The rows of a table, oldest first; with ``column=value`` only those in which the column has that value."""
        schema = schema_of(table)
        self._check_columns(schema, equal)
        wanted = {name: as_cell(value) for name, value in equal.items()}
        fixed = self._fixed(table)
        if fixed is not None:
            return [*fixed.matching(table, wanted)]
        found = self.transaction.rows(schema.name)
        for name, value in wanted.items():
            found = [cells for cells in found if cells[name] == value]
        return [row_of(table, cells) for cells in found]

    def ordered(self, table: type[_R], *by: str, **equal: Any) -> Sequence[_R]:
        """The rows of a table by columns, each made when it is looked at, so that a page of thousands costs a page.

        Rows that are alike in these columns come oldest first; ``column=value`` is as in :meth:`all`.
        """
        schema = schema_of(table)
        self._check_columns(schema, dict.fromkeys(by) | equal)
        wanted = {name: as_cell(value) for name, value in equal.items()}
        fixed = self._fixed(table)
        if fixed is not None:
            return sorted(fixed.matching(table, wanted), key=lambda row: [cells_of(row)[name] for name in by])
        transaction, name = self.transaction, schema.name
        transaction.reads.add((name, None, None))
        found = in_order(transaction.seen(name), by, wanted, kept=name not in transaction.edited)
        return OrderedRows(found, lambda cells: row_of(table, cells))

    def one(self, table: type[_R], **equal: Any) -> _R:
        """The only row of a table, or the only one in which columns have these values.

        Raises:
            NoDataError: there is no such row.
            DuplicateError: there is more than one.
        """
        schema = schema_of(table)
        if schema.single and not equal:
            # only the columns that are looked at count as read, or all would race
            transaction = self.transaction
            id_, cells = next(iter(transaction.seen(schema.name).items()), ("", None))
            if cells is None:
                transaction.rows(schema.name)
                raise NoDataError(f"there is no {_words(table)}")
            return row_of(table, cells, lambda name: transaction.reads_cell(schema.name, id_, name))
        found = self.all(table, **equal)
        if len(found) > 1:
            raise DuplicateError(f"there are {len(found)} such rows of {_words(table)}, not one")
        if not found:
            raise NoDataError(f"there is no such {_words(table)}")
        return found[0]

    def add(self, table: Callable[_P, _R], *_: _P.args, **cells: _P.kwargs) -> _R:
        """Make a row under a new id and give it. Columns with a default may be left out."""
        kind = cast("type[_R]", table)
        schema = schema_of(kind)
        self._may("adds", schema)
        self._check_columns(schema, cells)
        if schema.key in cells:
            raise TypeError(f"the world makes the id of a new row of {kind.__name__}; leave {schema.key!r} out")
        values: dict[str, Cell] = {}
        for item in schema.columns[1:]:
            value = cells.get(item.name, item.default)
            if value is REQUIRED:
                raise TypeError(f"a new row of {kind.__name__} lacks {item.name!r}")
            values[item.name] = checked_cell(schema, item, value)
        id_ = self.transaction.insert(schema.name, schema.key, values)
        return row_of(kind, self.transaction.seen(schema.name)[id_])

    def change(self, row: _R, **cells: Any) -> _R:
        """Set some columns of a row and give the row as it then is."""
        schema = schema_of(type(row))
        self._check_columns(schema, cells)
        if schema.key in cells:
            raise TypeError(f"the id of {type(row).__name__} stays as it is")
        self._may("updates", schema, frozenset(cells))
        values = {
            item.name: checked_cell(schema, item, cells[item.name]) for item in schema.columns if item.name in cells
        }
        id_ = str(cells_of(row)[schema.key])
        self.transaction.update(schema.name, id_, values)
        return row_of(type(row), self.transaction.seen(schema.name)[id_])

    def remove(self, row: Table) -> None:
        """Remove a row."""
        schema = schema_of(type(row))
        self._may("removes", schema)
        self.transaction.delete(schema.name, str(cells_of(row)[schema.key]))

    @property
    def now(self) -> float:
        """The virtual time, in seconds since 1970."""
        return self.transaction.clock.now

    @property
    def zone(self) -> str:
        """The name of the world's time zone."""
        return self.transaction.clock.zone

    @property
    def knowledge(self) -> Any:
        """Knowledge in which the world looks things up."""
        return self.transaction.knowledge

    def local(self, moment: float | None = None) -> datetime:
        """The wall time of a moment, or of now, in the world's zone."""
        return to_local(self.now if moment is None else moment, self.zone)

    def moment(self, wall: datetime) -> float:
        """The moment of a wall time in the world's zone.

        Raises:
            ValueError: it lies so near an end of the calendar that it could not be told back.
        """
        moment = to_timestamp(wall, self.zone)
        try:
            self.local(moment)
        except ValueError as error:
            raise ValueError(f"{wall} is out of range; expected a year from 2 to 9998") from error
        return moment

    def wait(self, seconds: float) -> None:
        """Let time pass once the call is over; ValueError if it would go back or never end."""
        if not 0 <= seconds < math.inf:
            raise ValueError(f"waiting takes 0 seconds or more, not {seconds!r}")
        self.transaction.elapsed += seconds

    def _fixed(self, table: type[_R]) -> FixedRows | None:
        """The rows of a fixed table as this instance has them; None for tables of a state."""
        found = fixed_rows(table)
        if found is None or self.transaction.fixed is None:
            return found
        return self.transaction.fixed.rows(schema_of(table))

    def _may(self, kind: EffectKind, schema: TableSchema, columns: frozenset[str] = frozenset()) -> None:
        if schema.fixed is not None:
            raise UndeclaredEffectError(f"{self._tool} {kind} table {schema.name!r}, whose rows are fixed")
        if self._effects is not None:
            self._effects.check(self._tool, kind, schema.name, columns)

    @staticmethod
    def _check_columns(schema: TableSchema, named: Mapping[str, object]) -> None:
        for name in named:
            if schema.column(name) is None:
                known = ", ".join(item.name for item in schema.columns)
                raise TypeError(f"table {schema.name!r} has no column {name!r}; known: {known}")


def _words(table: type[Table]) -> str:
    return schema_of(table).name.replace("_", " ")


def visible(row: Table) -> Row:
    """The cells of a row that a result may have."""
    table, cells = type(row), cells_of(row)
    shown: tuple[str, ...] | None = table.__dict__.get("_shown_")
    if shown is None:
        shown = cast("Any", table)._shown_ = tuple(item.name for item in schema_of(table).columns if item.shown)
    return {name: cells[name] for name in shown}
