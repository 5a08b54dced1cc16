"""Grading many logs into one report: read, grade, forget.

Policy: logs are read one at a time; of each the scores are kept with the reasons for them, some kilobytes a call, and
nothing else of what happened in it. State that a log of our tools lacks is rebuilt where its results bear that out.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from sandbox_scenarios import Scenario

from sandbox_grader.errors import GraderError
from sandbox_grader.grading.metric import Metric, Mode, Verdict
from sandbox_grader.grading.metrics import check_figure, families
from sandbox_grader.grading.rebuild import Rebuilt, rebuilt
from sandbox_grader.grading.scores import SCORE, STATEFUL, Scores, grade
from sandbox_grader.grading.similarity import DEFAULT
from sandbox_grader.reporting.report import Report, Unreadable
from sandbox_grader.reporting.scenario_of_log import Find, SuiteFinder, placed
from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.trajectory import Trajectory, TrajectoryError, read_trajectory
from sandbox_mcp.engine.trajectory.finding import find_logs


class Graded(NamedTuple):
    """A session as it was graded, with its state where that could be rebuilt, and what its reader should be told."""

    trajectory: Trajectory
    scores: Scores
    warnings: tuple[str, ...] = ()


def graded(
    trajectory: Trajectory,
    scenario: Scenario | None,
    mode: Mode = "strict",
    *,
    metrics: Iterable[str | Metric] = (),
    keep_spoiled: bool = False,
    similarity: str = DEFAULT,
) -> Graded:
    """Grade one session, with the state that a log of our tools lacks; see :func:`grade` for the options.

    Raises:
        GraderError: the log or the scenario cannot be used.
    """
    warnings: list[str] = []
    if scenario and trajectory.started.digest not in ("", scenario.digest):
        warnings.append(f"{trajectory.path}: scenario {scenario.name!r} has changed since this was recorded")
    again = rebuilt(trajectory, scenario) if scenario else Rebuilt(trajectory)
    if again.foreign:
        counts = ", ".join(f"{name} ({count})" for name, count in again.foreign.items())
        warnings.append(
            f"{trajectory.path}: left out, as they are no tools of {trajectory.started.scenario!r}: {counts}"
        )
    mismatches = again.mismatches
    believed = trajectory if mismatches else again.trajectory
    scores = grade(believed, scenario, mode, metrics=metrics, keep_spoiled=keep_spoiled, similarity=similarity)
    if mismatches:
        first, *others = mismatches
        more = f" (and {len(others)} more)" if others else ""
        doubt = f"the log records no state, and carried out again its calls give other results: {first}{more}"
        warnings.append(f"{trajectory.path}: {doubt}")
        scores = replace(scores, verdicts={**scores.verdicts, STATEFUL: Verdict(inconclusive=doubt)})
    return Graded(believed, scores, tuple(warnings))


def grade_logs(
    paths: Iterable[Path],
    find: Find,
    mode: Mode = "strict",
    *,
    metrics: Iterable[str | Metric] = (),
    metric: str = SCORE,
    keep_spoiled: bool = False,
    skip_unreadable: bool = False,
    similarity: str = DEFAULT,
    name: str = "",
) -> Report:
    """Grade logs one after the other into a report by ``metric``; see :func:`grade` for the other options.

    With ``skip_unreadable``, logs that cannot be read or used are listed in the report instead of raising.

    Raises:
        TrajectoryError: a log cannot be read.
        GraderError: a log, its scenario, a metric or the similarity cannot be used.
    """
    chosen = families(similarity, metrics)  # what is missing for it is not the fault of a log
    check_figure(metric, chosen)
    report = Report(mode=mode, name=name, metric=metric, similarity=similarity)
    for path in paths:
        try:
            log = read_trajectory(path)
            log, scenario = placed(log, find)
            one = graded(log, scenario, mode, metrics=chosen, keep_spoiled=keep_spoiled, similarity=similarity)
        except (TrajectoryError, GraderError) as error:
            if not skip_unreadable:
                raise
            report.unreadable.append(Unreadable(str(path), str(error)))
        else:
            report.warnings += one.warnings
            report.sessions.append(one.scores)
    return report


def read_report(path: Path | str, find: Find | None = None, mode: Mode = "strict", metric: str = SCORE) -> Report:
    """A report from a folder of logs, which is graded now, or from a file of scores.

    Scenarios are those that ``find`` gives by name, or the built-in ones.

    Raises:
        TrajectoryError: there is no log.
        GraderError: the file holds no scores.

    Logs that cannot be read or used are listed in the report.
    """
    path = Path(path)
    if path.suffix != ".json":
        logs = find_logs([path])
        return grade_logs(logs, find or SuiteFinder(), mode, metric=metric, skip_unreadable=True, name=str(path))
    try:
        data: Any = loads(path.read_text(encoding="utf-8"))
        return Report(
            sessions=[Scores.from_json(item, data["mode"]) for item in data["sessions"]],
            mode=data["mode"],
            grader=str(data.get("grader") or ""),
            name=str(path),
            metric=metric,
            warnings=[
                *map(str, data.get("warnings", ())),
                *(str(item["reason"]) for item in data.get("unreadable", ())),
            ],
        )
    except OSError as error:
        raise GraderError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise GraderError(f"{path}: holds no scores; expected what 'grade --json' prints ({error})") from error
