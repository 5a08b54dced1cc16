"""Several processes that look after the sessions of one server, and what they know of each other.

Policy: every session belongs to one of them, which follows from its token or, where the lobby began it, from its
seat, so that no process asks another. How many each has open is counted in shared memory, where a process writes its
own figures only. So a limit on all of them needs no lock, which a process could die holding.
"""

import mmap
from dataclasses import dataclass
from zlib import crc32

OPEN, OVER = 0, 1


class Tallies:
    """Numbers of open and of ended sessions in each of ``count`` processes."""

    def __init__(self, count: int) -> None:
        self._figures = memoryview(mmap.mmap(-1, 16 * count)).cast("q")
        self.count = count

    def set(self, index: int, what: int, figure: int) -> None:
        """Write one of this process's figures, where the others can read it."""
        self._figures[2 * index + what] = figure

    def of_each(self, what: int) -> list[int]:
        """A figure of all processes."""
        return self._figures[what::2].tolist()


@dataclass(frozen=True, slots=True)
class Share:
    """Sessions that one process looks after: those that fall to ``index``."""

    index: int
    tallies: Tallies

    def owner(self, key: str) -> int:
        """Process that looks after the session of a token, or a seat."""
        return crc32(key.encode()) % self.tallies.count

    def owns(self, key: str) -> bool:
        """True if this process looks after the session of a token, or after a seat."""
        return self.owner(key) == self.index
