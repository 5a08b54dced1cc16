"""A disk that is full for a while: the system itself refuses to let any file of this process grow."""

import resource
import sys
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def no_file_beyond(size: int) -> Generator[None]:
    """While the context is open, no file can be written beyond this many bytes.

    No bytecode is written either: Python would keep what there was room for, and every process after this one find it.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    keeps_none, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        sys.dont_write_bytecode = keeps_none
