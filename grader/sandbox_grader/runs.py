"""Runs as the statistics see them: outcomes read from folders of logs, or from what ``grade --json`` printed.

Policy: what was not scored is counted and named, never compared. Runs that were graded in different ways, or of
scenarios that have changed in between, are only compared with a warning that says so.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from sandbox_grader.collection import Find, grade_logs
from sandbox_grader.errors import GraderError
from sandbox_grader.metric import Mode
from sandbox_grader.scores import Scores
from sandbox_grader.statistics import ScoredSession, compare, flaky, mean_score, pass_at, pass_hat
from sandbox_mcp.plurals import counted
from sandbox_mcp.trajectory.log import find_logs


@dataclass(frozen=True, slots=True)
class GradedSession:
    """One session of a run: where it belongs, its score (None if it was not scored) and why."""

    id: str
    cluster: str
    trial: int
    score: float | None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GradedRun:
    """The sessions of one run and how they were graded."""

    name: str
    mode: str
    sessions: tuple[GradedSession, ...]
    warnings: tuple[str, ...] = ()

    @property
    def outcomes(self) -> tuple[ScoredSession, ...]:
        """The scored sessions."""
        return tuple(ScoredSession(s.cluster, s.trial, s.score) for s in self.sessions if s.score is not None)


def read_run(path: Path, find: Find, mode: Mode = "strict") -> GradedRun:
    """A run from a folder of logs, which is graded now, or from a file of scores.

    Raises:
        TrajectoryError: a log cannot be read.
        GraderError: the file holds no scores, or a log cannot be graded.
    """
    if path.suffix == ".json":
        return _from_scores(path)
    collection = grade_logs(find_logs([path]), find, mode)
    sessions = tuple(_session(scores.to_json()) for scores in collection.sessions)
    return GradedRun(str(path), mode, sessions, tuple(collection.warnings))


def run_of(name: str, mode: str, scores: Iterable[Scores]) -> GradedRun:
    """A run from scores at hand."""
    return GradedRun(name, mode, tuple(_session(item.to_json()) for item in scores))


def _from_scores(path: Path) -> GradedRun:
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
        sessions = tuple(_session(item) for item in data["sessions"])
        doubts = (*data.get("warnings", ()), *(item["reason"] for item in data.get("unreadable", ())))
        return GradedRun(str(path), str(data["mode"]), sessions, tuple(map(str, doubts)))
    except OSError as error:
        raise GraderError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise GraderError(f"{path}: holds no scores; expected what 'grade --json' prints ({error})") from error


def _session(data: Mapping[str, Any]) -> GradedSession:
    metrics = cast("Mapping[str, Any]", data["metrics"].get("toolsandbox", {}))
    score = metrics.get("score") if data.get("scored", True) else None
    if score is not None and (isinstance(score, bool) or not isinstance(score, int | float)):
        raise TypeError(f"the score {score!r} is no number")
    reasons = tuple(_reasons(data))
    return GradedSession(str(data["id"]), f"{data['scenario']}/{data['variant']}", int(data["trial"]), score, reasons)


def _reasons(data: Mapping[str, Any]) -> Iterable[str]:
    if data.get("reason"):
        yield str(data["reason"])
    for detail in data.get("details", {}).get("toolsandbox", ()):
        yield json.dumps(detail, ensure_ascii=False, sort_keys=True)


def certainty(run: GradedRun, ks: Sequence[int] = ()) -> dict[str, Any]:
    """Mean score, pass@k and pass^k with intervals, and the scenarios that flip between trials, as JSON.

    ``ks`` defaults to 1 and the most trials that every scenario has.
    """
    outcomes = run.outcomes
    if not outcomes:
        return {"sessions": len(run.sessions), "scored": 0}
    counts: dict[str, int] = {}
    for outcome in outcomes:
        counts[outcome.cluster] = counts.get(outcome.cluster, 0) + 1
    chosen = ks or sorted({1, min(counts.values())})
    return {
        "sessions": len(run.sessions),
        "scored": len(outcomes),
        "score": mean_score(outcomes).to_json(),
        **{f"pass@{k}": _json(pass_at(k, outcomes)) for k in chosen},
        **{f"pass^{k}": _json(pass_hat(k, outcomes)) for k in chosen},
        "flaky": list(flaky(outcomes)),
    }


def _json(estimate: Any) -> Any:
    return estimate.to_json() if estimate else None


def compare_runs(a: GradedRun, b: GradedRun) -> dict[str, Any]:
    """Two runs side by side as JSON: each for itself, the paired difference, and what makes the comparison doubtful.

    Raises:
        GraderError: they have no scored session in common.
    """
    try:
        found = compare(a.outcomes, b.outcomes)
    except ValueError as error:
        raise GraderError(f"{a.name} and {b.name} cannot be compared: {error}") from error
    doubts = [*a.warnings, *b.warnings]
    if a.mode != b.mode:
        doubts.append(f"graded in different modes: {a.mode} and {b.mode}")
    one, two = ({(s.cluster, s.trial) for s in run.sessions if s.score is not None} for run in (a, b))
    if one != two:
        doubts.append(f"left out: {counted(len(one ^ two), 'session')} that only one of the runs scored")
    return {
        "a": {"run": a.name, **certainty(a)},
        "b": {"run": b.name, **certainty(b)},
        "difference": found.difference.to_json(),
        "smallest_detectable": found.smallest,
        "mcnemar": {"only_a": found.only_a, "only_b": found.only_b, "p": found.p_value},
        "better": list(found.better),
        "worse": list(found.worse),
        "warnings": doubts,
    }


def compare_graders(old: GradedRun, new: GradedRun) -> list[dict[str, Any]]:
    """The sessions of one run whose score differs between two gradings, each with what changed in the reasons.

    Raises:
        GraderError: the two are not gradings of the same sessions.
    """
    before = {session.id: session for session in old.sessions}
    after = {session.id: session for session in new.sessions}
    if before.keys() != after.keys():
        missing = sorted(before.keys() ^ after.keys())
        raise GraderError(f"not two gradings of one run: {', '.join(missing[:5])} in only one of them")
    return [_flip(before[name], after[name]) for name in before if before[name].score != after[name].score]


def _flip(old: GradedSession, new: GradedSession) -> dict[str, Any]:
    return {
        "id": old.id,
        "old": old.score,
        "new": new.score,
        "gone": [reason for reason in old.reasons if reason not in new.reasons],
        "come": [reason for reason in new.reasons if reason not in old.reasons],
    }
