"""What a run remembers of each session: how it ended, what it scored, and what it cost.

Policy: scores are the grader's, strict. A session that broke for reasons outside the agent has none, nor has one that
its user spoiled, unless somebody wants it scored all the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox_scenarios.model import Scenario

from sandbox_mcp.run.tokens import Spent, spent_in
from sandbox_mcp.trajectory import Trajectory

MODE = "strict"


@dataclass(frozen=True, slots=True)
class SessionScore:
    """One session. ``similarity`` is None where it is not scored, and then ``reason`` says why.

    ``refusal`` is what the refusing agent gets in the same scenario; ``turns`` counts messages on the bus. ``conduct``
    is how its user behaved, as the grader's ``user_conduct`` has it, and ``spoiled`` how that spoiled the session.
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
    conduct: Mapping[str, Any] = field(default_factory=dict[str, Any])
    spoiled: str | None = None

    @property
    def left_out(self) -> bool:
        """Whether the session is not scored because of its user."""
        return self.spoiled is not None and self.similarity is None


def score(trajectory: Trajectory, scenario: Scenario, *, keep_spoiled: bool = False) -> SessionScore:
    """Grade one session of a run; ``keep_spoiled`` scores it even if its user spoiled it.

    Raises:
        GraderError: the scenario's milestones cannot be used.
    """
    from sandbox_grader.metric import Subject
    from sandbox_grader.metrics import metric
    from sandbox_grader.users.metric import spoiled_by_user

    subject = Subject(trajectory, scenario=scenario)
    verdict, conduct = (metric(name).grade(subject, MODE) for name in ("toolsandbox", "user_conduct"))
    values = verdict.values or {"scored": False, "refusal": 0.0, "turn_count": 0, "reason": verdict.inconclusive}
    started, ended = trajectory.started, trajectory.ended
    spoiled = spoiled_by_user(conduct) if values["scored"] else None
    counts = values["scored"] and (keep_spoiled or spoiled is None)
    return SessionScore(
        scenario=started.scenario,
        variant=started.variant,
        trial=started.trial,
        categories=scenario.categories,
        ending=ended.reason if ended else "incomplete",
        detail=ended.detail if ended else None,
        similarity=values["score"] if counts else None,
        refusal=values["refusal"],
        turns=values["turn_count"],
        reason=values["reason"] if counts or not spoiled else spoiled,
        spent=spent_in(trajectory),
        conduct=conduct.values,
        spoiled=spoiled,
    )
