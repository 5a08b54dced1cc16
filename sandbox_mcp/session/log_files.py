"""Logs in files: a name for each that no other has, and no more open files than the system likes.

Policy: two sessions never share a file. Only the logs written to last are kept open; any other is reopened when its
session goes on, so that a thousand quiet sessions cost no file descriptors.
"""

from collections import OrderedDict
from pathlib import Path

from sandbox_mcp.trajectory import Event, LogWriter

OPEN_FILES = 128
"""How many logs are kept open at a time."""


class LogFile:
    """The log of one session, written through a pool."""

    __slots__ = ("_pool", "path")

    def __init__(self, path: Path, pool: "LogFiles") -> None:
        self.path = path
        self._pool = pool

    def write(self, event: Event) -> None:
        """Append one event."""
        self._pool.writer(self.path).write(event)

    def release(self) -> None:
        """Let go of the file; writing again reopens it."""
        self._pool.release(self.path)


class LogFiles:
    """Keeps the files of the logs that were written to last."""

    def __init__(self, limit: int = OPEN_FILES) -> None:
        self._limit = limit
        self._recent: OrderedDict[Path, LogWriter] = OrderedDict()
        self._next: dict[Path, int] = {}

    def new(self, folder: Path, name: str) -> LogFile:
        """A log of that name in a folder, with a number behind the name where the name is taken.

        Raises:
            OSError: it cannot be made.
        """
        wanted = folder / name
        number = self._next.get(wanted, 1)
        if number == 1:
            folder.mkdir(parents=True, exist_ok=True)
        while not _claimed(path := folder / (f"{name}.jsonl" if number == 1 else f"{name}-{number}.jsonl")):
            number += 1
        self._next[wanted] = number + 1
        return LogFile(path, self)

    def writer(self, path: Path) -> LogWriter:
        """The open writer of a log."""
        found = self._recent.get(path)
        if found is None:
            found = self._recent[path] = LogWriter(path)
            if len(self._recent) > self._limit:
                self._recent.popitem(last=False)[1].close()
        self._recent.move_to_end(path)
        return found

    def release(self, path: Path) -> None:
        """Close the file of a log, if it is open."""
        found = self._recent.pop(path, None)
        if found is not None:
            found.close()


def _claimed(path: Path) -> bool:
    """Create a file, unless there is one already."""
    try:
        path.open("x").close()
    except FileExistsError:
        return False
    return True
