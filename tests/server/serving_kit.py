"""What the tests of the server share: servers on loopback, clients, and raw requests for what clients refuse."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from sandbox_mcp.engine.trajectory import Trajectory, parse_trajectory
from sandbox_mcp.play.server.app import serving
from sandbox_mcp.play.server.settings import ServerSettings
from sandbox_mcp.play.session import SessionSpec
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.session.open_session import OpenSession
from sandbox_mcp.play.users import ScriptedUser
from tests.suite import SUITE

LEGACY, MODERN = "2025-11-25", "2026-07-28"
ERAS = ("legacy", MODERN)
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def opened_in(manager: SessionManager, scenario: str = "wifi_off", **spec: Any) -> OpenSession:
    chosen = manager.suite.get(scenario)
    return manager.create(SessionSpec(chosen, **spec), ScriptedUser(chosen.user.script))


def opened(scenario: str = "wifi_off", window: float = 0.0, **spec: Any) -> OpenSession:
    return opened_in(SessionManager(SUITE, batch_window=window), scenario, **spec)


def recorded(session: OpenSession) -> Trajectory:
    return parse_trajectory(session.lines() or b"")


@dataclass(frozen=True)
class Served:
    """A running server."""

    base: str
    manager: SessionManager
    settings: ServerSettings
    http: httpx2.AsyncClient

    def url(self, session: OpenSession) -> str:
        return f"{self.base}/s/{session.token}/mcp"

    async def api(self, method: str, path: str, body: Any = None, **more: Any) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self.settings.api_token}", **more.pop("headers", {})}
        content = {"json": body} if body is not None else {}
        return await self.http.request(method, path, headers=headers, **content, **more)

    async def new(self, **wanted: Any) -> dict[str, Any]:
        answer = await self.api("POST", "/api/sessions", {"scenario": "wifi_off", **wanted})
        assert answer.status_code == 201, answer.text
        return answer.json()


@asynccontextmanager
async def served(manager: SessionManager | None = None, **settings: Any) -> AsyncGenerator[Served]:
    manager = SessionManager(SUITE) if manager is None else manager
    chosen = ServerSettings(**settings)
    async with serving(manager, chosen) as base, httpx2.AsyncClient(base_url=base, timeout=100) as http:
        yield Served(base, manager, chosen, http)


@asynccontextmanager
async def client(url: str, era: str, bearer: str | None = None) -> AsyncGenerator[Client]:
    headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=100) as http,
        Client(streamable_http_client(url, http_client=http), mode=era) as connected,
    ):
        yield connected


def text_of(result: Any) -> str:
    return result.content[0].text


class RawMcp:
    """An MCP endpoint spoken to in bare HTTP, so that anything can be sent."""

    def __init__(self, http: httpx2.AsyncClient, url: str, era: str) -> None:
        self.http = http
        self.url = url
        self.era = era
        self.session: dict[str, str] = {}

    async def open(self) -> "RawMcp":
        if self.era == "legacy":
            params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
            answer = await self.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
            self.session = {"Mcp-Session-Id": answer.headers["mcp-session-id"]}
            await self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    async def call(self, name: str, arguments: str, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Call with arguments given as JSON text, however odd; the JSON-RPC answer."""
        meta = json.dumps(ENVELOPE if self.era == MODERN else {})
        params = f'{{"name": {json.dumps(name)}, "arguments": {arguments}, "_meta": {meta}}}'
        body = f'{{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {params}}}'
        answer = await self.post(body, {"Mcp-Method": "tools/call", "Mcp-Name": name, **(more or {})})
        return answer.json()

    async def post(self, body: Any, headers: Mapping[str, str] | None = None) -> httpx2.Response:
        content = body if isinstance(body, str) else json.dumps(body)
        era = LEGACY if self.era == "legacy" else MODERN
        sent = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": era,
            **self.session,
            **(headers if era == MODERN and headers else {}),
        }
        return await self.http.post(self.url, content=content.encode("utf-8", "surrogatepass"), headers=sent)
