"""Tokens that the models behind agent and user took, as a log says."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox_mcp.trajectory import Message, ToolCall, Trajectory


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
class Spent:
    """What sessions took, by role."""

    agent: Tokens = Tokens()
    user: Tokens = Tokens()

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(self.agent + other.agent, self.user + other.user)

    @property
    def tokens(self) -> int:
        """All tokens, read and written."""
        return sum(role.prompt + role.completion for role in (self.agent, self.user))

    def to_json(self) -> dict[str, dict[str, int]]:
        """As a summary has it."""
        return {"agent": self.agent.to_json(), "user": self.user.to_json()}


def spent_in(trajectory: Trajectory) -> Spent:
    """What one session took."""
    return Spent(_tokens(trajectory, "agent"), _tokens(trajectory, "user"))


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
