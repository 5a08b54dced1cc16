"""The best assignment of milestones to the events of a log, exact, and ties broken the way ToolSandbox breaks them.

Policy: of all assignments that respect the order of the graph the one with the largest sum of similarities counts, and
no assignment is left out for speed. What makes it fast is that most indexes cannot be told apart. What views and marks
are is explained by the example in ``strict_nodes``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from sandbox_grader.milestones.node_scores import IndexMark, Track, same_marks, suffix_maxima

View = Any
"""Hashable: what a node knows of the nodes it refers to. Equal views mean equal similarities at every index."""

TIE = 1e-9
"""Sums that differ by no more are equal; single similarities are compared to nine digits."""
NOISE = 1e-12
"""What rounding may add to a sum of similarities, and far less than a tie."""


class CycleError(Exception):
    """The graph has a cycle, so that none of its nodes on it can come first."""


class Similarities(Protocol):
    """Input of the matching: nodes, and how well each fits each index, given where the nodes it refers to went."""

    @property
    def length(self) -> int:
        """The number of indexes; they count from 0."""
        ...

    def references(self, node: int) -> frozenset[int]:
        """The nodes whose place ``node``'s similarity depends on; all of them its ancestors."""
        ...

    def start(self, node: int) -> View:
        """The view of a node when nothing is assigned."""
        ...

    def absorb(self, node: int, view: View, reference: int, mark: IndexMark, similarity: float) -> View:
        """The view once ``reference``, one of the node's references, was assigned to an index.

        ``mark`` is the index's and ``similarity`` the reference's there, of which more is never worse for ``node``.
        """
        ...

    def series(self, node: int, view: View) -> Sequence[float]:
        """The similarity at every index, for a view that has absorbed all references."""
        ...

    def marks(self, node: int, view: View) -> Sequence[IndexMark] | None:
        """The mark of every index, for the same views as ``series``; None where nothing refers to the node."""
        ...

    def ceiling(self, node: int) -> Sequence[float]:
        """At every index a number that the similarity never exceeds, whatever the view."""
        ...


@dataclass(frozen=True, slots=True)
class MatchedPlace:
    """Place of a node, and its similarity there."""

    index: int
    similarity: float


def match(
    similarities: Similarities, nodes: Iterable[int], edges: Iterable[tuple[int, int]]
) -> dict[int, MatchedPlace]:
    """Assign every node an index so that the sum of similarities is largest; the order of keys is that of assignment.

    An assignment is allowed if ``index(a) <= index(b)`` for every edge ``(a, b)``: exactly then some topological order
    has non-decreasing indexes. Among the optimal ones the result is built node by node; at each step the candidates
    are the nodes whose predecessors are placed, at the last placed index or later, by similarity (descending), node and
    index, and the first from which the optimum can still be reached is taken.

    Why it is exact: nodes are decided in one fixed topological order. What the open nodes still allow depends only
    on each one's lower limit (the largest index of a placed ancestor) and its view, because similarities refer to
    ancestors only; so a state (open nodes, limits, views) has one value, computed once. Open nodes that no edge or
    reference connects add up independently. An index is skipped only if an earlier allowed one has the same mark
    and no smaller similarity: taking that one instead loosens every limit and loses nothing. A branch is cut only if
    its ceiling is no better than a value already reached, rounding apart.

    Why it is polynomial for bounded width: limits take at most T values and views as many as there are marks; a chain
    or fan-in has O(m T) states for one live view, a diamond O(m T^2), each with at most T branches. Where similarities
    and marks are constant over stretches of the log, as when little happens, T shrinks to the number of stretches.

    Source: ToolSandbox, section 4 (milestone matching); the value of a state is ours.

    Raises:
        CycleError: the edges have a cycle.
    """
    search = _Search(similarities, _topological(nodes, edges), tuple(edges))
    return search.walk()


def reached(node: int, edges: Sequence[tuple[int, int]]) -> set[int]:
    """The nodes to which edges lead from a node, directly or by way of others."""
    found, frontier = set[int](), {node}
    while frontier:
        frontier = {after for before, after in edges if before in frontier} - found
        found |= frontier
    return found


def _topological(nodes: Iterable[int], edges: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    waiting = {node: set[int]() for node in sorted(nodes)}
    for before, after in edges:
        waiting[after].add(before)
    order: list[int] = []
    while waiting:
        free = [node for node, before in waiting.items() if not before]
        if not free:
            raise CycleError(f"nodes {sorted(waiting)} wait for each other")
        for node in free:
            del waiting[node]
        for before in waiting.values():
            before.difference_update(free)
        order.extend(free)
    return tuple(order)


_Limits = tuple[int, ...]
_Views = tuple[View, ...]


class _Search:
    """One search. Positions in the topological order stand for nodes, sets of positions are bit masks."""

    def __init__(self, similarities: Similarities, order: tuple[int, ...], edges: tuple[tuple[int, int], ...]) -> None:
        self.similarities = similarities
        self.order = order
        size = len(order)
        at = {node: position for position, node in enumerate(order)}
        self.before = [0] * size
        for first, second in edges:
            self.before[at[second]] |= 1 << at[first]
        self.references = [0] * size
        self.referrers: list[list[int]] = [[] for _ in order]
        for position, node in enumerate(order):
            for reference in similarities.references(node):
                self.references[position] |= 1 << at[reference]
                self.referrers[at[reference]].append(position)
        self.followers = _followers(self.before)
        # which nodes each is joined with by an edge or a reference, in either direction
        self.linked = [first | second for first, second in zip(self.before, self.references, strict=True)]
        for position, mask in enumerate(tuple(self.linked)):
            for other in _positions(mask):
                self.linked[other] |= 1 << position
        self.tracks: dict[tuple[int, View], Track] = {}
        self.values: dict[tuple[int, _Limits, _Views], float] = {}
        self._split: dict[int, tuple[int, ...]] = {}
        self._ceilings: dict[int, Sequence[float]] = {}
        self._same_marks: dict[int, tuple[Sequence[IndexMark], Sequence[int]]] = {}

    def walk(self) -> dict[int, MatchedPlace]:
        """Build the assignment node by node."""
        open_, last, placed = (1 << len(self.order)) - 1, 0, dict[int, MatchedPlace]()
        views = tuple([self.similarities.start(node) for node in self.order])
        target = self.value(open_, (0,) * len(self.order), views)
        while open_:
            for position, index, track in self._candidates(open_, last, views):
                rest, similarity = open_ & ~(1 << position), track.series[index]
                limits, after = (index,) * len(self.order), self._absorbed(position, index, track, views)
                if similarity + self._bound(rest, limits, after) < target - TIE:
                    continue
                value = self.value(rest, limits, after)
                if similarity + value >= target - TIE:
                    break
            else:
                raise AssertionError("no candidate reaches the optimum")
            placed[self.order[position]] = MatchedPlace(index, similarity)
            open_, last, views, target = rest, index, after, value
        return placed

    def _candidates(self, open_: int, last: int, views: _Views) -> list[tuple[int, int, Track]]:
        found: list[tuple[float, int, int, int, Track]] = []
        for position in _positions(open_):
            if not self.before[position] & open_:
                track, node = self._track(position, views[position]), self.order[position]
                found += [
                    (-round(track.series[index], 9), node, index, position, track) for index in track.worthwhile(last)
                ]
        found.sort(key=lambda item: item[:3])
        return [(position, index, track) for _, _, index, position, track in found]

    def value(self, open_: int, limits: _Limits, views: _Views) -> float:
        """The largest sum that the open nodes can still reach."""
        total = 0.0
        found = self._split.get(open_)
        if found is None:
            found = self._split[open_] = self._splitting(open_)
        for part in found:
            positions = _positions(part)
            first = positions[0]
            if len(positions) == 1:
                total += self._track(first, views[first]).best[limits[first]]
                continue
            key = (part, tuple([limits[p] for p in positions]), tuple([views[p] for p in positions]))
            value = self.values.get(key)
            if value is None:
                value = self.values[key] = self._decide(part, first, limits, views)
            total += value
        return total

    def _decide(self, part: int, first: int, limits: _Limits, views: _Views) -> float:
        """The value of a part whose first node is decided here, best branches first."""
        track, rest = self._track(first, views[first]), part & ~(1 << first)
        raised = rest & self.followers[first]
        steady = self._bound(rest & ~raised, limits, views)
        hopes = [(self._hope(position, part, views), limits[position]) for position in _positions(raised)]
        branches: list[tuple[float, int]] = []
        for index in track.worthwhile(limits[first]):
            bound = steady + track.series[index]
            for best, limit in hopes:
                bound += best[max(index, limit)]
            branches.append((-bound, index))
        branches.sort()
        reached = -1.0
        for minus, index in branches:
            if -minus <= reached + NOISE:
                break
            lowest = list(limits)
            for position in _positions(self.followers[first]):
                if lowest[position] < index:
                    lowest[position] = index
            after = self._absorbed(first, index, track, views)
            reached = max(reached, track.series[index] + self.value(rest, tuple(lowest), after))
        return reached

    def _absorbed(self, position: int, index: int, track: Track, views: _Views) -> _Views:
        if not self.referrers[position]:
            return views
        absorbed, node, similarity = list(views), self.order[position], track.series[index]
        mark = track.marks[index] if track.marks else None
        for other in self.referrers[position]:
            absorbed[other] = self.similarities.absorb(self.order[other], views[other], node, mark, similarity)
        return tuple(absorbed)

    def _bound(self, open_: int, limits: _Limits, views: _Views) -> float:
        """A number that the sum of the open nodes never exceeds."""
        total = 0.0
        for position in _positions(open_):
            total += self._hope(position, open_, views)[limits[position]]
        return total

    def _hope(self, position: int, open_: int, views: _Views) -> Sequence[float]:
        """The best that an open node may still get from each index on."""
        if not self.references[position] & open_:
            track = self.tracks.get((position, views[position]))
            if track is not None:
                return track.best
        maxima = self._ceilings.get(position)
        if maxima is None:
            maxima = self._ceilings[position] = suffix_maxima(self.similarities.ceiling(self.order[position]))
        return maxima

    def _track(self, position: int, view: View) -> Track:
        track = self.tracks.get((position, view))
        if track is None:
            node = self.order[position]
            marks = self.similarities.marks(node, view)
            track = Track(self.similarities.series(node, view), marks, marks and self._alike(position, marks))
            self.tracks[position, view] = track
        return track

    def _alike(self, position: int, marks: Sequence[IndexMark]) -> Sequence[int]:
        """For every index the last earlier one that looks the same, found once where all views have these marks."""
        known = self._same_marks.get(position)
        if known is None or known[0] is not marks:
            known = self._same_marks[position] = (marks, same_marks(marks))
        return known[1]

    def _splitting(self, open_: int) -> tuple[int, ...]:
        parts: list[int] = []
        while open_:
            part, frontier = 0, open_ & -open_
            while frontier:
                part |= frontier
                reached = 0
                for position in _positions(frontier):
                    reached |= self.linked[position]
                frontier = reached & open_ & ~part
            parts.append(part)
            open_ &= ~part
        return tuple(parts)


@lru_cache(maxsize=8192)
def _positions(mask: int) -> tuple[int, ...]:
    return tuple(position for position in range(mask.bit_length()) if mask >> position & 1)


def _followers(before: Sequence[int]) -> list[int]:
    """The descendants of each position; positions are in topological order."""
    followers = [0] * len(before)
    for position in reversed(range(len(before))):
        for earlier in _positions(before[position]):
            followers[earlier] |= followers[position] | 1 << position
    return followers
