"""Grading thousands of logs: on all cores, and again only what has changed.

Policy: the scores of a folder are kept in it, in one small database, each under a digest of all that they depend on:
the log, the scenario files, the worlds, this package's own code and the options. They are written as they come, some
hundred at a time and compressed together. Where it cannot be told what scores depend on, as with metrics and worlds of
other packages, or the folder cannot be written to, nothing is kept. Scores are the same either way.
"""

import gc
import json
import os
import sqlite3
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from sandbox_scenarios import Scenario, Suite, UnknownScenarioError

import sandbox_mcp
from sandbox_grader.errors import GraderError
from sandbox_grader.grading import Find, grade_logs
from sandbox_grader.metric import Mode
from sandbox_grader.metrics import FAMILIES, GROUP
from sandbox_grader.plugins import found_outside
from sandbox_grader.report import Report, Unreadable
from sandbox_grader.scores import SCORE, Scores
from sandbox_grader.similarity import DEFAULT
from sandbox_mcp.errors import SandboxError
from sandbox_mcp.trajectory import TrajectoryError
from sandbox_mcp.trajectory.log import folder_of, log_digest
from sandbox_mcp.worlds import GROUP as WORLDS
from sandbox_mcp.worlds import files as world_files

PLACE = ".scores.db"
"""The database in a folder of logs."""
LEAST = 32
"""Of fewer logs nothing is kept: they are graded in a moment."""
ALONE = 200
"""Up to so many logs one process grades unless more are asked for: starting others would take as long."""
CHUNK = 16
"""Logs that a process gets at a time, so that all end at about the same moment."""
TOGETHER = 256
"""Scores that are compressed together."""
FORM = 2
"""Of the database; another one is made anew."""
FIXED = frozenset({"exact", "rouge-l"})
"""Ways to compare texts that depend on this package alone."""
Watch = Callable[[int, int], None]
"""Told how many logs are done, and how many there are."""


@dataclass(frozen=True)
class SuiteFinder:
    """Finds scenarios in some files and folders, or the built-in ones; gives None where there is no such scenario.

    It can be sent to other processes, which read the files themselves.
    """

    places: tuple[Path, ...] = ()

    def __call__(self, name: str) -> Scenario | None:
        """The scenario of that name. Raises like :meth:`Suite.get` where its file cannot be used."""
        try:
            return _suite(self.places).get(name)
        except UnknownScenarioError:
            return None


@cache
def _suite(places: tuple[Path, ...]) -> Suite:
    return Suite(places)


@dataclass(frozen=True, slots=True)
class _Graded:
    """What became of one log: scores, or why there are none; and what its reader should be told."""

    scores: Scores | None
    warnings: tuple[str, ...] = ()
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        scores = self.scores and {**self.scores.to_json(), "path": self.scores.path}
        return {"scores": scores, "warnings": self.warnings, "problem": self.problem}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], path: Path) -> "_Graded":
        found = replace(Scores.from_json(data["scores"]), path=str(path)) if data["scores"] else None
        return cls(found, tuple(data["warnings"]), data["problem"])


def grade_many(
    paths: Sequence[Path],
    find: SuiteFinder,
    mode: Mode = "strict",
    *,
    metric: str = SCORE,
    keep_spoiled: bool = False,
    similarity: str = DEFAULT,
    name: str = "",
    jobs: int | None = None,
    keep: bool = True,
    watch: Watch | None = None,
) -> Report:
    """Grade logs into one report, in the order of ``paths``; logs that cannot be used are listed in it.

    ``jobs`` is how many processes grade, by default one per core; ``keep`` whether scores are kept beside the logs.

    Raises:
        GraderError: a metric or the similarity cannot be used.
    """
    options: dict[str, Any] = {"metric": metric, "keep_spoiled": keep_spoiled, "similarity": similarity}
    report = grade_logs((), find, mode, **options, name=name)
    key = _key(find, mode, keep_spoiled, similarity) if keep else None
    known = {folder: _Kept(folder, logs, key) for folder, logs in _folders(paths).items()} if key else {}
    with _no_collection():
        found = {path: graded for kept in known.values() for path, graded in kept.read().items()}
    todo = [path for path in dict.fromkeys(paths) if path not in found]
    done = len(paths) - len(todo)
    jobs = jobs or (_cores() if len(todo) > ALONE else 1)
    with ExitStack() as stack:
        for kept in known.values():
            stack.callback(kept.close)
        for path, graded in _all_graded(todo, find, mode, options, jobs):
            found[path] = graded
            if kept := known.get(folder_of(path)):
                kept.add(path, graded)
            done += 1
            if watch:
                watch(done, len(paths))
    for path in paths:
        graded = found[path]
        report.warnings += graded.warnings
        if graded.scores is None:
            report.unreadable.append(Unreadable(str(path), graded.problem))
        else:
            report.sessions.append(graded.scores)
    return report


@contextmanager
def _no_collection() -> Generator[None]:
    """Read without the garbage collector, which would look through all that was read before again and again."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _all_graded(
    paths: Sequence[Path], find: Find, mode: Mode, options: Mapping[str, Any], jobs: int
) -> Iterator[tuple[Path, _Graded]]:
    if jobs == 1:
        for path in paths:
            [graded] = _graded([path], find, mode, options)
            yield path, graded
        return
    chunks = [paths[start : start + CHUNK] for start in range(0, len(paths), CHUNK)]
    with ProcessPoolExecutor(min(jobs, len(chunks)), get_context("spawn")) as pool:
        running = {pool.submit(_in_worker, chunk, find, mode, options): chunk for chunk in chunks}
        try:
            for ready in as_completed(running):
                yield from zip(running[ready], ready.result(), strict=True)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _in_worker(paths: Sequence[Path], find: Find, mode: Mode, options: Mapping[str, Any]) -> list[_Graded]:
    try:
        return _graded(paths, find, mode, options)
    except SandboxError as error:  # its attributes would not come through to the other process
        raise GraderError(str(error)) from None


def _graded(paths: Sequence[Path], find: Find, mode: Mode, options: Mapping[str, Any]) -> list[_Graded]:
    """In whichever process: each log graded by itself."""
    found: list[_Graded] = []
    for path in paths:
        report = grade_logs([path], find, mode, skip_unreadable=True, **options)
        scores = report.sessions[0] if report.sessions else None
        problem = report.unreadable[0].reason if report.unreadable else ""
        found.append(_Graded(scores, tuple(report.warnings), problem))
    return found


def _folders(paths: Iterable[Path]) -> dict[Path, list[Path]]:
    """The folders whose scores are kept, with their logs: those of many, where it can be told what scores depend on."""
    folders: dict[Path, list[Path]] = {}
    for path in paths:
        folders.setdefault(folder_of(path), []).append(path)
    told = not found_outside(GROUP, FAMILIES) and not found_outside(WORLDS, ())
    return {folder: logs for folder, logs in folders.items() if told and len(logs) >= LEAST}


def _cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _key(find: SuiteFinder, mode: Mode, keep_spoiled: bool, similarity: str) -> str | None:
    """A digest of what scores depend on besides the log; None where that cannot be told."""
    if similarity not in FIXED:
        return None
    own = [file for place in find.places for file in (sorted(place.rglob("*.yaml")) if place.is_dir() else [place])]
    parts = [mode, str(keep_spoiled), similarity, _code(), *(_stamp(path) for path in (*own, *world_files()))]
    return sha256("\n".join(parts).encode()).hexdigest()


@cache
def _code() -> str:
    """What tells this code, and the built-in scenarios, from any other state of theirs."""
    roots = [Path(str(sandbox_mcp.__file__)).parent, Path(__file__).parent, _suite_folder()]
    files = [path for root in roots for path in sorted(root.rglob("*")) if path.suffix in (".py", ".yaml")]
    return sha256("\n".join(map(_stamp, files)).encode()).hexdigest()


def _suite_folder() -> Path:
    import sandbox_scenarios

    return Path(str(sandbox_scenarios.__file__)).parent


def _stamp(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return f"{path} is missing"
    return f"{path.resolve()} {status.st_size} {status.st_mtime_ns}"


class _Kept:
    """The scores of one folder's logs, from earlier gradings by the same ``key``, and from this one."""

    def __init__(self, folder: Path, logs: Iterable[Path], key: str) -> None:
        self._folder = folder
        self._place = folder / PLACE
        self._key = key
        self._logs = {str(path.relative_to(folder)): path for path in logs}
        self._new: list[tuple[str, str | None, _Graded]] = []
        self._grown = False

    def _named(self, path: Path) -> str | None:
        """What the scores of a log are kept under."""
        try:
            return f"{log_digest(path)}-{self._key}"
        except TrajectoryError:
            return None

    def read(self) -> dict[Path, _Graded]:
        """The scores that still hold."""
        if not self._place.exists():
            return {}
        found: dict[Path, _Graded] = {}
        try:
            with closing(sqlite3.connect(self._place)) as store:
                if store.execute("PRAGMA user_version").fetchone()[0] != FORM:
                    return {}
                kept: dict[int, list[tuple[int, Path]]] = {}
                for log, name, chunk, place in store.execute("SELECT log, name, chunk, place FROM scores"):
                    path = self._logs.get(log)
                    if path is not None and name == self._named(path):
                        kept.setdefault(chunk, []).append((place, path))
                for chunk, places in kept.items():
                    [packed] = store.execute("SELECT graded FROM chunks WHERE chunk = ?", (chunk,)).fetchone()
                    graded = json.loads(zlib.decompress(packed))
                    found.update({path: _Graded.from_json(graded[place], path) for place, path in places})
        except (sqlite3.Error, zlib.error, ValueError, KeyError, TypeError, IndexError):
            return {}  # whatever stands there is not ours, or broken: the logs are graded again
        return found

    def add(self, path: Path, graded: _Graded) -> None:
        """Keep what was graded now, together with what comes next."""
        self._new.append((str(path.relative_to(self._folder)), self._named(path), graded))
        if len(self._new) >= TOGETHER:
            self.write()

    def write(self) -> None:
        """Write what was added, if the folder lets itself be written to."""
        if not self._new:
            return
        packed = zlib.compress(json.dumps([graded.to_json() for *_, graded in self._new]).encode())
        with suppress(sqlite3.Error, OSError), closing(sqlite3.connect(self._place, timeout=1)) as store:
            if store.execute("PRAGMA user_version").fetchone()[0] != FORM:
                for table in ("scores", "chunks"):
                    store.execute(f"DROP TABLE IF EXISTS {table}")
                store.execute(f"PRAGMA user_version = {FORM}")
            store.execute("CREATE TABLE IF NOT EXISTS chunks (chunk INTEGER PRIMARY KEY, graded BLOB)")
            store.execute(
                "CREATE TABLE IF NOT EXISTS scores (log TEXT PRIMARY KEY, name TEXT, chunk INTEGER, place INTEGER)"
            )
            chunk = store.execute("INSERT INTO chunks (graded) VALUES (?)", (packed,)).lastrowid
            rows = [(log, name, chunk, place) for place, (log, name, _) in enumerate(self._new)]
            store.executemany("INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?)", rows)
            store.commit()
        self._new = []
        self._grown = True

    def close(self) -> None:
        """Write what is left, and drop what nothing holds any more."""
        self.write()
        if self._grown:
            with suppress(sqlite3.Error, OSError), closing(sqlite3.connect(self._place, timeout=1)) as store:
                store.execute("DELETE FROM chunks WHERE chunk NOT IN (SELECT chunk FROM scores)")
                store.commit()
