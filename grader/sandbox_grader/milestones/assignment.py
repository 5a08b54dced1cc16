"""Assignment of rows of the state to expected rows: one to one, with the largest product.

Policy: a pair of value 0 is not a pair; where no complete assignment is left, the rows do not match at all.
"""

from collections.abc import Sequence
from importlib import import_module
from math import comb, inf, log

SMALL = 2048
"""Up to so many steps a search over subsets is used, a millisecond of them: loading the solver takes half a second."""


def assign(values: Sequence[Sequence[float]]) -> tuple[float, tuple[int, ...]]:
    """The best assignment of the rows of a matrix to different columns, with the geometric mean of its values.

    Values are from 0 to 1; there are at least as many columns as rows. Returns the mean and, for each row, the column
    it got; ``(0.0, ())`` if every assignment needs a pair of value 0.
    """
    size = len(values)
    if size == 1:
        best = max(values[0])
        return (best, (values[0].index(best),)) if best > 0 else (0.0, ())
    width = len(values[0])
    steps = width * sum(comb(width, taken) for taken in range(size))
    if steps <= SMALL:
        columns = _by_subsets(values)
    else:
        costs = [[-log(value) if value > 0 else inf for value in row] for row in values]
        try:
            columns = tuple(map(int, import_module("scipy.optimize").linear_sum_assignment(costs)[1]))
        except ValueError:  # every complete assignment has an infinite cost
            columns = ()
    product = 1.0
    for row, column in enumerate(columns):
        product *= values[row][column]
    return (product ** (1 / size), columns) if columns and product > 0 else (0.0, ())


def _by_subsets(values: Sequence[Sequence[float]]) -> tuple[int, ...]:
    """Row by row, the best product for every set of columns used so far."""
    reached: dict[int, tuple[float, tuple[int, ...]]] = {0: (1.0, ())}
    for row in values:
        following: dict[int, tuple[float, tuple[int, ...]]] = {}
        for used, (product, columns) in reached.items():
            for column, value in enumerate(row):
                if value > 0 and not used >> column & 1:
                    key, total = used | 1 << column, product * value
                    if key not in following or total > following[key][0]:
                        following[key] = (total, (*columns, column))
        reached = following
    return max(reached.values(), key=lambda item: item[0])[1] if reached else ()
