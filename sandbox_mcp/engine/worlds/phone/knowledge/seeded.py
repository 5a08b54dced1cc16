"""Numbers that look random and follow from their key alone.

Policy: SHA-256 of the key's parts, never Python's ``hash`` or ``random``, so that every machine and version agrees.
Noise over time or over the globe has mean 0 and variance 1 at every point, and is continuous.
"""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from math import cos, floor, pi, sqrt
from statistics import NormalDist
from typing import TypeVar

T = TypeVar("T")
_STANDARD = NormalDist()


def integer(*key: str | int) -> int:
    """A 64-bit integer that depends on ``key`` only."""
    return int.from_bytes(sha256("\x1f".join(map(str, key)).encode()).digest()[:8], "big")


def fraction(*key: str | int) -> float:
    """A number strictly between 0 and 1, evenly spread over keys."""
    return ((integer(*key) >> 12) + 0.5) / 2**52


def choice(options: Sequence[T], *key: str | int) -> T:
    """One of ``options``."""
    return options[integer(*key) % len(options)]


@lru_cache(maxsize=65536)
def gaussian(*key: str | int) -> float:
    """A draw of the standard normal distribution."""
    return _STANDARD.inv_cdf(fraction(*key))


def smooth(position: float, *key: str | int) -> float:
    """Continuous noise along one axis with one independent knot at each integer position."""
    left = floor(position)
    share = _ease(position - left)
    value = (1 - share) * gaussian(*key, left) + share * gaussian(*key, left + 1)
    return value / sqrt((1 - share) ** 2 + share**2)


def field(latitude: float, longitude: float, time: float, degrees: float, *key: str | int) -> float:
    """Continuous noise over the globe and time; places further apart than ``degrees`` are independent.

    The grid wraps around at the date line, so ``degrees`` must divide 360.
    """
    row, column, columns = floor(latitude / degrees), floor(longitude / degrees), round(360 / degrees)
    north, east = _ease(latitude / degrees - row), _ease(longitude / degrees - column)
    weights = {
        (0, 0): (1 - north) * (1 - east),
        (0, 1): (1 - north) * east,
        (1, 0): north * (1 - east),
        (1, 1): north * east,
    }
    total = sum(w * smooth(time, *key, row + i, (column + j) % columns) for (i, j), w in weights.items())
    return total / sqrt(sum(w * w for w in weights.values()))


def _ease(share: float) -> float:
    return (1 - cos(pi * share)) / 2
