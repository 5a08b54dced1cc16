"""Progress of a run: done and running sessions, the score so far, the cost, and the time that is left.

Policy: the time left is worked out from this command's own sessions. The score so far has an interval from the second
scenario on, and is counted as in the summary.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sandbox_grader.grading.metric import Metric
from sandbox_grader.grading.scores import SCORE, Scores
from sandbox_grader.grading.spending import Prices, Spent
from sandbox_grader.reporting.report import Report

from sandbox_mcp.app.run.cost import Budget
from sandbox_mcp.engine.plurals import counted


@dataclass(frozen=True, slots=True)
class Progress:
    """One session that is done: ``done`` of ``total`` are by now; ``score`` is what this one came to by ``metric``."""

    done: int
    total: int
    score: Scores
    played: bool
    """False for a session that an earlier command had already played."""
    metric: str = SCORE


@dataclass(slots=True)
class RunTally:
    """A run as it goes on. ``wasted`` is what sessions took that were set aside, before and during this command."""

    prices: Prices = field(default_factory=Prices)
    budget: Budget = field(default_factory=Budget)
    metric: str = SCORE
    own_metrics: tuple[Metric, ...] = ()
    clock: Callable[[], float] = time.monotonic
    scores: dict[str, Scores] = field(default_factory=dict[str, Scores])
    total: int = 0
    running: int = 0
    played: int = 0
    stopped: bool = False
    """Whether the budget has kept a session from being played."""
    wasted: Spent = field(default_factory=Spent)
    _spent: Spent = field(default_factory=Spent)
    _began: float | None = None

    @property
    def spent(self) -> Spent:
        """Cost of everything in the folder."""
        return self._spent + self.wasted

    def begin(self) -> bool:
        """True if another session may begin; if so it is running."""
        if not self.budget.allows(self.spent, len(self.scores), self.running, self.prices):
            self.stopped = True
            return False
        self._began = self.clock() if self._began is None else self._began
        self.running += 1
        return True

    def count(self, name: str, score: Scores, *, played: bool) -> Progress:
        """Count a session that is done."""
        self.running -= played
        self.played += played
        self.scores[name] = score
        self._spent += score.spent
        return Progress(len(self.scores), self.total, score, played, self.metric)

    def line(self) -> str:
        """Describe the progress of the run in one line."""
        parts = [f"{len(self.scores)}/{self.total} done", f"{self.running} running"]
        if found := self.report().estimate:
            interval = "" if found.low is None else f" [{found.low:.3f}, {found.high:.3f}]"
            parts.append(f"{self.metric.removeprefix('toolsandbox.')} {found.mean:.3f}{interval}")
        else:
            parts.append("no score yet")
        costs: Mapping[str, float | None] = self.prices.of(self.spent)
        if self.prices and costs["total"] is not None:
            parts.append(f"cost {costs['total']:.2f} (agent {costs['agent']:.2f}, user {costs['user']:.2f})")
        elif self.spent.tokens:
            parts.append(counted(self.spent.tokens, "token"))
        if left := self.seconds_left():
            minutes = round(left / 60)
            longer = f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"
            parts.append(f"{max(1, round(left))} s left" if left < 60 else f"{longer} left")
        return " · ".join(parts)

    def seconds_left(self) -> float | None:
        """Seconds until the end at the present pace; None as long as that cannot be told."""
        if self._began is None or not self.played:
            return None
        return (self.clock() - self._began) / self.played * (self.total - len(self.scores))

    def report(self) -> Report:
        """Report on the sessions done so far."""
        stopped = "budget" if self.stopped else None
        return Report(
            list(self.scores.values()),
            metric=self.metric,
            prices=self.prices,
            wasted=self.wasted,
            stopped=stopped,
            own_metrics=self.own_metrics,
        )
