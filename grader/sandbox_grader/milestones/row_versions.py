"""The rows of a table through a session, as sets of bits: which of them a constraint can be about, version by version.

Policy: a row written is another row from then on, even if it is written with what it held. Sets cost the same
however many rows a table has, so that a log in which everything changes all the time is no slower to judge.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import attrgetter
from typing import Literal

from sandbox_mcp.engine.world.state import Change, Row, Rows

Bits = int
"""A set of rows: bit n stands for the n-th of those in question."""
RowKind = Literal["is", "adds", "removes", "updates", "unchanged"]
"""What a constraint asks of a table."""


@dataclass(frozen=True, slots=True)
class Life:
    """A row under its id, from the version of the table that it appeared in up to the first one without it."""

    key: str
    row: Row
    born: int
    died: int


def lives(start: Rows, changes: Iterable[tuple[int, Change]], versions: int) -> tuple[Life, ...]:
    """All rows that any of so many versions of a table holds: those of the start, then as they were written.

    ``changes`` are those of the table in order, each with the number of the version that it led to.
    """
    born = [(key, row, 0) for key, row in start.items()]
    died = [versions] * len(born)
    current = {key: number for number, key in enumerate(start)}
    for version, change in changes:
        if change.key in current:
            died[current.pop(change.key)] = version
        if change.after is not None:
            current[change.key] = len(born)
            born.append((change.key, change.after, version))
            died.append(versions)
    spans = zip(born, died, strict=True)
    return tuple([Life(key, row, first, last) for (key, row, first), last in spans if first < last])


class RowSets:
    """Rows that a constraint of a kind may take in a version, and with which version as its reference.

    A row counts if it is ``usable`` in the version at hand and ``eligible`` by the one at the reference; both hold a
    set of rows for each version. Usable is a row that the version holds, or for ``removes`` one whose id it does not
    hold. Eligible is for ``adds`` a row whose id the reference does not hold, for ``updates`` one whose id it holds
    with other cells, for ``removes`` one that it holds, and for ``is`` any row.
    """

    def __init__(self, kind: RowKind, chosen: Sequence[Life], every: Iterable[Life], size: int) -> None:
        everything = (1 << len(chosen)) - 1
        ids = {life.key for life in chosen}
        related = [life for life in every if life.key in ids]
        here = _at(chosen, chosen, size, attrgetter("key", "born"))
        named = _at(chosen, related, size, attrgetter("key"))
        absent = [everything & ~bits for bits in named]
        self.usable = absent if kind == "removes" else here
        if kind == "is":
            self.eligible = [everything] * size
        elif kind == "updates":
            same = _at(chosen, related, size, lambda life: (life.key, frozenset(life.row.items())))
            self.eligible = [bits & ~equal for bits, equal in zip(named, same, strict=True)]
        else:
            self.eligible = absent if kind == "adds" else here


def _at(chosen: Sequence[Life], every: Iterable[Life], size: int, aspect: Callable[[Life], Hashable]) -> list[Bits]:
    """For every version the chosen rows that share an aspect with one of the rows that it holds."""
    sharing: dict[Hashable, Bits] = {}
    for number, life in enumerate(chosen):
        name = aspect(life)
        sharing[name] = sharing.get(name, 0) | 1 << number
    turned = [0] * (size + 1)
    for life in every:
        bits = sharing.get(aspect(life), 0)
        turned[life.born] ^= bits
        turned[life.died] ^= bits
    return list(accumulate(turned[:size], int.__xor__))


def members(bits: Bits) -> Iterator[int]:
    """The numbers in a set, the smallest first."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
