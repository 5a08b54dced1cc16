"""Timers: the phone speaks up when one goes off, whatever made the time pass."""

import dataclasses
from typing import Any

import anyio
from hypothesis import given
from hypothesis import strategies as st

from sandbox_mcp.engine.trajectory import MemoryLog, Message
from sandbox_mcp.play.session import CallResult, Notice, Session, SessionSpec
from sandbox_mcp.play.session.replay import differences
from sandbox_mcp.play.users import ScriptedUser, UserTurn
from tests.suite import SUITE

SCENARIO = dataclasses.replace(
    SUITE.get("wifi_off"),
    tools=("set_timer", "list_timers", "cancel_timer", "wait", "get_current_timestamp"),
    max_turns=1000,
)


def opened() -> tuple[Session, MemoryLog]:
    log = MemoryLog()
    session = Session(SessionSpec(SCENARIO), ScriptedUser(SCENARIO.user.script), log)
    session.begin()
    return session, log


def set_timer(session: Session, seconds: float, label: str = "tea") -> str:
    return str(session.call("set_timer", {"seconds": seconds, "label": label}).structured["result"])


def notices(result: CallResult) -> list[str]:
    return list(result.structured.get("notices", ()))


def test_waiting_past_its_time_lets_a_timer_go_off() -> None:
    session, _ = opened()
    set_timer(session, 60)
    assert notices(session.call("wait", {"seconds": 59})) == ["The timer 'tea' has gone off."]


def test_until_then_nothing_is_heard() -> None:
    session, _ = opened()
    set_timer(session, 60)
    assert notices(session.call("wait", {"seconds": 30})) == []


def test_time_that_passes_by_itself_counts_too() -> None:
    session, _ = opened()
    set_timer(session, 2)
    assert notices(session.call("get_current_timestamp", {})) == []
    assert notices(session.call("get_current_timestamp", {})) == ["The timer 'tea' has gone off."]


def test_a_timer_goes_off_once() -> None:
    session, log = opened()
    set_timer(session, 5)
    session.call("wait", {"seconds": 100})
    session.call("wait", {"seconds": 100})
    assert len([e for e in log.events if isinstance(e, Message) and e.sender == "environment"]) == 1


def test_the_text_still_is_the_json_of_the_structured_result() -> None:
    import json

    session, _ = opened()
    set_timer(session, 5)
    result = session.call("wait", {"seconds": 10})
    assert json.loads(result.text) == result.structured


def test_a_failed_call_carries_the_notice_in_its_text() -> None:
    session, _ = opened()
    set_timer(session, 1)
    error = session.call("wait", {"seconds": -1}).error or ""
    assert error.endswith("\nNotice: The timer 'tea' has gone off.")


def test_several_timers_go_off_in_the_order_of_their_time() -> None:
    session, _ = opened()
    set_timer(session, 50, "eggs")
    set_timer(session, 20, "tea")
    assert notices(session.call("wait", {"seconds": 100})) == [
        "The timer 'tea' has gone off.",
        "The timer 'eggs' has gone off.",
    ]


def test_the_user_speaking_brings_the_notice_along() -> None:
    session, _ = opened()
    set_timer(session, 2)
    reply: Any = anyio.run(session.say, "Which network do you mean?")
    assert reply.notices == ("The timer 'tea' has gone off.",)


def test_a_cancelled_timer_is_never_heard() -> None:
    session, _ = opened()
    timer = set_timer(session, 60)
    assert session.call("cancel_timer", {"timer_id": timer}).error is None
    assert notices(session.call("wait", {"seconds": 100})) == []


def test_a_timer_that_has_gone_off_cannot_be_cancelled() -> None:
    session, _ = opened()
    timer = set_timer(session, 5)
    session.call("wait", {"seconds": 10})
    assert (session.call("cancel_timer", {"timer_id": timer}).error or "").startswith("NoDataError")


def test_only_running_timers_are_listed() -> None:
    session, _ = opened()
    set_timer(session, 5, "tea")
    set_timer(session, 500, "bread")
    session.call("wait", {"seconds": 10})
    (left,) = session.call("list_timers", {}).structured["result"]
    assert left["label"] == "bread"
    assert left["seconds_left"] == 488.0


def test_the_clock_moves_by_what_was_waited() -> None:
    session, _ = opened()
    before = session.call("get_current_timestamp", {}).structured["result"]
    session.call("wait", {"seconds": 3600})
    assert session.call("get_current_timestamp", {}).structured["result"] == before + 3602


@given(st.lists(st.one_of(st.floats(1, 500), st.just(None)), min_size=1, max_size=12), st.integers(0, 11))
def test_a_session_taken_up_again_hears_what_it_would_have_heard(steps: list[float | None], cut: int) -> None:
    whole, whole_log = opened()
    parts, parts_log = opened()
    for number, step in enumerate(steps):
        if number == cut:
            fresh = Session(parts.spec, parts.user, parts_log)
            fresh.restore(parts_log.trajectory())
            parts = fresh
        for session in (whole, parts):
            if step is None:
                session.call("wait", {"seconds": 120.1})
            else:
                set_timer(session, step)
    heard = [
        [e.content for e in log.events if isinstance(e, Message) and e.sender == "environment"]
        for log in (whole_log, parts_log)
    ]
    assert heard[0] == heard[1]
    assert list(differences(whole_log.trajectory())) == []


def test_all_that_was_announced_is_kept_with_its_moment() -> None:
    session, _ = opened()
    begin = session.world.clock.now
    set_timer(session, 50, "eggs")
    assert session.notices == ()
    session.call("wait", {"seconds": 100})
    assert session.notices == (Notice(begin + 102, "The timer 'eggs' has gone off."),)


def test_a_session_taken_up_again_knows_what_was_announced() -> None:
    session, log = opened()
    set_timer(session, 50, "eggs")
    session.call("wait", {"seconds": 100})
    again = Session(session.spec, session.user, log)
    again.restore(log.trajectory())
    assert again.notices == session.notices


def test_who_asked_to_be_told_is_told_once_for_each_notice() -> None:
    session, _ = opened()
    told: list[int] = []
    session.announcements.on_notice = lambda: told.append(len(session.notices))
    set_timer(session, 50, "eggs")
    set_timer(session, 20, "tea")
    session.call("wait", {"seconds": 100})
    session.call("wait", {"seconds": 100})
    assert told == [1, 2]


def test_only_a_session_that_offers_timers_has_any() -> None:
    scenario = SUITE.get("wifi_off")
    without = Session(SessionSpec(scenario), ScriptedUser(scenario.user.script), MemoryLog())
    assert not without.has_notices
    assert opened()[0].has_notices


@given(
    st.lists(st.tuples(st.sampled_from(("set", "wait", "look", "say", "say_back")), st.integers(1, 6)), max_size=8),
    st.data(),
)
def test_a_crash_loses_no_notice(deeds: list[tuple[str, int]], data: st.DataObject) -> None:
    """Wherever the log stops, whoever goes on hears of every timer once, as if nothing had happened."""
    session, log = opened()
    for what, number in deeds:
        if what == "set":
            set_timer(session, number, f"timer {number}")
        elif what == "wait":
            session.call("wait", {"seconds": number})
        elif what == "look":
            session.call("get_current_timestamp", {})
        else:
            anyio.run(lambda: session.say("hello", answer=UserTurn("go on")))
    cut = data.draw(st.integers(4, len(log.events)))
    again = MemoryLog()
    again.events[:] = log.events[:cut]
    second = Session(SessionSpec(SCENARIO), ScriptedUser(SCENARIO.user.script), again)
    second.restore(again.trajectory())
    second.call("wait", {"seconds": 100})
    told = [
        event.meta["timer"] for event in again.events if isinstance(event, Message) and event.sender == "environment"
    ]
    assert sorted(told) == sorted(str(row) for row in second.world.snapshot.table("timer"))
