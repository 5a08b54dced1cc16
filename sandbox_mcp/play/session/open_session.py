"""One open session: what those who reach it may do in it, one after the other.

Policy: whatever touches a session holds its lock. What was begun is finished and recorded, even if whoever asked has
gone; what may take long is done in another thread, so that other sessions are served meanwhile.
"""

import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio

from sandbox_mcp.engine.tools import PresentedTool
from sandbox_mcp.engine.trajectory import EndReason, MemoryLog, Sink, Trajectory, parse_trajectory, to_line
from sandbox_mcp.play.session.agent_calls import AgentCall, CallResult, Unconfirmed
from sandbox_mcp.play.session.announcing import Notice
from sandbox_mcp.play.session.batching import WINDOW, Batcher
from sandbox_mcp.play.session.log_files import LogFile
from sandbox_mcp.play.session.session import Reply, Session
from sandbox_mcp.play.session.tool_channel import SEND, say_to_user, send_message
from sandbox_mcp.play.users import UserTurn

_T = TypeVar("_T")


@dataclass(slots=True, weakref_slot=True, eq=False)
class Presentation:
    """Tools as an agent sees them: those of the world, and the one that reaches the user where there is one.

    Sessions that present the same share one object, so whatever a server builds from it is built once. ``lists`` has
    the answers to ``tools/list`` that were made of it, by protocol version.
    """

    tools: Mapping[str, PresentedTool]
    listed: tuple[PresentedTool, ...]
    lists: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])


class OpenSession:
    """A session that can be reached. ``token`` finds it, ``bearer`` proves the right to use it where asked."""

    __slots__ = (
        "__weakref__", "_batcher", "_closing", "_forgotten", "_lock", "_log", "_watchers", "bearer", "opening", "path",
        "presentation", "session", "token", "used",
    )  # fmt: skip

    def __init__(
        self, session: Session, presentation: Presentation, log: Sink, opening: str, window: float = WINDOW
    ) -> None:
        self.token = secrets.token_urlsafe(24)
        self.bearer = secrets.token_urlsafe(24)
        self.session = session
        self.presentation = presentation
        self.opening = opening
        self._lock = anyio.Lock(fast_acquire=True)
        self.used = time.monotonic()
        self.path: Path | None = log.path if isinstance(log, LogFile) else None
        self._log = log
        self._batcher = Batcher(self.run, window)
        self._watchers: list[Callable[[], None]] = []
        self._closing: list[Callable[[], None]] = []
        self._forgotten: list[Callable[[], None]] = []
        session.announcements.on_notice = self._tell

    async def call(
        self,
        name: str,
        arguments: object,
        *,
        meta: Mapping[str, Any] | None = None,
        kept: Mapping[str, Any] | None = None,
    ) -> CallResult:
        """Let the agent call a tool it was offered. Faults are results, never exceptions.

        ``meta`` is what the client sent beside the arguments; a mark in it tells which calls are one batch. ``kept`` is
        recorded with the call.
        """
        self.used = time.monotonic()
        if name == SEND and self.session.spec.user_channel == "tool":
            await self._batcher.settle()
            return await self._alone(lambda: send_message(self.session, arguments, kept))
        return await self._batcher.call(AgentCall(name, arguments, kept or {}), meta)

    async def call_confirmed(self, call: AgentCall, refused: Unconfirmed, meta: Mapping[str, Any]) -> CallResult:
        """Carry out a call that was refused, now that the user has confirmed it; ``meta`` says how they did."""
        self.used = time.monotonic()
        await self._batcher.settle()
        async with self.turn():
            result = await self._made(partial(self.session.call_confirmed, call, refused, meta))
        self._settled()
        return result

    async def answered(self, content: str, answer: UserTurn) -> CallResult:
        """Let the agent say something that the person at its client has answered already."""
        self.used = time.monotonic()
        await self._batcher.settle()
        return await self._alone(lambda: say_to_user(self.session, content, answer))

    async def notices(self) -> tuple[Notice, ...]:
        """All that has been announced so far."""
        self.used = time.monotonic()
        async with self.turn():
            return self.session.notices

    def when_announced(self, told: Callable[[], None]) -> None:
        """Have ``told`` called whenever something is announced."""
        self._watchers.append(told)

    def when_over(self, told: Callable[[], None]) -> None:
        """Have ``told`` called once the session is over, which it may be already."""
        self._closing.append(told)
        self._settled()

    def when_forgotten(self, told: Callable[[], None]) -> None:
        """Have ``told`` called once the session can be reached no more."""
        self._forgotten.append(told)

    def forget(self) -> None:
        """Tell all who asked that the session can be reached no more."""
        forgotten, self._forgotten = self._forgotten, []
        for told in forgotten:
            told()

    async def say(self, text: str, meta: Mapping[str, Any] | None = None) -> Reply:
        """Let the agent say something to the user, and wait for the answer, which is recorded in any case.

        Raises:
            SessionError: the session is over.
        """
        self.used = time.monotonic()
        await self._batcher.settle()
        return await self._alone(lambda: self.session.say(text, meta))

    async def end(self, reason: EndReason, detail: str | None = None) -> None:
        """End the session; it can still be read. Ending it twice keeps the first reason."""
        try:
            async with self.turn():
                self.session.end(reason, detail)
        finally:
            self._settled()

    @property
    def busy(self) -> bool:
        """True if something is being done in the session just now."""
        return self._lock.locked()

    def turn(self) -> AbstractAsyncContextManager[None]:
        """The session to oneself, for as long as the context is open."""
        return self._lock

    def _release(self) -> None:
        """Let go of the log's file; it is taken up again by whatever is recorded next."""
        if isinstance(self._log, LogFile):
            self._log.release()

    def _settled(self) -> None:
        """Once the session is over, let go of those who watch it and of its file."""
        if self.session.over:
            closing, self._closing = self._closing, []
            for told in closing:
                told()
            self._release()

    def lines(self) -> bytes | None:
        """The log so far as JSON Lines, or None where it is kept elsewhere."""
        if self.path is not None:
            return self.path.read_bytes()
        if isinstance(self._log, MemoryLog):
            return "".join(to_line(event) for event in self._log.events).encode()
        return None

    def trajectory(self) -> Trajectory | None:
        """What has happened so far, or None where the log is kept elsewhere."""
        if isinstance(self._log, MemoryLog):
            return self._log.trajectory()
        lines = self.lines()
        return None if lines is None else parse_trajectory(lines)

    async def run(self, calls: Sequence[AgentCall]) -> list[CallResult]:
        """Run a batch. Where nothing else can happen meanwhile, a free lock need not be taken."""
        ahead = self.session.look_up(calls)
        if ahead or self.busy or self.session.live is not None:
            async with self._lock:
                if ahead:
                    await anyio.to_thread.run_sync(ahead)  # other sessions are served while this one looks
                return await self._batch(calls)
        return await self._batch(calls)

    async def _batch(self, calls: Sequence[AgentCall]) -> list[CallResult]:
        self.used = time.monotonic()
        results = await self._made(partial(self.session.call_batch, calls))
        self._settled()
        return results

    async def _made(self, work: Callable[[], _T]) -> _T:
        """Run calls: in another thread where they may ask live sources, which others need not wait for."""
        if self.session.live is None:
            return work()
        with self.session.handing_back(anyio.from_thread.run_sync):
            return await anyio.to_thread.run_sync(work)

    def _tell(self) -> None:
        for told in self._watchers:
            told()

    async def _alone(self, work: Callable[[], Awaitable[_T]]) -> _T:
        """Finish what the user has begun to hear, even if whoever asked has gone: else it would go unanswered."""
        async with self.turn():
            try:
                with anyio.CancelScope(shield=True):
                    return await work()
            finally:
                self._settled()
        raise RuntimeError("a shield was broken")
