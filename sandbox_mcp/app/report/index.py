"""An index over any number of runs: a row per session, what it scored and why, and all that was said, searchable.

Policy: a log is read when it is new or has changed, and never again; what the index keeps is named by the log's size
and time. A log that cannot be graded is a row as well.
"""

import json
import sqlite3
import threading
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from sandbox_grader import Scores
from sandbox_grader.grading.metric import Mode
from sandbox_grader.reporting.grade_logs import Find
from sandbox_scenarios import Scenario

from sandbox_mcp.app.report.errors import ReportError
from sandbox_mcp.app.report.filters import where
from sandbox_mcp.app.report.reading import UNREAD, IndexedLog, LogReading, UnreadLog
from sandbox_mcp.app.report.run_sources import RunSource
from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.trajectory import Trajectory

KIND = 0x53424D49
"""By which the file of an index is known."""
VERSION = 6
"""Of the index's form; another one is made anew."""
SCHEMA = """
CREATE TABLE IF NOT EXISTS overviews (run TEXT PRIMARY KEY, stamp TEXT NOT NULL, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS runs (key TEXT PRIMARY KEY, path TEXT NOT NULL, manifest TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS sessions (
    place INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice: what has been worked out goes by the latest
    id TEXT UNIQUE NOT NULL, run TEXT NOT NULL, path TEXT NOT NULL, stamp TEXT NOT NULL,
    scenario TEXT, variant TEXT, trial INTEGER, score REAL, state TEXT NOT NULL, cause TEXT, cause_group TEXT,
    ending TEXT, turns INTEGER, calls INTEGER, errors INTEGER, tokens INTEGER, floor REAL, flaky INTEGER DEFAULT 0,
    categories TEXT, tools TEXT, facts BLOB);
CREATE INDEX IF NOT EXISTS by_run ON sessions (run, state, score);
CREATE VIRTUAL TABLE IF NOT EXISTS texts USING fts5 (body, content='', tokenize='unicode61');
"""
COLUMNS = (
    "id", "run", "scenario", "variant", "trial", "score", "state", "cause", "cause_group", "ending", "turns", "calls",
    "errors", "flaky", "categories", "tools",
)  # fmt: skip
STATES = ("failed", "part", "voided", "unscored", "spoiled", "passed")
RANK = "CASE state " + " ".join(f"WHEN '{state}' THEN {rank}" for rank, state in enumerate(STATES)) + " END"
ORDERS = {
    "worst": f"{RANK}, score, id",
    "score": "score IS NULL DESC, score, id",
    "scenario": "id",
    "turns": "turns DESC, id",
    "calls": "calls DESC, id",
    "errors": "errors DESC, id",
}


class Index:
    """Sessions of some runs. Threads that share an index hold its lock while they ask it something.

    ``changes`` grows whenever sessions come, change or go, so that whoever keeps a result knows when it is old.
    """

    def __init__(self, place: Path | None, find: Find, mode: Mode = "strict") -> None:
        """An index in memory, or in the file at ``place``, whose tables are made where they are of another version.

        Raises:
            ReportError: the file cannot be used, or has tables of something else, which nothing may happen to.
        """
        self.reading = LogReading(find, mode)
        self.lock = threading.Lock()
        self.changes = 0
        try:
            self.store = sqlite3.connect(str(place) if place else ":memory:", check_same_thread=False)
            self.store.row_factory = sqlite3.Row
            kind = self.store.execute("PRAGMA application_id").fetchone()[0]
            if kind != KIND and self.store.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise ReportError("the file given as index is the database of something else; name another file")
            if self.store.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                for table in ("runs", "sessions", "texts", "overviews"):
                    self.store.execute(f"DROP TABLE IF EXISTS {table}")
                self.store.execute(f"PRAGMA application_id = {KIND}")
                self.store.execute(f"PRAGMA user_version = {VERSION}")
            self.store.execute("PRAGMA journal_mode = WAL")
            self.store.execute("PRAGMA synchronous = NORMAL")
            self.store.executescript(SCHEMA)
        except sqlite3.Error as error:
            raise ReportError(f"{str(place)!r} cannot be used as an index: {error}; name another file") from error

    def close(self) -> None:
        """Let go of the file."""
        self.store.close()

    def unreadable(self) -> list[str]:
        """Faults of each log that could not be read or graded, in the order of their paths."""
        asked = self.store.execute("SELECT cause FROM sessions WHERE cause_group = ? ORDER BY path", (UNREAD,))
        return [row["cause"] for row in asked]

    # ---- filling

    def add(self, sources: Sequence[RunSource]) -> Iterator[tuple[int, int]]:
        """Add every log that is new or has changed; yields how many are done, and how many there are."""
        return self.read(self.look(sources))

    def look(self, sources: Sequence[RunSource]) -> Sequence[UnreadLog]:
        """The logs that are new or have changed; those that have gone are dropped."""
        with self.lock:
            known = self.known(sources)
        todo, gone = self.unread(sources, known)
        if gone:
            with self.lock:
                self.forget(gone)
        return todo

    def read(self, todo: Sequence[UnreadLog]) -> Generator[tuple[int, int]]:
        """Take in these logs, graded without the lock; yields how many are done, and how many there are."""
        done = 0
        try:
            with closing(self.reading.all(todo)) as reading:
                for told in reading:
                    done += len(told)
                    with self.lock:
                        self.take(told)
                    yield done, len(todo)
        finally:
            if done:
                with self.lock:
                    self.settle()

    def known(self, sources: Sequence[RunSource]) -> dict[str, tuple[str, str]]:
        """Note the runs, and tell which sessions have been read: by id the path of the log, and what it was like."""
        runs = [(source.key, str(source.path), json.dumps(source.manifest)) for source in sources]
        held = self.store.execute("SELECT key, path, manifest FROM runs ORDER BY rowid")
        if runs != [tuple(row) for row in held]:  # as where the index in a file was made of other folders
            self.store.execute("DELETE FROM runs")
            self.store.executemany("INSERT INTO runs VALUES (?, ?, ?)", runs)
            self.store.commit()  # so that no other process has to wait
        read = self.store.execute("SELECT id, path, stamp FROM sessions")
        return {key: (path, stamp) for key, path, stamp in read}

    def unread(
        self, sources: Sequence[RunSource], known: Mapping[str, tuple[str, str]]
    ) -> tuple[Sequence[UnreadLog], Sequence[str]]:
        """The logs that are new or have changed, and the ids of sessions whose logs have gone.

        It asks the disk and not the index, so it needs no lock.
        """
        found: set[str] = set()
        todo: list[UnreadLog] = []
        for source in sources:
            name = source.naming()
            for path, state in source.logs():
                key, stamp = f"{source.key}:{name(path)}", f"{state}-{self.reading.mode}"
                found.add(key)
                if known.get(key) != (path, stamp):
                    todo.append(UnreadLog(source.key, path, stamp, key))
        return sorted(todo), sorted(known.keys() - found)

    def forget(self, gone: Sequence[str]) -> None:
        """Drop the sessions of these ids, whose logs have gone."""
        ids = json.dumps(list(gone))
        self.store.execute("DELETE FROM sessions WHERE id IN (SELECT value FROM json_each(?))", (ids,))
        self.settle()
        self.changes += 1

    def take(self, told: Sequence[IndexedLog]) -> None:
        """Store the rows of some logs, in place of earlier rows of the same logs."""
        for row, text in told:
            self.store.execute("DELETE FROM sessions WHERE id = ?", (row["id"],))
            names, marks = ", ".join(row), ", ".join("?" * len(row))
            done = self.store.execute(f"INSERT INTO sessions ({names}) VALUES ({marks})", tuple(row.values()))  # noqa: S608
            self.store.execute("INSERT INTO texts (rowid, body) VALUES (?, ?)", (done.lastrowid, text))
        self.store.commit()
        self.changes += 1

    def settle(self) -> None:
        """Mark the sessions of scenarios that passed in one trial and failed in another, which no log tells alone."""
        self.store.execute(
            "UPDATE sessions SET flaky = (run, scenario, variant) IN (SELECT run, scenario, variant FROM sessions "
            "WHERE score IS NOT NULL GROUP BY 1, 2, 3 HAVING max(score) >= 0.999999999 AND min(score) < 0.999999999)"
        )
        self.store.commit()

    # ---- reading

    def runs(self) -> list[RunSource]:
        """The runs, in the order in which they were found."""
        rows = self.store.execute("SELECT key, path, manifest FROM runs ORDER BY rowid")
        return [RunSource(row["key"], Path(row["path"]), loads(row["manifest"])) for row in rows]

    def rows(
        self, run: str, query: str = "", sort: str = "worst", offset: int = 0, limit: int = -1
    ) -> list[dict[str, Any]]:
        """The sessions of a run that fit a filter, as the page lists them.

        Raises:
            FilterError: the filter cannot be used.
        """
        fits, values = where(query)
        order = ORDERS.get(sort, ORDERS["worst"])
        found = self.store.execute(
            f"SELECT {', '.join(COLUMNS)} FROM sessions WHERE run = ?{fits} ORDER BY {order} LIMIT ? OFFSET ?",  # noqa: S608
            (run, *values, limit, offset),
        )
        return [_row(row) for row in found]

    def total(self, run: str, query: str = "") -> int:
        """Number of a run's sessions that fit a filter.

        Raises:
            FilterError: the filter cannot be used.
        """
        fits, values = where(query)
        return self.store.execute(f"SELECT count(*) FROM sessions WHERE run = ?{fits}", (run, *values)).fetchone()[0]  # noqa: S608

    def facts(self, run: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Every session of a run with what counts of its scores: milestones missed (id, why, kind) and errors."""
        # in an order that does not tell which process was done first
        query = f"SELECT {', '.join(COLUMNS)}, tokens, floor, facts FROM sessions WHERE run = ? ORDER BY id"  # noqa: S608
        for row in self.store.execute(query, (run,)):
            facts: dict[str, Any] = loads(zlib.decompress(row["facts"])) if row["facts"] else {}
            yield {**_row(row), "tokens": row["tokens"], "floor": row["floor"]}, facts

    def kept(self, run: RunSource, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Kept facts about a run; they are worked out anew if a session has come or changed since."""
        sessions = self.store.execute("SELECT count(*), max(place) FROM sessions WHERE run = ?", (run.key,)).fetchone()
        stamp = json.dumps([self.reading.mode, *sessions, run.manifest], sort_keys=True)
        row = self.store.execute("SELECT stamp, data FROM overviews WHERE run = ?", (run.key,)).fetchone()
        if row is not None and row["stamp"] == stamp:
            found: dict[str, Any] = loads(zlib.decompress(row["data"]))
            return found
        made = work()
        packed = zlib.compress(json.dumps(made).encode())
        self.store.execute("INSERT OR REPLACE INTO overviews VALUES (?, ?, ?)", (run.key, stamp, packed))
        self.store.commit()
        return made

    def log_of(self, key: str) -> tuple[str, Path] | None:
        """The run of a session, and its log; None where there is no session of that name."""
        row = self.store.execute("SELECT run, path FROM sessions WHERE id = ?", (key,)).fetchone()
        return None if row is None else (row["run"], Path(row["path"]))

    def opened(self, run: str, log: Path) -> tuple[Trajectory, Scores, Scenario | None, str] | None:
        """One session of a run, read and graded again; None where it cannot be.

        It asks the disk and not the index, so it needs no lock.
        """
        try:
            found, scenario = self.reading.session(log)
        except SandboxError:
            return None
        return found.trajectory, found.scores, scenario, run

    def session(self, key: str) -> tuple[Trajectory, Scores, Scenario | None, str] | None:
        """The log of a session, its scores, its scenario and its run; None where no session has that key."""
        place = self.log_of(key)
        return place and self.opened(*place)


def _row(row: sqlite3.Row) -> dict[str, Any]:
    found = {name: row[name] for name in COLUMNS}
    lists = {name: loads(found[name] or "[]") for name in ("categories", "tools")}
    return {**found, **lists, "flaky": bool(found["flaky"]), "detail": True}
