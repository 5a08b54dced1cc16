"""Scores of others in the place of a report's agent: the floor, a blind replay and the ceiling of its figures.

Policy: the floor is an agent that refuses whatever it is asked, the ceiling one that plays the first solution. Both are
graded on the scenarios that the report counts, in its mode and by the same code, each scenario once. Scenarios that are
not known here have neither. Between them stands the score of a blind replay, where that was measured on all of them.
"""

from collections.abc import Callable, Container, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from sandbox_scenarios.cache import users_folder
from sandbox_scenarios.model import Scenario

from sandbox_grader.grading.metrics import FAMILIES, families, usable_outside
from sandbox_grader.grading.scores import SCORE, USERS, Scores, grade
from sandbox_grader.milestones.baselines import refusing
from sandbox_grader.reporting.blind_replay import blind_replay
from sandbox_grader.reporting.report import Report
from sandbox_mcp.engine.trajectory import Trajectory

if TYPE_CHECKING:
    from sandbox_grader.reporting.kept import KeptScores

_Play = Callable[[Scenario], Trajectory | None]
"""Plays a scenario's first reference solution; None where it cannot be played here."""


def bounded(
    report: Report,
    find: Callable[[str], Scenario | None],
    play: _Play,
    kept: "KeptScores | None" = None,
    own: Container[str] = (),
) -> None:
    """Give a report its floor, its blind replay and its ceiling; none of them where no scenario is known.

    Scenarios that the caller's files bring are ``own``: those were never replayed, however they are called.

    What ``kept`` has of them, see :func:`kept_bounds`, is taken from there, and the rest is kept there, unless a
    scenario is of a world that may be another one next time.

    Raises:
        GraderError: a scenario cannot be graded.
    """
    asked = _asked(report)
    wanted = families(report.similarity, [name for name in asked if name in FAMILIES])
    wanted += usable_outside(name for name in asked if name not in FAMILIES)
    counted = (item.scenario for item in report.ordered if item.value(report.metric) is not None)
    names = list(dict.fromkeys(counted))
    sides = {"floor": list[Scores](), "ceiling": list[Scores]()}
    with ExitStack() as stack:
        known: dict[str, Scores | None] = {}
        if kept:
            from sandbox_grader.reporting.kept import SharedScores

            shared = SharedScores(details=True)
            known |= {place: shared.scores(one, "") for place, one in kept.read()}
            stack.callback(kept.close)
        for side, log_of in (("floor", refusing), ("ceiling", play)):
            for name in names:
                if (place := f"{side}/{name}") not in known:
                    scenario = find(name)
                    log = log_of(scenario) if scenario else None
                    known[place] = grade(log, scenario, report.mode, metrics=wanted) if scenario and log else None
                    if kept and (scenario is None or scenario.cache):
                        _keep(kept, place, known[place])
                if found := known[place]:
                    sides[side].append(found)
    report.floor, report.ceiling = (
        Report(graded, report.mode, side, report.metric, report.similarity) if graded else None
        for side, graded in sides.items()
    )
    if (report.mode, report.metric) == ("strict", SCORE):
        report.blind_replay = blind_replay(names, own)


def kept_bounds(report: Report, places: Iterable[Path]) -> "KeptScores | None":
    """Place at which floor and ceiling of scenarios are kept: in the user's cache, for whatever logs are graded next.

    None without a cache, or where it cannot be told what they depend on; ``places`` are files and folders of scenarios.
    """
    from sandbox_grader.reporting.kept import KeptScores
    from sandbox_grader.reporting.many import FIXED, scores_key

    key = scores_key(places, "bounds", report.mode, report.similarity, *_asked(report))
    folder = users_folder("bounds")
    if key is None or folder is None or report.similarity not in FIXED:
        return None
    return KeptScores(folder, lambda _: "as the key says", key)


def _asked(report: Report) -> list[str]:
    return [name for name in dict.fromkeys(n for item in report.sessions for n in item.verdicts) if name != USERS]


def _keep(kept: "KeptScores", place: str, scores: Scores | None) -> None:
    from sandbox_grader.reporting.kept import GradedLog

    kept.add(place, GradedLog.of(scores) if scores else GradedLog(problem="unknown scenario"))
