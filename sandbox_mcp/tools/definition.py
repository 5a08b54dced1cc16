"""What a tool is: one typed function, from whose signature and docstring everything else is derived.

Policy: the first parameter is the transaction and never shown. A parameter without a default is required; one whose
default is ``UNSET`` may be left out, and only one annotated ``| None`` may be null. Schemas state exactly that.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict


class _Unset:
    __slots__ = ()

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Any = _Unset()
"""The default of an argument that may be left out: the tool can tell 'not given' from null."""

JsonType = Literal["string", "number", "integer", "boolean", "null"]
_SCALARS: Mapping[Any, JsonType] = {str: "string", float: "number", int: "integer", bool: "boolean", NoneType: "null"}


class ToolFault(Exception):
    """Base of the faults that only tools know; ``ValueError``, ``ConnectionError`` and the like are raised as such."""


class NoDataError(ToolFault):
    """What was asked for does not exist."""


class DuplicateError(ToolFault):
    """More than one thing fits where only one may."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a tool: the JSON types it accepts, whether it must be given, and what it means."""

    name: str
    types: tuple[JsonType, ...]
    required: bool
    description: str

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of this argument."""
        kind: dict[str, Any] = {"type": self.types[0] if len(self.types) == 1 else list(self.types)}
        return {**kind, "description": self.description} if self.description else kind


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the world. ``action`` says that it changes the world; the rest are queries.

    ``wrapped`` says that the result is no JSON object and travels over MCP as ``{"result": ...}``.
    """

    name: str
    domain: str
    action: bool
    destructive: bool
    caller: Literal["agent", "user"]
    function: Callable[..., Any]
    description: str
    parameters: tuple[Parameter, ...]
    result_schema: Mapping[str, Any]

    @property
    def wrapped(self) -> bool:
        """Whether the result needs a wrapper to be a JSON object."""
        return self.result_schema.get("type") != "object"

    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments as one object."""
        return object_schema(self.parameters)

    def output_schema(self) -> dict[str, Any]:
        """JSON Schema of the structured result, always an object."""
        if not self.wrapped:
            return dict(self.result_schema)
        return {"type": "object", "properties": {"result": dict(self.result_schema)}, "required": ["result"]}


def object_schema(parameters: tuple[Parameter, ...]) -> dict[str, Any]:
    """JSON Schema of an argument object with exactly these parameters."""
    return {
        "type": "object",
        "properties": {parameter.name: parameter.schema() for parameter in parameters},
        "required": [parameter.name for parameter in parameters if parameter.required],
        "additionalProperties": False,
    }


def query(domain: str) -> Callable[[Callable[..., Any]], Tool]:
    """Declare a tool that only looks."""
    return lambda function: _derive(function, domain, action=False, destructive=False, caller="agent")


def action(domain: str, *, destructive: bool = False) -> Callable[[Callable[..., Any]], Tool]:
    """Declare a tool that changes the world; ``destructive`` if it can overwrite or remove what was there."""
    return lambda function: _derive(function, domain, action=True, destructive=destructive, caller="agent")


def user_action(domain: str) -> Callable[[Callable[..., Any]], Tool]:
    """Declare a tool that only the simulated user may call."""
    return lambda function: _derive(function, domain, action=True, destructive=False, caller="user")


def _derive(
    function: Callable[..., Any], domain: str, *, action: bool, destructive: bool, caller: Literal["agent", "user"]
) -> Tool:
    hints = get_type_hints(function)
    description, texts = parse_docstring(inspect.getdoc(function) or "")
    parameters = tuple(
        Parameter(name, _json_types(hints[name]), parameter.default is parameter.empty, texts.get(name, ""))
        for name, parameter in list(inspect.signature(function).parameters.items())[1:]
    )
    return Tool(
        name=function.__name__,
        domain=domain,
        action=action,
        destructive=destructive,
        caller=caller,
        function=function,
        description=description,
        parameters=parameters,
        result_schema=_result_schema(hints["return"]),
    )


def parse_docstring(text: str) -> tuple[str, dict[str, str]]:
    """Split a Google-style docstring into what the caller reads first and a text per argument.

    The description keeps its Returns and Raises sections as sentences, because a caller can act on them.
    """
    sections: dict[str, list[str]] = {"": []}
    current = ""
    for line in text.splitlines():
        if line.rstrip(":") in ("Args", "Returns", "Raises") and line.endswith(":"):
            current = line.rstrip(":")
            sections[current] = []
        else:
            sections[current].append(line)
    parts = [_joined(sections[""])]
    if "Returns" in sections:
        parts.append(f"Returns {_joined(sections['Returns'])}")
    parts += [f"Fails with {item}" for item in _items(sections.get("Raises", []))]
    return "\n".join(part for part in parts if part), dict(_pairs(sections.get("Args", [])))


def _joined(lines: list[str]) -> str:
    paragraphs = "\n".join(line.strip() for line in lines).strip().split("\n\n")
    return "\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _items(lines: list[str]) -> list[str]:
    items: list[str] = []
    for line in lines:
        if line.startswith("    ") and not line.startswith("     ") and line.strip():
            items.append(line.strip())
        elif line.strip() and items:
            items[-1] += " " + line.strip()
    return items


def _pairs(lines: list[str]) -> list[tuple[str, str]]:
    split = (item.partition(":") for item in _items(lines))
    return [(name.strip(), text.strip()) for name, _, text in split]


def _json_types(hint: Any) -> tuple[JsonType, ...]:
    options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return tuple(_SCALARS[option] for option in options)


def _result_schema(hint: Any) -> Mapping[str, Any]:
    if is_typeddict(hint):
        fields = {name: _result_schema(field) for name, field in get_type_hints(hint).items()}
        required = [name for name in fields if name in hint.__required_keys__]
        return {"type": "object", "properties": fields, "required": required}
    if get_origin(hint) is list:
        return {"type": "array", "items": _result_schema(get_args(hint)[0])}
    if get_origin(hint) in (Union, UnionType) and any(is_typeddict(option) for option in get_args(hint)):
        return {"anyOf": [_result_schema(option) for option in get_args(hint)]}
    if get_origin(hint) is dict:
        return {"type": "object"}
    types = _json_types(hint)
    return {"type": types[0] if len(types) == 1 else list(types)}
