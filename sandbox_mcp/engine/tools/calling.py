"""From what a caller sent to what happened: find the tool, check the arguments, run it in a transaction.

Policy: faults are looked for in a fixed order (no such tool, not a JSON object, unknown arguments, missing arguments,
wrong types, values other than those allowed) and all offenders of the first kind found are named in one message, so
that one retry can mend them. A boolean is not a number; a number without a fraction is an integer. Null for an argument
that may be left out and never be null counts as not given, because strict modes and several clients send it so.
Source: ToolScan, section 5.
"""

import json
import math
import re
import sys
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeGuard, cast

from sandbox_mcp.engine.own_code import in_python
from sandbox_mcp.engine.tools.definition import Parameter, Tool, object_schema
from sandbox_mcp.engine.tools.value_schemas import Misfit, converted, fits_plainly, fits_schema, misfits
from sandbox_mcp.engine.world import Access, Change, Running, Transaction
from sandbox_mcp.engine.world.faults import CallError, ErrorKind, NoJsonError, ToolFault, WorldFailedError

EXPECTED = (ToolFault, ConnectionError, PermissionError, ValueError, OverflowError)
"""What a tool may raise to say no; anything else is a mistake in the world's own code."""
BROKEN = (Exception, SystemExit)
"""What a world's own code may end with by mistake; only who plays may interrupt."""
WRONG_TYPE: tuple[ErrorKind, str] = ("wrong_type", "ArgumentTypeError")
WRONG_VALUE: tuple[ErrorKind, str] = ("wrong_value", "ArgumentValueError")
MAX_ARGUMENT_CHARACTERS = 262_144
"""How long the arguments of one call may be, as JSON text."""
ENGINE = (Path(__file__).parent, Path(__file__).parent.parent / "world")
"""The folders of code that is not a world's own."""
MAX_DEPTH = 100
"""How many brackets deep they may be; readers of logs stop at twice that."""
DIGITS = sys.int_info.default_max_str_digits
"""How many digits of a whole number Python reads and writes."""
TOO_LONG = f"arguments are of at most {MAX_ARGUMENT_CHARACTERS} characters"
TOO_DEEP = f"arguments are nested at most {MAX_DEPTH} deep"
TOO_MANY_DIGITS = f"a whole number has at most {DIGITS} digits"


@dataclass(frozen=True, slots=True)
class PresentedTool:
    """A tool as one session offers it. ``names`` maps each argument's presented name to its canonical one."""

    tool: Tool
    name: str
    description: str
    parameters: tuple[Parameter, ...]
    names: Mapping[str, str]
    schema: Mapping[str, Any]


def present(tool: Tool) -> PresentedTool:
    """The tool as it is, nothing hidden or renamed."""
    names = {parameter.name: parameter.name for parameter in tool.parameters}
    return PresentedTool(tool, tool.name, tool.description, tool.parameters, names, object_schema(tool.parameters))


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a call. Arguments are under canonical names, as given; races look at what was touched.

    ``notes`` are for the log.
    """

    tool: Tool | None
    arguments: Mapping[str, Any]
    raw_arguments: str | None = None
    result: Any = None
    fault: CallError | None = None
    changes: tuple[Change, ...] = ()
    reads: frozenset[Access] = frozenset()
    writes: frozenset[Access] = frozenset()
    notes: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Bound:
    """A call whose arguments passed every check."""

    tool: Tool
    arguments: Mapping[str, Any]


def speak(text: str, shown: Mapping[str, str]) -> str:
    """A text of a tool with the arguments it names (in backticks) under the names that the caller knows."""
    renamed = {f"`{canonical}`": f"`{presented}`" for canonical, presented in shown.items() if canonical != presented}
    if not renamed:
        return text
    return re.sub("|".join(map(re.escape, renamed)), lambda found: renamed[found[0]], text)


def call(world: Running, offered: Mapping[str, PresentedTool], name: str, arguments: object) -> Outcome:
    """Check and run one call; ``arguments`` is whatever the caller sent. Its faults are outcomes, never exceptions."""
    bound = bind(offered, name, arguments)
    return bound if isinstance(bound, Outcome) else run(world, bound)


def bind(offered: Mapping[str, PresentedTool], name: str, arguments: object) -> Bound | Outcome:
    """Check a call: what can be run, or the outcome that names its fault."""
    tool = offered.get(name)
    given, raw, why = _as_object(arguments)
    if tool is None:
        return Outcome(None, given or {}, raw, fault=_unknown_tool(name, offered))
    if given is None:
        return Outcome(tool.tool, {}, raw, fault=_no_object(tool, raw or "", why))
    given = _without_idle_nulls(tool, given)
    fault = _unknown_arguments(tool, given) or _missing_arguments(tool, given) or _wrong_types(tool, given)
    canonical = {tool.names.get(key, key): value for key, value in given.items()}
    return Outcome(tool.tool, canonical, fault=fault) if fault else Bound(tool.tool, canonical)


def _without_idle_nulls(tool: PresentedTool, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments without null where one may be left out but not be null: some clients send null to leave it out."""
    if None not in given.values():
        return given
    never_null = {item.name for item in tool.tool.parameters if not item.required and not fits_schema(None, item.value)}
    return {key: value for key, value in given.items() if value is not None or tool.names.get(key) not in never_null}


def run(world: Running, bound: Bound) -> Outcome:
    """Run a checked call in a transaction of its own; a fault leaves the world as it was."""
    tx = world.begin()
    outcome = attempt(tx, bound)
    if outcome.fault is None:
        world.commit(tx)
    return outcome


def attempt(tx: Transaction, bound: Bound) -> Outcome:
    """Run a checked call inside a transaction and say what it did; the caller decides whether to keep it.

    Raises:
        WorldFailedError: the world's own code broke.
    """
    try:
        wanted = {parameter.name: parameter.value for parameter in bound.tool.parameters}
        given = {name: converted(value, wanted[name]) for name, value in bound.arguments.items()}
        result, fault = bound.tool.function(tx, **given), None
    except EXPECTED as error:
        result, fault = None, CallError("execution", type(error).__name__, str(error))
    except BROKEN as error:
        raise WorldFailedError(f"{bound.tool.name}()", place_of(error), error) from error
    return Outcome(
        bound.tool,
        bound.arguments,
        result=result,
        fault=fault,
        changes=() if fault else tuple(tx.changes),
        reads=frozenset(tx.reads),
        writes=frozenset(tx.writes),
        notes=tx.notes,
    )


def place_of(error: BaseException) -> str:
    """Place of an error in a world's code: file, line and function; the engine and Python itself left out.

    Of files only the name is told, which is the same on every machine.
    """
    if isinstance(error, NoJsonError):
        return error.place
    frames = traceback.extract_tb(error.__traceback__)
    outside = [frame for frame in frames if _is_a_worlds(Path(frame.filename))]
    frame = (outside or frames)[-1]
    return f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}"


def _is_a_worlds(path: Path) -> bool:
    return path.parent not in ENGINE and not in_python(path) and not path.name.startswith("<")


def without_arguments(message: str) -> str:
    """A fault's message without the names of arguments, which a session may present under others."""
    return re.sub(r"`[^`]*`", "``", message)


_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def is_object(arguments: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether arguments are an object that a call can have, and a log can hold, with names that are text."""
    given = _as_object(cast("object", arguments))[0] if isinstance(arguments, Mapping) else None
    return given is not None and all(isinstance(name, str) for name in cast("dict[Any, Any]", given))


def as_text(arguments: object) -> str:
    """Arguments that are not such an object, as text that any wire can carry and that is read here as the same value.

    Text that is not Unicode stays the JSON that escapes it; what nobody reads back is shown, and overlong text cut.
    """
    kept = _as_object(arguments)[1] or ""
    if len(kept) > MAX_ARGUMENT_CHARACTERS:
        return kept
    if isinstance(arguments, str) and arguments == _readable(arguments):
        return arguments
    try:
        return json.dumps(json.loads(arguments) if isinstance(arguments, str) else arguments)
    except (TypeError, ValueError, RecursionError):
        return _readable(arguments if isinstance(arguments, str) else _represented(arguments))


def _as_object(arguments: object) -> tuple[dict[str, Any] | None, str | None, str]:
    """The arguments as an object; or else None, their text, and why no log could hold them, where that is the reason.

    What no log could hold is not an object: NaN and infinities, text other than Unicode, values far too long or deep.
    """
    value: object = {} if arguments is None else arguments
    if isinstance(value, str):
        try:
            value = json.loads(value or "{}")
        except json.JSONDecodeError:
            return None, _readable(value), TOO_LONG if len(value) > MAX_ARGUMENT_CHARACTERS else ""
        except RecursionError:
            return None, _readable(value), TOO_DEEP
        except ValueError:
            return None, _readable(value), TOO_MANY_DIGITS
    try:
        given = _plain(value)
        text = _JSON.encode(value if given is None else given)
    except (TypeError, ValueError, RecursionError):
        return None, _readable(_represented(value)), _no_json_in(value)
    deep = text.count("{") + text.count("[") > MAX_DEPTH and _too_deep(given)  # few brackets cannot go deep
    if given is not None and len(text) <= MAX_ARGUMENT_CHARACTERS and text == _readable(text) and not deep:
        return given, None, ""
    long = len(text) > MAX_ARGUMENT_CHARACTERS
    return None, _readable(text), TOO_LONG if long else TOO_DEEP if deep else _no_json_in(value)


def _no_json_in(value: object) -> str:
    """The first thing in a value that JSON or a log cannot hold, in words; empty if it can hold everything."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        for item in level:
            if isinstance(item, float) and not math.isfinite(item):
                return "JSON has neither NaN nor infinities"
            if isinstance(item, int) and abs(item) >= 10**DIGITS:
                return TOO_MANY_DIGITS
            if isinstance(item, str) and item != _valid(item):
                return "half of a surrogate pair is no text"
            if not isinstance(item, str | int | float | Mapping | list | tuple | None):
                return f"JSON has no {type(item).__name__}"
        inside = (inner for item in level if isinstance(item, Mapping | list | tuple) for inner in _inside(item))
        level = list(islice(inside, MAX_ARGUMENT_CHARACTERS))
    return TOO_DEEP if level else ""


def _too_deep(value: object) -> bool:
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [inner for item in level if isinstance(item, Mapping | list | tuple) for inner in _inside(item)]
        if not level:
            return False
    return True


def _inside(item: Any) -> Iterable[Any]:
    if isinstance(item, Mapping):
        given = cast("Mapping[Any, Any]", item)
        return chain(given, given.values())
    return item


def _plain(value: object) -> dict[str, Any] | None:
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else None


def _represented(value: object) -> str:
    """Show a value other than JSON as well as possible."""
    try:
        return repr(value)
    except (ValueError, RecursionError):
        return f"a {type(value).__name__}"


def _readable(text: str) -> str:
    """Text that any log can hold: valid Unicode, cut where it is longer than arguments may be."""
    valid = _valid(text)
    return valid if len(valid) <= MAX_ARGUMENT_CHARACTERS else valid[:MAX_ARGUMENT_CHARACTERS] + "..."


def _valid(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _unknown_tool(name: str, offered: Iterable[str]) -> CallError:
    known = ", ".join(offered) or "none"
    asked = _shown(_readable(name))
    return CallError("unknown_tool", "UnknownToolError", f"there is no tool {asked}; available tools: {known}")


def _no_object(tool: PresentedTool, raw: str, why: str) -> CallError:
    form = ", ".join(f'"{parameter.name}": ...' for parameter in tool.parameters)
    expected = f"the arguments of {tool.name} must be one JSON object {{{form}}}, not {_shown(raw)}"
    return CallError("invalid_format", "ArgumentFormatError", f"{expected}; {why}" if why else expected)


def _unknown_arguments(tool: PresentedTool, given: Mapping[str, Any]) -> CallError | None:
    unknown = [key for key in given if key not in tool.names]
    if not unknown:
        return None
    known = f"it takes {', '.join(tool.names)}" if tool.names else "it takes no arguments"
    listed = ", ".join(map(_shown, unknown))
    return CallError("unknown_argument", "ArgumentNameError", f"{tool.name} has no argument {listed}; {known}")


def _missing_arguments(tool: PresentedTool, given: Mapping[str, Any]) -> CallError | None:
    missing = [parameter.name for parameter in tool.parameters if parameter.required and parameter.name not in given]
    if not missing:
        return None
    return CallError("missing_argument", "MissingArgumentError", f"{tool.name} also needs {', '.join(missing)}")


def _wrong_types(tool: PresentedTool, given: Mapping[str, Any]) -> CallError | None:
    schemas = {parameter.name: parameter.value for parameter in tool.tool.parameters}
    wrong: list[Misfit] = []
    for key, value in given.items():
        schema = schemas[tool.names[key]]
        if not fits_plainly(value, schema):
            wrong += misfits(value, schema, key)
    if not wrong:
        return None
    for fault, kind in ((WRONG_TYPE, "type"), (WRONG_VALUE, "value")):
        listed = "; ".join(item.told(_shown) for item in wrong if item.kind == kind)
        if listed:
            return CallError(*fault, f"{tool.name}: {listed}")
    return None


def _shown(value: Any, limit: int = 80) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text)} characters)"
