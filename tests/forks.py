"""``pytest --jobs N``: tests run in N processes, forked from the one that collected them.

Policy: what importing and collecting made is there for all processes, so that another one costs next to nothing. A file
stays with one process, which builds what its tests share, unless there are few files; those that take long are handed
out first, lest the end waits for one of them. A process that dies fails the test that it was at, and another takes its
place.
"""

import faulthandler
import gc
import logging
import os
import sys
import traceback
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from tempfile import TemporaryFile
from types import ModuleType
from typing import Any

import pytest
from _pytest._io import TerminalWriter
from _pytest.config import create_terminal_writer

from sandbox_mcp import telemetry
from tests import warm

NUMBER = "SANDBOX_MCP_TEST_PROCESS"
"""The variable that says which of several processes that run tests this is."""
LONG = ("tests/e2e", "tests/docs", "tests/packaging", "tests/run", "tests/python", "tests/authoring")
"""Folders whose tests play whole runs or start programs."""
MANY = 8
"""So many files per process keep all of them busy until the end; of fewer, tests are handed out one by one."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--jobs", type=int, default=1, metavar="N", help="how many processes run the tests (default: 1)")


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests in several processes, where several were asked for."""
    jobs = min(session.config.option.jobs, len(session.items))
    if jobs < 2 or session.testsfailed or session.config.option.collectonly or not hasattr(os, "fork"):
        return None
    os.environ.setdefault(warm.RUN, str(os.getpid()))
    files = _files(session.items)
    if len(files) < MANY * jobs:
        _Run(session, deque([place] for file in files for place in file)).run(jobs)
        return True
    warm.fork_server(lambda: _forget_pytest(session.config))
    warm.start_workers_warm(warm.python())
    gc.freeze()
    _Run(session, files).run(jobs)
    return True


def _files(items: Sequence[pytest.Item]) -> deque[list[int]]:
    """The places of the tests among those collected, a list per file, files that take long first."""
    files: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        files.setdefault(item.nodeid.partition("::")[0], []).append(place)
    return deque(files[name] for name in sorted(files, key=lambda name: not name.startswith(LONG)))


@dataclass
class _Worker:
    """A process that runs tests."""

    pid: int
    line: Connection
    due: deque[int] = field(default_factory=deque)
    """The places of the tests that it was given and has not reported."""


class _Run:
    """The process that collected: it hands out tests, and hears what became of each."""

    def __init__(self, session: pytest.Session, parts: deque[list[int]]) -> None:
        self._session = session
        self._parts = parts
        self._workers: list[_Worker] = []
        self._base = session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        self._started = 0

    def run(self, jobs: int) -> None:
        try:
            for _ in range(jobs):
                self._start()
            while self._workers:
                for line in wait([worker.line for worker in self._workers]):
                    self._hear(next(worker for worker in self._workers if worker.line is line))
        finally:
            for worker in self._workers:
                worker.line.close()  # it ends after the test that it is at
            for worker in self._workers:
                os.waitpid(worker.pid, 0)

    def _start(self) -> None:
        ours, theirs = Pipe()
        number = self._started
        self._started += 1
        pid = os.fork()
        if pid == 0:
            for line in (ours, *(worker.line for worker in self._workers)):
                line.close()
            _be_worker(self._session, theirs, number, self._base / f"process-{number}")
        theirs.close()
        self._workers.append(_Worker(pid, ours))

    def _hear(self, worker: _Worker) -> None:
        try:
            said = worker.line.recv()
        except (EOFError, ConnectionResetError):
            self._ended(worker)
            return
        if said is None:
            part = self._parts.popleft() if self._parts else []
            worker.due.extend(part)
            with suppress(BrokenPipeError):  # that it has ended is heard next
                worker.line.send(part)
        else:
            self._tell(worker.due.popleft(), said)

    def _ended(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.line.close()
        _, status = os.waitpid(worker.pid, 0)
        if worker.due:
            item = self._session.items[worker.due.popleft()]
            why = f"the process that ran it ended with {os.waitstatus_to_exitcode(status)}"
            lost = pytest.TestReport(item.nodeid, item.location, dict.fromkeys(item.keywords, 1), "failed", why, "call")
            self._log(item, [lost])
            if worker.due:
                self._parts.appendleft(list(worker.due))
            if self._parts:
                self._start()

    def _tell(self, place: int, said: list[dict[str, Any]]) -> None:
        config = self._session.config
        reports = [config.hook.pytest_report_from_serializable(config=config, data=data) for data in said]
        self._log(self._session.items[place], reports)

    def _log(self, item: pytest.Item, reports: list[pytest.TestReport]) -> None:
        hook = item.ihook
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in reports:
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)


class _Reports:
    """Keeps what is reported of a test, instead of printing it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self.kept: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.kept.append(self._config.hook.pytest_report_to_serializable(config=self._config, report=report))


@dataclass
class _Terminal:
    """Where what is told of a test on the way goes: to what it writes itself."""

    _tw: TerminalWriter


def _be_worker(session: pytest.Session, line: Connection, number: int, folder: Path) -> None:
    """Run what is given, and end this process."""
    code = 1
    try:
        _take_own_place(session.config, number, folder)
        _work(session, line)
        code = 0
    except (EOFError, OSError, KeyboardInterrupt):
        pass  # the run was stopped
    except BaseException:  # noqa: BLE001
        traceback.print_exc(file=sys.__stderr__)
    finally:
        with suppress(BaseException):
            session._setupstate.teardown_exact(None)
        os._exit(code)


def _take_own_place(config: pytest.Config, number: int, folder: Path) -> None:
    """What a process does not share with the one it was forked from: its number, its output and its files."""
    os.environ[NUMBER] = str(number)
    sys.modules["__main__"] = ModuleType("__main__")  # lest processes that tests start import pytest
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(_Terminal(create_terminal_writer(config, sys.stderr)), "terminalreporter")
    for captured in _captured(config):
        with TemporaryFile(buffering=0) as own:
            os.dup2(own.fileno(), captured.tmpfile.fileno(), inheritable=False)
            os.dup2(own.fileno(), captured.targetfd)
    folder.mkdir(mode=0o700)
    config._tmp_path_factory._basetemp = folder  # type: ignore[attr-defined]


def _captured(config: pytest.Config) -> list[Any]:
    """How pytest captures the output and the errors of tests: each into a file, which processes must not share."""
    capture: Any = config.pluginmanager.getplugin("capturemanager")
    return [
        kept for kept in (capture._global_capturing.out, capture._global_capturing.err) if hasattr(kept, "targetfd")
    ]


def _forget_pytest(config: pytest.Config) -> dict[int, int]:
    """Undo what pytest does to the process that runs it, where a command is to run as if started by itself."""
    sys.modules["__main__"] = ModuleType("__main__")
    capture: Any = config.pluginmanager.getplugin("capturemanager")
    capture.suspend_global_capture(in_=True)
    faulthandler.disable()
    logging.getLogger().handlers.clear()
    telemetry._process.cache_clear()  # it was asked for when the tests were collected, without a command's variables
    warnings.resetwarnings()
    for kind in (ResourceWarning, ImportWarning, PendingDeprecationWarning, DeprecationWarning):
        warnings.simplefilter("ignore", kind)
    sys.meta_path.remove(config.pluginmanager.rewrite_hook)
    return {captured.tmpfile.fileno(): captured.targetfd for captured in _captured(config)}


def _work(session: pytest.Session, line: Connection) -> None:
    """Run tests, and tell what became of each, until none is given any more."""
    reports = _Reports(session.config)
    session.config.pluginmanager.register(reports)
    places = _given(line)
    place = next(places, None)
    while place is not None:
        following = next(places, None)  # what both need is kept between a test and the following one
        item = session.items[place]
        nextitem = None if following is None else session.items[following]
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=nextitem)
        line.send(reports.kept)
        reports.kept = []
        place = following


def _given(line: Connection) -> Iterator[int]:
    """The places of the tests to run; more are asked for once all that were given have been taken."""
    while True:
        line.send(None)
        part: list[int] = line.recv()
        if not part:
            return
        yield from part
