"""Where the conversations are in a file of a provider's messages, and how typed content becomes text."""

import pytest
from sandbox_grader.errors import ImportFormatError
from sandbox_grader.importers.reading.build import SessionBuilder
from sandbox_grader.importers.reading.content import joined, outcome_of, part_text
from sandbox_grader.importers.reading.documents import conversations, is_message
from sandbox_grader.importers.reading.json_values import JsonNode, Loaded

from tests.each import each

MESSAGE = {"role": "user", "content": "Hi"}
HOLDER = {"messages": [MESSAGE]}


def shapes(*values, lines=False):
    """Each conversation as the number of its items, or as the word that it is an object holding them."""
    loaded = Loaded(tuple(JsonNode(value, "f") for value in values), lines=lines)
    found = conversations(loaded, is_message)
    return ["holder" if one.holder is not None else len(one.items) for one in found]


@each(
    ("value", "expected"),
    [
        ([MESSAGE, MESSAGE], [2]),
        (HOLDER, ["holder"]),
        ([HOLDER, HOLDER], ["holder", "holder"]),
        ([[MESSAGE], [MESSAGE, MESSAGE]], [1, 2]),
        ([HOLDER, [MESSAGE]], ["holder", 1]),
        ([HOLDER | {"role": "trace"}], ["holder"]),
    ],
)
def test_a_document_holds(value, expected):
    assert shapes(value) == expected


@each(
    ("values", "expected"),
    [
        ([MESSAGE, MESSAGE], [2]),
        ([HOLDER, HOLDER], ["holder", "holder"]),
        ([[MESSAGE], [MESSAGE]], [1, 1]),
        ([HOLDER, [MESSAGE]], ["holder", 1]),
    ],
)
def test_lines_hold(values, expected):
    assert shapes(*values, lines=True) == expected


@pytest.fixture
def builder():
    return SessionBuilder("test", "f", "s")


class TestContent:
    @pytest.mark.parametrize(
        ("content", "text"),
        [
            (None, ""),
            ("a", "a"),
            ([], ""),
            (["a", {"type": "text", "text": "b"}], "a\nb"),
            ([{"type": "input_text", "text": "a"}, {"type": "refusal", "refusal": "b"}], "a\nb"),
        ],
    )
    def test_text_and_parts(self, builder, content, text):
        assert joined(None if content is None else JsonNode(content, "f"), builder) == text
        assert builder.losses == []

    @pytest.mark.parametrize("content", [5, True, {"type": "text"}])
    def test_anything_else_is_an_error(self, builder, content):
        with pytest.raises(ImportFormatError, match="expected text or an array of content parts"):
            joined(JsonNode(content, "f"), builder)

    def test_a_part_without_text_is_named(self, builder):
        assert part_text(JsonNode({"type": "video"}, "f", 3, "content[1]"), builder) is None
        [loss] = builder.losses
        assert (loss.where, loss.what) == ("line 3, content[1]", "content of type 'video' is not kept")

    def test_a_result_is_partial_only_where_something_of_it_was_lost(self, builder):
        whole = outcome_of(builder, JsonNode("1", "f"), failed=False)
        part = outcome_of(builder, JsonNode(["1", {"type": "image"}], "f"), failed=False)
        assert (whole.result, whole.meta) == (1, {})
        assert (part.result, part.meta) == (1, {"result_partial": True})
