"""Along a log: what a node earns at each index, and at which indexes it is worth a look.

Policy: an index is left out only where an earlier one is as good for every node, so that the best assignment is kept.
"""

from bisect import bisect_right
from collections.abc import Hashable, Iterator, Sequence
from itertools import compress
from operator import ne
from typing import Any

IndexMark = Any
"""Hashable: what the nodes that refer to a node can tell about the index it got. Equal marks are interchangeable."""


def same_marks(marks: Sequence[Hashable]) -> list[int]:
    """For every index the last earlier one with an equal mark, or -1."""
    last: dict[Hashable, int] = {}
    found = list[int]()
    for index, mark in enumerate(marks):
        found.append(last.get(mark, -1))
        last[mark] = index
    return found


class Track:
    """A node under one view: its similarities, their suffix maxima, and which indexes are worth a look.

    An index need not be looked at if an earlier one allowed has the same mark and at least the same similarity:
    the earlier one leaves the other nodes as well off, and more room. The last such index is its rival, -1 if there is
    none. Worth a look from ``low`` on are thus ``low`` itself, and every index whose rival comes before ``low``.
    Without marks all indexes look the same.
    """

    def __init__(
        self, series: Sequence[float], marks: Sequence[IndexMark] | None, alike: Sequence[int] | None = None
    ) -> None:
        """``alike`` is what :func:`same_marks` finds in the marks, where known."""
        self.series = series
        self.marks = marks
        self.best = suffix_maxima(series)
        self._alike = range(-1, len(series) - 1) if marks is None else alike
        self._rivals: list[int] = []
        self._breaks: list[int] = []

    def worthwhile(self, low: int) -> Iterator[int]:
        """The indexes from ``low`` on that an optimal assignment may need."""
        if not self._rivals:
            self._rivals = _rivals(self.series, same_marks(self.marks or ()) if self._alike is None else self._alike)
            self._breaks = _breaks(self._rivals)
        yield low
        for index in self._breaks[bisect_right(self._breaks, low) :]:
            if self._rivals[index] < low:
                yield index


def suffix_maxima(series: Sequence[float]) -> list[float]:
    """For every index the largest number from there on; none is negative."""
    maxima, highest = [0.0] * len(series), 0.0
    for index in reversed(_above_zero(series)):
        if series[index] > highest:
            highest = series[index]
            maxima[: index + 1] = [highest] * (index + 1)
    return maxima


def _rivals(series: Sequence[float], alike: Sequence[int]) -> list[int]:
    """For each index the last one known that looks the same with at least its similarity, or -1."""
    rivals = list(alike)
    for index in _above_zero(series):
        rival, similarity = rivals[index], series[index]
        while rival >= 0 and series[rival] < similarity:
            rival = rivals[rival]
        rivals[index] = rival
    return rivals


def _breaks(rivals: Sequence[int]) -> list[int]:
    """The indexes whose rival is not the index before."""
    return list(compress(range(len(rivals)), map(ne, rivals, range(-1, len(rivals)))))


def _above_zero(series: Sequence[float]) -> list[int]:
    return list(compress(range(len(series)), series))
