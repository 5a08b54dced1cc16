"""Tools over MCP: the same from every side, in both eras; what is refused is an answer, what is lost a fault."""

import json
import socket
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream
from jsonschema import Draft202012Validator
from mcp.types import CallToolResult, TextContent
from sandbox_clients.base import AgentError, ToolOutput, ToolRequest
from sandbox_clients.mcp_tools import McpTarget, compiled_schema, output

from sandbox_mcp.engine.errors import error_line, inner_errors
from sandbox_mcp.engine.tools.results import parsed, unwrapped
from sandbox_mcp.engine.trajectory import ToolCall, to_line
from tests.clients.sessions import LOW_BATTERY, Opened, opened, run
from tests.each import each

WAYS = [("memory", "auto"), ("memory", "legacy"), ("memory", "2026-07-28"), ("http", "legacy"), ("http", "2026-07-28")]
ALL = each(("kind", "era"), [*WAYS, ("direct", "auto")])


def calling(name: str, arguments: Mapping[str, Any] | str, kind: Any, era: Any) -> tuple[Any, Opened]:
    async def work() -> tuple[Any, Opened]:
        async with opened(kind=kind, era=era) as session, session.target.connect() as tools:
            return await tools.call(name, arguments), session

    return run(work)


@ALL
def test_tools_are_listed_with_their_schemas(kind: Any, era: Any) -> None:
    async def work() -> Any:
        async with opened(kind=kind, era=era) as session, session.target.connect() as tools:
            return await tools.list()

    (tool,) = run(work)
    assert tool.name == "set_wifi_status"
    assert tool.description
    assert tool.input_schema["required"] == ["on"]


@ALL
def test_a_call_acts_and_its_value_is_unwrapped(kind: Any, era: Any) -> None:
    output, session = calling("set_wifi_status", {"on": False}, kind, era)
    assert (output.text, output.value, output.is_error) == ('{"result":null}', None, False)
    assert session.calls[0].changes


def test_clients_share_what_they_check_results_by_and_still_check() -> None:
    """A server whose third result breaks its schema is found out by a client that has compiled nothing itself."""
    from mcp.server import Server
    from mcp.types import CallToolResult as Result
    from mcp.types import ListToolsResult, Tool

    schema = {"type": "object", "properties": {"result": {"type": "integer"}}, "required": ["result"]}
    values = iter([1, 1, "two"])

    async def list_tools(*_: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name="count", input_schema={"type": "object"}, output_schema=schema)])

    async def call_tool(*_: Any) -> Result:
        value = {"result": next(values)}
        return Result(content=[TextContent(type="text", text=json.dumps(value))], structured_content=value)

    server = Server("counting", on_list_tools=list_tools, on_call_tool=call_tool)

    async def work(*, lists: bool) -> ToolOutput:
        async with McpTarget(server).connect() as tools:
            if lists:
                await tools.list()
            return await tools.call("count", {})

    before = compiled_schema.cache_info()
    whole = Draft202012Validator.check_schema
    with patch.object(Draft202012Validator, "check_schema", wraps=whole) as compiling:
        assert run(lambda: work(lists=True)).value == 1
        assert run(lambda: work(lists=False)).value == 1
        with pytest.raises(AgentError, match="Invalid structured content"):
            run(lambda: work(lists=False))
    after = compiled_schema.cache_info()
    assert (after.misses - before.misses, after.hits - before.hits) == (1, 2)
    assert compiling.call_count == 1


@ALL
def test_a_refusal_is_an_answer_with_its_reason(kind: Any, era: Any) -> None:
    output, session = calling("set_wifi_status", {"on": True}, kind, era)
    assert output.is_error
    assert output.text.startswith("ValueError: ")
    assert session.calls[0].error is not None


@ALL
@each("name", ["no_such_tool", "tool with spaces", "tööl"])
def test_an_unknown_tool_is_an_answer(name: str, kind: Any, era: Any) -> None:
    output, session = calling(name, {}, kind, era)
    assert output.text.startswith("UnknownToolError: ")
    assert [(call.name, call.tool) for call in session.calls] == [(name, None)]


@ALL
@each("text", ['{"on": fal', "off", "[1]", '"off"', "7", [False], 7, {False}])
def test_what_is_no_object_reaches_the_session_as_it_was_written(text: Any, kind: Any, era: Any) -> None:
    output, session = calling("set_wifi_status", text, kind, era)
    (call,) = session.calls
    assert output.text.startswith("ArgumentFormatError: ")
    assert call.error is not None
    assert (call.error.kind, call.arguments) == ("invalid_format", {})
    assert call.raw_arguments


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


ODD: dict[str, tuple[str, Any]] = {
    "half a letter in a value": ("set_wifi_status", {"on": "a\ud800"}),
    "half a letter in a name": ("set_wifi_status", {"o\ud800": False}),
    "half a letter in text": ("set_wifi_status", '{"on": "\ud800"'),
    "half a letter in text that is JSON": ("set_wifi_status", '{"on": "\ud800"}'),
    "half a letter in the tool's name": ("set\ud800wifi", {"on": False}),
    "deeper than the protocol's own client goes": ("set_wifi_status", {"on": nested(300)}),
    "deeper than Python goes": ("set_wifi_status", {"on": nested(20_000)}),
    "longer than a request may be": ("set_wifi_status", {"on": "x" * 3_000_000}),
    "not a number": ("set_wifi_status", {"on": float("nan")}),
    "no end of digits": ("set_wifi_status", {"on": 10**5000}),
    "a name that is a number": ("set_wifi_status", {3: 4, "on": False}),
    "a set": ("set_wifi_status", {"on": {1}}),
    "bytes": ("set_wifi_status", {"on": b"x"}),
    "an object of Python": ("set_wifi_status", {"on": print}),
    "what cannot be copied": ("set_wifi_status", {"on": threading.Lock()}),
}


@each(("kind", "era"), WAYS)
@each("odd", ODD)
def test_what_no_wire_takes_is_told_and_recorded_as_without_one(odd: str, kind: Any, era: Any) -> None:
    output, session = calling(*ODD[odd], kind, era)
    direct, without = calling(*ODD[odd], "direct", "auto")
    assert output == direct
    assert [lines_of(call) for call in session.calls] == [lines_of(call) for call in without.calls]


def lines_of(call: ToolCall) -> str:
    return to_line(replace(call, wall={}))


@ALL
def test_calls_made_together_are_one_batch(kind: Any, era: Any) -> None:
    requests = [
        ToolRequest("set_low_battery_mode_status", {"on": False}),
        ToolRequest("search_contacts", {"name": "Wren"}),
        ToolRequest("set_cellular_service_status", {"on": True}),
    ]

    async def work() -> Any:
        async with opened(LOW_BATTERY, kind, era) as session, session.target.connect() as tools:
            return await tools.call_together(requests), session.calls

    outputs, calls = run(work)
    assert len({call.batch for call in calls}) == 1
    assert outputs[1].value[0]["name"] == "Wren Okafor"
    assert outputs[2].is_error, "the two settings race, and races are lost"


@ALL
def test_calls_made_one_after_the_other_are_no_batch(kind: Any, era: Any) -> None:
    async def work() -> Any:
        async with opened(LOW_BATTERY, kind, era) as session, session.target.connect() as tools:
            await tools.call("set_low_battery_mode_status", {"on": False})
            last = await tools.call("set_cellular_service_status", {"on": True})
            return last, session.calls

    last, calls = run(work)
    assert not last.is_error
    assert len({call.batch for call in calls}) == 2


def test_a_url_that_nobody_serves_is_a_fault_that_names_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/s/x/mcp"
    with pytest.raises(AgentError, match=f"cannot reach the tools at {url}"):
        run(lambda: listing(McpTarget(url)))


async def pass_on(one: SocketStream, other: SocketStream) -> None:
    async for data in one:
        await other.send(data)


def test_a_server_that_has_gone_is_a_fault_as_well() -> None:
    """The server is reached through a door, which is shut once the tools are connected."""

    async def work() -> None:
        shut = anyio.CancelScope()
        async with opened(kind="http") as session, anyio.create_task_group() as serving:
            server = urlsplit(str(session.target.url))
            door = await anyio.create_tcp_listener(local_host="127.0.0.1")
            port = door.extra(SocketAttribute.local_port)
            target = McpTarget(server._replace(netloc=f"127.0.0.1:{port}").geturl(), session.target.headers)

            async def through(near: SocketStream) -> None:
                far = await anyio.connect_tcp("127.0.0.1", server.port or 0)
                async with near, far, anyio.create_task_group() as both:
                    both.start_soon(pass_on, near, far)
                    both.start_soon(pass_on, far, near)

            async def serve() -> None:
                with shut:
                    async with door:
                        await door.serve(through)

            async def lost() -> None:
                async with target.connect() as tools:
                    shut.cancel()
                    await tools.call("set_wifi_status", {"on": False})

            serving.start_soon(serve)
            with pytest.raises(AgentError, match=rf"cannot reach the tools at {target.url}: \w+Error"):
                await lost()

    run(work)


def test_a_session_that_does_not_exist_is_a_fault() -> None:
    async def work() -> None:
        async with opened(kind="http") as session:
            url = str(session.target.url).replace(session.session.token, "unknown")
            with pytest.raises(AgentError, match="cannot reach the tools"):
                await listing(McpTarget(url, session.target.headers))

    run(work)


def test_the_bearer_of_the_session_is_needed_and_sent() -> None:
    async def work() -> None:
        async with opened(kind="http") as session:
            assert len(await listing(session.target)) == 1
            with pytest.raises(AgentError, match="cannot reach the tools"):
                await listing(McpTarget(str(session.target.url)))

    run(work)


async def listing(target: Any) -> Any:
    async with target.connect() as tools:
        return await tools.list()


@each(
    ("text", "value"),
    [
        ('{"result": [1, 2]}', [1, 2]),
        ('{"a": 1, "result": 2}', {"a": 1, "result": 2}),
        ('{"result": 7, "notices": ["The timer has gone off."]}', 7),
        ('{"a": 1, "notices": ["The timer has gone off."]}', {"a": 1, "notices": ["The timer has gone off."]}),
        ("3.5", 3.5),
        ("no JSON", "no JSON"),
        ("", ""),
    ],
)
def test_the_value_in_a_text(text: str, value: Any) -> None:
    assert parsed(text) == value


def test_text_nested_too_deeply_for_any_parser_stands_for_itself() -> None:
    assert parsed("[" * 100_000) == "[" * 100_000


def test_only_the_wrapper_is_taken_off() -> None:
    assert unwrapped({"result": {"result": 1}}) == {"result": 1}
    assert unwrapped(5) == 5


def test_a_result_without_structured_content_is_read_from_its_text() -> None:
    result = CallToolResult(content=[TextContent(type="text", text='{"result":'), TextContent(type="text", text="7}")])
    assert output(result).value == 7


def test_exceptions_are_found_inside_groups() -> None:
    inner = ValueError("first line\nsecond line")
    group = ExceptionGroup("outer", [ExceptionGroup("middle", [inner])])
    assert inner_errors(group) == [inner]
    assert error_line(inner) == "ValueError: first line"
    assert error_line(KeyError()) == "KeyError: no details"
