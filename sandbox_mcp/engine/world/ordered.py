"""Rows of a table in order, by what columns equal: what lists by the page are cut from.

Policy: a table's version never changes, so that it is sorted once for all who look at it; of a list of thousands only
the rows of the shown page are made. The versions looked at last are kept.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any, Generic, TypeVar, cast, overload

from sandbox_mcp.engine.world.state import Cell, Row, Rows

_R = TypeVar("_R")
KEPT = 256
"""How many orders of versions are kept."""


@dataclass(frozen=True, slots=True)
class OrderedRows(Sequence[_R], Generic[_R]):
    """Rows in order, each made when it is asked for."""

    cells: Sequence[Row]
    made: Callable[[Row], _R]

    def __len__(self) -> int:
        return len(self.cells)

    def __iter__(self) -> Iterator[_R]:
        return map(self.made, self.cells)

    @overload
    def __getitem__(self, index: int) -> _R: ...
    @overload
    def __getitem__(self, index: slice) -> list[_R]: ...
    def __getitem__(self, index: int | slice) -> _R | list[_R]:
        if isinstance(index, slice):
            return [self.made(cells) for cells in self.cells[index]]
        return self.made(self.cells[index])


def in_order(rows: Rows, by: tuple[str, ...], equal: Mapping[str, Cell], *, kept: bool) -> Sequence[Row]:
    """The rows in which columns equal these cells, sorted by columns, else as they came; ``kept`` for a version.

    Raises:
        TypeError: a cell is compared that cannot be: null with a text.
    """
    groups = (_grouped if kept else _grouped.__wrapped__)(_Version(rows), by, tuple(equal))
    return groups.get(tuple(equal.values()), ())


class _Version:
    """A version of a table, known by itself and not by its rows."""

    __slots__ = ("rows",)

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def __hash__(self) -> int:
        return id(self.rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Version) and other.rows is self.rows


@lru_cache(maxsize=KEPT)
def _grouped(version: _Version, by: tuple[str, ...], names: tuple[str, ...]) -> Mapping[tuple[Cell, ...], list[Row]]:
    rows = list(version.rows.values())
    if by:
        rows.sort(key=cast("Callable[[Row], Any]", itemgetter(*by)))
    groups: dict[tuple[Cell, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple([row[name] for name in names]), []).append(row)
    return groups
