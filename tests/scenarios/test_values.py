"""How values are written in a scenario file and what they become."""

import uuid
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from sandbox_scenarios.model import Expected, ValueRef
from sandbox_scenarios.values import Resolver, ValueProblemError, parse_path, row_id

from tests.each import each

CHICAGO = Resolver("America/Chicago", {"contact": frozenset({"wren"})})
NINE_THIRTY = datetime(2025, 5, 16, 14, 30, tzinfo=UTC).timestamp()


def wall(*parts: int) -> datetime:
    return datetime(*parts)  # noqa: DTZ001 - wall time of the scenario


def test_a_time_is_wall_time_of_the_scenario() -> None:
    assert CHICAGO.plain(wall(2025, 5, 16, 9, 30)) == NINE_THIRTY


def test_a_time_with_an_offset_is_that_moment() -> None:
    assert CHICAGO.plain(datetime(2025, 5, 16, 14, 30, tzinfo=UTC)) == NINE_THIRTY


def test_the_same_wall_time_is_another_moment_elsewhere() -> None:
    assert Resolver("Europe/Paris", {}).plain(wall(2025, 5, 16, 9, 30)) == NINE_THIRTY - 7 * 3600


def test_a_label_is_the_id_of_its_row_in_every_session() -> None:
    assert CHICAGO.plain("@contact.wren") == row_id("contact", "wren") == row_id("contact", "wren")
    assert uuid.UUID(row_id("contact", "wren"))


def test_ids_differ_by_table_and_label() -> None:
    ids = {row_id(table, label) for table in ("contact", "reminder") for label in ("wren", "tomas", "a/b", "b")}
    assert len(ids) == 8


def test_values_are_resolved_however_deep() -> None:
    found = CHICAGO.plain({"a": [wall(2025, 5, 16, 9, 30), {"b": "@contact.wren"}], "c": "plain"})
    assert found == {"a": [NINE_THIRTY, {"b": row_id("contact", "wren")}], "c": "plain"}


def test_an_address_is_no_label() -> None:
    assert CHICAGO.plain("wren@example.org") == "wren@example.org"


@each(
    ("value", "expected"),
    [
        ("Nonna's", Expected(value="Nonna's")),
        (None, Expected(value=None)),
        (False, Expected(value=False)),
        (wall(2025, 5, 16, 9, 30), Expected(value=NINE_THIRTY)),
        ("@contact.wren", Expected(value=row_id("contact", "wren"))),
        ({"exact": None}, Expected(measure="exact", value=None)),
        ({"close": 3, "within": 0.5}, Expected(measure="close", value=3, within=0.5)),
        ({"close": wall(2025, 5, 16, 9, 30), "within": 60}, Expected(measure="close", value=NINE_THIRTY, within=60)),
        ({"contains": "neighb"}, Expected(measure="contains", value="neighb")),
        ({"one_of": ["a", None, 3]}, Expected(measure="one_of", value=("a", None, 3))),
        ({"set": ["a", "b"]}, Expected(measure="set", value=("a", "b"))),
        ({"one_of": ["@contact.wren"]}, Expected(measure="one_of", value=(row_id("contact", "wren"),))),
        ({"rouge": "See you."}, Expected(measure="rouge", value="See you.")),
        ({"any": True}, Expected(measure="any")),
        ({"facts": ["a", ["b", 20]]}, Expected(measure="facts", value=(("a",), ("b", "20")))),
        ({"facts": [], "avoid": ["c"]}, Expected(measure="facts", value=(), avoid=("c",))),
        ({"from": "m"}, Expected(ref=ValueRef("m"))),
        ({"from": "m", "within": 2}, Expected(measure="close", within=2, ref=ValueRef("m"))),
        (
            {"from": "m", "source": "arguments", "path": "0.person_id", "to": "text", "decimals": [0, 2]},
            Expected(ref=ValueRef("m", "arguments", (0, "person_id"), "text", (0, 2))),
        ),
        (
            {"facts": ["{lat} N"], "values": {"lat": {"from": "m", "path": "latitude"}}},
            Expected(measure="facts", value=(("{lat} N",),), values={"lat": ValueRef("m", path=("latitude",))}),
        ),
    ],
)
def test_what_is_compared_and_how(value: Any, expected: Expected) -> None:
    assert CHICAGO.expected(value) == expected


@each(
    ("written", "seconds"),
    [
        (90, 90),
        ("1 hour 30 mins", 5400),
        ("2 weeks, 3 days and 1.5 h", 1474200),
        ("7hours40minutes", 27600),
        ("1 min. 5 sec.", 65),
    ],
)
def test_a_length_of_time_is_read_to_its_end(written: Any, seconds: float) -> None:
    assert CHICAGO.expected({"facts": [{"duration": written}]}).claims[0].value == (seconds,)


@each("day", ["29", "31", "02-29", "2024-02-29", "2026-12-31"])
def test_a_day_that_some_calendar_has_is_a_day(day: str) -> None:
    assert CHICAGO.expected({"facts": [{"date": day}]}).claims[0].value == (day,)


def test_a_label_among_the_facts_is_text() -> None:
    assert CHICAGO.expected({"facts": ["@wren"]}).value == (("@wren",),)


@each(
    ("text", "path"),
    [
        ("", ()),
        ("latitude", ("latitude",)),
        ("0.person_id", (0, "person_id")),
        ("-1.name", (-1, "name")),
        (0, (0,)),
        ("a..b.", ("a", "b")),
        ("²", ("²",)),
        ("--1", ("--1",)),
    ],
)
def test_a_path_is_keys_and_positions(text: object, path: tuple[str | int, ...]) -> None:
    assert parse_path(text) == path


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates() | st.datetimes(),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["exact", "close", "within", "contains", "one_of", "rouge", "any", "facts", "avoid", "values",
                         "from", "path", "source", "to", "decimals", "x"]),
        inner, max_size=4,
    ),
    max_leaves=6,
)  # fmt: skip


@given(anything)
def test_any_value_is_understood_or_refused_in_words(value: Any) -> None:
    with suppress(ValueProblemError):
        assert isinstance(CHICAGO.expected(value), Expected)
