"""Sessions: who speaks when, what ends one, and that the record is the same every time."""

import dataclasses
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from sandbox_scenarios import Scenario, ScenarioError

from sandbox_mcp.engine.trajectory import Event, MemoryLog, Message, SessionEnded, ToolCall, to_line
from sandbox_mcp.engine.worlds import default
from sandbox_mcp.play.session import Session, SessionError, SessionSpec
from sandbox_mcp.play.session.replay import differences
from sandbox_mcp.play.users import Line, ScriptedUser, UserError, UserTurn
from tests.each import each
from tests.suite import SUITE

WIFI_OFF = SUITE.get("wifi_off")


def opened(scenario: Scenario = WIFI_OFF, **spec: Any) -> tuple[Session, MemoryLog]:
    log = MemoryLog()
    session = Session(SessionSpec(scenario, **spec), ScriptedUser(scenario.user.script), log)
    session.begin()
    return session, log


def without_wall(events: Sequence[Event]) -> list[str]:
    return [to_line(dataclasses.replace(event, wall={})) for event in events]


def run(work: Callable[[], Awaitable[Any]]) -> Any:
    import anyio

    return anyio.run(work)


def test_the_user_opens() -> None:
    session, log = opened()
    assert session.call_batch([]) == []
    assert session.dialogue == (Line("user", WIFI_OFF.user.opening),)
    assert isinstance(log.events[-1], Message)


def test_each_role_sees_only_what_it_should() -> None:
    _, log = opened()
    seen = {
        role: " ".join(e.content for e in log.events if isinstance(e, Message) and role in e.visible_to)
        for role in ("agent", "user")
    }
    assert default().briefing in seen["agent"]
    assert WIFI_OFF.user.goal not in seen["agent"]
    assert default().briefing not in seen["user"]


def test_a_session_from_start_to_end() -> None:
    session, log = opened()
    session.call("set_wifi_status", {"on": False})
    reply = run(lambda: session.say("Wifi is off."))
    assert (reply.text, reply.over, reply.reason) == (None, True, "user_ended")
    leaving, end = log.events[-2:]
    assert isinstance(leaving, ToolCall)
    assert (leaving.caller, leaving.tool) == ("user", "end_conversation")
    assert isinstance(end, SessionEnded)


def test_the_same_calls_give_the_same_log_but_for_wall() -> None:
    logs = []
    for _ in range(2):
        session, log = opened(variant="all_tools", seed=7)
        session.call("add_contact", {"name": "Ada", "phone_number": "+14155550123"})
        session.call("search_contacts", {"name": "Ada"})
        run(lambda session=session: session.say("Done."))
        logs.append(without_wall(log.events))
    assert logs[0] == logs[1]


def test_another_seed_gives_other_ids() -> None:
    ids = set()
    for seed in (1, 2):
        session, _ = opened(variant="all_tools", seed=seed)
        ids.add(session.call("add_contact", {"name": "Ada", "phone_number": "+14155550123"}).text)
    assert len(ids) == 2


def test_text_is_exactly_the_json_of_the_structured_result() -> None:
    session, _ = opened(variant="all_tools")
    for name in ("get_current_location", "get_wifi_status", "get_current_timestamp"):
        result = session.call(name, {})
        assert json.loads(result.text) == result.structured


def test_a_failed_call_is_recorded_with_its_class_and_changes_nothing() -> None:
    session, log = opened()
    before = session.world.snapshot
    assert session.call("set_wifi_status", {"on": True}).error == "ValueError: wifi is already on"
    call = log.events[-1]
    assert isinstance(call, ToolCall)
    assert call.error is not None
    assert (call.error.kind, call.error.type, call.changes) == ("execution", "ValueError", ())
    assert session.world.snapshot is before


def test_arguments_that_are_no_object_are_kept_as_they_came() -> None:
    session, log = opened()
    assert "must be one JSON object" in (session.call("set_wifi_status", "[false]").error or "")
    call = log.events[-1]
    assert isinstance(call, ToolCall)
    assert call.raw_arguments == "[false]"


def test_the_limit_on_turns_ends_a_session_and_counts_no_calls() -> None:
    session, log = opened(dataclasses.replace(WIFI_OFF, max_turns=1))
    for _ in range(20):
        assert session.call("set_wifi_status", {"on": True}).error == "ValueError: wifi is already on"
    assert run(lambda: session.say("Shall I?")).reason == "max_turns"
    assert "over" in (session.call("set_wifi_status", {"on": False}).error or "")
    assert isinstance(log.events[-1], SessionEnded)


def test_the_limit_on_calls_ends_a_session() -> None:
    session, _ = opened(dataclasses.replace(WIFI_OFF, max_calls=1))
    session.call("set_wifi_status", {"on": False})
    session.call("set_wifi_status", {"on": True})
    assert session.ended == "max_calls"


class TalkativeUser:
    """A user that always has more to say."""

    kind = "talkative"

    def describe(self) -> Mapping[str, Any]:
        return {}

    async def respond(self, dialogue: Sequence[Line]) -> UserTurn:
        return UserTurn("And then?")


def test_a_user_who_goes_on_when_no_call_is_left_ends_the_session_by_the_limit_on_calls() -> None:
    session = Session(SessionSpec(dataclasses.replace(WIFI_OFF, max_calls=1)), TalkativeUser(), MemoryLog())
    session.begin()
    session.call("set_wifi_status", {"on": False})
    assert run(lambda: session.say("Wifi is off.")).reason == "max_calls"


def test_the_agents_last_words_count_even_at_the_limit() -> None:
    session, log = opened(dataclasses.replace(WIFI_OFF, max_turns=1))
    session.call("set_wifi_status", {"on": False})
    assert run(lambda: session.say("Wifi is off.")).reason == "max_turns"
    assert [event.content for event in log.events if isinstance(event, Message)][-1] == "Wifi is off."


def test_a_session_that_is_over_takes_nothing_more() -> None:
    session, log = opened()
    session.end("abandoned", "the host went away")
    written = len(log.events)
    assert session.call("set_wifi_status", {"on": False}).error is not None
    with pytest.raises(SessionError, match="is over"):
        run(lambda: session.say("Hello?"))
    session.end("max_turns")
    assert len(log.events) == written


@dataclass
class BrokenUser:
    """A user whose endpoint is down, or whose code is wrong: it raises this, or answers with it."""

    error: Any
    kind: str = "broken"

    def describe(self) -> Mapping[str, Any]:
        return {"model": "none"}

    async def respond(self, dialogue: Sequence[Line]) -> UserTurn:
        if isinstance(self.error, Exception):
            raise self.error
        return self.error


@each(
    ("error", "detail"),
    [
        (UserError("the endpoint does not answer"), "the endpoint does not answer"),
        (KeyError("city"), "the user broke: KeyError: 'city' (test_session.py, line"),
        (OSError("no answer"), "the user broke: OSError: no answer (test_session.py, line"),
        ("Thanks.", "the user broke: "),
        (UserTurn("Thanks.", {"cost": float("nan")}), "the user broke: ValueError: Out of range float values"),
    ],
)
def test_a_user_that_breaks_is_not_the_agents_fault(error: Any, detail: str) -> None:
    log = MemoryLog()
    session = Session(SessionSpec(WIFI_OFF), BrokenUser(error), log)
    session.begin()
    assert run(lambda: session.say("Wifi is off.")).reason == "user_failed"
    end = log.events[-1]
    assert isinstance(end, SessionEnded)
    assert str(end.detail).startswith(detail)


def test_a_session_goes_on_where_its_log_stops() -> None:
    whole, whole_log = opened(variant="all_tools")
    first, first_log = opened(variant="all_tools")
    ada = {"name": "Ada", "phone_number": "+14155550123"}
    for session in (whole, first):
        session.call("add_contact", ada)
    second = Session(first.spec, first.user, first_log)
    second.restore(first_log.trajectory())
    for session in (whole, second):
        session.call("add_contact", {**ada, "name": "Grace"})
        run(lambda session=session: session.say("Both added."))
    assert without_wall(first_log.events) == without_wall(whole_log.events)
    assert second.turns == whole.turns


def test_a_log_of_something_else_is_not_taken_up() -> None:
    _, log = opened()
    other = Session(SessionSpec(WIFI_OFF, seed=5), ScriptedUser(WIFI_OFF.user.script), MemoryLog())
    with pytest.raises(SessionError, match="not \\('wifi_off', 'base', 5\\)"):
        other.restore(log.trajectory())


def test_a_scenario_that_has_changed_is_not_taken_up() -> None:
    _, log = opened()
    changed = dataclasses.replace(WIFI_OFF, digest="0000")
    session = Session(SessionSpec(changed), ScriptedUser(changed.user.script), MemoryLog())
    with pytest.raises(SessionError, match="has changed"):
        session.restore(log.trajectory())


def test_replay_agrees_with_an_honest_log() -> None:
    session, log = opened(variant="all_tools")
    session.call("add_contact", {"name": "Ada", "phone_number": "+14155550123"})
    session.call("add_contact", {"name": "Ada"})
    session.call("set_wifi_status", {"on": True})
    session.call("get_current_timestamp", {})
    assert list(differences(log.trajectory())) == []


def test_replay_finds_a_result_that_was_tampered_with() -> None:
    session, log = opened(variant="all_tools")
    session.call("get_wifi_status", {})
    tampered = MemoryLog()
    tampered.events = [
        dataclasses.replace(event, result=False) if isinstance(event, ToolCall) else event for event in log.events
    ]
    (found,) = differences(tampered.trajectory())
    assert (found.what, found.recorded, found.replayed) == ("result", "false", "true")


def test_replay_of_renamed_arguments_agrees() -> None:
    session, log = opened(variant="argument_name_scrambled")
    session.call("set_wifi_status", {"argument_0": False})
    session.call("set_wifi_status", {"argument_0": False})
    assert list(differences(log.trajectory())) == []


def test_replay_needs_a_log_with_state() -> None:
    _, log = opened()
    log.events[0] = dataclasses.replace(log.events[0], world=None)
    with pytest.raises(ScenarioError, match="recorded no state"):
        list(differences(log.trajectory()))


def test_a_user_reads_the_beginning_and_the_end_of_a_very_long_message_and_the_log_keeps_it_whole() -> None:
    session, log = opened()
    told = "Wifi is off now. " + "x" * 1_000_000 + " Is that all?"
    run(lambda: session.say(told))
    heard = session.dialogue[1].text
    assert heard.startswith("Wifi is off now.")
    assert heard.endswith("Is that all?")
    assert len(heard) < 20_000
    assert [event.content for event in log.events if isinstance(event, Message) and event.sender == "agent"] == [told]


def test_what_a_model_thinks_is_kept_apart_from_what_it_says() -> None:
    session, log = opened()
    run(lambda: session.say("<think>Shall I ask?</think>Wifi is off.", {"model": "m"}))
    (said,) = (event for event in log.events if isinstance(event, Message) and event.sender == "agent")
    assert said.content == "Wifi is off."
    assert said.meta["model"] == "m"
    assert "Shall I ask?" in said.meta["reasoning"]
