"""The ratios of ToolTalk and what happens where a denominator is nought."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sandbox_grader.papers.tooltalk.counts import NAMES, RATIOS, Counts, total


@st.composite
def consistent(draw):
    """Counts that a session can have."""
    matches = draw(st.integers(0, 5))
    valid = draw(st.integers(0, matches))
    bad, failed, queries, missing = (draw(st.integers(0, 5)) for _ in range(4))
    return Counts(
        predictions=matches + bad + failed + queries,
        ground_truths=matches + missing,
        matches=matches,
        actions=valid + bad + failed,
        valid_actions=valid,
        bad_actions=bad,
    )


def test_an_example():
    counts = Counts(predictions=4, ground_truths=5, matches=2, actions=3, valid_actions=1, bad_actions=1)
    assert [getattr(counts, name) for name in RATIOS] == pytest.approx([2 / 4, 2 / 5, 1 / 3, 1 / 3, 2 / 5 * 2 / 3])
    assert counts.success is False


def test_nothing_done_of_something_wanted():
    counts = Counts(ground_truths=2)
    assert [getattr(counts, name) for name in RATIOS] == [0.0, 0.0, 1.0, 0.0, 0.0]
    assert counts.success is False


def test_nothing_wanted_and_nothing_done_is_a_success():
    assert (Counts().recall, Counts().precision, Counts().success) == (1.0, 1.0, True)


def test_nothing_wanted_but_an_action_done_is_none():
    counts = Counts(predictions=1, actions=1, bad_actions=1)
    assert (counts.recall, counts.success, counts.soft_success) == (1.0, False, 0.0)


def test_a_failed_action_stays_in_the_denominator():
    assert Counts(predictions=2, actions=2, bad_actions=1).incorrect_action_rate == 0.5


@settings(deadline=None)
@given(consistent())
def test_every_ratio_is_between_0_and_1(counts):
    assert all(0.0 <= getattr(counts, name) <= 1.0 for name in RATIOS)


@settings(deadline=None)
@given(consistent())
def test_success_means_a_soft_success_of_one(counts):
    assert counts.success == (counts.soft_success == 1.0)


@settings(deadline=None)
@given(st.lists(consistent(), max_size=5))
def test_a_total_is_the_sum_of_every_count(sessions):
    rows = [{name: getattr(item, name) for name in NAMES} for item in sessions]
    summed = total(rows)
    assert all(getattr(summed, name) == sum(getattr(item, name) for item in sessions) for name in NAMES)
