"""Races between calls of one batch: always lost, in an order that arrival plays no part in."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox_mcp.engine.tools import Bound, bind, plan, present, run
from sandbox_mcp.engine.tools.gates import Gates
from sandbox_mcp.engine.trajectory import MemoryLog, ToolCall
from sandbox_mcp.engine.world import Change, IdStream, Running, fold
from sandbox_mcp.engine.worlds.phone import phone
from sandbox_mcp.play.session import AgentCall, Session, SessionSpec
from sandbox_mcp.play.users import ScriptedUser
from tests.each import each
from tests.laws import at_least
from tests.suite import SUITE

OFFERED = {name: present(tool) for name, tool in phone.agent_tools.items()}
WREN = "+17735550113"
OPEN = Gates("races")
"""Gates through which everything may pass."""


def world(**settings_: bool) -> Running:
    """The world of a known scenario, with some switches set."""
    scenario = SUITE.get("wifi_off")
    phone = next(iter(scenario.world.table("setting").values()))
    change = Change("setting", str(phone["device_id"]), phone, {**phone, **settings_})
    return Running(fold(scenario.world, [change]), scenario.clock, IdStream("races"))


def bound(name: str, /, **arguments: object) -> Bound:
    checked = bind(OFFERED, name, arguments)
    assert isinstance(checked, Bound), checked
    return checked


def play(place: Running, calls: list[Bound]) -> dict[str, object]:
    """Run a batch as a session would: result or error by call."""
    outcomes: dict[str, object] = {}
    for index in plan(place, calls, OPEN).order:
        outcome = run(place, calls[index])
        label = f"{calls[index].tool.name} {sorted(calls[index].arguments.items())}"
        outcomes[label] = outcome.fault.type if outcome.fault else outcome.result
    return outcomes


def result_of(place: Running, calls: list[Bound], name: str) -> object:
    return next(value for label, value in play(place, calls).items() if label.startswith(name))


SEND = bound("send_message_with_phone_number", phone_number=WREN, content="On my way")
CELLULAR_ON = bound("set_cellular_service_status", on=True)
CELLULAR_OFF = bound("set_cellular_service_status", on=False)
WIFI_ON = bound("set_wifi_status", on=True)
WIFI_OFF = bound("set_wifi_status", on=False)
GET_WIFI = bound("get_wifi_status")
BATTERY_OFF = bound("set_low_battery_mode_status", on=False)
BATTERY_ON = bound("set_low_battery_mode_status", on=True)


@each("calls", list(itertools.permutations([CELLULAR_ON, SEND])))
def test_a_call_that_needs_the_other_comes_too_early(calls: tuple[Bound, ...]) -> None:
    assert result_of(world(cellular=False), list(calls), "send_message") == "ConnectionError"


@each("calls", list(itertools.permutations([CELLULAR_OFF, SEND])))
def test_a_call_that_the_other_spoils_comes_too_late(calls: tuple[Bound, ...]) -> None:
    assert result_of(world(), list(calls), "send_message") == "ConnectionError"


def test_the_spoiling_call_itself_goes_through() -> None:
    assert result_of(world(), [CELLULAR_OFF, SEND], "set_cellular") is None


@each("calls", list(itertools.permutations([WIFI_OFF, GET_WIFI])))
def test_a_race_that_raises_nothing_gives_the_stale_answer(calls: tuple[Bound, ...]) -> None:
    assert result_of(world(), list(calls), "get_wifi") is True


def test_of_two_equal_switches_one_finds_the_work_done() -> None:
    place = world()
    schedule = plan(place, [WIFI_OFF, WIFI_OFF], OPEN)
    outcomes = [run(place, WIFI_OFF) for _ in schedule.order]
    assert [outcome.fault.type if outcome.fault else None for outcome in outcomes] == [None, "ValueError"]


def test_a_chain_of_needs_is_lost_at_every_link() -> None:
    place = world(low_battery_mode=True, cellular=False, wifi=False)
    outcomes = play(place, [BATTERY_OFF, CELLULAR_ON, WIFI_ON, SEND])
    failed = sorted(label.split()[0] for label, value in outcomes.items() if str(value).endswith("Error"))
    assert failed == ["send_message_with_phone_number", "set_cellular_service_status", "set_wifi_status"]


def test_switching_a_service_off_does_not_race_with_another_service() -> None:
    assert plan(world(), [CELLULAR_OFF, WIFI_OFF, GET_WIFI], OPEN).racing == {1, 2}


def test_two_messages_sent_together_do_not_race() -> None:
    other = bound("send_message_with_phone_number", phone_number="+13125550178", content="Running late")
    assert plan(world(), [SEND, other], OPEN).racing == frozenset()


def test_searching_messages_while_one_is_sent_misses_it() -> None:
    search = bound("search_messages", recipient_phone_number=WREN)
    for calls in ([SEND, search], [search, SEND]):
        found = result_of(world(), list(calls), "search_messages")
        assert isinstance(found, list)
        assert "On my way" not in [row["content"] for row in found]


POOL = [
    SEND, CELLULAR_ON, CELLULAR_OFF, WIFI_ON, WIFI_OFF, GET_WIFI, BATTERY_OFF, BATTERY_ON,
    bound("get_cellular_service_status"), bound("get_current_location"), bound("get_current_timestamp"),
    bound("search_contacts", name="Wren"), bound("add_contact", name="Ada", phone_number="+14155550123"),
    bound("search_messages", sender_phone_number=WREN), bound("search_reminder", content="dentist"),
    bound("add_reminder", content="Buy bread", reminder_timestamp=1747500000.0),
]  # fmt: skip
BATCHES = st.lists(st.sampled_from(POOL), min_size=1, max_size=5)
SWITCHES = st.fixed_dictionaries({name: st.booleans() for name in ("cellular", "wifi", "low_battery_mode")})


@settings(max_examples=at_least(50), deadline=None)
@given(BATCHES, SWITCHES, st.randoms(use_true_random=False))
def test_arrival_order_plays_no_part(calls: list[Bound], switches: dict[str, bool], random: object) -> None:
    shuffled = list(calls)
    random.shuffle(shuffled)
    one, other = world(**switches), world(**switches)
    assert play(one, calls) == play(other, shuffled)
    assert one.snapshot == other.snapshot


@settings(max_examples=at_least(50), deadline=None)
@given(BATCHES, SWITCHES)
def test_calls_that_do_not_race_get_what_they_would_get_alone(calls: list[Bound], switches: dict[str, bool]) -> None:
    place = world(**switches)
    schedule = plan(place, calls, OPEN)
    for index in schedule.order:
        together, alone = run(place, calls[index]), run(world(**switches), calls[index])
        if index not in schedule.racing:
            assert (together.fault, alone.fault) == (None, None) or together.fault == alone.fault
            if calls[index].tool.name.startswith("search"):
                assert together.result == alone.result


@settings(max_examples=at_least(40), deadline=None)
@given(BATCHES, SWITCHES)
def test_every_call_runs_exactly_once(calls: list[Bound], switches: dict[str, bool]) -> None:
    place = world(**switches)
    schedule = plan(place, calls, OPEN)
    assert sorted(schedule.order) == list(range(len(calls)))


def test_a_session_records_a_batch_and_its_races() -> None:
    scenario = SUITE.get("wifi_off")
    log = MemoryLog()
    session = Session(SessionSpec(scenario, variant="all_tools"), ScriptedUser(scenario.user.script), log)
    session.begin()
    results = session.call_batch(
        [
            AgentCall("set_wifi_status", {"on": False}),
            AgentCall("get_wifi_status", {}),
            AgentCall("get_current_timestamp", {}),
            AgentCall("no_such_tool", {}),
        ]
    )
    calls = [event for event in log.events if isinstance(event, ToolCall)]
    assert len({call.batch for call in calls}) == 1
    assert {call.name: bool(call.meta.get("race")) for call in calls} == {
        "get_wifi_status": True,
        "set_wifi_status": True,
        "get_current_timestamp": False,
        "no_such_tool": False,
    }
    assert [result.error is None for result in results] == [True, True, True, False]
    assert results[1].structured == {"result": True}
