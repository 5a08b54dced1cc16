"""The similarity of a case's nodes to its messages: constraints, the guardrails that are added, and their references.

Policy: a constraint is judged once per pair of table versions, never once per pair of messages.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from grader.errors import GraderError
from grader.milestones.case import LO, MESSAGES, STATE_TABLES, CaseConstraint, Graph
from grader.milestones.cells import Target, filled, match, similarity, targets, value_sets
from grader.milestones.history import FilledRow, History, zero_filled
from grader.milestones.matching import Mark, View

DEAD = "dead"
"""The view of a node whose guardrails contradict each other already: it is 0 wherever it goes."""
EAGER = 24
"""A ceiling looks at all pairs of versions of a table up to this many versions; beyond that it says 1."""


class Judge:
    """One constraint that is no guardrail: its value for a version of its table and one of its reference."""

    __slots__ = ("_constraint", "_history", "_known", "_targets", "_wanted", "kind", "reference", "table")

    def __init__(self, constraint: CaseConstraint, history: History) -> None:
        self._constraint, self._history = constraint, history
        self.table, self.kind, self.reference = constraint.table, constraint.kind, constraint.reference
        rows = constraint.rows
        if self.kind in ("addition", "removal", "update"):
            rows = tuple(zero_filled(row) for row in rows)
        self._wanted: tuple[Target, ...] = () if self.kind == "trace_dependent" else targets(constraint, rows)
        self._known: dict[tuple[int, int], float] = {}
        self._targets: dict[int, list[Target]] = {}

    def value(self, state: int, reference: int) -> float:
        """From 0 to 1, for the version at the index in question and the version at the reference."""
        value = self._known.get((state, reference))
        if value is None:
            value = self._known[state, reference] = self._judge(state, reference)
        return value

    def yields(self, reference: int) -> list[Target]:
        """For ``trace_dependent``: the expected messages that the calls of the message ``reference`` make up."""
        found = self._targets.get(reference)
        if found is None:
            calls, extract = self._history.calls[reference], self._constraint.extract
            sets = [values for call in calls for values in value_sets(extract or (), call)]
            rows = [row for values in sets for row in filled(self._constraint, values)]
            found = self._targets[reference] = list(targets(self._constraint, rows))
        return found

    def _judge(self, state: int, reference: int) -> float:
        if self.kind == "trace_dependent":
            message = self._history.messages[state]
            return max((similarity(target, message) or 0.0 for target in self.yields(reference)), default=0.0)
        if self.table == MESSAGES:
            wanted = self._wanted
            return (similarity(wanted[0], self._history.messages[state]) or 0.0) if len(wanted) == 1 else 0.0
        if self.kind == "snapshot":
            return match(self._history.rows[self.table][state], self._wanted)
        return self._compared(self._history.filled(self.table, state), self._history.filled(self.table, reference))

    def _compared(self, state: list[FilledRow], reference: list[FilledRow]) -> float:
        if self.kind == "removal":
            state, reference = reference, state
        old = Counter(key for key, _ in reference)
        fresh = [row for key, row in state if key not in old]
        if len(fresh) != len(self._wanted):
            return 0.0
        if self.kind == "update":
            return match(fresh, self._wanted) if len(state) == len(reference) else 0.0
        return match(fresh, self._wanted) if sum(old[key] for key, _ in state) == len(reference) else 0.0


@dataclass(slots=True)
class _Rules:
    """A node's constraints, sorted by what they depend on."""

    alone: list[Judge] = field(default_factory=list[Judge])
    referring: list[Judge] = field(default_factory=list[Judge])
    guards: dict[int, set[str]] = field(default_factory=dict[int, set[str]])
    root: float = 1.0

    @property
    def guarded(self) -> tuple[str, ...]:
        """The tables that must be as they were at some other node's place."""
        return tuple(sorted({table for node, tables in self.guards.items() if node != LO for table in tables}))

    @property
    def references(self) -> frozenset[int]:
        """The nodes whose place matters here."""
        referred = {judge.reference for judge in self.referring} | set(self.guards)
        return frozenset(node for node in referred if node is not None and node != LO)


class CompatNodes:
    """The nodes of one graph as the matcher wants them.

    A view is a tuple: for every guarded table the version it must have, then for every referring constraint the
    version at its reference. A mark is a tuple: the version of every table that somebody refers to.
    """

    def __init__(
        self, graph: Graph, members: Sequence[int], edges: Sequence[tuple[int, int]], history: History
    ) -> None:
        self.history = history
        self.length = history.length
        self.rules = {node: _rules(graph, node, edges, history) for node in members}
        self._check(edges)
        self.watched = {node: self._watchers(node) for node in members}
        self._base: dict[int, list[float]] = {}

    def references(self, node: int) -> frozenset[int]:
        """The nodes that a node's constraints and guardrails refer to."""
        return self.rules[node].references

    def start(self, node: int) -> View:
        """A view with nothing known."""
        rules = self.rules[node]
        return (None,) * (len(rules.guarded) + len(rules.referring))

    def absorb(self, node: int, view: View, reference: int, mark: Mark) -> View:
        """Take over the versions at a reference; guardrails that disagree make the node dead."""
        if view == DEAD:
            return DEAD
        rules, slots = self.rules[node], list[int | None](view)
        seen: dict[str, int] = dict(zip(self.watched[reference], mark, strict=True))
        for slot, table in enumerate(rules.guarded):
            if table in rules.guards.get(reference, ()):
                if slots[slot] not in (None, seen[table]):
                    return DEAD
                slots[slot] = seen[table]
        for slot, judge in enumerate(rules.referring, start=len(rules.guarded)):
            if judge.reference == reference:
                slots[slot] = seen[judge.table]
        return tuple(slots)

    def series(self, node: int, view: View) -> Sequence[float]:
        """The similarity at every index of the candidate range."""
        base, rules = self._alone(node), self.rules[node]
        if view == DEAD or not any(base):
            return [0.0] * self.length
        slots: tuple[int, ...] = view
        values, versions = base[:], self.history.versions
        for table, version in zip(rules.guarded, slots, strict=False):
            values = [v if here == version else 0.0 for v, here in zip(values, versions[table], strict=True)]
        for judge, version in zip(rules.referring, slots[len(rules.guarded) :], strict=True):
            here = versions[judge.table]
            values = [v and v * judge.value(here[index], version) for index, v in enumerate(values)]
        return values if rules.root == 1 else [v and v**rules.root for v in values]

    def marks(self, node: int, view: View) -> Sequence[Mark] | None:  # noqa: ARG002  # a place's mark is the same for all views
        """The versions at every index of the tables that other nodes compare with this node's place."""
        columns = [self._marked(node, table) for table in self.watched[node]]
        return list(zip(*columns, strict=True)) if columns else None

    def ceiling(self, node: int) -> Sequence[float]:
        """The similarity if every guardrail held and every reference were where it suits best."""
        base, rules = self._alone(node), self.rules[node]
        values = base
        for judge in rules.referring:
            values = self._best_case(judge, values)
        return [v and v**rules.root for v in values]

    def independent(self) -> dict[int, Sequence[float]]:
        """The similarities of the nodes that refer to no other node's place."""
        return {node: self.series(node, self.start(node)) for node, rules in self.rules.items() if not rules.references}

    def _alone(self, node: int) -> list[float]:
        """At every index the product of the constraints that depend on nothing else."""
        values = self._base.get(node)
        if values is None:
            rules, versions = self.rules[node], self.history.versions
            values = [1.0] * self.length
            for table in rules.guards.get(LO, ()):
                values = [
                    v if here == versions[table][0] else 0.0 for v, here in zip(values, versions[table], strict=True)
                ]
            for judge in rules.alone:
                here = versions[judge.table]
                values = [v and v * judge.value(here[index], here[0]) for index, v in enumerate(values)]
            self._base[node] = values
        return values

    def _best_case(self, judge: Judge, values: Sequence[float]) -> list[float]:
        here = self.history.versions[judge.table]
        if judge.kind == "trace_dependent":
            options = [index for index in range(self.length) if judge.yields(index)] if any(values) else []
        else:
            options = sorted(set(here))
        if len(options) > EAGER:
            return list(values)
        return [
            v and v * max((judge.value(here[index], option) for option in options), default=0.0)
            for index, v in enumerate(values)
        ]

    def _watchers(self, node: int) -> tuple[str, ...]:
        found: set[str] = set()
        for rules in self.rules.values():
            found |= rules.guards.get(node, set())
            found |= {judge.table for judge in rules.referring if judge.reference == node}
        return tuple(sorted(found))

    def _marked(self, node: int, table: str) -> Sequence[int]:
        """The versions of a table; messages from which nobody takes a value count as one version."""
        if table != MESSAGES:
            return self.history.versions[table]
        judges = [judge for rules in self.rules.values() for judge in rules.referring if judge.reference == node]
        silent = next((i for i in range(self.length) if not any(judge.yields(i) for judge in judges)), 0)
        return [i if any(judge.yields(i) for judge in judges) else silent for i in range(self.length)]

    def _check(self, edges: Sequence[tuple[int, int]]) -> None:
        for node, rules in self.rules.items():
            stray = rules.references - _ancestors(node, edges)
            if stray:
                raise GraderError(f"node {node} refers to {sorted(stray)}; expected nodes before it in the graph")


def _ancestors(node: int, edges: Sequence[tuple[int, int]]) -> set[int]:
    found, frontier = set[int](), {node}
    while frontier:
        frontier = {before for before, after in edges if after in frontier} - found
        found |= frontier
    return found


def _rules(graph: Graph, node: int, edges: Sequence[tuple[int, int]], history: History) -> _Rules:
    rules, count = _Rules(), 0
    for constraint in graph.nodes[node].constraints:
        if constraint.kind == "guardrail":
            rules.guards.setdefault(LO if constraint.reference is None else constraint.reference, set()).add(
                constraint.table
            )
            continue
        count += 1
        refers = constraint.reference is not None and constraint.reference != LO and constraint.kind != "snapshot"
        (rules.referring if refers else rules.alone).append(Judge(constraint, history))
    if not count:
        raise GraderError(f"node {node} has no constraint but guardrails; expected at least one")
    for reference, tables in implicit_guards(graph, node, edges).items():
        rules.guards.setdefault(reference, set()).update(tables)
    rules.root = 1 / count
    return rules


def implicit_guards(graph: Graph, node: int, edges: Sequence[tuple[int, int]]) -> Mapping[int, set[str]]:
    """The tables that must be at a node's place as they were at other places, though no constraint says so.

    The places are those of the direct predecessors and of everything that the node's constraints refer to. Tables that
    the node or any of those constrains are left out, where ``LO`` counts as the last node of the list: the original
    uses it as a position.

    Source: ToolSandbox, evaluation code; the paper says only that unrelated tables should not change.
    """
    item = graph.nodes[node]
    places = {before for before, after in edges if after == node}
    places |= {constraint.reference for constraint in item.constraints if constraint.reference is not None}
    tables = set[str](STATE_TABLES).difference(item.unguarded) if item.guarded is None else set(item.guarded)
    for other in (item, *(graph.nodes[place] for place in places)):
        tables -= {constraint.table for constraint in other.constraints if constraint.kind != "guardrail"}
    return dict.fromkeys(places, tables) if tables else {}
