"""Processes that share out work, and end with the process that has it; and how many files a process may open.

Policy: what a terminal's keys mean is for the process that they were meant for; those that work for it end when it has
told them to, or when it is gone, however that came about.
"""

import os
import signal
import sys
import threading
from collections.abc import Generator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process

RESERVED = 192
"""Descriptors that are kept for everything that is not counted."""
SAFE_PATH, BY_US = "PYTHONSAFEPATH", "sandbox-mcp"
"""Python's variable that keeps the working directory off the import path, and its value where we set it."""


def room_for_files(wanted: int) -> int:
    """Number of files this process may open. Many systems begin with 1,024 and allow many times that.

    The limit is raised to the wanted number beside the ``RESERVED``, as far as it may be.
    """
    wanted += RESERVED
    if sys.platform == "win32":
        return wanted
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return wanted
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return max(soft, allowed)


@contextmanager
def begun_safely() -> Generator[None]:
    """While the context is open, new Python processes import nothing from the working directory before our own modules.

    A user may have folders there that are called like what we import. Whoever is begun calls :func:`as_begun`.
    """
    if SAFE_PATH in os.environ:
        yield
        return
    os.environ[SAFE_PATH] = BY_US
    try:
        yield
    finally:
        del os.environ[SAFE_PATH]


def as_begun() -> None:
    """Let what this process starts for the user, such as agents, import as it would anywhere."""
    if os.environ.get(SAFE_PATH) == BY_US:
        del os.environ[SAFE_PATH]


def process_pool(jobs: int) -> ProcessPoolExecutor:
    """So many processes that begin as this program did, on every system alike."""
    return ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_work_for_parent)


def _work_for_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, name="parent", daemon=True).start()


def _end_with_parent() -> None:
    if parent := parent_process():
        parent.join()
        os._exit(1)
