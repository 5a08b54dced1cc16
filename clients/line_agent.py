"""Agents in a process of their own, that read and write one JSON object a line: any command, and every framework.

Policy: the process gets the session's URL and the user's words and says what the agent says; how it calls the tools is
its own affair. Its standard error is its own as well, and its last lines are told when it breaks. Processes that serve
one conversation after the other are kept for the next; one that broke, or was stopped in the middle, never is. The
protocol is written down in docs/adapters.md.
"""

import json
import os
import signal
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, cast

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process
from anyio.streams.text import TextReceiveStream

from clients.base import Agent, AgentError, AgentTurn, Brief, Conversation
from clients.settings import AgentSettings

PROTOCOL = 1
LONGEST_LINE = 16 * 1024 * 1024
"""Characters of one line; an agent that writes more without an end of line is broken."""
PATIENCE = 5.0
"""Seconds that a process gets to end by itself."""
KEPT = 20
"""Lines of standard error that are remembered."""


@dataclass(slots=True)
class LineProcess:
    """A running command, and what it has written."""

    process: Process
    errors: deque[str] = field(default_factory=lambda: deque[str](maxlen=KEPT))
    buffer: str = ""
    busy: bool = False
    """Whether an answer is due, so that the process cannot be asked anything else."""
    output: TextReceiveStream = field(init=False)

    def __post_init__(self) -> None:
        self.output = TextReceiveStream(cast("ByteReceiveStream", self.process.stdout), errors="replace")

    async def tell(self, message: Mapping[str, Any]) -> None:
        """Write one message.

        Raises:
            AgentError: nobody reads it.
        """
        try:
            await cast("ByteSendStream", self.process.stdin).send(
                json.dumps(message, ensure_ascii=False).encode() + b"\n"
            )
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError) as error:
            raise AgentError(await self._ended()) from error

    async def hear(self) -> dict[str, Any]:
        """The next message.

        Raises:
            AgentError: it is none, or says that the agent broke, or there is no more.
        """
        line = await self._line()
        try:
            message: Any = json.loads(line)
        except ValueError as error:
            raise AgentError(f"the agent's process wrote {line[:200]!r}; expected one JSON object a line") from error
        if not isinstance(message, dict) or "type" not in message:
            raise AgentError(f"the agent's process wrote {line[:200]!r}; expected an object with a type")
        heard = cast("dict[str, Any]", message)
        if heard["type"] == "error":
            raise AgentError(str(heard.get("error") or "the agent's process gave no reason"))
        return heard

    async def _line(self) -> str:
        while "\n" not in self.buffer:
            try:
                self.buffer += await self.output.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
                raise AgentError(await self._ended()) from error
            if len(self.buffer) > LONGEST_LINE:
                raise AgentError(f"the agent's process wrote {LONGEST_LINE} characters without an end of line")
        line, _, self.buffer = self.buffer.partition("\n")
        return line

    async def _ended(self) -> str:
        """How the process ended, for people."""
        with anyio.move_on_after(PATIENCE):
            await self.process.wait()
        code = self.process.returncode
        how = "closed its output" if code is None else f"ended with exit code {code}"
        last = next((line for line in reversed(self.errors) if line.strip()), "")
        return f"the agent's process {how}" + (f"; its last words: {last.strip()[:300]}" if last else "")

    async def listen(self) -> None:
        """Remember the last lines of standard error, for as long as there are any."""
        rest = ""
        async for text in TextReceiveStream(cast("ByteReceiveStream", self.process.stderr), errors="replace"):
            *lines, rest = (rest + text).split("\n")
            self.errors.extend(lines)

    async def stop(self) -> None:
        """End the process and all that it has started, politely first."""
        with anyio.CancelScope(shield=True):
            if self.process.stdin is not None:
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
                    await self.process.stdin.aclose()
            if not self.busy:
                await self._gone()
            if self.process.returncode is None:
                _signal(self.process, "SIGTERM")
                await self._gone()
            _signal(self.process, "SIGKILL")
            await self.process.aclose()

    async def _gone(self) -> None:
        with anyio.move_on_after(PATIENCE):
            await self.process.wait()


def _signal(process: Process, name: Literal["SIGTERM", "SIGKILL"]) -> None:
    """Signal the process and its children, which share its group; where there are no groups, end the process."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, getattr(signal, name))
        else:
            process.kill()


@dataclass(frozen=True, slots=True)
class _Talking:
    process: LineProcess

    async def turn(self, message: str) -> AgentTurn:
        self.process.busy = True
        await self.process.tell({"type": "user", "text": message})
        heard = await self.process.hear()
        self.process.busy = False
        if heard["type"] != "reply" or not isinstance(heard.get("text"), str):
            raise AgentError(f"the agent's process answered with {json.dumps(heard)[:200]}; expected a reply with text")
        return AgentTurn(heard["text"], _meta(heard))


def _meta(heard: Mapping[str, Any]) -> dict[str, Any]:
    usage = heard.get("usage")
    meta = heard.get("meta")
    kept: dict[str, Any] = dict(cast("Mapping[str, Any]", meta)) if isinstance(meta, Mapping) else {}
    return {**kept, "usage": usage} if isinstance(usage, Mapping) else kept


@dataclass(frozen=True, slots=True)
class LineAgent(Agent):
    """Runs ``command``, one process per conversation at a time.

    ``about`` is what logs say of it beside its settings, ``environment`` what its processes have on top of ours.
    ``lasting`` says that a process takes one conversation after the other.
    """

    name: str
    command: tuple[str, ...]
    settings: AgentSettings
    key_variable: str = "OPENAI_API_KEY"
    about: Mapping[str, Any] = field(default_factory=dict[str, Any])
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    lasting: bool = False
    idle: list[LineProcess] = field(default_factory=list[LineProcess])
    needs_url: ClassVar[bool] = True

    @asynccontextmanager
    async def converse(self, brief: Brief) -> AsyncGenerator[Conversation]:
        """Start the command, or take one that waits, and tell it where the tools are.

        Raises:
            AgentError: it cannot be started, or says that it cannot begin.
        """
        process = self.idle.pop() if self.idle else await self._started()
        clean = False
        async with anyio.create_task_group() as listening:
            listening.start_soon(process.listen)
            try:
                await process.tell(self._start(brief))
                ready = await process.hear()
                if ready["type"] != "ready":
                    raise AgentError(f"the agent's process began with {ready['type']!r}; expected 'ready'")
                yield _Talking(process)
                clean = True
            finally:
                listening.cancel_scope.cancel()
                await self._let_go(process, clean=clean and not process.busy)

    def describe(self) -> Mapping[str, Any]:
        """What it runs, on which model, and with which limits."""
        return {**self.settings.endpoint.describe(), "max_steps": self.settings.max_steps, **self.about}

    async def aclose(self) -> None:
        """End the processes that wait for another conversation."""
        while self.idle:
            await self.idle.pop().stop()

    async def _started(self) -> LineProcess:
        try:
            process = await anyio.open_process(
                self.command, env={**os.environ, **self.environment}, start_new_session=True
            )
        except OSError as error:
            raise AgentError(f"the agent's command {self.command[0]!r} cannot be started: {error.strerror}") from error
        return LineProcess(process)

    def _start(self, brief: Brief) -> dict[str, Any]:
        endpoint = self.settings.endpoint
        return {
            "type": "start",
            "protocol": PROTOCOL,
            "instructions": brief.instructions,
            "mcp": {"url": brief.target.url, "headers": dict(brief.target.headers)},
            "settings": {
                "model": endpoint.model,
                "base_url": endpoint.base_url,
                "key_variable": endpoint.key_variable or self.key_variable,
                "parameters": dict(endpoint.parameters),
                "max_steps": self.settings.max_steps,
                "timeout": endpoint.timeout,
                "retries": endpoint.retries,
            },
        }

    async def _let_go(self, process: LineProcess, *, clean: bool) -> None:
        if self.lasting and clean:
            with anyio.CancelScope(shield=True), suppress(AgentError):
                await process.tell({"type": "end"})
                self.idle.append(process)
                return
        await process.stop()
