"""Why a turn failed, as the authors' code counts it and as the paper describes it."""

from hypothesis import given, settings
from hypothesis import strategies as st
from sandbox_grader.papers.tooltalk.counts import CLASSES, TurnLeftovers, as_coded, as_written

from tests.each import each


def turn(asks=True, unmatched="", incorrect="", missing=""):
    """A turn from words: ``unmatched="Send Send"`` are two unmatched calls of Send."""
    return TurnLeftovers(asks, tuple(unmatched.split()), tuple(incorrect.split()), tuple(missing.split()))


def coded(*turns):
    return {name: count for name, count in as_coded(turns).items() if count}


class TestAsCoded:
    def test_where_nothing_is_asked_every_incorrect_action_is_premature(self):
        assert coded(turn(asks=False, unmatched="Send Send Look", incorrect="Send Send")) == {"premature": 2}

    def test_a_wrongly_made_call_is_an_incorrect_invocation(self):
        assert coded(turn(unmatched="Send", incorrect="Send", missing="Send")) == {"incorrect_invocation": 1}

    def test_an_omitted_call_is_faulty_planning(self):
        assert coded(turn(missing="Send")) == {"faulty_planning": 1}

    def test_an_additional_tool_is_faulty_planning(self):
        assert coded(turn(unmatched="Send Look", missing="Send")) == {"faulty_planning": 1}

    def test_a_tool_called_too_seldom_still_is_an_incorrect_invocation(self):
        assert coded(turn(unmatched="Send", missing="Send Send")) == {"incorrect_invocation": 1}

    def test_a_tool_called_too_often_is_faulty_planning(self):
        assert coded(turn(unmatched="Send Send", missing="Send")) == {"faulty_planning": 1}

    def test_even_a_harmless_query_too_many_is_faulty_planning(self):
        assert coded(turn(unmatched="Look")) == {"faulty_planning": 1}

    def test_a_turn_with_nothing_left_over_did_not_fail(self):
        assert coded(turn(), turn(asks=False, unmatched="Look")) == {}

    def test_turns_add_up(self):
        assert coded(turn(missing="A"), turn(missing="A"), turn(unmatched="A", missing="A")) == {
            "faulty_planning": 2,
            "incorrect_invocation": 1,
        }


class TestAsWritten:
    @each(
        ("given_turn", "expected"),
        [
            (turn(), None),
            (turn(unmatched="Look"), None),
            (turn(asks=False, unmatched="Look"), None),
            (turn(asks=False, unmatched="Send Send", incorrect="Send Send"), "premature"),
            (turn(missing="Send"), "faulty_planning"),
            (turn(unmatched="Send", missing="Send Send"), "faulty_planning"),
            (turn(unmatched="Send Drop", incorrect="Drop", missing="Send"), "faulty_planning"),
            (turn(unmatched="Send", incorrect="Send"), "faulty_planning"),
            (turn(unmatched="Send", incorrect="Send", missing="Send"), "incorrect_invocation"),
            (turn(unmatched="Send Send", incorrect="Send", missing="Send"), "incorrect_invocation"),
            (turn(unmatched="Look Send", missing="Send"), "incorrect_invocation"),
        ],
    )
    def test_the_class_of_a_turn(self, given_turn, expected):
        assert as_written(given_turn) == expected


names = st.lists(st.sampled_from(["A", "B"]), max_size=3).map(tuple)


@st.composite
def turns(draw):
    unmatched, missing = draw(names), draw(names)
    incorrect = tuple(name for name in unmatched if draw(st.booleans()))
    return TurnLeftovers(bool(missing) or draw(st.booleans()), unmatched, incorrect, missing)


@settings(deadline=None)
@given(turns())
def test_a_turn_fails_in_one_way_or_not_at_all(item):
    assert as_written(item) in {None, *CLASSES}
    assert (as_written(item) is None) == (not item.incorrect and not item.missing)


@settings(deadline=None)
@given(turns())
def test_the_code_sees_a_failure_wherever_the_paper_does(item):
    assert as_written(item) is None or sum(as_coded([item]).values())
