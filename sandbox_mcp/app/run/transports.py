"""Ways of a run's agent to the tools: over MCP in memory or over HTTP, or without MCP at all.

Policy: all three lead to the same session and leave the same log. ``memory`` is the default, a real MCP client and
server in one process; ``http`` is for agents that live elsewhere; ``direct`` leaves MCP out, where milliseconds count.
What an agent does to its arguments and results afterwards changes nothing that was recorded.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import get_args

from anyio.lowlevel import checkpoint_if_cancelled
from sandbox_clients.base import ToolInfo, ToolOutput, ToolRequest, Tools
from sandbox_clients.mcp_tools import McpTarget

from sandbox_mcp.app.run.options import Transport
from sandbox_mcp.app.run.play import Reach
from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.tools.calling import as_text, is_object
from sandbox_mcp.engine.tools.results import unwrapped
from sandbox_mcp.play.session import AgentCall, CallResult
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.session.open_session import OpenSession

TRANSPORTS: tuple[Transport, ...] = get_args(Transport)


@asynccontextmanager
async def transport(name: Transport, manager: SessionManager) -> AsyncGenerator[Reach]:
    """A way to reach any session of this manager, for as long as the context lasts."""
    if name == "direct":
        yield DirectTarget
    elif name == "memory":
        from sandbox_mcp.play.server.mcp_server import server_for

        yield lambda opened: McpTarget(server_for(opened))
    else:
        from sandbox_mcp.play.server.app import serving
        from sandbox_mcp.play.server.settings import ServerSettings

        async with serving(manager, ServerSettings(auth=True, lobby=False)) as base:
            yield lambda opened: McpTarget(f"{base}/s/{opened.token}/mcp", {"Authorization": f"Bearer {opened.bearer}"})


@dataclass(frozen=True, slots=True)
class DirectTarget:
    """The tools of a session in this process."""

    opened: OpenSession

    @property
    def url(self) -> str | None:
        """None: tools in this process have no address."""
        return None

    @property
    def headers(self) -> Mapping[str, str]:
        """Empty, as there is no address to send them to."""
        return {}

    @asynccontextmanager
    async def connect(self) -> AsyncGenerator[Tools]:
        """The tools, at once."""
        yield _DirectTools(self.opened)


@dataclass(frozen=True, slots=True)
class _DirectTools:
    opened: OpenSession

    async def list(self) -> tuple[ToolInfo, ...]:
        return tuple(ToolInfo(tool.name, tool.description, tool.schema) for tool in self.opened.presentation.listed)

    async def call(self, name: str, arguments: Mapping[str, object] | str) -> ToolOutput:
        await checkpoint_if_cancelled()
        return output_of(await self.opened.call(name, _as_sent(arguments)))

    async def call_together(self, requests: Sequence[ToolRequest]) -> Sequence[ToolOutput]:
        await checkpoint_if_cancelled()
        calls = [AgentCall(request.name, _as_sent(request.arguments)) for request in requests]
        return [output_of(result) for result in await self.opened.run(calls)]


def _as_sent(arguments: Mapping[str, object] | str | None) -> object:
    """A copy of the arguments, as JSON would carry them, so that later changes by the agent make no difference."""
    if arguments is None:
        return None
    return deepcopy(dict(arguments)) if is_object(arguments) else as_text(arguments)


def output_of(result: CallResult) -> ToolOutput:
    """Output of a call as an agent sees it."""
    value = None if result.error is not None else unwrapped(loads(result.text))
    return ToolOutput(result.text, value, is_error=result.error is not None)
