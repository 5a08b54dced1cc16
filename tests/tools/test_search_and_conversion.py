"""Tools that look things up or convert: each error in its order, and answers that depend on nothing of the host."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sandbox_mcp.engine.tools import Outcome, call, present
from sandbox_mcp.engine.world import Change, IdStream, Running, fold, to_local
from sandbox_mcp.engine.worlds.phone import phone
from sandbox_mcp.engine.worlds.phone.knowledge import Knowledge, KnowledgeUnavailable
from tests.each import each
from tests.suite import SUITE

OFFERED = {name: present(tool) for name, tool in phone.agent_tools.items()}
LAKESIDE = SUITE.get("wifi_off")


def world(knowledge: Knowledge | None = None, **settings: Any) -> Running:
    phone = next(iter(LAKESIDE.world.table("setting").values()))
    change = Change("setting", str(phone["device_id"]), phone, {**phone, **settings})
    return Running(fold(LAKESIDE.world, [change]), LAKESIDE.clock, IdStream("search"), knowledge)


def ask(name: str, place: Running | None = None, /, **arguments: Any) -> Outcome:
    return call(place or world(), OFFERED, name, arguments)


def error(outcome: Outcome) -> str:
    assert outcome.fault is not None, outcome.result
    return outcome.fault.text


def test_units_are_converted() -> None:
    assert ask("unit_conversion", amount=5, from_unit="mile", to_unit="kilometer").result == pytest.approx(8.04672)


def test_celsius_is_what_people_mean_by_c() -> None:
    assert ask("unit_conversion", amount=20, from_unit="C", to_unit="F").result == pytest.approx(68.0)


@each(
    ("arguments", "kind"),
    [
        ({"amount": 1, "from_unit": "smoot-ish", "to_unit": "meter"}, "UnknownUnitError"),
        ({"amount": 1, "from_unit": "meter", "to_unit": "second"}, "IncompatibleUnitsError"),
        ({"amount": True, "from_unit": "meter", "to_unit": "mile"}, "ArgumentTypeError"),
    ],
)
def test_units_that_do_not_convert(arguments: dict[str, Any], kind: str) -> None:
    assert error(ask("unit_conversion", **arguments)).startswith(kind)


def test_an_unknown_currency_is_told_before_wifi_is_missed() -> None:
    outcome = ask("convert_currency", world(wifi=False), amount=1, from_currency_code="XXQ", to_currency_code="EUR")
    assert error(outcome).startswith("UnknownCurrencyError")


def test_money_needs_wifi() -> None:
    outcome = ask("convert_currency", world(wifi=False), amount=1, from_currency_code="USD", to_currency_code="EUR")
    assert error(outcome) == "ConnectionError: wifi is off"


def test_money_there_and_back_is_the_same_money() -> None:
    there = ask("convert_currency", amount=100, from_currency_code="usd", to_currency_code="EUR").result
    back = ask("convert_currency", amount=there, from_currency_code="EUR", to_currency_code="USD").result
    assert back == pytest.approx(100)


@each("name", ["latitude_0", "latitude_1", "longitude_0", "longitude_1"])
def test_distance_refuses_what_is_not_on_earth(name: str) -> None:
    places = {"latitude_0": 1, "longitude_0": 1, "latitude_1": 2, "longitude_1": 2, name: 181}
    assert error(ask("calculate_lat_lon_distance", **places)).startswith(f"ValueError: `{name}` 181")


def test_a_degree_along_the_equator() -> None:
    places = {"latitude_0": 0, "longitude_0": 0, "latitude_1": 0, "longitude_1": 1}
    assert ask("calculate_lat_lon_distance", **places).result == pytest.approx(111.3195, abs=1e-3)


@each(
    ("name", "arguments"),
    [
        ("search_holiday", {"holiday_name": "Thanksgiving"}),
        ("search_lat_lon", {"latitude": 41.88, "longitude": -87.62}),
        ("search_location_around_lat_lon", {"location": "coffee"}),
        ("search_weather_around_lat_lon", {}),
        ("search_stock", {"query": "Apple"}),
    ],
)
def test_looking_things_up_needs_wifi(name: str, arguments: dict[str, Any]) -> None:
    assert error(ask(name, world(wifi=False), **arguments)) == "ConnectionError: wifi is off"


@pytest.mark.parametrize("name", ["search_location_around_lat_lon", "search_weather_around_lat_lon"])
class TestAroundHere:
    """What may be asked about the phone's own place."""

    @staticmethod
    def ask(name: str, place: Running | None = None, **arguments: Any) -> Outcome:
        extra = {"location": "coffee"} if "location" in name else {}
        return ask(name, place, **extra, **arguments)

    def test_here_needs_location_service(self, name: str) -> None:
        outcome = self.ask(name, world(location_service=False))
        assert error(outcome).startswith("PermissionError: location service is off")

    def test_elsewhere_does_not(self, name: str) -> None:
        assert self.ask(name, world(location_service=False), latitude=43.3, longitude=5.4).fault is None

    def test_one_coordinate_is_not_enough(self, name: str) -> None:
        assert error(self.ask(name, latitude=43.3)).startswith("ValueError: `latitude` and `longitude` go together")

    def test_ranges_come_first(self, name: str) -> None:
        outcome = self.ask(name, world(wifi=False, location_service=False), latitude=91)
        assert error(outcome).startswith("ValueError: `latitude` 91")

    def test_the_place_comes_before_wifi(self, name: str) -> None:
        assert error(self.ask(name, world(wifi=False, location_service=False))).startswith("PermissionError")


def test_a_day_in_the_past_has_no_forecast() -> None:
    assert error(ask("search_weather_around_lat_lon", days=-1)).startswith("ValueError: `days` -1 is in the past")


def test_a_day_too_far_off_has_none_either() -> None:
    outcome = ask("search_weather_around_lat_lon", days=300)
    assert (outcome.fault, outcome.result) == (None, None)


def test_the_forecast_comes_true() -> None:
    place = world()
    forecast = ask("search_weather_around_lat_lon", place, days=3).result
    place.clock = place.clock.advanced(3 * 86400)
    today = ask("search_weather_around_lat_lon", place).result
    assert {name: today[name] for name in forecast} == forecast
    assert forecast["min_temperature"] <= today["current_temperature"] <= forecast["max_temperature"]


def test_holidays_are_those_of_where_the_phone_is() -> None:
    marseille = world(latitude=43.2965, longitude=5.3698)
    there = ask("search_holiday", marseille, holiday_name="Labor Day").result
    here = ask("search_holiday", holiday_name="Labor Day").result
    days = [to_local(moment, "America/Chicago").strftime("%m-%d %H:%M") for moment in (there, here)]
    assert days == ["05-01 00:00", "09-01 00:00"]


def test_a_holiday_without_a_year_is_this_years() -> None:
    this_year = ask("search_holiday", holiday_name="Thanksgiving").result
    assert this_year == ask("search_holiday", holiday_name="Thanksgiving", year=2025).result


def test_no_such_holiday_is_null_and_no_error() -> None:
    outcome = ask("search_holiday", holiday_name="Feast of the Lost Umbrella")
    assert (outcome.fault, outcome.result) == (None, None)


def test_an_address_is_near_its_coordinates() -> None:
    assert "Chicago" in ask("search_lat_lon", latitude=41.8827, longitude=-87.6233).result


def test_the_middle_of_the_ocean_has_no_address() -> None:
    assert ask("search_lat_lon", latitude=-48.9, longitude=-123.4).result is None


def test_at_most_four_places_are_found() -> None:
    assert 1 <= len(ask("search_location_around_lat_lon", location="coffee").result) <= 4


def test_agents_are_not_told_what_is_invented() -> None:
    (place, *_) = ask("search_location_around_lat_lon", location="coffee").result
    assert "invented" not in place


def test_a_share_is_found_by_company_and_by_symbol() -> None:
    by_name, by_symbol = (ask("search_stock", query=query).result for query in ("Microsoft", "MSFT"))
    assert by_name == by_symbol
    assert by_name["symbol"] == "MSFT"


class DeadStocks:
    """A live source that is out of reach."""

    def search(self, query: str, now: float) -> None:
        raise KnowledgeUnavailable("stocks", "quota", "429 Too Many Requests")


def test_a_source_out_of_reach_is_an_error_and_never_nothing_found() -> None:
    outcome = ask("search_stock", world(Knowledge(stocks=DeadStocks())), query="Apple")
    assert error(outcome).startswith("KnowledgeUnavailable")


ANSWERS = """
import json
from tests.tools.test_search_and_conversion import every_answer
print(json.dumps(every_answer(), sort_keys=True))
"""


def every_answer() -> dict[str, Any]:
    """One answer of every search tool."""
    questions: dict[str, dict[str, Any]] = {
        "search_holiday": {"holiday_name": "Labor Day"},
        "search_lat_lon": {"latitude": 41.88, "longitude": -87.62},
        "search_location_around_lat_lon": {"location": "pharmacy"},
        "search_weather_around_lat_lon": {},
        "search_stock": {"query": "Siemens"},
        "convert_currency": {"amount": 5, "from_currency_code": "USD", "to_currency_code": "JPY"},
        "timestamp_to_datetime_info": {"timestamp": 1747405800.0},
    }
    return {name: ask(name, **arguments).result for name, arguments in questions.items()}


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/St_Johns"])
def test_the_same_question_gets_the_same_answer_wherever_the_host_is(zone: str) -> None:
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(
        [sys.executable, "-c", ANSWERS],
        env={**os.environ, "TZ": zone, "PYTHONPATH": root, "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=True,
        cwd=root,
    )
    assert json.loads(done.stdout) == json.loads(json.dumps(every_answer()))


def test_starting_a_world_loads_no_data() -> None:
    heavy = "('pint', 'holidays', 'geographiclib', 'sandbox_mcp.engine.worlds.phone.knowledge.')"
    code = (
        "import sys; from sandbox_scenarios import Suite; from sandbox_scenarios.variants import presented;"
        "presented(Suite().get('wifi_off'), 'all_tools');"
        f"print([name for name in sys.modules if name.startswith({heavy})])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = json.loads(done.stdout.replace("'", '"'))
    light = {f"sandbox_mcp.engine.worlds.phone.knowledge.{name}" for name in ("bundle", "errors", "letters")}
    assert set(loaded) <= light


def test_the_world_is_not_touched_by_looking() -> None:
    place = world()
    before = place.snapshot
    every_answer()
    ask("search_stock", place, query="Apple")
    assert place.snapshot is before
    assert dataclasses.replace(place.clock) == LAKESIDE.clock
