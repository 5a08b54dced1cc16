"""What a run remembers of each session: how it ended, what it scored, and what it cost.

Policy: scores are the grader's, strict. A session that broke for reasons outside the agent has none.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox_mcp.trajectory import Message, ToolCall, Trajectory
from scenarios.model import Scenario

MODE = "strict"


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens read and written by a model, and how many requests it took."""

    prompt: int = 0
    completion: int = 0
    requests: int = 0

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(self.prompt + other.prompt, self.completion + other.completion, self.requests + other.requests)

    def to_json(self) -> dict[str, int]:
        """As a summary has it."""
        return {"prompt_tokens": self.prompt, "completion_tokens": self.completion, "requests": self.requests}


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
    agent_tokens: Tokens
    user_tokens: Tokens


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
        agent_tokens=_tokens(trajectory, "agent"),
        user_tokens=_tokens(trajectory, "user"),
    )


def _tokens(trajectory: Trajectory, role: str) -> Tokens:
    """What the model behind a role used, as far as the log says."""
    total = Tokens()
    for event in trajectory.events:
        usage: Mapping[str, Any] | None = event.meta.get("usage") if _speaker(event) == role else None
        if usage:
            total += Tokens(*(usage.get(name) or 0 for name in ("prompt_tokens", "completion_tokens", "requests")))
    return total


def _speaker(event: Message | ToolCall) -> str:
    return event.caller if isinstance(event, ToolCall) else event.sender
