"""Connections of the older protocol: they mean something at their own URL, are limited, and end with their session."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import httpx2
import pytest

from sandbox_mcp.play.server.connections import MOST
from sandbox_mcp.play.session.manager import SessionManager
from tests.each import each
from tests.server.serving_kit import ENVELOPE, LEGACY, MODERN, SUITE, RawMcp, Served, opened_in, served

pytestmark = pytest.mark.anyio
ASKING = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": LEGACY}


async def connected(server: Served, session: object) -> RawMcp:
    return await RawMcp(server.http, server.url(session), "legacy").open()  # pyright: ignore[reportArgumentType]


def pong(id_: int = 1) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": id_, "method": "ping"}


@asynccontextmanager
async def stream(server: Served, url: str, session: Mapping[str, str]) -> AsyncIterator[httpx2.Response]:
    headers = {**ASKING, "Accept": "text/event-stream", **session}
    async with server.http.stream("GET", url, headers=headers) as answer:
        yield answer


@each("method", ["POST", "GET", "DELETE"])
@each("elsewhere", ["other", "lobby", "nonsense"])
async def test_a_connection_is_unknown_at_every_other_url(server: Served, method: str, elsewhere: str) -> None:
    mine, other = opened_in(server.manager), opened_in(server.manager)
    raw = await connected(server, mine)
    where = {"other": server.url(other), "lobby": f"{server.base}/mcp", "nonsense": f"{server.base}/s/nonsense/mcp"}
    headers = {**ASKING, **raw.session}
    body = {"json": pong()} if method == "POST" else {}
    async with server.http.stream(method, where[elsewhere], headers=headers, **body) as answer:
        assert answer.status_code == 404
    assert (await raw.post(pong())).status_code == 200


@each("named", ["mine", "nonsense"])
@each("name", ["tools/call", "tools/list"])
async def test_the_newer_protocol_knows_no_connections(server: Served, name: str, named: str) -> None:
    session = opened_in(server.manager)
    raw = RawMcp(server.http, server.url(session), MODERN)
    older = await connected(server, session)
    raw.session = older.session if named == "mine" else {"Mcp-Session-Id": named}
    params = {"_meta": ENVELOPE, **({"name": "get_wifi_status", "arguments": {}} if name == "tools/call" else {})}
    told = {"Mcp-Method": name, "Mcp-Name": "get_wifi_status"}
    answer = await raw.post({"jsonrpc": "2.0", "id": 1, "method": name, "params": params}, told)
    assert (answer.status_code, "result" in answer.json()) == (200, True)


async def test_a_connection_outlives_a_refused_attempt_of_the_newer_protocol_to_end_it(server: Served) -> None:
    raw = await connected(server, session := opened_in(server.manager))
    headers = {**ASKING, "MCP-Protocol-Version": MODERN, **raw.session}
    refused = await server.http.delete(server.url(session), headers=headers)
    assert (refused.status_code, (await raw.post(pong())).status_code) == (405, 200)


async def test_a_session_keeps_the_connections_that_were_used_last(server: Served) -> None:
    session = opened_in(server.manager)
    first, second = await connected(server, session), await connected(server, session)
    for _ in range(MOST - 1):
        await first.post(pong())
        await connected(server, session)
    assert [(await first.post(pong())).status_code, (await second.post(pong())).status_code] == [200, 404]


async def test_the_connections_of_one_session_take_no_place_from_another() -> None:
    async with served() as server:
        busy, other = opened_in(server.manager), opened_in(server.manager)
        theirs = await connected(server, other)
        for _ in range(2 * MOST):
            await connected(server, busy)
        assert (await theirs.post(pong())).status_code == 200


async def test_a_stream_ends_with_its_session(server: Served) -> None:
    session = opened_in(server.manager)
    raw = await connected(server, session)
    with anyio.fail_after(20):
        async with stream(server, raw.url, raw.session) as answer:
            await session.end("abandoned")
            assert [part async for part in answer.aiter_bytes() if part.strip() and not part.startswith(b":")] == []


async def test_a_connection_still_answers_when_its_session_is_over(server: Served) -> None:
    """The agent is told so by the result of its next call; a protocol error would end its run."""
    session = opened_in(server.manager)
    raw = await connected(server, session)
    await session.end("abandoned")
    assert "SessionOverError" in (await raw.call("get_wifi_status", "{}"))["result"]["content"][0]["text"]


async def test_connections_end_when_their_session_is_forgotten() -> None:
    async with served() as server:
        session = opened_in(server.manager)
        raw = await connected(server, session)
        with anyio.fail_after(20):
            async with stream(server, raw.url, raw.session) as answer:
                await server.api("DELETE", f"/api/sessions/{session.token}")
                assert [part async for part in answer.aiter_bytes() if part.strip() and not part.startswith(b":")] == []
        assert (await raw.post(pong())).status_code == 404


async def test_nothing_of_a_forgotten_session_is_kept() -> None:
    """However many sessions come and go, with connections that nobody closes."""
    import gc
    import weakref

    async with served(SessionManager(SUITE)) as server:
        gone = []
        for _ in range(5):
            session = opened_in(server.manager)
            await connected(server, session)
            gone.append(weakref.ref(session))
            await server.manager.close(session.token)
            del session
        with anyio.fail_after(20):
            while any(item() for item in gone):
                await anyio.lowlevel.checkpoint()
                gc.collect()


async def test_closing_a_connection_ends_it(server: Served) -> None:
    session = opened_in(server.manager)
    raw = await connected(server, session)
    assert (await server.http.delete(raw.url, headers={**ASKING, **raw.session})).status_code == 200
    assert (await raw.post(pong())).status_code == 404
