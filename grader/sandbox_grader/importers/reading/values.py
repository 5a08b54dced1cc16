"""Values from texts of other formats, and back: results, arguments, tool names, times, errors.

Policy: a result text that is a JSON object or array is that value. A scalar counts as JSON only where writing it again
gives the same text, so that "007" or "1.10" stays text. Hence ``decode(encode(value)) == value`` for every JSON value.
Arguments that a model wrote as a Python literal are read as one; nothing is ever evaluated.
"""

import ast
import hashlib
import json
import math
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, cast

from sandbox_grader.grading.values import is_number
from sandbox_grader.importers.reading.json_values import MAX_DEPTH, JsonNode, depth, is_array, is_object, loads
from sandbox_mcp.engine.trajectory import CallError, ErrorKind
from sandbox_mcp.engine.trajectory.model_text import cleaned

_PREFIX: Final = re.compile(r"mcp__.+?__(?=.)", re.DOTALL)
FAR: Final = 1e12
"""Seconds since the epoch beyond which a number is not a time."""
_FAULT = r"(?:[A-Za-z_]\w*\.)*([A-Z]\w*(?:Error|Exception))\s*:"
_CLASS: Final = re.compile(_FAULT)
_NAMED: Final = re.compile(rf"(?:\bError: |\n){_FAULT}")
"""A class after what a host puts before it, or at the end of a trace."""
_PRINTED: Final = re.compile(r"\s*(?:[{\[]|[A-Za-z_][\w.]{0,200}\([a-z_])")
LONGEST_LITERAL: Final = 100_000
"""Characters beyond which arguments are not looked at as a Python literal."""


@dataclass(frozen=True, slots=True)
class Given:
    """Arguments as a call gave them; ``raw`` is the text where that was not a JSON object.

    ``free`` tells that the tool takes free text, so that a bare text is what was asked for.
    """

    arguments: dict[str, Any]
    raw: str | None = None
    free: bool = False


def decode(text: str) -> Any:
    """The value that a result text stands for."""
    try:
        value, replaced = loads(text)
    except ValueError:
        return text
    if replaced:
        return text
    return value if is_object(value) or is_array(value) or _write(value) == text else text


def encode(value: Any) -> str:
    """The text of a result: text as it is, unless it would be read back as something else, and JSON for the rest."""
    if isinstance(value, str) and decode(value) == value:
        return value
    return _write(value)


def _write(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=dict)


def arguments_of(value: Any) -> Given:
    """Arguments from an object, from an object's JSON text, or from nothing (an empty text or null)."""
    if is_object(value):
        return Given(value)
    if not isinstance(value, str):
        return Given({}) if value is None else Given({}, _write(value))
    if not value.strip():
        return Given({}, value or None)
    try:
        found, replaced = loads(value)
    except ValueError:
        told = literal(value)
        return Given(told) if is_object(told) else Given({}, value)
    return Given(found) if is_object(found) and not replaced else Given({}, value)


def literal(text: str) -> dict[str, Any] | list[Any] | None:
    """Value of a Python literal of an object or array, where JSON has a form for all in it; None for anything else."""
    return _printed(text, ast.literal_eval) if text.lstrip().startswith(("{", "[")) else None


def _printed(text: str, read: Callable[[Any], Any]) -> dict[str, Any] | list[Any] | None:
    if len(text) > LONGEST_LITERAL:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that Python does not know and keeps as they are
            value = _jsonable(read(ast.parse(text.strip(), mode="eval").body))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return cleaned(value) if (is_object(value) or is_array(value)) and depth(value) <= MAX_DEPTH else None


def _jsonable(value: Any) -> Any:
    """A literal's value with tuples as lists. Raises ValueError for what JSON cannot say."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, tuple | list):
        return [_jsonable(item) for item in cast("Iterable[Any]", value)]  # pyright: ignore[reportUnknownArgumentType]
    members = cast("dict[object, Any]", value) if is_object(value) else None
    if members is not None and all(isinstance(key, str) for key in members):
        return {str(key): _jsonable(item) for key, item in members.items()}
    raise ValueError(f"JSON has no form for {type(value).__name__}")


def parsed(item: JsonNode) -> JsonNode:
    """An element, read where it is the text of an object, in JSON or as Python prints it, as ``Call(name='f')``."""
    if not isinstance(item.value, str):
        return item
    try:
        found = loads(item.value)[0]
    except ValueError:
        found = _printed(item.value, _members) if _PRINTED.match(item.value) else None
    return replace(item, value=found) if is_object(found) else item


def _members(node: ast.expr) -> Any:
    """Value of a literal, or members of calls with named arguments. Raises ValueError for anything else."""
    if isinstance(node, ast.Call) and not node.args:
        return {item.arg: _members(item.value) for item in node.keywords}
    return ast.literal_eval(node)


def stated(**told: str | None) -> dict[str, str]:
    """The members that have a value, for a description of an agent or of versions."""
    return {name: value for name, value in told.items() if value}


def digest_of(task: Any) -> str:
    """A digest of a task, whatever the order of its members."""
    text = json.dumps(task, sort_keys=True, ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def canonical(name: str) -> str:
    """A tool's name without the prefix ``mcp__server__`` that hosts put before the names of MCP tools."""
    return _PREFIX.sub("", name, count=1) if name.startswith("mcp__") else name


def seconds(stamp: Any) -> float | None:
    """Seconds since the epoch, from a number of them or an ISO 8601 text (UTC where it names no zone), or None."""
    if is_number(stamp) and abs(stamp) < FAR:
        return float(stamp)
    if not isinstance(stamp, str) or (stamp.isdecimal() and len(stamp) > len("20260102")):
        return None  # a number as text, of which Python would make a day of the year 1700
    try:
        moment = datetime.fromisoformat(stamp)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def zoned(stamp: str) -> bool:
    """True if an ISO 8601 text names its zone."""
    return bool(re.search(r"(?:[zZ]|[+-]\d\d(?::?\d\d){0,2})$", stamp.partition("T")[2] or stamp.partition(" ")[2]))


def failure(message: str, kind: ErrorKind = "execution", type_: str | None = None) -> CallError:
    """The error of a call.

    Its class is the one that the text begins with, which is nearer to the tool than what a host calls the failure, then
    ``type_``, then one that a line of the text begins with. What the text begins with is not said again in the message.
    """
    begins = _CLASS.match(message)
    named = begins or (None if type_ else _NAMED.search(message))
    class_ = named.group(1) if named else type_ or "Error"
    rest = message[begins.end() :].strip() if begins else ""
    return CallError(kind=kind, type=class_, message=rest or message)
