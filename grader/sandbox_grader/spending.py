"""Tokens that the models behind agent and user took, as a log says, and what they cost.

Policy: prices are given, never assumed, in whatever currency the caller thinks in. Tokens without a price have no
known cost, and a sum with an unknown part is unknown.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox_grader.errors import GraderError
from sandbox_grader.statistics import rounded
from sandbox_grader.values import is_number, is_object
from sandbox_mcp.trajectory import ToolCall, Trajectory

MILLION = 1_000_000
BEYOND = 1e15
"""More tokens than anything ever took: what is not below counts nothing."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens read and written by a model, and how many requests it took."""

    prompt: int = 0
    completion: int = 0
    requests: int = 0

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(self.prompt + other.prompt, self.completion + other.completion, self.requests + other.requests)

    def to_json(self) -> dict[str, int]:
        """As a report has it."""
        return {"prompt_tokens": self.prompt, "completion_tokens": self.completion, "requests": self.requests}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Tokens":
        """From what :meth:`to_json` gives, or a log's ``usage``; what is missing, or no count, is 0."""
        told = (data.get(name) for name in ("prompt_tokens", "completion_tokens", "requests"))
        return cls(*(int(number) if is_number(number) and abs(number) < BEYOND else 0 for number in told))


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
        """As a report has it."""
        return {"agent": self.agent.to_json(), "user": self.user.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Spent":
        """From what :meth:`to_json` gives."""
        return cls(*(Tokens.from_json(data.get(role) or {}) for role in ("agent", "user")))


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens cost: ``prompt`` those that a model reads, ``completion`` those that it writes."""

    prompt: float
    completion: float

    @classmethod
    def parse(cls, text: str) -> "Price":
        """Read ``PROMPT/COMPLETION``.

        Raises:
            GraderError: it is not of that form.
        """
        try:
            prompt, completion = (float(part) for part in text.split("/"))
        except ValueError:
            prompt = completion = -1.0
        if not (0 <= prompt < MILLION and 0 <= completion < MILLION):
            raise GraderError(f"price {text!r} is not of the form PROMPT/COMPLETION per million tokens, such as 2.5/10")
        return cls(prompt, completion)

    def of(self, tokens: Tokens) -> float:
        """What these tokens cost."""
        return (self.prompt * tokens.prompt + self.completion * tokens.completion) / MILLION


@dataclass(frozen=True, slots=True)
class Prices:
    """The price of each role's model, None where it is not known."""

    agent: Price | None = None
    user: Price | None = None

    def __bool__(self) -> bool:
        return self.agent is not None or self.user is not None

    def of(self, spent: Spent) -> dict[str, float | None]:
        """The cost by role and in all; None where it is not known."""
        agent, user = _cost(self.agent, spent.agent), _cost(self.user, spent.user)
        total = None if agent is None or user is None else agent + user
        return {"agent": rounded(agent), "user": rounded(user), "total": rounded(total)}

    def to_json(self) -> Mapping[str, Any] | None:
        """As a manifest has it."""
        if not self:
            return None
        return {
            role: price and {"prompt": price.prompt, "completion": price.completion}
            for role, price in (("agent", self.agent), ("user", self.user))
        }


def spent_in(trajectory: Trajectory) -> Spent:
    """What one session took."""
    return Spent(_tokens(trajectory, "agent"), _tokens(trajectory, "user"))


def _tokens(trajectory: Trajectory, role: str) -> Tokens:
    """What the model behind a role used, as far as the log says."""
    total = Tokens()
    for event in trajectory.events:
        speaker = event.caller if isinstance(event, ToolCall) else event.sender
        usage = event.meta.get("usage")
        if speaker == role and is_object(usage):
            total += Tokens.from_json(usage)
    return total


def _cost(price: Price | None, tokens: Tokens) -> float | None:
    if price is None:
        return None if tokens.prompt or tokens.completion else 0.0
    return price.of(tokens)
