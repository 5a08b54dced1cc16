"""A disk that is full for a while: the system itself refuses to let any file of this process grow."""

import resource
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def no_file_beyond(size: int) -> Generator[None]:
    """While the context is open, no file can be written beyond this many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
