"""Limits of a run's cost, and the cost of its sessions when they are graded later.

Policy: a budget counts everything that the folder has cost, sessions that broke and were set aside included. No
session is begun that the budget would not cover if it cost as much as the mean so far; sessions under way are played to
their end. Logs that are graded together have prices where all their runs had the same.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sandbox_grader.grading.spending import Prices, Spent, spent_in
from sandbox_grader.reporting.report import Report

from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.app.run.folder import MANIFEST, RunFolder, manifest_in
from sandbox_mcp.engine.trajectory.finding import LogPaths


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a run folder in money and tokens; None for no limit."""

    money: float | None = None
    tokens: int | None = None

    def allows(self, spent: Spent, sessions: int, running: int, prices: Prices) -> bool:
        """True if another session may begin, after ``sessions`` have taken ``spent`` and while ``running`` go on."""
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
            raise RunError("a budget needs prices; give the agent's model with --price IN/OUT")
        if modelled_user and prices.user is None:
            raise RunError("a budget needs prices; give the user's model with --user-price IN/OUT")
    return budget


def with_costs(report: Report, logs: LogPaths, named: Iterable[Path]) -> None:
    """Add to a report of graded logs the prices of their runs, and what the runs among ``named`` set aside.

    Where the runs had different prices no cost is told, and a warning says so.
    """
    runs = {folder.resolve().parent for folder in logs.folders}
    found = {Prices.from_json(manifest_in(run).get("prices")) for run in runs}
    if len(found) == 1:
        [report.prices] = found
    elif found:
        report.warnings.append("the runs of these logs have different prices, or some none, so that no cost is told")
    whole = {path.resolve() for path in named if (path / MANIFEST).is_file()}
    report.wasted = sum((spent_in(log) for run in whole for log in RunFolder(run).set_aside()), Spent())
