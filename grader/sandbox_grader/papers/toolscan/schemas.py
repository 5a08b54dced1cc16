"""Faults of a call before any tool runs, by the JSON types of ToolScan's tool lists.

Policy: the checks and their order are ToolScan's (function, argument names, required arguments, types); the first
class with an offender is the fault, with all its offenders. A boolean is not a number, 3.0 is an integer, null is the
same as not given, and an unknown type checks nothing.
Source: ToolScan, section 5.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sandbox_grader.grading.values import is_array, is_number, is_object
from sandbox_mcp.engine.trajectory import CallError, ErrorKind

_KNOWN = {
    "string": ("str", "string", "enum"),
    "number": ("number", "num", "float"),
    "integer": ("int", "integer"),
    "boolean": ("bool", "boolean"),
    "array": ("list", "array"),
    "object": ("dict", "object"),
}
JSON_TYPES: Mapping[str, str] = MappingProxyType({name: kind for kind, names in _KNOWN.items() for name in names})
"""The type names of ToolScan's lists, in lower case, as JSON Schema calls them."""
_CHECKS: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": is_number,
    "integer": lambda value: is_number(value) and value == int(value),
    "boolean": lambda value: isinstance(value, bool),
    "array": is_array,
    "object": is_object,
}


def json_types(declared: Any) -> tuple[str, ...]:
    """The JSON types that a declared type allows; none where it is unknown, which allows everything."""
    names: Sequence[Any] = declared if is_array(declared) else (declared,)
    found = [JSON_TYPES.get(str(name).lower()) for name in names]
    return tuple(kind for kind in found if kind) if all(found) else ()


def schema_of(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a tool's parameters."""
    properties: dict[str, Any] = {}
    for name, spec in parameters.items():
        kinds = json_types(spec.get("type"))
        typed = {"type": kinds[0] if len(kinds) == 1 else list(kinds)} if kinds else {}
        properties[name] = {**typed, "description": str(spec.get("description", ""))}
    required = [name for name, spec in parameters.items() if spec.get("required")]
    return {"type": "object", "properties": properties, "required": required}


def fault(name: str, given: Mapping[str, Any], apis: Mapping[str, Any]) -> CallError | None:
    """Reason for which a call would not run, or None."""
    if name not in apis:
        return _error("unknown_tool", f"there is no function {name!r}; known: {', '.join(sorted(apis))}")
    parameters: Mapping[str, Any] = apis[name]["parameters"]
    if unknown := [item for item in given if item not in parameters]:
        known = ", ".join(parameters) or "none"
        return _error("unknown_argument", f"{name} has no argument {', '.join(unknown)}; its arguments: {known}")
    if missing := [item for item, spec in parameters.items() if spec.get("required") and given.get(item) is None]:
        return _error("missing_argument", f"{name} needs the argument {', '.join(missing)}")
    present = [(item, value) for item, value in given.items() if value is not None]
    wrong = [item for item, value in present if not fits(value, json_types(parameters[item].get("type")))]
    return _error("wrong_type", f"{name} has the wrong type of value for {', '.join(wrong)}") if wrong else None


def fits(value: Any, kinds: Sequence[str]) -> bool:
    """True if a JSON value is of one of the JSON types; of none at all means of any."""
    return not kinds or any(_CHECKS[kind](value) for kind in kinds)


def _error(kind: ErrorKind, message: str) -> CallError:
    return CallError(kind=kind, type="Error", message=message)
