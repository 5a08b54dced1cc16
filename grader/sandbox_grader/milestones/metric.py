"""ToolSandbox's score as a metric: milestones, minefields and turn count, with what doing nothing would have earned.

Policy: ``paper`` is ``strict``, because the paper states the idea and strict grading is the idea without the holes.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from sandbox_scenarios.model import Scenario

from sandbox_grader.grading.course import is_replay
from sandbox_grader.grading.derived import derived
from sandbox_grader.grading.metric import Mode, Subject, Verdict
from sandbox_grader.milestones import compat, strict
from sandbox_grader.milestones.baselines import idle, refusing
from sandbox_grader.milestones.reasons import compat_details, details
from sandbox_grader.milestones.timeline import turn_count
from sandbox_grader.milestones.translate import to_case
from sandbox_mcp.engine.trajectory import Trajectory

NUMBERS = (
    "score", "score_low", "score_high", "milestones", "minefields", "turn_count", "idle", "refusal", "corrected",
    "doubts", "false_claims",
)  # fmt: skip
"""The values that summaries average."""
STRICT_ALONE = frozenset({"score_low", "score_high", "doubts", "false_claims"})
"""Those that only strict grading has."""
DIGITS = 9

NO_SCENARIO = "no scenario: milestones are part of one"


class ToolSandbox:
    """Similarity to milestones and minefields, and turn count.

    Values: ``score`` (0 to 1), ``milestones`` and ``minefields`` (the two parts), ``turn_count``, ``unwanted``
    (number of changes that were not asked for), ``idle`` and ``refusal`` (the score of a silent and of a refusing
    agent), ``corrected`` (the score between the refusing agent's and 1, null where refusing already gives 1); in
    ``strict`` also ``score_low`` and ``score_high`` (the score with all doubts lost and won, of which ``score``
    is the middle), ``doubts`` (facts on which the score hangs that are in doubt) and ``false_claims`` (messages
    that claim what is not so, which cost the milestone that they are about, and no more) with the first
    ``false_claim`` in words.

    Source: ToolSandbox, sections 4 and 5; all from ``unwanted`` on are ours.
    """

    name = "toolsandbox"
    source = "ToolSandbox, sections 4 and 5"
    figures = (*NUMBERS, "unwanted")

    def grade(self, subject: Subject, mode: Mode) -> Verdict:
        """Grade one session against the milestones of its scenario.

        Raises:
            GraderError: the scenario's milestones cannot be used.
        """
        scenario, trajectory = subject.scenario, subject.trajectory
        lacking = unjudged(scenario, trajectory)
        if scenario is None or lacking is not None:
            return Verdict(inconclusive=lacking)
        if mode == "compat":
            translated = to_case(scenario, trajectory)
            case = compat.evaluate(translated.case)
            parts = (case.score, case.milestone_score, case.minefield_score, case.turn_count)
            return Verdict(_values(scenario, mode, *parts), compat_details(scenario, translated, case))
        result = subject.strictly
        mines = max((place.similarity for place in result.mines.values()), default=0.0)
        values = _values(scenario, mode, result.score, result.milestone_score, mines, turn_count(trajectory))
        more = {
            "unwanted": len(result.unwanted),
            "score_low": round(result.low, DIGITS),
            "score_high": round(result.high, DIGITS),
            "doubts": len(result.doubts),
            "false_claims": len(result.untruths),
            "false_claim": result.untruths[0].text if result.untruths else None,
        }
        return Verdict({**values, **more}, details(scenario, result))

    def summarise(self, graded: Sequence[tuple[Subject, Verdict]], mode: Mode) -> Mapping[str, Any]:  # noqa: ARG002
        """Means overall, by category and by variant, each with the number of sessions that it is a mean of."""
        scored = [(subject, verdict.values) for subject, verdict in graded if verdict.inconclusive is None]
        return {
            "overall": _means(values for _, values in scored),
            "categories": _grouped(
                (category, values)
                for subject, values in scored
                for category in (subject.scenario or subject.trajectory.started).categories
            ),
            "variants": _grouped((subject.trajectory.started.variant, values) for subject, values in scored),
            "inconclusive": sum(1 for _, verdict in graded if verdict.inconclusive is not None),
        }


def unjudged(scenario: Scenario | None, trajectory: Trajectory) -> str | None:
    """Reason for which no milestones can be judged in a session; None if they can."""
    if scenario is None:
        return NO_SCENARIO
    if is_replay(trajectory):
        return "prefix replay forgets what was done after every turn, so no end can be judged"
    return "the log records no state of the world" if trajectory.started.world is None else None


def corrected(score: float, refusal: float) -> float | None:
    """Share reached of the way from the refusing agent's score to 1; negative below the refusing agent.

    ``(score - refusal) / (1 - refusal)``, at least -1; None where refusing gives 1, because nothing is left to reach.
    """
    return None if refusal >= 1 else max(-1.0, (score - refusal) / (1 - refusal))


@lru_cache(maxsize=1024)
def _for_nothing(scenario: Scenario, mode: Mode) -> tuple[float, float]:
    """Score that a scenario gives to a silent and to a refusing agent."""

    def graded() -> tuple[float, float]:
        logs = (idle(scenario), refusing(scenario))
        if mode == "compat":
            still, refusal = (compat.evaluate(to_case(scenario, log).case).score for log in logs)
        else:
            still, refusal = (strict.evaluate(scenario, log).score for log in logs)
        return still, refusal

    return derived(scenario, f"nothing-{mode}", graded)


def _values(
    scenario: Scenario, mode: Mode, score: float, milestones: float, minefields: float, turns: int
) -> dict[str, Any]:
    still, refusal = _for_nothing(scenario, "compat" if mode == "compat" else "strict")
    above = corrected(score, refusal)
    return {
        "score": round(score, DIGITS),
        "milestones": round(milestones, DIGITS),
        "minefields": round(minefields, DIGITS),
        "turn_count": turns,
        "idle": round(still, DIGITS),
        "refusal": round(refusal, DIGITS),
        "corrected": None if above is None else round(above, DIGITS),
    }


def _grouped(items: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for name, values in items:
        groups.setdefault(name, []).append(values)
    return {name: _means(groups[name]) for name in sorted(groups)}


def _means(items: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    listed = list(items)
    means: dict[str, Any] = {"n": len(listed)}
    for name in NUMBERS:
        numbers = [number for values in listed if (number := values.get(name)) is not None]
        if not numbers and name in STRICT_ALONE:
            continue
        means[name] = sum(numbers) / len(numbers) if numbers else None
    return means
