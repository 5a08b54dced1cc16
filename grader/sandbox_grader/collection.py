"""Grading many logs: read, grade, forget, and a summary per family at the end.

Policy: a session that cannot be scored is listed with the reason and left out of every mean, one that its user spoiled
of every mean but those about users. Logs are read one at a time. Of each the scores are kept with the reasons for
them, some kilobytes a call, and nothing else of what happened in it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from sandbox_scenarios.model import Scenario

from sandbox_grader.errors import GraderError
from sandbox_grader.metric import Mode, Subject, Verdict
from sandbox_grader.metrics import families
from sandbox_grader.rebuild import Mismatch, rebuilt
from sandbox_grader.scores import Scores, grade
from sandbox_grader.similarity import DEFAULT
from sandbox_mcp.trajectory import Trajectory, TrajectoryError, read_trajectory

Find = Callable[[str], Scenario | None]
"""Finds a scenario by name; None where there is no such scenario."""
STATEFUL = "toolsandbox"
"""The family that can say nothing without state."""
USERS = "user_conduct"
"""The family that is not about the agent."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A log that could not be graded, and why."""

    path: str
    reason: str


@dataclass(slots=True)
class Collection:
    """The scores of many sessions, and what their summaries need."""

    mode: Mode
    keep_spoiled: bool = False
    similarity: str = DEFAULT
    sessions: list[Scores] = field(default_factory=list[Scores])
    warnings: list[str] = field(default_factory=list[str])
    unreadable: list[Unreadable] = field(default_factory=list[Unreadable])
    _graded: list[tuple[Subject, Scores]] = field(default_factory=list[tuple[Subject, Scores]])

    def add(self, trajectory: Trajectory, scenario: Scenario | None) -> Scores:
        """Grade one session and keep its scores.

        Raises:
            GraderError: the log or the scenario cannot be used.
        """
        if scenario and trajectory.started.digest not in ("", scenario.digest):
            self.warnings.append(f"{trajectory.path}: scenario {scenario.name!r} has changed since this was recorded")
        scores = self._grade(trajectory, scenario)
        self.sessions.append(scores)
        self._graded.append((Subject(_outline(trajectory), (), scenario), scores))
        return scores

    def _grade(self, trajectory: Trajectory, scenario: Scenario | None) -> Scores:
        """The scores, with the state rebuilt where a log of our tools lacks it and its results bear that out."""
        whole, mismatches = rebuilt(trajectory, scenario) if scenario else (trajectory, ())
        if not mismatches:
            return grade(whole, scenario, self.mode, keep_spoiled=self.keep_spoiled, similarity=self.similarity)
        self.warnings.append(f"{trajectory.path}: {_doubt(mismatches)}")
        scores = grade(trajectory, scenario, self.mode, keep_spoiled=self.keep_spoiled, similarity=self.similarity)
        return replace(scores, verdicts={**scores.verdicts, STATEFUL: Verdict(inconclusive=_doubt(mismatches))})

    def summary(self) -> Mapping[str, Any]:
        """What each family makes of all its sessions; families that no session allowed are left out."""
        return dict(self._summaries())

    def _summaries(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for family in families(self.similarity):
            graded = [(subject, verdict) for subject, verdict in self._verdicts(family.name)]
            if any(verdict.inconclusive is None for _, verdict in graded):
                yield family.name, family.summarise(graded, self.mode)

    def _verdicts(self, family: str) -> Iterator[tuple[Subject, Verdict]]:
        for subject, scores in self._graded:
            if (scores.scored or (scores.spoiled and family == USERS)) and family in scores.verdicts:
                yield subject, scores.verdicts[family]

    def to_json(self) -> dict[str, Any]:
        """Mode, similarity, summary by family, every session, and what could not be read, as one JSON object."""
        return {
            "mode": self.mode,
            "similarity": self.similarity,
            "summary": self.summary(),
            "sessions": [scores.to_json() for scores in self.sessions],
            "warnings": self.warnings,
            "unreadable": [asdict(item) for item in self.unreadable],
        }


def grade_logs(
    paths: Iterable[Path],
    find: Find,
    mode: Mode = "strict",
    *,
    keep_spoiled: bool = False,
    skip_unreadable: bool = False,
    similarity: str = DEFAULT,
) -> Collection:
    """Grade logs one after the other; ``keep_spoiled`` scores sessions that their user spoiled.

    ``similarity`` names what ToolTalk compares free text by. With ``skip_unreadable``, logs that cannot be read or used
    are listed in the collection instead of raising.

    Raises:
        TrajectoryError: a log cannot be read.
        GraderError: a log, its scenario or the similarity cannot be used.
    """
    families(similarity)  # what is missing for it is no fault of a log
    collection = Collection(mode, keep_spoiled, similarity)
    for path in paths:
        try:
            trajectory = read_trajectory(path)
            collection.add(trajectory, find(trajectory.started.scenario))
        except (TrajectoryError, GraderError) as error:
            if not skip_unreadable:
                raise
            collection.unreadable.append(Unreadable(str(path), str(error)))
    return collection


def _doubt(mismatches: Sequence[Mismatch]) -> str:
    more = f" (and {len(mismatches) - 1} more)" if len(mismatches) > 1 else ""
    return f"the log records no state, and carried out again its calls give other results: {mismatches[0]}{more}"


def _outline(trajectory: Trajectory) -> Trajectory:
    """A trajectory without what happened in it: enough to tell sessions apart."""
    started = replace(trajectory.started, world=None, tools=(), reference=(), origin=None)
    return Trajectory(started, (), trajectory.ended, trajectory.path, trajectory.cut)
