"""One constraint of a scenario, held against an event of the log or the state after it.

Policy: sender, recipient and tool must be right before anything is compared, and then do not dilute what is. What a
milestone achieved must last: a row counts as it is at the end of the session where that is worse than when it was met.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from grader.milestones.assignment import assign
from grader.milestones.measures import Lookup, referred, similarity
from grader.milestones.timeline import Timeline
from sandbox_mcp.trajectory import Message, ToolCall
from sandbox_mcp.world.state import Row, Table
from scenarios.model import CallConstraint, CallPattern, Expected, MessageConstraint, TableConstraint

Compare = Callable[[Expected, str, Any], float]
"""How well a value of that name is what was expected."""


def comparing(lookup: Lookup | None) -> Compare:
    """A comparison that takes values from elsewhere through ``lookup``; with None such values are right in advance."""

    def compare(expected: Expected, name: str, actual: Any) -> float:
        if lookup is None:
            return 1.0 if referred(expected) else similarity(expected, name, actual, _nothing)
        return similarity(expected, name, actual, lookup)

    return compare


def _nothing(_ref: object) -> tuple[Any, ...]:
    return ()


def fields_of(expected: Mapping[str, Expected], actual: Mapping[str, Any], compare: Compare) -> float:
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

    Source: ToolSandbox, section 4; the rule that rows are tied by id and must last is ours.
    """

    def __init__(self, constraint: TableConstraint, timeline: Timeline, lasting: Lasting | None) -> None:
        self.constraint = constraint
        self._timeline = timeline
        self._lasting = lasting
        self._end = timeline.table(constraint.table, timeline.last_version(constraint.table))

    def value(self, state: int, reference: int, compare: Compare) -> float:
        """The similarity of one version of the table, with another as the reference."""
        if self.constraint.kind == "unchanged":
            return 1.0 if self._version(state) == self._version(reference) else 0.0
        return self._assigned(list(self.candidates(state, reference)), compare)[0]

    def ceiling(self, state: int, compare: Compare) -> float:
        """A number that the similarity of a version never exceeds, whatever the reference."""
        if self.constraint.kind == "unchanged":
            return 1.0
        if self.constraint.kind == "removes":
            return self._assigned(list(self._ever_gone(self._version(state))), compare)[0]
        return self._assigned(list(self._version(state).items()), compare)[0]

    def rows(self, state: int, reference: int, compare: Compare) -> tuple[str, ...]:
        """The id of the row that stands for each expected row; empty where they cannot all be found."""
        if self.constraint.kind == "unchanged":
            return ()
        found = list(self.candidates(state, reference))
        return tuple(found[column][0] for column in self._assigned(found, compare)[1])

    def candidates(self, state: int, reference: int) -> Iterator[tuple[str, Row]]:
        """The rows that the expected rows may stand for, with their ids."""
        now, then, kind = self._version(state), self._version(reference), self.constraint.kind
        if kind == "is":
            yield from now.items()
        elif kind == "adds":
            yield from ((key, row) for key, row in now.items() if key not in then)
        elif kind == "removes":
            yield from ((key, row) for key, row in then.items() if key not in now)
        else:
            yield from ((key, row) for key, row in now.items() if key in then and then[key] != row)

    def pair(self, target: Mapping[str, Expected], key: str, row: Row, compare: Compare) -> float:
        """How well one row is an expected one, now and at the end."""

        def lasting(expected: Expected, name: str, actual: Any) -> float:
            now = compare(expected, name, actual)
            return min(now, compare(expected, name, self.at_end(key, name, actual))) if now else 0.0

        if not self.lasts(key):
            return 0.0
        return fields_of(target, row, lasting)

    def lasts(self, key: str) -> bool:
        """Whether the row's existence, or absence, is at the end as it was achieved."""
        if self._lasting is None or not self._lasting.rows:
            return True
        return (key in self._end) is (self.constraint.kind != "removes")

    def at_end(self, key: str, column: str, now: Any) -> Any:
        """A cell at the end of the session, where that counts."""
        lasting = self._lasting
        if lasting is None or self.constraint.kind == "removes" or column in lasting.columns or key not in self._end:
            return now
        return self._end[key].get(column)

    def _assigned(self, found: list[tuple[str, Row]], compare: Compare) -> tuple[float, tuple[int, ...]]:
        wanted = self.constraint.rows
        if len(found) < len(wanted) or (self.constraint.kind == "is" and len(found) != len(wanted)):
            return 0.0, ()
        if not wanted:
            return 1.0, ()
        return assign([[self.pair(target, key, row, compare) for key, row in found] for target in wanted])

    def _version(self, number: int) -> Table:
        return self._timeline.table(self.constraint.table, number)

    def _ever_gone(self, now: Table) -> Iterable[tuple[str, Row]]:
        table = self.constraint.table
        for number in range(self._timeline.last_version(table) + 1):
            yield from ((key, row) for key, row in self._timeline.table(table, number).items() if key not in now)
