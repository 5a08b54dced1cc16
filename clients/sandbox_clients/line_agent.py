"""Agents in a process of their own, that read and write one JSON object a line: any command, and every framework.

Policy: the process gets the session's URL and the user's words and says what the agent says; how it calls the tools is
its own affair. A process that says it can serve one conversation after the other is kept for the next, once it has let
go of the last; one that broke, or was stopped in the middle, never is, and one that went wrong in between is replaced.
The protocol is written down in docs/adapters.md.
"""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar

import anyio
from anyio.abc import TaskGroup

from sandbox_clients.base import Agent, AgentError, AgentTurn, Brief, Conversation
from sandbox_clients.line_process import PATIENCE, LineProcess
from sandbox_clients.replies import as_messages, read_object, read_turn
from sandbox_clients.settings import AgentSettings
from sandbox_mcp.engine.plurals import counted

PROTOCOL = 1
WROTE = "the agent's process wrote"


@dataclass(frozen=True, slots=True)
class _Talking:
    process: LineProcess

    async def turn(self, message: str) -> AgentTurn:
        await self.process.check_silent()
        self.process.busy, self.process.awaited = True, 'a line {"type": "reply", ...}'
        await _tell(self.process, {"type": "user", "text": message})
        heard = await _hear(self.process)
        if heard["type"] != "reply":
            raise AgentError(f"{WROTE} {heard['type']!r} where an answer was due; expected 'reply'")
        turn = read_turn(heard, WROTE)
        self.process.busy = False
        return turn


@dataclass(frozen=True, slots=True)
class LineAgent(Agent):
    """Runs ``command``, one process per conversation at a time.

    ``about`` is what logs say of it beside its settings. ``environment`` are variables that its processes have beside
    ours. ``begin_within`` is how many seconds a process may take until it is ready. With ``recalls`` a process may be
    given a history, if it says when it is ready that it can take one.
    """

    name: str
    command: tuple[str, ...]
    settings: AgentSettings
    key_variable: str = "OPENAI_API_KEY"
    about: Mapping[str, Any] = field(default_factory=dict[str, Any])
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    begin_within: float = 120.0
    recalls: bool = True
    idle: list[LineProcess] = field(default_factory=list[LineProcess])
    needs_url: ClassVar[bool] = True

    @asynccontextmanager
    async def converse(self, brief: Brief) -> AsyncGenerator[Conversation]:
        """Start the command, or take one that waits, and tell it where the tools are.

        Raises:
            AgentError: it cannot be started, or does not begin.
        """
        async with anyio.create_task_group() as listening:
            process, lasting = await self._begun(brief, listening)
            clean = False
            try:
                yield _Talking(process)
                clean = not process.busy
            finally:
                if not (lasting and clean and await self._kept(process)):
                    await process.stop()
                listening.cancel_scope.cancel()

    @property
    def takes_history(self) -> bool:
        """True if the command may be able to; see ``recalls``."""
        return self.recalls

    def describe(self) -> Mapping[str, Any]:
        """Describe the command, the model and the limits."""
        return {**self.settings.endpoint.describe(), "max_steps": self.settings.max_steps, **self.about}

    async def aclose(self) -> None:
        """End the processes that wait for another conversation."""
        async with anyio.create_task_group() as ending:
            while self.idle:
                ending.start_soon(self.idle.pop().stop)

    async def _begun(self, brief: Brief, listening: TaskGroup) -> tuple[LineProcess, bool]:
        """A ready process, and whether it serves another conversation afterwards."""
        while self.idle:
            with suppress(AgentError):  # it ended, or went wrong, while it was not needed
                return await self._introduced(self.idle.pop(), brief, listening)
        started = await LineProcess.start(self.command, self.environment)
        return await self._introduced(started, brief, listening)

    async def _introduced(self, process: LineProcess, brief: Brief, listening: TaskGroup) -> tuple[LineProcess, bool]:
        listening.start_soon(process.listen)
        process.busy, process.awaited = True, 'a line {"type": "ready"}'
        start: dict[str, Any] = {
            "type": "start",
            "protocol": PROTOCOL,
            "instructions": brief.instructions,
            "mcp": {"url": brief.target.url, "headers": dict(brief.target.headers)},
            "settings": {
                **self.settings.told(),
                "key_variable": self.settings.endpoint.key_variable or self.key_variable,
            },
            **({"history": as_messages(brief.history)} if brief.history else {}),
        }
        patience = min(self.begin_within, self.settings.patience)
        try:
            with anyio.fail_after(patience):
                await _tell(process, start)
                ready = await _hear(process)
            if ready["type"] != "ready":
                raise AgentError(f"the agent's process began with {ready['type']!r}; expected 'ready'")
            if brief.history and ready.get("history") is not True:
                raise AgentError(
                    "the agent's process was given a history and did not say that it takes one; where it does, it "
                    'answers with {"type": "ready", "history": true}'
                )
        except BaseException as error:
            await process.stop()
            if isinstance(error, TimeoutError):
                raise AgentError(f"the agent's process was not ready within {counted(patience, 'second')}") from error
            raise
        process.busy = False
        return process, ready.get("lasting") is True

    async def _kept(self, process: LineProcess) -> bool:
        """True if the process has let go of the conversation and waits for the next."""
        process.busy = True
        with anyio.CancelScope(shield=True), anyio.move_on_after(PATIENCE), suppress(AgentError):
            await _tell(process, {"type": "end"})
            ended = await _hear(process)
            process.busy = ended["type"] != "ended" or bool(process.rest)
        if process.busy:
            return False
        process.forget()
        self.idle.append(process)
        return True


async def _tell(process: LineProcess, message: Mapping[str, Any]) -> None:
    await process.tell(json.dumps(message))


async def _hear(process: LineProcess) -> dict[str, Any]:
    """The next message."""
    line = await process.hear()
    heard = read_object(line, WROTE, "one JSON object a line")
    if "type" not in heard:
        raise AgentError(f"{WROTE} {line[:200]!r}; expected an object with a type")
    if heard["type"] == "error":
        raise AgentError(str(heard.get("error") or "the agent's process gave no reason"))
    return heard
