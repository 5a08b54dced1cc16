"""One constraint of a scenario, held against an event of the log or the state after it.

Policy: sender, recipient and tool must be right before anything is compared, and then do not dilute what is. What a
milestone achieved must last: a row counts as it is at the end of the session where that is worse than when it was met.
"""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from sandbox_scenarios.model import CallConstraint, CallPattern, Expected, MessageConstraint, TableConstraint

from sandbox_grader.milestones.candidates import Hope, Hopes
from sandbox_grader.milestones.links import Lasting
from sandbox_grader.milestones.measures import Lookup, referred, similarity
from sandbox_grader.milestones.row_versions import Life
from sandbox_grader.milestones.timeline import Timeline
from sandbox_mcp.trajectory import Message, ToolCall
from sandbox_mcp.world.state import Row


@dataclass(frozen=True, slots=True)
class Compare:
    """Compares values with what was expected; ``key`` tells apart where values from elsewhere come from.

    With ``lookup`` None such values count as right in advance.
    """

    lookup: Lookup | None
    key: Hashable = None

    def __call__(self, expected: Expected, name: str, actual: Any) -> float:
        """How well the value of the column or argument ``name`` is what was expected."""
        if self.lookup is not None:
            return similarity(expected, name, actual, self.lookup)
        return 1.0 if expected.ref or expected.values else similarity(expected, name, actual, _nothing)


FAVOURABLE = Compare(None)
"""The comparison that no other exceeds."""
Comparison = Callable[[Expected, str, Any], float]


def _nothing(_ref: object) -> tuple[Any, ...]:
    return ()


def fields_of(expected: Mapping[str, Expected], actual: Mapping[str, Any], compare: Comparison) -> float:
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
        self._hopes: dict[Hashable, Hopes] = {}

    def values(
        self, states: Collection[int], reference: int | None, compare: Compare, *, fleeting: bool = False
    ) -> dict[int, float]:
        """The similarity of some versions of the table, with another as the reference.

        Without a reference what no reference exceeds. With ``fleeting`` it does not matter whether what was achieved
        lasts.
        """
        if self.constraint.kind == "unchanged":
            then = None if reference is None else self._tables[reference]
            return {state: 1.0 if then is None or self._tables[state] == then else 0.0 for state in states}
        hopes, fitting = self._hopeful(compare), [state for state in states if self._fits(state)]
        found = hopes.worth_then(fitting, reference) if fleeting else hopes.worth(fitting, reference)
        return found if len(found) == len(states) else dict.fromkeys(states, 0.0) | found

    def value(self, state: int, reference: int | None, compare: Compare, *, fleeting: bool = False) -> float:
        """The similarity of one version of the table, with another as the reference."""
        return self.values((state,), reference, compare, fleeting=fleeting)[state]

    def rows(self, state: int, reference: int, compare: Compare) -> tuple[str, ...]:
        """The id of the row that stands for each expected row at that moment; empty where they cannot all be found."""
        if self.constraint.kind == "unchanged" or not self._fits(state):
            return ()
        return tuple(life.key for life in self._hopeful(compare).taken(state, reference))

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

    def told(self, reference: int) -> Hashable:
        """Something about a version as the reference that is equal where all values are."""
        return reference if self.constraint.kind == "unchanged" else self._hopeful(FAVOURABLE).told(reference)

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

    def _hopeful(self, compare: Compare) -> Hopes:
        """All rows that may count in some version and that are like an expected one; none if one has no such row.

        A row that is there from the first version to the last was neither added nor removed nor updated.
        """
        key = compare.key if self._refers else None
        hopes = self._hopes.get(key)
        if hopes is None:
            lives = self._timeline.lives(self.constraint.table)
            moving = lives if self.constraint.kind == "is" else [life for life in lives if self._comes_or_goes(life)]
            likely = moving if key is None else [hope.life for hope in self._hopeful(FAVOURABLE).all]
            found = [hope for life in likely if (hope := self._hope(life, compare)) is not None]
            wanted = len(self.constraint.rows)
            whole = all(any(hope.now[number] for hope in found) for number in range(wanted))
            hopes = Hopes(found if whole else (), wanted, self.constraint.kind, lives, len(self._tables))
            self._hopes[key] = hopes
        return hopes

    def _comes_or_goes(self, life: Life) -> bool:
        return life.born > 0 or life.died < len(self._tables)

    def _hope(self, life: Life, compare: Compare) -> Hope | None:
        now = tuple(fields_of(target, life.row, compare) for target in self.constraint.rows)
        if not any(now):
            return None
        if not self.lasts(life.key):
            return Hope(life, now, (0.0,) * len(now))
        ends = {name: self.at_end(life.key, name, cell) for name, cell in life.row.items()}
        if all(ends[name] is cell for name, cell in life.row.items()):
            return Hope(life, now, now)

        def both(expected: Expected, name: str, actual: Any) -> float:
            return min(compare(expected, name, actual), compare(expected, name, ends.get(name)))

        lasting = (fields_of(target, life.row, both) for target in self.constraint.rows)
        return Hope(life, now, tuple(lasting))

    def _fits(self, state: int) -> bool:
        return self.constraint.kind != "is" or len(self._tables[state]) == len(self.constraint.rows)
