"""Additions of other packages to the grader: metrics and importers, named by entry points of theirs.

Policy: installed plug-ins are found without being imported, once per process. A name taken is not theirs, because the
same report would mean two things. One that cannot be used is named, and stops only what asks for it.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from sandbox_grader.errors import GraderError
from sandbox_mcp.engine.own_code import others_code


def found_outside(group: str, ours: Iterable[str]) -> Mapping[str, EntryPoint]:
    """The entry points of a group by name, without those whose name is taken."""
    taken = names_taken(group, ours)
    return {point.name: point for point in _points(group) if point.name not in taken}


def names_taken(group: str, ours: Iterable[str]) -> Mapping[str, str]:
    """Names that entry points of a group give although they are ours or another package's, and who has them."""
    known = dict.fromkeys(ours, "sandbox_grader")
    taken: dict[str, str] = {}
    for point in _points(group):
        if point.name in known:
            taken[point.name] = (
                f"entry point {point.value!r} of {group}: {known[point.name]} has {point.name!r} already"
            )
        known[point.name] = point.value
    return taken


def loaded(point: EntryPoint) -> Any:
    """Load the object that an entry point names.

    Raises:
        GraderError: it cannot be imported.
    """
    with others_code(f"entry point {point.name!r} of {point.group}: {point.value!r} cannot be imported", GraderError):
        return point.load()


@cache
def _points(group: str) -> tuple[EntryPoint, ...]:
    return tuple(sorted(entry_points(group=group), key=lambda point: (point.name, point.value)))
