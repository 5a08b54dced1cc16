"""Calls that are answered without the SDK: the answers are its own, and it gets whatever is not plainly a call."""

import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from typing import Any

import httpx2
import pytest
from mcp.server.context import CallNext, HandlerResult
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from sandbox_mcp.engine.tools.races import BATCH_KEY
from sandbox_mcp.engine.trajectory import ToolCall
from sandbox_mcp.play.server.app import serving
from sandbox_mcp.play.server.context import Context
from sandbox_mcp.play.server.mcp_server import routed_server
from sandbox_mcp.play.server.settings import ServerSettings
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.session.open_session import OpenSession
from tests.each import each
from tests.server.serving_kit import ENVELOPE, ERAS, LEGACY, MODERN, SUITE, RawMcp, opened_in, recorded

pytestmark = pytest.mark.anyio
MAX_BODY = 4000
HEADERS = {
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
    "MCP-Protocol-Version": MODERN,
    "Mcp-Method": "tools/call",
    "Mcp-Name": "set_wifi_status",
}
CALL: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 7,
    "method": "tools/call",
    "params": {"name": "set_wifi_status", "arguments": {"on": False}, "_meta": ENVELOPE},
}


async def looking_on(ctx: Context, call_next: CallNext) -> HandlerResult:
    return await call_next(ctx)


class Served:
    """Two servers; a middleware of the first wants to see every request, which therefore goes through the SDK."""

    def __init__(self, by_sdk: str, by_us: str, managers: Mapping[bool, SessionManager]) -> None:
        self.bases = {True: by_sdk, False: by_us}
        self.managers = managers

    def session(self, *, by_sdk: bool, channel: str = "harness") -> tuple[OpenSession, str]:
        session = opened_in(self.managers[by_sdk], variant="all_tools", user_channel=channel)
        return session, f"{self.bases[by_sdk]}/s/{session.token}/mcp"

    async def answer_to(
        self,
        content: bytes,
        headers: list[tuple[str, str]],
        era: str = MODERN,
        *,
        by_sdk: bool,
        channel: str = "harness",
    ) -> tuple[int, Mapping[str, object], bytes, list[Any]]:
        """What a request is answered with, and what is recorded after it."""
        session, url = self.session(by_sdk=by_sdk, channel=channel)
        async with httpx2.AsyncClient(timeout=100) as http:
            raw = await RawMcp(http, url, era).open()
            answer = await http.post(url, content=content, headers=[*headers, *raw.session.items()])
        connection = raw.session.get("Mcp-Session-Id")
        told: dict[str, object] = {name: value for name, value in answer.headers.items() if name != "date"}
        if "mcp-session-id" in told:
            told["mcp-session-id"] = told["mcp-session-id"] == connection
        events = [replace(event, wall={}) for event in recorded(session).events]
        return answer.status_code, told, answer.content, events


@pytest.fixture
async def served() -> AsyncGenerator[Served]:
    watched, ours = routed_server(), routed_server()
    watched.middleware.insert(0, looking_on)
    managers = {by_sdk: SessionManager(SUITE, batch_window=0.0) for by_sdk in (True, False)}
    settings = ServerSettings(max_body=MAX_BODY)
    async with (
        serving(managers[True], settings, watched) as by_sdk,
        serving(managers[False], settings, ours) as by_us,
    ):
        yield Served(by_sdk, by_us, managers)


def body(**changed: Any) -> bytes:
    return json.dumps({**CALL, **changed}).encode()


def body_with(**changed: Any) -> bytes:
    return body(params={**CALL["params"], **changed})


def headers(**changed: str | None) -> list[tuple[str, str]]:
    wanted = {**HEADERS, **{name.replace("_", "-"): value for name, value in changed.items()}}
    return [(name, value) for name, value in wanted.items() if value is not None]


PLAIN = {
    "a call": (body(), headers()),
    "an id in text": (body(id="seven"), headers()),
    "an id beyond 64 bits": (body(id=2**70), headers()),
    "no arguments": (body_with(name="get_wifi_status", arguments={}), headers(Mcp_Name="get_wifi_status")),
    "arguments left out": (
        body(params={"name": "get_wifi_status", "_meta": ENVELOPE}),
        headers(Mcp_Name="get_wifi_status"),
    ),
    "an unknown tool": (body_with(name="wifi"), headers(Mcp_Name="wifi")),
    "wrong arguments": (body_with(arguments={"on": "perhaps"}), headers()),
    "a list of arguments": (body_with(arguments=[1]), headers()),
    "letters of many scripts": (body_with(arguments={"on": "ß, 日本, \U0001f600"}), headers()),
    "half a letter": (body_with(arguments={"on": "\ud800"}), headers()),
    "a mark of a batch": (
        body_with(_meta={**ENVELOPE, BATCH_KEY: {"id": "b", "index": 0, "size": 1}}),
        headers(),
    ),
    "an answer that was not asked for": (body_with(inputResponses={"confirm": {}}, requestState="x"), headers()),
    "JSON alone": (body(), headers(Accept="application/json")),
    "a content type with letters": (body(), headers(Content_Type="application/json; charset=utf-8")),
    "a name in base64": (body(), headers(Mcp_Name="=?base64?c2V0X3dpZmlfc3RhdHVz?=")),
    "no name": (body(params={"arguments": {}, "_meta": ENVELOPE}), headers()),
}
OTHER = {
    "everything accepted": (body(), headers(Accept="*/*")),
    "nothing accepted": (body(), headers(Accept="text/html")),
    "no accepted type": (body(), headers(Accept=None)),
    "another content type": (body(), headers(Content_Type="text/plain")),
    "a content type in capitals": (body(), headers(Content_Type="Application/JSON")),
    "another method in the header": (body(), headers(Mcp_Method="tools/list")),
    "no method in the header": (body(), headers(Mcp_Method=None)),
    "another method in the body": (body(method="tools/list"), headers()),
    "another name in the header": (body(), headers(Mcp_Name="get_wifi_status")),
    "no name in the header": (body(), headers(Mcp_Name=None)),
    "a method twice": (body(), [*headers(), ("Mcp-Method", "tools/call")]),
    "a version twice": (body(), [*headers(), ("MCP-Protocol-Version", MODERN)]),
    "an accepted type twice": (body(), [*headers(), ("Accept", "text/html")]),
    "a version of the future": (
        body_with(_meta={**ENVELOPE, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}),
        headers(MCP_Protocol_Version="2099-01-01"),
    ),
    "an older version": (body(), headers(MCP_Protocol_Version="2025-11-25")),
    "an older version throughout": (
        body_with(_meta={**ENVELOPE, "io.modelcontextprotocol/protocolVersion": "2025-11-25"}),
        headers(MCP_Protocol_Version="2025-11-25"),
    ),
    "versions that differ": (
        body_with(_meta={**ENVELOPE, "io.modelcontextprotocol/protocolVersion": "2025-11-25"}),
        headers(),
    ),
    "no version": (body(), headers(MCP_Protocol_Version=None)),
    "no envelope": (body_with(_meta={}), headers()),
    "no capabilities": (body_with(_meta={"io.modelcontextprotocol/protocolVersion": MODERN}), headers()),
    "a name that is none": (body_with(name=7), headers()),
    "no parameters": (body(params=None), headers()),
    "parameters in a list": (body(params=[1]), headers()),
    "no id": (json.dumps({name: value for name, value in CALL.items() if name != "id"}).encode(), headers()),
    "an id of null": (body(id=None), headers()),
    "an id with a point": (body(id=7.5), headers()),
    "an id of true": (body(id=True), headers()),
    "another version of JSON-RPC": (body(jsonrpc="1.0"), headers()),
    "an unknown member": (body(more=1), headers()),
    "a batch": (b"[" + body() + b"]", headers()),
    "a word": (b'"tools/call"', headers()),
    "half a body": (body()[:-2], headers()),
    "letters that are none": (body().replace(b"false", b'"\xff"'), headers()),
    "nothing": (b"", headers()),
    "too much": (body_with(arguments={"on": "x" * MAX_BODY}), headers()),
}


OF_THE_NEWER = frozenset(
    """another method in the header, no method in the header, another name in the header, no name in the header,
    a method twice, an older version, an older version throughout, versions that differ, no version, no envelope,
    no capabilities, a name that is none""".replace("\n    ", " ").split(", ")
)
"""What is amiss in the newer protocol alone."""


def older(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The same headers as a client of the older protocol sends them."""
    kept = [(name, value) for name, value in headers if not name.startswith("Mcp-")]
    return [(name, LEGACY if value == MODERN else value) for name, value in kept]


def sent_in(era: str, name: str) -> tuple[bytes, list[tuple[str, str]], str]:
    content, sent = {**PLAIN, **OTHER}[name]
    return content, sent if era == MODERN else older(sent), era


@each("era", ERAS)
@each("name", [*PLAIN, *OTHER])
async def test_every_request_is_answered_and_recorded_as_by_the_sdk(name: str, era: str, served: Served) -> None:
    ours = await served.answer_to(*sent_in(era, name), by_sdk=False)
    assert ours == await served.answer_to(*sent_in(era, name), by_sdk=True)


@pytest.fixture
def refused_by_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the SDK answer nothing but 599, once there is a connection."""
    answering = StreamableHTTPSessionManager._handle_request  # pyright: ignore[reportPrivateUsage]

    async def refusing(self: Any, scope: Any, receive: Any, send: Any) -> None:
        sent = dict(scope["headers"])
        opens = (
            sent.get(b"mcp-protocol-version") == LEGACY.encode()
            and not {b"mcp-session-id", b"mcp-method"} & sent.keys()
        )
        if opens:
            await answering(self, scope, receive, send)
        else:
            await send({"type": "http.response.start", "status": 599, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})

    monkeypatch.setattr(StreamableHTTPSessionManager, "_handle_request", refusing)


@pytest.mark.usefixtures("refused_by_sdk")
@each("era", ERAS)
@each("name", PLAIN)
async def test_plain_calls_are_answered_without_the_sdk(name: str, era: str, served: Served) -> None:
    status, *_ = await served.answer_to(*sent_in(era, name), by_sdk=False)
    assert status == 200


@pytest.mark.usefixtures("refused_by_sdk")
@each("era", ERAS)
@each("name", OTHER)
async def test_whatever_is_not_plainly_a_call_is_left_to_the_sdk(name: str, era: str, served: Served) -> None:
    status, *_ = await served.answer_to(*sent_in(era, name), by_sdk=False)
    assert (status >= 400) == (era == MODERN or name not in OF_THE_NEWER)


@pytest.mark.usefixtures("refused_by_sdk")
@each("era", ERAS)
async def test_a_call_about_which_a_person_may_be_asked_is_left_to_the_sdk(era: str, served: Served) -> None:
    status, *_ = await served.answer_to(*sent_in(era, "a call"), by_sdk=False, channel="tool")
    assert status == 599


@pytest.mark.usefixtures("refused_by_sdk")
@each("era", ERAS)
async def test_a_call_that_a_middleware_wants_to_see_is_left_to_the_sdk(era: str, served: Served) -> None:
    status, *_ = await served.answer_to(*sent_in(era, "a call"), by_sdk=True)
    assert status == 599


@each("era", ERAS)
async def test_a_call_that_breaks_is_told_as_by_the_sdk(
    era: str, monkeypatch: pytest.MonkeyPatch, served: Served
) -> None:
    async def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("no")

    monkeypatch.setattr(OpenSession, "call", broken)
    ours = await served.answer_to(*sent_in(era, "a call"), by_sdk=False)
    assert ours == await served.answer_to(*sent_in(era, "a call"), by_sdk=True)
    assert json.loads(ours[2])["result"]["isError"] is True


async def test_a_connection_that_has_ended_carries_no_calls(served: Served) -> None:
    session, url = served.session(by_sdk=False)
    async with httpx2.AsyncClient(timeout=100) as http:
        raw = await RawMcp(http, url, "legacy").open()
        await http.delete(url, headers={**dict(older(headers())), **raw.session})
        assert (await raw.post(CALL)).status_code == 404
    assert [event for event in recorded(session).events if isinstance(event, ToolCall)] == []
