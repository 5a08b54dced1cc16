"""Everything there is to know of a tool comes from its function."""

from typing import Any, Literal, TypedDict

from sandbox_mcp.tools.definition import UNSET, Tool, action, parse_docstring, query, user_action
from sandbox_mcp.world import Transaction
from tests.each import each


class Spot(TypedDict):
    """A place."""

    name: str
    height: float | None


@query("garden")
def look(
    tx: Transaction,
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


@action("garden", destructive=True)
def dig(tx: Transaction) -> None:
    """Dig."""


@user_action("garden")
def leave(tx: Transaction) -> Spot | None:
    """Leave."""


def result(hint: Any) -> Any:
    """The result schema of a tool that returns that."""

    def tool(tx: Transaction) -> Any:
        """Do."""

    tool.__annotations__["return"] = hint
    made: Tool = query("garden")(tool)
    return made.result_schema


def test_name_domain_and_kind() -> None:
    assert (look.name, look.domain, look.action, look.destructive, look.caller) == (
        "look",
        "garden",
        False,
        False,
        "agent",
    )
    assert (dig.action, dig.destructive, leave.action, leave.caller) == (True, True, True, "user")


def test_the_description_is_for_the_caller() -> None:
    assert look.description.split("\n") == [
        "Look around.",
        "As far as one can see.",
        "Returns the places, which may be none.",
        "Fails with ValueError: there is nothing.",
        "Fails with PermissionError: the gate is shut, and nobody is there.",
    ]


def test_the_transaction_is_never_shown() -> None:
    assert [parameter.name for parameter in look.parameters] == ["name", "depth", "rows", "deep", "near", "at"]


def test_what_has_no_default_is_required() -> None:
    assert [parameter.name for parameter in look.parameters if parameter.required] == ["name", "depth"]


def test_only_what_says_so_may_be_null() -> None:
    types = {parameter.name: parameter.types for parameter in look.parameters}
    assert types == {
        "name": ("string",),
        "depth": ("number",),
        "rows": ("integer",),
        "deep": ("boolean",),
        "near": ("string", "null"),
        "at": ("string",),
    }


def test_the_schema_of_the_arguments() -> None:
    schema = look.input_schema()
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
    assert (look.wrapped, dig.wrapped, leave.wrapped) == (True, True, True)
    assert dig.output_schema() == {
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
