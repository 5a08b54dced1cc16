"""Scores kept beside the logs that they are of, in one small database per folder.

Policy: the scores of a log hold as long as its lines are the same, and all else that they depend on, which is the
``key``. They are written as they come, some hundred sessions at a time. What summaries count is kept apart from the
details that only readers want, and said once for all sessions of which it is true, so that it takes a few numbers a
session in the file as in memory. A file that is broken, or not ours, is as good as none, and made anew. Scores are
sealed with a secret of this account, so that those which came with somebody's folder, or were edited, are not believed.
"""

import gc
import json
import os
import secrets
import sqlite3
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from hmac import compare_digest
from pathlib import Path
from stat import S_ISREG
from typing import Any, NamedTuple

from sandbox_grader.grading.course import SessionCourse
from sandbox_grader.grading.metric import Verdict
from sandbox_grader.grading.metrics import summed_details
from sandbox_grader.grading.scores import KEPT_FROM, Scores
from sandbox_grader.grading.spending import Spent
from sandbox_mcp.engine.bounded import inflated, loads
from sandbox_mcp.engine.trajectory import TrajectoryError
from sandbox_mcp.engine.trajectory.finding import LogPaths, folder_of
from sandbox_mcp.engine.trajectory.log import log_digest
from sandbox_mcp.engine.trajectory.packs import PACKED, packed_digests

PLACE = ".scores.db"
"""The database in a folder of logs."""
TOGETHER = 512
"""Sessions that are kept, and compressed, together."""
FORM = 4
"""Of the database; another one is made anew."""
KEYS = 8
"""Of how many gradings, by other options or another state of the code, scores are kept."""
NAMED = "mtu_bench"
"""The family whose details have rows that are named after the session."""
BEYOND = 1e100
"""No figure of a score is as large."""
_TABLE = "CREATE TABLE scores (chunk INTEGER PRIMARY KEY, key TEXT, counted BLOB, details BLOB, seal TEXT)"
"""All that a database of ours consists of; a view or a computed column in its place could run for ever."""
_BROKEN = (sqlite3.Error, zlib.error, ValueError, KeyError, TypeError, IndexError, AttributeError)
"""What reading a file raises that is not what we wrote."""


def _lies_in_the_file(error: Exception) -> bool:
    """True if an error is about a database's content, and not that it is locked, or may not be written to."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return not isinstance(error, sqlite3.OperationalError) or code == sqlite3.SQLITE_ERROR


def _is_filled(store: sqlite3.Connection) -> bool:
    """True if a database has our table, and False if it has nothing yet.

    Raises:
        ValueError: it has anything else.
    """
    found = store.execute("SELECT sql FROM sqlite_master").fetchall()
    if found and (found != [(_TABLE,)] or store.execute("PRAGMA user_version").fetchone()[0] != FORM):
        raise ValueError("has another form")
    return bool(found)


class ToldScores(NamedTuple):
    """Scores that hold for any session like it, as JSON: all but its name, its trial and its times.

    ``counted`` is what summaries count: which scenario it was of, how it went, and a verdict per family. ``details``
    are those of all families.
    """

    counted: tuple[str, ...]
    details: str

    @classmethod
    def of(cls, scores: Scores) -> "ToldScores":
        """Read these scores."""
        which = [
            scores.scenario,
            scores.variant,
            scores.categories,
            scores.mode,
            scores.agent,
            scores.origin,
            scores.tier,
            scores.mechanisms,
        ]
        spent, course = scores.spent.to_json(), scores.course.to_json()
        how = [scores.reason, scores.spoiled, scores.ending, scores.detail, spent, course]
        verdicts = [
            (family, verdict, _without_name(family, verdict.details, scores.session))
            for family, verdict in scores.verdicts.items()
        ]
        said = [
            [family, verdict.values, verdict.inconclusive, summed_details(family, details)]
            for family, verdict, details in verdicts
        ]
        told = {family: list(details) for family, _, details in verdicts if details}
        return cls(tuple(map(_json, (which, how, *said))), _json(told))


class GradedLog(NamedTuple):
    """Outcome of one log, with the notes for its reader. Without ``told``, ``problem`` is why."""

    session: str = ""
    trial: int = 0
    seconds: float | None = None
    told: ToldScores | None = None
    warnings: tuple[str, ...] = ()
    problem: str = ""

    @classmethod
    def of(cls, scores: Scores) -> "GradedLog":
        """Outcome of a log that has these scores and no further notes."""
        return cls(scores.session, scores.trial, scores.seconds, ToldScores.of(scores))


class SharedScores:
    """Makes statements about many sessions one object, so that a session takes up little more than its name."""

    def __init__(self, *, details: bool) -> None:
        """With ``details`` sessions have those as well that no summary counts, and share nothing."""
        self._details = details
        self._verdicts: dict[str, tuple[str, Verdict]] = {}
        self._told: dict[tuple[str, ...], dict[str, Any]] = {}

    def scores(self, graded: GradedLog, path: str) -> Scores | None:
        """The scores of a log, if it has some."""
        if graded.told is None:
            return None
        counted = graded.told.counted
        told = self._told.get(counted) or self._told.setdefault(counted, self._read(counted))
        found = Scores(session=graded.session, trial=graded.trial, seconds=graded.seconds, path=path, **told)
        if self._details:
            return _named(found, dict.fromkeys(found.verdicts, ()) | _parsed(graded.told.details))
        rows = found.verdicts[NAMED].details if NAMED in found.verdicts else ()
        return _named(found, {NAMED: rows}) if any("id" in row for row in rows) else found

    def _read(self, counted: Sequence[str]) -> dict[str, Any]:
        scenario, variant, categories, mode, agent, origin, tier, mechanisms = _parsed(counted[0])
        reason, spoiled, ending, detail, spent, course = _parsed(counted[1])
        return {
            "scenario": scenario, "variant": variant, "categories": tuple(categories), "mode": mode, "agent": agent,
            "origin": origin, "tier": tier, "mechanisms": tuple(mechanisms),
            "reason": reason, "spoiled": spoiled, "ending": ending, "detail": detail,
            "spent": Spent.from_json(spent), "course": SessionCourse.from_json(course),
            "verdicts": dict(map(self._verdict, counted[2:])),
        }  # fmt: skip

    def _verdict(self, text: str) -> tuple[str, Verdict]:
        if text not in self._verdicts:
            family, values, inconclusive, details = _parsed(text)
            self._verdicts[text] = family, Verdict(values, tuple(details), inconclusive)
        return self._verdicts[text]


_Details = Sequence[Mapping[str, Any]]


def _without_name(family: str, details: _Details, session: str) -> _Details:
    """Details without the session's name, after which one family names its rows."""
    if family != NAMED:
        return details
    return [{**row, "id": str(row["id"]).removeprefix(session)} if "id" in row else row for row in details]


def _named(scores: Scores, details: Mapping[str, _Details]) -> Scores:
    """Scores with these details, in which rows get their session's name again."""
    verdicts = dict(scores.verdicts)
    for family, rows in details.items():
        named = family == NAMED
        told = tuple({**row, "id": f"{scores.session}{row['id']}"} if named and "id" in row else row for row in rows)
        verdicts[family] = replace(verdicts[family], details=told)
    return replace(scores, verdicts=verdicts)


class KeptScores:
    """The scores of one folder's logs, from earlier gradings by the same ``key``, and from this one.

    ``digest`` tells the lines of a log as they are now from any others, by its name in the folder; it gives nothing for
    a log that is missing, or cannot be read.
    """

    def __init__(self, folder: Path, digest: Callable[[str], str], key: str) -> None:
        self._place = folder / PLACE
        self._key = key
        self._digest = digest
        self._new: list[tuple[str, str, GradedLog]] = []
        self._holding = set[int]()
        self._grown = False

    def read(self) -> Iterator[tuple[str, GradedLog]]:
        """Read the scores that still hold, by the names of the logs; of repeated ones the last counts."""
        self._refuse_links()
        if not self._place.exists():
            return
        try:
            with closing(sqlite3.connect(self._place)) as store:
                if not _is_filled(store):
                    return
                asked = "SELECT chunk, counted, details, seal FROM scores WHERE key = ? ORDER BY chunk"
                for chunk, counted, details, seal in store.execute(asked, (self._key,)):
                    if compare_digest(str(seal), self._seal(counted, details)):
                        yield from self._chunk(chunk, _read(counted), _read(details))
        except _BROKEN as error:  # the other logs are graded again
            if _lies_in_the_file(error):
                self._remove()

    def _seal(self, counted: bytes, details: bytes) -> str:
        """What only this account can write under scores: a digest of them and their key with the account's secret."""
        return blake2b(self._key.encode() + counted + details, key=_secret()).hexdigest()

    def _chunk(self, chunk: int, counted: Any, details: Sequence[str]) -> Iterator[tuple[str, GradedLog]]:
        parts: list[str] = counted["parts"]
        places_of: list[list[int]] = counted["told"]
        told = [
            ToldScores(tuple(parts[place] for place in places), text)
            for places, text in zip(places_of, details, strict=True)
        ]
        for name, digest, session, trial, seconds, which, *more in counted["logs"]:
            now = self._digest(name)
            if not now and (self._place.parent / name.partition(os.sep)[0]).exists():
                self._holding.add(chunk)  # of a log that was not asked about, or of one in a pack that was not
            if digest and now == digest:
                self._holding.add(chunk)
                warnings, problem = more or ((), "")
                found = None if which is None else told[int(which)]
                yield name, GradedLog(session, trial, seconds, found, tuple(warnings), problem)

    def add(self, name: str, graded: GradedLog) -> None:
        """Keep the new gradings, together with what comes next, for the lines that it is true of."""
        if not (digest := self._digest(name)):
            return
        self._new.append((name, digest, graded))
        if len(self._new) >= TOGETHER:
            self.write()

    def write(self) -> None:
        """Write what was added, if the folder lets itself be written to."""
        if not self._new:
            return
        parts: dict[str, int] = {}
        told: dict[ToldScores, int] = {}
        logs: list[list[Any]] = []
        for name, digest, graded in self._new:
            session, trial, seconds, said, warnings, problem = graded
            which = None if said is None else told.setdefault(said, len(told))
            row = [name, digest, session, trial, seconds, which]
            logs.append([*row, warnings, problem] if warnings or problem else row)
        places = [[parts.setdefault(part, len(parts)) for part in said.counted] for said in told]
        counted = _packed({"parts": list(parts), "told": places, "logs": logs})
        details = _packed([said.details for said in told])

        def add_chunk(store: sqlite3.Connection) -> None:
            if not _is_filled(store):
                store.execute(f"PRAGMA user_version = {FORM}")
                store.execute(_TABLE.replace("TABLE", "TABLE IF NOT EXISTS"))
            said = "INSERT INTO scores (key, counted, details, seal) VALUES (?, ?, ?, ?)"
            sealed = (self._key, counted, details, self._seal(counted, details))
            self._holding.add(store.execute(said, sealed).lastrowid or 0)

        self._change(add_chunk)
        self._new = []
        self._grown = True

    def close(self) -> None:
        """Write the rest, and drop what nothing holds any more."""
        self.write()
        if not self._grown:
            return

        def drop_what_is_old(store: sqlite3.Connection) -> None:
            latest = store.execute("SELECT key FROM scores GROUP BY key ORDER BY MAX(chunk) DESC").fetchall()
            keys = [key for (key,) in latest][:KEYS]
            for chunk, key in store.execute("SELECT chunk, key FROM scores").fetchall():
                if key not in keys or (key == self._key and chunk not in self._holding):
                    store.execute("DELETE FROM scores WHERE chunk = ?", (chunk,))

        self._change(drop_what_is_old)

    def _change(self, change: Callable[[sqlite3.Connection], None]) -> None:
        """Change the database, if the folder lets itself be written to; a broken one is made anew."""
        self._refuse_links()
        for _ in range(2):
            try:
                with closing(sqlite3.connect(self._place, timeout=1)) as store:
                    change(store)
                    store.commit()
            except OSError:
                return
            except _BROKEN as error:
                if not _lies_in_the_file(error):
                    return
                self._remove()
            else:
                return

    def _refuse_links(self) -> None:
        """Remove links, pipes and the like from the places that SQLite would write to, wherever they lead."""
        for place in self._places():
            with suppress(OSError):
                if not S_ISREG(place.lstat().st_mode):
                    place.unlink()

    def _remove(self) -> None:
        for place in self._places():
            with suppress(OSError):
                place.unlink()

    def _places(self) -> Iterator[Path]:
        """The database, and the files that SQLite keeps beside it."""
        return (self._place.with_name(f"{PLACE}{end}") for end in ("", "-journal", "-wal", "-shm"))


class ScoreBook:
    """The scores of some logs, kept beside them by the same ``key``; without one, as for a few logs, none are.

    A log is named by its place among ``paths``. To be closed when all is written.
    """

    def __init__(self, paths: Sequence[Path], key: str | None) -> None:
        self._folders: list[tuple[KeptScores, _LogFolder]] = []
        self._homes: dict[str, tuple[KeptScores, str]] = {}
        self._paths = LogPaths.of(paths)
        if key is None:
            return
        for folder in _folders(self._paths.texts):
            if len(folder.places) >= KEPT_FROM:
                kept = KeptScores(Path(folder.path), folder.digest, key)
                self._folders.append((kept, folder))
                self._homes |= {parent: (kept, before) for parent, before in folder.parents.items()}

    def read(self) -> Iterator[tuple[int, GradedLog]]:
        """Read the scores that still hold; of repeated ones the last counts."""
        for kept, folder in self._folders:
            yield from ((folder.places[log], graded) for log, graded in kept.read() if log in folder.places)

    def add(self, place: int, graded: GradedLog) -> None:
        """Keep what was graded now."""
        parent, _, name = self._paths.texts[place].rpartition(os.sep)
        if home := self._homes.get(parent):
            kept, before = home
            kept.add(before + name, graded)

    def close(self) -> None:
        """Write the rest, and drop what nothing holds any more."""
        for kept, _ in self._folders:
            kept.close()


class _LogFolder:
    """The logs of one folder, and of the packs in it: by name their places among all logs, and what tells their lines.

    ``parents`` are the folder and its packs, each with how the names of the logs in it begin.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.places: dict[str, int] = {}
        self.parents: dict[str, str] = {}
        self._digests: dict[str, str] = {}
        self._packed: dict[str, Callable[[str], str]] = {}

    def begin(self, parent: str) -> str:
        """Beginnings of the names of logs in the folder, or in one of its packs."""
        if parent in self.parents:
            return self.parents[parent]
        pack = parent.rpartition(os.sep)[2]
        if not pack.endswith(PACKED):
            self.parents[parent] = ""
            return ""
        self.parents[parent] = f"{pack}{os.sep}"
        with suppress(TrajectoryError):
            self._packed[pack] = packed_digests(Path(parent))
        return self.parents[parent]

    def add(self, name: str, place: int, path: str) -> None:
        """One more log; its lines are read now unless it is in a pack, which knows."""
        if name not in self.places:
            self.places[name] = place
            if os.sep not in name:
                self._digests[name] = _digest(Path(path))

    def digest(self, name: str) -> str:
        """Digest of the lines of a log; nothing where there is no such log."""
        pack, packed, log = name.partition(os.sep)
        if not packed:
            return self._digests.get(name, "")
        return self._packed[pack](log) if pack in self._packed else ""


def _folders(paths: Sequence[str]) -> list[_LogFolder]:
    """The folders of many logs."""
    folders: dict[str, _LogFolder] = {}
    last, home, before = "", None, ""
    for place, path in enumerate(paths):
        parent, _, name = path.rpartition(os.sep)
        if home is None or parent != last:
            folder = str(folder_of(Path(path)))
            home = folders.setdefault(folder, _LogFolder(folder))
            last, before = parent, home.begin(parent)
        home.add(before + name, place, path)
    return list(folders.values())


def _digest(path: Path) -> str:
    """Digest of a log's lines; empty where the log cannot be read, so that nothing is kept of it."""
    try:
        return log_digest(path)
    except TrajectoryError:
        return ""


@lru_cache(maxsize=1)
def _secret() -> bytes:
    """The secret of this account, made where there is none; one of this process alone where it cannot be kept."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    place = Path(state) / "sandbox-mcp" / "scores.key"
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        with (
            suppress(FileExistsError),
            os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as new,
        ):
            new.write(secrets.token_bytes(32))
        known = place.read_bytes()
        if len(known) == 32:
            return known
    return secrets.token_bytes(32)


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _packed(value: Any) -> bytes:
    return zlib.compress(_json(value).encode(), 3)


def _read(packed: bytes) -> Any:
    return _parsed(inflated(packed))


def _parsed(text: str | bytes) -> Any:
    """A value that was kept; no figure of ours is beyond what means can be taken of."""
    return loads(text, parse_constant=_figure, parse_float=_figure)


def _figure(literal: str) -> float:
    figure = float(literal)
    if not abs(figure) < BEYOND:  # which NaN is not either
        raise ValueError(f"{literal} is no figure of a score")
    return figure


@contextmanager
def without_collection() -> Generator[None]:
    """Read without the garbage collector, which would look through all that was read before again and again."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
