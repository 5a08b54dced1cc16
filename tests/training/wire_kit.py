"""Servers with the wires of training on loopback, and clients that send exactly what a test says."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from sandbox_scenarios import Suite
from websockets.asyncio.client import ClientConnection, connect

from sandbox_mcp.play.server.app import serving
from sandbox_mcp.play.server.settings import ServerSettings
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.training.rollouts import Rollouts
from sandbox_mcp.play.training.wires import Served, TrainingWires
from tests.suite import SUITE


@dataclass(frozen=True)
class Serving:
    """A running server, its sessions, and an HTTP client that shows the control API's token."""

    base: str
    manager: SessionManager
    settings: ServerSettings
    http: httpx2.AsyncClient

    @asynccontextmanager
    async def socket(self, path: str = "/openenv/phone/ws", **more: Any) -> AsyncGenerator["Socket"]:
        headers = {"Authorization": f"Bearer {self.settings.api_token}"}
        url = self.base.replace("http", "ws", 1) + path
        async with connect(url, additional_headers=headers, **more) as connection:
            yield Socket(connection)


@dataclass(frozen=True)
class Socket:
    """OpenEnv's messages over one WebSocket."""

    connection: ClientConnection

    async def raw(self, text: str) -> dict[str, Any]:
        await self.connection.send(text)
        return json.loads(await self.connection.recv())

    async def ask(self, kind: str, data: Mapping[str, Any] | None = None) -> dict[str, Any]:
        answer = await self.raw(json.dumps({"type": kind, **({} if data is None else {"data": data})}))
        return answer["data"] if answer["type"] != "error" else answer

    async def reset(self, **data: Any) -> dict[str, Any]:
        return await self.ask("reset", data)

    async def step(self, **action: Any) -> dict[str, Any]:
        return await self.ask("step", action)

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return await self.step(type="call_tool", tool_name=tool, arguments=arguments)


@asynccontextmanager
async def training_server(
    served: Served | None = None,
    world: str = "phone",
    rollouts: Path | None = None,
    suite: Suite = SUITE,
    **manager: Any,
) -> AsyncGenerator[Serving]:
    sessions, settings = SessionManager(suite, batch_window=0, **manager), ServerSettings()
    kept = Rollouts(rollouts) if rollouts else None
    wires = TrainingWires(settings, served, world, kept).wires()
    headers = {"Authorization": f"Bearer {settings.api_token}"}
    async with (
        serving(sessions, settings, wires=wires) as base,
        httpx2.AsyncClient(base_url=base, headers=headers, timeout=100) as http,
    ):
        yield Serving(base, sessions, settings, http)
