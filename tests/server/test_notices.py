"""What the phone has announced, as a resource: who is offered it, what it says, and who is told when there is more."""

import asyncio
import dataclasses
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio.abc import TaskStatus
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ResourceUpdated
from mcp_types import (
    METHOD_NOT_FOUND,
    EmptyResult,
    ResourceUpdatedNotification,
    SubscribeRequest,
    SubscribeRequestParams,
    UnsubscribeRequest,
    UnsubscribeRequestParams,
)

from sandbox_mcp.play.server.mcp_server import server_for
from sandbox_mcp.play.server.notices import MOST, URI, offered_to
from sandbox_mcp.play.session import SessionSpec
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.session.open_session import OpenSession
from sandbox_mcp.play.session.state_folder import StateDir
from sandbox_mcp.play.users import ScriptedUser
from tests.each import each
from tests.server.serving_kit import ENVELOPE, ERAS, MODERN, SUITE, RawMcp, Served, opened

pytestmark = pytest.mark.anyio
each_era = each("era", ERAS)
TEA = "The timer 'tea' has gone off."
TIMED = dataclasses.replace(
    SUITE.get("wifi_off"),
    name="timed",
    tools=("set_timer", "list_timers", "cancel_timer", "wait"),
    max_turns=1000,
    max_calls=500,
)


def timed(manager: SessionManager | None = None, **spec: Any) -> OpenSession:
    manager = manager or SessionManager(SUITE, batch_window=0)
    return manager.create(SessionSpec(TIMED, **spec), ScriptedUser(TIMED.user.script))


async def let_go_off(session: OpenSession, label: str = "tea") -> None:
    await session.call("set_timer", {"seconds": 60, "label": label})
    await session.call("wait", {"seconds": 100})


async def read(client: Client, uri: str = URI) -> Any:
    (content,) = (await client.read_resource(uri, cache_mode="bypass")).contents
    return json.loads(content.model_dump()["text"])


class Ear:
    """What a client of the older protocol is told without having asked."""

    def __init__(self) -> None:
        self._heard: asyncio.Queue[str] = asyncio.Queue()

    async def __call__(self, message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            self._heard.put_nowait(str(message.params.uri))

    async def next(self) -> str:
        with anyio.fail_after(20):
            return await self._heard.get()

    def silent(self) -> bool:
        return self._heard.empty()


@pytest.fixture
def ear() -> Ear:
    return Ear()


async def subscribe(client: Client, uri: str = URI) -> None:
    await client.session.send_request(SubscribeRequest(params=SubscribeRequestParams(uri=uri)), EmptyResult)


async def unsubscribe(client: Client) -> None:
    await client.session.send_request(UnsubscribeRequest(params=UnsubscribeRequestParams(uri=URI)), EmptyResult)


async def listen(client: Client) -> None:
    async with client.listen(resource_subscriptions=[URI]):
        pass


@each_era
async def test_where_there_are_timers_there_is_one_resource(era: str) -> None:
    async with Client(server_for(timed()), mode="auto" if era == MODERN else era) as client:
        resources = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        capability = client.server_capabilities.resources
    assert [(str(resource.uri), resource.mime_type) for resource in resources] == [(URI, "application/json")]
    assert templates == []
    assert capability
    assert (capability.subscribe, capability.list_changed) == (True, False)


@each_era
async def test_no_list_is_said_to_change(era: str) -> None:
    async with Client(server_for(timed()), mode="auto" if era == MODERN else era) as client:
        assert client.server_capabilities.tools
        assert not client.server_capabilities.tools.list_changed


@each_era
@each("channel", ["harness", "tool"])
async def test_nothing_is_there_to_read_before_anything_was_announced(era: str, channel: Any) -> None:
    async with Client(server_for(timed(user_channel=channel)), mode=era) as client:
        assert await read(client) == []


@each_era
async def test_a_notice_can_be_read_with_its_moment(era: str) -> None:
    session = timed()
    async with Client(server_for(session), mode=era) as client:
        begin = session.session.world.clock.now
        await client.call_tool("set_timer", {"seconds": 60, "label": "tea"})
        await client.call_tool("wait", {"seconds": 100})
        assert await read(client) == [{"timestamp": begin + 102, "text": TEA}]


@each_era
async def test_reading_is_neither_recorded_nor_taken_for_having_heard(era: str) -> None:
    session = timed()
    async with Client(server_for(session), mode=era) as client:
        await client.call_tool("set_timer", {"seconds": 60, "label": "tea"})
        before = session.lines()
        await read(client)
        assert session.lines() == before
        result = await client.call_tool("wait", {"seconds": 100})
    assert result.structured_content
    assert result.structured_content["notices"] == [TEA]


@each_era
@each("uri", ["world://other", "session://current", "world://notices/1"])
async def test_there_is_no_other_resource(era: str, uri: str) -> None:
    async with Client(server_for(timed()), mode=era) as client:
        with pytest.raises(MCPError, match="there is no resource"):
            await read(client, uri)


@each_era
@each("variant", ["text_actions", "tool_name_scrambled", "no_documentation"])
async def test_timers_under_another_name_are_timers(era: str, variant: str) -> None:
    async with Client(server_for(timed(variant=variant)), mode=era) as client:
        assert await read(client) == []


@each_era
async def test_without_timers_there_is_nothing_to_subscribe_to(era: str) -> None:
    async with Client(server_for(opened()), mode=era) as client:
        with pytest.raises(MCPError, match="there is no resource"):
            await read(client)
        with pytest.raises(MCPError, match="Method not found"):
            await (listen(client) if era == MODERN else subscribe(client))


async def test_with_the_older_protocol_a_subscriber_is_told(ear: Ear) -> None:
    session = timed()
    async with Client(server_for(session), mode="legacy", message_handler=ear) as client:
        await subscribe(client)
        await client.call_tool("set_timer", {"seconds": 60, "label": "tea"})
        await client.call_tool("wait", {"seconds": 100})
        assert await ear.next() == URI
        assert [notice["text"] for notice in await read(client)] == [TEA]


async def test_who_did_not_subscribe_or_does_no_more_is_not_told(ear: Ear) -> None:
    session, other = timed(), Ear()
    server = server_for(session)
    async with (
        Client(server, mode="legacy", message_handler=ear) as told,
        Client(server, mode="legacy", message_handler=other) as untold,
    ):
        await subscribe(told)
        await subscribe(untold)
        await unsubscribe(untold)
        await let_go_off(session)
        assert await ear.next() == URI
        await untold.list_tools(cache_mode="bypass")
        assert other.silent()


async def test_whoever_makes_the_time_pass_the_subscriber_is_told(ear: Ear) -> None:
    session = timed()
    async with Client(server_for(session), mode="legacy", message_handler=ear) as client:
        await subscribe(client)
        await session.call("set_timer", {"seconds": 2, "label": "tea"})
        await session.say("Which network do you mean?")
        assert await ear.next() == URI


async def test_with_the_newer_protocol_a_listener_is_told() -> None:
    session = timed()
    async with (
        Client(server_for(session), mode=MODERN) as client,
        client.listen(resource_subscriptions=[URI]) as updates,
    ):
        for _ in range(2):
            await let_go_off(session)
            with anyio.fail_after(20):
                assert await anext(updates) == ResourceUpdated(uri=URI)
        assert len(await read(client)) == 2


async def told_to_the_end(updates: Any) -> list[Any]:
    with anyio.fail_after(20):
        return [update async for update in updates]


async def test_the_stream_of_a_listener_ends_with_the_session_and_what_was_announced_goes_out_first() -> None:
    session = timed()
    async with (
        Client(server_for(session), mode=MODERN) as client,
        client.listen(resource_subscriptions=[URI]) as updates,
    ):
        await session.call("set_timer", {"seconds": 60, "label": "tea"})
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.call, "wait", {"seconds": 100})
            tasks.start_soon(session.end, "abandoned")
        assert await told_to_the_end(updates) == [ResourceUpdated(uri=URI)]


async def test_who_listens_to_a_session_that_is_over_hears_its_end_at_once() -> None:
    session = timed()
    await session.end("abandoned")
    async with Client(server_for(session), mode=MODERN) as client:
        for _ in range(MOST + 1):
            async with client.listen(resource_subscriptions=[URI]) as updates:
                assert await told_to_the_end(updates) == []


async def test_a_stream_ends_when_another_process_ends_the_session(tmp_path: Any) -> None:
    spec = SessionSpec(TIMED, session_id="mine")
    here, there = (StateDir(tmp_path, SessionManager(SUITE, batch_window=0)).open(spec) for _ in range(2))
    async with (
        Client(server_for(here), mode=MODERN) as client,
        client.listen(resource_subscriptions=[URI]) as updates,
    ):
        await there.end("abandoned")
        await here.call("list_timers", {})
        assert await told_to_the_end(updates) == []


@pytest.mark.parametrize("how", ["close", "reap"])
async def test_over_http_a_stream_ends_when_its_session_is_forgotten(server: Served, ear: Ear, how: str) -> None:
    session, other = timed(server.manager), timed(server.manager)
    async with (
        over_http(server, session, MODERN, ear) as client,
        over_http(server, other, MODERN, ear) as neighbour,
        client.listen(resource_subscriptions=[URI]) as updates,
        neighbour.listen(resource_subscriptions=[URI]) as still,
    ):
        session.used -= 2 * server.manager.idle_seconds
        await (server.manager.close(session.token) if how == "close" else server.manager.reap())
        assert await told_to_the_end(updates) == []
        await let_go_off(other)
        with anyio.fail_after(20):
            assert await anext(still) == ResourceUpdated(uri=URI)


async def test_only_so_many_may_listen() -> None:
    session = timed()
    async with Client(server_for(session), mode=MODERN) as client, anyio.create_task_group() as tasks:

        async def stay(task_status: TaskStatus[None]) -> None:
            async with client.listen(resource_subscriptions=[URI]):
                task_status.started()
                await anyio.sleep_forever()

        for _ in range(MOST):
            await tasks.start(stay)
        with pytest.raises(MCPError, match="limit"):
            await listen(client)
        tasks.cancel_scope.cancel()


async def test_of_many_connections_the_latest_are_told() -> None:
    session, first, last = timed(), Ear(), Ear()
    server = server_for(session)
    async with Client(server, mode="legacy", message_handler=first) as oldest:
        await subscribe(oldest)
        for _ in range(MOST - 1):
            async with Client(server, mode="legacy") as gone:
                await subscribe(gone)
        async with Client(server, mode="legacy", message_handler=last) as latest:
            await subscribe(latest)
            await let_go_off(session)
            assert await last.next() == URI
            await oldest.list_tools(cache_mode="bypass")
            assert first.silent()


@asynccontextmanager
async def over_http(server: Served, session: OpenSession, era: str, ear: Ear) -> AsyncGenerator[Client]:
    transport = streamable_http_client(server.url(session), http_client=server.http)
    async with Client(transport, mode=era, message_handler=ear) as client:
        yield client


async def told_by_http(server: Served, session: OpenSession, client: Client, ear: Ear) -> str:
    """The first notification; timers go off until there is one, since a stream may not be open yet."""
    with anyio.fail_after(20):
        while ear.silent():
            await let_go_off(session)
            await anyio.sleep(0.02)
        return await ear.next()


async def test_over_http_the_older_protocol_is_told_on_its_stream(server: Served, ear: Ear) -> None:
    session = timed(server.manager)
    async with over_http(server, session, "legacy", ear) as client:
        await subscribe(client)
        assert await told_by_http(server, session, client, ear) == URI


async def test_over_http_the_newer_protocol_listens(server: Served, ear: Ear) -> None:
    session, other = timed(server.manager), timed(server.manager)
    async with (
        over_http(server, session, MODERN, ear) as client,
        client.listen(resource_subscriptions=[URI]) as updates,
    ):
        await let_go_off(other)
        await let_go_off(session)
        with anyio.fail_after(20):
            assert await anext(updates) == ResourceUpdated(uri=URI)
        assert [notice["text"] for notice in await read(client)] == [TEA]


@each_era
async def test_over_http_another_session_on_the_same_server_still_has_nothing_but_tools(
    server: Served, era: str
) -> None:
    session = server.manager.create(SessionSpec(SUITE.get("wifi_off")), ScriptedUser(TIMED.user.script))
    raw = await RawMcp(server.http, server.url(session), era).open()
    params: dict[str, Any] = {"_meta": ENVELOPE} if era == MODERN else {}
    for method in ("resources/subscribe", "subscriptions/listen"):
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = await raw.post(body, {"Mcp-Method": method})
        assert answer.json()["error"]["code"] == METHOD_NOT_FOUND, method


async def test_what_another_process_let_go_off_can_be_read_and_is_told(tmp_path: Any, ear: Ear) -> None:
    spec = SessionSpec(TIMED, session_id="mine")
    here, there = (StateDir(tmp_path, SessionManager(SUITE, batch_window=0)).open(spec) for _ in range(2))
    async with Client(server_for(here), mode="legacy", message_handler=ear) as client:
        await subscribe(client)
        await let_go_off(there)
        assert [notice["text"] for notice in await read(client)] == [TEA]
        assert await ear.next() == URI


@each("announces", [True, False])
async def test_capabilities_are_those_of_the_session(announces: bool) -> None:
    of_the_server = {
        "tools": {"listChanged": True},
        "resources": {"subscribe": True, "listChanged": True},
        "logging": {},
    }
    assert offered_to(of_the_server, announces=announces) == {
        "tools": {"listChanged": False},
        "resources": {"subscribe": announces, "listChanged": False},
        "logging": {},
    }
