"""Reading calls and objects out of texts, however they are quoted, without running any of it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.papers.mtu_bench.react import read_object, read_react

from tests.each import each

scalars = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(alphabet=st.characters(codec="ascii"))
objects = st.dictionaries(
    st.text(alphabet="abc_", min_size=1, max_size=4),
    st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3)
    ),
    max_size=4,
)


def calls(text: str) -> list[tuple[str, Any]]:
    return [(said.name, said.given.arguments) for said in read_react(text).calls]


@given(objects)
def test_json_is_read_as_it_is(value: dict[str, Any]) -> None:
    assert read_object(f"so: {json.dumps(value)} and so on") == value
    assert calls(f"Action: a\nAction Input: {json.dumps(value, indent=2)}\nDone.") == [("a", value)]


printable = st.text(
    alphabet=st.characters(codec="ascii", categories=("L", "N", "P", "S", "Zs"), exclude_characters="\\")
)


@given(st.dictionaries(printable, printable | st.booleans() | st.none() | st.integers(), max_size=4))
def test_python_literals_are_read_like_json(value: dict[str, Any]) -> None:
    both = [quote in text for text in [*value, *value.values()] if isinstance(text, str) for quote in ("'", '"')]
    assert read_object(repr(value)) == value or any(both)


@each(
    ("written", "value"),
    [
        ("{'a': \"it's\"}", {"a": "it's"}),
        ("{'a': 'it\\'s'}", {"a": "it's"}),
        ("{'a': 'say \"so\"'}", {"a": 'say "so"'}),
        ("{'a': 'True', 'b': True}", {"a": "True", "b": True}),
        ("{'a': 'two\nlines'}", {"a": "two\nlines"}),
        ("{'a': '}'} {", {"a": "}"}),
        ("list: ['a', None]", ["a", None]),
        ("{'a': 1", None),
        ("{'a': __import__('os')}", None),
        ("{'a': [1, 2}", None),
        ("{'a': NaN}", None),
        ("nothing", None),
        ("", None),
    ],
)
def test_objects(written: str, value: Any) -> None:
    assert read_object(written) == value


def test_several_calls_in_order_whatever_stands_between() -> None:
    text = "Action: a\nAction Input: {'n': 1}\nThen, if that works:\n**Action:** `b`\nAction Input: {}"
    assert calls(text) == [("a", {"n": 1}), ("b", {})]


@each(
    ("text", "fault"),
    [
        ("Action: light it", "'light it' has no input"),
        ("Action: a\nAction: b\nAction Input: {}", "'a' has no input"),
        ("Action Input: {}", "without an action"),
        ("Action: None\nThat is all.", None),
        ("Action: None\nAction Input: {}", None),
        ("No action needed.", None),
    ],
)
def test_faults(text: str, fault: str | None) -> None:
    found = read_react(text).fault
    assert found is None if fault is None else fault in (found or "")


@pytest.mark.parametrize(
    "text",
    ['Action: a\nAction Input: {"k": "' + '\\"' * 50_000, "Action:" * 50_000, "{" * 100_000, "Action" + " " * 100_000],
    ids=["never closed", "only markers", "only braces", "only blanks"],
)
def test_long_texts_are_read_in_one_pass(text: str) -> None:
    assert all(said.given.raw is not None for said in read_react(text).calls)
    assert read_object(text) is None
