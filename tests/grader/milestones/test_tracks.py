"""Which indexes are worth a look, against the rule itself."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.milestones.node_scores import Track, same_marks, suffix_maxima

INDEXES = st.lists(st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.integers(0, 2)), min_size=1, max_size=12)


def test_the_last_earlier_index_with_the_same_mark():
    assert same_marks(["a", "b", "a", "a", "b"]) == [-1, -1, 0, 2, 1]


def test_the_best_from_each_index_on():
    assert suffix_maxima([0.5, 0.0, 1.0, 0.25, 0.0]) == [1.0, 1.0, 1.0, 0.25, 0.0]


@given(INDEXES, st.data())
def test_an_index_is_left_out_if_one_before_it_is_as_good_and_looks_the_same(given_: list[Any], data: Any):
    series, marks = [value for value, _ in given_], [mark for _, mark in given_]
    low = data.draw(st.integers(0, len(series) - 1))
    needed = {
        index
        for index in range(low, len(series))
        if not any(marks[i] == marks[index] and series[i] >= series[index] for i in range(low, index))
    }
    assert set(Track(series, marks).worthwhile(low)) == needed


def test_where_nobody_looks_only_what_is_better_than_before_is_worth_it():
    rising = Track([0.0, 0.5, 0.25, 0.5, 1.0], None)
    assert list(rising.worthwhile(0)) == [0, 1, 4]
    assert list(rising.worthwhile(2)) == [2, 3, 4]
