"""What a model wrote as arguments: an object, or the text as it is."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sandbox_mcp.engine.trajectory.model_text import as_arguments, readable
from tests.each import each

json_values: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), json_values))
def test_every_object_is_passed_on_as_one(value: dict[str, Any]) -> None:
    assert as_arguments(json.dumps(value)) == value


@given(json_values.filter(lambda value: not isinstance(value, dict)))
def test_any_other_json_stays_the_text_it_is(value: Any) -> None:
    assert as_arguments(json.dumps(value)) == json.dumps(value)


@given(st.text(min_size=1))
def test_nothing_a_model_writes_is_ever_lost(text: str) -> None:
    found = as_arguments(text)
    assert found == text or found == json.loads(text)


@each("text", ["{", "{'on': true}", "on=true", '{"on": true} and so on', "[" * 100_000, '{"x": NaN}', '{"x": 1e999}'])
def test_what_is_no_json_stays_as_it_was_written(text: str) -> None:
    assert as_arguments(text) == text


def test_nothing_means_no_arguments() -> None:
    assert as_arguments("") == {}


def test_an_object_that_could_not_be_sent_stays_text() -> None:
    assert as_arguments('{"name": "\\ud800"}') == '{"name": "\\ud800"}'


@given(st.text())
def test_text_that_is_unicode_stays_as_it_is(text: str) -> None:
    assert readable(text) == text


@given(st.text(alphabet=st.characters(codec=None)))
def test_any_text_can_be_written_once_it_is_readable(text: str) -> None:
    assert len(readable(text).encode("utf-8")) >= len(readable(text))


def test_the_two_halves_of_a_character_are_one() -> None:
    assert readable("\ud83d\ude00 \ud83d") == "\N{GRINNING FACE} \ufffd"
