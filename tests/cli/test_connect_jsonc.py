"""Editing JSON in place: only what is named changes, whatever the text looks like."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox_mcp.cli.connect.jsonc import JsonTextError, drop, parse, put

NEW = {"args": ["x"]}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"a": 1}', '{"a": 1, "s": {"args": ["x"]}}'),
        ('{"a": 1,}', '{"a": 1, "s": {"args": ["x"]},}'),
        ("{}", '{\n  "s": {\n    "args": [\n      "x"\n    ]\n  }\n}'),
        ('{\n "a": 1\n}\n', '{\n "a": 1,\n "s": {\n  "args": [\n   "x"\n  ]\n }\n}\n'),
        ('{\r\n\t"a": 1\r\n}', '{\r\n\t"a": 1,\r\n\t"s": {\r\n\t\t"args": [\r\n\t\t\t"x"\r\n\t\t]\r\n\t}\r\n}'),
        ('{\n "a": 1, // b\n // c\n}', '{\n "a": 1, // b\n "s": {\n  "args": [\n   "x"\n  ]\n },\n // c\n}'),
        ("{\n  // none yet\n}", '{\n  // none yet\n  "s": {\n    "args": [\n      "x"\n    ]\n  }\n}'),
        ("\ufeff{}\n", '\ufeff{\n  "s": {\n    "args": [\n      "x"\n    ]\n  }\n}\n'),
    ],
)
def test_what_is_put_in_looks_like_its_neighbours(before: str, after: str) -> None:
    assert put(before, ("s",), NEW) == after


def test_a_comma_goes_before_a_remark_and_not_into_it() -> None:
    new = put('{\n  "a": 1 // one\n}', ("b",), 2)
    assert new == '{\n  "a": 1, // one\n  "b": 2\n}'


def test_objects_on_the_way_are_made() -> None:
    assert parse(put('{"a": 1}', ("b", "c"), 2), lenient=False).value == {"a": 1, "b": {"c": 2}}


def test_something_on_the_way_that_is_no_object_is_refused() -> None:
    with pytest.raises(JsonTextError, match="line 2: expected an object"):
        put('{\n"b": 7}', ("b", "c"), 2)


def test_a_list_on_one_line_stays_on_one_line() -> None:
    assert put('{\n  "a": ["x"]\n}', ("a",), ["y", "z"]) == '{\n  "a": ["y", "z"]\n}'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"s": 1}', "{}"),
        ('{"s": 1,}', "{}"),
        ('{"a": 1, "s": 2}', '{"a": 1}'),
        ('{"s": 2, "a": 1}', '{"a": 1}'),
        ('{\n  "a": 1,\n  "s": {\n    "x": 2\n  }\n}', '{\n  "a": 1\n}'),
        ('{\n  "s": 2,\n  "a": 1\n}', '{\n  "a": 1\n}'),
        ('{\n  "a": 1,\n  "s": 2,\n}', '{\n  "a": 1,\n}'),
        ('{\n  "a": 1, // one\n  "s": 2\n}', '{\n  "a": 1 // one\n}'),
        ('{\n  "s": 2, // note\n  "a": 1\n}', '{\n  // note\n  "a": 1\n}'),
        ('{\n  // only\n  "s": 2\n}', "{\n  // only\n}"),
        ('{\r\n  "s": 2,\r\n  "a": 1\r\n}', '{\r\n  "a": 1\r\n}'),
    ],
)
def test_what_is_dropped_takes_its_line_and_its_comma_along(before: str, after: str) -> None:
    assert drop(before, ("s",)) == after


KEYS = st.sampled_from(["a", "b", "c d", 'q"', "ü", "//", "/*"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """An object as some editor or person would have written it, with our neighbour or without."""
    document = draw(st.dictionaries(KEYS, VALUES, max_size=3))
    if draw(st.booleans()):
        document["servers"] = draw(st.dictionaries(KEYS, VALUES, max_size=2))
    text = json.dumps(document, indent=draw(st.sampled_from([None, 2, 4, "\t"])), ensure_ascii=draw(st.booleans()))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return draw(st.sampled_from(["", "\ufeff", "// top\n", " /* x */ "])) + text + draw(st.sampled_from(["", "\n"]))


@settings(max_examples=60)
@given(texts())
def test_what_was_put_in_comes_out_again(text: str) -> None:
    def value(of: str) -> Any:
        return parse(of, lenient=True).value

    new = put(text, ("servers", "ours"), NEW)
    had = value(text).get("servers")
    assert value(new) == {**value(text), "servers": {**(had or {}), "ours": NEW}}
    back = drop(new, ("servers", "ours")) if had is not None else drop(new, ("servers",))
    assert back == text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "line 1: the text ends too early"),
        ("{'a': 1}", "line 1: expected a value"),
        ("{1: 2}", "line 1: expected a key in double quotes"),
        ('{"a" 1}', "line 1: expected a colon after the key 'a'"),
        ('{"a": 1\n "b": 2}', "line 2: expected a comma or '}'"),
        ("[1 2]", "line 1: expected a comma or ']'"),
        ('{"a": tru}', "line 1: expected a value"),
        ('{"a": 01}', "line 1: expected a comma or '}'"),
        ('{"a": "x\ny"}', "line 1: expected a value"),
        ("{} {}", "line 1: something follows the end of the document"),
        ('{\n"a": 1,\n"a": 2}', "line 3: the key 'a' stands here for the second time"),
        ("[" * 1000, "line 1: nested too deeply"),
        ("{,}", "line 1: expected a value"),
    ],
)
def test_what_is_no_json_is_told_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(JsonTextError) as caught:
        parse(text, lenient=True)
    assert str(caught.value) == problem


@pytest.mark.parametrize(
    ("text", "problem"), [('{\n// x\n"a": 1}', "line 2: a comment"), ('{\n"a": 1,\n}', "line 3: a comma after")]
)
def test_comments_and_trailing_commas_need_leave(text: str, problem: str) -> None:
    assert parse(text, lenient=True).value == {"a": 1}
    with pytest.raises(JsonTextError, match=problem):
        parse(text, lenient=False)


@given(VALUES)
@settings(max_examples=40)
def test_plain_json_is_read_as_the_standard_library_reads_it(value: Any) -> None:
    assert parse(json.dumps(value), lenient=False).value == value
