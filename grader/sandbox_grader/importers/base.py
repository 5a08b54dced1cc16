"""What every importer returns: a session's events in our form, and what of the source could not be mapped."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

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

Raises ImportFormatError for a file of another form, and its subclass NothingToImportError for one without a session.
"""
