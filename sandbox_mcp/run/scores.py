"""What a run remembers of each session: how it ended, what it scored, and what it cost.

Policy: scores are the grader's, strict. A session that broke for reasons outside the agent has none.
"""

from dataclasses import dataclass

from sandbox_mcp.run.tokens import Spent, spent_in
from sandbox_mcp.trajectory import Trajectory
from scenarios.model import Scenario

MODE = "strict"


@dataclass(frozen=True, slots=True)
class Score:
    """One session. ``similarity`` is None where it is not scored, and then ``reason`` says why.

    ``refusal`` is what the refusing agent gets in the same scenario; ``turns`` counts messages on the bus.
    """

    scenario: str
    variant: str
    trial: int
    categories: tuple[str, ...]
    ending: str
    detail: str | None
    similarity: float | None
    refusal: float
    turns: int
    reason: str | None
    spent: Spent


def score(trajectory: Trajectory, scenario: Scenario) -> Score:
    """Grade one session of a run.

    Raises:
        GraderError: the scenario's milestones cannot be used.
    """
    from grader.metric import Subject
    from grader.metrics import metric

    verdict = metric("toolsandbox").grade(Subject(trajectory, scenario=scenario), MODE)
    values = verdict.values or {"scored": False, "refusal": 0.0, "turn_count": 0, "reason": verdict.inconclusive}
    started, ended = trajectory.started, trajectory.ended
    return Score(
        scenario=started.scenario,
        variant=started.variant,
        trial=started.trial,
        categories=scenario.categories,
        ending=ended.reason if ended else "incomplete",
        detail=ended.detail if ended else None,
        similarity=values["score"] if values["scored"] else None,
        refusal=values["refusal"],
        turns=values["turn_count"],
        reason=values["reason"],
        spent=spent_in(trajectory),
    )
