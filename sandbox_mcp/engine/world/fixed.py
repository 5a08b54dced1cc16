"""Tables whose rows come from a file and never change: looked things up in, never part of a state or a log.

Policy: a file is read once, when something of it is first asked for. In CSV an empty field is null where the column may
be, and the parts of a list are separated by ``|``.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar, cast

from sandbox_mcp.engine.bounded import loads
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
    """Cells of each line of a file, without the byte order mark with which spreadsheets begin one."""
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
                    yield number, loads(line)
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
    """Parse a field of text as a column's value."""
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
_KIN = 4
"""Where so many people share a surname, names are drawn word by word, so that who shared one still does; where so many
other names share a word, as those of hotels do, people leave it out, and the names stay."""
_LONG = 4
"""From so many digits on, a table has room for other numbers in the same order."""
_CALLED = frozenset(
    {"name", "owner", "maker", "author", "studio", "assignee", "inventors", "guest", "label", "magazine"}
)
"""Columns that hold what things and people are called."""
_PROPER = re.compile(r"[^\W\d_a-zß-ÿ][\w'’-]*(?: (?:[^\W\d_a-zß-ÿ][\w'’.-]*|of|the|and|de|du|to|in|a))*")
"""A name in which every word of any weight has a capital."""


class Renamed(NamedTuple):
    """Ids and names of fixed tables, each with the one that stands for it in an instance.

    ``parts`` are single words of names, such as a first name that nobody else has.
    """

    ids: Mapping[str, str]
    names: Mapping[str, str]
    parts: Mapping[str, str]

    def of(self, text: str) -> str:
        """The id, name or word in the place of another one; itself where it is none of them."""
        return self.ids.get(text) or self.names.get(text) or self.parts.get(text, text)


def opaque_ids(schema: TableSchema) -> tuple[str, ...]:
    """The ids of a fixed table that mean nothing; none where some of them do."""
    found = tuple(FixedRows.of(schema).rows)
    return found if all(map(_OPAQUE.fullmatch, found)) else ()


@lru_cache(maxsize=256)
def renamed(schemas: tuple[TableSchema, ...], label: str) -> Renamed:
    """What the ids and names of some fixed tables become in an instance: others of the same table or kind.

    Ids that mean something, such as a user's handle, change hands together with the name of their row.
    """
    ids, names = dict[str, str](), dict[str, str]()
    groups: dict[tuple[str, str], list[str]] = {}
    kin: list[list[str]] = []
    for schema in schemas:
        random = Random(f"{schema.name}/{label}")  # noqa: S311  (to be drawn again)
        rows = FixedRows.of(schema).rows
        if opaque := opaque_ids(schema):
            ids.update(_numbered_anew(opaque, random))
            joint = False
        elif joint := bool(schema.column("name") and schema.key != "name" and not _spelt_from_keys(schema, rows)):
            alone = _unlike([str(row["name"]) for row in rows.values()])
            moving = [id_ for id_, row in rows.items() if row["name"] in alone]
            for old, new in zip(moving, random.sample(moving, len(moving)), strict=True):
                ids[old] = new
                names[str(rows[old]["name"])] = str(rows[new]["name"])
        for item in schema.columns:
            if item.name in _CALLED and item.name != schema.key and not item.choices:
                cells = list(dict.fromkeys(part for row in rows.values() for part in _parts(row[item.name])))
                surnames = Counter(cell.rpartition(" ")[2] for cell in cells)
                own = len(cells) == len(rows) and all(" " in cell for cell in cells) and not _descriptive(schema, rows)
                own &= max(Counter(word for cell in cells for word in cell.split()).values(), default=0) < _KIN
                pairs = all(cell.count(" ") == 1 for cell in cells)
                if item.name == "name" and pairs and not joint and max(surnames.values(), default=0) >= _KIN:
                    kin.append(cells)
                elif item.name != "name" or (own and not joint):  # of people and teams, not of things for sale
                    fit = (cell for cell in cells if cell not in names and _PROPER.fullmatch(cell))
                    groups.setdefault((schema.name, item.name), []).extend(fit)
    for group in groups.values():
        fresh = [cell for cell in dict.fromkeys(group) if cell not in names]
        random = Random(f"{fresh[:1]}/{label}")  # noqa: S311
        for words in {cell.count(" ") for cell in fresh}:
            same = [cell for cell in fresh if cell.count(" ") == words]
            names.update(zip(same, random.sample(same, len(same)), strict=True))
    parts = _single_words(names)
    for cells in kin:
        fresh = [cell for cell in cells if cell not in names]
        words = _word_by_word(fresh, Random(f"{fresh[:1]}/{label}"))  # noqa: S311
        names.update({cell: " ".join(words[at][word] for at, word in enumerate(cell.split())) for cell in fresh})
        parts.update({old: new for at in (0, 1) for old, new in words[at].items() if old not in words[1 - at]})
    return Renamed(MappingProxyType(ids), MappingProxyType(names), MappingProxyType(parts))


def _word_by_word(names: Sequence[str], random: Random) -> tuple[dict[str, str], dict[str, str]]:
    """Other first words and other last words for names of two."""
    first, last = ([*dict.fromkeys(name.split()[at] for name in names)] for at in (0, 1))
    return (
        dict(zip(first, random.sample(first, len(first)), strict=True)),
        dict(zip(last, random.sample(last, len(last)), strict=True)),
    )


def _numbered_anew(ids: Sequence[str], random: Random) -> dict[str, str]:
    """Other numbers for ids; long ones keep their order, in which searches may list them, short ones change places."""
    kinds = {id_: id_.rstrip("0123456789") for id_ in ids}
    if any(len(id_) - len(kind) < _LONG for id_, kind in kinds.items()):
        return dict(zip(ids, random.sample(ids, len(ids)), strict=True))
    order = sorted(ids, key=lambda id_: int(id_.removeprefix(kinds[id_])))
    numbers = [int(id_.removeprefix(kinds[id_])) for id_ in order]
    spread = range(numbers[0], max(numbers[-1], numbers[0] + 10 * len(ids)) + 1)
    tried = random.sample(spread, min(len(spread), 3 * len(ids)))
    fresh = sorted([at for at in tried if at not in numbers][: len(ids)])
    return {id_: f"{kinds[id_]}{at:0{len(id_) - len(kinds[id_])}d}" for id_, at in zip(order, fresh, strict=True)}


def _unlike(names: Sequence[str]) -> list[str]:
    """The names that share no word with another one."""
    counted = Counter(word for name in names for word in name.split())
    return [name for name in names if all(counted[word] == 1 for word in name.split())]


def _spelt_from_keys(schema: TableSchema, rows: Mapping[str, Row]) -> bool:
    """Tell whether a row's other cells are written with its id, so that the two cannot be parted."""
    told = [
        column.name for column in schema.columns if column.type == "string" and column.name not in (schema.key, "name")
    ]
    return any(key.casefold() in str(row[name]).casefold() for key, row in rows.items() for name in told)


def _descriptive(schema: TableSchema, rows: Mapping[str, Row]) -> bool:
    """Tell whether a name shares a word with another cell of its row, as that of a castle with its kind."""
    others = [
        item.name
        for item in schema.columns
        if item.name not in ("name", schema.key) and item.type in ("string", "list")
    ]
    return any(
        set(str(row["name"]).casefold().split()).intersection(" ".join(_parts(row[name])).casefold().split())
        for row in rows.values()
        for name in others
    )


def _parts(cell: Cell) -> tuple[str, ...]:
    return tuple(map(str, cell)) if isinstance(cell, tuple) else (str(cell),) if isinstance(cell, str) else ()


def _single_words(names: Mapping[str, str]) -> dict[str, str]:
    counted = Counter(word for name in names for word in name.split())
    pairs = (pair for old, new in names.items() for pair in zip(old.split(), new.split(), strict=False))
    alone = {
        old: new for old, new in pairs if counted[old] == counted[new] == 1 and old[0].isupper() and new[0].isupper()
    }
    return {old: new for old, new in alone.items() if old not in names and new not in names}


class FixedInstance:
    """The fixed tables of a world as one instance has them: with other ids and names, in the order of their files."""

    __slots__ = ("_label", "_made", "_schemas")

    def __init__(self, schemas: Iterable[TableSchema], label: str) -> None:
        self._schemas = tuple(schemas)
        self._label = label
        self._made: dict[str, FixedRows] = {}

    def rows(self, schema: TableSchema) -> FixedRows:
        """The rows of a fixed table; made when they are first asked for."""
        if schema.name not in self._made:
            self._made[schema.name] = _rows_in(schema, self._schemas, self._label)
        return self._made[schema.name]


@lru_cache(maxsize=256)
def _rows_in(schema: TableSchema, schemas: tuple[TableSchema, ...], label: str) -> FixedRows:
    found = renamed(schemas, label)
    told = {**found.names, **{old: new for old, new in found.ids.items() if len(old) > _LONG}}
    changed = [
        (item.name, found.ids if _points(item.role) or _points(item.item_role) else told)
        for item in schema.columns
        if item.type in ("string", "list") and not item.choices
    ]
    made: dict[str, Row] = {}
    for row in FixedRows.of(schema).rows.values():
        cells = freeze({**row, **{name: _becomes(row[name], others) for name, others in changed}})
        made[str(cells[schema.key])] = cells
    return FixedRows(MappingProxyType(made))


def _points(role: CellRole | None) -> bool:
    return role is not None and role.kind in ("id", "key")


def _becomes(cell: Cell, others: Mapping[str, str]) -> Cell:
    if isinstance(cell, tuple):
        return tuple(others.get(part, part) if isinstance(part, str) else part for part in cell)
    return others.get(cell, cell) if isinstance(cell, str) else cell
