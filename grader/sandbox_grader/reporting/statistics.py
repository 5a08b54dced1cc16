"""Uncertainty of scores: intervals, repeated trials, comparisons, agreement, and the power of a run.

Policy: sessions of one scenario are not independent, so the scenario is the unit: its variants and trials are repeated
measures, standard errors are clustered by scenario, and degrees of freedom are the number of scenarios less one. Trials
are averaged first, so that a variant that was played more often does not count more. Intervals are 95 %. With
one scenario there is no interval, and none is made up. Passing means a value of at least ``PASS``.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from sandbox_grader.reporting.student import sign_test, t_quantile

PASS = 1.0 - 1e-9
"""The value from which a session counts as passed."""
LEVEL = 0.95
LEVEL_Z = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""
LEAST_PAIRS = 4
"""Pairs below which a correlation has no interval."""
POWER = 0.8
NOISE = 1e-12
"""A standard error or a difference below this is what rounding leaves of 0."""
DIGITS = 6
"""Decimals that are told."""
MOST_TRIALS = 8
"""pass@k and pass^k are told for every k up to this many trials, and for all of them."""
ScenarioVariant = tuple[str, str]
"""A scenario and a variant: what trials repeat."""


def rounded(number: float | None) -> float | None:
    """A figure as it is told; None where it is not known."""
    return None if number is None else round(number, DIGITS)


@dataclass(frozen=True, slots=True)
class ScoredSession:
    """One scored session: its scenario, which is its cluster, the variant and trial that repeat it, and its value."""

    scenario: str
    trial: int
    score: float
    variant: str = "base"

    @property
    def passed(self) -> bool:
        """True if everything was achieved."""
        return self.score >= PASS


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its interval; ``low`` and ``high`` are None where one cluster is all there is."""

    mean: float
    low: float | None
    high: float | None
    clusters: int
    sessions: int

    @property
    def unseen(self) -> float | None:
        """Upper bound (95 %) on the share of other clusters whose mean differs, where all of these have the same.

        With C clusters it is 1 - (1 - LEVEL)^(1/C): were it greater, all C would come out alike too seldom. None where
        the means differ or there is one cluster.
        Source: Hanley and Lippman-Hand, If Nothing Goes Wrong, Is Everything All Right?, 1983.
        """
        if self.low is None or self.high is None or self.high - self.low > NOISE:
            return None
        return 1 - (1 - LEVEL) ** (1 / self.clusters)

    def to_json(self) -> dict[str, float | int | None]:
        """The estimate as a JSON object, without the last digits, in which machines differ."""
        told = {name: getattr(self, name) for name in ("mean", "low", "high", "clusters", "sessions")}
        return {name: round(value, 9) if isinstance(value, float) else value for name, value in told.items()}

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.mean:z.3f} (one scenario, no interval)"
        return f"{self.mean:z.3f} [{self.low:z.3f}, {self.high:z.3f}]"


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """B against A on what both have: the mean difference B - A, averaged as :func:`mean_score`, and McNemar's test.

    ``smallest`` is the difference that a comparison of this size would have found in ``POWER`` of cases; None where
    that cannot be told, because there is one scenario or the difference did not vary. Where all values are ``shares``,
    from 0 to 1, one above 1 says that no difference would have been found. ``only_a`` and ``only_b`` count
    pairs that only one of them passed; ``p_value`` is two-sided and exact. ``higher`` and ``lower`` are the scenarios
    whose mean is so in B.
    """

    difference: Estimate
    smallest: float | None
    shares: bool
    only_a: int
    only_b: int
    p_value: float
    higher: tuple[str, ...]
    lower: tuple[str, ...]


def by_cell(sessions: Iterable[ScoredSession]) -> dict[ScenarioVariant, list[ScoredSession]]:
    """Sessions by scenario and variant, in the order in which these first occur."""
    found: dict[ScenarioVariant, list[ScoredSession]] = {}
    for session in sessions:
        found.setdefault((session.scenario, session.variant), []).append(session)
    return found


class PassCounts(dict[ScenarioVariant, tuple[int, int]]):
    """Number of plays and of passes of each scenario and variant."""

    @classmethod
    def of(cls, sessions: "Iterable[ScoredSession] | PassCounts") -> "PassCounts":
        """Sum these up, in the order of :func:`by_cell`."""
        if isinstance(sessions, PassCounts):
            return sessions
        found = by_cell(sessions)
        return cls({cell: (len(items), sum(item.score >= PASS for item in items)) for cell, items in found.items()})


def told_ks(counts: PassCounts) -> list[int]:
    """The k for which pass@k and pass^k say something of everything that was played."""
    most = min((played for played, _ in counts.values()), default=0)
    return sorted({*range(1, min(most, MOST_TRIALS) + 1), *([most] if most else [])})


def clustered_mean(values: Mapping[str, Sequence[float]]) -> Estimate:
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
    reach = t_quantile(1 - (1 - LEVEL) / 2, len(values) - 1) * error
    return Estimate(mean, mean - reach, mean + reach, len(values), count)


def _standard_error(values: Mapping[str, Sequence[float]], mean: float, count: int) -> float | None:
    clusters = len(values)
    if clusters < 2:
        return None
    squares = math.fsum(math.fsum(value - mean for value in cluster) ** 2 for cluster in values.values())
    return math.sqrt(clusters / (clusters - 1) * squares) / count


def mean_of_means(columns: Sequence[Mapping[str, Sequence[float]]]) -> Estimate:
    """The mean of several means, each of values of its own, which may come from the same clusters or from others.

    With m_j the mean of the n_j values x_cji of column j, k columns and C clusters in all, cluster c moves the result
    by d_c = 1/k * sum_j sum_i (x_cji - m_j) / n_j, and SE = sqrt(C / (C - 1) * sum_c d_c^2). For one column this is
    :func:`clustered_mean`. Columns that move together are thus taken together.

    Raises:
        ValueError: there is no column, or one has no values.
    """
    if not columns:
        raise ValueError("a mean of means needs at least one column")
    alone = [clustered_mean(values) for values in columns]
    moves: dict[str, float] = {}
    for values, found in zip(columns, alone, strict=True):
        for cluster, items in values.items():
            move = math.fsum(value - found.mean for value in items) / found.sessions / len(columns)
            moves[cluster] = moves.get(cluster, 0.0) + move
    mean, count = math.fsum(found.mean for found in alone) / len(columns), sum(found.sessions for found in alone)
    if len(moves) < 2:
        return Estimate(mean, None, None, len(moves), count)
    error = math.sqrt(len(moves) / (len(moves) - 1) * math.fsum(move**2 for move in moves.values()))
    reach = t_quantile(1 - (1 - LEVEL) / 2, len(moves) - 1) * error
    return Estimate(mean, mean - reach, mean + reach, len(moves), count)


def mean_score(sessions: Iterable[ScoredSession]) -> Estimate:
    """The mean over trials, then over scenarios and variants, with its interval, clustered by scenario.

    The interval is kept :func:`where_values_lie`. ``sessions`` counts what the mean is of.

    Raises:
        ValueError: there are no sessions.
    """
    cells = by_cell(sessions)
    values = {cell: [session.score for session in items] for cell, items in cells.items()}
    found = clustered_mean(_clusters({cell: math.fsum(items) / len(items) for cell, items in values.items()}))
    return where_values_lie(found, values.values(), sum(map(len, values.values())))


def _clusters(cells: Mapping[ScenarioVariant, float]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for (scenario, _), value in cells.items():
        found.setdefault(scenario, []).append(value)
    return found


def pass_at(k: int, sessions: Iterable[ScoredSession] | PassCounts) -> Estimate | None:
    """pass@k: the chance that at least one of k trials passes, averaged over what was played at least k times.

    Per scenario and variant with n trials and c passed: 1 - C(n - c, k) / C(n, k). None where nothing has k
    trials. Source: Chen et al. 2021, equation 1.
    """
    return _over_trials(k, sessions, lambda n, c: 1 - math.comb(n - c, k) / math.comb(n, k))


def pass_hat(k: int, sessions: Iterable[ScoredSession] | PassCounts) -> Estimate | None:
    """pass^k: the chance that all of k trials pass, averaged over what was played at least k times.

    Per scenario and variant with n trials and c passed: C(c, k) / C(n, k). None where nothing has k trials.
    Source: Yao et al., tau-bench, 2024, section 3.
    """
    return _over_trials(k, sessions, lambda n, c: math.comb(c, k) / math.comb(n, k))


def _over_trials(
    k: int, sessions: Iterable[ScoredSession] | PassCounts, chance: Callable[[int, int], float]
) -> Estimate | None:
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    counts = PassCounts.of(sessions)
    enough = {cell: (played, passed) for cell, (played, passed) in counts.items() if played >= k}
    if not enough:
        return None
    chances = {cell: chance(played, passed) for cell, (played, passed) in enough.items()}
    return within(clustered_mean(_clusters(chances)), 0.0, 1.0, sum(played for played, _ in enough.values()))


def pass_figures(counts: PassCounts) -> dict[str, Estimate | None]:
    """pass@k and pass^k by name, of all k that say something of everything that was played."""
    ks = told_ks(counts)
    return {
        **{f"pass@{k}": pass_at(k, counts) for k in ks},
        **{f"pass^{k}": pass_hat(k, counts) for k in ks},
    }


def flaky(sessions: Iterable[ScoredSession] | PassCounts) -> tuple[ScenarioVariant, ...]:
    """The scenarios and variants that passed in some trials and not in others."""
    counts = PassCounts.of(sessions)
    return tuple(cell for cell, (played, passed) in counts.items() if 0 < passed < played)


Pair = tuple[ScoredSession, ScoredSession]
"""The same scenario, variant and trial, or whatever the pairing leaves of these, in A and in B."""


def compare(pairs: Sequence[Pair]) -> PairedDifference:
    """The difference of B from A, over pairs of the same scenario, clustered by scenario.

    The test on passing takes pairs for independent, which the interval does not: with several trials or variants
    believe that.

    Raises:
        ValueError: there is no pair.
    """
    cells: dict[ScenarioVariant, list[float]] = {}
    for a, b in pairs:
        cells.setdefault((a.scenario, a.variant), []).append(b.score - a.score)
    gains = _clusters({cell: math.fsum(items) / len(items) for cell, items in cells.items()})
    only_a = sum(a.passed and not b.passed for a, b in pairs)
    only_b = sum(b.passed and not a.passed for a, b in pairs)
    means = {name: math.fsum(items) / len(items) for name, items in gains.items()}
    shares = all(0 <= session.score <= 1 for pair in pairs for session in pair)
    bounds = (-1.0, 1.0) if shares else (-math.inf, math.inf)
    return PairedDifference(
        difference=within(clustered_mean(gains), *bounds, len(pairs)),
        smallest=_smallest(gains),
        shares=shares,
        only_a=only_a,
        only_b=only_b,
        p_value=sign_test(only_a, only_b),
        higher=tuple(name for name, mean in means.items() if mean > NOISE),
        lower=tuple(name for name, mean in means.items() if mean < -NOISE),
    )


def _smallest(gains: Mapping[str, Sequence[float]]) -> float | None:
    """(t(level) + t(power)) * SE: the true difference that would be found significant in ``POWER`` of such runs.

    None where SE is unknown or 0, which says that too few scenarios were played, not that everything would be found.
    """
    count = sum(map(len, gains.values()))
    mean = math.fsum(map(math.fsum, gains.values())) / count
    error = _standard_error(gains, mean, count)
    if error is None or error < NOISE:
        return None
    freedom = len(gains) - 1
    return (t_quantile(1 - (1 - LEVEL) / 2, freedom) + t_quantile(POWER, freedom)) * error


def cohens_kappa(pairs: Sequence[tuple[Any, Any]]) -> float | None:
    """Agreement beyond chance: ``(observed - expected) / (1 - expected)``; None where chance alone agrees fully.

    Source: Cohen, A coefficient of agreement for nominal scales, 1960.
    """
    if not pairs:
        return None
    observed = sum(a == b for a, b in pairs) / len(pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    expected = sum(first[label] * second[label] for label in first) / len(pairs) ** 2
    return None if expected >= 1 else (observed - expected) / (1 - expected)


def correlation(pairs: Sequence[tuple[float, float]]) -> tuple[float | None, float | None, float | None]:
    """Pearson's correlation with its 95 % interval by Fisher's transformation; None where a side never changes.

    With fewer than four pairs, and at exactly 1 or -1, there is no interval.
    """
    size = len(pairs)
    xs, ys = [x for x, _ in pairs], [y for _, y in pairs]
    if size < 2:
        return None, None, None
    mean_x, mean_y = math.fsum(xs) / size, math.fsum(ys) / size
    spread = math.fsum((x - mean_x) ** 2 for x in xs) * math.fsum((y - mean_y) ** 2 for y in ys)
    if spread <= 0 or not (_changes(xs) and _changes(ys)):
        return None, None, None
    r = math.fsum((x - mean_x) * (y - mean_y) for x, y in pairs) / math.sqrt(spread)
    r = max(-1.0, min(1.0, r))
    if size < LEAST_PAIRS or abs(r) >= PASS:
        return r, None, None
    reach = LEVEL_Z / math.sqrt(size - 3)
    return r, math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach)


def _changes(values: Sequence[float]) -> bool:
    """True if values differ by more than rounding, by which the mean of three 0.1 already does."""
    return max(values) - min(values) > NOISE * max(map(abs, values))


def where_values_lie(found: Estimate, values: Iterable[Iterable[float]], sessions: int | None = None) -> Estimate:
    """The estimate with its interval from 0 on where no value is negative, as of counts, and up to 1 for shares.

    The values tell which they are, since nothing else says what a metric of others can come to.
    """
    all_of_them = list(chain.from_iterable(values))
    least = -math.inf if min(all_of_them) < 0 else 0.0
    return within(found, least, 1.0 if least == 0 and max(all_of_them) <= 1 else math.inf, sessions)


def within(estimate: Estimate, least: float, most: float, sessions: int | None = None) -> Estimate:
    """The estimate with its interval cut off at the possible range, and of ``sessions`` where these are told."""
    low = None if estimate.low is None else max(least, estimate.low)
    high = None if estimate.high is None else min(most, estimate.high)
    return Estimate(estimate.mean, low, high, estimate.clusters, sessions or estimate.sessions)
