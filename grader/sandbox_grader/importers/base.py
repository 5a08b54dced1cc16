"""What every importer returns: a session's events in our form, and what of the source could not be mapped."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from sandbox_grader.errors import ImportFormatError
from sandbox_mcp.trajectory import Event


@dataclass(frozen=True, slots=True)
class Loss:
    """Something of the source that our form does not hold: where it was and what is missing because of it."""

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

Part = TypeVar("Part")


def each_session(parts: Iterable[Part], read: Callable[[Part], Iterable[Imported]]) -> Iterator[Imported]:
    """The sessions that ``read`` makes of each part of a file; a part that it cannot read keeps no other one away.

    Raises:
        ImportFormatError: what was wrong with the first part that cannot be read, at the end, with the others as its
            ``more``.
    """
    faults: list[ImportFormatError] = []
    try:
        for part in parts:
            try:
                yield from read(part)
            except ImportFormatError as fault:
                faults += told_by(fault)
    except ImportFormatError as fault:  # of the file, after which there are no more parts
        faults += told_by(fault)
    if faults:
        faults[0].more = tuple(faults[1:])
        raise faults[0]


def told_by(fault: ImportFormatError) -> list[ImportFormatError]:
    """A fault, and those that were found with it."""
    return [fault, *(other for other in fault.more if isinstance(other, ImportFormatError))]
