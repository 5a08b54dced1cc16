"""Finding a scenario by what a person or a model calls it.

Policy: a scenario is known by its name alone, so that is all that is searched. Case, blanks and hyphens do not count;
whatever else differs is offered as a near name and never started on a guess.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

PAGE = 40
"""How many names are handed out at once, so that a model that looks around keeps its context."""
NEAR = 5
"""How many near names are offered."""
LONGEST = 80
"""Characters of a wanted name that are looked at."""
_ALIKE = 55
"""Resemblance, of 100, from which a name counts as near."""


@dataclass(frozen=True, slots=True)
class Page:
    """Part of what a search found: ``total`` names in all, and the number of the next page, None on the last one."""

    names: tuple[str, ...]
    total: int
    following: int | None


def matching(names: Sequence[str], search: str) -> tuple[str, ...]:
    """The names that contain every word of the search, in their own order; all of them for an empty search."""
    words = _words(search)
    return tuple(name for name in names if all(word in name.lower() for word in words))


def page_of(names: Sequence[str], number: int) -> Page | None:
    """One page, counted from 1; None where there is no such page."""
    pages = max(1, -(-len(names) // PAGE))
    if not 1 <= number <= pages:
        return None
    chosen = tuple(names[(number - 1) * PAGE : number * PAGE])
    return Page(chosen, len(names), number + 1 if number < pages else None)


def named(names: Sequence[str], wanted: str) -> str:
    """The name of the scenario meant; if no scenario is called so, the wanted name, unchanged."""
    if wanted in names:
        return wanted
    plain = _plain(wanted)
    return next((name for name in names if _plain(name) == plain), wanted)


def nearest(names: Sequence[str], wanted: str) -> tuple[str, ...]:
    """The names most like what was wanted, best first. Both shared words and likeness of the whole count."""
    from rapidfuzz import fuzz

    asked = " ".join(_words(wanted[:LONGEST]))
    likeness = {
        name: (fuzz.token_sort_ratio(asked, spoken) + fuzz.token_set_ratio(asked, spoken)) / 2
        for name, spoken in ((name, " ".join(_words(name))) for name in names)
    }
    best = sorted(likeness, key=lambda name: -likeness[name])
    return tuple(name for name in best[:NEAR] if likeness[name] >= _ALIKE)


def completed(names: Sequence[str], typed: str) -> tuple[str, ...]:
    """The names that go on from what was typed, then those that merely contain it."""
    found = matching(names, typed)
    start = _plain(typed)
    return tuple(sorted(found, key=lambda name: not _plain(name).startswith(start)))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower().replace("_", " "))


def _plain(text: str) -> str:
    return "_".join(_words(text))
