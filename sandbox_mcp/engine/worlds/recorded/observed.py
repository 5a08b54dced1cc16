"""State as a server shows it: the answers of its tools that look, as rows of tables.

Policy: an answer with a list of objects is a table with a row for each, known by what tells them apart; an object is
one row, and so is a text. Which columns a table has is settled when the server is first asked; what comes later stands
together in the column ``more``, so that nothing is lost. What was masked is left out.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.world.schema import Column, ColumnType, TableSchema
from sandbox_mcp.engine.world.state import Cell, Row, freeze

KEY, MORE, TEXT, VALUE = "row", "more", "text", "value"
"""Columns that tables have beside those of the server: the row's id, what is in no column, a text, a single value."""
TELLING = ("id", "key", "uuid", "name", "title", "slug", "path", "url", "email", "number", "code")
"""Fields by which items of a list may be told apart, the first first."""
MASKED = "[masked]"
"""What stands in a text in the place of what was masked."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One question about a server's state: the table that its answer fills, the tool, and its arguments.

    ``by`` is the field that tells items of a list apart, and ``columns`` are ``named`` ones, if that was said.
    """

    table: str
    tool: str
    arguments: Mapping[str, Any]
    by: str = ""
    columns: Mapping[str, ColumnType] = field(default_factory=dict[str, ColumnType])
    named: bool = False

    def schema(self) -> TableSchema:
        """The table that it fills."""
        key = Column(KEY, "string")
        held = (
            Column(name, kind, nullable=True, default=None, items="string" if kind == "list" else None)
            for name, kind in self.columns.items()
        )
        return TableSchema(self.table, KEY, (key, *held, Column(MORE, "string", nullable=True, default=None)))

    def rows(self, result: Mapping[str, Any], mask: "Mask") -> Mapping[str, Row]:
        """The rows that an answer shows, by id; an error shows none."""
        if result.get("isError") is True:
            return {}
        return {key: self._row(key, mask.of(item)) for key, item in items_of(answered(result), self.by)}

    def _row(self, key: str, item: Mapping[str, Any]) -> Row:
        cells: dict[str, Cell] = {KEY: key, **dict.fromkeys(self.columns), MORE: None}
        more: dict[str, Any] = {}
        for name, value in item.items():
            if name in self.columns:
                cells[name] = cell_of(value)
            else:
                more[name] = value
        if more:
            cells[MORE] = _json(more)
        return freeze(cells)


@dataclass(frozen=True, slots=True)
class Mask:
    """Names of fields, and patterns of texts between slashes, that differ from session to session."""

    names: frozenset[str]
    patterns: tuple[re.Pattern[str], ...]

    @classmethod
    def reading(cls, listed: Iterable[str]) -> "Mask":
        """The mask that these names and patterns make. Raises ``re.error`` where a pattern means nothing."""
        given = list(listed)
        patterns = [item[1:-1] for item in given if len(item) > 2 and item[0] == item[-1] == "/"]
        names = frozenset(given) - {f"/{pattern}/" for pattern in patterns}
        return cls(names, tuple(re.compile(pattern, re.MULTILINE) for pattern in patterns))

    def of(self, value: Any) -> Any:
        """A value without its masked parts."""
        if isinstance(value, Mapping):
            pairs = cast("Mapping[str, Any]", value).items()
            return {name: self.of(item) for name, item in pairs if name not in self.names}
        if isinstance(value, list):
            return [self.of(item) for item in cast("list[Any]", value)]
        if isinstance(value, str):
            for pattern in self.patterns:
                value = pattern.sub(MASKED, value)
        return value


def answered(result: Mapping[str, Any]) -> Any:
    """What an answer says: its object, or its text, read if it is JSON; an answer that only wraps is taken off."""
    value = result.get("structuredContent")
    if value is None:
        blocks = cast("list[Any]", result.get("content") or [])
        texts = [str(cast("Any", block).get("text", "")) for block in blocks if isinstance(block, Mapping)]
        value = "\n".join(texts)
    if isinstance(value, Mapping) and len(cast("Mapping[str, Any]", value)) == 1:
        inner = next(iter(cast("Mapping[str, Any]", value).values()))
        if isinstance(inner, list) or "result" in value:
            value = cast("Any", inner)
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        with suppress(ValueError, RecursionError):
            value = loads(value)
    return cast("Any", value)


def items_of(value: Any, by: str = "") -> list[tuple[str, Mapping[str, Any]]]:
    """What is in an answer, as items with fields, each with the id that it has in the table."""
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        if len(fields) > 1 and all(isinstance(item, Mapping) for item in fields.values()):
            return [(name, {"name": name, **item}) for name, item in fields.items()]
        return [("only", fields)]
    if not isinstance(value, list):
        return [("only", {TEXT: value} if isinstance(value, str) else {VALUE: value})]
    listed = cast("list[Any]", value)
    if not all(isinstance(item, Mapping) for item in listed):
        return _numbered([(_json(item) if not isinstance(item, str) else item, {VALUE: item}) for item in listed])
    telling = by or _telling(cast("list[Mapping[str, Any]]", listed))
    return _numbered([(str(item.get(telling, n)) if telling else str(n), item) for n, item in enumerate(listed, 1)])


def _telling(listed: Sequence[Mapping[str, Any]]) -> str:
    """The field that tells these apart; none where no field does."""
    for name in (*TELLING, *(name for name in (listed[0] if listed else ()) if str(name).endswith("_id"))):
        values = [item.get(name) for item in listed]
        if all(isinstance(value, str | int) for value in values) and len(set(map(str, values))) == len(values):
            return name
    return ""


def _numbered(found: Sequence[tuple[str, Mapping[str, Any]]]) -> list[tuple[str, Mapping[str, Any]]]:
    """The items with ids that occur once."""
    seen = dict[str, int]()
    named: list[tuple[str, Mapping[str, Any]]] = []
    for key, item in found:
        seen[key] = seen.get(key, 0) + 1
        named.append((key if seen[key] == 1 else f"{key} ({seen[key]})", item))
    return named


def columns_in(value: Any, by: str, schema: Any) -> dict[str, ColumnType]:
    """The columns that an answer, and the schema of answers if there is one, show."""
    found: dict[str, ColumnType] = {}
    for name, said in _properties(schema).items():
        found[name] = _kind_said(said)
    for _, item in items_of(value, by):
        for name, held in item.items():
            kind = _kind(held)
            if found.setdefault(name, kind) != kind and held is not None:
                found[name] = "string" if found[name] != "string" and isinstance(held, str) else found[name]
    return {name: kind for name, kind in found.items() if name not in (KEY, MORE)}


def differing(one: Any, other: Any) -> Iterator[str]:
    """The fields in which two answers to one question differ, however deep."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        given, found = cast("Mapping[str, Any]", one), cast("Mapping[str, Any]", other)
        for name in {**given, **found}:
            if given.get(name) != found.get(name):
                inner = list(differing(given.get(name), found.get(name)))
                yield from inner or [name]
    elif isinstance(one, list) and isinstance(other, list):
        for a, b in zip(cast("list[Any]", one), cast("list[Any]", other), strict=False):
            yield from differing(a, b)


def _properties(schema: Any) -> Mapping[str, Any]:
    """The fields that a schema of answers lists, of one item where it is of a list."""
    part: Any = schema
    for _ in range(3):
        if not isinstance(part, Mapping):
            break
        said = cast("Mapping[str, Any]", part)
        listed: Any = said.get("properties")
        fields = cast("Mapping[str, Any]", listed) if isinstance(listed, Mapping) else dict[str, Any]()
        inner: Any = next(iter(fields.values())) if len(fields) == 1 else None
        wraps = isinstance(inner, Mapping) and (cast("Any", inner).get("type") == "array" or "result" in fields)
        if said.get("type") != "array" and not wraps:
            return fields
        part = cast("Any", inner if wraps else said.get("items"))
    return {}


def _kind_said(said: Any) -> ColumnType:
    kind: Any = cast("Mapping[str, Any]", said).get("type") if isinstance(said, Mapping) else None
    kinds: Mapping[str, ColumnType] = {"integer": "number", "number": "number", "boolean": "boolean", "array": "list"}
    return kinds.get(kind, "string") if isinstance(kind, str) else "string"


def _kind(value: Any) -> ColumnType:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    listed = cast("Sequence[Any]", value) if isinstance(value, list | tuple) else None
    return "list" if listed is not None and all(isinstance(item, str) for item in listed) else "string"


def cell_of(value: Any) -> Cell:
    """A value as a column holds it: a list of plain values as a tuple, anything deeper as JSON."""
    if isinstance(value, str | int | float | bool | None):
        return value
    if isinstance(value, list) and all(isinstance(item, str | int | float | bool) for item in cast("list[Any]", value)):
        return tuple(cast("list[Any]", value))
    return _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
