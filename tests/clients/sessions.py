"""Real sessions to connect agents to, and an endpoint to stand in for their model."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import anyio
from sandbox_clients.base import Brief, Target
from sandbox_clients.mcp_tools import McpTarget
from sandbox_scenarios import Scenario
from sandbox_scenarios.plan import staged

from sandbox_mcp.app.endpoint.script import ScriptedModel, parse_script
from sandbox_mcp.app.endpoint.solver import Solver
from sandbox_mcp.app.run.options import Transport
from sandbox_mcp.app.run.transports import transport
from sandbox_mcp.engine.trajectory import Event, MemoryLog, ToolCall
from sandbox_mcp.engine.worlds import default
from sandbox_mcp.play.session import SessionSpec
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.session.open_session import OpenSession
from sandbox_mcp.play.users import ScriptedUser
from tests.suite import SUITE

WIFI_OFF = SUITE.get("wifi_off")
LOW_BATTERY = SUITE.get("late_for_dinner_low_battery")
T = TypeVar("T")


def run(work: Callable[..., Awaitable[T]], *arguments: Any) -> T:
    """Run one coroutine function to its end."""
    return anyio.run(work, *arguments)


@cache
def solver() -> Solver:
    """A model that knows the answers to every scenario; made once, because it learns all variants of what it meets."""
    return Solver(SUITE.all())


class Opened:
    """A session that an agent can be connected to, and what it has recorded."""

    def __init__(self, session: OpenSession, target: Target, log: MemoryLog) -> None:
        self.session = session
        self.target = target
        self._log = log

    @property
    def brief(self) -> Brief:
        spec = self.session.session.spec
        solution = staged(spec.scenario.solutions[0], spec.scenario, spec.variant, self.session.session.tools)
        return Brief(default().briefing, self.target, solution)

    @property
    def events(self) -> list[Event]:
        return self._log.events

    @property
    def calls(self) -> list[ToolCall]:
        return [event for event in self._log.events if isinstance(event, ToolCall) and event.caller == "agent"]


@asynccontextmanager
async def opened(
    scenario: Scenario = WIFI_OFF, kind: Transport = "memory", era: Any = "auto", **spec: Any
) -> AsyncGenerator[Opened]:
    """A session reached by a transport, in a protocol era where MCP is in between."""
    manager = SessionManager(SUITE, batch_window=0)
    log = MemoryLog()
    session = manager.create(SessionSpec(scenario, **spec), ScriptedUser(scenario.user.script), sink=log)
    async with transport(kind, manager) as reach:
        target = reach(session)
        if isinstance(target, McpTarget):
            target = McpTarget(target.server, target.headers, era)
        yield Opened(session, target, log)


def scripted(text: str) -> ScriptedModel:
    """A model that follows a script, given as YAML."""
    return ScriptedModel(parse_script(text))


def write(path: Path, text: str) -> Path:
    """A file with that text."""
    path.write_text(text, encoding="utf-8")
    return path
