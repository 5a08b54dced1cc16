"""Result of every importer: a session's events in our form, and what in the source could not be mapped."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sandbox_grader.errors import ImportFormatError
from sandbox_mcp.engine.trajectory import Event


@dataclass(frozen=True, slots=True)
class Loss:
    """Something in the source without a place in our form: where it was and what is missing because of it."""

    where: str
    what: str


@dataclass(frozen=True, slots=True)
class Imported:
    """One imported session. ``name`` is unique within the import and fit for a file name."""

    name: str
    events: tuple[Event, ...]
    losses: tuple[Loss, ...] = ()


Importer = Callable[[Sequence[Path]], Iterator[Imported]]
"""Reads the given files in their order, lazily, one session after the other.

Raises ImportFormatError for a file of another form, and its subclass NothingToImportError for one without a session,
after every other session of that file; further faults of the file are its ``more``.
"""


class Faults:
    """Unreadable parts of a file: put aside, so that they keep no other session away, and listed at the end."""

    def __init__(self) -> None:
        self._found: list[ImportFormatError] = []

    @contextmanager
    def aside(self) -> Generator[None]:
        """Read one part; its faults are reported later."""
        try:
            yield
        except ImportFormatError as fault:
            self._found += told_by(fault)

    def tell(self) -> None:
        """Say what was wrong, if anything.

        Raises:
            ImportFormatError: what was wrong with the first part that cannot be read, with the others as its ``more``.
        """
        if self._found:
            first, *others = self._found
            first.more = tuple(others)
            raise first


def told_by(fault: ImportFormatError) -> list[ImportFormatError]:
    """A fault, and those that were found with it."""
    return [fault, *(other for other in fault.more if isinstance(other, ImportFormatError))]
