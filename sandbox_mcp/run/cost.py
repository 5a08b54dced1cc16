"""How much a run may spend.

Policy: a budget counts everything that the folder has cost, sessions that broke and were set aside included. No
session is begun that the budget would not cover if it cost as much as the mean so far; sessions under way are played to
their end.
"""

from dataclasses import dataclass

from sandbox_grader.spending import Prices, Spent

from sandbox_mcp.run.errors import RunError


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
