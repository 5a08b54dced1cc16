"""Tokens that the models behind agent and user took, as a log says, and what they cost.

Policy: prices are given, never assumed, in whatever currency the caller thinks in. Tokens without a price cost what
their log states, in US dollars, and else have no known cost; a sum with an unknown part is unknown.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox_grader.errors import GraderError
from sandbox_grader.grading.values import is_number, is_object
from sandbox_grader.reporting.statistics import rounded
from sandbox_mcp.engine.trajectory import ToolCall, Trajectory
from sandbox_mcp.engine.trajectory.usage import Usage

MILLION = 1_000_000
NOTHING = Usage()
"""What is used where no model speaks; one object, since what sessions took is kept with their scores."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Cost of sessions by role."""

    agent: Usage = field(default_factory=Usage)
    user: Usage = field(default_factory=Usage)

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(self.agent + other.agent, self.user + other.user)

    @property
    def tokens(self) -> int:
        """All tokens, read and written."""
        return self.agent.tokens + self.user.tokens

    def to_json(self) -> dict[str, dict[str, Any]]:
        """The tokens as a report has them."""
        return {"agent": self.agent.to_json(), "user": self.user.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Spent":
        """The tokens that :meth:`to_json` gave."""
        return cls(*(Usage.from_json(data.get(role) or {}) for role in ("agent", "user")))


@dataclass(frozen=True, slots=True)
class Price:
    """Price of a million tokens: ``prompt`` those that a model reads, ``completion`` those that it writes."""

    prompt: float
    completion: float

    @classmethod
    def parse(cls, text: str) -> "Price":
        """Read ``IN/OUT``.

        Raises:
            GraderError: it is not of that form.
        """
        try:
            prompt, completion = (float(part) for part in text.split("/"))
        except ValueError:
            prompt = completion = -1.0
        if not (0 <= prompt < MILLION and 0 <= completion < MILLION):
            raise GraderError(f"price {text!r} is not of the form IN/OUT per million tokens, such as 2.5/10")
        return cls(prompt, completion)

    @classmethod
    def from_json(cls, told: object) -> "Price | None":
        """The price that a manifest has; None where what it has is not a price."""
        if not is_object(told):
            return None
        prompt, completion = told.get("prompt"), told.get("completion")
        if not (is_number(prompt) and is_number(completion) and 0 <= prompt < MILLION and 0 <= completion < MILLION):
            return None
        return cls(prompt, completion)

    def of(self, used: Usage) -> float:
        """Price these tokens."""
        return (self.prompt * used.prompt_tokens + self.completion * used.completion_tokens) / MILLION


@dataclass(frozen=True, slots=True)
class Prices:
    """The price of each role's model, None where it is not known."""

    agent: Price | None = None
    user: Price | None = None

    def __bool__(self) -> bool:
        return self.agent is not None or self.user is not None

    def tell(self, spent: Spent) -> bool:
        """True if anything is known of what these tokens cost."""
        return bool(self) or any(used.cost is not None for used in (spent.agent, spent.user))

    def of(self, spent: Spent) -> dict[str, float | None]:
        """The cost by role and in all; None where it is not known."""
        agent, user = _cost(self.agent, spent.agent), _cost(self.user, spent.user)
        total = None if agent is None or user is None else agent + user
        return {"agent": rounded(agent), "user": rounded(user), "total": rounded(total)}

    @classmethod
    def from_json(cls, told: object) -> "Prices":
        """The prices that :meth:`to_json` gave; a role without anything usable has no price."""
        roles = told if is_object(told) else dict[str, Any]()
        return cls(Price.from_json(roles.get("agent")), Price.from_json(roles.get("user")))

    def to_json(self) -> Mapping[str, Any] | None:
        """The prices as a manifest has them."""
        if not self:
            return None
        return {
            role: price and {"prompt": price.prompt, "completion": price.completion}
            for role, price in (("agent", self.agent), ("user", self.user))
        }


def spent_in(trajectory: Trajectory) -> Spent:
    """Cost of one session, as far as its log tells."""
    used = dict.fromkeys(("agent", "user"), NOTHING)
    for event in trajectory.events:
        speaker = event.caller if isinstance(event, ToolCall) else event.sender
        told = event.meta.get("usage")
        if speaker in used and is_object(told):
            used[speaker] += Usage.from_json(told)
    return Spent(used["agent"], used["user"])


def _cost(price: Price | None, used: Usage) -> float | None:
    if price is None and used.cost is not None:
        return used.cost
    if price is None:
        return None if used.prompt_tokens or used.completion_tokens else 0.0
    return price.of(used)
