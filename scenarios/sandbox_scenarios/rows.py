"""The rows that a scenario begins with, and what may stand in them: tables, columns, types, ids of other rows.

Policy: each written row is compared with the table's declaration. An id may name a row of the table that its column
refers to and of no other; rows that a world has fixed can be referred to, not written.
"""

import json
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, cast

from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.world import Cell, Column, Snapshot, TableSchema, snapshot_of
from sandbox_mcp.engine.world.fixed import FixedRows
from sandbox_mcp.engine.world.schema import REQUIRED, CellRole
from sandbox_scenarios.problem import PartPath, ProblemError
from sandbox_scenarios.values import Resolver, ValueProblemError

_WRITTEN: Mapping[str, str] = {
    "timestamp": "; expected a date and time such as 2026-03-02 09:00:00",
    "string": "; write text that looks like something else in quotes",
    "boolean": "; expected true or false",
}
"""How a file has values of a type, where that is easily mistaken."""
_TYPES: Mapping[str, type] = {"string": str, "boolean": bool, "integer": int}
_PLAIN: Mapping[str, type] = {"string": str, "integer": int}
"""Types of cells that may stand as they are written."""


def labels_of(home: World, table: str, rows: Any) -> Iterable[str]:
    """The labels of a table's rows, as a file writes the table."""
    schema = home.tables.get(table)
    if schema and schema.single:
        return (schema.label,)
    return map(str, cast("dict[str, Any]", rows)) if isinstance(rows, dict) else ()


class ScenarioRows:
    """Reads the rows of one scenario."""

    def __init__(self, home: World, resolver: Resolver) -> None:
        self._home = home
        self._resolver = resolver

    def state(self, raw: Mapping[str, Any], place: str) -> Snapshot:
        """The rows that a scenario begins with; ``place`` is the key they stand under."""
        schemas = self._home.state_tables
        tables: dict[str, dict[str, dict[str, Cell]]] = {name: {} for name in schemas}
        for name, rows in raw.items():
            tables[name] = self.of_table(name, rows, place)
        for name, schema in schemas.items():
            if schema.single and not schema.optional and not tables[name]:
                told = f"the world has no row in table {name!r}; extend a base world, or add it"
                raise ProblemError((place,), told)
        return snapshot_of(tables)

    def cells(self, schema: TableSchema, row: Any, where: PartPath) -> dict[str, Cell]:
        """Some cells of a row of a table."""
        if not isinstance(row, dict):
            raise ProblemError(where, f"expected a mapping of columns to values, not {row!r}")
        found: dict[str, Cell] = {}
        for name, written in cast("dict[str, Any]", row).items():
            place = (*where, str(name))
            found[name] = self._written(self.column(schema, name, place), written, place)
        return found

    def of_table(self, name: str, rows: Any, place: str, before: PartPath = ()) -> dict[str, dict[str, Cell]]:
        """The rows of one table; ``place`` is the key they stand under, behind the path ``before``."""
        schema = self.schema(name, (*before, place, name))
        if schema.fixed is not None:
            raise ProblemError(
                (*before, place, name), f"the rows of table {name!r} are fixed; a scenario cannot set them"
            )
        labelled = {schema.label: rows} if schema.single else rows
        if not isinstance(labelled, dict):
            raise ProblemError((*before, place, name), "expected a mapping of labels to rows")
        found: dict[str, dict[str, Cell]] = {}
        columns = {column.name for column in schema.columns}
        plain = {
            column.name: _PLAIN[column.type]
            for column in schema.columns
            if column.type in _PLAIN and not (column.role or column.item_role or column.choices)
        }
        for label, row in cast("dict[str, Any]", labelled).items():
            where = (*before, place, name) if schema.single else (*before, place, name, str(label))
            key = self._resolver.row_id(name, str(label))
            if not isinstance(row, dict):
                raise ProblemError(where, f"expected a mapping of columns to values, not {row!r}")
            given = cast("dict[str, Any]", row)
            if schema.key in given:
                raise ProblemError((*where, schema.key), f"{schema.key} is made from the row's label; leave it out")
            for column in given:
                if column not in columns:
                    self.column(schema, column, (*where, column))
            cells: dict[str, Cell] = {schema.key: key}
            for column in schema.columns[1:]:
                written = given.get(column.name)
                if type(written) is plain.get(column.name) and not (type(written) is str and written.startswith("@")):
                    cells[column.name] = written  # as it stands, like most cells
                elif written is None and column.default is not REQUIRED:
                    cells[column.name] = column.default
                elif written is None and not column.nullable:
                    raise ProblemError(where, f"the row lacks {column.name!r} of table {schema.name!r}")
                else:
                    cells[column.name] = self._written(column, written, (*where, column.name))
            found[key] = cells
        return found

    def _written(self, column: Column, written: Any, where: PartPath) -> Cell:
        if written is None:
            return None
        try:
            value = self._resolver.plain(written)
            if column.role is not None or column.item_role is not None:
                self.see_cell(column, written, value)
            return cell_of(value, column, written)
        except (ValueProblemError, ValueError) as error:
            raise ProblemError(where, str(error)) from error

    def see_cell(self, column: Column, written: Any, value: Any) -> None:
        """Refuse an id of a row of another table, in a cell or in its list; ValueError says which was expected."""
        listed = isinstance(written, list)
        items = (
            zip(cast("list[Any]", written), cast("list[Any]", value), strict=True) if listed else ((written, value),)
        )
        for item, one in items:
            role = column.item_role if listed else column.role
            self.see_id(role, item, one)
            self._see_bare(role, item)

    def _see_bare(self, role: CellRole | None, written: Any) -> None:
        """Refuse a text where the id of a row is meant, since no row of the state has an id that a file could know."""
        if role is None or role.kind not in ("id", "key") or not isinstance(written, str) or written.startswith("@"):
            return
        schema = self._home.state_tables.get(role.table or "")
        if schema is not None:
            label = written if written in self._resolver.labels.get(schema.name, ()) else "label"
            raise ValueError(f'{written!r} is no id of a row; write "@{schema.name}.{label}"')

    def see_id(self, role: CellRole | None, written: Any, value: Any) -> None:
        """Refuse an id of a row of another table, or of none; ValueError says which was expected."""
        if role is None or role.kind not in ("id", "key") or not role.table or not isinstance(written, str):
            return
        if written.startswith("@"):
            table = written[1:].partition(".")[0]
            if table != role.table:
                raise ValueError(f"{written!r} is a row of table {table!r}; expected one of {role.table!r}")
            return
        schema = self._home.tables.get(role.table)
        if schema is None or schema.fixed is None:
            return
        instance = self._home.fixed_in(self._resolver.instance)
        known = (instance.rows(schema) if instance else FixedRows.of(schema)).rows
        if value not in known:
            near = get_close_matches(written, known, n=3, cutoff=0.5)
            hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise ValueError(f"table {role.table!r} has no row with the id {written!r}{hint}")

    def schema(self, table: str, where: PartPath) -> TableSchema:
        """The table of that name."""
        schema = self._home.tables.get(table)
        if schema is None:
            raise ProblemError(where, f"unknown table {table!r}; known: {', '.join(self._home.tables) or 'none'}")
        return schema

    @staticmethod
    def column(schema: TableSchema, column: str, where: PartPath) -> Column:
        """The column of that name."""
        found = schema.column(column)
        if found is None:
            known = ", ".join(item.name for item in schema.columns)
            told = f"unknown column {column!r} of table {schema.name!r}; known: {known}"
            alone = "; the only row of a table is written without a label" if schema.single else ""
            raise ProblemError(where, f"{told}{alone}")
        return found


def cell_of(value: Any, column: Column, written: Any) -> Cell:
    """A value as a cell of that column; ValueError, with what the file has, where it does not fit."""
    if column.type == "list":
        if not isinstance(value, list | tuple):
            raise ValueError(
                f"column {column.name!r} holds a list; write [{json.dumps(written, default=str)}] for a list of one"
            )
        inside = Column(column.name, column.items or "string", choices=column.choices)
        items = cast("list[Any]", value)
        parts = cast("list[Any]", written) if isinstance(written, list | tuple) else items
        return tuple(cast("str", cell_of(*one)) for one in zip(items, [inside] * len(items), parts, strict=True))
    if column.choices and value not in column.choices:
        raise ValueError(f"column {column.name!r}: {value!r} is not one of {', '.join(map(str, column.choices))}")
    if column.type in ("number", "timestamp") and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, _TYPES.get(column.type, ())) and isinstance(value, bool) == (column.type == "boolean"):
        return cast(Cell, value)
    raise ValueError(f"column {column.name!r}: {value!r} is not of type {column.type}{_WRITTEN.get(column.type, '')}")
