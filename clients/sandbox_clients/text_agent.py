"""Any command as an agent that reads a line and writes a line: the user's words in, the agent's out.

Policy: a command gets one line for every message of the user, with spaces for its line breaks, and each line that it
writes is one answer. The address of the tools is in its environment, so that no list of processes shows the secret.
Every conversation has a process of its own. Such a command cannot say how it failed, so whatever ends it is a fault.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import anyio

from sandbox_clients.base import Agent, AgentTurn, Brief, Conversation
from sandbox_clients.line_process import LineProcess
from sandbox_clients.settings import AgentSettings

URL, AUTHORIZATION, INSTRUCTIONS = "SANDBOX_MCP_URL", "SANDBOX_MCP_AUTHORIZATION", "SANDBOX_MCP_INSTRUCTIONS"
MODEL, BASE_URL = "SANDBOX_MCP_MODEL", "SANDBOX_MCP_BASE_URL"


@dataclass(frozen=True, slots=True)
class _Talking:
    process: LineProcess

    async def turn(self, message: str) -> AgentTurn:
        await self.process.check_silent()
        self.process.busy, self.process.awaited = True, "one line of text, the answer to the user"
        await self.process.tell(" ".join(message.splitlines()))
        said = await self.process.hear()
        self.process.busy = False
        return AgentTurn(said)


@dataclass(frozen=True, slots=True)
class TextAgent(Agent):
    """Runs ``command``, a process for every conversation."""

    name: str
    command: tuple[str, ...]
    settings: AgentSettings = field(default_factory=AgentSettings)
    needs_url: ClassVar[bool] = True

    @asynccontextmanager
    async def converse(self, brief: Brief) -> AsyncGenerator[Conversation]:
        """Start the command.

        Raises:
            AgentError: it cannot be started.
        """
        endpoint = self.settings.endpoint
        environment = {
            URL: brief.target.url or "",
            AUTHORIZATION: brief.target.headers.get("Authorization", ""),
            INSTRUCTIONS: brief.instructions,
            MODEL: endpoint.model,
            BASE_URL: endpoint.base_url or "",
        }
        async with anyio.create_task_group() as listening:
            process = await LineProcess.start(self.command, environment)
            listening.start_soon(process.listen)
            try:
                yield _Talking(process)
            finally:
                await process.stop()
                listening.cancel_scope.cancel()

    def describe(self) -> Mapping[str, Any]:
        """The model that it was told to use, if any."""
        return self.settings.endpoint.describe()
