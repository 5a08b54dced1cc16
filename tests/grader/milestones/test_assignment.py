"""Rows are assigned so that the product is largest, by whichever of the two ways."""

from itertools import permutations
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.milestones import assignment
from sandbox_grader.milestones.assignment import assign

from tests.each import each

VALUES = st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0])


@st.composite
def matrices(draw: st.DrawFn) -> list[list[float]]:
    rows = draw(st.integers(1, 3))
    columns = draw(st.integers(rows, 5))
    return [draw(st.lists(VALUES, min_size=columns, max_size=columns)) for _ in range(rows)]


def brute(matrix: list[list[float]]) -> float:
    options = permutations(range(len(matrix[0])), len(matrix))
    return max(prod(matrix[row][column] for row, column in enumerate(chosen)) for chosen in options) ** (
        1 / len(matrix)
    )


@given(matrices())
def test_no_assignment_is_better(matrix: list[list[float]]):
    assert assign(matrix)[0] == pytest.approx(brute(matrix))


@given(matrices())
def test_the_columns_are_different_and_give_the_mean(matrix: list[list[float]]):
    mean, columns = assign(matrix)
    if mean:
        assert len(set(columns)) == len(matrix)
        assert prod(matrix[row][column] for row, column in enumerate(columns)) ** (1 / len(matrix)) == pytest.approx(
            mean
        )
    else:
        assert columns == ()


def test_greed_is_not_enough():
    assert assign([[1.0, 0.9], [0.9, 0.1]]) == (pytest.approx(0.9), (1, 0))


def test_a_pair_of_value_0_is_no_pair():
    assert assign([[1.0, 0.0], [1.0, 0.0]]) == (0.0, ())


@each("size", [2, 8, 9, 12])
def test_many_rows_are_assigned_by_the_solver_alike(size: int):
    matrix = [[1.0 if column == (row + 3) % size else 0.5 for column in range(size)] for row in range(size)]
    assert assign(matrix) == (1.0, tuple((row + 3) % size for row in range(size)))


def test_the_solver_says_when_nothing_fits():
    assert assign([[0.0] * 9] * 9) == (0.0, ())


def test_two_rows_among_many():
    matrix = [[0.1] * 20, [0.2] * 20]
    matrix[0][7], matrix[1][7], matrix[1][3] = 0.9, 1.0, 0.8
    assert assign(matrix) == (pytest.approx((0.9 * 0.8) ** 0.5), (7, 3))


@given(matrices())
def test_both_ways_find_the_best(matrix: list[list[float]]):
    with pytest.MonkeyPatch.context() as patch:
        found = assign(matrix)[0]
        patch.setattr(assignment, "SMALL", 0)
        assert assign(matrix)[0] == pytest.approx(found)
