"""Confirmation by elicitation: who is asked, and what comes of every answer, in memory and over HTTP."""

import dataclasses
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import (
    ClientCapabilities,
    ElicitationCapability,
    ElicitResult,
    ErrorData,
    FormElicitationCapability,
    UrlElicitationCapability,
)
from mcp_types import methods as sdk

from sandbox_mcp.engine.trajectory import ToolCall
from sandbox_mcp.play.server.confirming import LONGEST, ConfirmationQuestion, has_forms, means_yes, message_for
from sandbox_mcp.play.server.lobby.seats import Lobby, ManagedSeat
from sandbox_mcp.play.server.lobby.server import lobby_server
from sandbox_mcp.play.server.mcp_server import server_for
from sandbox_mcp.play.session import AgentCall, SessionSpec
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.session.open_session import OpenSession
from sandbox_mcp.play.session.replay import differences
from sandbox_mcp.play.users import ScriptedUser
from tests.each import each
from tests.server.serving_kit import ENVELOPE, ERAS, MODERN, SUITE, RawMcp, Served, recorded, served, text_of

pytestmark = pytest.mark.anyio
each_era = each("era", ERAS)
GUARDED = dataclasses.replace(
    SUITE.get("wifi_off"),
    name="guarded",
    tools=("set_wifi_status", "get_wifi_status", "set_timer"),
    confirm=("set_wifi_status",),
    max_turns=200,
)
OFF = {"on": False}


def guarded(channel: Any = "tool", manager: SessionManager | None = None, **spec: Any) -> OpenSession:
    manager = manager or SessionManager(SUITE, batch_window=0)
    user = ScriptedUser(GUARDED.user.script)
    return manager.create(SessionSpec(GUARDED, user_channel=channel, **spec), user)


class Person:
    """Somebody at a client who is asked, and always answers the same."""

    def __init__(self, action: Any = "accept", content: dict[str, Any] | None = None) -> None:
        self.asked: list[Any] = []
        self._answer = ElicitResult(action=action, content=content)

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        self.asked.append(params)
        return self._answer


def willing() -> Person:
    return Person("accept", {"confirm": True})


def calls_in(session: OpenSession) -> list[tuple[str, str | None, str | None]]:
    return [
        (event.caller, event.tool, event.error.type if event.error else None)
        for event in recorded(session).events
        if isinstance(event, ToolCall)
    ]


REFUSED = ("agent", "set_wifi_status", "ConfirmationRequiredError")
CONFIRMED = ("user", "confirm_action", None)
DONE = ("agent", "set_wifi_status", None)


@each_era
async def test_a_person_who_agrees_lets_the_call_go_through_at_once(era: str) -> None:
    session, person = guarded(), willing()
    async with Client(server_for(session), mode=era, elicitation_callback=person) as client:
        result = await client.call_tool("set_wifi_status", OFF)
    assert not result.is_error
    assert len(person.asked) == 1
    assert calls_in(session) == [REFUSED, CONFIRMED, DONE]


@each_era
async def test_the_log_says_how_the_user_confirmed_and_replays(era: str) -> None:
    session = guarded()
    async with Client(server_for(session), mode=era, elicitation_callback=willing()) as client:
        await client.call_tool("set_wifi_status", OFF)
    log = recorded(session)
    refused, confirmed, _ = (event for event in log.events if isinstance(event, ToolCall))
    assert confirmed.meta == {"channel": "elicitation"}
    assert confirmed.arguments == {"code": refused.meta["confirmation"]}
    assert list(differences(log)) == []


@each_era
async def test_the_person_sees_the_call_and_one_box_to_tick(era: str) -> None:
    person = willing()
    async with Client(server_for(guarded()), mode=era, elicitation_callback=person) as client:
        await client.call_tool("set_wifi_status", OFF)
    (asked,) = person.asked
    assert asked.message == 'The assistant wants to call set_wifi_status with {"on": false}. Shall it?'
    assert [(name, field["type"]) for name, field in asked.requested_schema["properties"].items()] == [
        ("confirm", "boolean")
    ]


@each_era
@each(
    "person",
    [Person("decline"), Person("cancel"), Person("accept", {"confirm": False}), Person("accept", {}), Person("accept")],
    ids=["declined", "cancelled", "unticked", "empty", "nothing"],
)
async def test_whatever_is_no_plain_yes_leaves_the_refusal(era: str, person: Person) -> None:
    session = guarded()
    async with Client(server_for(session), mode=era, elicitation_callback=person) as client:
        result = await client.call_tool("set_wifi_status", OFF)
    assert result.is_error
    assert text_of(result).startswith("ConfirmationRequiredError: the user must confirm this first")
    assert calls_in(session) == [REFUSED]


@each_era
async def test_after_a_refusal_the_simulated_user_can_still_confirm(era: str) -> None:
    session = guarded()
    async with Client(server_for(session), mode=era, elicitation_callback=Person("decline")) as client:
        code = text_of(await client.call_tool("set_wifi_status", OFF)).partition("the code ")[2].split(",")[0]
        await client.call_tool("send_message_to_user", {"content": f"Shall I turn off the wifi? {code}"})
        assert not (await client.call_tool("set_wifi_status", OFF)).is_error
    assert calls_in(session) == [REFUSED, CONFIRMED, DONE]


@each_era
async def test_every_call_is_asked_about_anew(era: str) -> None:
    session, person = guarded(), willing()
    async with Client(server_for(session), mode=era, elicitation_callback=person) as client:
        for on in (False, True):
            await client.call_tool("set_wifi_status", {"on": on})
        await client.call_tool("set_wifi_status", OFF)
    assert len(person.asked) == 3
    assert calls_in(session) == [REFUSED, CONFIRMED, DONE] * 3


@each_era
async def test_calls_that_need_no_confirmation_ask_nobody(era: str) -> None:
    person = willing()
    async with Client(server_for(guarded()), mode=era, elicitation_callback=person) as client:
        assert not (await client.call_tool("get_wifi_status", {})).is_error
        assert (await client.call_tool("set_wifi_status", {"on": "no"})).is_error
    assert person.asked == []


@each_era
async def test_where_a_harness_speaks_nobody_is_asked(era: str) -> None:
    session, person = guarded("harness"), willing()
    async with Client(server_for(session), mode=era, elicitation_callback=person) as client:
        assert (await client.call_tool("set_wifi_status", OFF)).is_error
    assert person.asked == []
    assert calls_in(session) == [REFUSED]


@each_era
async def test_it_can_be_switched_off(era: str) -> None:
    person = willing()
    async with Client(server_for(guarded(), elicits=False), mode=era, elicitation_callback=person) as client:
        assert (await client.call_tool("set_wifi_status", OFF)).is_error
    assert person.asked == []


@each_era
async def test_a_client_that_cannot_ask_gets_the_refusal(era: str) -> None:
    async with Client(server_for(guarded()), mode=era) as client:
        assert text_of(await client.call_tool("set_wifi_status", OFF)).startswith("ConfirmationRequiredError")


async def test_a_client_that_fails_to_ask_gets_the_refusal() -> None:
    async def broken(context: Any, params: Any) -> ErrorData:
        return ErrorData(code=-32603, message="no window")

    async with Client(server_for(guarded()), mode="legacy", elicitation_callback=broken) as client:
        assert text_of(await client.call_tool("set_wifi_status", OFF)).startswith("ConfirmationRequiredError")


@each_era
async def test_in_the_lobby_the_person_is_asked_as_well(era: str) -> None:
    manager, begun, person = SessionManager(SUITE, batch_window=0), list[OpenSession](), willing()
    server = lobby_server(manager.suite, Lobby(manager, ManagedSeat(manager), begun.append))
    message = {"phone_number": "+14155550123", "content": "Your car is fixed."}
    async with Client(server, mode=era, elicitation_callback=person) as client:
        await client.call_tool("start_scenario", {"name": "car_fixed"})
        assert not (await client.call_tool("send_message_with_phone_number", message)).is_error
    assert len(person.asked) == 1
    assert [event[0] for event in calls_in(begun[0])] == ["agent", "user", "agent"]


@each_era
async def test_what_was_announced_with_the_refusal_is_told_with_the_result(era: str) -> None:
    session = guarded()
    async with Client(server_for(session), mode=era, elicitation_callback=willing()) as client:
        await client.call_tool("set_timer", {"seconds": 1, "label": "tea"})
        result = await client.call_tool("set_wifi_status", OFF)
    assert result.structured_content
    assert result.structured_content["notices"] == ["The timer 'tea' has gone off."]


@each_era
async def test_an_answer_that_comes_after_the_end_does_nothing(era: str) -> None:
    session = guarded()

    async def late(context: Any, params: Any) -> ElicitResult:
        await session.end("abandoned")
        return ElicitResult(action="accept", content={"confirm": True})

    async with Client(server_for(session), mode=era, elicitation_callback=late) as client:
        assert text_of(await client.call_tool("set_wifi_status", OFF)).startswith("SessionOverError")
    assert calls_in(session) == [REFUSED]


@each_era
async def test_meanwhile_other_calls_are_answered(era: str) -> None:
    session = guarded()

    async def busy(context: Any, params: Any) -> ElicitResult:
        assert (await session.call("get_wifi_status", {})).structured == {"result": True}
        return ElicitResult(action="accept", content={"confirm": True})

    async with Client(server_for(session), mode=era, elicitation_callback=busy) as client:
        with anyio.fail_after(20):
            assert not (await client.call_tool("set_wifi_status", OFF)).is_error
    assert calls_in(session) == [REFUSED, ("agent", "get_wifi_status", None), CONFIRMED, DONE]


@each_era
async def test_an_action_in_free_text_is_confirmed_alike(era: str) -> None:
    session, person = guarded(variant="text_actions"), willing()
    async with Client(server_for(session), mode=era, elicitation_callback=person) as client:
        result = await client.call_tool("act", {"action": "set_wifi_status(on=false)"})
    assert not result.is_error
    assert "set_wifi_status(on=false)" in person.asked[0].message


async def test_over_http_the_newer_protocol_asks(server: Served) -> None:
    session, person = guarded(manager=server.manager), willing()
    transport = streamable_http_client(server.url(session), http_client=server.http)
    async with Client(transport, mode=MODERN, elicitation_callback=person) as client:
        assert not (await client.call_tool("set_wifi_status", OFF)).is_error
    assert calls_in(session) == [REFUSED, CONFIRMED, DONE]


async def test_over_http_the_older_protocol_cannot_carry_a_question_and_says_so_at_once(server: Served) -> None:
    session, person = guarded(manager=server.manager), willing()
    transport = streamable_http_client(server.url(session), http_client=server.http)
    async with Client(transport, mode="legacy", elicitation_callback=person) as client:
        assert text_of(await client.call_tool("set_wifi_status", OFF)).startswith("ConfirmationRequiredError")
    assert person.asked == []


async def test_over_http_with_streams_the_older_protocol_asks_as_well() -> None:
    async with served(streams=True) as server:
        session, person = guarded(manager=server.manager), willing()
        transport = streamable_http_client(server.url(session), http_client=server.http)
        async with Client(transport, mode="legacy", elicitation_callback=person) as client:
            assert not (await client.call_tool("set_wifi_status", OFF)).is_error
    assert calls_in(session) == [REFUSED, CONFIRMED, DONE]


async def test_over_http_it_can_be_switched_off() -> None:
    async with served(elicits=False) as server:
        session, person = guarded(manager=server.manager), willing()
        transport = streamable_http_client(server.url(session), http_client=server.http)
        async with Client(transport, mode=MODERN, elicitation_callback=person) as client:
            assert (await client.call_tool("set_wifi_status", OFF)).is_error
    assert person.asked == []


class Claims:
    """A client of the newer protocol that may claim anything about what a person said."""

    def __init__(self, server: Served, session: OpenSession) -> None:
        self._raw = RawMcp(server.http, server.url(session), MODERN)

    async def call(self, arguments: Any, **more: Any) -> dict[str, Any]:
        meta: dict[str, Any] = {**ENVELOPE, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}
        params: dict[str, Any] = {"name": "set_wifi_status", "arguments": arguments, "_meta": meta, **more}
        body: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = await self._raw.post(body, {"Mcp-Method": "tools/call", "Mcp-Name": "set_wifi_status"})
        return answer.json()["result"]


YES = {"confirm": {"action": "accept", "content": {"confirm": True}}}


async def test_an_answer_is_good_for_the_call_it_was_asked_about(server: Served) -> None:
    session = guarded(manager=server.manager)
    client = Claims(server, session)
    state = (await client.call(OFF))["requestState"]
    other = await client.call({"on": True}, requestState=state, inputResponses=YES)
    assert other["resultType"] == "input_required"
    assert (await client.call(OFF, requestState=state, inputResponses=YES))["isError"] is False
    assert calls_in(session) == [REFUSED, REFUSED, CONFIRMED, DONE]


async def test_an_answer_is_good_once(server: Served) -> None:
    session = guarded(manager=server.manager)
    client = Claims(server, session)
    state = (await client.call(OFF))["requestState"]
    await client.call(OFF, requestState=state, inputResponses=YES)
    assert (await client.call(OFF, requestState=state, inputResponses=YES))["resultType"] == "input_required"


async def test_an_answer_belongs_to_its_session(server: Served) -> None:
    mine, theirs = guarded(manager=server.manager), guarded(manager=server.manager)
    state = (await Claims(server, mine).call(OFF))["requestState"]
    stolen = await Claims(server, theirs).call(OFF, requestState=state, inputResponses=YES)
    assert stolen["resultType"] == "input_required"
    assert calls_in(theirs) == [REFUSED]


@each("state", [None, "OK-000000", "", 7, [], {}])
@each("responses", [YES, {}, None, [], "yes", {"confirm": True}])
async def test_an_answer_to_nothing_counts_for_nothing(server: Served, state: Any, responses: Any) -> None:
    session = guarded(manager=server.manager)
    result = await Claims(server, session).call(OFF, requestState=state, inputResponses=responses)
    assert result["resultType"] == "input_required"
    assert calls_in(session) == [REFUSED]


@each("responses", [None, [], "yes", {"confirm": True}, {"confirm": {"action": "accept"}}])
async def test_an_answer_without_form_is_no(server: Served, responses: Any) -> None:
    client = Claims(server, guarded(manager=server.manager))
    state = (await client.call(OFF))["requestState"]
    result = await client.call(OFF, requestState=state, inputResponses=responses)
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("ConfirmationRequiredError")


async def test_the_form_of_a_question_is_what_the_sdk_makes_of_it() -> None:
    ours = ConfirmationQuestion("Shall it?", "state").wire({"stamp": 1})
    theirs = sdk.serialize_server_result("tools/call", MODERN, dict(ours))
    assert theirs == ours


@given(st.sampled_from(["accept", "decline", "cancel", None, 1]), st.one_of(st.none(), st.booleans(), st.text()))
def test_only_a_ticked_box_that_was_sent_off_means_yes(action: object, ticked: object) -> None:
    assert means_yes(action, {"confirm": ticked}) is (action == "accept" and ticked is True)


@given(st.integers(0, 2 * LONGEST))
def test_a_long_call_is_shortened_and_says_so(size: int) -> None:
    message = message_for(AgentCall("set_wifi_status", {"on": "x" * size}))
    assert len(message) < LONGEST + 120
    assert ("characters)" in message) is (size + len('{"on": ""}') > LONGEST)


@each(
    ("elicitation", "can"),
    [
        (None, False),
        (ElicitationCapability(), True),
        (ElicitationCapability(form=FormElicitationCapability()), True),
        (ElicitationCapability(url=UrlElicitationCapability()), False),
    ],
)
def test_a_client_can_show_a_form_unless_it_says_otherwise(elicitation: Any, can: bool) -> None:
    assert has_forms(ClientCapabilities(elicitation=elicitation)) is can
    assert not has_forms(None)
