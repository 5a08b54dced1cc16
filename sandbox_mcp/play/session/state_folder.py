"""Sessions that outlive their process: the log is the state, and any number of processes may take turns at it.

Policy: some clients start a server per call, and some start several at once. Whoever is about to do something in a
session locks its files, reads what others have recorded since, and goes on from there. A line that a crash cut in half
never happened: its call was never answered.
"""

import errno
import json
import re
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile

from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.trajectory import Trajectory, mend_log, parse_trajectory, read_trajectory
from sandbox_mcp.engine.trajectory.packs import SUFFIX
from sandbox_mcp.engine.whole_files import check_regular, write_whole
from sandbox_mcp.play.session.agent_calls import AgentCall, CallResult
from sandbox_mcp.play.session.file_lock import FileLock
from sandbox_mcp.play.session.log_files import LogFile
from sandbox_mcp.play.session.manager import ManagerError, SessionManager
from sandbox_mcp.play.session.open_session import OpenSession
from sandbox_mcp.play.session.opening import SessionSpec
from sandbox_mcp.play.session.session import Session
from sandbox_mcp.play.telemetry import traced
from sandbox_mcp.play.users import User

ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
"""What may name a session in a state folder, and thus a file."""
UNFIT = "session id {!r} must be letters, digits, '_', '-' and '.', at most 128"
CURRENT = "lobby.json"
"""The file that names the session which the lobby is playing."""
URL = ".url"
"""What a file is called that says at which URL a server over HTTP offers the session of the log beside it."""


class StateError(ManagerError):
    """A state folder cannot be used; the message says why."""


@contextmanager
def usable(folder: Path) -> Generator[None]:
    """Tell of a state folder that cannot be used in one line.

    Raises:
        StateError: something in it could not be read or written.
    """
    try:
        yield
    except OSError as error:
        raise StateError(f"cannot use {str(folder)!r} as state folder: {error.strerror or error}") from error


def check_files_can_be_made(folder: Path) -> None:
    """See that files can be made in a folder now, and not when the first session begins.

    Raises:
        OSError: they cannot.
    """
    with TemporaryFile(dir=folder):
        pass


class StoredSession(OpenSession):
    """A session in a state folder. Its ``session`` is replaced when another process has gone on with it."""

    __slots__ = ("_file", "_known", "_lock_file")

    def __init__(self, manager: SessionManager, spec: SessionSpec, user: User, log: LogFile) -> None:
        """Begin a session, or take it up where its log stops.

        Raises:
            SessionError: the log is of something else.
            TrajectoryError: the log cannot be read.
        """
        self._file = log
        self._lock_file = FileLock(log.path.with_suffix(".lock"))
        session, shown = manager.session(spec, user, log), manager.presentation(spec)
        super().__init__(session, shown, log, spec.user.opening, manager.batch_window)
        self._known = 0
        with self._lock_file.held():
            self._take_up()

    async def run(self, calls: Sequence[AgentCall]) -> list[CallResult]:
        """Run a batch on what all processes have recorded."""
        async with self.turn():
            return await self._batch(calls)

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """The session to oneself, among all processes, with what they have recorded since.

        A log that was removed is not begun anew; its session is over.
        """
        async with self._lock, AsyncExitStack() as held:
            try:
                await held.enter_async_context(self._lock_file.held_async())
                size = self._size()
                if size < self._known:
                    raise FileNotFoundError(errno.ENOENT, "the log has been removed", str(self._file.path))
                if size != self._known:
                    self._take_up()
            except OSError as error:
                self.session.lose(error)
            try:
                yield
            finally:
                self._release()
                self._known = self._size()
                self._settled()

    def _take_up(self) -> None:
        mend_log(self._file.path)
        last = self.session
        told = len(last.notices)
        trajectory = read_trajectory(self._file.path) if self._size() else None
        if trajectory is not None and not has_opened(trajectory):
            trajectory = None
        log = traced(self._file, trajectory)
        self.session = Session(last.spec, last.user, log, last.tools, last.live)
        self.session.announcements.on_notice = self._tell
        if trajectory is None:
            self._file.path.write_bytes(b"")
            self.session.begin()
        else:
            self.session.restore(trajectory)
            if len(self.session.notices) > told:
                self._tell()
        self._release()
        self._known = self._size()

    def _size(self) -> int:
        path = self._file.path
        return path.stat().st_size if path.exists() else 0


def has_opened(trajectory: Trajectory) -> bool:
    """True if the user has spoken; before that, nothing has happened that could be gone on with."""
    return any(event.event == "message" and event.sender == "user" for event in trajectory.events)


class StateDir:
    """A folder of sessions."""

    def __init__(self, folder: Path, manager: SessionManager) -> None:
        """Use a folder, made where it is missing.

        Raises:
            StateError: it cannot be made.
        """
        self._folder = folder
        self._manager = manager
        with usable(self._folder):
            folder.mkdir(parents=True, exist_ok=True)
            check_files_can_be_made(folder)

    def open(self, spec: SessionSpec, user_kind: str | None = None) -> StoredSession:
        """Continue the session of ``spec.id``, or begin it, with a user of that kind, or of the manager's default kind.

        Raises:
            StateError: the id cannot name a file, or files cannot be written or locked there.
            UnknownUserError: there is no such user.
            SessionError, TrajectoryError: its log is of something else, or cannot be read.
        """
        log = self._manager.log_file(self._log_of(spec.id))
        user = self._manager.user(user_kind, spec.scenario, spec.variant)
        with usable(self._folder):
            return StoredSession(self._manager, spec, user, log)

    def named(self, session_id: str) -> StoredSession | None:
        """The session of that id, to go on with, with the user that it was begun with; None where the folder has none.

        Raises:
            StateError: the id cannot name a file, or the folder cannot be used.
            UnknownUserError: its user is not among those of the manager.
            ScenarioError, SessionError, TrajectoryError: its scenario or its log is no longer what it was.
        """
        path = self._log_of(session_id)
        if not path.exists():
            return None
        with usable(self._folder), FileLock(path.with_suffix(".lock")).held():
            mend_log(path)
            first, _, _ = path.read_bytes().partition(b"\n")
        if not first:
            return None
        started = parse_trajectory(first, str(path)).started
        spec = SessionSpec.of_log(self._manager.suite.get(started.scenario), started)
        return self.open(spec, str(started.user.get("kind", "")))

    def begin(self, spec: SessionSpec) -> StoredSession:
        """Begin a session, with a number behind ``spec.id`` where taken. Raises like :meth:`open`."""
        own, number = spec, 1
        while not self._claimed(own.id):
            number += 1
            own = replace(spec, session_id=f"{spec.id}-{number}")
        try:
            return self.open(own)
        except Exception:
            self._log_of(own.id).unlink(missing_ok=True)
            raise

    def _claimed(self, session_id: str) -> bool:
        """True if an id was free, and is now taken: two processes that begin at the same moment get one each."""
        with usable(self._folder), suppress(FileExistsError):
            self._log_of(session_id).touch(exist_ok=False)
            return True
        return False

    @property
    def current(self) -> str | None:
        """The id of the session that the lobby is playing; None where it plays none."""
        with usable(self._folder):
            path = check_regular(self._folder / CURRENT, links=False)
        try:
            return loads(path.read_text(encoding="utf-8"))["session"] if path.exists() else None
        except (ValueError, KeyError, TypeError) as error:
            raise StateError(f"{str(path)!r} is damaged; delete it to begin anew") from error

    @current.setter
    def current(self, session_id: str | None) -> None:
        with usable(self._folder):
            check_regular(self._folder / CURRENT, links=False)
        write_whole(self._folder / CURRENT, json.dumps({"session": session_id}))

    def _log_of(self, session_id: str) -> Path:
        if not ID.fullmatch(session_id):
            raise StateError(UNFIT.format(session_id))
        if (self._folder / f"{session_id}{URL}").exists():
            raise StateError(
                f"session {session_id!r} is served over HTTP from this folder; choose another id or folder"
            )
        for suffix in (SUFFIX, ".lock"):
            with usable(self._folder):
                check_regular(self._folder / f"{session_id}{suffix}", links=False)
        return self._folder / f"{session_id}{SUFFIX}"
