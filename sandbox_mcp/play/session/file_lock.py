"""A lock between processes, on a file of its own: flock where there is one, a locked byte on Windows."""

import errno
import math
import os
import sys
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio

NO_LINK: int = getattr(os, "O_NOFOLLOW", 0)
"""Opens no link, where the system can tell."""
INTERVAL = 0.005
"""Seconds between two attempts to get a lock that another process holds."""
HELD = frozenset({errno.EAGAIN, errno.EACCES, errno.EDEADLK})
"""What the system says of a lock that another process holds; anything else is told, since waiting would not end."""

if sys.platform == "win32":
    import msvcrt

    def _take(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _give(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _take(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _give(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


class FileLock:
    """Held by one process at a time; a process that dies lets go of it. Not for use by two tasks of one process.

    The file is open only while the lock is held, so that locks cost nothing when they are not used. All ways of taking
    it raise OSError where the file system has no locks.
    """

    __slots__ = ("_descriptor", "_path")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    @contextmanager
    def held(self, *, within: float = math.inf) -> Generator[bool]:
        """Hold the lock if it is free now or becomes free within so many seconds; says whether it is held."""
        until = time.monotonic() + within
        while not (taken := self._taken()) and time.monotonic() < until:
            time.sleep(INTERVAL)
        try:
            yield taken
        finally:
            self._release()

    @asynccontextmanager
    async def held_async(self) -> AsyncGenerator[None]:
        """Hold the lock; lets other tasks run while it waits."""
        while not self._taken():  # noqa: ASYNC110  (the other side is another process)
            await anyio.sleep(INTERVAL)
        try:
            yield
        finally:
            self._release()

    def _taken(self) -> bool:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | NO_LINK, 0o600)
        try:
            _take(descriptor)
        except OSError as error:
            os.close(descriptor)
            if error.errno in HELD:
                return False
            raise
        self._descriptor = descriptor
        return True

    def _release(self) -> None:
        if self._descriptor is not None:
            _give(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = None
