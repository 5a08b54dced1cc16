"""Processes that share out work, and end with the process that has it.

Policy: what a terminal's keys mean is for the process that they were meant for; those that work for it end when it has
told them to, or when it is gone, however that came about.
"""

import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process


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
