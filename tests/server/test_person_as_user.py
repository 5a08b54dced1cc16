"""A person at the client plays the user: asked with a form in both eras, and what becomes of each answer."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

from sandbox_mcp.engine.trajectory import Message, ToolCall
from sandbox_mcp.play.server.lobby.seats import Lobby, ManagedSeat
from sandbox_mcp.play.server.lobby.server import lobby_server
from sandbox_mcp.play.server.mcp_server import server_for
from sandbox_mcp.play.server.person_as_user import LONGEST, question_for
from sandbox_mcp.play.session import SessionSpec
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.session.open_session import OpenSession
from sandbox_mcp.play.session.replay import differences
from sandbox_mcp.play.session.tool_channel import SEND
from sandbox_mcp.play.users.human import HostUser
from tests.each import each
from tests.server.serving_kit import ENVELOPE, ERAS, MODERN, SUITE, RawMcp, recorded, served, text_of

pytestmark = pytest.mark.anyio
each_era = each("era", ERAS)
LATE = SUITE.get("late_for_dinner_low_battery")
ASKED = "Which sister do you mean?"


def with_a_person(manager: SessionManager | None = None, scenario: Any = LATE) -> OpenSession:
    manager = manager or SessionManager(SUITE, batch_window=0)
    return manager.create(SessionSpec(scenario, user_channel="tool"), HostUser(scenario.user))


class Person:
    """Somebody at a client who fills in one form after the other; the last answer is given again and again."""

    def __init__(self, *answers: str | ElicitResult) -> None:
        self.asked: list[Any] = []
        self._answers = [a if isinstance(a, ElicitResult) else says(a) for a in answers]

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        self.asked.append(params)
        return self._answers[min(len(self.asked), len(self._answers)) - 1]


def says(text: str) -> ElicitResult:
    return ElicitResult(action="accept", content={"reply": text})


DECLINED, CANCELLED = ElicitResult(action="decline"), ElicitResult(action="cancel")


async def sent(session: OpenSession, era: str, person: Person | None, *contents: str) -> list[Any]:
    async with Client(server_for(session), mode=era, elicitation_callback=person) as client:
        return [await client.call_tool(SEND, {"content": content}) for content in contents]


def dialogue(session: OpenSession) -> Sequence[tuple[str, str]]:
    heard = (event for event in recorded(session).events if isinstance(event, Message))
    return [(event.sender, event.content) for event in heard if event.sender in ("user", "agent")]


@each_era
async def test_what_the_person_types_is_the_users_reply(era: str) -> None:
    session, person = with_a_person(), Person(" Wren, of course. ")
    (result,) = await sent(session, era, person, ASKED)
    assert result.structured_content == {"reply": "Wren, of course.", "conversation_over": False}
    assert dialogue(session) == [("user", LATE.user.opening), ("agent", ASKED), ("user", "Wren, of course.")]


@each_era
async def test_the_form_shows_the_agents_words_and_what_the_person_wants(era: str) -> None:
    person = Person("Wren.")
    await sent(with_a_person(), era, person, ASKED)
    (asked,) = person.asked
    assert asked.message.startswith(f"The assistant says: {ASKED}\n")
    for text in (LATE.user.opening, LATE.user.goal, *LATE.user.knows, *LATE.user.does_not_know):
        assert text in asked.message
    assert [(name, field["type"]) for name, field in asked.requested_schema["properties"].items()] == [
        ("reply", "string")
    ]


@each_era
async def test_a_conversation_goes_on_until_the_person_leaves(era: str) -> None:
    session = with_a_person()
    results = await sent(session, era, Person("Wren.", "Yes.", "/end"), ASKED, "Shall I?", "Done.", "Hello?")
    assert [result.is_error for result in results] == [False, False, False, True]
    assert results[2].structured_content == {"reply": None, "conversation_over": True}
    assert session.session.ended == "user_ended"
    assert list(differences(recorded(session))) == []


@each_era
async def test_the_log_says_that_a_person_answered_and_where(era: str) -> None:
    session = with_a_person()
    await sent(session, era, Person("Wren.", DECLINED), ASKED, "Done.")
    log = recorded(session)
    assert log.started.user == {"kind": "human", "channel": "elicitation"}
    assert [event.meta for event in log.events if isinstance(event, Message) and event.sender == "user"][1:] == [
        {"channel": "elicitation"}
    ]
    (left,) = (event for event in log.events if isinstance(event, ToolCall))
    assert (left.caller, left.tool, left.meta) == ("user", "end_conversation", {"channel": "elicitation"})


@each_era
async def test_declining_leaves(era: str) -> None:
    session = with_a_person()
    (result,) = await sent(session, era, Person(DECLINED), ASKED)
    assert result.structured_content == {"reply": None, "conversation_over": True}


@each_era
@each(
    "answer",
    [CANCELLED, says(""), says("  "), ElicitResult(action="accept"), ElicitResult(action="accept", content={"x": 1})],
    ids=["cancelled", "empty", "blank", "nothing", "other"],
)
async def test_no_answer_is_told_and_nothing_recorded(era: str, answer: ElicitResult) -> None:
    session = with_a_person()
    (result,) = await sent(session, era, Person(answer), ASKED)
    assert result.is_error
    assert text_of(result).startswith("NoAnswerError: the user has not answered")
    assert dialogue(session) == [("user", LATE.user.opening)]


@each_era
async def test_a_client_that_shows_no_forms_is_told_so(era: str) -> None:
    session = with_a_person()
    (result,) = await sent(session, era, None, ASKED)
    assert result.is_error
    assert text_of(result).startswith("NoPersonError: the user is a person who answers in this client")
    assert dialogue(session) == [("user", LATE.user.opening)]


@each_era
async def test_faulty_calls_ask_nobody(era: str) -> None:
    session, person = with_a_person(), Person("Wren.")
    async with Client(server_for(session), mode=era, elicitation_callback=person) as client:
        result = await client.call_tool(SEND, {"text": "Hi"})
    assert result.is_error
    assert person.asked == []


@each_era
async def test_at_the_limit_of_turns_nobody_is_asked(era: str) -> None:
    session, person = with_a_person(scenario=replace(LATE, max_turns=2)), Person("Wren.")
    first, second = await sent(session, era, person, ASKED, "Shall I?")
    assert first.structured_content["reply"] == "Wren."
    assert second.structured_content == {"reply": None, "conversation_over": True}
    assert len(person.asked) == 1
    assert session.session.ended == "max_turns"


@each_era
async def test_in_the_lobby_the_person_plays_the_user_too(era: str) -> None:
    manager = SessionManager(SUITE, users={"human": lambda scenario: HostUser(scenario.user)}, default_user="human")
    server = lobby_server(SUITE, Lobby(manager, ManagedSeat(manager)))
    async with Client(server, mode=era, elicitation_callback=Person("Wren.")) as client:
        started = (await client.call_tool("start_scenario", {"name": LATE.name})).structured_content
        result = await client.call_tool(SEND, {"content": ASKED})
    assert "a person who answers in forms of this client" in started["instructions"]
    assert "simulated" not in started["instructions"]
    assert result.structured_content["reply"] == "Wren."


async def test_an_answer_counts_once_and_for_its_own_message() -> None:
    async with served() as server:
        session = with_a_person(server.manager)
        raw = await RawMcp(server.http, server.url(session), MODERN).open()
        meta = {**ENVELOPE, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}

        async def call(content: str, **more: Any) -> Any:
            params = {"name": SEND, "arguments": {"content": content}, "_meta": meta, **more}
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            answer = await raw.post(body, {"Mcp-Method": "tools/call", "Mcp-Name": SEND})
            return answer.json()["result"]

        state = (await call(ASKED))["requestState"]
        answer = {"reply": {"action": "accept", "content": {"reply": "Wren."}}}
        other = await call("Something else.", inputResponses=answer, requestState=state)
        first = await call(ASKED, inputResponses=answer, requestState=state)
        again = await call(ASKED, inputResponses=answer, requestState=state)
    assert other["resultType"] == again["resultType"] == "input_required"
    assert first["structuredContent"]["reply"] == "Wren."
    assert dialogue(session)[1:] == [("agent", ASKED), ("user", "Wren.")]


async def over_http(era: str, person: Person, **settings: Any) -> Any:
    async with served(**settings) as server:
        transport = streamable_http_client(server.url(with_a_person(server.manager)), http_client=server.http)
        async with Client(transport, mode=era, elicitation_callback=person) as client:
            return await client.call_tool(SEND, {"content": ASKED})


@each(("era", "streams"), [(MODERN, False), ("legacy", True)])
async def test_over_http_the_person_is_asked(era: str, streams: bool) -> None:
    assert (await over_http(era, Person("Wren."), streams=streams)).structured_content["reply"] == "Wren."


async def test_over_plain_http_an_older_client_is_told_how_it_could_be_asked() -> None:
    person = Person("Wren.")
    result = await over_http("legacy", person)
    assert "can start it with --streams" in text_of(result)
    assert person.asked == []


@each_era
async def test_where_asking_is_switched_off_nobody_is_asked(era: str) -> None:
    person = Person("Wren.")
    async with Client(server_for(with_a_person(), elicits=False), mode=era, elicitation_callback=person) as client:
        result = await client.call_tool(SEND, {"content": ASKED})
    assert (result.is_error, person.asked) == (True, [])


async def test_a_harness_cannot_reach_the_person() -> None:
    session = with_a_person()
    reply = await session.say("Hello?")
    assert (reply.over, reply.reason) == (True, "user_failed")


def test_a_long_message_is_shown_in_part() -> None:
    shown = question_for(with_a_person().session, "x" * 9999)
    assert f"{'x' * LONGEST}... (9999 characters)" in shown
    assert "x" * (LONGEST + 1) not in shown
