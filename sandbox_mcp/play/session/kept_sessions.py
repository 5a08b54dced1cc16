"""Sessions that outlive their server: beside each log lies its URL, and whoever asks for it finds the session again.

Policy: the log is the state. Beside it are kept only the secrets that lead to the session, in a file that only its
owner can read, until the session is closed. One server at a time looks after such a folder. A session is read when it
is asked for, so that a server starts as fast with thousands in its folder as with none.
"""

import json
import logging
import os
import secrets
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from anyio.lowlevel import checkpoint

from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.trajectory import EndReason, Sink, mend_log, read_trajectory
from sandbox_mcp.engine.trajectory.packs import END_LINE, SUFFIX
from sandbox_mcp.engine.whole_files import check_regular
from sandbox_mcp.play.session.file_lock import NO_LINK, FileLock
from sandbox_mcp.play.session.manager import SessionManager, UnknownSessionError
from sandbox_mcp.play.session.open_session import OpenSession
from sandbox_mcp.play.session.opening import SessionSpec
from sandbox_mcp.play.session.share import OPEN, OVER, Share
from sandbox_mcp.play.session.state_folder import (
    ID,
    UNFIT,
    URL,
    StateError,
    check_files_can_be_made,
    has_opened,
    usable,
)
from sandbox_mcp.play.telemetry import traced
from sandbox_mcp.play.users import User

logger = logging.getLogger(__name__)
CARE = "serving.lock"
"""The file whose lock is held by the server that takes care of a folder."""
GRACE = 3.0
"""Seconds that a server waits for the last one to let go of its folder."""
LAST_LINE = 16_384
"""Bytes of a log in which the line of its end is looked for: more than that of the longest end that a harness tells."""


@dataclass(frozen=True, slots=True)
class SessionUrl:
    """Address of a session: the URL of ``token`` with ``bearer``, or ``seat`` if the lobby began it."""

    token: str
    bearer: str
    seat: str | None = None
    begun: int = 0


@dataclass(slots=True)
class _Waiting:
    """A session that was not asked for since the server began; ``goes_on`` once its log was seen to have no end."""

    name: str
    address: SessionUrl
    used: float
    goes_on: bool = False


class KeptSessions(SessionManager):
    """Sessions that a later process finds again, unless they were closed.

    The logs lie in ``log_dir``, the files with the URLs in ``addresses``, which may be the same folder. A manager that
    is not ``lasting`` ends its sessions when it stops as any other does, and keeps them only for who steps in for it.
    """

    def __init__(
        self,
        *args: Any,
        log_dir: Path,
        addresses: Path | None = None,
        lasting: bool = True,
        share: Share | None = None,
        **more: Any,
    ) -> None:
        """Find the folder's content; ``args`` and ``more`` are those of any manager.

        With a ``share`` it looks after some of the sessions in the folder only, and ``max_sessions`` holds for those of
        all processes together.

        Raises:
            StateError: the folder cannot be read or written.
        """
        super().__init__(*args, log_dir=log_dir, **more)
        self._logs = log_dir
        self._addresses = addresses or log_dir
        self._lasting = lasting
        self._share = share
        self._over: set[str] = set()
        self._waiting: dict[str, _Waiting] = {}
        with usable(log_dir):
            log_dir.mkdir(parents=True, exist_ok=True)
            self._find()
        self._tally()

    def _find(self) -> None:
        now = time.monotonic()
        for path in sorted(self._addresses.glob(f"*{URL}")):
            try:
                check_regular(self._log(path.stem), links=False)
                address = SessionUrl(**loads(check_regular(path, links=False).read_text(encoding="utf-8")))
            except (ValueError, TypeError, OSError) as error:
                logger.error("%s is damaged, its session cannot be reached: %s", path, error)
                continue
            if not self._log(path.stem).exists():
                with suppress(OSError):
                    path.unlink(missing_ok=True)
            elif self.owns(address):
                self._waiting[address.token] = _Waiting(path.stem, address, now)
                if self._share is not None and _has_end(self._log(path.stem)):
                    self._over.add(address.token)  # others may ask for its place

    def owns(self, address: SessionUrl) -> bool:
        """True if the session at that address is this manager's."""
        return self._share is None or self._share.owns(address.token if address.seat is None else address.seat)

    def is_here(self, key: str) -> bool:
        """True if a key falls to this process."""
        return self._share is None or self._share.owns(key)

    def create(
        self, spec: SessionSpec, user: User, *, sink: Sink | None = None, seat: str | None = None
    ) -> OpenSession:
        """Begin a session, like any manager; no more than ``max_sessions`` are open in all processes."""
        try:
            return super().create(spec, user, sink=sink, seat=seat)
        finally:
            self._tally()

    def _make_room(self) -> None:
        """Count the coming session before looking, so that two processes never take the same last place."""
        if self._share is None:
            return super()._make_room()
        tallies = self._share.tallies
        tallies.set(self._share.index, OPEN, len(self) + 1)
        if sum(tallies.of_each(OPEN)) > self.max_sessions:
            self._give_way()
        return None

    def _tally(self) -> None:
        if self._share is not None:
            self._share.tallies.set(self._share.index, OPEN, len(self))
            self._share.tallies.set(self._share.index, OVER, len(self._over))

    def adopt(self, opened: OpenSession, seat: str | None = None) -> OpenSession:
        """Make a session reachable, now and for later processes.

        Raises:
            OSError: its address cannot be kept.
        """
        if opened.path is None or opened.path.parent != self._logs:
            address = self._new_address(seat)
            opened.token, opened.bearer = address.token, address.bearer  # of those that lead to this process
            opened.when_forgotten(self._tally)
            return super().adopt(opened, seat)
        address = self._new_address(seat)
        opened.token, opened.bearer = address.token, address.bearer
        self._keep(opened.path.stem, address)
        return self._reachable(opened, address)

    def _new_address(self, seat: str | None) -> SessionUrl:
        while True:
            address = SessionUrl(secrets.token_urlsafe(24), secrets.token_urlsafe(24), seat, time.time_ns())
            if self.owns(address):
                return address

    def _keep(self, name: str, address: SessionUrl) -> None:
        path = self._addresses / f"{name}{URL}"
        draft = path.with_suffix(f"{URL}.new")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NO_LINK, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(address), file)
        draft.replace(path)

    def _reachable(self, opened: OpenSession, address: SessionUrl) -> OpenSession:
        path = self._addresses / f"{opened.path.stem if opened.path else ''}{URL}"
        opened.when_forgotten(lambda: self._forgotten(path, address.token))
        if self._share is not None:
            opened.when_over(lambda: self._is_over(address.token))
        return super().adopt(opened, address.seat)

    def _forgotten(self, path: Path, token: str) -> None:
        with suppress(OSError):
            path.unlink(missing_ok=True)
        self._over.discard(token)
        self._tally()

    def _is_over(self, token: str) -> None:
        self._over.add(token)
        self._tally()

    def get(self, token: str) -> OpenSession:
        """The session of that token, read from its log when it is first asked for.

        One whose log or scenario is no longer what it was stays in the folder as it is, and is not found.
        """
        if token not in self._open and token in self._waiting:
            try:
                self._take_up(self._waiting.pop(token))
            except (SandboxError, OSError) as error:
                logger.error("a session cannot go on: %s", error)
                self._over.discard(token)
                self._tally()
        return super().get(token)

    def _take_up(self, waiting: _Waiting) -> OpenSession:
        path = check_regular(self._log(waiting.name), links=False)
        mend_log(path)
        trajectory = read_trajectory(path)
        if not has_opened(trajectory):
            raise StateError(f"{str(path)!r} was cut off before its user had spoken; delete it to begin anew")
        started = trajectory.started
        spec = SessionSpec.of_log(self.suite.get(started.scenario), started)
        log = self.log_file(path)
        user = self.user(str(started.user.get("kind", "")), spec.scenario, spec.variant)
        session = self.session(spec, user, traced(log, trajectory))
        session.restore(trajectory)
        opened = OpenSession(session, self.presentation(spec), log, spec.user.opening, self.batch_window)
        opened.token, opened.bearer = waiting.address.token, waiting.address.bearer
        return self._reachable(opened, waiting.address)

    def named(self, name: str) -> OpenSession | None:
        """The session whose log has that name, with a URL from now on if it had none; None where there is no such log.

        Raises:
            StateError: the name cannot be that of a file, or the folder cannot be used.
            ScenarioError, SessionError, TrajectoryError: its scenario or its log is no longer what it was.
        """
        if not ID.fullmatch(name):
            raise StateError(UNFIT.format(name))
        path = self._log(name)
        if not path.exists():
            return None
        if opened := next((item for item in self._open.values() if item.path == path), None):
            return opened
        waiting = next((item for item in self._waiting.values() if item.name == name), None)
        with usable(self._logs):
            if waiting is None:
                waiting = _Waiting(name, self._new_address(None), time.monotonic())
                self._keep(name, waiting.address)
            self._waiting.pop(waiting.address.token, None)
            return self._take_up(waiting)

    def seated(self, seat: str) -> OpenSession | None:
        """The session that was begun last at a seat of the lobby."""
        if seat not in self._seated:
            mine = [item for item in self._waiting.values() if item.address.seat == seat]
            if mine:
                with suppress(UnknownSessionError):
                    return self.get(max(mine, key=lambda item: item.address.begun).address.token)
        return super().seated(seat)

    async def reap(self) -> None:
        """Close the sessions that were not used for ``idle_seconds``, counted from the start of this server."""
        await super().reap()
        before = time.monotonic() - self.idle_seconds
        for token, waiting in list(self._waiting.items()):
            if waiting.used < before:
                await self._give_up(token)
                await checkpoint()  # reading thousands of logs must not hold up who is served meanwhile

    async def close_all(self, reason: EndReason = "abandoned") -> None:
        """Leave everything to the next process; without one to come, end every session."""
        if self._lasting:
            return
        for token in list(self._waiting):
            with suppress(UnknownSessionError):
                self.get(token)
        await super().close_all(reason)

    @property
    def open_anywhere(self) -> int:
        """Number of sessions open in all processes that share the work."""
        return len(self) if self._share is None else sum(self._share.tallies.of_each(OPEN))

    def __len__(self) -> int:
        return len(self._open) + len(self._waiting)

    def over_first(self) -> str | None:
        """An ended session, whether it was asked for or not."""
        found = super().over_first()
        if found is not None:
            return found
        for token, waiting in list(self._waiting.items()):
            waiting.goes_on = waiting.goes_on or not _has_end(self._log(waiting.name))
            if waiting.goes_on:
                continue
            with suppress(UnknownSessionError):
                if self.get(token).session.over:
                    return token
        return None

    def _log(self, name: str) -> Path:
        return self._logs / f"{name}{SUFFIX}"


def seat_of(token: str) -> str:
    """Name of a seat of the lobby in a folder, from which its token cannot be learnt."""
    return sha256(token.encode()).hexdigest()[:16]


@contextmanager
def cared_for(folder: Path) -> Generator[None]:
    """Take care of a folder of sessions for as long as the context is open.

    Raises:
        StateError: another server does, or the folder cannot be used.
    """
    with ExitStack() as care:
        with usable(folder):  # what is done in the context has errors of its own
            folder.mkdir(parents=True, exist_ok=True)
            check_files_can_be_made(folder)
            held = care.enter_context(FileLock(folder / CARE).held(within=GRACE))
        if not held:
            raise StateError(f"another server takes care of {str(folder)!r}; stop it, or choose another folder")
        yield


def _has_end(path: Path) -> bool:
    """True if the last line of a log is the end of its session; only that line is read."""
    with suppress(OSError), path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - LAST_LINE))
        return file.read().rstrip(b"\n").rpartition(b"\n")[2].startswith(END_LINE)
    return False
