"""Who matches whom: the greedy walk of the authors' code and the largest matching."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sandbox_grader.papers.tooltalk.matching import (
    PlacedCall,
    Predicted,
    best_fit,
    first_fit,
    predictions,
    wanted_calls,
)

from sandbox_mcp.engine.trajectory import Message, ReferenceCall, ReferenceTurn, SessionStarted, ToolCall, assemble


def call(seq, caller="agent", **arguments):
    meta = {"turn": arguments.pop("turn")} if "turn" in arguments else {}
    return ToolCall(
        seq=seq, clock=0.0, call=f"c{seq}", batch="b", caller=caller, name="t", tool="t", arguments=arguments, meta=meta
    )


def user(seq):
    return Message(seq=seq, clock=0.0, sender="user", recipient="agent", content="?", visible_to=("user", "agent"))


def predicted(*rows):
    """One prediction per (turn, what it accepts)."""
    return [Predicted(turn, call(i, accepts=accepts)) for i, (turn, accepts) in enumerate(rows)]


def wanted(*turns):
    return [PlacedCall(turn, ReferenceCall(tool="t", arguments={"id": i})) for i, turn in enumerate(turns)]


def accepts(given, reference):
    return None if reference.arguments["id"] in given.arguments["accepts"] else "no"


class TestReading:
    def test_a_call_belongs_to_the_user_message_before_it(self):
        events = [SessionStarted(session="s", scenario="s"), user(1), call(2), user(3), call(4), call(5)]
        assert [item.turn for item in predictions(assemble(events))] == [0, 1, 1]

    def test_a_call_before_any_message_belongs_to_the_first_turn(self):
        assert [item.turn for item in predictions(assemble([SessionStarted(session="s", scenario="s"), call(1)]))] == [
            0
        ]

    def test_an_importers_note_of_the_turn_goes_first(self):
        events = [SessionStarted(session="s", scenario="s"), user(1), call(2, turn=4)]
        assert [item.turn for item in predictions(assemble(events))] == [4]

    def test_calls_of_the_simulated_user_are_not_the_agents(self):
        assert predictions(assemble([SessionStarted(session="s", scenario="s"), call(1, caller="user")])) == ()

    def test_the_wanted_calls_know_their_turn(self):
        one = ReferenceCall(tool="t", arguments={})
        solution = (ReferenceTurn(calls=(one,)), ReferenceTurn(), ReferenceTurn(calls=(one, one)))
        assert [item.turn for item in wanted_calls(solution)] == [0, 2, 2]


class TestFirstFit:
    def test_the_first_prediction_takes_the_first_call_it_matches(self):
        assert first_fit(predicted((0, [0, 1]), (0, [0])), wanted(0, 0), accepts) == {0: 0}

    def test_the_order_of_predictions_decides_not_that_of_the_reference(self):
        assert first_fit(predicted((0, [1]), (0, [0, 1])), wanted(0, 0), accepts) == {0: 1, 1: 0}

    def test_turns_do_not_matter(self):
        assert first_fit(predicted((5, [0])), wanted(0), accepts) == {0: 0}


class TestBestFit:
    def test_an_earlier_taker_moves_on_where_that_helps(self):
        matching = best_fit(predicted((0, [0, 1]), (0, [0])), wanted(0, 0), accepts, per_turn=False)
        assert matching == {0: 1, 1: 0}

    def test_turn_by_turn_only_calls_of_one_turn_match(self):
        rows = predicted((0, [0, 1]), (1, [0, 1]))
        assert best_fit(rows, wanted(1, 1), accepts, per_turn=True) == {1: 0}

    def test_a_call_matches_one_reference_call_at_most(self):
        assert best_fit(predicted((0, [0, 1])), wanted(0, 0), accepts, per_turn=False) == {0: 0}


graphs = st.integers(0, 4).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.sets(st.integers(0, max(n - 1, 0))).map(sorted), max_size=4))
)


@settings(deadline=None)
@given(graphs)
def test_no_matching_is_larger_than_the_best_fit(graph):
    n, rows = graph
    found = best_fit(predicted(*((0, row) for row in rows)), wanted(*[0] * n), accepts, per_turn=False)
    assert len(found) == _largest(rows, n)


@settings(deadline=None)
@given(graphs)
@pytest.mark.parametrize("greedy", [True, False])
def test_every_matching_is_one_to_one_and_of_calls_that_fit(greedy, graph):
    n, rows = graph
    items, references = predicted(*((0, row) for row in rows)), wanted(*[0] * n)
    found = first_fit(items, references, accepts) if greedy else best_fit(items, references, accepts, per_turn=False)
    assert len(set(found.values())) == len(found)
    assert all(j in rows[i] for i, j in found.items())


@settings(deadline=None)
@given(graphs)
def test_the_greedy_walk_finds_at_least_half_of_the_best(graph):
    n, rows = graph
    items, references = predicted(*((0, row) for row in rows)), wanted(*[0] * n)
    best = best_fit(items, references, accepts, per_turn=False)
    assert len(best) / 2 <= len(first_fit(items, references, accepts)) <= len(best)


def _largest(rows, n):
    """By trying every order in which the reference calls could be handed to the predictions."""
    size = max(n, len(rows))
    slots = [*range(n), *[None] * (size - n)]
    padded = [*rows, *[[]] * (size - len(rows))]
    return max(sum(j in row for row, j in zip(padded, order, strict=True)) for order in permutations(slots))


def test_a_thousand_calls_that_are_all_alike_are_matched():
    alike = predicted(*[(0, {0})] * 1500)
    matching = best_fit(
        alike, [PlacedCall(0, ReferenceCall(tool="t", arguments={"id": 0}))] * 1500, accepts, per_turn=False
    )
    assert len(matching) == 1500
