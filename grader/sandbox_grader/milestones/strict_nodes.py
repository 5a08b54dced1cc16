"""The similarity of a scenario's milestones to the events of a session, as strict grading sees it.

Policy: a message counts only as far as what it rests on was met, so that its similarity is multiplied by the smallest
similarity among its direct predecessors, theirs included; deeds count by themselves.

An example with three milestones. *found* is a search; *sent*, after it, adds a text to the number that *found*'s call
returned; *told*, after *sent*, is a message. Where *found* goes decides the number that *sent* looks for: *sent* has
one **aspect**, the call matched at *found*, and a **slot** for it. The **mark** of an event for *found* is what goes
into that slot: the event's call, or an earlier one that found the same number, or -1 where none was matched. Events
with equal marks leave *sent* equally well off. *told* takes no value, but it rests on *sent*: it counts as far as
*sent* was met. A milestone's **view** is its slots and how far what it rests on was met. Once *found* and *sent* are
placed, the view of *told* is known, and its similarity to every event is a plain number.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress, product
from typing import Any, TypeGuard

from sandbox_scenarios.model import (
    START,
    CallConstraint,
    Constraint,
    Expected,
    MessageConstraint,
    TableConstraint,
    ValueRef,
)  # fmt: skip

from sandbox_grader.milestones.judges import FAVOURABLE, Compare, TableJudge, judge_event
from sandbox_grader.milestones.links import CALL, Links
from sandbox_grader.milestones.listening import Doubts, Listener
from sandbox_grader.milestones.matching import MatchedPlace, View
from sandbox_grader.milestones.measures import Lookup
from sandbox_grader.milestones.node_scores import IndexMark
from sandbox_grader.milestones.referring import fitting, taken_from, values_of, yielding
from sandbox_grader.milestones.timeline import Timeline
from sandbox_mcp.engine.trajectory import Message, ToolCall


class StrictNodes:
    """The milestones of one list, by number, as the matcher wants them.

    A view is a pair: the slots, in the order of ``aspects`` and -1 as long as nothing is known, and the smallest
    similarity so far of what the milestone rests on. ``links`` is what all sessions have in common.
    """

    def __init__(self, links: Links, timeline: Timeline, doubts: Doubts | None = None) -> None:
        self.links = links
        self.milestones, self.numbers, self.before = links.milestones, links.numbers, links.before
        self.resting, self.aspects = links.resting, links.aspects
        self.timeline = timeline
        self.length = len(timeline.events)
        self.listener = Listener(timeline, links.facts, doubts)
        # Each is worked out once: judges by milestone and constraint, the best cases by milestone, what a follower sees
        # of another milestone by both, similarities by milestone and slots.
        self._judges: dict[tuple[int, int], TableJudge] = {}
        self._best: dict[int, tuple[int, list[float]]] = {}
        self._states: dict[tuple[int, int, str], list[int]] = {}
        self._yielding: dict[tuple[int, int], Callable[[int], int]] = {}
        self._counted: dict[tuple[int, tuple[int, ...]], list[float]] = {}
        self._raw: dict[tuple[int, tuple[int, ...]], list[float]] = {}

    def references(self, node: int) -> frozenset[int]:
        """The milestones whose place this one's similarity depends on."""
        return self.links.references[node]

    def start(self, node: int) -> View:
        """A view with nothing known."""
        return (-1,) * len(self.aspects[node]), 1.0

    def absorb(self, node: int, view: View, reference: int, mark: IndexMark, similarity: float) -> View:
        """Take over what the place of a reference says."""
        slots, met = view
        if mark is not None:
            known = list(slots)
            for (follower, slot), value in zip(self.links.seen_by[reference], mark, strict=True):
                if follower == node:
                    known[slot] = value
            slots = tuple(known)
        rests = self.resting[node] and reference in self.before[node]
        return slots, min(met, similarity) if rests else met

    def series(self, node: int, view: View) -> Sequence[float]:
        """At every event the similarity, as far as what it rests on was met."""
        slots, met = view
        if met == 1:
            return self._counting(node, slots)
        return [value and value * met for value in self._counting(node, slots)] if met else [0.0] * self.length

    def marks(self, node: int, view: View) -> Sequence[IndexMark] | None:
        """At every event what goes into the slots of later milestones if this one is placed there."""
        columns = [self._filling(node, follower, slot, view) for follower, slot in self.links.seen_by[node]]
        return list(zip(*columns, strict=True)) if columns else None

    def ceiling(self, node: int) -> Sequence[float]:
        """The similarity if every value and state from elsewhere were the most favourable; 1 before the earliest."""
        first, values = self.at_best(node)
        return [1.0] * first + values[first:] if first else values

    def at_best(self, node: int) -> tuple[int, list[float]]:
        """The similarity from the earliest event on if every value and state from elsewhere were most favourable.

        The earliest is the first event by which all that a milestone rests on can be met; before it, the milestone
        cannot count. Most messages come before that event, and need not be read for this milestone.
        """
        if node not in self._best:
            first = 0
            for before in self.before[node] if self.resting[node] else ():
                first = max(first, next(compress(range(self.length), self.at_best(before)[1]), self.length))
            where = [0.0] * first + [1.0] * (self.length - first)

            def highest(constraint: TableConstraint, states: Collection[int]) -> Mapping[int, float]:
                since = 0 if constraint.since == START else None  # the start is known, all other places are not
                return self.judge(node, constraint).values(states, since, FAVOURABLE)

            self._best[node] = first, self._product(node, FAVOURABLE, highest, where)
        return self._best[node]

    def raw(self, node: int, slots: tuple[int, ...]) -> Sequence[float]:
        """At every event the milestone's own similarity, whatever it rests on.

        The geometric mean of its constraints; ``unchanged`` ones multiply and do not count in the root.
        """
        if not self.resting[node]:
            return self._counting(node, slots)
        if (node, slots) not in self._raw:
            self._raw[node, slots] = self._judged(node, slots, [1.0] * self.length)
        return self._raw[node, slots]

    def raw_at(self, node: int, slots: tuple[int, ...], index: int) -> float:
        """At one event the milestone's own similarity, whatever it rests on."""
        return self._counting(node, slots)[index] or self.raw(node, slots)[index]

    def _counting(self, node: int, slots: tuple[int, ...]) -> Sequence[float]:
        """The milestone's own similarity at every event from the earliest on at which it can count."""
        if not slots:
            return self.at_best(node)[1]  # nothing comes from elsewhere
        if (node, slots) not in self._counted:
            where = [1.0 if best else 0.0 for best in self.at_best(node)[1]]
            self._counted[node, slots] = self._judged(node, slots, where)
        return self._counted[node, slots]

    def _judged(self, node: int, slots: tuple[int, ...], where: list[float]) -> list[float]:
        """The milestone's own similarity where ``where`` is not 0, given the places of others."""
        compare = self.compare(node, slots)

        def judged(constraint: TableConstraint, states: Collection[int]) -> Mapping[int, float]:
            return self.judge(node, constraint).values(states, self.since(node, constraint, slots), compare)

        return self._product(node, compare, judged, where)

    def compare(self, node: int, slots: tuple[int, ...], lookup: Lookup | None = None) -> Compare:
        """The comparison of a milestone's values, given the places of others; ``lookup`` finds them, if known."""
        aspects = zip(self.aspects[node], slots, strict=False)
        found = lookup or self.lookup(node, slots)
        return Compare(found, tuple([slot for (_, aspect), slot in aspects if aspect == CALL]))

    def lookup(self, node: int, slots: tuple[int, ...]) -> Lookup:
        """Find a milestone's values, given the places of others."""
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

    def slots(self, node: int, placed: Mapping[int, MatchedPlace]) -> tuple[int, ...]:
        """Calls and versions at which the milestones it depends on were placed."""
        found = list[int]()
        for seen, aspect in self.aspects[node]:
            index = placed[seen].index
            if aspect != CALL:
                found.append(self.timeline.versions(aspect)[index])
            elif isinstance(self.timeline.events[index], ToolCall):
                found.append(index if self.raw_at(seen, self.slots(seen, placed), index) else -1)
            else:
                found.append(-1)
        return tuple(found)

    def judge(self, node: int, constraint: TableConstraint) -> TableJudge:
        """Judge of one of a milestone's constraints on tables."""
        key = (node, id(constraint))
        if key not in self._judges:
            self._judges[key] = TableJudge(constraint, self.timeline, self.links.lasting[key])
        return self._judges[key]

    def achieved(self, node: int, place: MatchedPlace, slots: tuple[int, ...]) -> int | None:
        """The event at which a milestone was met in part, if only for a while; its place, if it was met there."""
        if self.raw_at(node, slots, place.index):
            return place.index
        if not any(map(_is_table, self.milestones[node].constraints)):
            return None  # what was said or called once was said or called
        compare = self.compare(node, slots)

        def judged(constraint: TableConstraint, states: Collection[int]) -> Mapping[int, float]:
            since = self.since(node, constraint, slots)
            return self.judge(node, constraint).values(states, since, compare, fleeting=True)

        values = self._product(node, compare, judged)
        best = max(values)
        return values.index(best) if best else None

    def since(self, node: int, constraint: TableConstraint, slots: tuple[int, ...]) -> int:
        """The version of the table that a constraint compares with."""
        if constraint.since == START:
            return 0
        wanted = (self.numbers[constraint.since], constraint.table)
        return max(0, slots[self.aspects[node].index(wanted)])

    def _product(
        self,
        node: int,
        compare: Compare,
        judged: Callable[[TableConstraint, Collection[int]], Mapping[int, float]],
        where: list[float] | None = None,
    ) -> list[float]:
        """At every event the geometric mean of a milestone's constraints, or 0 where ``where`` is 0 already."""
        values, count = where or [1.0] * self.length, 0
        for constraint in sorted(self.milestones[node].constraints, key=_is_table):
            if isinstance(constraint, TableConstraint):
                versions = self.timeline.versions(constraint.table)
                known = judged(constraint, set(compress(versions, values)))
                values = [value and value * known[state] for value, state in zip(values, versions, strict=True)]
            else:
                before, values = values, [0.0] * self.length
                for index, event in self._events(constraint):
                    values[index] = before[index] and before[index] * self.fit(constraint, index, event, compare)
            count += not (isinstance(constraint, TableConstraint) and constraint.kind == "unchanged")
        return values if count <= 1 else [value and value ** (1 / count) for value in values]

    def fit(
        self, constraint: CallConstraint | MessageConstraint, index: int, event: Message | ToolCall, compare: Compare
    ) -> float:
        """Similarity of the event at an index to the call or message of a constraint."""
        if hears(constraint):
            return self.listener.account(constraint.content, index, compare.lookup).share
        fit = judge_event(constraint, event, compare)
        if fit and isinstance(constraint, CallConstraint) and isinstance(event, ToolCall):
            return 0.0 if self.links.findings.lacks(constraint, event) else fit
        return fit

    def _events(self, constraint: CallConstraint | MessageConstraint) -> Iterable[tuple[int, Message | ToolCall]]:
        """The events that can meet a constraint at all, with their indexes."""
        if isinstance(constraint, MessageConstraint):
            return self.timeline.messages(constraint.sender, constraint.recipient)
        return chain.from_iterable(map(self.timeline.calls, {pattern.tool for pattern in constraint.patterns}))

    def _filling(self, node: int, follower: int, slot: int, view: View) -> Sequence[int]:
        """At every event what goes into one slot of a follower if this milestone is placed there."""
        table = self.aspects[follower][slot][1]
        if table == CALL:
            calls, yields = [-1] * self.length, self._yields(node, follower)
            for index in compress(range(self.length), self._counting(node, view[0])):
                calls[index] = yields(index)
            return calls
        if (follower, node, table) not in self._states:
            self._states[follower, node, table] = self._representatives(follower, node, table)
        return self._states[follower, node, table]

    def _yields(self, node: int, follower: int) -> Callable[[int], int]:
        """For an event the first one asked for that yields a follower the same as the milestone's call, -1 for none."""
        if (node, follower) not in self._yielding:
            refs = [ref for ref in values_of(self.milestones[follower]) if self.numbers[ref.milestone] == node]
            wanted = [(ref, fitting(ref, self._likely(follower))) for ref in refs]
            self._yielding[node, follower] = yielding(wanted, self.timeline.events)
        return self._yielding[node, follower]

    def _likely(self, node: int) -> Iterator[tuple[Mapping[str, Expected], Mapping[str, Any]]]:
        """Expectation of a milestone, with the arguments, texts and rows that might be it if values were favourable."""
        _, best = self.at_best(node)
        for constraint in self.milestones[node].constraints:
            if isinstance(constraint, TableConstraint):
                yield from product(constraint.rows, self.judge(node, constraint).likely())
            elif isinstance(constraint, CallConstraint):
                for pattern in constraint.patterns:
                    calls = self.timeline.calls(pattern.tool)
                    yield from ((pattern.arguments, call.arguments) for index, call in calls if best[index])
            else:
                messages = self.timeline.messages(constraint.sender, constraint.recipient)
                wanted = {"content": constraint.content}
                yield from ((wanted, {"content": message.content}) for index, message in messages if best[index])

    def _representatives(self, follower: int, node: int, table: str) -> list[int]:
        """At every event the first version of a table that looks to a follower like the one after the event."""
        name, first = self.milestones[node].id, dict[Hashable, int]()
        judges = [
            self.judge(follower, item)
            for item in self.milestones[follower].constraints
            if isinstance(item, TableConstraint) and (item.table, item.since) == (table, name)
        ]
        same = [
            first.setdefault(tuple(judge.eligible(version) for judge in judges), version)
            for version in range(len(self.timeline.tables(table)))
        ]
        return [same[version] for version in self.timeline.versions(table)]


def hears(constraint: Constraint) -> TypeGuard[MessageConstraint]:
    """Whether a constraint asks what a message of the agent to the user claims."""
    return (
        isinstance(constraint, MessageConstraint)
        and constraint.content.measure == "facts"
        and (constraint.sender, constraint.recipient) == ("agent", "user")
    )


def _is_table(constraint: Constraint) -> bool:
    return isinstance(constraint, TableConstraint)
