"""One constraint of a scenario, held against an event of the log or the state after it.

Policy: sender, recipient and tool must be right before anything is compared, and then do not dilute what is. What a
milestone achieved must last: a row counts as it is at the end of the session where that is worse than when it was met.
Of many rows only the best few per expected row are looked at, as many as rows are expected. That is exact: where
another row is used one of these is free and no worse.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import prod
from operator import is_
from typing import Any

from sandbox_scenarios.model import CallConstraint, CallPattern, Expected, MessageConstraint, TableConstraint

from sandbox_grader.milestones.assignment import assign
from sandbox_grader.milestones.measures import Lookup, referred, similarity
from sandbox_grader.milestones.row_versions import Bits, Life, RowKind, RowSets, members
from sandbox_grader.milestones.timeline import Timeline
from sandbox_mcp.engine.trajectory import Message, ToolCall
from sandbox_mcp.engine.world.state import Row

_ALL: Bits = -1


@dataclass(frozen=True, slots=True)
class Lasting:
    """What of an achieved state must still be so at the end: not ``columns``, which later milestones set again.

    With ``rows`` False rows need not last either, because a later milestone removes some.
    """

    columns: frozenset[str] = frozenset()
    rows: bool = True


@dataclass(frozen=True, slots=True)
class Hope:
    """A row a little like some expected one, with its similarity to each: now, and as far as it lasts."""

    life: Life
    now: tuple[float, ...]
    lasting: tuple[float, ...]


class _Hopes:
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

        Without a reference every usable row counts.
        """
        chosen = [(sets.usable, _ALL if reference is None else sets.eligible[reference]) for sets in self._sets]
        if self._wanted != 1:
            return {state: self._best([usable[state] & eligible for usable, eligible in chosen]) for state in states}
        usable, eligible = chosen[0]
        ranked = [self.all[number].lasting[0] for number in self._orders[0]]
        ranked.append(0.0)  # where no bit is set the lowest one is number -1
        return {state: ranked[((bits := usable[state] & eligible) & -bits).bit_length() - 1] for state in states}

    def eligible(self, reference: int) -> Bits:
        """The rows that count with a version as the reference."""
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

    def standing(self, state: int, reference: int | None) -> tuple[float, list[Life]]:
        """The geometric mean in a version, whether or not it lasts, and the row that stands for each expected row.

        There are no rows where not all can be found.
        """
        sets, order = self._sets[0], self._orders[0]
        bits = sets.usable[state] & (_ALL if reference is None else sets.eligible[reference])
        found = [self.all[number] for number in sorted([order[place] for place in members(bits)])]
        value, columns = self._assigned([hope.now for hope in found])
        return value, [found[column].life for column in columns]

    def _assigned(self, pairs: Sequence[Sequence[float]]) -> tuple[float, tuple[int, ...]]:
        """The best assignment of the expected rows to actual ones, given these rows' similarities to each of them."""
        if len(pairs) < self._wanted:
            return 0.0, ()
        return assign(list(zip(*pairs, strict=True))) if self._wanted else (1.0, ())


@dataclass(frozen=True, slots=True)
class Compare:
    """Compares values with what was expected; ``key`` tells apart where values from elsewhere come from.

    With ``lookup`` None such values count as right in advance.
    """

    lookup: Lookup | None
    key: Hashable = None

    def __call__(self, expected: Expected, name: str, actual: Any) -> float:
        """Compare the value of the column or argument ``name`` with what was expected."""
        if self.lookup is not None:
            return similarity(expected, name, actual, self.lookup)
        return 1.0 if expected.ref or expected.values else similarity(expected, name, actual, lambda _ref: ())


FAVOURABLE = Compare(None)
"""The comparison that no other exceeds."""
Likeness = Callable[[Expected, str, Any], float]


def fields_of(expected: Mapping[str, Expected], actual: Mapping[str, Any], compare: Likeness) -> float:
    """The geometric mean over the named columns or arguments; an absent one counts as null. Nothing named is 1."""
    values = list[float]()
    for name, value in expected.items():
        values.append(compare(value, name, actual.get(name)))
        if not values[-1]:
            return 0.0
    return mean_of(values)


def mean_of(values: Sequence[float]) -> float:
    """The geometric mean, 1 for no values."""
    return prod(values) ** (1 / len(values)) if values else 1.0


def judge_event(constraint: CallConstraint | MessageConstraint, event: Message | ToolCall, compare: Compare) -> float:
    """Compare an event with the message of a constraint, by its content alone, or with one of its calls."""
    if isinstance(constraint, CallConstraint):
        patterns = constraint.patterns if is_candidate(constraint, event) else ()
        return max((judge_pattern(pattern, event, compare) for pattern in patterns), default=0.0)
    if not isinstance(event, Message):
        return 0.0
    if (event.sender, event.recipient) != (constraint.sender, constraint.recipient):
        return 0.0
    return compare(constraint.content, "content", event.content)


def is_candidate(constraint: CallConstraint, event: Message | ToolCall) -> bool:
    """True if an event may count as a call: the agent's count, and only successful ones unless attempts do."""
    return isinstance(event, ToolCall) and event.caller == "agent" and (constraint.attempt or event.error is None)


def judge_pattern(pattern: CallPattern, event: Message | ToolCall, compare: Compare) -> float:
    """Compare a call with a pattern. A tool that was not offered is known by the name it was called by."""
    if not isinstance(event, ToolCall) or event.called != pattern.tool:
        return 0.0
    return fields_of(pattern.arguments, event.arguments, compare)


class TableJudge:
    """A constraint on a table's state.

    ``is``: the table has exactly these rows. ``adds``, ``removes``, ``updates``: among the rows that appeared,
    disappeared or changed since the reference, by row id, are these. ``unchanged``: the table is as it was there.
    Expected rows are assigned to different actual rows so that the geometric mean over rows of the geometric mean over
    columns is largest. Further rows are not counted here: whatever was not asked for voids the score by itself.

    Every row is compared once, however many versions of the table it lives through, and what may stand for the expected
    rows in a version is a set of bits.

    Source: ToolSandbox, section 4; the rule that rows are tied by id and must last is ours.
    """

    def __init__(self, constraint: TableConstraint, timeline: Timeline, lasting: Lasting | None) -> None:
        self.constraint = constraint
        self._timeline = timeline
        self._lasting = lasting
        self._tables = timeline.tables(constraint.table)
        self._end = self._tables[-1]
        self._refers = any(referred(expected) for row in constraint.rows for expected in row.values())
        self._hopes: dict[Hashable, _Hopes] = {}

    def values(
        self, states: Collection[int], reference: int | None, compare: Compare, *, fleeting: bool = False
    ) -> dict[int, float]:
        """The similarity of some versions of the table, with another as the reference.

        Without a reference the similarities are those that no reference exceeds. With ``fleeting`` it does not matter
        whether what was achieved lasts.
        """
        if self.constraint.kind == "unchanged":
            then = None if reference is None else self._tables[reference]
            return {state: 1.0 if then is None or self._tables[state] == then else 0.0 for state in states}
        hopes, fitting = self._hopeful(compare), states
        if self.constraint.kind == "is":
            fitting = [state for state in states if self._fits(state)]
        if fleeting:
            found = {state: hopes.standing(state, reference)[0] for state in fitting}
        else:
            found = hopes.worth(fitting, reference)
        return found if len(found) == len(states) else dict.fromkeys(states, 0.0) | found

    def value(self, state: int, reference: int | None, compare: Compare, *, fleeting: bool = False) -> float:
        """The similarity of one version of the table, with another as the reference."""
        return self.values((state,), reference, compare, fleeting=fleeting)[state]

    def rows(self, state: int, reference: int, compare: Compare) -> tuple[str, ...]:
        """The id of the row that stands for each expected row at that moment; empty where they cannot all be found."""
        if self.constraint.kind == "unchanged" or not self._fits(state):
            return ()
        return tuple([life.key for life in self._hopeful(compare).standing(state, reference)[1]])

    def candidates(self, state: int, reference: int) -> list[tuple[str, Row]]:
        """The rows that the expected rows may stand for, with their ids."""
        now, then, kind = self._tables[state], self._tables[reference], self.constraint.kind
        if kind == "adds":
            return [(key, row) for key, row in now.items() if key not in then]
        if kind == "removes":
            return [(key, row) for key, row in then.items() if key not in now]
        return [(key, row) for key, row in now.items() if kind == "is" or (key in then and then[key] != row)]

    def likely(self) -> list[Row]:
        """The rows that would be like an expected one if every value from elsewhere were favourable."""
        return [] if self.constraint.kind == "unchanged" else [h.life.row for h in self._hopeful(FAVOURABLE).all]

    def eligible(self, reference: int) -> Hashable:
        """Key of a version as the reference: equal for two versions with which all values are the same."""
        return reference if self.constraint.kind == "unchanged" else self._hopeful(FAVOURABLE).eligible(reference)

    def lasts(self, key: str) -> bool:
        """True if the row's existence, or absence, is at the end as it was achieved."""
        if self._lasting is None:
            return True
        if self.constraint.kind == "removes":
            return key not in self._end
        return key in self._end or not self._lasting.rows

    def at_end(self, key: str, column: str, now: Any) -> Any:
        """A cell at the end of the session, where that counts."""
        lasting = self._lasting
        if lasting is None or self.constraint.kind == "removes" or column in lasting.columns or key not in self._end:
            return now
        return self._end[key].get(column)

    def _hopeful(self, compare: Compare) -> _Hopes:
        """All rows that may count in some version and that are like an expected one; none if one has no such row.

        A row present from the first version to the last was neither added nor removed nor updated.
        """
        key = compare.key if self._refers else None
        if key not in self._hopes:
            lives = self._timeline.lives(self.constraint.table)
            if self.constraint.kind == "is":
                moving = lives
            else:
                moving = [life for life in lives if life.born > 0 or life.died < len(self._tables)]
            likely = moving if key is None else [hope.life for hope in self._hopeful(FAVOURABLE).all]
            found = list[Hope]()
            for life in likely:
                if (hope := self._hope(life, compare)) is not None:
                    found.append(hope)
            wanted = len(self.constraint.rows)
            whole = all(map(any, zip(*[hope.now for hope in found], strict=True))) if found else not wanted
            hopes = _Hopes(found if whole else (), wanted, self.constraint.kind, lives, len(self._tables))
            self._hopes[key] = hopes
        return self._hopes[key]

    def _hope(self, life: Life, compare: Compare) -> Hope | None:
        now = tuple([fields_of(target, life.row, compare) for target in self.constraint.rows])
        if not any(now):
            return None
        if not self.lasts(life.key):
            return Hope(life, now, (0.0,) * len(now))
        if self._end.get(life.key) is life.row:
            return Hope(life, now, now)
        ends = {name: self.at_end(life.key, name, cell) for name, cell in life.row.items()}
        if all(map(is_, ends.values(), life.row.values())):
            return Hope(life, now, now)

        def both(expected: Expected, name: str, actual: Any) -> float:
            return min(compare(expected, name, actual), compare(expected, name, ends.get(name)))

        return Hope(life, now, tuple([fields_of(target, life.row, both) for target in self.constraint.rows]))

    def _fits(self, state: int) -> bool:
        return self.constraint.kind != "is" or len(self._tables[state]) == len(self.constraint.rows)
