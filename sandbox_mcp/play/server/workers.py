"""Several processes behind one port: a keeper that serves no request, and the workers that it starts and replaces.

Policy: workers are forked, so that each begins at once with everything read. A worker that replaces a dead one looks
after the same sessions, which it reads from their logs. When the keeper ends, for whatever reason, so do its workers.
When a worker cannot even begin, the keeper ends.
"""

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from sandbox_mcp.play.server.app import build_app
from sandbox_mcp.play.server.handover import Desk, HandedConnections, Inbox
from sandbox_mcp.play.server.lobby.session_app import SessionApp
from sandbox_mcp.play.server.metrics import CallMeter
from sandbox_mcp.play.server.patience import uvicorn_config
from sandbox_mcp.play.server.settings import ServerError, ServerSettings
from sandbox_mcp.play.server.wires import NO_WIRES, Wires
from sandbox_mcp.play.session.kept_sessions import KeptSessions
from sandbox_mcp.play.session.open_session import OpenSession
from sandbox_mcp.play.session.share import Share, Tallies
from sandbox_mcp.play.telemetry import flush

logger = logging.getLogger(__name__)
TOLD = (signal.SIGINT, signal.SIGTERM)
YOUNG, TRIES = 1.0, 5
"""A worker that dies within so many seconds of its start has failed; after so many failures in a row all is over."""
FAREWELL = 15.0
"""Seconds that workers have for their end before they are killed."""


def check_workers() -> None:
    """See that this system can hand connections from process to process.

    Raises:
        ServerError: it cannot.
    """
    if not (hasattr(os, "fork") and hasattr(socket, "send_fds") and hasattr(signal, "sigtimedwait")):
        raise ServerError("--workers needs a system on which processes can be forked and waited for, such as Linux")


class Keeper:
    """Keeps ``count`` workers alive on one listening socket.

    ``sessions`` makes the manager of a worker from its share; ``told`` hears a line when a worker is replaced.
    """

    def __init__(
        self,
        sessions: Callable[[Share], KeptSessions],
        settings: ServerSettings,
        listener: socket.socket,
        count: int,
        told: Callable[[str], None],
        announce: Callable[[OpenSession], None] = lambda _: None,
        app: SessionApp | None = None,
        wires: Wires = NO_WIRES,
    ) -> None:
        self._sessions = sessions
        self._settings = settings
        self._listener = listener
        self._told = told
        self._announce = announce
        self._app = app
        self._wires = wires
        self._tallies = Tallies(count)
        self._meter = CallMeter(count)
        self._inboxes = [Inbox() for _ in range(count)]
        self._lifeline = os.pipe()
        self._workers: dict[int, int] = {}
        self._begun = [0.0] * count

    def run(self) -> int:
        """Keep the workers alive until a signal says to stop; gives its number.

        Raises:
            ServerError: workers die as soon as they begin.
        """
        import uvicorn.protocols.http.auto  # pyright: ignore[reportUnusedImport]  # noqa: F401  (for all workers at once)

        heard, failures = {*TOLD, signal.SIGCHLD}, 0
        before = signal.pthread_sigmask(signal.SIG_BLOCK, heard)
        gc.collect()
        gc.freeze()  # what is there now is never written to by a collection, and stays shared
        try:
            for index in range(self._tallies.count):
                self._start(index, before)
            while (number := signal.sigwaitinfo(heard).si_signo) == signal.SIGCHLD:
                for index, how in self._ended():
                    young = time.monotonic() - self._begun[index] < YOUNG
                    failures = failures + 1 if young else 0
                    if failures >= TRIES:
                        told = f"workers end as soon as they begin, the last one {how}; its messages say why"
                        raise ServerError(told)
                    self._told(f"worker {index + 1} {how}; another goes on with its sessions")
                    self._start(index, before)
            return number
        finally:
            self._stop()
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _ended(self) -> list[tuple[int, str]]:
        """The workers that have ended since this was last asked, and how."""
        found: list[tuple[int, str]] = []
        for process, index in list(self._workers.items()):
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                del self._workers[process]
                code = os.waitstatus_to_exitcode(status)
                found.append((index, f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"))
        return found

    def _start(self, index: int, mask: set[signal.Signals | int]) -> None:
        self._begun[index] = time.monotonic()
        process = os.fork()
        if process == 0:
            self._work(index, mask)
        self._workers[process] = index

    def _stop(self) -> None:
        """Tell all workers to stop, and wait until they have."""
        for process in self._workers:
            os.kill(process, signal.SIGTERM)
        until = time.monotonic() + FAREWELL
        while self._workers:
            left = until - time.monotonic()
            if left <= 0:
                for process in self._workers:
                    os.kill(process, signal.SIGKILL)
            signal.sigtimedwait({signal.SIGCHLD}, max(0.05, min(0.5, left)))
            self._ended()

    def _work(self, index: int, mask: set[signal.Signals | int]) -> NoReturn:
        """Run a worker; it never returns to the keeper's caller."""
        code = 1
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal's keys the keeper tells
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            os.close(self._lifeline[1])
            self._serve(Share(index, self._tallies))
            code = 0
        except BaseException:  # whatever it was, it must not reach the keeper's callers in this process
            logger.exception("a worker broke")
        finally:
            with suppress(OSError, ValueError):
                sys.stderr.flush()
            os._exit(code)

    def _serve(self, share: Share) -> None:
        import uvicorn

        manager = self._sessions(share)
        desk = Desk(
            share, self._inboxes, manager.max_sessions, seats=bool(self._settings.lobby_tokens), wires=self._wires
        )
        connections = HandedConnections(self._settings.patience, desk)
        lifeline = self._lifeline[0]

        class _Worker(uvicorn.Server):
            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                await super().startup(sockets)
                asyncio.get_running_loop().add_reader(lifeline, self._orphaned)
                desk.open(
                    lambda read: connections.handed(
                        read, config=self.config, server_state=self.server_state, app_state=self.lifespan.state
                    )
                )

            def _orphaned(self) -> None:
                asyncio.get_running_loop().remove_reader(lifeline)
                self.should_exit = True

            def handle_exit(self, sig: int, frame: Any) -> None:  # noqa: ARG002  (whatever the signal)
                self.should_exit = True

            async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
                desk.close()
                await super().shutdown(sockets)
                await manager.close_all()
                await asyncio.to_thread(flush)

        self._meter.index = share.index
        app = build_app(manager, self._settings, self._announce, app=self._app, meter=self._meter, wires=self._wires)
        _Worker(uvicorn_config(app, connections)).run(sockets=[self._listener])
