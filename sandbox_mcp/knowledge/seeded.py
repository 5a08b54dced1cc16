"""Numbers that look random and follow from their key alone.

Policy: SHA-256 of the key's parts, never Python's ``hash`` or ``random``, so that every machine and version agrees.
"""

from collections.abc import Sequence
from hashlib import sha256
from statistics import NormalDist

_STANDARD = NormalDist()


def integer(*key: str | int) -> int:
    """A 64-bit integer that depends on ``key`` only."""
    return int.from_bytes(sha256("\x1f".join(map(str, key)).encode()).digest()[:8], "big")


def fraction(*key: str | int) -> float:
    """A number in [0, 1), evenly spread over keys."""
    return (integer(*key) >> 11) / 2**53


def choice[T](options: Sequence[T], *key: str | int) -> T:
    """One of ``options``."""
    return options[integer(*key) % len(options)]
