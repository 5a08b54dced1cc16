"""What the authors' parser reads out of a model's text, oddities included."""

import json
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.errors import GraderError
from sandbox_grader.papers.mtu_bench.parser import CRASH, NO_CALL, Parsed, ParserCrashError, parse_multi, parse_single

from tests.each import each

PIECES = (
    "Thought: ", "Action", "Action:", "Action: ", "Action Input:", "Action Input: ", "\n", "\n\n", "{", "}", "{}", "'",
    '"', "\\'", '{"a": 1}', "{'a': True}", "lamp_on", "None", "a, b", "True", " ", "[1]", "hm",
)  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


# -- at most one call ---------------------------------------------------------------------------------------------


@each(
    ("text", "calls"),
    [
        ('Thought: t\nAction: lamp_on\nAction Input: {"room": "hall"}', {"lamp_on": {"room": "hall"}}),
        ('Action: lamp_on Action Input: {"room": "hall"}', {"lamp_on": {"room": "hall"}}),
        ('Action: lamp_on\n\n\nAction Input:\n\n{\n  "room": "hall"\n}\n\nThat is it.', {"lamp_on": {"room": "hall"}}),
        ("Action: lamp_on\nAction Input: {}", {"lamp_on": {}}),
        ("Thought: nothing to do.", NO_CALL),
        ("", NO_CALL),
    ],
    ids=["usual", "on one line", "scattered", "no arguments", "only thought", "empty"],
)
def test_single_reads_a_call_or_none(text: str, calls: object) -> None:
    assert parse_single(text).calls == calls


def test_single_takes_the_first_action_only() -> None:
    text = "Action: lamp_on\nAction Input: {}\nAction: lamp_off\nAction Input: {}"
    assert list(parse_single(text).calls) == ["lamp_on"]


def test_single_keeps_quotes_in_a_name() -> None:
    assert list(parse_single('Action: " lamp_on "\nAction Input: {}').calls) == ['" lamp_on "']


@each(
    ("written", "arguments"),
    [
        ("{'room': 'hall', 'dim': True}", {"room": "hall", "dim": True}),
        ('{"dim": False, "note": "True"}', {"dim": False, "note": "true"}),
        ('{"room": "ha\nll"}', {"room": "hall"}),
        ('{"room": "hall"', {"room": "hall"}),
        (r"{'owner': 'Ann\'s'}", {"owner": r"Ann\'s"}),
    ],
    ids=["single quotes", "truth values, in texts too", "newlines deleted", "unclosed", "escaped apostrophe"],
)
def test_single_repairs_an_input(written: str, arguments: object) -> None:
    assert parse_single(f"Action: lamp_on\nAction Input: {written}").calls == {"lamp_on": arguments}


@each(
    "written",
    ['{"where": {"room": "hall"}}', "{'owner': \"Ann's\"}", "{room: hall}", '{"a": 1,}'],
    ids=["nested braces", "both quotes", "bare names", "comma too many"],
)
def test_single_loses_the_call_with_its_input(written: str) -> None:
    parsed = parse_single(f"Action: lamp_on\nAction Input: {written}")
    assert parsed.calls == NO_CALL
    assert parsed.broken


def test_single_passes_an_input_that_nests_too_deep_for_json() -> None:
    assert parse_single('Action: a\nAction Input: {"a": ' + "[" * 100_000 + "}").calls == NO_CALL


@each("name", ["None", "None.", "NoneOfThem", "lamp_None"])
def test_single_takes_any_name_with_none_in_it_for_no_call(name: str) -> None:
    parsed = parse_single(f"Action: {name}\nAction Input: {{}}")
    assert parsed.calls == NO_CALL
    assert not parsed.broken


def test_single_cuts_a_name_at_its_comma() -> None:
    assert list(parse_single("Action: lamp_on , lamp_off\nAction Input: {}").calls) == ["lamp_on"]


def test_single_looks_for_none_before_it_cuts_at_the_comma() -> None:
    assert parse_single("Action: lamp_on, None\nAction Input: {}").calls == NO_CALL


@each(
    "text",
    ["Action: None\nAction Input: None", "Action Input: {}", "Action: lamp_on\nAction Input {}"],
    ids=["no braces", "no action", "no colon"],
)
def test_single_dies(text: str) -> None:
    with pytest.raises(ParserCrashError, match="list index"):
        parse_single(text)


def test_single_calls_an_action_without_input_broken_unless_it_is_none() -> None:
    assert parse_single("Action: there is no need for one").broken
    assert not parse_single("Action: None").broken
    assert not parse_single("Thought: Action is not needed.").broken


# -- any number of calls ------------------------------------------------------------------------------------------


def test_multi_reads_calls_in_order_and_strips_double_quotes() -> None:
    text = 'Thought: t\n\nAction: "lamp_on"\nAction Input: {"room": "a"}\n\nAction: lamp_off\nAction Input: {}'
    assert list(parse_multi(text).calls.items()) == [("lamp_on", {"room": "a"}), ("lamp_off", {})]


def test_multi_keeps_blanks_inside_quotes() -> None:
    assert list(parse_multi('Action: " lamp_on "\nAction Input: {}').calls) == [" lamp_on "]


def test_multi_keeps_the_last_arguments_at_the_first_place() -> None:
    text = 'Action: a\nAction Input: {"n": 1}\nAction: b\nAction Input: {}\nAction: a\nAction Input: {"n": 2}'
    assert list(parse_multi(text).calls.items()) == [("a", {"n": 2}), ("b", {})]


@each("written", ["{'room': 'a'}", '{"x": {"y": 1}}', "{room}", "none"])
def test_multi_keeps_a_call_without_the_arguments_it_cannot_read(written: str) -> None:
    assert parse_multi(f"Action: lamp_on\nAction Input: {written}").calls == {"lamp_on": {}}


def test_multi_takes_none_for_a_tool() -> None:
    assert parse_multi("Action: None\nAction Input: None").calls == {"None": {}}


def test_multi_overlooks_an_action_without_a_blank() -> None:
    assert parse_multi("Action:lamp_on\nAction Input: {}").calls == {}


def test_multi_lowers_truth_values_inside_texts_too() -> None:
    assert parse_multi('Action: a\nAction Input: {"t": "True", "f": False}').calls == {"a": {"t": "true", "f": False}}


def test_multi_skips_the_placeholder_of_the_prompt() -> None:
    text = "Action: The name of the API to be called.\nAction Input: {}\nAction: a\nAction Input: {}"
    assert list(parse_multi(text).calls) == ["a"]


def test_multi_stops_a_block_at_the_echo_of_the_prompt() -> None:
    assert parse_multi('Action: a\nAction Input: {"n": 1}\nPlease provide your next {').calls == {"a": {"n": 1}}


@each("text", ["Action: ask for the room", "Thought: t Action: a and no more", "Action: a Action Input {}"])
def test_multi_dies_of_an_action_without_input(text: str) -> None:
    with pytest.raises(ParserCrashError):
        parse_multi(text)


# -- laws ---------------------------------------------------------------------------------------------------------


def outcome(parse: Callable[[str], Parsed], text: str) -> Mapping[str, object] | str:
    """The calls that a parser reads, or what it says when it dies."""
    try:
        return parse(text).calls
    except GraderError as error:
        return str(error)


@given(texts)
def test_a_parser_dies_in_one_way_only(text: str) -> None:
    for parse in (parse_single, parse_multi):
        found = outcome(parse, text)
        assert found == CRASH if isinstance(found, str) else all(isinstance(name, str) for name in found)


@given(texts)
def test_single_finds_exactly_one_call_or_the_absence_of_one(text: str) -> None:
    found = outcome(parse_single, text)
    assert isinstance(found, str) or len(found) == 1


@given(st.dictionaries(st.sampled_from("abc"), st.integers() | st.booleans() | st.sampled_from(["x", "y z"])))
def test_what_is_written_plainly_is_read_by_both(arguments: dict[str, object]) -> None:
    text = f"Thought: t\nAction: lamp_on\nAction Input: {json.dumps(arguments)}"
    assert parse_single(text).calls == parse_multi(text).calls == {"lamp_on": arguments}


def test_code_in_an_answer_is_text() -> None:
    text = "Action: lamp_on\nAction Input: {'room': __import__('os').getcwd()}"
    assert parse_single(text).calls == NO_CALL
    assert parse_multi(text).calls == {"lamp_on": {}}
