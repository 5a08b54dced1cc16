"""What the least and the best agent would get in the place of a report's agent: floor and ceiling of its figures.

Policy: the floor is an agent that refuses whatever it is asked, the ceiling one that plays the first solution. Both are
graded on the scenarios that the report counts, in its mode and by the same code, each scenario once. Scenarios that are
not known here have neither.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sandbox_scenarios.model import Scenario

from sandbox_grader.metrics import families
from sandbox_grader.milestones.baselines import refusing
from sandbox_grader.report import Report
from sandbox_grader.scores import USERS, grade
from sandbox_mcp.trajectory import Trajectory

Play = Callable[[Scenario], Trajectory]
"""Plays a scenario's first reference solution."""
DETAILS = ("counts", "failures", "errors", "kinds")
"""Parts of a summary that are too long for people."""
Figure = tuple[str, float, float | None, float | None]
"""A figure's name, its value, its floor and its ceiling."""


def bounded(report: Report, find: Callable[[str], Scenario | None], play: Play) -> None:
    """Give a report its floor and its ceiling; neither where none of its scenarios is known.

    Raises:
        GraderError: a scenario cannot be graded.
    """
    asked = [name for name in dict.fromkeys(n for item in report.sessions for n in item.verdicts) if name != USERS]
    names = dict.fromkeys(item.scenario for item in report.ordered if item.value(report.metric) is not None)
    known = [scenario for name in names if (scenario := find(name)) is not None]
    if not known:
        return
    chosen = families(report.similarity, asked)
    wanted = [family for family in chosen if family.name in asked]
    for side, log_of in (("floor", refusing), ("ceiling", play)):
        graded = [grade(log_of(scenario), scenario, report.mode, metrics=wanted) for scenario in known]
        of_side = Report(graded, report.mode, side, report.metric, report.similarity)
        setattr(report, side, of_side)


def figures(report: Report) -> dict[str, list[Figure]]:
    """The main figures of every family's summary, each with its floor and its ceiling; of the user's family none."""
    sides = sides_of(report)
    found: dict[str, list[Figure]] = {}
    for family, values in report.families().items():
        for (_, name), value in _figures({family: values}):
            low, high = (side.get((family, name)) for side in sides)
            found.setdefault(family, []).append((name, value, low, high))
    return found


def sides_of(report: Report) -> tuple[Mapping[tuple[str, str], float], Mapping[tuple[str, str], float]]:
    """Floor and ceiling of every main figure by family and name; nothing where there are none."""
    floor, ceiling = (dict(_figures(side.families())) if side else {} for side in (report.floor, report.ceiling))
    both = floor.keys() & ceiling.keys()
    return {name: floor[name] for name in both}, {name: ceiling[name] for name in both}


def to_json(report: Report) -> dict[str, Any] | None:
    """Floor and ceiling as one JSON object: the score, and what every family makes of it; None where there are none."""
    if report.floor is None or report.ceiling is None:
        return None
    sides = {"floor": report.floor, "ceiling": report.ceiling}
    return {name: {"score": side.score, "families": side.families()} for name, side in sides.items()}


def _figures(summaries: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[tuple[str, str], float]]:
    for family, values in summaries.items():
        for name, value in _flat(values):
            yield (family, name), value


def _flat(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, float]]:
    for key, value in values.items():
        full = f"{before} {key}".strip()
        if isinstance(value, Mapping) and key not in DETAILS:
            yield from _flat(value, full)  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(value, float):
            yield full, value
