"""How sure one can be of a score: intervals, repeated trials, paired comparison, and what a run could have shown.

Policy: trials of one scenario are not independent, so the scenario is the unit: standard errors are clustered by it,
and degrees of freedom are the number of scenarios less one. Intervals are 95 % unless asked otherwise. With one
scenario there is no interval, and none is made up. Passing means a score of at least ``PASS``.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

PASS = 1.0 - 1e-9
"""The score from which a session counts as passed."""
LEVEL = 0.95
POWER = 0.8
NOISE = 1e-12
"""A standard error below this is what rounding leaves of 0."""


@dataclass(frozen=True, slots=True)
class ScoredSession:
    """One scored session: which scenario and variant (the cluster), which trial, and its score from 0 to 1."""

    cluster: str
    trial: int
    score: float

    @property
    def passed(self) -> bool:
        """Whether everything was achieved."""
        return self.score >= PASS


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its interval; ``low`` and ``high`` are None where one cluster is all there is."""

    mean: float
    low: float | None
    high: float | None
    clusters: int
    sessions: int

    def to_json(self) -> dict[str, float | int | None]:
        """The estimate as a JSON object."""
        return {
            "mean": self.mean,
            "low": self.low,
            "high": self.high,
            "clusters": self.clusters,
            "sessions": self.sessions,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Run B against run A on what both played: the mean difference B - A, and McNemar's test on passing.

    ``smallest`` is the difference that a comparison of this size would have found in ``POWER`` of cases; None where
    that cannot be told, because there is one scenario or the difference did not vary. ``only_a`` and ``only_b`` count
    sessions that only one run passed; ``p_value`` is two-sided and exact.
    """

    difference: Estimate
    smallest: float | None
    only_a: int
    only_b: int
    p_value: float
    better: tuple[str, ...]
    worse: tuple[str, ...]


def by_cluster(outcomes: Iterable[ScoredSession]) -> dict[str, list[ScoredSession]]:
    """Outcomes by cluster, in order of first appearance."""
    clusters: dict[str, list[ScoredSession]] = {}
    for outcome in outcomes:
        clusters.setdefault(outcome.cluster, []).append(outcome)
    return clusters


def clustered_mean(values: Mapping[str, Sequence[float]], level: float = LEVEL) -> Estimate:
    """The mean of all values with an interval that takes their clustering into account.

    With x_ci the i-th value of cluster c, n values and C clusters,
    SE = sqrt(C / (C - 1) * sum_c (sum_i (x_ci - mean))^2) / n, and the interval is mean +- t(C - 1) * SE.
    Source: Liang and Zeger 1986; Miller, Adding Error Bars to Evals, 2024, section 2.2.

    Raises:
        ValueError: there are no values.
    """
    count = sum(map(len, values.values()))
    if not count:
        raise ValueError("a mean needs at least one value")
    mean = math.fsum(map(math.fsum, values.values())) / count
    error = _standard_error(values, mean, count)
    if error is None:
        return Estimate(mean, None, None, len(values), count)
    reach = _t(1 - (1 - level) / 2, len(values) - 1) * error
    return Estimate(mean, mean - reach, mean + reach, len(values), count)


def _standard_error(values: Mapping[str, Sequence[float]], mean: float, count: int) -> float | None:
    clusters = len(values)
    if clusters < 2:
        return None
    squares = math.fsum(math.fsum(value - mean for value in cluster) ** 2 for cluster in values.values())
    return math.sqrt(clusters / (clusters - 1) * squares) / count


def _scipy() -> Any:
    """scipy.stats, which ships no types and takes a while to load."""
    return import_module("scipy.stats")


def _t(quantile: float, freedom: int) -> float:
    return float(import_module("scipy.special").stdtrit(freedom, quantile))  # loads in a third of scipy.stats' time


def mean_score(outcomes: Iterable[ScoredSession], level: float = LEVEL) -> Estimate:
    """The mean score, clustered by scenario and kept within 0 and 1."""
    found = by_cluster(outcomes)
    return _within(clustered_mean({name: [o.score for o in items] for name, items in found.items()}, level), 0.0, 1.0)


def pass_at(k: int, outcomes: Iterable[ScoredSession], level: float = LEVEL) -> Estimate | None:
    """pass@k: the chance that at least one of k trials passes, averaged over scenarios with at least k trials.

    Per scenario with n trials of which c passed: 1 - C(n - c, k) / C(n, k). None where no scenario has k trials.
    Source: Chen et al. 2021, equation 1.
    """
    return _over_trials(k, outcomes, lambda n, c: 1 - math.comb(n - c, k) / math.comb(n, k), level)


def pass_hat(k: int, outcomes: Iterable[ScoredSession], level: float = LEVEL) -> Estimate | None:
    """pass^k: the chance that all of k trials pass, averaged over scenarios with at least k trials.

    Per scenario with n trials of which c passed: C(c, k) / C(n, k). None where no scenario has k trials.
    Source: Yao et al., tau-bench, 2024, section 3.
    """
    return _over_trials(k, outcomes, lambda n, c: math.comb(c, k) / math.comb(n, k), level)


def _over_trials(
    k: int, outcomes: Iterable[ScoredSession], chance: Callable[[int, int], float], level: float
) -> Estimate | None:
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    enough = {name: items for name, items in by_cluster(outcomes).items() if len(items) >= k}
    if not enough:
        return None
    values = {name: [chance(len(items), sum(item.passed for item in items))] for name, items in enough.items()}
    return _within(clustered_mean(values, level), 0.0, 1.0)


def flaky(outcomes: Iterable[ScoredSession]) -> tuple[str, ...]:
    """The scenarios that passed in some trials and not in others."""
    found = by_cluster(outcomes)
    return tuple(name for name, items in found.items() if 0 < sum(item.passed for item in items) < len(items))


def compare(a: Iterable[ScoredSession], b: Iterable[ScoredSession], level: float = LEVEL) -> Comparison:
    """Compare two runs on the sessions that both have, paired by scenario, variant and trial.

    The test on passing takes trials for independent, which the interval does not: with several trials believe that.

    Raises:
        ValueError: the runs have no session in common, or one has two of the same scenario, variant and trial.
    """
    one, two = _by_place(a), _by_place(b)
    shared = [key for key in one if key in two]
    if not shared:
        raise ValueError("the runs have no session in common: no scenario, variant and trial that both played")
    gains: dict[str, list[float]] = {}
    for key in shared:
        gains.setdefault(key[0], []).append(two[key].score - one[key].score)
    only_a = sum(one[key].passed and not two[key].passed for key in shared)
    only_b = sum(two[key].passed and not one[key].passed for key in shared)
    means = {name: math.fsum(items) / len(items) for name, items in gains.items()}
    return Comparison(
        difference=_within(clustered_mean(gains, level), -1.0, 1.0),
        smallest=_smallest(gains, level),
        only_a=only_a,
        only_b=only_b,
        p_value=_mcnemar(only_a, only_b),
        better=tuple(name for name, mean in means.items() if mean > 0),
        worse=tuple(name for name, mean in means.items() if mean < 0),
    )


def _by_place(outcomes: Iterable[ScoredSession]) -> dict[tuple[str, int], ScoredSession]:
    """Outcomes by cluster and trial, of which there must not be two."""
    found: dict[tuple[str, int], ScoredSession] = {}
    for outcome in outcomes:
        if found.setdefault((outcome.cluster, outcome.trial), outcome) is not outcome:
            raise ValueError(
                f"one of them has {outcome.cluster!r}, trial {outcome.trial}, twice; expected one run each"
            )
    return found


def _mcnemar(only_a: int, only_b: int) -> float:
    """The exact two-sided p-value: under no difference, which run alone passed is a fair coin."""
    if not only_a + only_b:
        return 1.0
    return float(_scipy().binomtest(only_a, only_a + only_b, 0.5).pvalue)


def _smallest(gains: Mapping[str, Sequence[float]], level: float) -> float | None:
    """(t(level) + t(power)) * SE: the true difference that would be found significant in ``POWER`` of such runs.

    None where SE is unknown or 0, which says that too few scenarios were played, not that everything would be found.
    """
    count = sum(map(len, gains.values()))
    mean = math.fsum(map(math.fsum, gains.values())) / count
    error = _standard_error(gains, mean, count)
    if error is None or error < NOISE:
        return None
    freedom = len(gains) - 1
    return (_t(1 - (1 - level) / 2, freedom) + _t(POWER, freedom)) * error


def _within(estimate: Estimate, least: float, most: float) -> Estimate:
    low = None if estimate.low is None else max(least, estimate.low)
    high = None if estimate.high is None else min(most, estimate.high)
    return Estimate(estimate.mean, low, high, estimate.clusters, estimate.sessions)
