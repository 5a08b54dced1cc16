"""How texts of other formats become values of ours, and back."""

from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.importers.reading.values import (
    Given,
    arguments_of,
    canonical,
    decode,
    encode,
    failure,
    seconds,
    zoned,
)

from tests.each import each

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


class TestResults:
    @each(
        ("text", "value"),
        [
            ('{"a": [1, 2]}', {"a": [1, 2]}),
            (" [1]\n", [1]),
            ("3", 3),
            ("true", True),
            ("null", None),
            ('"quoted"', "quoted"),
            ("", ""),
            ("plain text", "plain text"),
        ],
    )
    def test_a_text_that_is_json_is_its_value(self, text, value):
        assert decode(text) == value

    @each("text", ["007", "1.10", "+4", " 3", "1e5", "NaN", "[NaN]", "{", "[" * 400 + "]" * 400])
    def test_a_text_that_json_would_write_otherwise_stays_text(self, text):
        assert decode(text) == text

    @given(json_values)
    def test_every_value_comes_back_from_its_text(self, value):
        assert decode(encode(value)) == value

    @given(st.text())
    def test_a_text_is_written_as_it_is_unless_it_would_be_read_as_something_else(self, text):
        assert encode(text) == text or decode(text) != text


class TestArguments:
    @each(
        ("given_", "expected"),
        [
            ({"a": 1}, Given({"a": 1})),
            ('{"a": 1}', Given({"a": 1})),
            ("", Given({})),
            (None, Given({})),
            ("  ", Given({}, "  ")),
            ("[1]", Given({}, "[1]")),
            ("{broken", Given({}, "{broken")),
            ('{"a": NaN}', Given({}, '{"a": NaN}')),
            ([1], Given({}, "[1]")),
            (5, Given({}, "5")),
        ],
    )
    def test_what_is_no_object_is_kept_raw(self, given_, expected):
        assert arguments_of(given_) == expected


class TestNames:
    @each(
        ("name", "tool"),
        [
            ("mcp__air__find", "find"),
            ("mcp__air__find__all", "find__all"),
            ("mcp__claude_ai_Air__find", "find"),
            ("find", "find"),
            ("mcp__find", "mcp__find"),
            ("mcp__air__", "mcp__air__"),
            ("my_mcp__air__find", "my_mcp__air__find"),
        ],
    )
    def test_a_host_s_prefix_is_no_part_of_the_name(self, name, tool):
        assert canonical(name) == tool


class TestTimes:
    @each(
        ("stamp", "at"),
        [
            ("2026-01-02T03:00:00Z", 1767322800.0),
            ("2026-01-02T04:00:00.5+01:00", 1767322800.5),
            ("2026-01-02T03:00:00", 1767322800.0),
            (1767322800, 1767322800.0),
            ("20260102", 1767312000.0),
            ("1712051201234", None),
            ("yesterday", None),
            (10**400, None),
            (True, None),
            (None, None),
            ({}, None),
        ],
    )
    def test_seconds(self, stamp, at):
        assert seconds(stamp) == at

    @each(
        ("stamp", "known"),
        [
            ("2026-01-02T03:00:00Z", True),
            ("2026-01-02T03:00:00+0100", True),
            ("2026-01-02 03:00:00-05", True),
            ("2026-01-02T03:00:00.123", False),
            ("2026-01-02", False),
        ],
    )
    def test_zones(self, stamp, known):
        assert zoned(stamp) is known


class TestErrors:
    @each(
        ("message", "type_"),
        [
            ("ValueError: no", "ValueError"),
            ("httpx.ReadTimeoutError: slow", "ReadTimeoutError"),
            ("Error: no", "Error"),
            ("it broke", "Error"),
            ("", "Error"),
        ],
    )
    def test_the_class_is_what_the_text_begins_with(self, message, type_):
        assert failure(message).type == type_

    def test_the_class_that_a_text_begins_with_wins_over_what_a_host_calls_the_failure(self):
        told = failure("ValueError: no", "refused", "Denied")
        assert (told.type, told.message) == ("ValueError", "no")
        assert failure("Error: ValueError: no", "refused", "Denied").type == "Denied"
