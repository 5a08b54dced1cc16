"""Any request: the doors of HTTP and of MCP say what is wrong, never that something broke in them, and stay open."""

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import given
from hypothesis import strategies as st

from sandbox_mcp.play.session.open_session import OpenSession
from tests.fuzz.mutations import BOUNDED, VALUES, changed
from tests.server.serving_kit import ENVELOPE, MODERN, Served, opened_in, served

ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
Door = tuple[BlockingPortal, Served, OpenSession]


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(served()) as server:
        yield portal, server, portal.call(opened_in, server.manager)


def asked(door: Door, method: str, path: str, content: bytes, headers: dict[str, str]) -> int:
    portal, server, _ = door

    async def ask() -> int:
        return (await server.http.request(method, server.base + path, content=content, headers=headers)).status_code

    return portal.call(ask)


PATHS = st.sampled_from(
    ["/", "/mcp", "/api/sessions", "/api/scenarios", "/api/sessions/x", "/s/x/mcp", "/api/sessions/x/messages",
     "/healthz"]
)  # fmt: skip
BODIES = changed({"scenario": "wifi_off", "variant": "base", "seed": 0, "trial": 0, "user": "scripted", "text": "hi"})


@BOUNDED
@given(
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"]),
    path=PATHS,
    body=BODIES.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=60),
    known=st.booleans(),
)
def test_the_control_api_answers_whatever_it_is_asked(
    door: Door, method: str, path: str, body: bytes, known: bool
) -> None:
    token = {"authorization": f"Bearer {door[1].settings.api_token}"} if known else {}
    assert asked(door, method, path, body, {"content-type": "application/json", **token}) < 500
    assert asked(door, "GET", "/healthz", b"", {}) == 200


HEADS = st.lists(
    st.sampled_from(
        ["Host: localhost", "Host: a", "Content-Length: 5", "Content-Length: -1", "Transfer-Encoding: chunked",
         "X: \x00", "Connection: upgrade", "Origin: null", "Mcp-Session-Id: x", ": ", "Expect: 100-continue",
         "Content-Length: 9e9"]
    ),
    max_size=6,
)  # fmt: skip


@BOUNDED
@given(
    start=st.sampled_from(["GET / HTTP/1.1", "POST /mcp HTTP/1.1", "GET", "\x16\x03\x01", "PRI * HTTP/2.0",
                           "GET /%00 HTTP/1.1"]),
    heads=HEADS,
    rest=st.binary(max_size=40),
)  # fmt: skip
def test_bytes_that_are_no_request_close_their_connection_and_no_other(
    door: Door, start: str, heads: list[str], rest: bytes
) -> None:
    host, _, port = door[1].base.removeprefix("http://").rpartition(":")
    with socket.create_connection((host, int(port)), timeout=100) as client:
        client.sendall("\r\n".join([start, *heads, "", ""]).encode("latin-1") + rest)
        client.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := client.recv(4096):
            answer += piece
    assert not answer.startswith(b"HTTP/1.1 5")
    assert asked(door, "GET", "/healthz", b"", {}) == 200


CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "set_wifi_status", "arguments": {"on": True}, "_meta": ENVELOPE},
}
METHODS = st.sampled_from(
    ["tools/call", "tools/list", "initialize", "ping", "resources/read", "resources/subscribe", "prompts/get", "x",
     "server/discover", "completion/complete", "logging/setLevel", "notifications/cancelled"]
)  # fmt: skip


@BOUNDED
@given(message=changed(CALL) | VALUES, method=METHODS, modern=st.booleans())
def test_a_session_answers_whatever_its_agent_sends(door: Door, message: Any, method: str, modern: bool) -> None:
    if isinstance(message, dict) and "method" in message:
        message["method"] = method
    path = f"/s/{door[2].token}/mcp"
    headers = {**ACCEPT, **({"mcp-protocol-version": MODERN, "mcp-method": method} if modern else {})}
    if method in ("resources/subscribe", "x", "initialize") or message != CALL:
        assert asked(door, "POST", path, json.dumps(message).encode(), headers) < 500
    sound = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"_meta": ENVELOPE}}
    listing = {**ACCEPT, "mcp-protocol-version": MODERN, "mcp-method": "tools/list"}
    assert asked(door, "POST", path, json.dumps(sound).encode(), listing) == 200


HOSTED = st.sampled_from(
    [
        ("tools/call", {"name": "list_scenarios", "arguments": {"search": "wifi"}}),
        ("tools/call", {"name": "start_scenario", "arguments": {"name": "wifi_off"}}),
        ("tools/call", {"name": "send_message_to_user", "arguments": {"content": "Wifi is off."}}),
        ("tools/call", {"name": "end_scenario", "arguments": {}}),
        ("resources/read", {"uri": "ui://sandbox-mcp/session"}),
        ("prompts/get", {"name": "run_scenario", "arguments": {"name": "wifi_off"}}),
    ]
)


@BOUNDED
@given(data=st.data(), hosted=HOSTED)
def test_the_lobby_answers_whatever_its_host_sends(
    door: Door, data: st.DataObject, hosted: tuple[str, dict[str, Any]]
) -> None:
    method, params = hosted
    told = data.draw(changed(params))
    with_envelope = {**told, "_meta": ENVELOPE} if isinstance(told, dict) else told
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": with_envelope}).encode()
    name = told.get("name") if isinstance(told, dict) else None
    named = {"mcp-name": name} if isinstance(name, str) and name.isascii() and name.isprintable() and name else {}
    headers = {**ACCEPT, "mcp-protocol-version": MODERN, "mcp-method": method, **named}
    assert asked(door, "POST", "/mcp", body, headers) < 500
    sound = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"_meta": ENVELOPE}}
    listing = {**ACCEPT, "mcp-protocol-version": MODERN, "mcp-method": "tools/list"}
    assert asked(door, "POST", "/mcp", json.dumps(sound).encode(), listing) == 200
