"""Open sessions: who may reach which, where their logs go, and when they are given up.

Policy: a session is known by an unguessable token and by nothing else, so that it outlives connections and processes of
its agent. Whatever touches a session holds its lock. One that was not used for too long is closed as ``abandoned``.
"""

import json
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import anyio
from sandbox_scenarios import Suite
from sandbox_scenarios.model import Scenario
from sandbox_scenarios.variants import presented

from sandbox_mcp.errors import SandboxError
from sandbox_mcp.plurals import counted
from sandbox_mcp.session.agent_calls import AgentCall, CallResult, Unconfirmed
from sandbox_mcp.session.batching import WINDOW, Batcher
from sandbox_mcp.session.log_files import LogFile, LogFiles
from sandbox_mcp.session.opening import SessionSpec
from sandbox_mcp.session.session import Notice, Reply, Session
from sandbox_mcp.session.stand_in import looked_up
from sandbox_mcp.session.tool_channel import SEND, SEND_TOOL, say_to_user, send_message
from sandbox_mcp.telemetry import traced
from sandbox_mcp.tools import PresentedTool
from sandbox_mcp.trajectory import EndReason, MemoryLog, Sink, to_line
from sandbox_mcp.users import ScriptedUser, User, UserTurn

logger = logging.getLogger(__name__)
_T = TypeVar("_T")
UserFactory = Callable[[Scenario], User]
"""Makes the user that plays a scenario."""


def _scripted(scenario: Scenario) -> User:
    return ScriptedUser.of(scenario.user)


USERS: Mapping[str, UserFactory] = MappingProxyType({"scripted": _scripted})
"""The users that need no configuration."""


class ManagerError(SandboxError):
    """Base of what can go wrong between sessions."""


class UnknownSessionError(ManagerError):
    """No open session has that token. The token is a secret and not repeated here."""

    def __init__(self) -> None:
        super().__init__("there is no such session; it may have been closed")


class TooManySessionsError(ManagerError):
    """The limit on open sessions is reached."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(f"the limit is {counted(limit, 'open session')}; end one first")


class UnknownUserError(ManagerError):
    """There is no simulated user of that kind."""

    def __init__(self, kind: str, known: Iterable[str]) -> None:
        self.kind = kind
        super().__init__(f"unknown user {kind!r}; known: {', '.join(known)}")


class Presentation:
    """Tools as an agent sees them: those of the world, and the one that reaches the user where there is one.

    Sessions that present the same share one object, so whatever a server builds from it is built once. ``lists`` has
    the answers to ``tools/list`` that were made of it, by protocol version.
    """

    __slots__ = ("__weakref__", "listed", "lists", "tools")

    def __init__(self, tools: Mapping[str, PresentedTool], listed: tuple[PresentedTool, ...]) -> None:
        self.tools = tools
        self.listed = listed
        self.lists: dict[str, dict[str, Any]] = {}


class OpenSession:
    """A session that can be reached. ``token`` finds it, ``bearer`` proves the right to use it where that is asked."""

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
        session.on_notice = self._tell

    async def call(self, name: str, arguments: object, *, meta: Mapping[str, Any] | None = None) -> CallResult:
        """Let the agent call a tool it was offered. Faults are results, never exceptions.

        ``meta`` is what the client sent beside the arguments; a mark in it tells which calls are one batch.
        """
        self.used = time.monotonic()
        if name == SEND and self.session.spec.user_channel == "tool":
            await self._batcher.settle()
            return await self._alone(lambda: send_message(self.session, arguments))
        return await self._batcher.call(AgentCall(name, arguments), meta)

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

    def watch(self, told: Callable[[], None], closing: Callable[[], None]) -> None:
        """Have ``told`` called whenever something is announced, and ``closing`` once it never will again."""
        self._watchers.append(told)
        self._closing.append(closing)
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
        """Whether something is being done in the session just now."""
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

    async def run(self, calls: Sequence[AgentCall]) -> list[CallResult]:
        """Run a batch. Where nothing else can happen meanwhile, a lock that is free need not be taken."""
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
        """What comes of calls: in another thread where they may ask live sources, which others need not wait for."""
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


MAX_SESSIONS = 5000
"""How many sessions a manager keeps at a time, unless it is told otherwise; each takes about 20 KB."""


class SessionManager:
    """Creates sessions of one suite's scenarios, finds them, and gives up those that are not used."""

    def __init__(
        self,
        suite: Suite,
        *,
        log_dir: Path | None = None,
        max_sessions: int = MAX_SESSIONS,
        idle_seconds: float = 3600.0,
        users: Mapping[str, UserFactory] = USERS,
        default_user: str = "scripted",
        batch_window: float = WINDOW,
        knowledge: object = None,
    ) -> None:
        """Prepare a manager.

        Without ``log_dir`` logs stay in memory. ``idle_seconds`` is how long a session may go unused. ``users`` are
        the kinds of user that can be asked for by name, ``default_user`` the one that plays where none is.
        ``batch_window`` is how many seconds the first call after a pause waits for others that belong to it; 0 takes
        every call by itself unless the client marks it. ``knowledge`` is what search tools look things up in; without
        it, the offline sources.
        """
        self.suite = suite
        self.log_dir = log_dir
        self.max_sessions = max_sessions
        self.idle_seconds = idle_seconds
        self.users = users
        self.default_user = default_user
        self.batch_window = batch_window
        self.knowledge = knowledge
        self._open: dict[str, OpenSession] = {}
        self._seated: dict[str, OpenSession] = {}
        self._files = LogFiles()
        self._presented: dict[tuple[str, str, str, str], Presentation] = {}
        self._alike: WeakValueDictionary[bytes, Presentation] = WeakValueDictionary()

    def create(
        self, spec: SessionSpec, user: User, *, sink: Sink | None = None, seat: str | None = None
    ) -> OpenSession:
        """Begin a session and make it reachable. Without a sink its log goes to ``log_dir``, or stays in memory.

        ``seat`` is the place in the lobby where it is begun, if it is begun there.

        Raises:
            ScenarioError: there is no such variant.
            TooManySessionsError: the limit is reached and no session is over.
            OSError: the log cannot be written.
        """
        self._make_room()
        presentation = self.presentation(spec)
        log = sink or (MemoryLog() if self.log_dir is None else self._files.new(self.log_dir, spec.id))
        session = Session(spec, user, sink or traced(log), presentation.tools, looked_up(spec.scenario, self.knowledge))
        try:
            opening = session.begin()
            return self.adopt(OpenSession(session, presentation, log, opening, self.batch_window), seat)
        except OSError:
            if isinstance(log, LogFile):
                log.discard()
            raise

    def user(self, kind: str | None, scenario: Scenario) -> User:
        """A simulated user of that kind, or of the default kind.

        Raises:
            UnknownUserError: there is no such kind.
        """
        chosen = self.default_user if kind is None else kind
        if chosen not in self.users:
            raise UnknownUserError(chosen, self.users)
        return self.users[chosen](scenario)

    def adopt(self, opened: OpenSession, seat: str | None = None) -> OpenSession:
        """Make a session reachable that was begun elsewhere, or at a seat of the lobby."""
        self._open[opened.token] = opened
        if seat is not None:
            self._seated[seat] = opened
        return opened

    def named(self, name: str) -> OpenSession | None:  # noqa: ARG002
        """The session that an earlier process began under that name; None, as none of its sessions are kept."""
        return None

    def seated(self, seat: str) -> OpenSession | None:
        """The session that was begun last at a seat of the lobby; it may be over and closed."""
        return self._seated.get(seat)

    def get(self, token: str) -> OpenSession:
        """The session of that token, which counts as used by it.

        Raises:
            UnknownSessionError: there is none.
        """
        try:
            opened = self._open[token]
        except KeyError:
            raise UnknownSessionError from None
        opened.used = time.monotonic()
        return opened

    async def close(self, token: str, reason: EndReason = "abandoned") -> None:
        """End a session, unless it has ended, and forget it.

        Raises:
            UnknownSessionError: there is none of that token.
            OSError: its log cannot be written; it is forgotten all the same.
        """
        opened = self.get(token)
        try:
            await opened.end(reason)
        finally:
            self._open.pop(token, None)
            opened.forget()

    async def close_all(self, reason: EndReason = "abandoned") -> None:
        """End and forget every session."""
        for token in list(self._open):
            await self._give_up(token, reason)

    async def reap(self) -> None:
        """Close the sessions that were not used for ``idle_seconds``; one that is at work is left alone."""
        before = time.monotonic() - self.idle_seconds
        for opened in list(self._open.values()):
            if opened.used < before and not opened.busy:
                await self._give_up(opened.token)

    async def _give_up(self, token: str, reason: EndReason = "abandoned") -> None:
        """Close one of many sessions: a log that cannot be written must not keep the others open."""
        try:
            await self.close(token, reason)
        except UnknownSessionError:
            pass  # it was closed meanwhile
        except OSError as error:
            logger.error("the end of a session is not in its log: %s", error)

    async def reap_forever(self) -> None:
        """Look for idle sessions, again and again."""
        while True:
            await anyio.sleep(min(60.0, self.idle_seconds / 2))
            await self.reap()

    def __iter__(self) -> Iterator[OpenSession]:
        """The open sessions, oldest first."""
        return iter(list(self._open.values()))

    def __len__(self) -> int:
        return len(self._open)

    @property
    def open_anywhere(self) -> int:
        """How many sessions are open in this process and in all that share the work with it."""
        return len(self)

    def __bool__(self) -> bool:
        """A manager is one even while no session is open."""
        return True

    def _make_room(self) -> None:
        if len(self) >= self.max_sessions:
            self._give_way()

    def _give_way(self) -> None:
        """Forget the oldest session that is over, for the sake of a new one."""
        over = self.over_first()
        if over is None:
            raise TooManySessionsError(self.max_sessions)
        self._open.pop(over).forget()

    def over_first(self) -> str | None:
        """The token of the oldest session that is over, which makes room for new ones."""
        return next((token for token, opened in self._open.items() if opened.session.over), None)

    def presentation(self, spec: SessionSpec) -> Presentation:
        """The tools as sessions of this spec present them.

        Raises:
            ScenarioError: there is no such variant.
        """
        key = (spec.scenario.name, spec.scenario.digest, spec.variant, spec.user_channel)
        if key not in self._presented:
            tools = presented(spec.scenario, spec.variant)
            listed = (*tools.values(), SEND_TOOL) if spec.user_channel == "tool" else tuple(tools.values())
            digest = fingerprint(listed)
            shared = self._alike.get(digest)
            if shared is None:
                shared = self._alike[digest] = Presentation(tools, listed)
            self._presented[key] = shared
        return self._presented[key]

    def log_file(self, path: Path) -> LogFile:
        """A log in a file of the caller's choice, open only while it is written to often."""
        return LogFile(path, self._files)


def fingerprint(tools: tuple[PresentedTool, ...]) -> bytes:
    """A digest of everything an agent can see of these tools."""
    seen = [(tool.tool.name, tool.name, tool.description, tool.schema) for tool in tools]
    return sha256(json.dumps(seen).encode()).digest()
