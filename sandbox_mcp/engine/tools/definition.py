"""Definition of a tool, and the reading of its function's docstring.

Policy: a parameter without a default is required; one whose default is ``UNSET`` may be left out, and only one
annotated ``| None`` may be null. Schemas state exactly that.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from sandbox_mcp.engine.tools.value_schemas import JsonType, RolePath, at_path, types_in
from sandbox_mcp.engine.world.effects import Effects
from sandbox_mcp.engine.world.faults import DuplicateError, NoDataError, ToolFault
from sandbox_mcp.engine.world.schema import CellRole, DefaultMeasure

__all__ = (
    "UNSET", "DuplicateError", "JsonType", "NoDataError", "Parameter", "Tool", "ToolFault", "never_run",
    "object_schema", "parse_docstring",
)  # fmt: skip


class _Unset:
    __slots__ = ()

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Any = _Unset()
"""The default of an argument that may be left out: the tool can tell 'not given' from null."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a tool: the values it accepts as JSON Schema, whether it must be given, and what it means.

    ``role`` is what it is for, ``inside`` what parts of an array or object are for, by their paths. ``measure`` and
    ``within`` are how a milestone compares it where it does not say; None where it was not said.
    """

    name: str
    value: Mapping[str, Any]
    required: bool
    description: str
    role: CellRole | None = None
    measure: DefaultMeasure | None = None
    within: float | None = None
    inside: tuple[tuple[RolePath, CellRole], ...] = ()

    @property
    def types(self) -> tuple[JsonType, ...]:
        """The JSON types that it accepts."""
        return types_in(self.value)

    def with_roles(self, value: Any, change: Callable[[CellRole, Any], Any]) -> Any:
        """A value of this argument with everything in it that has a role put through ``change``."""
        places = (((), self.role), *self.inside) if self.role else self.inside
        for path, role in places:
            value = at_path(value, path, partial(change, role))
        return value

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of this argument."""
        return {**self.value, "description": self.description} if self.description else dict(self.value)


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the world. ``action`` says that it changes the world; the rest are queries.

    ``wrapped`` says that the result is not an object and travels over MCP as ``{"result": ...}``. ``effects`` is all
    that it may write (None: anything). ``reaches`` is the argument that says whom it reaches. ``said`` are words with
    which an agent tells that it has used it. ``computes`` says that its result follows from its arguments alone, so
    that whoever can reckon does not need it. ``slow`` says that a query may take long to answer the first time that it
    is asked something. ``once`` says that trying a call is making it, as with a real server.
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
    effects: Effects | None = None
    reaches: str | None = None
    said: tuple[str, ...] = ()
    computes: bool = False
    slow: bool = False
    once: bool = False

    @property
    def wrapped(self) -> bool:
        """True if the result needs a wrapper to be a JSON object."""
        return self.result_schema.get("type") != "object"

    def may_write(self, tables: Collection[str]) -> bool:
        """True if it can make or change rows of one of these tables, as far as is declared."""
        if not self.action or self.effects is None:
            return self.action
        return any(table in self.effects.adds or table in self.effects.updates for table in tables)

    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments as one object."""
        return object_schema(self.parameters)

    def output_schema(self) -> dict[str, Any]:
        """JSON Schema of the structured result, always an object."""
        if not self.wrapped:
            return dict(self.result_schema)
        return {"type": "object", "properties": {"result": dict(self.result_schema)}, "required": ["result"]}


def never_run(*_: object, **__: object) -> None:
    """The function of a tool whose calls no transaction carries out, such as saying something to the user."""
    raise RuntimeError("this tool is carried out by whoever offers it")


def object_schema(parameters: tuple[Parameter, ...]) -> dict[str, Any]:
    """JSON Schema of an argument object with exactly these parameters."""
    return {
        "type": "object",
        "properties": {parameter.name: parameter.schema() for parameter in parameters},
        "required": [parameter.name for parameter in parameters if parameter.required],
        "additionalProperties": False,
    }


def parse_docstring(text: str) -> tuple[str, dict[str, str]]:
    """Split a Google-style docstring into what the caller reads first and a text per argument.

    The description keeps its Returns and Raises sections as sentences, because a caller can act on them, and whatever
    stands at the margin behind a section. Types in brackets behind the name of an argument say nothing new.
    """
    sections: dict[str, list[str]] = {"": []}
    current, indented = "", False
    for line in text.splitlines():
        if line.rstrip(":") in ("Args", "Returns", "Raises") and line.endswith(":"):
            current, indented = line.rstrip(":"), False
            sections[current] = []
            continue
        if indented and line[:1].strip():
            current = ""
        indented = indented or line[:1].isspace()
        sections[current].append(line)
    parts = [_joined(sections[""])]
    if "Returns" in sections:
        parts.append(f"Returns {_joined(sections['Returns'])}")
    parts += [f"Fails with {item}" for item in _items(sections.get("Raises", []))]
    arguments = (item.partition(":") for item in _items(sections.get("Args", [])))
    texts = {name.partition("(")[0].strip(): told.strip() for name, _, told in arguments}
    return "\n".join(part for part in parts if part), texts


def _joined(lines: list[str]) -> str:
    paragraphs = "\n".join(line.strip() for line in lines).strip().split("\n\n")
    return "\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _items(lines: list[str]) -> list[str]:
    """The items of a section: the first says how far they are indented, and lines indented further go on."""
    items: list[str] = []
    margin = 0
    for line in filter(str.strip, lines):
        indent = len(line) - len(line.lstrip())
        margin = margin if items else indent
        if indent <= margin:
            items.append(line.strip())
        else:
            items[-1] += " " + line.strip()
    return items
