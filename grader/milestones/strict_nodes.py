"""The similarity of a scenario's milestones to the events of a session, as strict grading sees it.

Policy: a message counts only as far as what it rests on was met, so that its similarity is multiplied by the smallest
similarity among its direct predecessors, theirs included; deeds count by themselves.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from grader.milestones.cells import shape
from grader.milestones.judges import FAVOURABLE, Compare, Lasting, TableJudge, judge_event
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
Aspect = tuple[int, str]
"""Something about another milestone's place: its number, and a table (the version there) or ``CALL``."""
GATE = -1
"""The slot of a message milestone's view that holds how well what it rests on was met."""


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
        self.before = [tuple(self.numbers[name] for name in item.after) for item in milestones]
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
        self._ceilings: dict[int, list[float]] = {}
        self._states: dict[tuple[int, int, str], list[int]] = {}
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
        slots = list(view)
        for (follower, slot), told in zip(self.watched[reference], mark, strict=True):
            if follower == node:
                slots[slot] = min(slots[slot], told) if slot == GATE else told
        return tuple(slots)

    def series(self, node: int, view: View) -> Sequence[float]:
        """At every event the similarity, as far as what it rests on was met."""
        if not self.gated[node]:
            return self.raw(node, view)
        met: float = view[-1]
        return [value and value * met for value in self.raw(node, view[:-1])] if met else [0.0] * self.length

    def marks(self, node: int, view: View) -> Sequence[Mark] | None:
        """At every event what later milestones can tell about this one being placed there."""
        columns = [self._told(node, follower, slot, view) for follower, slot in self.watched[node]]
        return list(zip(*columns, strict=True)) if columns else None

    def ceiling(self, node: int) -> Sequence[float]:
        """The similarity if every value and state from elsewhere were the most favourable."""
        values = self._ceilings.get(node)
        if values is None:
            values = self._product(node, FAVOURABLE, lambda judge, state, _: judge.ceiling(state))
            self._ceilings[node] = values
        return values

    def raw(self, node: int, slots: tuple[int, ...]) -> list[float]:
        """At every event the milestone's own similarity, whatever it rests on.

        The geometric mean of its constraints; ``unchanged`` ones multiply and do not count in the root.
        """
        values = self._raw.get((node, slots))
        if values is None:
            compare = self.compare(node, slots)
            values = self._raw[node, slots] = self._product(
                node,
                compare,
                lambda judge, state, since: judge.value(state, self.since(node, since, slots), compare),
                [1.0 if best else 0.0 for best in self.ceiling(node)] if slots else None,
            )
        return values

    def compare(self, node: int, slots: tuple[int, ...]) -> Compare:
        """The comparison of a milestone's values, given the places of others."""
        return Compare(self.lookup(node, slots), slots)

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
            return taken_from(ref, event)

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

    def achieved(self, node: int, place: Place, slots: tuple[int, ...]) -> int | None:
        """The event at which a milestone was met at least in part, if only for a while: its place, if it was there."""
        if self.raw(node, slots)[place.index]:
            return place.index
        compare = self.compare(node, slots)

        def judged(judge: TableJudge, state: int, constraint: TableConstraint) -> float:
            return judge.value(state, self.since(node, constraint, slots), compare, fleeting=True)

        values = self._product(node, compare, judged)
        best = max(values)
        return values.index(best) if best else None

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
        self,
        node: int,
        compare: Compare,
        judged: Callable[[TableJudge, int, TableConstraint], float],
        where: list[float] | None = None,
    ) -> list[float]:
        """At every event the geometric mean of a milestone's constraints, or 0 where ``where`` is 0 already."""
        values, count = where or [1.0] * self.length, 0
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

    def _told(self, node: int, follower: int, slot: int, view: View) -> Sequence[Any]:
        """At every event what a follower takes over into one slot of its view."""
        if slot == GATE:
            return self.series(node, view)
        table = self.aspects[follower][slot][1]
        if table == CALL:
            return self._calls_told(node, follower, view)
        told = self._states.get((follower, node, table))
        if told is None:
            told = self._states[follower, node, table] = self._representatives(follower, node, table)
        return told

    def _calls_told(self, node: int, follower: int, view: View) -> list[int]:
        """At every event the first call that yields the same to a follower as the one met there, -1 for none."""
        refs = [ref for ref in values_of(self.milestones[follower]) if self.numbers[ref.milestone] == node]
        first: dict[str, int] = {}
        told = [-1] * self.length
        for index, value in enumerate(self.raw(node, view[: len(self.aspects[node])])):
            event = self.timeline.events[index]
            if value and isinstance(event, ToolCall):
                found = [taken_from(ref, event) for ref in refs]
                told[index] = first.setdefault(shape(found, index), index) if any(found) else -1
        return told

    def _representatives(self, follower: int, node: int, table: str) -> list[int]:
        """At every event the first version of a table that is the same to a follower as the one after the event."""
        name, count = self.milestones[node].id, self.timeline.last_version(table) + 1
        alike = [
            self.judge(follower, item).alike(count)
            for item in self.milestones[follower].constraints
            if isinstance(item, TableConstraint) and (item.table, item.since) == (table, name)
        ]
        first: dict[Any, int] = {}
        told = [first.setdefault(key, version) for version, key in enumerate(zip(*alike, strict=True))]
        return [told[version] for version in self.timeline.versions(table)]

    def _aspects(self, milestone: Milestone) -> tuple[Aspect, ...]:
        found: dict[Aspect, None] = {}
        for constraint in milestone.constraints:
            if isinstance(constraint, TableConstraint) and constraint.since != START:
                found[self.numbers[constraint.since], constraint.table] = None
        for ref in values_of(milestone):
            found[self.numbers[ref.milestone], CALL] = None
        return tuple(found)

    def _watched(self, node: int) -> tuple[tuple[int, int], ...]:
        """Who takes over what from a milestone's place: the follower, and the slot of its view."""
        slots = [
            (follower, slot)
            for follower, aspects in enumerate(self.aspects)
            for slot, (number, _) in enumerate(aspects)
            if number == node
        ]
        resting = [(n, GATE) for n, before in enumerate(self.before) if self.gated[n] and node in before]
        return (*slots, *resting)


def named(milestone: Milestone) -> set[str]:
    """The milestones that this one takes values or a state from."""
    states = {item.since for item in milestone.constraints if isinstance(item, TableConstraint)} - {START}
    return states | {ref.milestone for ref in values_of(milestone)}


def values_of(milestone: Milestone) -> tuple[ValueRef, ...]:
    """The values from elsewhere that a milestone needs."""
    values = [expected for constraint in milestone.constraints for _, expected in compared(constraint)]
    return tuple(ref for expected in values for ref in referred(expected))


def taken_from(ref: ValueRef, call: ToolCall) -> tuple[Any, ...]:
    """The acceptable values that a reference finds in a call."""
    return taken(ref, call.result if ref.source == "result" else call.arguments)


def compared(constraint: Constraint) -> tuple[tuple[str, Expected], ...]:
    """All values that a constraint compares, with the names of their columns or arguments."""
    if isinstance(constraint, MessageConstraint):
        return (("content", constraint.content),)
    groups = [p.arguments for p in constraint.patterns] if isinstance(constraint, CallConstraint) else constraint.rows
    return tuple(item for group in groups for item in group.items())


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
