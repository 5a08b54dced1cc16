"""Record and replay: a run against a live source can be repeated without it, errors included."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox_mcp.engine.worlds.phone.knowledge import (
    DOMAINS,
    IncompatibleUnitsError,
    InvalidQuestionError,
    Knowledge,
    KnowledgeError,
    KnowledgeUnavailable,
    NoRateError,
    QuestionTapeError,
    ReplayMissError,
    UnknownCurrencyError,
    UnknownUnitError,
)
from sandbox_mcp.engine.worlds.phone.knowledge.currency import Conversion
from sandbox_mcp.engine.worlds.phone.knowledge.places import OfflinePlaces, Place
from sandbox_mcp.engine.worlds.phone.knowledge.stocks import Quote
from sandbox_mcp.engine.worlds.phone.knowledge.tape import question, record, replay
from tests.each import each

NOW = 1_716_000_000.0

QUESTIONS: dict[str, Callable[[Knowledge], Any]] = {
    "units": lambda k: k.units.convert(20, "celsius", "fahrenheit"),
    "unknown unit": lambda k: k.units.convert(1, "xyzzy", "m"),
    "incompatible units": lambda k: k.units.convert(1, "kg", "m"),
    "amount that is not a number": lambda k: k.units.convert(float("inf"), "kg", "g"),
    "currency": lambda k: k.currency.convert(10, "usd", "EUR", NOW),
    "unknown currency": lambda k: k.currency.convert(10, "usd", "QQQ", NOW),
    "no rate": lambda k: k.currency.convert(10, "usd", "ARS", NOW),
    "distance": lambda k: k.distance.kilometers(0, 0, 1, 1),
    "distance off the globe": lambda k: k.distance.kilometers(0, 0, 91, 1),
    "address": lambda k: k.gazetteer.address(37.33, -122.01),
    "no address": lambda k: k.gazetteer.address(0, -30),
    "holiday": lambda k: k.holidays.search("Christmas", 2024, "America/New_York"),
    "no holiday": lambda k: k.holidays.search("xyzzy", 2024, zone="UTC", country="DE"),
    "places": lambda k: k.places.search("coffee", 37.33, -122.01),
    "no places": lambda k: k.places.search("xyzzy", 37.33, -122.01),
    "share": lambda k: k.stocks.search("Apple", NOW),
    "no share": lambda k: k.stocks.search("xyzzy", NOW),
    "weather": lambda k: k.weather.forecast(37.33, -122.01, NOW),
    "weather in three days": lambda k: k.weather.forecast(37.33, -122.01, NOW, days=3),
    "no weather": lambda k: k.weather.forecast(37.33, -122.01, NOW, 30),
}


def outcome(ask: Callable[[Knowledge], Any], knowledge: Knowledge) -> Any:
    """The answer, or the error's class and text."""
    try:
        return ask(knowledge)
    except KnowledgeError as error:
        return type(error), str(error), vars(error)


@each("ask", QUESTIONS.values(), ids=QUESTIONS)
def test_a_replay_says_what_the_source_said(ask: Callable[[Knowledge], Any], tmp_path: Path) -> None:
    plain = outcome(ask, Knowledge())
    recorded = outcome(ask, record(Knowledge(), tmp_path / "tape.jsonl"))
    assert recorded == plain
    assert outcome(ask, replay(tmp_path / "tape.jsonl")) == plain


@each("ask", QUESTIONS.values(), ids=QUESTIONS)
def test_what_was_never_recorded_is_refused(ask: Callable[[Knowledge], Any], tmp_path: Path) -> None:
    (tmp_path / "tape.jsonl").touch()
    with pytest.raises(ReplayMissError, match="has no recorded answer for"):
        ask(replay(tmp_path / "tape.jsonl"))


def test_the_miss_names_the_question(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    record(Knowledge(), tape).units.convert(1, "m", "km")
    with pytest.raises(ReplayMissError) as caught:
        replay(tape).units.convert(2, "m", "km")
    assert json.loads(caught.value.question) == {
        "domain": "units",
        "method": "convert",
        "arguments": {"amount": 2, "from_unit": "m", "to_unit": "km"},
    }
    assert caught.value.recorded == 1


class CountingStocks:
    """A live source that counts how often it is asked, and gives a new price each time."""

    def __init__(self) -> None:
        self.asked = 0

    def search(self, query: str, now: float) -> Quote | None:
        self.asked += 1
        return Quote(query.upper(), "Live Inc.", "NYSE", "USD", 10.0 + self.asked, 10.0, self.asked, 1.0, "2024-05-17")


class FailingStocks(CountingStocks):
    """A live source that is over quota at first."""

    def search(self, query: str, now: float) -> Quote | None:
        if self.asked < 2:
            self.asked += 1
            raise KnowledgeUnavailable("Stock service", "quota", "429 Too Many Requests")
        return super().search(query, now)


class BrokenCurrency:
    """A live source whose answer lacks what it should have."""

    def convert(self, amount: float, from_currency_code: str, to_currency_code: str, now: float) -> Conversion:
        answer: dict[str, float] = {}
        return Conversion(amount, from_currency_code, to_currency_code, answer["rate"], "2024-05-17", 1)


def test_a_live_source_is_plugged_in_for_one_domain_only() -> None:
    live = CountingStocks()
    knowledge = Knowledge(stocks=live)
    assert knowledge.stocks is live
    assert knowledge.units.convert(1, "km", "m") == 1000


def test_while_recording_an_answer_is_not_asked_for_again(tmp_path: Path) -> None:
    live = CountingStocks()
    knowledge = record(Knowledge(stocks=live), tmp_path / "tape.jsonl", ["stocks"])
    first, second = (knowledge.stocks.search("acme", NOW) for _ in range(2))
    assert (first, live.asked) == (second, 1)


def test_recording_goes_on_where_an_earlier_run_stopped(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    first = record(Knowledge(stocks=CountingStocks()), tape, ["stocks"]).stocks.search("acme", NOW)
    later = CountingStocks()
    assert record(Knowledge(stocks=later), tape, ["stocks"]).stocks.search("ACME ", NOW + 60) == first
    assert later.asked == 0


def test_what_was_unavailable_is_asked_again_and_replayed_in_order(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"

    def ask(knowledge: Knowledge) -> Any:
        return outcome(lambda k: k.stocks.search("acme", NOW), knowledge)

    knowledge = record(Knowledge(stocks=FailingStocks()), tape, ["stocks"])
    seen = [ask(knowledge) for _ in range(4)]
    assert [type(each) for each in seen] == [tuple, tuple, Quote, Quote]
    again = replay(tape, ["stocks"])
    assert [ask(again) for _ in range(6)] == [*seen, seen[-1], seen[-1]]


def test_an_unreadable_answer_is_unavailable_and_not_nothing(tmp_path: Path) -> None:
    knowledge = record(Knowledge(currency=BrokenCurrency()), tmp_path / "tape.jsonl", ["currency"])
    with pytest.raises(KnowledgeUnavailable, match="BrokenCurrency is unavailable") as caught:
        knowledge.currency.convert(1, "USD", "EUR", NOW)
    assert caught.value.reason == "malformed"


@each(
    ("domain", "method", "one", "other"),
    [
        ("stocks", "search", {"query": "Apple  Inc", "now": 7200.0}, {"query": " apple inc ", "now": 10799}),
        ("currency", "convert", {"from_currency_code": "usd"}, {"from_currency_code": "USD"}),
        ("gazetteer", "address", {"latitude": 37.33004}, {"latitude": 37.32996}),
        ("gazetteer", "address", {"latitude": -0.00001}, {"latitude": 0}),
        ("units", "convert", {"amount": 2.0}, {"amount": 2}),
        ("places", "search", {"text": "Coffee"}, {"text": "coffee"}),
        ("holidays", "search", {"country": "us", "year": 2024}, {"year": 2024, "country": "US"}),
    ],
)
def test_equal_questions(domain: str, method: str, one: dict[str, Any], other: dict[str, Any]) -> None:
    assert question(domain, method, one) == question(domain, method, other)


@each(
    ("domain", "method", "one", "other"),
    [
        ("units", "convert", {"from_unit": "Mm"}, {"from_unit": "mm"}),
        ("units", "convert", {"amount": 2.00001}, {"amount": 2}),
        ("stocks", "search", {"now": 7199}, {"now": 7200}),
        ("gazetteer", "address", {"latitude": 37.3301}, {"latitude": 37.33}),
        ("holidays", "search", {"year": 2024}, {"year": 2025}),
    ],
)
def test_different_questions(domain: str, method: str, one: dict[str, Any], other: dict[str, Any]) -> None:
    assert question(domain, method, one) != question(domain, method, other)


def test_positional_and_named_arguments_and_defaults_are_one_question(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    weather = record(Knowledge(), tape, ["weather"]).weather
    one = weather.forecast(37.33, -122.01, NOW)
    assert weather.forecast(latitude=37.33, longitude=-122.01, now=NOW, days=0) == one
    assert len(tape.read_text().splitlines()) == 1


def test_a_wrong_call_fails_like_a_wrong_call(tmp_path: Path) -> None:
    recording: Any = record(Knowledge(), tmp_path / "tape.jsonl")
    with pytest.raises(TypeError, match="missing a required argument"):
        recording.weather.forecast(37.33)
    with pytest.raises(AttributeError):
        recording.weather.hindcast(37.33)
    with pytest.raises(AttributeError):
        recording.weather._secret  # noqa: B018


def test_a_line_says_question_and_answer(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    record(Knowledge(), tape).distance.kilometers(0, 0, 0, 1)
    assert tape.read_text() == (
        '{"answer":111.319491,"arguments":{"latitude_0":0,"latitude_1":0,"longitude_0":0,"longitude_1":1},'
        '"domain":"distance","method":"kilometers"}\n'
    )


def test_a_line_that_a_crash_cut_off_is_left_out(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    record(Knowledge(), tape).units.convert(1, "m", "km")
    whole = tape.read_text()
    tape.write_text(whole + whole[:30])
    assert replay(tape).units.convert(1, "m", "km") == 0.001


def test_recording_goes_on_after_a_line_that_a_crash_cut_off(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    record(Knowledge(), tape).units.convert(1, "m", "km")
    whole = tape.read_text()
    tape.write_text(whole + whole[:30])
    record(Knowledge(), tape).units.convert(2, "m", "km")
    assert replay(tape).units.convert(2, "m", "km") == 0.002


@each("end", ["\u2028", "\u2029", "\x85", "\x1e", "\r", "\r\n"])
def test_what_only_some_take_for_the_end_of_a_line_is_text(end: str, tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"

    class Told:
        def search(self, text: str, latitude: float, longitude: float) -> list[Place]:
            return [dataclasses.replace(OfflinePlaces().search("pizza", latitude, longitude)[0], address=f"a{end}b")]

    record(Knowledge(places=Told()), tape).places.search("pizza", 37.33, -122.01)
    assert replay(tape).places.search("pizza", 37.33, -122.01)[0].address == f"a{end}b"


@each(
    "line",
    [
        "not json",
        "[]",
        "{}",
        '{"domain":"units","method":"convert","arguments":{}}',
        '{"domain":"alchemy","method":"convert","arguments":{},"answer":1}',
        '{"domain":"units","method":"explode","arguments":{},"answer":1}',
        '{"domain":"units","method":"convert","arguments":[],"answer":1}',
        '{"domain":"units","method":"convert","arguments":{},"error":{"type":"SystemExit","data":{}}}',
    ],
)
def test_a_file_that_is_no_tape_is_refused_with_its_line(line: str, tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    tape.write_text(line + "\n")
    for use in (lambda: replay(tape), lambda: record(Knowledge(), tape)):
        with pytest.raises(QuestionTapeError, match=r"tape\.jsonl:1: not a record"):
            use()


def test_a_tape_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(QuestionTapeError, match="cannot read the tape"):
        replay(tmp_path / "nowhere.jsonl")


def test_an_unknown_domain_is_refused(tmp_path: Path) -> None:
    for use in (lambda: replay(tmp_path / "t", ["alchemy"]), lambda: record(Knowledge(), tmp_path / "t", ["alchemy"])):
        with pytest.raises(QuestionTapeError, match="unknown domain 'alchemy'; known: currency, distance"):
            use()


def test_domains_that_are_not_replayed_stay_offline_sources(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    tape.touch()
    assert replay(tape, ["stocks"]).units.convert(1, "km", "m") == 1000


def test_every_error_survives_the_tape() -> None:
    """Each error class can be made again from its own attributes."""
    import inspect

    made = [
        InvalidQuestionError("no"),
        UnknownUnitError("x"),
        IncompatibleUnitsError("a", "b", "mass", "length"),
        UnknownCurrencyError("QQQ"),
        NoRateError("ARS", "2024-05-17", ["EUR"]),
        KnowledgeUnavailable("weather", "timeout", "no answer in time"),
    ]
    for error in made:
        parameters = list(inspect.signature(type(error).__init__).parameters)[1:]
        again = type(error)(**{name: getattr(error, name) for name in parameters})
        assert (str(again), vars(again)) == (str(error), vars(error))


def test_all_domains_have_a_source() -> None:
    knowledge = Knowledge()
    assert all(getattr(knowledge, domain) for domain in DOMAINS)


@given(st.dictionaries(st.sampled_from(["text", "latitude", "amount", "now"]), st.floats(-90, 90), max_size=4))
@settings(deadline=None)
def test_a_question_is_its_own_canonical_form(arguments: dict[str, float]) -> None:
    key = question("places", "search", arguments)
    assert question("places", "search", json.loads(key)["arguments"]) == key
