"""Schemas as servers elsewhere list them, written out as ours are: without references, each keyword in its own form.

Policy: a tape has what a server really said, so a keyword with a meaningless value is left out and not refused; the
rest still checks values. A definition that contains itself allows anything at that place. So does whatever lies behind
``MOST_REFERENCES``, because definitions that refer to each other multiply. Where a server wants values in headers too,
that is left out: nothing here reads them, and clients drop a tool that asks for them in a wrong place.
"""

from collections.abc import Mapping
from itertools import count
from typing import Any, cast, get_args

from sandbox_mcp.engine.tools.value_schemas import JsonType, is_within, referred

MOST_REFERENCES = 2_000
"""How many references of one schema are written out."""
_ELSEWHERE = frozenset({"$defs", "definitions", "x-mcp-header"})
"""What says nothing of a value: definitions, written out where they are meant, and the header that repeats it."""
_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas"})
_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SCHEMAS = frozenset({"items", "not", "if", "then", "else", "contains", "propertyNames"})
_OR_FLAGS = frozenset({"additionalProperties", "unevaluatedProperties", "unevaluatedItems"})
"""Keywords that hold schemas: by name, in a list, one alone, and one or else true or false."""
_KINDS: tuple[object, ...] = get_args(JsonType)
_NOTHING = object()
"""What stands for a keyword that is left out."""


def inlined(schema: Any, whole: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of a tape, or a part of it, with what its references lead to in ``whole`` in their place."""
    return _Writing(whole).schema(schema, ())


class _Writing:
    """Writes out one schema, and counts its references."""

    def __init__(self, whole: Mapping[str, Any]) -> None:
        self._whole = whole
        self._references = count()

    def schema(self, part: Any, via: tuple[str, ...]) -> dict[str, Any]:
        """A schema that was reached by these references; ``true``, and anything but a schema, allows every value."""
        parts = cast("Mapping[str, Any]", part) if isinstance(part, Mapping) else dict[str, Any]()
        reference, found = parts.get("$ref"), dict[str, Any]()
        if is_within(reference):
            if reference in via or next(self._references) >= MOST_REFERENCES:
                return found
            found = self.schema(referred(reference, self._whole), (*via, reference))
        for keyword, held in parts.items():
            written = self._held(keyword, held, via)
            if written is not _NOTHING:
                found[keyword] = written
        return found

    def _held(self, keyword: str, held: Any, via: tuple[str, ...]) -> Any:
        if keyword in _ELSEWHERE or (keyword == "$ref" and is_within(held)):
            return _NOTHING
        if keyword in _MAPS:
            named = cast("Mapping[str, Any]", held).items() if isinstance(held, Mapping) else ()
            return {name: self.schema(item, via) for name, item in named}
        if keyword in _LISTS or (keyword == "items" and isinstance(held, list)):
            return [self.schema(item, via) for item in cast("list[Any]", held)] if isinstance(held, list) else _NOTHING
        if keyword in _SCHEMAS or (keyword in _OR_FLAGS and isinstance(held, Mapping)):
            return self.schema(held, via)
        if keyword == "type":
            listed = cast("list[Any]", held if isinstance(held, list) else [held])
            known: list[Any] = [kind for kind in listed if kind in _KINDS]
            return _NOTHING if not known else known if isinstance(held, list) else known[0]
        if keyword == "required":
            return names_in(held)
        well_formed = keyword != "enum" or isinstance(held, list)
        return cast("Any", held) if well_formed else _NOTHING


def names_in(required: object) -> list[str]:
    """The names under ``required``; the ``true`` of older schemas names nothing."""
    listed = cast("list[Any]", required) if isinstance(required, list) else []
    return [name for name in listed if isinstance(name, str)]
