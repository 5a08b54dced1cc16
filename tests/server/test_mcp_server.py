"""One session over MCP, in memory: what is offered, what comes back, and that nothing ends a client's run."""

import json
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp_types import CallToolResult, TextContent
from mcp_types import methods as sdk
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from sandbox_mcp.engine.trajectory import Message, ToolCall
from sandbox_mcp.engine.worlds import default
from sandbox_mcp.engine.worlds.phone import phone
from sandbox_mcp.play.server.mcp_server import listed, name_in, server_for, wire_result
from sandbox_mcp.play.session import CallResult
from sandbox_mcp.play.users.composing import THANKS
from tests.each import each
from tests.server.serving_kit import ERAS, LEGACY, MODERN, opened, recorded, text_of

pytestmark = pytest.mark.anyio
each_era = each("era", ERAS)


@each_era
async def test_a_session_offers_its_presented_tools_unchanged(era: str) -> None:
    session = opened(variant="all_tools")
    async with Client(server_for(session), mode=era) as client:
        tools = (await client.list_tools()).tools
    presented = session.session.tools
    assert [tool.name for tool in tools] == list(presented)
    assert {tool.name: tool.input_schema for tool in tools} == {name: item.schema for name, item in presented.items()}
    assert {tool.name: tool.description for tool in tools} == {n: item.description for n, item in presented.items()}


@each_era
async def test_a_variant_is_what_the_client_sees(era: str) -> None:
    session = opened("late_for_dinner_low_battery", variant="tool_name_scrambled")
    async with Client(server_for(session), mode=era) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
    assert names == set(session.session.tools)
    assert not names & set(phone.agent_tools)


@each_era
async def test_annotations_say_which_tools_act(era: str) -> None:
    async with Client(server_for(opened(variant="all_tools")), mode=era) as client:
        tools = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
    look, act, destroy = tools["get_wifi_status"], tools["set_wifi_status"], tools["remove_contact"]
    assert look
    assert act
    assert destroy
    assert (look.read_only_hint, look.idempotent_hint, look.destructive_hint) == (True, True, False)
    assert (act.read_only_hint, act.idempotent_hint, act.destructive_hint) == (False, False, False)
    assert destroy.destructive_hint
    assert not any(hints.open_world_hint for hints in tools.values() if hints)


@each_era
async def test_a_result_is_structured_and_its_text_says_exactly_the_same(era: str) -> None:
    async with Client(server_for(opened(variant="all_tools")), mode=era) as client:
        for name, arguments in (
            ("get_wifi_status", {}),
            ("set_wifi_status", {"on": False}),
            ("search_contacts", {"relationship": "friend"}),
            ("timestamp_to_datetime_info", {"timestamp": 1747405800}),
        ):
            result = await client.call_tool(name, arguments)
            compact = json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":"))
            assert not result.is_error
            assert text_of(result) == compact


@each(
    ("name", "arguments", "text"),
    [
        ("set_wif_status", {"on": False}, "UnknownToolError: there is no tool"),
        ("set_wifi_status", {}, "MissingArgumentError"),
        ("set_wifi_status", {"on": "no"}, "ArgumentTypeError"),
        ("set_wifi_status", {"off": True}, "ArgumentNameError"),
        ("set_wifi_status", {"on": True}, "ValueError: wifi is already on"),
    ],
)
@each_era
async def test_a_fault_is_a_result_and_the_client_can_go_on(
    era: str, name: str, arguments: dict[str, Any], text: str
) -> None:
    async with Client(server_for(opened()), mode=era) as client:
        fault = await client.call_tool(name, arguments)
        assert fault.is_error
        assert text_of(fault).startswith(text)
        assert fault.structured_content is None
        assert not (await client.call_tool("set_wifi_status", {"on": False})).is_error


@each_era
async def test_a_session_that_is_over_says_so_in_a_result(era: str) -> None:
    session = opened()
    await session.end("abandoned")
    async with Client(server_for(session), mode=era) as client:
        result = await client.call_tool("set_wifi_status", {"on": False})
    assert result.is_error
    assert text_of(result).startswith("SessionOverError")


@each_era
async def test_with_a_harness_there_are_tools_and_nothing_else(era: str) -> None:
    async with Client(server_for(opened()), mode="auto" if era == MODERN else era) as client:
        assert client.protocol_version == (MODERN if era == MODERN else LEGACY)
        capabilities = client.server_capabilities
        assert capabilities.tools is not None
        assert capabilities.completions is None
        assert client.instructions == default().briefing


@each_era
async def test_a_cursor_that_was_not_given_out_is_refused(era: str) -> None:
    async with Client(server_for(opened()), mode=era) as agent:
        for lists in (agent.list_tools, agent.list_prompts, agent.list_resources, agent.list_resource_templates):
            assert await lists(cursor="", cache_mode="bypass")
            with pytest.raises(MCPError, match="there is no such page"):
                await lists(cursor="second", cache_mode="bypass")


@each_era
async def test_of_what_there_is_none_there_are_empty_lists_that_never_change(era: str) -> None:
    async with Client(server_for(opened()), mode="auto" if era == MODERN else era) as client:
        prompts, resources = client.server_capabilities.prompts, client.server_capabilities.resources
        assert (await client.list_prompts()).prompts == []
        assert (await client.list_resources()).resources == []
        assert (await client.list_resource_templates()).resource_templates == []
    assert prompts
    assert resources
    assert not any((prompts.list_changed, resources.list_changed, resources.subscribe))


@each_era
async def test_what_is_not_in_a_list_cannot_be_had(era: str) -> None:
    async with Client(server_for(opened()), mode=era) as client:
        with pytest.raises(MCPError, match="there is no prompt 'wifi_off'"):
            await client.get_prompt("wifi_off")
        with pytest.raises(MCPError, match="there is no resource 'world://notices'"):
            await client.read_resource("world://notices")


@each_era
async def test_with_the_tool_channel_the_agent_speaks_through_a_tool(era: str) -> None:
    session = opened(user_channel="tool")
    async with Client(server_for(session), mode=era) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        asked = await client.call_tool("send_message_to_user", {"content": "Shall I turn off the wifi?"})
        await client.call_tool("set_wifi_status", {"on": False})
        told = await client.call_tool("send_message_to_user", {"content": "Wifi is off."})
        late = await client.call_tool("send_message_to_user", {"content": "Anything else?"})
    assert names == ["set_wifi_status", "send_message_to_user"]
    assert asked.structured_content == {"reply": "Yes, please.", "conversation_over": False}
    assert told.structured_content["conversation_over"]
    assert told.structured_content["reply"] in THANKS
    assert late.is_error
    assert "over" in text_of(late)


@each_era
async def test_what_is_said_with_the_tool_is_recorded_as_a_message(era: str) -> None:
    session = opened(user_channel="tool")
    async with Client(server_for(session), mode=era) as client:
        await client.call_tool("send_message_to_user", {"content": "Wifi is off."})
    log = recorded(session)
    said = [event for event in log.events if isinstance(event, Message) and event.sender == "agent"]
    assert [(message.content, message.meta) for message in said] == [("Wifi is off.", {"channel": "tool"})]
    assert not [event for event in log.events if isinstance(event, ToolCall) and event.caller == "agent"]
    assert log.started.user_channel == "tool"


@each(
    ("arguments", "kind"),
    [({}, "missing_argument"), ({"content": 1}, "wrong_type"), ({"text": "hi"}, "unknown_argument")],
)
@each_era
async def test_faulty_messages_are_recorded_as_calls(era: str, arguments: dict[str, Any], kind: str) -> None:
    session = opened(user_channel="tool")
    async with Client(server_for(session), mode=era) as client:
        assert (await client.call_tool("send_message_to_user", arguments)).is_error
    (call,) = [event for event in recorded(session).events if isinstance(event, ToolCall)]
    assert call.error
    assert (call.tool, call.error.kind) == ("send_message_to_user", kind)


@each_era
async def test_the_tool_is_unknown_where_a_harness_speaks(era: str) -> None:
    async with Client(server_for(opened()), mode=era) as client:
        result = await client.call_tool("send_message_to_user", {"content": "hello"})
    assert text_of(result).startswith("UnknownToolError")


@each_era
async def test_calls_sent_together_are_one_batch_and_lose_their_race(era: str) -> None:
    session = opened(variant="all_tools", window=0.3)
    async with Client(server_for(session), mode=era) as client, anyio.create_task_group() as together:
        together.start_soon(client.call_tool, "set_wifi_status", {"on": False})
        together.start_soon(client.call_tool, "get_wifi_status", {})
    calls = [event for event in recorded(session).events if isinstance(event, ToolCall)]
    assert len({call.batch for call in calls}) == 1
    assert next(call.result for call in calls if call.name == "get_wifi_status") is True  # the stale answer


@each_era
async def test_calls_one_after_the_other_are_batches_of_one(era: str) -> None:
    session = opened(variant="all_tools")
    async with Client(server_for(session), mode=era) as client:
        await client.call_tool("set_wifi_status", {"on": False})
        await client.call_tool("get_wifi_status", {})
    calls = [event for event in recorded(session).events if isinstance(event, ToolCall)]
    assert len({call.batch for call in calls}) == 2
    assert calls[-1].result is False


@each_era
async def test_the_list_is_the_sdks_own_and_the_second_time_as_well(era: str) -> None:
    session = opened(variant="all_tools")
    async with Client(server_for(session), mode=era) as client:
        first = await client.list_tools(cache_mode="bypass")
        second = await client.list_tools(cache_mode="bypass")
    assert first.tools == second.tools == [listed(tool) for tool in session.session.tools.values()]


@each("result", [CallResult({"result": None}), CallResult({"a": [1, None]}), CallResult({}, "No")])
@each("version", KNOWN_PROTOCOL_VERSIONS)
@each_era
async def test_the_form_of_a_result_is_what_the_sdk_makes_of_it(era: str, result: CallResult, version: str) -> None:
    """Calls are answered before the SDK's own serialisation; this holds the two together."""
    content: list[Any] = [TextContent(text=result.text)]
    structured = None if result.error else result.structured
    own = CallToolResult(content=content, structured_content=structured, is_error=result.error is not None)
    theirs = sdk.serialize_server_result("tools/call", version, own.model_dump(by_alias=True, exclude_none=True))
    ours = wire_result(result, {"stamp": 1} if version in MODERN_PROTOCOL_VERSIONS else None)
    assert {key: value for key, value in ours.items() if key != "_meta"} == theirs


@each(("sent", "name"), [("a", "a"), (None, "null"), (3, "3"), ("\ud800", "?"), (["x"], '["x"]')])
@each_era
async def test_any_name_becomes_text_that_a_log_can_hold(era: str, sent: object, name: str) -> None:
    assert name_in(sent) == name
