"""Student's t and the sign test against scipy, and assignments of many rows against its solver."""

import math
import random

import pytest
from sandbox_grader.milestones.assignment import assign
from sandbox_grader.reporting.student import sign_test, t_quantile, t_share

from tests.each import each

DEGREES = [1, 2, 3, 4, 5, 9, 10, 29, 30, 99, 680, 5000]


@each("freedom", DEGREES)
def test_the_distribution_is_that_of_scipy(freedom: int) -> None:
    stats = pytest.importorskip("scipy.stats", exc_type=ImportError)
    for share in (0.5, 0.6, 0.8, 0.9, 0.975, 0.995, 0.2, 0.025):
        assert t_quantile(share, freedom) == pytest.approx(float(stats.t.ppf(share, freedom)), rel=1e-11, abs=1e-12)
    for t in (0.0, 0.3, 1.0, 2.5, 12.7, 400.0):
        assert t_share(t, freedom) == pytest.approx(float(2 * stats.t.cdf(t, freedom) - 1), abs=1e-13)


def test_the_sign_test_is_that_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats", exc_type=ImportError)
    for one, other in [(0, 0), (1, 0), (3, 1), (4, 4), (7, 30), (250, 199), (1000, 1201)]:
        expected = float(stats.binomtest(one, one + other, 0.5).pvalue) if one + other else 1.0
        assert sign_test(one, other) == sign_test(other, one) == pytest.approx(expected, rel=1e-9)


def test_many_rows_are_assigned_as_well_as_by_scipys_solver() -> None:
    solver = pytest.importorskip("scipy.optimize", exc_type=ImportError).linear_sum_assignment
    chance = random.Random(5)
    for size, more, zeros in [(12, 0, 0.0), (12, 3, 0.3), (20, 1, 0.6), (15, 0, 0.9), (30, 10, 0.8)]:
        for _ in range(4):
            values = [[_share(chance, zeros) for _ in range(size + more)] for _ in range(size)]
            costs = [[-math.log(value) if value > 0 else math.inf for value in row] for row in values]
            try:
                rows, columns = solver(costs)
                best = math.exp(-sum(costs[row][column] for row, column in zip(rows, columns, strict=True)) / size)
            except ValueError:
                best = 0.0
            mean, chosen = assign(values)
            assert mean == pytest.approx(best, rel=1e-12)
            assert len(set(chosen)) == (size if best else 0)


def _share(chance: random.Random, zeros: float) -> float:
    return 0.0 if chance.random() < zeros else chance.choice((0.25, 0.5, chance.random()))
