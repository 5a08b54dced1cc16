"""ToolSandbox's own verdict on a case: the numbers its evaluator gives, oddities included.

Policy: what that evaluator answers counts here, also where it is wrong; what it cannot answer (a reference to no
ancestor, a node with guardrails only) is an error of ours, in words. A constraint is judged once per pair of table
versions, never once per pair of messages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

from sandbox_grader.errors import GraderError
from sandbox_grader.milestones.case import LO, STATE_TABLES, Case, Graph
from sandbox_grader.milestones.compat_judge import Judge
from sandbox_grader.milestones.history import History
from sandbox_grader.milestones.matching import CycleError, MatchedPlace, View, match, reached
from sandbox_grader.milestones.node_scores import IndexMark

DEAD = "dead"
"""The view of a node whose guardrails contradict each other already: it is 0 wherever it goes."""


class _Rules:
    """A node's constraints: those that stand ``alone``, those ``referring`` to another place, and guardrails.

    ``guards`` has the tables that must be as they were at each place, ``guarded`` all of them but for the start's.
    """

    def __init__(self, graph: Graph, node: int, edges: Sequence[tuple[int, int]], history: History) -> None:
        self.alone: list[Judge] = []
        self.referring: list[Judge] = []
        self.guards: dict[int, set[str]] = {}
        for constraint in graph.nodes[node].constraints:
            reference = LO if constraint.reference is None else constraint.reference
            if constraint.kind == "guardrail":
                self.guards.setdefault(reference, set()).add(constraint.table)
            elif reference != LO and constraint.kind != "snapshot":
                self.referring.append(Judge(constraint, history))
            else:
                self.alone.append(Judge(constraint, history))
        count = len(self.alone) + len(self.referring)
        if not count:
            raise GraderError(f"node {node} has no constraint but guardrails; expected at least one")
        for reference, tables in implicit_guards(graph, node, edges).items():
            self.guards.setdefault(reference, set()).update(tables)
        self.root = 1 / count
        self.guarded = tuple(
            sorted({table for place, tables in self.guards.items() if place != LO for table in tables})
        )
        referred = {judge.reference for judge in self.referring} | set(self.guards)
        self.references = frozenset(place for place in referred if place is not None and place != LO)

    def guarding(self, reference: int | None) -> tuple[str, ...]:
        """The tables that must be as they were at a reference."""
        tables = set[str]() if reference is None else self.guards.get(reference, ())
        return tuple(table for table in self.guarded if table in tables)

    def slots(self, reference: int) -> list[tuple[int, str]]:
        """The places in the view that a reference fills, with the table whose version goes there; guardrails first."""
        guarding = self.guarding(reference)
        first = [(slot, table) for slot, table in enumerate(self.guarded) if table in guarding]
        referring = enumerate(self.referring, start=len(self.guarded))
        return first + [(slot, judge.table) for slot, judge in referring if judge.reference == reference]


class CompatNodes:
    """The nodes of one graph as the matcher wants them.

    A view is a tuple: for every guarded table the version it must have, then for every referring constraint the
    version at its reference. A mark is a tuple with one entry per node that refers to the place: the versions that this
    node takes over, or ``DEAD`` where it could not be more than 0 with them.
    """

    def __init__(
        self, graph: Graph, members: Sequence[int], edges: Sequence[tuple[int, int]], history: History
    ) -> None:
        self.history = history
        self.length = history.length
        self.rules = {node: _Rules(graph, node, edges, history) for node in members}
        for node, rules in self.rules.items():
            stray = rules.references - reached(node, [(after, before) for before, after in edges])
            if stray:
                raise GraderError(f"node {node} refers to {sorted(stray)}; expected nodes before it in the graph")
        self.followers = {
            node: tuple(other for other, rules in self.rules.items() if node in rules.references) for node in members
        }
        self._base: dict[int, list[float]] = {}
        self._ceilings: dict[int, list[float]] = {}
        self._marks: dict[int, list[IndexMark]] = {}
        self._joined: dict[tuple[str, ...], list[tuple[int, ...]]] = {}
        self._sets: dict[tuple[str, tuple[str, ...]], list[frozenset[int]]] = {}
        self._places: dict[int, dict[tuple[int, ...], list[int]]] = {}
        self._slots = {
            (node, reference): tuple(slot for slot, _ in rules.slots(reference))
            for node, rules in self.rules.items()
            for reference in rules.references
        }

    def references(self, node: int) -> frozenset[int]:
        """The nodes that a node's constraints and guardrails refer to."""
        return self.rules[node].references

    def start(self, node: int) -> View:
        """A view with nothing known."""
        rules = self.rules[node]
        return (None,) * (len(rules.guarded) + len(rules.referring))

    def absorb(self, node: int, view: View, reference: int, mark: IndexMark, similarity: float) -> View:  # noqa: ARG002
        """Take over the versions at a reference; guardrails that disagree make the node dead."""
        taken = mark[self.followers[reference].index(node)]
        if view == DEAD or taken == DEAD:
            return DEAD
        slots = list[int | None](view)
        for slot, version in zip(self._slots[node, reference], taken, strict=True):
            if slots[slot] not in (None, version):
                return DEAD
            slots[slot] = version
        return tuple(slots)

    def series(self, node: int, view: View) -> Sequence[float]:
        """The similarity at every index of the candidate range."""
        values = [0.0] * self.length
        if view == DEAD:
            return values
        rules, base, slots = self.rules[node], self._alone(node), tuple[int, ...](view)
        guarded = len(rules.guarded)
        found = self._promising(node).get(slots[:guarded], ())
        for index in found:
            values[index] = base[index]
        for judge, version in zip(rules.referring, slots[guarded:], strict=True):
            here = self.history.versions[judge.table]
            worth = judge.values({here[index] for index in found if values[index]}, version)
            for index in found:
                values[index] = values[index] and values[index] * worth[here[index]]
        if rules.root != 1:
            for index in found:
                values[index] = values[index] ** rules.root
        return values

    def marks(self, node: int, view: View) -> Sequence[IndexMark] | None:  # noqa: ARG002  # a place's mark is the same for all views
        """At every index what the nodes that refer to this one would take over."""
        if not self.followers[node]:
            return None
        if node not in self._marks:
            columns = [self._taken(follower, node) for follower in self.followers[node]]
            self._marks[node] = list(zip(*columns, strict=True))
        return self._marks[node]

    def ceiling(self, node: int) -> Sequence[float]:
        """The similarity if every guardrail held and every reference were where it suits best."""
        if node not in self._ceilings:
            rules, values = self.rules[node], self._alone(node)
            for judge in rules.referring:
                values = judge.ceilings(values, self._among(judge, rules.guarding(judge.reference)))
            self._ceilings[node] = [v and v**rules.root for v in values]
        return self._ceilings[node]

    def _among(self, judge: Judge, guarding: tuple[str, ...]) -> list[frozenset[int]]:
        """For every index the versions of a constraint's table at the places where the guardrails let its reference be.

        The same set, not only an equal one, where the guarded tables are the same.
        """
        if (judge.table, guarding) not in self._sets:
            keys = self._joint(guarding)
            found: dict[tuple[int, ...], set[int]] = {}
            for key, version in zip(keys, self.history.versions[judge.table], strict=True):
                found.setdefault(key, set()).add(version)
            sets = {key: frozenset(versions) for key, versions in found.items()}
            self._sets[judge.table, guarding] = [sets[key] for key in keys]
        return self._sets[judge.table, guarding]

    def _promising(self, node: int) -> Mapping[tuple[int, ...], Sequence[int]]:
        """The indexes at which a node could be more than 0, by the versions of its guarded tables there."""
        found = self._places.get(node)
        if found is None:
            found = self._places[node] = {}
            guarded = self._joint(self.rules[node].guarded)
            for index in compress(range(self.length), self.ceiling(node)):
                found.setdefault(guarded[index], []).append(index)
        return found

    def _joint(self, tables: tuple[str, ...]) -> list[tuple[int, ...]]:
        """At every index the versions of several tables."""
        if tables not in self._joined:
            columns = [self.history.versions[table] for table in tables]
            self._joined[tables] = list(zip(*columns, strict=True)) if columns else [()] * self.length
        return self._joined[tables]

    def _alone(self, node: int) -> list[float]:
        """At every index the product of the constraints that depend on nothing else."""
        if node not in self._base:
            rules, versions = self.rules[node], self.history.versions
            values = [1.0] * self.length
            for table in rules.guards.get(LO, ()):
                here = versions[table]
                values = [v if version == here[0] else 0.0 for v, version in zip(values, here, strict=True)]
            for judge in rules.alone:
                values = [v and v * value for v, value in zip(values, judge.along(), strict=True)]
            self._base[node] = values
        return self._base[node]

    def _taken(self, node: int, reference: int) -> list[IndexMark]:
        """At every index what ``node`` takes over if ``reference`` is there.

        ``DEAD`` where it would be 0 everywhere: a guardrail would keep it from all the indexes where it could be more,
        or nothing that it needs can be taken from the message. Messages that yield the same count as the first of them.
        """
        rules = self.rules[node]
        judges = [judge for judge in rules.referring if judge.reference == reference]
        told: list[Sequence[int | None]] = [
            j.alike() if j.kind == "trace_dependent" else self.history.versions[j.table] for j in judges
        ]
        guarded = self._joint(rules.guarding(reference))
        useful = set(compress(guarded, self.ceiling(node)))
        if not told:
            return [there if there in useful else DEAD for there in guarded]
        taken: list[tuple[int | None, ...]] = list(zip(*told, strict=True))
        return [
            (*there, *values) if there in useful and None not in values else DEAD
            for there, values in zip(guarded, taken, strict=True)
        ]


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


@dataclass(frozen=True, slots=True)
class CompatResult:
    """Result of the original evaluator on one case. Mappings: node to (message index, similarity).

    ``matrix`` has, for every node whose similarity depends on no other node's place, its similarity at each index from
    the first of the candidate range on.
    """

    milestones: Mapping[int, MatchedPlace]
    minefields: Mapping[int, MatchedPlace]
    milestone_score: float
    minefield_score: float
    score: float
    turn_count: int
    matrix: Mapping[int, Sequence[float]]


def evaluate(case: Case) -> CompatResult:
    """Grade one case as ToolSandbox does.

    Score: the mean similarity of the milestones under the best assignment, 0 if any minefield has a similarity above 0.
    Without milestones 1, without minefields 0; a graph with a cycle matches nothing and scores -1 / nodes. Where there
    are no messages nothing is met.

    Source: ToolSandbox, section 4 and its evaluation code.

    Raises:
        GraderError: a node refers to a later one, or has guardrails only.
    """
    history = History(case)
    milestones, score, nodes = _graph_score(case.milestones, history, 1.0)
    minefields, mines, _ = _graph_score(case.minefields, history, 0.0)
    matrix = {node: nodes.series(node, nodes.start(node)) for node, item in nodes.rules.items() if not item.references}
    return CompatResult(milestones, minefields, score, mines, 0.0 if mines else score, case.turn_count(), matrix)


def _graph_score(graph: Graph, history: History, empty: float) -> tuple[dict[int, MatchedPlace], float, CompatNodes]:
    members, edges = graph.order()
    nodes = CompatNodes(graph, members, edges, history)
    if not members:
        return {}, empty, nodes
    if not history.length:
        return {}, 0.0, nodes
    try:
        placed = match(nodes, members, edges)
    except CycleError:
        return {}, -1 / len(graph.nodes), nodes
    total = sum(place.similarity for place in placed.values())
    shifted = {node: MatchedPlace(place.index + history.first, place.similarity) for node, place in placed.items()}
    return shifted, total / len(graph.nodes), nodes
