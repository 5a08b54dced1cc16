"""Index entries of sessions from their logs: on all cores, and graded only where no scores are kept beside them.

Policy: sessions are graded and their scores kept as ``grade`` does it, and kept scores are not worked out again. A log
that cannot be read or graded is told of like any other. Few logs are read here, because starting processes would take
as long.
"""

import json
import zlib
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from sandbox_grader.grading.metric import Mode
from sandbox_grader.grading.scores import Scores
from sandbox_grader.grading.similarity import DEFAULT
from sandbox_grader.reporting.grade_logs import Graded, graded
from sandbox_grader.reporting.kept import GradedLog, ScoreBook, SharedScores
from sandbox_grader.reporting.many import ALONE, cores, scores_key
from sandbox_grader.reporting.scenario_of_log import Find, SuiteFinder, placed
from sandbox_scenarios.model import Scenario

from sandbox_mcp.app.report.causes import FULL, causes, milestone_details, state_of
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.processes import process_pool
from sandbox_mcp.engine.trajectory import Message, ToolCall, Trajectory, read_trajectory

TOGETHER = 32
"""Logs that a process reads at a time."""
MOST_TEXT = 200_000
"""Characters of a session that can be searched."""
UNREAD = "cannot be read"
"""The group of causes of a log that could not be read or graded."""


class UnreadLog(NamedTuple):
    """A log to be read: its run's key, its path, what tells this state of it from another, and its session's id."""

    run: str
    path: str
    stamp: str
    id: str


class IndexedLog(NamedTuple):
    """Index entry of a log: a value per column, and the text searched."""

    row: Mapping[str, Any]
    text: str


_Task = tuple[int, UnreadLog, GradedLog | None]
"""A log by its place among all, with what is kept of its scores."""
_Read = tuple[int, IndexedLog, GradedLog | None]
"""What an index says of the log at that place, and its scores where they were not kept yet."""


@dataclass(frozen=True, slots=True)
class LogReading:
    """Settings of reading and grading logs, in any process."""

    find: Find
    mode: Mode

    def session(self, path: Path) -> tuple[Graded, Scenario | None]:
        """One session as it is graded now. Raises what reading and grading raise."""
        trajectory, scenario = placed(read_trajectory(path), self.find)
        return graded(trajectory, scenario, self.mode), scenario

    def own_names(self) -> frozenset[str]:
        """The names of the scenarios in files of the caller's own."""
        return self.find.own_names() if isinstance(self.find, SuiteFinder) else frozenset()

    def all(self, logs: Sequence[UnreadLog]) -> Generator[Sequence[IndexedLog]]:
        """Index these logs, some at a time; in no particular order where there are many."""
        places = self.find.places if isinstance(self.find, SuiteFinder) else None
        key = None if places is None else scores_key(places, self.mode, str(False), DEFAULT)
        with closing(ScoreBook([Path(log.path) for log in logs], key)) as book:
            for told in self._read(_with_kept_scores(logs, book), cores() if len(logs) > ALONE else 1):
                for place, _, newly in told:
                    if newly:
                        book.add(place, newly)
                yield [indexed for _, indexed, _ in told]

    def _read(self, tasks: Iterator[_Task], jobs: int) -> Generator[Sequence[_Read]]:
        if jobs == 1:
            yield from (self.chunk([task]) for task in tasks)
            return
        chunks = iter(lambda: list(islice(tasks, TOGETHER)), [])
        with process_pool(jobs) as pool:
            running = {pool.submit(self.chunk, chunk) for chunk in islice(chunks, 2 * jobs)}
            try:
                while running:
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    running |= {pool.submit(self.chunk, chunk) for chunk in islice(chunks, len(done))}
                    for future in done:
                        yield future.result()
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    def chunk(self, tasks: Iterable[_Task]) -> list[_Read]:
        """In another process: some logs together."""
        return [(place, *self.one(log, kept)) for place, log, kept in tasks]

    def one(self, log: UnreadLog, kept: GradedLog | None = None) -> tuple[IndexedLog, GradedLog | None]:
        """Index one log by its kept scores, or else by grading it, and return the scores to keep."""
        path = Path(log.path)
        row: dict[str, Any] = {"id": log.id, "run": log.run, "path": log.path, "stamp": log.stamp}
        try:
            scores = SharedScores(details=True).scores(kept, log.path) if kept else None
            newly = None
            if scores is None:
                trajectory, scores, warnings = self.session(path)[0]
                newly = GradedLog.of(scores)._replace(warnings=warnings)
            else:
                trajectory = read_trajectory(path)
        except SandboxError as error:
            told = {"state": "unscored", "cause": str(error), "cause_group": UNREAD, "scenario": path.stem}
            none = {"categories": "[]", "tools": "[]", "turns": 0, "calls": 0, "errors": 0}
            return IndexedLog({**row, **told, **none}, ""), None
        why = causes(scores, trajectory)
        told = _columns(trajectory, scores)
        first = {"cause": why[0].text if why else "", "cause_group": why[0].group if why else ""}
        parts = [trajectory.started.scenario, trajectory.started.variant, *[cause.text for cause in why]]
        for event in trajectory.events:
            if isinstance(event, Message):
                parts.append(event.content)
            else:
                parts += [event.name, event.tool or "", json.dumps(dict(event.arguments), ensure_ascii=False)]
                parts.append(event.error.message if event.error else json.dumps(event.result, ensure_ascii=False))
        return IndexedLog({**row, **told, **first}, "\n".join(parts)[:MOST_TEXT]), newly


def _with_kept_scores(logs: Sequence[UnreadLog], book: ScoreBook) -> Iterator[_Task]:
    """The logs: first those whose kept scores still hold, in the order in which these were kept."""
    known = set[int]()
    for place, kept in book.read():
        if place not in known:
            known.add(place)
            yield place, logs[place], kept
    yield from ((place, log, None) for place, log in enumerate(logs) if place not in known)


def _columns(trajectory: Trajectory, scores: Scores) -> dict[str, Any]:
    calls = [event for event in trajectory.events if isinstance(event, ToolCall) and event.caller == "agent"]
    verdict = scores.verdicts.get("toolsandbox")
    milestones = [item for item in milestone_details(scores) if item["kind"] == "milestone"]
    missed: list[tuple[str, str, str]] = []
    for item in milestones:
        if item["effective"] < FULL:
            own = next((reason for reason in item["reasons"] if reason["constraint"] != "after"), None)
            missed.append((item["id"], own["text"], own["constraint"]) if own else (item["id"], "rests on another", ""))
    errors = {name: verdict.values.get("errors") for name, verdict in scores.verdicts.items()}
    facts: dict[str, Any] = {
        "milestones": [item["id"] for item in milestones],
        "missed": missed,
        "errors": {name: found for name, found in errors.items() if isinstance(found, Mapping)},
        "seconds": scores.seconds,
        "spent": scores.spent.to_json(),
        "user": trajectory.started.user,
    }
    return {
        "scenario": trajectory.started.scenario,
        "variant": trajectory.started.variant,
        "trial": trajectory.started.trial,
        "score": scores.value(),
        "state": state_of(scores),
        "ending": trajectory.ended.reason if trajectory.ended else "cut off",
        "turns": sum(isinstance(event, Message) and event.sender == "agent" for event in trajectory.events),
        "calls": len(calls),
        "errors": sum(call.error is not None for call in calls),
        "tokens": scores.spent.tokens,
        "floor": verdict.values.get("refusal") if verdict else None,
        "categories": json.dumps(list(scores.categories)),
        "tools": json.dumps(sorted({call.called for call in calls})),
        "facts": zlib.compress(json.dumps(facts).encode()),
    }
