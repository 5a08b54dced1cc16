"""A command that reads and writes lines: started, spoken to, and ended together with all that it has started.

Policy: nothing that a command does can hold up a run or fill its memory. Lines have a greatest length, every wait for
its end is bounded, and the rest of its process group is killed. Its standard error is its own; the last lines of it
are told when it breaks.
"""

import os
import secrets
import signal
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast

import anyio
import anyio.to_thread
from anyio.abc import ByteReceiveStream, ByteSendStream, Process
from anyio.streams.text import TextReceiveStream

from sandbox_clients.base import AgentError

LONGEST_LINE = 16 * 1024 * 1024
"""Bytes of one line; a command that writes more without an end of line is broken."""
PATIENCE = 5.0
"""Seconds that a process gets to end by itself, and again after it was asked to."""
GLANCE = 0.5
"""Seconds between looks at whether a process that writes nothing is still there."""
KEPT = 20
"""Lines of standard error that are remembered."""
LONGEST_WORDS = 4000
"""Characters of standard error without an end of line that are remembered."""
MARK = "SANDBOX_MCP_AGENT_PROCESS"
"""Variable that all processes of one agent process have."""
GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)


@dataclass(slots=True)
class LineProcess:
    """A running command, and what it has written.

    ``busy`` says that an answer is due, so that the process cannot be asked anything else. ``rest`` is what it wrote
    behind the last line that was read, ``awaited`` what it is to write next. ``mark`` is in the environment of all that
    it starts, by which a child is found that has left its process group.
    """

    process: Process
    busy: bool = False
    rest: bytes = b""
    errors: deque[str] = field(default_factory=lambda: deque[str](maxlen=KEPT))
    unfinished: str = ""
    silent: anyio.Event = field(default_factory=anyio.Event)
    awaited: str = ""
    mark: str = ""

    @classmethod
    async def start(cls, command: Sequence[str], environment: Mapping[str, str]) -> "LineProcess":
        """Start a command with these variables on top of ours, in a process group of its own.

        Raises:
            AgentError: it cannot be started.
        """
        try:
            mark = f"{MARK}={secrets.token_hex(8)}"
            marked = {**os.environ, **environment, MARK: mark.partition("=")[2]}
            process = await anyio.open_process(command, env=marked, start_new_session=True)
        except (OSError, ValueError) as error:
            reason = (isinstance(error, OSError) and error.strerror) or error
            raise AgentError(f"the agent's command {command[0]!r} cannot be started: {reason}") from error
        return cls(process, mark=mark)

    async def tell(self, line: str) -> None:
        """Write one line. If the process no longer reads, :meth:`hear` still gives what it said last."""
        with suppress(*GONE):
            await cast("ByteSendStream", self.process.stdin).send(line.encode("utf-8", "replace") + b"\n")

    async def check_silent(self) -> None:
        """See that it has written nothing since it was last asked, which would be taken for its next answer.

        Raises:
            AgentError: it has.
        """
        if not self.rest.strip():
            with anyio.move_on_after(0), suppress(anyio.EndOfStream, *GONE):
                self.rest += await cast("ByteReceiveStream", self.process.stdout).receive()
        if unasked := self.rest.strip():
            line = _text(unasked.split(b"\n")[0])[:300]
            raise AgentError(f"the agent's process wrote {line!r} before it was asked; expected one answer a message")

    async def hear(self) -> str:
        """The next line, without its end; the last one need have none.

        Raises:
            AgentError: the process has said its last line, or the line is too long.
        """
        found: list[bytes] = []
        length = 0
        while b"\n" not in self.rest:
            found.append(self.rest)
            length += len(self.rest)
            if length > LONGEST_LINE:
                raise AgentError(f"the agent's process wrote {LONGEST_LINE} bytes without an end of line")
            self.rest = await self._more()
            if not self.rest:
                last = b"".join(found)
                if last.strip():
                    return _text(last)
                raise AgentError(await self._ended())
        line, _, self.rest = self.rest.partition(b"\n")
        return _text(b"".join([*found, line]))

    async def _more(self) -> bytes:
        """Read what it writes next; nothing at the end, even if a child it left behind holds the pipe open."""
        ended = False
        while not ended:
            ended = self.process.returncode is not None
            with anyio.move_on_after(GLANCE):
                try:
                    return await cast("ByteReceiveStream", self.process.stdout).receive()
                except (anyio.EndOfStream, *GONE):
                    return b""
        return b""

    async def _ended(self) -> str:
        """Describe to people how the process ended."""
        await self._gone()
        with anyio.move_on_after(PATIENCE / 5):
            await self.silent.wait()
        code = self.process.returncode
        if code is None:
            how = "closed its output"
        elif code >= 0:
            how = f"ended with exit code {code}"
        else:
            how = f"was killed by signal {-code}"
            with suppress(ValueError):
                how = f"was killed by {signal.Signals(-code).name}"
        words = next((line.strip() for line in (self.unfinished, *reversed(self.errors)) if line.strip()), "")
        told = f"; its last words: {words[:300]}" if words else f"; expected {self.awaited}" if self.awaited else ""
        return f"the agent's process {how}{told}"

    async def listen(self) -> None:
        """Remember the last lines of standard error, for as long as there are any."""
        with suppress(*GONE):
            async for text in TextReceiveStream(cast("ByteReceiveStream", self.process.stderr), errors="replace"):
                *lines, self.unfinished = (self.unfinished + text)[-LONGEST_WORDS:].split("\n")
                self.errors.extend(lines)
        self.silent.set()

    def forget(self) -> None:
        """Forget what it said on standard error."""
        self.errors.clear()
        self.unfinished = ""

    async def stop(self) -> None:
        """End the process and all that it has started, politely unless it is busy."""
        with anyio.CancelScope(shield=True):
            with suppress(*GONE):
                await cast("ByteSendStream", self.process.stdin).aclose()
            if not self.busy:
                await self._gone()
            if self.process.returncode is None:
                _signal(self.process, "SIGTERM")
                await self._gone()
            _signal(self.process, "SIGKILL")
            with anyio.move_on_after(PATIENCE):
                await self.process.wait()  # for the pipes as well, which a child in another session may hold open
                await self.process.aclose()
            await anyio.to_thread.run_sync(_kill_marked, self.mark)

    async def _gone(self) -> None:
        """Wait for the end of the process, whoever else may hold its pipes open."""
        until = time.monotonic() + PATIENCE
        while self.process.returncode is None and time.monotonic() < until:  # noqa: ASYNC110 - asyncio waits for more
            await anyio.sleep(0.01)


def _text(line: bytes) -> str:
    return line.removesuffix(b"\r").decode("utf-8", "replace")


def _kill_marked(mark: str) -> None:
    """Kill what has left the process group, as daemons do, found by the mark in its environment.

    Only where the system shows environments in ``/proc``, as Linux does; elsewhere such a child lives on.
    """
    for place in Path("/proc").glob("[0-9]*/environ") if mark else ():
        with suppress(OSError):
            if mark.encode() in place.read_bytes().split(b"\0"):
                os.kill(int(place.parent.name), signal.SIGKILL)


def _signal(process: Process, name: Literal["SIGTERM", "SIGKILL"]) -> None:
    """Signal the process and its children, which share its group; where there are no groups, end the process."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, getattr(signal, name))
        else:
            process.kill()
