"""From Python's annotations to JSON Schema, and whether a JSON value fits a schema.

Policy: a fault is named by its path (``items[0].count``), all of it at once, wrong types before wrong values. A
boolean is not a number, and a number without a fraction is an integer. Keywords that this page does not know are not
checked, so that schemas of servers elsewhere can be used as they are.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import (
    Any,
    Literal,
    NotRequired,
    Required,
    TypeGuard,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from sandbox_mcp.engine.world.faults import WorldError
from sandbox_mcp.engine.world.schema import CellRole, Column
from sandbox_mcp.engine.world.tables import is_table, role_in, schema_of

JsonType = Literal["string", "number", "integer", "boolean", "null", "array", "object"]
LARGEST = 1e300
"""Numbers beyond this, infinities and NaN are not numbers that a tool can use."""
_RANGE = f"from {-LARGEST:g} to {LARGEST:g}"
DEEPEST = 60
"""How deep a schema is followed; one that refers to itself has no end."""
_SCALARS: Mapping[Any, JsonType] = {str: "string", float: "number", int: "integer", bool: "boolean", NoneType: "null"}
_CELLS: Mapping[str, JsonType] = {"timestamp": "number", "list": "array"}
JsonSchema = Mapping[str, Any]
GIVEN = "given"
"""What is expected of a value that is missing."""


def value_schema(hint: Any, *, closed: bool = False) -> dict[str, Any]:
    """The JSON Schema of values with an annotation.

    ``closed`` is for arguments: objects have no other keys than those declared, and arrays are lists, as tools are
    given them.

    Raises:
        WorldError: JSON has nothing for it.
    """
    hint, _, _ = role_in(hint, None)
    if hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    if hint in (Any, object):
        return {}
    if is_table(hint):
        if closed:
            raise WorldError(f"no caller can give a row of {hint.__name__}; expected its id, Id[{hint.__name__}]")
        shown = [item for item in schema_of(hint).columns if item.shown]
        return {
            "type": "object",
            "properties": {item.name: _cell_schema(item) for item in shown},
            "required": [item.name for item in shown],
        }
    if is_typeddict(hint):
        fields = {name: value_schema(field, closed=closed) for name, field in get_type_hints(hint).items()}
        required = [name for name in fields if name in hint.__required_keys__]
        found: dict[str, Any] = {"type": "object", "properties": fields, "required": required}
        return {**found, "additionalProperties": False} if closed else found
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal and all(type(choice) in _SCALARS for choice in inner):
        kinds = list(dict.fromkeys(_SCALARS[type(choice)] for choice in inner))
        return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": list(inner)}
    if origin is list or (origin is tuple and inner and not closed):
        items = tuple(item for item in inner if item is not ...)
        return {"type": "array", "items": value_schema(Union[items], closed=closed)}  # noqa: UP007 - built at run time
    if origin is dict or hint is dict:
        values = value_schema(inner[1], closed=closed) if len(inner) == 2 else {}
        return {"type": "object", "additionalProperties": values} if values else {"type": "object"}
    if origin in (Union, UnionType):
        options = [value_schema(option, closed=closed) for option in inner]
        if all(option.keys() == {"type"} and option["type"] in _SCALARS.values() for option in options):
            return {"type": [option["type"] for option in options]}
        return {"anyOf": options}
    expected = (
        "str, int, float, bool, None, Literal, list, dict, a TypedDict, a table's class, or several of them with |"
    )
    raise WorldError(f"JSON has nothing for the annotation {hint!r}; expected {expected}")


EACH = "*"
"""In a path: every item of an array, every value of an object whose keys are free."""
RolePath = tuple[str, ...]


def roles_inside(hint: Any, path: RolePath = ()) -> Iterator[tuple[RolePath, CellRole]]:
    """The parts with a role, such as ids, in values of an annotation: the path to each, with its role."""
    hint, role, _ = role_in(hint, None)
    if role is not None:
        yield path, role
    elif is_typeddict(hint):
        for name, field in get_type_hints(hint, include_extras=True).items():
            kept = get_args(field)[0] if get_origin(field) in (NotRequired, Required) else field
            yield from roles_inside(kept, (*path, name))
    elif get_origin(hint) is list:
        yield from roles_inside(get_args(hint)[0], (*path, EACH))
    elif get_origin(hint) is dict:
        yield from roles_inside(get_args(hint)[-1], (*path, EACH))
    elif get_origin(hint) in (Union, UnionType):
        for option in get_args(hint):
            yield from roles_inside(option, path)


def at_path(value: Any, path: RolePath, change: Callable[[Any], Any]) -> Any:
    """A JSON value with what stands at a path put through ``change``; parts of another form stay as they are."""
    if not path:
        return change(value)
    first, rest = path[0], path[1:]
    if isinstance(value, list | tuple) and first == EACH:
        return [at_path(item, rest, change) for item in cast("list[Any]", value)]
    if isinstance(value, Mapping):
        given = cast("Mapping[str, Any]", value)
        return {name: at_path(item, rest, change) if first in (EACH, name) else item for name, item in given.items()}
    return cast(Any, value)


def _cell_schema(item: Column) -> dict[str, Any]:
    kind: JsonType = _CELLS.get(item.type, cast(JsonType, item.type))
    schema: dict[str, Any] = {"type": [kind, "null"] if item.nullable else kind}
    if item.type == "list":
        schema["items"] = {"type": _CELLS.get(item.items or "string", item.items)}
        return schema
    return {**schema, "enum": [*item.choices, *([None] if item.nullable else [])]} if item.choices else schema


def types_in(schema: JsonSchema) -> tuple[JsonType, ...]:
    """The JSON types that a schema names, those of all its options; none where it says nothing of types."""
    found: list[JsonType] = []
    for part in (schema, *schema.get("anyOf", ()), *schema.get("oneOf", ())):
        named = part.get("type", ())
        found += cast("list[JsonType]", [named] if isinstance(named, str) else named)
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Misfit:
    """One way in which a value is not what a schema asks for: where, what was expected, and the value there.

    ``needless`` says that whatever the value is, it should not be there.
    """

    path: str
    expected: str
    value: Any
    kind: Literal["type", "value"]
    needless: bool = False

    def told(self, shown: Callable[[Any], str] = repr) -> str:
        """Describe the fault in words; without the value where it should not be there, or is missing."""
        but = "" if self.needless or self.expected == GIVEN else f", not {shown(self.value)}"
        return f"{self.path} must be {self.expected}{but}"


def fits_schema(value: Any, schema: JsonSchema) -> bool:
    """True if a value is all that a schema asks for."""
    return next(misfits(value, schema, ""), None) is None


_OBVIOUS: Mapping[type, JsonType] = {str: "string", bool: "boolean", NoneType: "null"}


def fits_plainly(value: object, schema: JsonSchema) -> bool:
    """True if the value's type alone shows that it fits, as with most arguments; False leaves it open."""
    kind, named = _OBVIOUS.get(type(value)), schema.get("type")
    return kind is not None and len(schema) == 1 and (kind == named or (isinstance(named, list) and kind in named))


def misfits(value: Any, schema: JsonSchema, path: str) -> Iterator[Misfit]:
    """Every way in which a value, which stands at ``path``, is not what a schema asks for."""
    return _misfits(value, schema, path, schema, 0)


def _misfits(value: Any, schema: JsonSchema, path: str, whole: JsonSchema, depth: int) -> Iterator[Misfit]:
    if depth > DEEPEST:
        return
    if len(schema) == 1 and "type" in schema:  # as most arguments have it: nothing else to follow or to look at
        kinds = _kinds(schema["type"])
        if kinds and not fits(value, kinds):
            yield Misfit(path, _one_of(kinds, value), value, "type")
        return
    schema = _followed(schema, whole)
    for options in (schema.get("anyOf"), schema.get("oneOf")):
        if options:
            yield from _of_options(value, options, path, whole, depth)
    for part in schema.get("allOf", ()):
        yield from _misfits(value, part, path, whole, depth + 1)
    named = schema.get("type")
    kinds = _kinds(named)
    if kinds and not fits(value, kinds):
        yield Misfit(path, _one_of(kinds, value), value, "type")
        return
    yield from _wrong_value(value, schema, path)
    if isinstance(value, list | tuple):
        items = schema.get("items")
        if isinstance(items, Mapping):
            for index, item in enumerate(cast("list[Any]", value)):
                yield from _misfits(item, cast(JsonSchema, items), f"{path}[{index}]", whole, depth + 1)
    elif isinstance(value, Mapping):
        yield from _in_properties(cast("Mapping[str, Any]", value), schema, path, whole, depth)


def _kinds(named: Any) -> tuple[JsonType, ...]:
    return cast("tuple[JsonType, ...]", (named,) if isinstance(named, str) else tuple(named or ()))


def _one_of(kinds: Iterable[str], value: Any) -> str:
    """The kinds in words; numbers with their range, where the value is a number outside it."""
    beyond = isinstance(value, int | float) and not _is_number(value) and not isinstance(value, bool)
    return " or ".join(f"{kind} {_RANGE}" if beyond and kind in ("number", "integer") else kind for kind in kinds)


def _followed(schema: JsonSchema, whole: JsonSchema) -> JsonSchema:
    """Follow a reference within the same schema."""
    reference = schema.get("$ref")
    return referred(reference, whole) if is_within(reference) else schema


def is_within(reference: object) -> TypeGuard[str]:
    """Whether a reference leads to another place of the schema in which it stands."""
    return isinstance(reference, str) and (reference == "#" or reference.startswith("#/"))


def referred(reference: str, whole: JsonSchema) -> JsonSchema:
    """The part of a schema that a reference such as ``#/$defs/Node`` leads to; one that leads nowhere asks for nothing.

    Source: RFC 6901, sections 4 and 6.
    """
    from urllib.parse import unquote  # few schemas have references

    found: Any = whole
    for part in reference.split("/")[1:]:
        name = unquote(part).replace("~1", "/").replace("~0", "~")
        found = cast("Mapping[str, Any]", found).get(name) if isinstance(found, Mapping) else None
    return cast(JsonSchema, found) if isinstance(found, Mapping) else {}


def _of_options(
    value: Any, options: Iterable[JsonSchema], path: str, whole: JsonSchema, depth: int
) -> Iterator[Misfit]:
    """Nothing if one option fits; else what the only option of the right type finds wrong, or the allowed values."""
    followed = [_followed(option, whole) for option in options]
    tried = [list(_misfits(value, option, path, whole, depth + 1)) for option in followed]
    if not all(tried):
        return
    near = [found for found in tried if not any(item.path == path and item.kind == "type" for item in found)]
    if len(near) == 1:
        yield from near[0]
        return
    kinds = dict.fromkeys(kind for option in followed for kind in types_in(option))
    yield Misfit(path, _one_of(kinds, value) or "something else", value, "value" if near else "type")


_BOUNDS: Mapping[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "minimum": ("at least {}", lambda value, bound: value >= bound),
    "maximum": ("at most {}", lambda value, bound: value <= bound),
    "exclusiveMinimum": ("more than {}", lambda value, bound: value > bound),
    "exclusiveMaximum": ("less than {}", lambda value, bound: value < bound),
}
_SIZES: Mapping[str, tuple[type | tuple[type, ...], str, bool]] = {
    "minLength": (str, "at least {} characters long", True),
    "maxLength": (str, "at most {} characters long", False),
    "minItems": ((list, tuple), "a list of at least {}", True),
    "maxItems": ((list, tuple), "a list of at most {}", False),
}

_LIMITS = frozenset((*_BOUNDS, *_SIZES))


def _wrong_value(value: Any, schema: JsonSchema, path: str) -> Iterator[Misfit]:
    if "enum" in schema and not any(_equal(value, option) for option in schema["enum"]):
        shown = ", ".join("null" if option is None else repr(option) for option in schema["enum"])
        yield Misfit(path, f"one of {shown}", value, "value")
    if "const" in schema and not _equal(value, schema["const"]):
        yield Misfit(path, repr(schema["const"]), value, "value")
    if _LIMITS.isdisjoint(schema):
        return
    if isinstance(value, int | float) and not isinstance(value, bool):
        for keyword, (text, holds) in _BOUNDS.items():
            if isinstance(schema.get(keyword), int | float) and not holds(value, schema[keyword]):
                yield Misfit(path, text.format(schema[keyword]), value, "value")
    for keyword, (kind, text, least) in _SIZES.items():
        bound = schema.get(keyword)
        if isinstance(value, kind) and isinstance(bound, int):
            size = len(cast("list[Any]", value))
            if size < bound if least else size > bound:
                yield Misfit(path, text.format(bound), value, "value")


def _equal(value: Any, option: Any) -> bool:
    return isinstance(value, bool) == isinstance(option, bool) and value == option


def _in_properties(
    value: Mapping[str, Any], schema: JsonSchema, path: str, whole: JsonSchema, depth: int
) -> Iterator[Misfit]:
    properties: Mapping[str, JsonSchema] = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield Misfit(_below(path, name), GIVEN, None, "type")
    others = schema.get("additionalProperties", True)
    for name, item in value.items():
        if name in properties:
            yield from _misfits(item, properties[name], _below(path, name), whole, depth + 1)
        elif others is False and "patternProperties" not in schema:
            told = f"left out; {path or 'it'} has {', '.join(properties) or 'nothing'}"
            yield Misfit(_below(path, name), told, item, "type", needless=True)
        elif isinstance(others, Mapping):
            yield from _misfits(item, cast(JsonSchema, others), _below(path, name), whole, depth + 1)


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def fits(value: Any, types: tuple[JsonType, ...]) -> bool:
    """True if a JSON value is of one of these types; a boolean is not a number, and 2.0 is an integer."""
    return any(_CHECKS[kind](value) for kind in types)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def _is_integer(value: Any) -> bool:
    return _is_number(value) and value == int(value)


_CHECKS: Mapping[JsonType, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": _is_number,
    "integer": _is_integer,
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list | tuple),
    "object": lambda value: isinstance(value, Mapping),
}


def converted(value: Any, schema: JsonSchema) -> Any:
    """A value that fits a schema as Python has it: 2.0 as 2 where only integers may be, and 2 as 2.0 for numbers."""
    named = schema.get("type")
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float):
        kinds = _kinds(named) or types_in(schema)
        if isinstance(value, float):
            return int(value) if "integer" in kinds and "number" not in kinds else value
        return float(value) if "number" in kinds else value
    if isinstance(value, list | tuple) and isinstance(schema.get("items"), Mapping):
        return [converted(item, schema["items"]) for item in cast("list[Any]", value)]
    if isinstance(value, Mapping) and not schema.keys().isdisjoint(("properties", "additionalProperties")):
        known: Mapping[str, JsonSchema] = schema.get("properties", {})
        given, others = cast("Mapping[str, Any]", value), schema.get("additionalProperties")
        rest: JsonSchema = cast(JsonSchema, others) if isinstance(others, Mapping) else {}
        return {name: converted(item, known.get(name, rest)) for name, item in given.items()}
    for option in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        if fits_schema(value, option):
            return converted(value, option)
    return cast(Any, value)
