"""Many open sessions: which there are, where their logs go, and when they are given up.

Policy: a session is known by an unguessable token and by nothing else, so that it outlives connections and processes of
its agent. One that was not used for too long is closed as ``abandoned``.
"""

import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

import anyio
from sandbox_scenarios import Suite
from sandbox_scenarios.model import Scenario
from sandbox_scenarios.personas import user_of
from sandbox_scenarios.variants import BASE, presented

from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.tools import PresentedTool
from sandbox_mcp.engine.trajectory import EndReason, MemoryLog, Sink
from sandbox_mcp.play.session.batching import WINDOW
from sandbox_mcp.play.session.live_servers import close_servers, with_servers
from sandbox_mcp.play.session.log_files import LogFile, LogFiles
from sandbox_mcp.play.session.open_session import OpenSession, Presentation
from sandbox_mcp.play.session.opening import SessionSpec
from sandbox_mcp.play.session.session import Session
from sandbox_mcp.play.session.tape_filling import looked_up
from sandbox_mcp.play.session.tool_channel import SEND_TOOL
from sandbox_mcp.play.telemetry import traced
from sandbox_mcp.play.users import ScriptedUser, User

logger = logging.getLogger(__name__)
UserFactory = Callable[[Scenario], User]
"""Makes the user that plays a scenario."""


USERS: Mapping[str, UserFactory] = MappingProxyType(
    {"scripted": lambda scenario: ScriptedUser.of(scenario.user, scenario.clock)}
)
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


MAX_SESSIONS = 5000
"""How many sessions a manager keeps at a time, unless it is told otherwise; each takes about 20 KB."""


MOST_PRESENTED = 4096
"""How many presentations are remembered by the scenarios that have them; training draws instances without end."""


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
        self._alike: dict[bytes, Presentation] = {}

    def create(
        self, spec: SessionSpec, user: User, *, sink: Sink | None = None, seat: str | None = None
    ) -> OpenSession:
        """Begin a session and make it reachable. Without a sink its log goes to ``log_dir``, or stays in memory.

        ``seat`` is the place in the lobby where it is begun, if it is begun there.

        Raises:
            ScenarioError: there is no such variant.
            SandboxError: a model that is to answer in the world cannot be asked.
            TooManySessionsError: the limit is reached and no session is over.
            OSError: the log cannot be written.
        """
        self._make_room()
        presentation = self.presentation(spec)
        log = sink or (MemoryLog() if self.log_dir is None else self._files.new(self.log_dir, spec.id))
        try:
            session = self.session(spec, user, sink or traced(log))
            opening = session.begin()
            return self.adopt(OpenSession(session, presentation, log, opening, self.batch_window), seat)
        except Exception:  # such as a disk that is full, or a model that cannot be asked
            if isinstance(log, LogFile):
                log.discard()
            raise

    def session(self, spec: SessionSpec, user: User, sink: Sink) -> Session:
        """A session that has yet to begin or to be restored, with the sources that tools look things up in here.

        Raises:
            ScenarioError: there is no such variant.
            SandboxError: a model that is to answer in the world cannot be asked.
        """
        knowledge = with_servers(spec.scenario, looked_up(spec.scenario, self.knowledge))
        try:
            return Session(spec, user, sink, self.presentation(spec).tools, knowledge)
        except Exception:
            close_servers(knowledge)
            raise

    def user(self, kind: str | None, scenario: Scenario, variant: str = BASE) -> User:
        """A simulated user of that kind, or of the default kind, under the personas of scenario and variant.

        Raises:
            UnknownUserError: there is no such kind.
        """
        chosen = self.default_user if kind is None else kind
        if chosen not in self.users:
            raise UnknownUserError(chosen, self.users)
        played = user_of(scenario, variant)
        return self.users[chosen](scenario if played is scenario.user else replace(scenario, user=played))

    def adopt(self, opened: OpenSession, seat: str | None = None) -> OpenSession:
        """Make a session reachable that was begun elsewhere, or at a seat of the lobby."""
        self._open[opened.token] = opened
        if seat is not None:
            self._seated[seat] = opened
        return opened

    def is_here(self, key: str) -> bool:  # noqa: ARG002
        """True if a key is looked after in this process; always, where there is but one."""
        return True

    def named(self, name: str) -> OpenSession | None:  # noqa: ARG002
        """The session that an earlier process began under that name; None, as none of its sessions are kept."""
        return None

    def seated(self, seat: str) -> OpenSession | None:
        """The session that was begun last at a seat of the lobby; it may be over and closed."""
        return self._seated.get(seat)

    def get(self, token: str) -> OpenSession:
        """The session of that token, which counts as used by it.

        Raises:
            UnknownSessionError: no open session has that token.
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
            UnknownSessionError: no open session has that token.
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
        """Close the sessions that were not used for ``idle_seconds``; one at work is left alone."""
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
        """Number of sessions open in this process and in all that share the work with it."""
        return len(self)

    def __bool__(self) -> bool:
        """A manager is one even while no session is open."""
        return True

    def _make_room(self) -> None:
        if len(self) >= self.max_sessions:
            self._give_way()

    def _give_way(self) -> None:
        """Forget the oldest ended session, for the sake of a new one."""
        over = self.over_first()
        if over is None:
            raise TooManySessionsError(self.max_sessions)
        self._open.pop(over).forget()

    def over_first(self) -> str | None:
        """The token of the oldest ended session, which makes room for new ones."""
        return next((token for token, opened in self._open.items() if opened.session.over), None)

    def presentation(self, spec: SessionSpec) -> Presentation:
        """The tools that a session of this spec presents.

        Raises:
            ScenarioError: there is no such variant.
        """
        key = (spec.scenario.name, spec.scenario.digest, spec.variant, spec.user_channel)
        if key not in self._presented:
            if len(self._presented) >= MOST_PRESENTED:
                self._presented.clear()
            tools = presented(spec.scenario, spec.variant)
            listed = (*tools.values(), SEND_TOOL) if spec.user_channel == "tool" else tuple(tools.values())
            self._presented[key] = self._alike.setdefault(fingerprint(listed), Presentation(tools, listed))
        return self._presented[key]

    def log_file(self, path: Path) -> LogFile:
        """A log in a file of the caller's choice, open only while it is written to often."""
        return LogFile(path, self._files)


def fingerprint(tools: tuple[PresentedTool, ...]) -> bytes:
    """A digest of what an agent can see of these tools, and of their functions, as two worlds' tools may look alike."""
    seen = [(id(tool.tool.function), tool.name, tool.description, tool.schema) for tool in tools]
    return sha256(json.dumps(seen).encode()).digest()
