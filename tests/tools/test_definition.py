"""Everything there is to know of a tool comes from its function."""

from typing import Any, Literal, Self, TypedDict

from sandbox_mcp.engine.tools import UNSET, World
from sandbox_mcp.engine.tools.definition import parse_docstring
from sandbox_mcp.engine.world.tables import Id, Table, key
from sandbox_mcp.engine.world.tx import Tx
from tests.each import each


class Spot(TypedDict):
    """A place."""

    name: str
    height: float | None


class Bed(Table):
    """Where something grows."""

    id: Id[Self] = key()


garden = World("garden", tables=[Bed])


@garden.query
def look(
    tx: Tx,
    name: str,
    depth: float,
    rows: int = 1,
    deep: bool = False,
    near: str | None = None,
    at: str = UNSET,
) -> list[Spot]:
    """Look around.

    As far as
    one can see.

    Args:
        name: What to look for,
            and where.
        depth: How deep.
        rows: How many.
        deep: Whether to dig.
        near: Near what.

    Returns:
        the places, which may be
        none.

    Raises:
        ValueError: there is nothing.
        PermissionError: the gate is shut, and
            nobody is there.
    """
    return []


@garden.action(removes=[Bed])
def dig(tx: Tx) -> None:
    """Dig."""


@garden.user_action
def leave(tx: Tx) -> Spot | None:
    """Leave."""


LOOK, DIG, LEAVE = (garden.tools[name] for name in ("look", "dig", "leave"))


def result(hint: Any) -> Any:
    """The result schema of a tool that returns that."""

    def tool(tx: Tx) -> Any:
        """Do."""

    tool.__annotations__["return"] = hint
    world = World("garden", tables=[])
    world.query(tool)
    return world.tools["tool"].result_schema


def test_name_domain_and_kind() -> None:
    assert (LOOK.name, LOOK.domain, LOOK.action, LOOK.destructive, LOOK.caller) == (
        "look",
        "garden",
        False,
        False,
        "agent",
    )
    assert (DIG.action, DIG.destructive, LEAVE.action, LEAVE.caller) == (True, True, True, "user")


def test_the_description_is_for_the_caller() -> None:
    assert LOOK.description.split("\n") == [
        "Look around.",
        "As far as one can see.",
        "Returns the places, which may be none.",
        "Fails with ValueError: there is nothing.",
        "Fails with PermissionError: the gate is shut, and nobody is there.",
    ]


def test_the_transaction_is_never_shown() -> None:
    assert [parameter.name for parameter in LOOK.parameters] == ["name", "depth", "rows", "deep", "near", "at"]


def test_what_has_no_default_is_required() -> None:
    assert [parameter.name for parameter in LOOK.parameters if parameter.required] == ["name", "depth"]


def test_only_what_says_so_may_be_null() -> None:
    types = {parameter.name: parameter.types for parameter in LOOK.parameters}
    assert types == {
        "name": ("string",),
        "depth": ("number",),
        "rows": ("integer",),
        "deep": ("boolean",),
        "near": ("string", "null"),
        "at": ("string",),
    }


def test_the_schema_of_the_arguments() -> None:
    schema = LOOK.input_schema()
    assert schema["properties"]["name"] == {"type": "string", "description": "What to look for, and where."}
    assert schema["properties"]["near"] == {"type": ["string", "null"], "description": "Near what."}
    assert schema["properties"]["at"] == {"type": "string"}
    assert (schema["required"], schema["additionalProperties"]) == (["name", "depth"], False)


SPOT = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "height": {"type": ["number", "null"]}},
    "required": ["name", "height"],
}


@each(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (None, {"type": "null"}),
        (bool, {"type": "boolean"}),
        (float | None, {"type": ["number", "null"]}),
        (Spot, SPOT),
        (list[Spot], {"type": "array", "items": SPOT}),
        (Spot | None, {"anyOf": [SPOT, {"type": "null"}]}),
        (dict[str, Any], {"type": "object"}),
        (tuple[str, ...], {"type": "array", "items": {"type": "string"}}),
        (tuple[str, int], {"type": "array", "items": {"type": ["string", "integer"]}}),
        (Literal["a", 1, None], {"type": ["string", "integer", "null"], "enum": ["a", 1, None]}),
    ],
)
def test_the_schema_of_the_result(hint: Any, schema: dict[str, Any]) -> None:
    assert result(hint) == schema


def test_a_result_that_is_no_object_is_wrapped() -> None:
    assert (LOOK.wrapped, DIG.wrapped, LEAVE.wrapped) == (True, True, True)
    assert DIG.output_schema() == {
        "type": "object",
        "properties": {"result": {"type": "null"}},
        "required": ["result"],
    }


def test_a_docstring_without_sections() -> None:
    assert parse_docstring("Just this.") == ("Just this.", {})


@each(
    "text",
    [
        "Look.\n\nArgs:\n    x (int): How deep.\n    y: Where,\n        and how.\n\nNote:\n    Mind.",
        "Look.\n\nArgs:\n  x (int, optional): How deep.\n  y (dict[str, int]): Where,\n    and how.\nNote:\n  Mind.",
        "Look.\n\nArgs:\n\n        x: How deep.\n        y: Where,\n            and how.\n\nNote: Mind.",
    ],
)
def test_a_docstring_may_name_types_be_indented_otherwise_and_have_more_sections(text: str) -> None:
    description, arguments = parse_docstring(text)
    assert description.split() == ["Look.", "Note:", "Mind."]
    assert arguments == {"x": "How deep.", "y": "Where, and how."}


def test_no_docstring_at_all() -> None:
    assert parse_docstring("") == ("", {})


def test_unset_says_so() -> None:
    assert repr(UNSET) == "UNSET"
