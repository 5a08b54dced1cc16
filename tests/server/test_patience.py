"""Clients that take their time: none of them keeps others waiting, and none fills the server's messages."""

import asyncio
import logging
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

import httpx2
import pytest

from sandbox_mcp.engine.processes import RESERVED
from sandbox_mcp.play.server.patience import Patience, affordable
from tests.each import each
from tests.server.serving_kit import Served, served

pytestmark = pytest.mark.anyio
SHORT, LONG = 0.05, 60.0
HEAD = "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@asynccontextmanager
async def wire(server: Served, sent: str = "") -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    where = urlsplit(server.base)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    try:
        writer.write(sent.encode())
        await writer.drain()
        yield reader, writer
    finally:
        writer.close()


async def rest_of(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(100):
        try:
            return await reader.read()
        except ConnectionResetError:
            return b""


async def keep_asking(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(SHORT / 5)


@each("sent", ["", "GET /healthz HTTP/1.1\r\nHo", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: "])
async def test_a_head_that_does_not_come_is_not_waited_for(sent: str) -> None:
    async with served(patience=Patience(head=SHORT)) as server, wire(server, sent) as (reader, _):
        assert b" 408 " in await rest_of(reader)


async def test_a_head_that_comes_byte_by_byte_gets_no_more_time() -> None:
    async with served(patience=Patience(head=SHORT)) as server:
        where = urlsplit(server.base)
        with socket.create_connection((where.hostname, where.port)) as client:
            client.setblocking(False)
            client.send(b"GET /")
            ended = asyncio.create_task(all_that_comes(client))
            while not ended.done():
                with suppress(OSError):  # the server may have hung up a moment ago
                    client.send(b"x")
                await asyncio.wait([ended], timeout=SHORT / 5)
        assert b" 408 " in ended.result()


async def all_that_comes(client: socket.socket) -> bytes:
    """What the server sent before it hung up: a stream forgets what was not read yet when a byte was sent too late."""
    came = b""
    async with asyncio.timeout(100):
        with suppress(ConnectionError):
            while some := await asyncio.get_running_loop().sock_recv(client, 65536):
                came += some
    return came


@pytest.mark.parametrize("path", ["/api/sessions", "/mcp", "/nowhere"])
async def test_a_body_that_does_not_come_is_not_waited_for(path: str, caplog: pytest.LogCaptureFixture) -> None:
    async with served(patience=Patience(body=SHORT)) as server:
        token = f"Authorization: Bearer {server.settings.api_token}\r\nAccept: application/json, text/event-stream\r\n"
        head = HEAD.format(method="POST", path=path) + token + "Content-Length: 100\r\n\r\n{"
        async with wire(server, head) as (reader, _):
            answer = await rest_of(reader)
    assert (answer.count(b"HTTP/1.1"), answer[:10]) == (1, b"HTTP/1.1 4")
    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_a_second_request_that_stops_half_way_is_not_waited_for() -> None:
    whole = HEAD.format(method="GET", path="/healthz") + "\r\n"
    async with served(patience=Patience(head=SHORT)) as server, wire(server, whole + "GET /hea") as (reader, _):
        assert b" 200 " in await rest_of(reader)


async def test_between_requests_a_connection_stays_open_for_a_limited_time() -> None:
    asked = HEAD.format(method="GET", path="/healthz") + "\r\n"
    async with served(patience=Patience(idle=SHORT)) as server, wire(server, asked) as (reader, _):
        answer = await rest_of(reader)
    assert (b" 200 " in answer, b" 408 " in answer) == (True, False)


async def test_a_body_that_comes_behind_its_answer_leaves_the_connection_idle() -> None:
    head = HEAD.format(method="POST", path="/s/nonsense/mcp") + "Content-Length: 2\r\n\r\n"
    patience = Patience(head=SHORT, body=LONG, idle=SHORT)
    async with served(patience=patience) as server, wire(server, head) as (reader, writer):
        assert b" 404 " in await reader.readuntil(b"\r\n\r\n")
        writer.write(b"{}")
        assert b"HTTP/1.1" not in await rest_of(reader)


def test_clients_let_go_of_a_connection_before_the_server_does() -> None:
    assert Patience().idle > 10 * (httpx2.Limits().keepalive_expiry or 0)


@pytest.mark.parametrize("path", ["/api/sessions", "/mcp", "session"])
async def test_a_client_that_goes_half_way_leaves_no_trace(path: str, caplog: pytest.LogCaptureFixture) -> None:
    async with served() as server:
        where = urlsplit((await server.new())["url"]).path if path == "session" else path
        token = f"Authorization: Bearer {server.settings.api_token}\r\nAccept: application/json, text/event-stream\r\n"
        head = HEAD.format(method="POST", path=where) + token + "Content-Length: 100\r\n\r\n{"
        for _ in range(5):
            async with wire(server, head):
                pass
        assert (await server.http.get("/healthz")).status_code == 200
    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_nonsense_leaves_no_trace(caplog: pytest.LogCaptureFixture) -> None:
    async with served() as server, wire(server, "\x16\x03\x01 nonsense\r\n\r\n") as (reader, _):
        assert b" 400 " in await rest_of(reader)
    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_silent_clients_make_room_for_others() -> None:
    async with served(patience=Patience(head=LONG, connections=16)) as server:
        silent = [await asyncio.open_connection(*server.base.removeprefix("http://").split(":")) for _ in range(40)]
        assert (await server.http.get("/healthz")).status_code == 200
        gone = [await rest_of(reader) for reader, _ in silent[:24]]
        assert gone == [b""] * 24
        for _, writer in silent:
            writer.close()


async def test_a_client_that_does_not_fetch_its_answer_is_let_go() -> None:
    async with served(patience=Patience(fetch=SHORT)) as server:
        ask = HEAD.format(method="GET", path="/openapi.json") + "\r\n"
        async with wire(server, ask * 2000) as (_, writer), asyncio.timeout(100):
            with pytest.raises(ConnectionError):
                await keep_asking(writer)


@each("most", [1, 16, 100, 10**9])
async def test_there_are_descriptors_for_the_connections_that_are_let_in(most: int) -> None:
    import resource

    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert 16 <= affordable(most) <= max(16, most)
    assert affordable(most) <= max(16, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - RESERVED, soft // 2)
