"""What is exported and imported again is the same session: messages, calls, arguments, results, errors."""

import itertools
import json

import pytest
from hypothesis import HealthCheck, given, settings
from sandbox_grader.errors import GraderError
from sandbox_grader.exporters import EXPORTERS, exporter
from sandbox_grader.exporters.turns import in_agents_conversation

from sandbox_mcp.engine.trajectory import Message, ToolCall, parse_trajectory, to_line
from tests.each import each
from tests.grader.exporters.sessions import call, exported_and_imported, message, note, session, sessions, told
from tests.laws import at_least

LAW = settings(max_examples=at_least(20), deadline=None, suppress_health_check=list(HealthCheck))


def batches(events):
    """The calls, gathered by batch: which of them were made together."""
    made = [event for event in events if isinstance(event, ToolCall)]
    return [len(list(group)) for _, group in itertools.groupby(made, key=lambda event: event.batch)]


@LAW
@given(before=sessions(callers=("agent", "user")))
def test_atif_keeps_all_that_was_said_and_done(before, tmp_path):
    after = exported_and_imported("atif", before, tmp_path)
    assert list(map(told, after.events)) == list(map(told, before.events))
    assert batches(after.events) == batches(before.events)
    assert [event.visible_to for event in after.events if isinstance(event, Message)] == [
        event.visible_to for event in before.events if isinstance(event, Message)
    ]


@pytest.mark.parametrize("format_", ["atif", "openai-chat"])
@LAW
@given(before=sessions())
def test_a_format_keeps_what_the_session_was(format_, before, tmp_path):
    if format_ == "openai-chat" and not any(map(in_agents_conversation, before.events)):
        return
    after = exported_and_imported(format_, before, tmp_path)
    for name in ("session", "scenario", "variant", "seed", "trial", "categories", "digest", "agent", "user_channel"):
        assert getattr(after.started, name) == getattr(before.started, name)
    assert after.started.tools == before.started.tools
    assert after.ended is not None
    assert (after.ended.reason, after.ended.detail) == ("user_ended", "x")
    assert [event.tool for event in after.events if isinstance(event, ToolCall)] == [
        event.tool for event in before.events if isinstance(event, ToolCall)
    ]


@LAW
@given(before=sessions(callers=("agent", "user")))
def test_openai_chat_keeps_what_the_agent_took_part_in(before, tmp_path):
    seen = [
        event
        for event in before.events
        if "agent" in (event.visible_to if isinstance(event, Message) else [event.caller])
    ]
    if not seen:
        return
    after = exported_and_imported("openai-chat", before, tmp_path)
    assert list(map(told, after.events)) == list(map(told, seen))


@pytest.mark.parametrize("format_", sorted(EXPORTERS))
@LAW
@given(before=sessions(callers=("agent", "user")))
def test_a_second_round_changes_nothing_more(format_, before, tmp_path):
    if not any(message.visible_to for message in before.events if isinstance(message, Message)):
        return
    if not exporter("openai-chat")(before)["messages"]:
        return
    once = exported_and_imported(format_, before, tmp_path)
    again = exported_and_imported(format_, once, tmp_path)
    assert list(map(told, again.events)) == list(map(told, once.events))


@each("format_", sorted(EXPORTERS))
def test_an_exported_log_that_was_read_from_a_file_is_the_same(format_):
    before = session(message("user", "agent", "Hi"), call("x7", {"a": [1, {"b": 2}]}, result={"c": 1}))
    events = [before.started, *before.events, before.ended]
    read = parse_trajectory("".join(map(to_line, events)).encode())
    assert exporter(format_)(read) == exporter(format_)(before)


@each("format_", sorted(EXPORTERS))
def test_values_that_cannot_be_changed_are_written_as_well(format_):
    from types import MappingProxyType

    frozen = MappingProxyType({"a": MappingProxyType({"b": (1, 2)})})
    document = exporter(format_)(session(call("x7", frozen, result=frozen)))
    assert '"b\\": [1, 2]' in json.dumps(document)


@each("format_", sorted(EXPORTERS))
def test_an_export_gives_no_answers_away(format_):
    from dataclasses import replace

    from sandbox_mcp.engine.trajectory import ReferenceCall, ReferenceTurn, assemble

    before = session(message("user", "agent", "Hi"))
    solution = (ReferenceTurn(calls=(ReferenceCall(tool="secret", arguments={}),), reply="secret"),)
    head = replace(before.started, reference=(solution,), origin={"x": "secret"}, world={"secret": {}})
    document = exporter(format_)(assemble([head, *before.events]))
    assert "secret" not in json.dumps(document)


@each("format_", sorted(EXPORTERS))
def test_nothing_happened(format_):
    document = exporter(format_)(session(end=None))
    assert document.get("messages", document.get("steps")) == []


def test_a_format_that_there_is_not():
    with pytest.raises(GraderError, match="unknown export format 'csv'; known: atif, openai-chat"):
        exporter("csv")


def test_a_note_may_stand_alone(tmp_path):
    before = session(note("hm", "reasoning"), note("so"), message("user", "agent", "Hi"), note("again"))
    for format_ in EXPORTERS:
        after = exported_and_imported(format_, before, tmp_path)
        assert [event.content for event in after.events] == ["hm", "so", "Hi", "again"]
        assert [event.recipient for event in after.events] == ["agent"] * 4
