"""One constraint of a scenario, held against an event of the log or the state after it.

Policy: sender, recipient and tool must be right before anything is compared, and then do not dilute what is. What a
milestone achieved must last: a row counts as it is at the end of the session where that is worse than when it was met.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.milestones.assignment import assign
from grader.milestones.measures import Lookup, referred, similarity
from grader.milestones.timeline import Timeline
from sandbox_mcp.trajectory import Message, ToolCall
from sandbox_mcp.world.state import Row, Table
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

    Every row is compared once, however many versions of the table it lives through.

    Source: ToolSandbox, section 4; the rule that rows are tied by id and must last is ours.
    """

    def __init__(self, constraint: TableConstraint, timeline: Timeline, lasting: Lasting | None) -> None:
        self.constraint = constraint
        self._timeline = timeline
        self._lasting = lasting
        self._end = timeline.table(constraint.table, timeline.last_version(constraint.table))
        self._refers = any(referred(expected) for row in constraint.rows for expected in row.values())
        self._hopes: dict[Any, tuple[_Hope, ...]] = {}

    def value(self, state: int, reference: int, compare: Compare, *, fleeting: bool = False) -> float:
        """The similarity of one version of the table, with another as the reference.

        With ``fleeting`` it does not matter whether what was achieved lasts.
        """
        if self.constraint.kind == "unchanged":
            return 1.0 if self._version(state) == self._version(reference) else 0.0
        return self._assigned(state, self._present(state, reference, compare), fleeting=fleeting)[0]

    def ceiling(self, state: int) -> float:
        """A number that the similarity of a version never exceeds, whatever the reference."""
        if self.constraint.kind == "unchanged":
            return 1.0
        now, gone = self._version(state), self.constraint.kind == "removes"
        hopes = self._hopeful(FAVOURABLE)
        found = [hope for hope in hopes if (hope.key not in now if gone else now.get(hope.key) is hope.row)]
        return self._assigned(state, found)[0]

    def rows(self, state: int, reference: int, compare: Compare) -> tuple[str, ...]:
        """The id of the row that stands for each expected row at that moment; empty where they cannot all be found."""
        if self.constraint.kind == "unchanged":
            return ()
        found = self._present(state, reference, compare)
        return tuple(found[column].key for column in self._assigned(state, found, fleeting=True)[1])

    def candidates(self, state: int, reference: int) -> list[tuple[str, Row]]:
        """The rows that the expected rows may stand for, with their ids."""
        now, then = self._version(state), self._version(reference)
        source = then if self.constraint.kind == "removes" else now
        return [(key, row) for key, row in source.items() if self._eligible(key, row, now, then)]

    def alike(self, references: int) -> list[Hashable]:
        """For each of the first versions as a reference something that is equal where the values are."""
        if self.constraint.kind == "unchanged":
            return list(range(references))
        hopes, kind = self._hopeful(FAVOURABLE), self.constraint.kind
        tables = [self._version(number) for number in range(references)]
        if kind == "adds":
            return [tuple(hope.key in then for hope in hopes) for then in tables]
        if kind == "removes":
            return [tuple(then.get(hope.key) is hope.row for hope in hopes) for then in tables]
        return [tuple(hope.key in then and then[hope.key] != hope.row for hope in hopes) for then in tables]

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

    def _hope(self, key: str, row: Row, compare: Compare) -> "_Hope | None":
        now = tuple(fields_of(target, row, compare) for target in self.constraint.rows)
        if not any(now):
            return None
        if not self.lasts(key):
            return _Hope(key, row, now, (0.0,) * len(now))
        ends = {name: self.at_end(key, name, cell) for name, cell in row.items()}
        if all(ends[name] is cell for name, cell in row.items()):
            return _Hope(key, row, now, now)

        def both(expected: Expected, name: str, actual: Any) -> float:
            return min(compare(expected, name, actual), compare(expected, name, ends.get(name)))

        lasting = (fields_of(target, row, both) for target in self.constraint.rows)
        return _Hope(key, row, now, tuple(lasting))

    def _hopeful(self, compare: Compare) -> tuple["_Hope", ...]:
        """All rows that ever were and that are like an expected one; none if an expected row has no such row."""
        key = compare.key if self._refers else None
        hopes = self._hopes.get(key)
        if hopes is None:
            wanted = self.constraint.rows
            rows = self._timeline.every_row(self.constraint.table)
            found = [hope for row_id, row in rows if (hope := self._hope(row_id, row, compare)) is not None]
            whole = all(any(hope.now[number] for hope in found) for number in range(len(wanted)))
            hopes = self._hopes[key] = tuple(found) if whole else ()
        return hopes

    def _present(self, state: int, reference: int, compare: Compare) -> list["_Hope"]:
        now, then, gone = self._version(state), self._version(reference), self.constraint.kind == "removes"
        source = then if gone else now
        return [
            hope
            for hope in self._hopeful(compare)
            if source.get(hope.key) is hope.row and self._eligible(hope.key, hope.row, now, then)
        ]

    def _eligible(self, key: str, row: Row, now: Table, then: Table) -> bool:
        kind = self.constraint.kind
        if kind == "adds":
            return key not in then
        if kind == "removes":
            return key not in now
        return kind == "is" or (key in then and then[key] != row)

    def _assigned(
        self, state: int, found: Sequence["_Hope"], *, fleeting: bool = False
    ) -> tuple[float, tuple[int, ...]]:
        wanted = len(self.constraint.rows)
        if len(found) < wanted or (self.constraint.kind == "is" and len(self._version(state)) != wanted):
            return 0.0, ()
        if not wanted:
            return 1.0, ()
        pairs = [hope.now if fleeting else hope.lasting for hope in found]
        return assign([[pair[number] for pair in pairs] for number in range(wanted)])

    def _version(self, number: int) -> Table:
        return self._timeline.table(self.constraint.table, number)


@dataclass(frozen=True, slots=True)
class _Hope:
    """A row that is a little like some expected one, with its similarity to each: now, and what of it lasts."""

    key: str
    row: Row
    now: tuple[float, ...]
    lasting: tuple[float, ...]
