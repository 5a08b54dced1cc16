"""Grading thousands of logs: on all cores, and again only what has changed.

Policy: the scores of a folder are kept in it, each under a digest of all that they depend on: the log, the scenario
files, the worlds, this package's own code and the options. Of logs that are alike, in all but the session's
name, the trial and the times by a real clock, one is graded, and the others are told the same. Where it cannot be told
what scores depend on, as with metrics and worlds of other packages, each log is graded by itself, and nothing is kept;
nor is it where the folder cannot be written to. Scores are the same either way.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, suppress
from dataclasses import dataclass
from hashlib import blake2b, file_digest, sha256
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from sandbox_scenarios.homes import RECORDED

from sandbox_grader.errors import GraderError
from sandbox_grader.grading.derived import code_digest
from sandbox_grader.grading.metric import Mode
from sandbox_grader.grading.metrics import FAMILIES, GROUP, unusable
from sandbox_grader.grading.scores import SCORE, Scores, seconds_between
from sandbox_grader.grading.similarity import DEFAULT
from sandbox_grader.grading.values import is_object
from sandbox_grader.plugins import found_outside
from sandbox_grader.reporting.grade_logs import grade_logs
from sandbox_grader.reporting.kept import GradedLog, ScoreBook, SharedScores, ToldScores, without_collection
from sandbox_grader.reporting.report import Report, Unreadable
from sandbox_grader.reporting.scenario_of_log import Find, SuiteFinder
from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.processes import process_pool
from sandbox_mcp.engine.trajectory import TrajectoryError
from sandbox_mcp.engine.trajectory.finding import NOT_ALLOWED, LogPaths
from sandbox_mcp.engine.trajectory.log import log_bytes
from sandbox_mcp.engine.trajectory.packs import END_LINE
from sandbox_mcp.engine.worlds import GROUP as WORLDS
from sandbox_mcp.engine.worlds import sources

ALONE = 200
"""Up to so many logs one process grades unless more are asked for: starting others would take as long."""
CHUNK, MOST = 16, 128
"""Logs that a process gets at a time: few, so that all end at about the same moment, and more where there are many."""
REMEMBERED = 64
"""Of how many logs it is remembered what was said, for others like them: in the order of names they are neighbours."""
GONE = "a process that was grading is gone, as happens where memory runs out; 'grade --jobs 1' takes the least of it"
FIXED = frozenset({"exact", "rouge-l"})
"""Ways to compare texts that depend on this package alone."""
_HEAD = re.compile(rb'\{"event":"session","schema":\d+,"session":("(?:[^"\\]|\\.)*")')
_TRIAL = re.compile(rb',"seed":-?\d+,"trial":(\d+),"user_channel":"')
"""Before these stand strings and lists of strings alone, and inside a string its quotes would be escaped."""
_WALL = re.compile(rb',"wall":(\{[^{}]*\})\}\n')
"""At the end of a line, which is that of an event: an object inside one would be followed by another bracket."""
_ON_TAPE = re.compile(rb"\b%s[\"']?\s*:" % RECORDED.encode())
_Watch = Callable[[int, int], None]
"""Told how many logs are done, and how many there are."""


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
    details: bool = True,
    watch: _Watch | None = None,
) -> Report:
    """Grade logs into one report, in the order of ``paths``; logs that cannot be used are listed in it.

    ``jobs`` is how many processes grade, by default one per core; ``keep`` whether scores are kept beside the logs.
    Without ``details`` the sessions have what summaries count, and no more: a few hundred bytes each.

    Raises:
        GraderError: a metric or the similarity cannot be used, or a process that was grading has been ended.
    """
    options: dict[str, Any] = {"metric": metric, "keep_spoiled": keep_spoiled, "similarity": similarity}
    report = grade_logs((), find, mode, **options, name=name)
    ours = all_ours()
    key = scores_key(find.places, mode, str(keep_spoiled), similarity) if keep and similarity in FIXED else None
    shared = SharedScores(details=details)
    logs = LogPaths.of(paths)
    texts = logs.texts
    report.warnings += (f"{told}; it is left out" for told in unusable().values())
    report.warnings += logs.cut
    report.unreadable += [Unreadable(folder, f"{folder}: {NOT_ALLOWED}") for folder in logs.closed]
    found: list[Scores | None] = [None] * len(texts)
    told: dict[int, _Found] = {}  # of the few of which there is more to tell, or no score
    known = bytearray(len(texts))

    def keep_in_mind(place: int, graded: GradedLog | _Found) -> None:
        if isinstance(graded, _Found):
            one = graded
        else:
            one = _Found(shared.scores(graded, texts[place]), graded.warnings, graded.problem)
        known[place] = 1
        found[place] = one.scores
        if one.warnings or one.scores is None:
            told[place] = one
        else:
            told.pop(place, None)

    with closing(ScoreBook(paths, key)) as book:
        with without_collection():
            for place, graded in book.read():
                keep_in_mind(place, graded)
        todo = [place for place, already in enumerate(known) if not already]
        done = len(texts) - len(todo)
        jobs = jobs or (cores() if len(todo) > ALONE else 1)
        work = _Work(find, mode, options, ours=ours)
        for place, graded in work.all(paths, todo, jobs):
            keep_in_mind(place, graded)
            if isinstance(graded, GradedLog):
                book.add(place, graded)
            done += 1
            if watch:
                watch(done, len(texts))
    for place, one in sorted(told.items()):
        report.warnings += one.warnings
        if one.scores is None:
            report.unreadable.append(Unreadable(texts[place], one.problem))
    report.sessions += [scores for scores in found if scores is not None]
    return report


@dataclass(frozen=True, slots=True)
class LogOutline:
    """Outline of a log: its session, the real times at its ends, and a digest of everything else."""

    session: str
    trial: int
    seconds: float | None
    rest: bytes

    @classmethod
    def of(cls, lines: bytes) -> "LogOutline | None":
        """The outline of a log; None where it is not written as ours are, or not whole."""
        head = _HEAD.match(lines)
        trial = _TRIAL.search(lines, head.end()) if head else None
        walls = _WALL.findall(lines)
        ended = lines.endswith(b"}\n") and lines.startswith(END_LINE, lines.rfind(b"\n", 0, -1) + 1)
        if head is None or trial is None or not ended or len(walls) != lines.count(b"\n"):
            return None
        try:
            told: list[Any] = [loads(walls[place]) for place in (0, -1)]
            begin, end = (dict[str, Any](wall) if is_object(wall) else dict[str, Any]() for wall in told)
            session = str(loads(head[1]))
        except ValueError:
            return None
        before = lines[head.end() : trial.start(1)]
        rest = blake2b(before, digest_size=16)
        rest.update(b"\n" + _WALL.sub(b"}\n", lines[trial.end(1) :]))
        return cls(session, int(trial[1]), seconds_between(begin, end), rest.digest())


class _Found(NamedTuple):
    """Outcome of one log, as a report has it."""

    scores: Scores | None
    warnings: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Work:
    """Settings of grading in any process. Where all that decides is ``ours``, logs that are alike are graded once."""

    find: Find
    mode: Mode
    options: Mapping[str, Any]
    ours: bool

    def all(self, paths: Sequence[Path], todo: Sequence[int], jobs: int) -> Iterator[tuple[int, GradedLog | _Found]]:
        """Grade those of the logs that are to do, by their places."""
        if jobs == 1 or not todo:
            yield from zip(todo, self.each(paths[place] for place in todo), strict=True)
            return
        size = max(CHUNK, min(MOST, len(todo) // (8 * jobs)))
        chunks = (todo[start : start + size] for start in range(0, len(todo), size))
        with process_pool(min(jobs, -(-len(todo) // size))) as pool:

            def begun(chunk: Sequence[int]) -> Future[list[GradedLog | _Found]]:
                return pool.submit(self.chunk, [paths[place] for place in chunk])

            running = {begun(chunk): chunk for chunk in islice(chunks, 2 * jobs)}
            try:
                while running:
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        graded = running.pop(future)
                        running |= {begun(chunk): chunk for chunk in islice(chunks, 1)}
                        yield from zip(graded, future.result(), strict=True)
            except BrokenProcessPool as error:
                raise GraderError(GONE) from error
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    def chunk(self, paths: Sequence[Path]) -> list[GradedLog | _Found]:
        """In another process: some logs together."""
        try:
            return list(self.each(paths))
        except SandboxError as error:  # its attributes would not come through to the other process
            told = GraderError(str(error))
            told.more = tuple(GraderError(str(item)) for item in error.more)
            raise told from None

    def each(self, paths: Iterable[Path]) -> Iterator[GradedLog | _Found]:
        """Each log graded by itself, but for the scores of one like it that came shortly before."""
        before: dict[bytes, ToldScores] = {}
        for path in paths:
            outline = None
            if self.ours:
                with suppress(TrajectoryError):
                    outline = LogOutline.of(log_bytes(path))
            if outline and (told := before.get(outline.rest)):
                yield GradedLog(outline.session, outline.trial, outline.seconds, told)
                continue
            report = grade_logs([path], self.find, self.mode, skip_unreadable=True, **self.options)
            scores, warnings = report.sessions[0] if report.sessions else None, tuple(report.warnings)
            problem = report.unreadable[0].reason if report.unreadable else ""
            if not self.ours:
                yield _Found(scores, warnings, problem)
                continue
            told = ToldScores.of(scores) if scores else None
            if outline and told and not warnings:
                if len(before) >= REMEMBERED:
                    del before[next(iter(before))]
                before[outline.rest] = told
            which = (scores.session, scores.trial, scores.seconds) if scores else ("", 0, None)
            yield GradedLog(*which, told, warnings, problem)


def cores() -> int:
    """Number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def all_ours() -> bool:
    """True if no metric and no world of another package has a say, so that what scores depend on is known."""
    return not found_outside(GROUP, FAMILIES) and not found_outside(WORLDS, ())


def scores_key(places: Iterable[Path], *options: str) -> str | None:
    """A digest of what scores depend on besides the log: files and folders of scenarios, worlds, code and options.

    None where that cannot be told: where another package has a say, and where a scenario names a tape, which is another
    file again.

    Raises:
        WorldError: a file with worlds cannot be loaded.
    """
    if not all_ours():
        return None
    own = [file for place in places for file in (sorted(place.rglob("*.yaml")) if place.is_dir() else [place])]
    with suppress(OSError):  # whoever reads the scenarios says so
        if any(_ON_TAPE.search(file.read_bytes()) for file in own):
            return None
    parts = [*options, code_digest(), *(_content(path) for path in (*own, *sources()))]
    return sha256("\n".join(parts).encode()).hexdigest()


def _content(path: Path) -> str:
    """Digest of a file's content, wherever it lies and whenever it was written."""
    if not path.is_file():  # a pipe could be read for ever
        return "no file"
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return str(error)
