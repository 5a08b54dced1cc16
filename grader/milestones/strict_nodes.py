"""The similarity of a scenario's milestones to the events of a session, as strict grading sees it.

Policy: a message counts only as far as what it rests on was met, so that its similarity is multiplied by the smallest
similarity among its direct predecessors, theirs included; deeds count by themselves.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from grader.errors import GraderError
from grader.milestones.judges import Compare, Lasting, TableJudge, comparing, judge_event
from grader.milestones.matching import Mark, Place, View
from grader.milestones.measures import Lookup, referred, taken
from grader.milestones.timeline import Timeline
from sandbox_mcp.trajectory import ToolCall
from scenarios.model import (
    START,
    CallConstraint,
    Constraint,
    Expected,
    MessageConstraint,
    Milestone,
    TableConstraint,
    ValueRef,
)  # fmt: skip

CALL = "call"
"""The aspect of a place that values are taken from: which call was matched there, -1 if none."""
MET = "met"
"""The aspect of a place that messages rest on: how well the milestone was met there."""
Aspect = tuple[int, str]
"""Something about another milestone's place: its number, and a table (the version there), ``CALL`` or ``MET``."""


class StrictNodes:
    """The milestones of one list, by number, as the matcher wants them.

    A view is a tuple with one entry per aspect that the node depends on, in the order of ``aspects``; a message
    milestone's last entry is the smallest similarity among the predecessors placed so far.
    """

    def __init__(self, milestones: Sequence[Milestone], timeline: Timeline, *, mines: bool = False) -> None:
        self.milestones = milestones
        self.timeline = timeline
        self.length = len(timeline.events)
        self.numbers = {milestone.id: number for number, milestone in enumerate(milestones)}
        self.before = [tuple(self._number(name, item) for name in item.after) for item in milestones]
        self.edges = tuple((first, number) for number, before in enumerate(self.before) for first in before)
        self.gated = [not mines and bool(self.before[n]) and _speaks(item) for n, item in enumerate(milestones)]
        self.aspects = [self._aspects(item) for item in milestones]
        self.watched = [self._watched(number) for number in range(len(milestones))]
        self._judges = {
            (number, id(constraint)): TableJudge(
                constraint, timeline, None if mines else self.lasting(number, constraint)
            )
            for number, item in enumerate(milestones)
            for constraint in item.constraints
            if isinstance(constraint, TableConstraint)
        }
        self._raw: dict[tuple[int, tuple[int, ...]], list[float]] = {}

    def references(self, node: int) -> frozenset[int]:
        """The milestones whose place this one's similarity depends on."""
        resting = self.before[node] if self.gated[node] else ()
        return frozenset({number for number, _ in self.aspects[node]}.union(resting))

    def start(self, node: int) -> View:
        """A view with nothing known."""
        return (*(-1 for _ in self.aspects[node]), *((1.0,) if self.gated[node] else ()))

    def absorb(self, node: int, view: View, reference: int, mark: Mark) -> View:
        """Take over what the place of a reference says."""
        seen: dict[str, Any] = dict(zip(self.watched[reference], mark, strict=True))
        slots = list(view)
        for slot, (number, aspect) in enumerate(self.aspects[node]):
            if number == reference:
                slots[slot] = seen[aspect]
        if self.gated[node] and reference in self.before[node]:
            slots[-1] = min(slots[-1], seen[MET])
        return tuple(slots)

    def series(self, node: int, view: View) -> Sequence[float]:
        """At every event the similarity, as far as what it rests on was met."""
        if not self.gated[node]:
            return self.raw(node, view)
        met: float = view[-1]
        return [value and value * met for value in self.raw(node, view[:-1])] if met else [0.0] * self.length

    def marks(self, node: int, view: View) -> Sequence[Mark] | None:
        """At every event what later milestones can tell about this one being placed there."""
        columns = [self._column(node, aspect, view) for aspect in self.watched[node]]
        return list(zip(*columns, strict=True)) if columns else None

    def ceiling(self, node: int) -> Sequence[float]:
        """The similarity if every value and state from elsewhere were the most favourable."""
        return self._product(node, comparing(None), lambda judge, state, _: judge.ceiling(state, comparing(None)))

    def raw(self, node: int, slots: tuple[int, ...]) -> list[float]:
        """At every event the milestone's own similarity, whatever it rests on.

        The geometric mean of its constraints; ``unchanged`` ones multiply and do not count in the root.
        """
        values = self._raw.get((node, slots))
        if values is None:
            compare = comparing(self.lookup(node, slots))
            values = self._raw[node, slots] = self._product(
                node, compare, lambda judge, state, since: judge.value(state, self.since(node, since, slots), compare)
            )
        return values

    def lookup(self, node: int, slots: tuple[int, ...]) -> Lookup:
        """Where a milestone's values come from, given the places of others."""
        calls = {
            number: slot for (number, aspect), slot in zip(self.aspects[node], slots, strict=False) if aspect == CALL
        }

        def find(ref: ValueRef) -> tuple[Any, ...]:
            index = calls.get(self.numbers.get(ref.milestone, -1), -1)
            event = self.timeline.events[index] if index >= 0 else None
            if not isinstance(event, ToolCall):
                return ()
            return taken(ref, event.result if ref.source == "result" else event.arguments)

        return find

    def view(self, node: int, placed: Mapping[int, Place]) -> View:
        """The view of a milestone once all it depends on is placed."""
        view = self.start(node)
        for reference in self.references(node):
            marks = self.marks(reference, self.view(reference, placed))
            view = self.absorb(node, view, reference, marks[placed[reference].index] if marks else ())
        return view

    def judge(self, node: int, constraint: TableConstraint) -> TableJudge:
        """What judges one of a milestone's constraints on tables."""
        return self._judges[node, id(constraint)]

    def since(self, node: int, constraint: TableConstraint, view: View) -> int:
        """The version of the table that a constraint compares with."""
        if constraint.since == START:
            return 0
        wanted = (self.numbers[constraint.since], constraint.table)
        return max(0, view[self.aspects[node].index(wanted)])

    def lasting(self, number: int, constraint: TableConstraint) -> Lasting | None:
        """What a constraint achieves for good: all but what milestones after it set or remove in the same table."""
        if self.milestones[number].transient:
            return None
        later = [
            other
            for follower in _descendants(number, self.edges)
            for other in self.milestones[follower].constraints
            if isinstance(other, TableConstraint) and other.table == constraint.table
        ]
        columns = {column for other in later if other.kind in ("is", "updates") for row in other.rows for column in row}
        return Lasting(frozenset(columns), all(other.kind != "removes" for other in later))

    def _product(
        self, node: int, compare: Compare, judged: Callable[[TableJudge, int, TableConstraint], float]
    ) -> list[float]:
        values, count = [1.0] * self.length, 0
        for constraint in sorted(self.milestones[node].constraints, key=_is_table):
            if isinstance(constraint, TableConstraint):
                judge, versions = self.judge(node, constraint), self.timeline.versions(constraint.table)
                needed = {state for state, value in zip(versions, values, strict=True) if value}
                known = {state: judged(judge, state, constraint) for state in needed}
                values = [value and value * known[state] for value, state in zip(values, versions, strict=True)]
            else:
                events = zip(values, self.timeline.events, strict=True)
                values = [value and value * judge_event(constraint, event, compare) for value, event in events]
            count += not (isinstance(constraint, TableConstraint) and constraint.kind == "unchanged")
        return values if count <= 1 else [value and value ** (1 / count) for value in values]

    def _column(self, node: int, aspect: str, view: View) -> Sequence[Any]:
        if aspect == MET:
            return self.series(node, view)
        if aspect != CALL:
            return self.timeline.versions(aspect)
        raw = self.raw(node, view[: len(self.aspects[node])])
        calls = [isinstance(event, ToolCall) for event in self.timeline.events]
        return [index if value and call else -1 for index, (value, call) in enumerate(zip(raw, calls, strict=True))]

    def _aspects(self, milestone: Milestone) -> tuple[Aspect, ...]:
        found: dict[Aspect, None] = {}
        for constraint in milestone.constraints:
            if isinstance(constraint, TableConstraint) and constraint.since != START:
                found[self._number(constraint.since, milestone), constraint.table] = None
            for expected in expectations(constraint):
                for ref in referred(expected):
                    found[self._number(ref.milestone, milestone), CALL] = None
        return tuple(found)

    def _watched(self, node: int) -> tuple[str, ...]:
        named = {aspect for aspects in self.aspects for number, aspect in aspects if number == node}
        rests = any(gated and node in before for gated, before in zip(self.gated, self.before, strict=True))
        return (*sorted(named), *((MET,) if rests else ()))

    def _number(self, name: str, milestone: Milestone) -> int:
        number = self.numbers.get(name)
        if number is None:
            raise GraderError(f"{milestone.id!r} refers to unknown {name!r}; known: {', '.join(self.numbers)}")
        return number


def expectations(constraint: Constraint) -> tuple[Expected, ...]:
    """All values that a constraint compares."""
    if isinstance(constraint, MessageConstraint):
        return (constraint.content,)
    groups = [p.arguments for p in constraint.patterns] if isinstance(constraint, CallConstraint) else constraint.rows
    return tuple(expected for group in groups for expected in group.values())


def _speaks(milestone: Milestone) -> bool:
    return any(isinstance(constraint, MessageConstraint) for constraint in milestone.constraints)


def _is_table(constraint: Constraint) -> bool:
    return isinstance(constraint, TableConstraint)


def _descendants(node: int, edges: Sequence[tuple[int, int]]) -> set[int]:
    found, frontier = set[int](), {node}
    while frontier:
        frontier = {after for before, after in edges if before in frontier} - found
        found |= frontier
    return found
