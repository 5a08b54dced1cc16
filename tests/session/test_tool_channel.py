"""The user as a tool: messages, not calls, and the same conversation as when a harness speaks."""

from collections.abc import Mapping
from typing import Any

import anyio

from sandbox_mcp.engine.trajectory import MemoryLog, Message, ToolCall
from sandbox_mcp.play.session import Session, SessionSpec
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.session.tool_channel import SEND, SEND_TOOL, send_message
from sandbox_mcp.play.users import ScriptedUser, UserError
from tests.each import each
from tests.suite import SUITE

NEIGHBOUR = SUITE.get("new_neighbour")


def begun(user: Any = None) -> tuple[Session, MemoryLog]:
    log = MemoryLog()
    spec = SessionSpec(NEIGHBOUR, user_channel="tool")
    session = Session(spec, user or ScriptedUser(NEIGHBOUR.user.script), log)
    session.begin()
    return session, log


def send(session: Session, arguments: object) -> Mapping[str, Any] | str:
    result = anyio.run(send_message, session, arguments)
    return result.structured if result.error is None else result.error


def test_what_is_said_is_what_a_harness_would_have_said() -> None:
    texts = ["What is her name?", "And her number?", "Done."]
    by_tool, tool_log = begun()
    by_harness, harness_log = begun()
    for text in texts:
        if not by_tool.over:
            send(by_tool, {"content": text})
            anyio.run(by_harness.say, text)
    said = [
        [(event.sender, event.content) for event in log.events if isinstance(event, Message)]
        for log in (tool_log, harness_log)
    ]
    assert said[0] == said[1]
    assert by_tool.dialogue == by_harness.dialogue


def test_only_what_the_agent_sent_is_marked() -> None:
    session, log = begun()
    send(session, {"content": "What is her name?"})
    messages = [event for event in log.events if isinstance(event, Message)]
    assert [(message.sender, dict(message.meta)) for message in messages[-2:]] == [
        ("agent", {"channel": "tool"}), ("user", {}),
    ]  # fmt: skip


def test_an_empty_message_is_a_message() -> None:
    session, _ = begun()
    assert send(session, {"content": ""}) != ""
    assert session.dialogue[1].text == ""


@each(
    ("arguments", "error"),
    [
        ({}, "MissingArgumentError: send_message_to_user also needs content"),
        (None, "MissingArgumentError"),
        ({"content": None}, "ArgumentTypeError"),
        ({"content": ["a"]}, "ArgumentTypeError"),
        ({"content": "a", "to": "b"}, "ArgumentNameError: send_message_to_user has no argument"),
        ("hello", "ArgumentFormatError"),
        (["hello"], "ArgumentFormatError"),
    ],
)
def test_faulty_arguments_reach_no_user(arguments: object, error: str) -> None:
    session, log = begun()
    said = send(session, arguments)
    assert isinstance(said, str)
    assert said.startswith(error)
    assert len(session.dialogue) == 1
    call = log.events[-1]
    assert isinstance(call, ToolCall)
    assert (call.name, call.caller) == (SEND, "agent")
    assert session.calls == 1


def test_when_the_user_has_left_nothing_more_can_be_said() -> None:
    session, log = begun()
    session.end("abandoned")
    events = len(log.events)
    assert str(send(session, {"content": "hello"})).startswith("SessionOverError")
    assert str(send(session, {})).startswith("SessionOverError")
    assert len(log.events) == events


def test_a_user_that_breaks_ends_the_conversation() -> None:
    class Broken:
        kind = "broken"

        def describe(self) -> dict[str, Any]:
            return {}

        async def respond(self, dialogue: object) -> Any:
            raise UserError("no model")

    session, _ = begun(Broken())
    assert send(session, {"content": "hello"}) == {"reply": None, "conversation_over": True}
    assert session.ended == "user_failed"


def test_the_tool_is_described_like_any_other() -> None:
    assert SEND_TOOL.schema["required"] == ["content"]
    assert SEND_TOOL.schema["additionalProperties"] is False
    assert SEND_TOOL.tool.output_schema()["required"] == ["reply", "conversation_over"]
    assert "conversation_over" in SEND_TOOL.description


def test_the_description_shows_in_every_variant() -> None:
    manager = SessionManager(SUITE)
    for variant in ("base", "no_documentation", "tool_name_scrambled"):
        listed = manager.presentation(SessionSpec(NEIGHBOUR, variant, user_channel="tool")).listed
        assert listed[-1] is SEND_TOOL
        assert SEND not in [tool.name for tool in manager.presentation(SessionSpec(NEIGHBOUR, variant)).listed]
