"""The rows that may stand for a constraint's expected rows, and how well the best of them do, version by version.

Policy: of many rows only the best few per expected row are looked at, as many as rows are expected. That is exact:
where another row is used one of these is free and no worse.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from sandbox_grader.milestones.assignment import assign
from sandbox_grader.milestones.row_versions import Bits, Life, RowKind, RowSets, members

_ALL: Bits = -1


@dataclass(frozen=True, slots=True)
class Hope:
    """A row that is a little like some expected one, with its similarity to each: now, and what of it lasts."""

    life: Life
    now: tuple[float, ...]
    lasting: tuple[float, ...]


class Hopes:
    """The hopes of one constraint, which expects ``wanted`` rows.

    ``every`` has all rows of its table, found or not, and ``size`` is the number of its versions.
    """

    def __init__(self, found: Sequence[Hope], wanted: int, kind: RowKind, every: Sequence[Life], size: int) -> None:
        self.all = found
        self._wanted = wanted
        numbers = range(len(found))
        self._orders = [sorted(numbers, key=lambda n: -found[n].lasting[row]) for row in range(wanted)] or [[*numbers]]
        self._sets = [RowSets(kind, [found[n].life for n in order], every, size) for order in self._orders]
        self._values: dict[tuple[int, ...], float] = {}

    def worth(self, states: Iterable[int], reference: int | None) -> dict[int, float]:
        """The geometric mean over the expected rows in some versions, with another as the reference.

        Without a reference every row that is usable counts.
        """
        chosen = [(sets.usable, _ALL if reference is None else sets.eligible[reference]) for sets in self._sets]
        if self._wanted != 1:
            return {state: self._best([usable[state] & eligible for usable, eligible in chosen]) for state in states}
        usable, eligible = chosen[0]
        ranked = [self.all[number].lasting[0] for number in self._orders[0]]
        ranked.append(0.0)  # where no bit is set the lowest one is number -1
        return {state: ranked[((bits := usable[state] & eligible) & -bits).bit_length() - 1] for state in states}

    def worth_then(self, states: Iterable[int], reference: int | None) -> dict[int, float]:
        """The geometric mean in some versions where it does not matter whether what was achieved lasts."""
        return {state: self._assigned_then(state, reference)[0] for state in states}

    def taken(self, state: int, reference: int | None) -> list[Life]:
        """The row that stands for each expected row in a version; none where they cannot all be found."""
        return self._assigned_then(state, reference)[1]

    def told(self, reference: int) -> Bits:
        """The rows that count with a version as the reference: equal where all values are."""
        return self._sets[0].eligible[reference]

    def _best(self, ranked: Sequence[Bits]) -> float:
        """The mean for sets of rows, one per expected row in its own order."""
        pairs = zip(ranked, self._orders, strict=True)
        best = {order[place] for bits, order in pairs for place in islice(members(bits), self._wanted)}
        key = tuple(sorted(best))
        value = self._values.get(key)
        if value is None:
            value = self._values[key] = self._assigned([self.all[number].lasting for number in key])[0]
        return value

    def _assigned_then(self, state: int, reference: int | None) -> tuple[float, list[Life]]:
        sets, order = self._sets[0], self._orders[0]
        bits = sets.usable[state] & (_ALL if reference is None else sets.eligible[reference])
        found = [self.all[number] for number in sorted(order[place] for place in members(bits))]
        value, columns = self._assigned([hope.now for hope in found])
        return value, [found[column].life for column in columns]

    def _assigned(self, pairs: Sequence[Sequence[float]]) -> tuple[float, tuple[int, ...]]:
        """The best assignment of the expected rows to actual ones, given these rows' similarities to each of them."""
        if len(pairs) < self._wanted:
            return 0.0, ()
        rows = [[pair[number] for pair in pairs] for number in range(self._wanted)]
        return assign(rows) if rows else (1.0, ())
