"""Grading one session: every family of metrics on one log, with the reasons.

Policy: what a log lacks makes a family inconclusive, never 0; what broke a session makes it unscored, never bad. A
session that its user spoiled says little about its agent and is not scored either, unless somebody wants it to be.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox_scenarios.model import Scenario

from sandbox_grader.metric import Mode, Subject, Verdict
from sandbox_grader.metrics import families
from sandbox_grader.milestones.ending import unscored
from sandbox_grader.references import references_of
from sandbox_grader.similarity import DEFAULT
from sandbox_grader.users.metric import spoiled_by_user
from sandbox_mcp.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class Scores:
    """What is said of one session: a verdict per family.

    ``reason`` tells why the session is not scored, although its numbers are there; None means that it is. With
    ``spoiled`` it is because of what its user did.
    """

    session: str
    scenario: str
    variant: str
    trial: int
    categories: tuple[str, ...]
    mode: Mode
    verdicts: Mapping[str, Verdict]
    reason: str | None = None
    path: str = ""
    spoiled: bool = False

    @property
    def scored(self) -> bool:
        """Whether the session counts."""
        return self.reason is None

    @property
    def score(self) -> float | None:
        """ToolSandbox's score, from 0 to 1; None where the session does not allow one."""
        verdict = self.verdicts.get("toolsandbox")
        return verdict.values.get("score") if verdict else None

    def to_json(self) -> dict[str, Any]:
        """The scores as one JSON object: ``metrics`` and ``details`` by family; inconclusive ones say why."""
        return {
            "id": self.session,
            "scenario": self.scenario,
            "variant": self.variant,
            "trial": self.trial,
            "categories": list(self.categories),
            "mode": self.mode,
            "scored": self.scored,
            "reason": self.reason,
            "metrics": {name: _plain(verdict) for name, verdict in self.verdicts.items()},
            "details": {name: [dict(item) for item in v.details] for name, v in self.verdicts.items() if v.details},
        }


def grade(
    trajectory: Trajectory,
    scenario: Scenario | None = None,
    mode: Mode = "strict",
    *,
    keep_spoiled: bool = False,
    similarity: str = DEFAULT,
) -> Scores:
    """Grade one session with every family of metrics.

    ``keep_spoiled`` scores it even if its user spoiled it; ``similarity`` names what ToolTalk compares free text by.

    Pure and deterministic: needs no model, no server, no network, and executes no tool.

    Raises:
        GraderError: the scenario, the log or the similarity cannot be used; the message says why.
    """
    subject = Subject(trajectory, references_of(scenario, trajectory), scenario)
    started = trajectory.started
    verdicts = {family.name: family.grade(subject, mode) for family in families(similarity)}
    broken = unscored(trajectory)
    spoiled = None if broken or keep_spoiled else spoiled_by_user(verdicts["user_conduct"])
    return Scores(
        session=started.session,
        scenario=started.scenario,
        variant=started.variant,
        trial=started.trial,
        categories=scenario.categories if scenario else started.categories,
        mode=mode,
        verdicts=verdicts,
        reason=broken or spoiled,
        path=trajectory.path,
        spoiled=spoiled is not None,
    )


def _plain(verdict: Verdict) -> dict[str, Any]:
    return dict(verdict.values) if verdict.inconclusive is None else {"inconclusive": verdict.inconclusive}
