"""The matcher against brute force, and its promises one by one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sandbox_grader.milestones.matching import CycleError, MatchedPlace, match

from tests.each import each
from tests.laws import at_least

Edges = tuple[tuple[int, int], ...]


@dataclass
class Tables:
    """Similarities written out: ``plain[node][index]``, times a factor per reference that depends on its mark."""

    plain: Sequence[Sequence[float]]
    refs: Mapping[int, frozenset[int]] = field(default_factory=dict)
    marked: Sequence[Sequence[int]] = ()
    factors: Mapping[tuple[int, int, int, int], float] = field(default_factory=dict)
    ceilings: Sequence[Sequence[float]] | None = None

    @property
    def length(self) -> int:
        return len(self.plain[0])

    def references(self, node: int) -> frozenset[int]:
        return self.refs.get(node, frozenset())

    def start(self, node: int) -> Any:
        return ()

    def absorb(self, node: int, view: Any, reference: int, mark: Any, similarity: float) -> Any:
        return tuple(sorted((*view, (reference, mark))))

    def series(self, node: int, view: Any) -> list[float]:
        return [self.at(node, index, dict(view)) for index in range(self.length)]

    def marks(self, node: int, view: Any) -> list[int] | None:
        return list(self.marked[node]) if self.marked else None

    def ceiling(self, node: int) -> list[float]:
        return list(self.ceilings[node]) if self.ceilings else list(self.plain[node])

    def at(self, node: int, index: int, marks: Mapping[int, int]) -> float:
        value = self.plain[node][index]
        for reference, mark in marks.items():
            value *= self.factors.get((node, index, reference, mark), 1.0)
        return value

    def placed_at(self, node: int, index: int, placed: Mapping[int, int]) -> float:
        return self.at(node, index, {ref: self.marked[ref][placed[ref]] for ref in self.references(node)})


def brute(tables: Tables, nodes: Sequence[int], edges: Edges) -> tuple[float, dict[int, MatchedPlace]]:
    """The rule as it is stated: candidates by similarity, node and index; a later one wins only if strictly better."""

    def best(placed: dict[int, int], last: int) -> tuple[float, dict[int, MatchedPlace]]:
        if len(placed) == len(nodes):
            return 0.0, {}
        free = [
            node
            for node in nodes
            if node not in placed and all(before in placed for before, after in edges if after == node)
        ]
        candidates = sorted(
            (-tables.placed_at(node, index, placed), node, index)
            for node in free
            for index in range(last, tables.length)
        )
        top: tuple[float, dict[int, MatchedPlace]] | None = None
        for minus, node, index in candidates:
            total, rest = best({**placed, node: index}, index)
            if top is None or total - minus > top[0] + 1e-9:
                top = (total - minus, {node: MatchedPlace(index, -minus), **rest})
        assert top is not None
        return top

    return best({}, 0)


VALUES = st.sampled_from([0.0, 0.0, 0.25, 0.5, 1.0])


@st.composite
def problems(draw: Any) -> tuple[Tables, list[int], Edges]:
    count, length = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    pairs = [(first, second) for second in range(count) for first in range(second)]
    edges = tuple(draw(st.lists(st.sampled_from(pairs), unique=True))) if pairs else ()
    plain = [draw(st.lists(VALUES, min_size=length, max_size=length)) for _ in range(count)]
    marked = [draw(st.lists(st.integers(0, 2), min_size=length, max_size=length)) for _ in range(count)]
    before = {node: ancestors(node, edges) for node in range(count)}
    refs = {node: frozenset(draw(st.sets(st.sampled_from(sorted(found))))) for node, found in before.items() if found}
    keys = [(n, i, r, m) for n, found in refs.items() for r in sorted(found) for i in range(length) for m in range(3)]
    factors = {key: draw(st.sampled_from([0.0, 0.5, 1.0])) for key in keys}
    names = draw(st.permutations(range(count)))  # numbers need not be in topological order
    return renamed(Tables(plain, refs, marked, factors), edges, names)


def renamed(tables: Tables, edges: Edges, names: Sequence[int]) -> tuple[Tables, list[int], Edges]:
    back = {name: node for node, name in enumerate(names)}
    order = range(len(names))
    return (
        Tables(
            [tables.plain[back[name]] for name in order],
            {names[node]: frozenset(names[ref] for ref in found) for node, found in tables.refs.items()},
            [tables.marked[back[name]] for name in order],
            {(names[n], i, names[r], m): value for (n, i, r, m), value in tables.factors.items()},
        ),
        list(order),
        tuple((names[first], names[second]) for first, second in edges),
    )


def ancestors(node: int, edges: Edges) -> set[int]:
    direct = {before for before, after in edges if after == node}
    return direct.union(*(ancestors(before, edges) for before in direct)) if direct else set()


@settings(max_examples=at_least(100), deadline=None)
@given(problems())
def test_finds_what_brute_force_finds_ties_included(problem: tuple[Tables, list[int], Edges]):
    tables, nodes, edges = problem
    total, expected = brute(tables, nodes, edges)
    found = match(tables, nodes, edges)
    assert found == expected
    assert sum(place.similarity for place in found.values()) == pytest.approx(total, abs=1e-9)


class Guessing(Tables):
    """Until a reference is placed a view looks as if it had mark 0, which places have as well."""

    def start(self, node: int) -> Any:
        return tuple((reference, 0) for reference in sorted(self.references(node)))

    def absorb(self, node: int, view: Any, reference: int, mark: Any, similarity: float) -> Any:
        return tuple(sorted({**dict(view), reference: mark}.items()))


def test_a_view_that_may_still_change_is_not_taken_for_the_last_word():
    """With mark 0 each node spoils the next one, and that was seen before the others with mark 1 are tried."""
    spoiled = {(1, index, 0, 0): 0.5 for index in range(3)} | {(2, index, 1, 0): 0.0 for index in range(3)}
    refs = {1: frozenset({0}), 2: frozenset({1})}
    chain = Guessing([[1.0, 1.0, 0.0], [1.0] * 3, [1.0] * 3], refs, [[0, 1, 1], [0, 0, 1], [0] * 3], spoiled)
    assert [place.similarity for place in match(chain, range(3), ((0, 1), (1, 2))).values()] == [1.0, 1.0, 1.0]


@settings(max_examples=at_least(40), deadline=None)
@given(problems())
def test_ceilings_change_nothing(problem: tuple[Tables, list[int], Edges]):
    tables, nodes, edges = problem
    loose = Tables(tables.plain, tables.refs, tables.marked, tables.factors, [[1.0] * tables.length] * len(nodes))
    assert match(loose, nodes, edges) == match(tables, nodes, edges)


@settings(max_examples=at_least(40), deadline=None)
@given(problems())
def test_order_is_respected(problem: tuple[Tables, list[int], Edges]):
    tables, nodes, edges = problem
    placed = match(tables, nodes, edges)
    assert all(placed[before].index <= placed[after].index for before, after in edges)
    indexes = [place.index for place in placed.values()]
    assert indexes == sorted(indexes)


def test_a_high_similarity_now_is_preferred_to_a_lower_one_now_and_a_higher_one_later():
    chain = Tables([[0.5, 1.0], [0.5, 1.0]])
    assert match(chain, [0, 1], ((0, 1),)) == {0: MatchedPlace(1, 1.0), 1: MatchedPlace(1, 1.0)}


def test_several_nodes_may_share_an_index():
    assert match(Tables([[0, 1], [0, 1]]), [0, 1], ((0, 1),)) == {0: MatchedPlace(1, 1), 1: MatchedPlace(1, 1)}


def test_of_equal_indexes_the_first_is_taken():
    assert match(Tables([[0, 1, 1]]), [0], ()) == {0: MatchedPlace(1, 1)}


def test_of_equal_nodes_the_one_with_the_smaller_number_comes_first():
    assert list(match(Tables([[1.0], [1.0], [1.0]]), [2, 1, 0], ())) == [0, 1, 2]


def test_sums_that_differ_by_noise_are_ties():
    noisy = Tables([[0.3, 0.3 + 1e-12], [0.0, 0.0]])
    assert match(noisy, [0, 1], ((0, 1),))[0].index == 0


def test_without_nodes_nothing_is_placed():
    assert match(Tables([[1.0]]), [], ()) == {}


@each("edges", [((0, 0),), ((0, 1), (1, 0)), ((0, 1), (1, 2), (2, 1))])
def test_a_circle_is_an_error(edges: Edges):
    with pytest.raises(CycleError, match="wait for each other"):
        match(Tables([[1.0]] * 3), sorted({node for edge in edges for node in edge}), edges)


@each("shape", ["chain", "fan_in", "fan_out", "diamond"])
def test_a_long_log_in_which_nothing_happens_needs_few_looks(shape: str):
    count = 12
    edges = {
        "chain": tuple((n, n + 1) for n in range(count - 1)),
        "fan_in": tuple((n, count - 1) for n in range(count - 1)),
        "fan_out": tuple((0, n) for n in range(1, count)),
        "diamond": tuple(edge for n in range(1, count - 1) for edge in ((0, n), (n, count - 1))),
    }[shape]
    looks = Counting([[0.0] * 300] * count)
    match(looks, range(count), edges)
    assert looks.asked <= 2 * count


class Counting(Tables):
    """Counts how often a whole series is asked for; every other access is to what was answered then."""

    asked = 0

    def series(self, node: int, view: Any) -> list[float]:
        self.asked += 1
        return super().series(node, view)


@settings(max_examples=at_least(20), deadline=None)
@given(st.lists(st.lists(VALUES, min_size=6, max_size=6), min_size=5, max_size=5))
def test_independent_nodes_each_get_their_own_maximum(plain: list[list[float]]):
    placed = match(Tables(plain), range(5), ())
    # the order of assignment forces indexes to rise, but every order is open to nodes that nothing connects
    assert sum(place.similarity for place in placed.values()) == sum(map(max, plain))


def test_every_assignment_of_a_small_diamond_was_considered():
    plain = [[0.2, 0.9, 0.1], [0.8, 0.3, 0.7], [0.1, 0.6, 0.9], [0.5, 0.2, 0.4]]
    edges = ((0, 1), (0, 2), (1, 3), (2, 3))
    totals = [
        sum(plain[node][index] for node, index in enumerate(chosen))
        for chosen in product(range(3), repeat=4)
        if all(chosen[before] <= chosen[after] for before, after in edges)
    ]
    placed = match(Tables(plain), range(4), edges)
    assert sum(place.similarity for place in placed.values()) == pytest.approx(max(totals))


SHAPES: dict[str, Edges] = {
    "chain": ((0, 1), (1, 2), (2, 3)),
    "fan_in": ((0, 3), (1, 3), (2, 3)),
    "fan_out": ((0, 1), (0, 2), (0, 3)),
    "diamond": ((0, 1), (0, 2), (1, 3), (2, 3)),
    "two_parts": ((0, 1), (2, 3)),
}


@pytest.mark.parametrize("shape", list(SHAPES))
class TestShapes:
    """What the agent did in the right order is found whatever the graph; what it missed costs only itself."""

    def placed(self, shape: str, *deeds: int | None) -> dict[int, MatchedPlace]:
        """Four nodes, each met exactly at the index it was done at."""
        plain = [[float(index == done) for index in range(8)] for done in deeds]
        return match(Tables(plain), range(4), SHAPES[shape])

    def test_all_done(self, shape: str):
        assert {n: place.index for n, place in self.placed(shape, 1, 2, 3, 4).items()} == {0: 1, 1: 2, 2: 3, 3: 4}

    def test_nothing_done(self, shape: str):
        assert set(self.placed(shape, None, None, None, None).values()) == {MatchedPlace(0, 0.0)}

    def test_the_first_missed(self, shape: str):
        placed = self.placed(shape, None, 2, 3, 4)
        assert [placed[node].similarity for node in range(4)] == [0, 1, 1, 1]

    def test_the_last_missed(self, shape: str):
        placed = self.placed(shape, 1, 2, 3, None)
        assert [placed[node].similarity for node in range(4)] == [1, 1, 1, 0]
        assert placed[3].index >= max(placed[before].index for before, after in SHAPES[shape] if after == 3)

    def test_all_at_once(self, shape: str):
        assert set(self.placed(shape, 5, 5, 5, 5).values()) == {MatchedPlace(5, 1.0)}

    def test_backwards(self, shape: str):
        """Only nodes that no path connects can all be met when the order is turned round."""
        met = sum(place.similarity for place in self.placed(shape, 6, 5, 4, 3).values())
        assert met == {"chain": 1, "fan_in": 3, "fan_out": 3, "diamond": 2, "two_parts": 2}[shape]
