"""Logs in files: a name for each that no other has, and no more open files than the system likes.

Policy: two sessions never share a file, and one that was removed is not made again. A log has its name from its
first line on, so that a crash leaves no log without a beginning. Only the logs written to last are kept open; any other
is reopened when its session goes on, so that a thousand quiet sessions cost no file descriptors.
"""

import logging
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path

from sandbox_mcp.engine.trajectory import Event, LogWriter

logger = logging.getLogger(__name__)
OPEN_FILES = 128
"""How many logs are kept open at a time."""


class LogFile:
    """The log of one session, written through a pool. A new one gets its name together with its first line."""

    __slots__ = ("_draft", "_failed", "_pool", "path")

    def __init__(self, path: Path, pool: "LogFiles", draft: Path | None = None) -> None:
        self.path = path
        self._pool = pool
        self._draft = draft
        self._failed = False

    def write(self, event: Event) -> None:
        """Append one event.

        Raises:
            OSError: it cannot be kept; the log is as it was before.
        """
        try:
            if self._draft is None:
                self._pool.writer(self.path).write(event)
                return
            with LogWriter(self._draft, exists=True) as writer:
                writer.write(event)
            self._draft.replace(self.path)
            self._draft = None
        except OSError as error:
            if not self._failed:
                self._failed = True
                logger.error("a session is over, because its log %s cannot be written: %s", self.path, error)
            raise

    def release(self) -> None:
        """Let go of the file; writing again reopens it."""
        self._pool.release(self.path)

    def discard(self) -> None:
        """Remove the file of a session that could not begin."""
        self.release()
        with suppress(OSError):
            (self._draft or self.path).unlink(missing_ok=True)


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
        folder.mkdir(parents=True, exist_ok=True)
        while not (draft := _claimed(path := folder / (f"{name}.jsonl" if number == 1 else f"{name}-{number}.jsonl"))):
            number += 1
        self._next[wanted] = number + 1
        return LogFile(path, self, draft)

    def writer(self, path: Path) -> LogWriter:
        """The open writer of a log."""
        found = self._recent.get(path)
        if found is None:
            found = self._recent[path] = LogWriter(path, exists=True)
            if len(self._recent) > self._limit:
                self._recent.popitem(last=False)[1].close()
        self._recent.move_to_end(path)
        return found

    def release(self, path: Path) -> None:
        """Close the file of a log, if it is open."""
        found = self._recent.pop(path, None)
        if found is not None:
            found.close()


def _claimed(path: Path) -> Path | None:
    """Take a name for a log that has yet to be written: an empty file beside it; None where the name is taken."""
    draft = path.with_name(f"{path.name}.new")
    try:
        draft.open("x").close()
    except FileExistsError:
        return None
    if path.exists():  # looked at only now, because whoever has given it this name no longer holds the draft
        draft.unlink()
        return None
    return draft
