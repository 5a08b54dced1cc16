"""What a message is read against: the session until then, gathered once however many messages there are."""

from dataclasses import fields, replace
from typing import Any

from sandbox_grader import grade
from sandbox_grader.claims import Background
from sandbox_grader.milestones.listening import Listener
from sandbox_grader.milestones.timeline import Timeline
from sandbox_scenarios import Suite

from sandbox_mcp.engine.trajectory import Message, ToolCall, Trajectory
from tests.each import each
from tests.scenarios.playing import solved

NAMES = Suite().names()[::24]


def listener(log: Trajectory) -> Listener:
    return Listener(Timeline(log), Suite().get(log.started.scenario).milestones)


def known(background: Background) -> dict[str, Any]:
    """All that was there before a message, without what the user said, who may go on afterwards."""
    return {item.name: getattr(background, item.name) for item in fields(background) if item.name != "given"}


@each("name", NAMES)
def test_a_message_is_read_against_what_was_done_before_it(name: str) -> None:
    log = solved(Suite().get(name))
    whole, events = listener(log), Timeline(log).events
    first = len(log.events) - len(events)
    for index, event in reversed(list(enumerate(events))):
        if isinstance(event, Message) and index:
            alone = listener(replace(log, events=log.events[: first + index])).background(index)
            assert known(whole.background(index)) == known(alone)


@each("name", NAMES)
def test_messages_between_the_same_calls_are_read_against_the_same(name: str) -> None:
    log = solved(Suite().get(name))
    heard, calls = listener(log), 0
    known = {0: heard.background(0)}
    for index, event in enumerate(Timeline(log).events):
        if isinstance(event, ToolCall) and event.caller == "agent":
            calls += 1
        assert known.setdefault(calls, heard.background(index + 1)) is heard.background(index + 1)


@each(
    ("name", "right", "other"),
    [("sister_and_table", "Wren", "Tomas"), ("dumplings_wait", "Chiyo", "Haruki")],
)
def test_who_was_told_is_held_against_whom_messages_went_to(name: str, right: str, other: str) -> None:
    log, scenario = solved(Suite().get(name)), Suite().get(name)
    last = max(n for n, event in enumerate(log.events) if isinstance(event, Message) and event.sender == "agent")

    def score(said: str) -> float | None:
        events = list(log.events)
        events[last] = replace(events[last], content=said)
        return grade(replace(log, events=tuple(events)), scenario).score

    assert score(f"Done. I texted {right}.") == 1
    assert score(f"Done. I texted {other}.") == 0
