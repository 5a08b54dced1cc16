"""What a message is read against: the whole session, gathered once however many messages there are."""

from dataclasses import replace

from sandbox_grader import grade
from sandbox_grader.milestones.listening import Listener
from sandbox_grader.milestones.timeline import Timeline
from sandbox_scenarios import Suite

from sandbox_mcp.engine.trajectory import Message, ToolCall, Trajectory
from tests.each import each
from tests.scenarios.playing import solved

NAMES = Suite().names()[::48]


def listener(log: Trajectory) -> Listener:
    return Listener(Timeline(log), ())


@each("name", NAMES)
def test_a_message_is_read_against_what_was_said_and_done_in_the_whole_session(name: str) -> None:
    log = solved(Suite().get(name))
    heard = listener(log)
    said = [event.content for event in log.events if isinstance(event, Message) and event.sender == "user"]
    done = {
        event.called
        for event in log.events
        if isinstance(event, ToolCall) and event.caller == "agent" and event.error is None
    }
    assert list(heard.background.given) == said
    assert done <= heard.background.tools
    assert heard.background is heard.background


@each("name", NAMES)
def test_no_message_of_a_right_session_invents_a_deed(name: str) -> None:
    log = solved(Suite().get(name))
    heard = listener(log)
    for index, event in enumerate(Timeline(log).events):
        if isinstance(event, Message) and event.sender == "agent":
            assert heard.invented(index) is None


@each(("name", "right"), [("sister_and_table", "Wren"), ("dumplings_wait", "Chiyo")])
def test_a_deed_is_told_by_a_claim_of_it_and_not_by_a_plan_or_another_deed(name: str, right: str) -> None:
    log, scenario = solved(Suite().get(name)), Suite().get(name)
    last = max(n for n, event in enumerate(log.events) if isinstance(event, Message) and event.sender == "agent")

    def score(said: str) -> float:
        events = list(log.events)
        events[last] = replace(events[last], content=said)
        return grade(replace(log, events=tuple(events)), scenario).score or 0

    assert score(f"Done. I texted {right}.") == 1
    assert score(f"I will text {right}.") < 1
    assert score(f"I deleted {right}.") < 1


def test_what_the_user_named_need_not_be_said_again_where_the_deed_is_told() -> None:
    log, scenario = solved(Suite().get("office_new_phone")), Suite().get("office_new_phone")
    last = max(n for n, event in enumerate(log.events) if isinstance(event, Message) and event.sender == "agent")

    def score(said: str) -> float:
        events = list(log.events)
        events[last] = replace(events[last], content=said)
        return grade(replace(log, events=tuple(events)), scenario).score or 0

    assert score("All done, your account is updated.") == 1
    assert score("Your account now has the phone number 555-027-0818.") < 1
    assert score("I'll update your account.") < 1
