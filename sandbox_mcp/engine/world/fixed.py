"""Tables whose rows come from a file and never change: looked things up in, never part of a state or a log.

Policy: a file is read once, when something of it is first asked for. In CSV an empty field is null where the column may
be, and the parts of a list are separated by ``|``.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, TypeVar, cast

from sandbox_mcp.engine.world.faults import WorldError
from sandbox_mcp.engine.world.schema import REQUIRED, CellRole, Column, TableSchema
from sandbox_mcp.engine.world.state import Cell, Row, freeze
from sandbox_mcp.engine.world.tables import Table, cells_of, checked_cell, schema_of, shared_row

_R = TypeVar("_R", bound=Table)


class FixedRows:
    """The rows of one file by id, and where the values of a column are found."""

    __slots__ = ("_found", "_seen", "rows")

    def __init__(self, rows: Mapping[str, Row]) -> None:
        self.rows = rows
        self._seen: dict[type[Table], Mapping[str, Table]] = {}
        self._found: dict[tuple[type[Table], tuple[str, ...]], dict[tuple[Cell, ...], list[Table]]] = {}

    @classmethod
    def of(cls, schema: TableSchema) -> "FixedRows":
        """The rows of a fixed table.

        Raises:
            WorldError: the file does not hold what the table declares.
        """
        return _read(schema)

    def seen_as(self, table: type[_R]) -> Mapping[str, _R]:
        """The rows as tools see them. They are made once: what never changes may be shared by all sessions."""
        seen: Any = self._seen.get(table)
        if seen is None:
            seen = self._seen[table] = {id_: shared_row(table, cells) for id_, cells in self.rows.items()}
        return seen

    def matching(self, table: type[_R], equal: Mapping[str, Any]) -> Iterable[_R]:
        """The rows in which these columns have their values; all rows where none is named."""
        if not equal:
            return self.seen_as(table).values()
        names = tuple(equal)
        found = self._found.get((table, names))
        if found is None:
            found = self._found[table, names] = {}
            for row in self.seen_as(table).values():
                cells = cells_of(row)
                found.setdefault(tuple([cells[name] for name in names]), []).append(row)
        try:
            return cast("list[_R]", found.get(tuple(equal.values()), ()))
        except TypeError:  # what cannot be hashed equals no cell
            return ()


def fixed_rows(table: type[Table]) -> FixedRows | None:
    """The rows of a fixed table, kept with its class so that no look-up hashes its schema; None for tables of a state.

    Raises:
        WorldError: the file does not hold what the table declares.
    """
    found: FixedRows | None = table.__dict__.get("_rows_")
    if found is None and schema_of(table).fixed is not None:
        found = cast("Any", table)._rows_ = FixedRows.of(schema_of(table))
    return found


@lru_cache(maxsize=64)
def _read(schema: TableSchema) -> FixedRows:
    path = schema.fixed or Path()
    rows: dict[str, Row] = {}
    for line, raw in _raw_rows(path):
        where = f"{path.name}:{line}"
        if not isinstance(raw, dict):
            raise WorldError(f"{where}: expected a JSON object with the cells of a row, not {raw!r}")
        fields = cast("dict[Any, Any]", raw)
        if None in fields:
            raise WorldError(f"{where}: more fields than columns in the first line; too many: {fields[None]!r}")
        unknown = [name for name in fields if schema.column(name) is None]
        if unknown:
            known = ", ".join(item.name for item in schema.columns)
            raise WorldError(f"{where}: unknown column {unknown[0]!r} of table {schema.name!r}; known: {known}")
        cells = ((item, fields.get(item.name, REQUIRED)) for item in schema.columns)
        row = freeze({item.name: _cell(schema, item, value, where) for item, value in cells})
        id_ = str(row[schema.key])
        if id_ in rows:
            raise WorldError(f"{where}: a second row of table {schema.name!r} has the id {id_!r}")
        rows[id_] = row
    return FixedRows(MappingProxyType(rows))


def _raw_rows(path: Path) -> Iterator[tuple[int, Any]]:
    """What stands in each line of a file, without the byte order mark with which spreadsheets begin one."""
    number = 0
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            if path.suffix == ".csv":
                reader = csv.DictReader(file)
                for row in reader:
                    number = reader.line_num
                    yield number, row
                return
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, json.loads(line)
    except UnicodeDecodeError as error:
        raise WorldError(f"{path.name}: it is not UTF-8 text") from error
    except (OSError, csv.Error, ValueError, RecursionError) as error:
        raise WorldError(f"{path.name}:{number}: it cannot be read: {error}") from error


def _cell(schema: TableSchema, item: Column, value: Any, where: str) -> Cell:
    if value is REQUIRED or value is None:
        value = item.default if item.default is not REQUIRED else None
    try:
        parsed = _parsed(item, value) if isinstance(value, str) else value
    except ValueError as error:
        kind = item.items if item.type == "list" and item.items else item.type
        held = _HELD.get(kind, kind)
        raise WorldError(
            f"{where}: column {item.name!r} of table {schema.name!r} holds {held}, not {value!r}"
        ) from error
    try:
        return checked_cell(schema, item, parsed)
    except TypeError as error:
        raise WorldError(f"{where}: {error}") from error


_HELD: Mapping[str, str] = {
    "timestamp": "seconds since 1970, or a date and time with its offset such as 2026-03-02 09:00:00+01:00",
}
"""How a file has values of a type, where that is not what the type is called."""


def _parsed(item: Column, text: str) -> Any:
    """What a field of text stands for in a column."""
    if text == "" and item.nullable:
        return None
    if item.type == "timestamp" and "-" in text[1:]:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            raise ValueError(text)
        return moment.timestamp()
    if item.type in ("number", "timestamp"):
        return float(text)
    if item.type == "integer":
        return int(text)
    if item.type == "boolean":
        return {"true": True, "false": False}.get(text.casefold(), text)
    if item.type == "list":
        inside = Column(item.name, item.items or "string")
        return [_parsed(inside, part) for part in text.split("|")] if text else []
    return text


_OPAQUE = re.compile(r"[A-Za-z]{1,3}[0-9]+|[0-9]{6,}")
"""An id that says nothing; others, such as a user's name or the ending of a file, mean something to people."""


def opaque_ids(schema: TableSchema) -> tuple[str, ...]:
    """The ids of a fixed table that mean nothing; none where some of them do."""
    found = tuple(FixedRows.of(schema).rows)
    return found if all(map(_OPAQUE.fullmatch, found)) else ()


@lru_cache(maxsize=256)
def renamed(schemas: tuple[TableSchema, ...], label: str) -> Mapping[str, str]:
    """The opaque ids of some fixed tables, each with the one that stands for it in an instance.

    An id becomes another one of its table, so that an id of one instance means something else in the next.
    """
    found: dict[str, str] = {}
    for schema in schemas:
        ids = opaque_ids(schema)
        others = list(ids)
        Random(f"{schema.name}/{label}").shuffle(others)  # noqa: S311  (to be drawn again)
        found.update(zip(ids, others, strict=True))
    return MappingProxyType(found)


class FixedInstance:
    """The fixed tables of a world as one instance has them: with other ids, in the order of their files."""

    __slots__ = ("_label", "_made", "_schemas")

    def __init__(self, schemas: Iterable[TableSchema], label: str) -> None:
        self._schemas = tuple(schemas)
        self._label = label
        self._made: dict[str, FixedRows] = {}

    def rows(self, schema: TableSchema) -> FixedRows:
        """The rows of a fixed table; made when they are first asked for."""
        if schema.name not in self._made:
            ids = renamed(self._schemas, self._label)
            given = FixedRows.of(schema).rows.values()
            pointing = [item for item in schema.columns if _points(item.role) or _points(item.item_role)]
            rows = ({**row, **{item.name: _renamed(row[item.name], ids) for item in pointing}} for row in given)
            self._made[schema.name] = FixedRows(MappingProxyType({str(row[schema.key]): freeze(row) for row in rows}))
        return self._made[schema.name]


def _points(role: CellRole | None) -> bool:
    return role is not None and role.kind in ("id", "key")


def _renamed(cell: Cell, ids: Mapping[str, str]) -> Cell:
    if isinstance(cell, tuple):
        return tuple(ids.get(part, part) if isinstance(part, str) else part for part in cell)
    return ids.get(cell, cell) if isinstance(cell, str) else cell
