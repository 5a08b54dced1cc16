"""Results of tools as JSON, and values read out of them on the other side."""

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from types import NoneType
from typing import Any, cast

from sandbox_mcp.engine.world.faults import NoJsonError
from sandbox_mcp.engine.world.tables import Table
from sandbox_mcp.engine.world.tx import visible

_PLAIN = frozenset({str, int, bool, NoneType})
CARRIED = frozenset({"result", "notices"})
"""Keys of an object that only carries a value."""


def plain_result(value: object) -> Any:
    """Result of a tool as JSON: rows become objects without hidden and secret columns.

    Raises:
        NoJsonError: JSON has nothing for it, or for a part of it.
    """
    kind = type(value)
    if kind in _PLAIN or (type(value) is float and isfinite(value)):
        return value
    if isinstance(value, Table):
        return {
            name: list(cast("tuple[Any, ...]", cell)) if isinstance(cell, tuple) else cell
            for name, cell in visible(value).items()
        }
    if kind is dict or isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {str(key): item if type(item) in _PLAIN else plain_result(item) for key, item in items}
    if kind is list or isinstance(value, list | tuple):
        return [item if type(item) in _PLAIN else plain_result(item) for item in cast("Sequence[Any]", value)]
    if isinstance(value, str | int):  # members of an enumeration, and the like
        return value
    raise NoJsonError(value)


def parsed(text: str) -> Any:
    """The value that a result's text stands for; text other than JSON stands for itself."""
    try:
        return unwrapped(json.loads(text))
    except (ValueError, RecursionError):
        return text


def unwrapped(value: Any) -> Any:
    """A value without the object ``{"result": ...}`` that carries values which are not objects.

    What was announced beside the result, under ``notices``, is not a part of a carried value.
    """
    if isinstance(value, Mapping):
        given = cast("Mapping[str, Any]", value)
        return given["result"] if "result" in given and given.keys() <= CARRIED else given
    return value
