"""What holds for every tool, now and for those still to come."""

from collections.abc import Iterable
from typing import Any

import jsonschema
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox_mcp.engine.trajectory import to_line
from sandbox_mcp.engine.world import fold
from sandbox_mcp.engine.worlds.phone import phone as home
from tests.each import each
from tests.laws import at_least
from tests.tools.phone import ANN, BOB, EVE, HOUR, ME, NOW, Phone
from tests.tools.test_calling import as_event

WORKING: tuple[tuple[str, dict[str, Any]], ...] = (
    ("sign_in", {"username": "ingrid", "password": "s3cret"}),
    ("sign_out", {}),
    ("add_contact", {"name": "Zed Moss", "phone_number": "+493023125001"}),
    ("modify_contact", {"person_id": BOB, "relationship": "friend"}),
    ("search_contacts", {"relationship": "colleague"}),
    ("remove_contact", {"person_id": EVE}),
    ("unit_conversion", {"amount": 3, "from_unit": "mile", "to_unit": "kilometer"}),
    ("convert_currency", {"amount": 10, "from_currency_code": "EUR", "to_currency_code": "USD"}),
    ("calculate_lat_lon_distance", {"latitude_0": 0, "longitude_0": 0, "latitude_1": 1, "longitude_1": 1}),
    ("send_message_with_phone_number", {"phone_number": "+17735550113", "content": "Hi"}),
    ("search_messages", {"recipient_person_id": ME}),
    ("add_reminder", {"content": "Call Bob", "reminder_timestamp": NOW + HOUR}),
    ("modify_reminder", {"reminder_id": "r-plants", "latitude": 1, "longitude": 2}),
    ("search_reminder", {"reminder_timestamp_lowerbound": NOW}),
    ("remove_reminder", {"reminder_id": "r-books"}),
    ("search_holiday", {"holiday_name": "Christmas Day", "year": 2025}),
    ("search_lat_lon", {"latitude": 48.85, "longitude": 2.35}),
    ("search_location_around_lat_lon", {"location": "coffee"}),
    ("search_weather_around_lat_lon", {"days": 1}),
    ("search_stock", {"query": "Apple"}),
    ("get_low_battery_mode_status", {}),
    ("get_wifi_status", {}),
    ("set_wifi_status", {"on": False}),
    ("get_cellular_service_status", {}),
    ("set_cellular_service_status", {"on": False}),
    ("get_location_service_status", {}),
    ("get_current_location", {}),
    ("set_location_service_status", {"on": False}),
    ("set_low_battery_mode_status", {"on": True}),
    ("get_current_timestamp", {}),
    ("timestamp_to_datetime_info", {"timestamp": NOW}),
    ("datetime_info_to_timestamp", {"year": 2025, "month": 5, "day": 16, "hour": 9, "minute": 30, "second": 0}),
    ("shift_timestamp", {"timestamp": NOW, "days": 1}),
    ("timestamp_diff", {"timestamp_0": NOW, "timestamp_1": NOW + HOUR}),
    ("seconds_to_hours_minutes_seconds", {"seconds": 3661}),
    ("set_timer", {"seconds": 60, "label": "Tea"}),
    ("list_timers", {}),
    ("wait", {"seconds": 5}),
)
"""A day on the phone: a call of every tool that works when they are made in this order."""
FAILING: tuple[tuple[str, dict[str, Any]], ...] = (
    ("remove_contact", {"person_id": "zz"}),
    ("modify_contact", {"person_id": ANN}),
    ("add_reminder", {"content": "x", "reminder_timestamp": 0}),
    ("sign_in", {"username": "ingrid", "password": "wrong"}),
    ("search_messages", {"sender_phone_number": "x"}),
    ("cancel_timer", {"timer_id": "zz"}),
    ("set_wifi_status", {"on": "no"}),
    ("nothing", {}),
)
calls = st.lists(st.sampled_from([*WORKING, *FAILING]), max_size=12)


def lines(done: Iterable[tuple[str, dict[str, Any]]]) -> list[str]:
    """What a log would say of these calls."""
    phone = Phone()
    written: list[str] = []
    for tool, arguments in done:
        written.append(to_line(as_event(tool, phone.call(tool, arguments))))
        phone.world.tick()
    return written


def test_a_day_on_the_phone() -> None:
    phone = Phone()
    for tool, arguments in WORKING:
        phone.do(tool, **arguments)


def test_that_day_tries_every_tool_but_one() -> None:
    assert set(home.agent_tools) - {tool for tool, _ in WORKING} == {"cancel_timer"}, "its ids are known when it is set"


def test_a_timer_can_be_cancelled() -> None:
    phone = Phone()
    phone.do("cancel_timer", timer_id=phone.do("set_timer", seconds=60))
    assert phone.do("list_timers") == []


def test_results_are_what_the_schema_promises() -> None:
    phone = Phone()
    for tool, arguments in WORKING:
        result = phone.do(tool, **arguments)
        given = {"result": result} if home.agent_tools[tool].wrapped else result
        jsonschema.validate(given, home.agent_tools[tool].output_schema())


def test_arguments_that_work_are_what_the_schema_asks_for() -> None:
    for tool, arguments in WORKING:
        jsonschema.validate(arguments, home.agent_tools[tool].input_schema())


@given(calls)
def test_the_same_calls_give_the_same_bytes(done: list[tuple[str, dict[str, Any]]]) -> None:
    assert lines(done) == lines(done)


@given(calls)
def test_folding_the_changes_gives_the_state(done: list[tuple[str, dict[str, Any]]]) -> None:
    phone = Phone()
    start = phone.world.snapshot
    changes = [change for tool, arguments in done for change in phone.call(tool, arguments).changes]
    folded = fold(start, changes)
    assert {name: list(table.items()) for name, table in folded.tables.items()} == {
        name: list(table.items()) for name, table in phone.world.snapshot.tables.items()
    }


@given(calls)
@settings(max_examples=at_least(20))
def test_what_fails_leaves_no_trace(done: list[tuple[str, dict[str, Any]]]) -> None:
    with_failures, without = Phone(), Phone()
    for tool, arguments in done:
        for failing, wrong in FAILING:
            if with_failures.call(failing, wrong).fault is None:
                raise AssertionError(failing)
        first, second = with_failures.call(tool, arguments), without.call(tool, arguments)
        assert (first.result, first.changes, first.fault) == (second.result, second.changes, second.fault)


@given(calls)
def test_queries_change_no_row(done: list[tuple[str, dict[str, Any]]]) -> None:
    phone = Phone()
    for tool, arguments in done:
        outcome = phone.call(tool, arguments)
        if outcome.tool and not outcome.tool.action:
            assert outcome.changes == ()
            assert outcome.writes == frozenset()


@each("tool", home.tools.values(), ids=lambda tool: tool.name)
class TestEveryTool:
    def test_it_says_what_it_does_and_what_every_argument_means(self, tool: Any) -> None:
        assert tool.description.split("\n")[0].endswith(".")
        assert [parameter.name for parameter in tool.parameters if not parameter.description.endswith(".")] == []

    def test_its_schemas_are_valid(self, tool: Any) -> None:
        for schema in (tool.input_schema(), tool.output_schema()):
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
        assert tool.input_schema()["additionalProperties"] is False

    def test_only_an_action_is_destructive(self, tool: Any) -> None:
        assert tool.action or not tool.destructive

    def test_an_argument_that_may_be_left_out_is_not_required(self, tool: Any) -> None:
        schema = tool.input_schema()
        assert schema["required"] == [parameter.name for parameter in tool.parameters if parameter.required]
        assert set(schema["required"]) <= set(schema["properties"])


def test_what_removes_or_overwrites_is_marked() -> None:
    destructive = {name for name, tool in home.agent_tools.items() if tool.destructive}
    assert destructive >= {"modify_contact", "remove_contact", "modify_reminder", "remove_reminder"}


def test_only_the_user_may_leave() -> None:
    assert home.tools["end_conversation"].caller == "user"
    assert "end_conversation" not in home.agent_tools
