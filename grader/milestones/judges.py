"""One constraint of a scenario, held against an event of the log or the state after it.

Policy: sender, recipient and tool must be right before anything is compared, and then do not dilute what is. What a
milestone achieved must last: a row counts as it is at the end of the session where that is worse than when it was met.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.milestones.assignment import assign
from grader.milestones.lives import Bits, Life, RowKind, RowSets
from grader.milestones.measures import Lookup, referred, similarity
from grader.milestones.timeline import Timeline
from sandbox_mcp.trajectory import Message, ToolCall
from sandbox_mcp.world.state import Row
from scenarios.model import CallConstraint, CallPattern, Expected, MessageConstraint, TableConstraint


@dataclass(frozen=True, slots=True)
class Compare:
    """Compares values with what was expected; ``key`` tells apart where values from elsewhere come from.

    With ``lookup`` None such values count as right in advance.
    """

    lookup: Lookup | None
    key: Hashable = None

    def __call__(self, expected: Expected, name: str, actual: Any) -> float:
        """How well the value of the column or argument ``name`` is what was expected."""
        if self.lookup is None:
            return 1.0 if referred(expected) else similarity(expected, name, actual, _nothing)
        return similarity(expected, name, actual, self.lookup)


FAVOURABLE = Compare(None)
"""The comparison that no other exceeds."""
Comparison = Callable[[Expected, str, Any], float]


def _nothing(_ref: object) -> tuple[Any, ...]:
    return ()


def fields_of(expected: Mapping[str, Expected], actual: Mapping[str, Any], compare: Comparison) -> float:
    """The geometric mean over the named columns or arguments; an absent one counts as null. Nothing named is 1."""
    product = 1.0
    for name, value in expected.items():
        product *= compare(value, name, actual.get(name))
        if not product:
            return 0.0
    return product ** (1 / len(expected)) if expected else 1.0


def judge_event(constraint: CallConstraint | MessageConstraint, event: Message | ToolCall, compare: Compare) -> float:
    """How well an event is the call or message of a constraint."""
    if isinstance(constraint, CallConstraint):
        return judge_call(constraint, event, compare)
    return judge_message(constraint, event, compare)


def judge_message(constraint: MessageConstraint, event: Message | ToolCall, compare: Compare) -> float:
    """How well an event is the message: the similarity of the content alone, 0 between other roles."""
    if not isinstance(event, Message):
        return 0.0
    if event.sender != constraint.sender or event.recipient != constraint.recipient:
        return 0.0
    return compare(constraint.content, "content", event.content)


def judge_call(constraint: CallConstraint, event: Message | ToolCall, compare: Compare) -> float:
    """How well an event is one of the calls; only the agent's, and only successful ones unless attempts count."""
    if not is_candidate(constraint, event):
        return 0.0
    return max((judge_pattern(pattern, event, compare) for pattern in constraint.patterns), default=0.0)


def is_candidate(constraint: CallConstraint, event: Message | ToolCall) -> bool:
    """Whether an event is a call that may count here at all."""
    return isinstance(event, ToolCall) and event.caller == "agent" and (constraint.attempt or event.error is None)


def judge_pattern(pattern: CallPattern, event: Message | ToolCall, compare: Compare) -> float:
    """How well a call is the one described. A tool that was not offered is known by the name it was called by."""
    if not isinstance(event, ToolCall) or (event.tool or event.name) != pattern.tool:
        return 0.0
    return fields_of(pattern.arguments, event.arguments, compare)


@dataclass(frozen=True, slots=True)
class Lasting:
    """What of an achieved state must still be so at the end: not ``columns``, which later milestones set again.

    With ``rows`` False rows need not last either, because a later milestone removes some.
    """

    columns: frozenset[str] = frozenset()
    rows: bool = True


class TableJudge:
    """A constraint on a table's state.

    ``is``: the table has exactly these rows. ``adds``, ``removes``, ``updates``: among the rows that appeared,
    disappeared or changed since the reference, by row id, are these. ``unchanged``: the table is as it was there.
    Expected rows are assigned to different actual rows so that the geometric mean over rows of the geometric mean over
    columns is largest. Further rows are not counted here: whatever nobody asked for voids the score by itself.

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
        self._hopes: dict[Any, _Hopes] = {}

    def value(self, state: int, reference: int, compare: Compare, *, fleeting: bool = False) -> float:
        """The similarity of one version of the table, with another as the reference.

        With ``fleeting`` it does not matter whether what was achieved lasts.
        """
        if self.constraint.kind == "unchanged":
            return 1.0 if self._tables[state] == self._tables[reference] else 0.0
        hopes = self._hopeful(compare)
        return self._best(state, hopes, hopes.sets.usable[state] & hopes.sets.eligible[reference], fleeting=fleeting)

    def ceiling(self, state: int, reference: int | None = None) -> float:
        """A number that the similarity of a version never exceeds, whatever the reference unless it is known."""
        if reference is not None:
            return self.value(state, reference, FAVOURABLE)
        if self.constraint.kind == "unchanged":
            return 1.0
        hopes = self._hopeful(FAVOURABLE)
        return self._best(state, hopes, hopes.sets.usable[state])

    def rows(self, state: int, reference: int, compare: Compare) -> tuple[str, ...]:
        """The id of the row that stands for each expected row at that moment; empty where they cannot all be found."""
        if self.constraint.kind == "unchanged" or not self._fits(state):
            return ()
        hopes = self._hopeful(compare)
        found = hopes.among(hopes.sets.usable[state] & hopes.sets.eligible[reference])
        columns = self._assigned([hope.now for hope in found])[1]
        return tuple(found[column].key for column in columns)

    def candidates(self, state: int, reference: int) -> list[tuple[str, Row]]:
        """The rows that the expected rows may stand for, with their ids."""
        now, then, kind = self._tables[state], self._tables[reference], self.constraint.kind
        if kind == "adds":
            return [(key, row) for key, row in now.items() if key not in then]
        if kind == "removes":
            return [(key, row) for key, row in then.items() if key not in now]
        return [(key, row) for key, row in now.items() if kind == "is" or (key in then and then[key] != row)]

    def told(self, reference: int) -> Hashable:
        """Something about a version as the reference that is equal where all values are."""
        return reference if self.constraint.kind == "unchanged" else self._hopeful(FAVOURABLE).sets.eligible[reference]

    def stands_in(self, earlier: int, reference: int) -> bool:
        """Whether no value from a version on is smaller if an earlier one is the reference instead of it."""
        if self.constraint.kind == "unchanged":
            return earlier == reference
        return self._hopeful(FAVOURABLE).sets.stands_in(earlier, reference)

    def lasts(self, key: str) -> bool:
        """Whether the row's existence, or absence, is at the end as it was achieved."""
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

    def _hopeful(self, compare: Compare) -> "_Hopes":
        """All rows that ever were and that are like an expected one; none if an expected row has no such row."""
        key = compare.key if self._refers else None
        hopes = self._hopes.get(key)
        if hopes is None:
            lives = self._timeline.lives(self.constraint.table)
            likely = lives if key is None else [hope.life for hope in self._hopeful(FAVOURABLE).all]
            found = [hope for life in likely if (hope := self._hope(life, compare)) is not None]
            wanted = range(len(self.constraint.rows))
            whole = all(any(hope.now[number] for hope in found) for number in wanted)
            sets = (self.constraint.kind, lives, len(self._tables))
            hopes = self._hopes[key] = _Hopes(found if whole else (), *sets)
        return hopes

    def _hope(self, life: Life, compare: Compare) -> "_Hope | None":
        now = tuple(fields_of(target, life.row, compare) for target in self.constraint.rows)
        if not any(now):
            return None
        if not self.lasts(life.key):
            return _Hope(life, now, (0.0,) * len(now))
        ends = {name: self.at_end(life.key, name, cell) for name, cell in life.row.items()}
        if all(ends[name] is cell for name, cell in life.row.items()):
            return _Hope(life, now, now)

        def both(expected: Expected, name: str, actual: Any) -> float:
            return min(compare(expected, name, actual), compare(expected, name, ends.get(name)))

        lasting = (fields_of(target, life.row, both) for target in self.constraint.rows)
        return _Hope(life, now, tuple(lasting))

    def _best(self, state: int, hopes: "_Hopes", bits: Bits, *, fleeting: bool = False) -> float:
        """The similarity of a version in which these rows may stand for the expected ones."""
        if not self._fits(state):
            return 0.0
        if len(self.constraint.rows) == 1 and not fleeting:
            return hopes.first(bits)
        found = hopes.among(bits)
        return self._assigned([hope.now if fleeting else hope.lasting for hope in found])[0]

    def _fits(self, state: int) -> bool:
        return self.constraint.kind != "is" or len(self._tables[state]) == len(self.constraint.rows)

    def _assigned(self, pairs: Sequence[Sequence[float]]) -> tuple[float, tuple[int, ...]]:
        """The best assignment of the expected rows to actual ones, given these rows' similarities to each of them."""
        wanted = len(self.constraint.rows)
        if len(pairs) < wanted:
            return 0.0, ()
        return assign([[pair[number] for pair in pairs] for number in range(wanted)]) if wanted else (1.0, ())


@dataclass(frozen=True, slots=True)
class _Hope:
    """A row that is a little like some expected one, with its similarity to each: now, and what of it lasts."""

    life: Life
    now: tuple[float, ...]
    lasting: tuple[float, ...]

    @property
    def key(self) -> str:
        """The id of the row."""
        return self.life.key


class _Hopes:
    """The rows that are like an expected one, the best first as far as the first expected row goes."""

    def __init__(self, found: Sequence[_Hope], kind: RowKind, every: Sequence[Life], size: int) -> None:
        self.all = found
        order = sorted(range(len(found)), key=lambda number: -found[number].lasting[0])
        self._ranked = [(found[number], number) for number in order]
        self.sets = RowSets(kind, [hope.life for hope, _ in self._ranked], every, size)

    def first(self, bits: Bits) -> float:
        """The similarity of the best of some rows, 0 without any."""
        return self._ranked[(bits & -bits).bit_length() - 1][0].lasting[0] if bits else 0.0

    def among(self, bits: Bits) -> list[_Hope]:
        """Some rows, in the order in which they were written."""
        found = [item for number, item in enumerate(self._ranked) if bits >> number & 1]
        return [hope for hope, _ in sorted(found, key=lambda item: item[1])]
