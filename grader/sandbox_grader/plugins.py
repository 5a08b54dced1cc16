"""Additions of other packages to the grader: metrics and importers, named by entry points of theirs.

Policy: installed plug-ins are found without being imported, once per process. A name taken is a fault, because
the same report would mean two things.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from sandbox_grader.errors import GraderError
from sandbox_mcp.engine.own_code import others_code


def found_outside(group: str, ours: Iterable[str]) -> Mapping[str, EntryPoint]:
    """The entry points of a group by name, none of them with a name of ours.

    Raises:
        GraderError: a name is ours, or two packages give it.
    """
    known = dict.fromkeys(ours, "sandbox_grader")
    found: dict[str, EntryPoint] = {}
    for point in _points(group):
        if point.name in known:
            raise GraderError(f"entry point {point.value!r} of {group}: {known[point.name]} has {point.name!r} already")
        known[point.name] = point.value
        found[point.name] = point
    return found


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
