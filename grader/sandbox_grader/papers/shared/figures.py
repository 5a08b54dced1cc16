"""Cells of a paper's table: a figure of a group of sessions, with its interval where it has one.

Policy: the figures rest on observations, the numbers that a session contributes: one per turn, per call or per session.
Means are over all observations, their intervals are clustered by scenario as everywhere. A session not scored
contributes nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sandbox_grader.grading.scores import Scores
from sandbox_grader.papers.mtu_bench.formulas import average
from sandbox_grader.reporting.counting import cluster_of
from sandbox_grader.reporting.statistics import (
    Estimate,
    ScoredSession,
    clustered_mean,
    compare,
    correlation,
    mean_of_means,
    mean_score,
    where_values_lie,
)

Observe = Callable[[Scores], Iterable[float]]
"""The numbers that a session contributes to a figure; none where it has no say in it."""


class PaperFigure(Protocol):
    """Something that can be worked out of sessions."""

    def of(self, sessions: Sequence[Scores]) -> Estimate | str | None:
        """The figure, or in columns of words the text; None where no session contributes to it."""
        ...


@dataclass(frozen=True, slots=True)
class ObservedMean:
    """The mean of all observations, those of one scenario being one cluster."""

    observe: Observe

    def observed(self, sessions: Sequence[Scores]) -> Mapping[str, Sequence[float]]:
        """The observations by cluster."""
        found: dict[str, list[float]] = {}
        for session in sessions:
            found.setdefault(cluster_of(session), []).extend(self.observe(session))
        return {cluster: values for cluster, values in found.items() if values}

    def of(self, sessions: Sequence[Scores]) -> Estimate | None:
        """The mean, with its interval where observations can lie."""
        values = self.observed(sessions)
        return where_values_lie(clustered_mean(values), values.values()) if values else None


@dataclass(frozen=True, slots=True)
class MetricMean:
    """The mean of a metric, ``family.name``, over the sessions that ``where`` picks; trials are averaged first."""

    metric: str
    where: Callable[[Scores], bool] = lambda _: True

    def of(self, sessions: Sequence[Scores]) -> Estimate | None:
        """The mean as reports have it."""
        found = ((item, item.value(self.metric)) for item in filter(self.where, sessions))
        values = [ScoredSession(cluster_of(s), s.trial, value, s.variant) for s, value in found if value is not None]
        return mean_score(values) if values else None


@dataclass(frozen=True, slots=True)
class MeanOfColumns:
    """The average that papers print beside their columns: the mean of the columns as printed, in percent."""

    columns: tuple[ObservedMean, ...]

    def of(self, sessions: Sequence[Scores]) -> Estimate | None:
        """The average; None where a column is empty, for an average of others would be called by its name."""
        observed = [column.observed(sessions) for column in self.columns]
        if not all(observed):
            return None
        found = mean_of_means(observed)
        printed = [round(clustered_mean(values).mean * 100, 2) for values in observed]
        found = Estimate(average(printed) / 100, found.low, found.high, found.clusters, found.sessions)
        return where_values_lie(found, (items for values in observed for items in values.values()))


@dataclass(frozen=True, slots=True)
class Total:
    """Total number; a count has no interval."""

    observe: Observe

    def of(self, sessions: Sequence[Scores]) -> Estimate | None:
        """The sum of all observations; None without any, because nothing says that it is 0 then."""
        values = [value for session in sessions for value in self.observe(session)]
        clusters = len({cluster_of(session) for session in sessions})
        return Estimate(sum(values), None, None, clusters, len(values)) if values else None


@dataclass(frozen=True, slots=True)
class SharedFact:
    """A number that all sessions of a row share, such as a property of their world; it has no interval."""

    observe: Callable[[Scores], float | None]

    def of(self, sessions: Sequence[Scores]) -> Estimate | None:
        """The number; None where it is not known, or not the same."""
        found = set(map(self.observe, sessions))
        value = found.pop() if len(found) == 1 else None
        clusters = len({cluster_of(session) for session in sessions})
        return None if value is None else Estimate(value, None, None, clusters, len(sessions))


@dataclass(frozen=True, slots=True)
class MostFrequent:
    """The text that most sessions have, and how many of how many have it where they differ."""

    observe: Callable[[Scores], Iterable[str]]

    def of(self, sessions: Sequence[Scores]) -> str | None:
        """The text; of equally frequent ones the first."""
        found = Counter(text for session in sessions for text in self.observe(session))
        if not found:
            return None
        [(text, times)] = found.most_common(1)
        return text if len(found) == 1 else f"{text} ({times} of {found.total()})"


@dataclass(frozen=True, slots=True)
class PairedGain:
    """Gain of a metric from the sessions that ``before`` picks to those that ``after`` picks.

    Sessions are paired by scenario and trial, or by what ``pair`` makes of the scenario's name.
    """

    metric: str
    before: Callable[[Scores], bool]
    after: Callable[[Scores], bool]
    pair: Callable[[Scores], str] = cluster_of

    def of(self, sessions: Sequence[Scores]) -> Estimate | None:
        """The mean difference over what both have."""
        one, two = (
            {
                (self.pair(s), s.trial): value
                for s in sessions
                if picks(s) and (value := s.value(self.metric)) is not None
            }
            for picks in (self.before, self.after)
        )
        pairs = [
            (ScoredSession(place[0], place[1], one[place]), ScoredSession(place[0], place[1], two[place]))
            for place in one
            if place in two
        ]
        return compare(pairs).difference if pairs else None


@dataclass(frozen=True, slots=True)
class CorrelationOf:
    """Pearson's correlation of two metrics over scenarios, whose sessions are averaged first."""

    one: str
    other: str
    where: Callable[[Scores], bool] = lambda _: True

    def of(self, sessions: Sequence[Scores]) -> Estimate | None:
        """The correlation with its interval by Fisher's transformation; None where a metric never changes."""
        found: dict[str, list[tuple[float, float]]] = {}
        for session in filter(self.where, sessions):
            x, y = session.value(self.one), session.value(self.other)
            if x is not None and y is not None:
                found.setdefault(cluster_of(session), []).append((x, y))
        means = [(sum(x for x, _ in v) / len(v), sum(y for _, y in v) / len(v)) for v in found.values()]
        r, low, high = correlation(means)
        return None if r is None else Estimate(r, low, high, len(means), sum(map(len, found.values())))


def played_with(variant: str) -> Callable[[Scores], bool]:
    """Chooses the sessions of one variant."""
    return lambda scores: scores.variant == variant
