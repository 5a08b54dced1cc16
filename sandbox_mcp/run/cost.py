"""What a run costs: tokens by role, priced as the caller says, and how much may be spent.

Policy: prices are given, never assumed, in whatever currency the caller thinks in. Tokens without a price have no
known cost, and a sum with an unknown part is unknown. A budget counts everything that the folder has cost, sessions
that broke and were set aside included. No session is begun that the budget would not cover if it cost as much as the
mean so far; sessions under way are played to their end.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox_mcp.run.errors import RunError
from sandbox_mcp.run.tokens import Spent, Tokens

MILLION = 1_000_000
DIGITS = 6


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens cost: ``prompt`` those that a model reads, ``completion`` those that it writes."""

    prompt: float
    completion: float

    @classmethod
    def parse(cls, text: str) -> "Price":
        """Read ``PROMPT/COMPLETION``.

        Raises:
            RunError: it is not of that form.
        """
        try:
            prompt, completion = (float(part) for part in text.split("/"))
        except ValueError:
            prompt = completion = -1.0
        if not (0 <= prompt < MILLION and 0 <= completion < MILLION):
            raise RunError(f"price {text!r} is not of the form PROMPT/COMPLETION per million tokens, such as 2.5/10")
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
        return {"agent": _rounded(agent), "user": _rounded(user), "total": _rounded(total)}

    def to_json(self) -> Mapping[str, Any] | None:
        """As a manifest has it."""
        if not self:
            return None
        return {
            role: price and {"prompt": price.prompt, "completion": price.completion}
            for role, price in (("agent", self.agent), ("user", self.user))
        }


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a run folder may cost, and how many tokens it may take; None for no limit."""

    money: float | None = None
    tokens: int | None = None

    def allows(self, spent: Spent, sessions: int, running: int, prices: Prices) -> bool:
        """Whether another session may begin, after ``sessions`` have taken ``spent`` and while ``running`` go on."""
        ahead = (running + 1) / sessions if sessions else 0.0
        used = spent.tokens
        if self.tokens is not None and (used >= self.tokens or used * (1 + ahead) > self.tokens):
            return False
        cost = prices.of(spent)["total"] if self.money is not None else None
        return self.money is None or cost is None or (cost < self.money and cost * (1 + ahead) <= self.money)


def checked(budget: Budget, prices: Prices, *, modelled_user: bool) -> Budget:
    """The budget, if it can be kept.

    Raises:
        RunError: it is one of money, and a role's price is not known.
    """
    if budget.money is not None:
        if prices.agent is None:
            raise RunError("a budget needs prices; give the agent's model with --price PROMPT/COMPLETION")
        if modelled_user and prices.user is None:
            raise RunError("a budget needs prices; give the user's model with --user-price PROMPT/COMPLETION")
    return budget


def _cost(price: Price | None, tokens: Tokens) -> float | None:
    if price is None:
        return None if tokens.prompt or tokens.completion else 0.0
    return price.of(tokens)


def _rounded(cost: float | None) -> float | None:
    return None if cost is None else round(cost, DIGITS)
