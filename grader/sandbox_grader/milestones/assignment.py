"""Assignment of rows of the state to expected rows: one to one, with the largest product.

Policy: a pair of value 0 is not a pair; where no complete assignment is left, the rows do not match at all.
"""

from collections.abc import Sequence
from math import comb, inf, log

SMALL = 2048
"""Up to so many steps a search over subsets is used, a millisecond of them; its products are exact."""
FREE = -1
"""The row of a column that no row has yet."""


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
        columns = _by_costs([[-log(value) if value > 0 else inf for value in row] for row in values])
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


def _by_costs(costs: Sequence[Sequence[float]]) -> tuple[int, ...]:
    """The column of each row in an assignment of least cost; empty if each one has an infinite cost.

    Rows are added one by one, each along a shortest path of columns that are free or can be freed; potentials of rows
    and columns keep the reduced costs from falling below 0. At most rows squared times columns steps.

    Source: Jonker and Volgenant, A shortest augmenting path algorithm for dense and sparse linear assignment problems.
    """
    width = len(costs[0])
    of_rows, of_columns = [0.0] * len(costs), [0.0] * width
    owner = [FREE] * width
    for added in range(len(costs)):
        reach, before = [inf] * width, [-1] * width  # the shortest path to each column, and the column before it
        done: list[int] = []
        left = set(range(width))
        row, last, length = added, -1, 0.0
        while True:
            for column in left:
                reduced = length + costs[row][column] - of_rows[row] - of_columns[column]
                if reduced < reach[column]:
                    reach[column], before[column] = reduced, last
            last = min(left, key=reach.__getitem__, default=-1)
            if last < 0 or reach[last] == inf:
                return ()
            length = reach[last]
            left.remove(last)
            taken = owner[last]
            if taken == FREE:
                break
            done.append(last)
            row = taken
        of_rows[added] += length
        for column in done:
            of_rows[owner[column]] += length - reach[column]
            of_columns[column] -= length - reach[column]
        while last >= 0:  # every column on the path goes to the row of the one before it
            previous = before[last]
            owner[last] = added if previous < 0 else owner[previous]
            last = previous
    places = {row: column for column, row in enumerate(owner) if row != FREE}
    return tuple(places[row] for row in range(len(costs)))
