"""Progress of a run: done and running sessions, the score so far, the cost, and the time left.

Policy: a run whose first sessions all fail for one reason, as where a key is refused, stops and says so: what is left
would fail too, after as many tries each. The time left is worked out from this command's own sessions. The score so far
has an interval from the second scenario on, and is counted as in the summary.
"""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sandbox_grader.grading.metric import Metric
from sandbox_grader.grading.scores import SCORE, Scores
from sandbox_grader.grading.spending import Prices, Spent
from sandbox_grader.reporting.counting import ALIKE, BUDGET
from sandbox_grader.reporting.report import Report

from sandbox_mcp.app.run.cost import Budget
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.trajectory import INFRASTRUCTURE

TRIED = 3
"""Failures in a row, from the first session on, that end a run."""
_CHANGING = re.compile(r"(?<![^\s:,;])[^\s:,;\d]*+\d[^\s:,;]*")
"""Parts of a reason that differ from failure to failure: numbers of requests, times, addresses in memory."""


@dataclass(frozen=True, slots=True)
class Progress:
    """One finished session: ``done`` of ``total`` are by now; ``score`` is what this one came to by ``metric``."""

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
    stopped: str | None = None
    """Reason for which no more is played: ``budget`` or ``alike``."""
    keep_going: bool = False
    """Whether to play on whatever the first sessions fail for."""
    stopping: frozenset[str] = INFRASTRUCTURE
    """Endings that stop the run where the first sessions all have them."""
    wasted: Spent = field(default_factory=Spent)
    _spent: Spent = field(default_factory=Spent)
    _began: float | None = None
    _failures: list[str] | None = field(default_factory=list[str])
    """Reasons of the failures so far; None once a session has come through."""

    @property
    def spent(self) -> Spent:
        """Cost of everything in the folder."""
        return self._spent + self.wasted

    def begin(self) -> bool:
        """True if another session may begin; if so it is running."""
        if not self.budget.allows(self.spent, len(self.scores), self.running, self.prices):
            self.stopped = BUDGET
            return False
        self._began = self.clock() if self._began is None else self._began
        self.running += 1
        return True

    def count(self, name: str, score: Scores, *, played: bool) -> Progress:
        """Count a finished session."""
        self.running -= played
        self.played += played
        self.scores[name] = score
        self._spent += score.spent
        if played and self._failures is not None:
            self._look_at(score)
        return Progress(len(self.scores), self.total, score, played, self.metric)

    def _look_at(self, score: Scores) -> None:
        """Stop where the first sessions failed alike and others are left."""
        if score.ending not in self.stopping or self.keep_going or self._failures is None:
            self._failures = None
            return
        self._failures.append(_CHANGING.sub("", score.detail or score.ending))
        if len(set(self._failures)) > 1:
            self._failures = None
        elif len(self._failures) >= TRIED and len(self.scores) < self.total:
            self.stopped = ALIKE

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
        return Report(
            list(self.scores.values()),
            metric=self.metric,
            prices=self.prices,
            wasted=self.wasted,
            stopped=self.stopped,
            own_metrics=self.own_metrics,
        )
