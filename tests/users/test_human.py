"""The user played by a person: what they are shown, what they can type, and how they leave."""

import io
import sys
from typing import Any, cast

import anyio
import pytest

from sandbox_mcp.engine.trajectory import MemoryLog, SessionEnded, ToolCall
from sandbox_mcp.play.session import Session, SessionSpec
from sandbox_mcp.play.users import Line, UserError, UserTurn
from sandbox_mcp.play.users.human import HostUser, TerminalUser
from sandbox_mcp.play.users.terminal import Terminal
from sandbox_mcp.play.users.typed import TypedError, briefing, turn_of
from tests.each import each
from tests.suite import SUITE
from tests.users.terminals import Typed

SCENARIO = SUITE.get("late_for_dinner_low_battery")
SPEC = SCENARIO.user
FIRST = [Line("user", SPEC.opening), Line("agent", "Which sister? OK-0A1B2C")]
LATER = [*FIRST, Line("user", "Wren."), Line("agent", "Shall I?")]


def types(*lines: str, dialogue: Any = FIRST) -> tuple[UserTurn, Typed]:
    terminal = Typed(*lines)
    return anyio.run(TerminalUser(SPEC, cast(Terminal, terminal)).respond, dialogue), terminal


def test_what_is_typed_is_said() -> None:
    assert types("  Wren, my sister. ")[0] == UserTurn("Wren, my sister.")


def test_the_agents_words_are_shown_before_each_prompt() -> None:
    _, terminal = types("Yes.", dialogue=LATER)
    assert terminal.shown == ["\nassistant: Shall I?"]


def test_before_the_first_answer_the_person_is_told_what_they_want_and_know() -> None:
    _, terminal = types("Wren.")
    for text in (SPEC.goal, *SPEC.knows, *SPEC.does_not_know, SPEC.opening):
        assert text in terminal.text


@each("lines", [("/end",), ()])
def test_a_command_or_the_end_of_input_leaves(lines: tuple[str, ...]) -> None:
    assert types(*lines)[0].ends


def test_nothing_typed_says_nothing_and_is_asked_again() -> None:
    turn, terminal = types("", "   ", "Wren.")
    assert (turn.says, len(terminal.prompts)) == ("Wren.", 3)


def test_help_and_goal_are_shown_and_not_said() -> None:
    turn, terminal = types("/help", "/goal", "Wren.", dialogue=LATER)
    assert turn.says == "Wren."
    assert "/confirm CODE" in terminal.text
    assert briefing(SPEC) in terminal.shown


def test_an_unknown_command_is_told_and_asked_again() -> None:
    turn, terminal = types("/exit", "Wren.")
    assert turn.says == "Wren."
    assert "unknown command '/exit'; /end leaves" in terminal.text


@each(
    ("typed", "said"),
    [
        ("/confirm OK-0A1B2C", "Yes, please."),
        ("/confirm ok-0a1b2c", "Yes, please."),
        ("/confirm", "Yes, please."),
        ("/confirm OK-0A1B2C go on", "go on"),
        ("/confirm go on", "go on"),
    ],
)
def test_a_code_is_confirmed(typed: str, said: str) -> None:
    assert turn_of(typed, SPEC, FIRST) == UserTurn(said, confirms=("OK-0A1B2C",))


@each(
    ("typed", "dialogue", "problem"),
    [
        ("/confirm OK-FFFFFF", FIRST, "nobody has asked you to confirm OK-FFFFFF"),
        ("/confirm", LATER, "name the code you mean"),
        ("/bye", FIRST, "unknown command '/bye'"),
    ],
)
def test_what_means_nothing_is_told(typed: str, dialogue: Any, problem: str) -> None:
    with pytest.raises(TypedError, match=problem):
        turn_of(typed, SPEC, dialogue)


def test_two_slashes_say_one() -> None:
    assert turn_of("//end it", SPEC, FIRST).says == "/end it"


def test_a_session_with_a_person_is_recorded_like_any() -> None:
    log = MemoryLog()
    scenario = SUITE.get("car_fixed")
    session = Session(
        SessionSpec(scenario), TerminalUser(scenario.user, cast(Terminal, Typed("/confirm", "/end"))), log
    )
    session.begin()
    refused = session.call("send_message_with_phone_number", {"phone_number": "+14155550123", "content": "Hi"})
    anyio.run(session.say, f"May I? {refused.error}")
    anyio.run(session.say, "Thanks.")
    assert log.trajectory().started.user == {"kind": "human", "channel": "terminal"}
    calls = [(event.caller, event.tool) for event in log.events if isinstance(event, ToolCall)]
    assert calls[1:] == [("user", "confirm_action"), ("user", "end_conversation")]
    assert isinstance(log.events[-1], SessionEnded)
    assert log.events[-1].reason == "user_ended"


def test_at_a_pipe_lines_are_read_and_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("Wren.\r\n"))
    terminal = Terminal()
    assert [anyio.run(terminal.ask, "you> "), anyio.run(terminal.ask, "you> ")] == ["Wren.", None]
    seen = capsys.readouterr()
    assert (seen.out, seen.err) == ("", "you> Wren.\nyou> \n")


def test_nobody_to_ask_is_a_fault_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UserError, match="standard input is closed"):
        anyio.run(Terminal().ask, "you> ")


def test_what_is_no_text_is_a_fault_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"caf\xe9\n"), encoding="utf-8"))
    with pytest.raises(UserError, match="what was typed is not utf-8 text"):
        anyio.run(Terminal().ask, "you> ")


def test_a_person_at_a_host_is_asked_by_the_server_alone() -> None:
    user = HostUser(SPEC)
    assert (user.kind, user.describe()) == ("human", {"channel": "elicitation"})
    with pytest.raises(UserError, match="send_message_to_user"):
        anyio.run(user.respond, FIRST)
