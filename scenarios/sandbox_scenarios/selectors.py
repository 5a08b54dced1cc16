"""Selectors: which scenarios a command means.

Policy: a selector is a name, a pattern with ``*`` or ``?``, either with an instance as in ``late_*@7``,
``category:NAME``, ``family:NAME``, ``extends:NAME``, ``world:NAME``, ``tier:NAME``, ``suite:default`` or ``suite:SEED``
for a mixture of tiers, a tag such as ``irrelevance:*``, or a file with one selector per line (``@FILE``, or ``-`` for
standard input). ``extends:`` means pairs: scenarios that branch from
another one, and that one. A world means all its scenarios, but beside patterns, categories, families, pairs and tags it
only says where these are looked for. If no world is named,
tags, tiers and mixtures are looked for in every world, and the others in the caller's own files, or else in the default
world. A name is found in every world. No selector means all. Scenarios come in the suite's order, never in that of the
selectors.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import cast, get_args

from sandbox_scenarios.errors import ScenarioError, UnknownScenarioError
from sandbox_scenarios.instances import MARK
from sandbox_scenarios.loader import Suite
from sandbox_scenarios.model import Category, Scenario
from sandbox_scenarios.problem import closest
from sandbox_scenarios.tiers import TIER, mixture, tier_of

CATEGORIES: tuple[str, ...] = get_args(Category)
CATEGORY, WORLD, FAMILY, EXTENDS = "category:", "world:", "family:", "extends:"
MIXTURE = "suite:"
"""How the selector of a mixture begins; what follows is its seed."""
NOTHING_HERE = "there are no scenarios here that can be played; see that --scenarios names files with some"


class SelectorError(ScenarioError):
    """A selector selects nothing, or cannot be read."""


def select(suite: Suite, selectors: Sequence[str]) -> tuple[str, ...]:
    """The names of the scenarios selected, each once, in the suite's order.

    Raises:
        SelectorError: a selector selects nothing, a list of them is empty or cannot be read, or there are no scenarios.
        UnknownScenarioError: a name is unknown.
    """
    for given in cast("Sequence[object]", selectors):
        if not isinstance(given, str):  # as a list of them, from Python
            raise SelectorError(
                f"selector {given!r} is not a text; name several side by side, as select('late_*', 'wifi_off')"
            )
    expanded = list(_expanded(selectors))
    worlds = [item.removeprefix(WORLD) for item in expanded if item.startswith(WORLD)]
    others = [item for item in expanded if not item.startswith(WORLD)]
    names = tuple(dict.fromkeys(name for world in worlds for name in of_world(suite, world)))
    tagged: dict[str, list[str]] = {}  # among some names if there are any
    for item in others:
        if ":" in item and not item.startswith((CATEGORY, FAMILY, EXTENDS)):
            found = _everywhere(suite, item)
            tagged[item] = [name for name in found if not names or name in names]
            if not tagged[item]:
                raise SelectorError(f"no scenario has a tag {item!r}; expected one such as 'irrelevance:*'")
    if not names and (not others or len(tagged) < len(others)):
        names = suite.names()
    if not names and not expanded:
        raise SelectorError(NOTHING_HERE)
    if not expanded or (worlds and not any(map(_looks, others))):
        chosen = set(names)
    else:
        chosen: set[str] = set()
    for selector in others:
        plain, mark, label = selector.partition(MARK)
        if mark and _looks(plain):
            chosen |= {f"{name}{MARK}{label}" for name in _chosen(suite, names, plain)}
        else:
            chosen |= set(tagged[selector]) if selector in tagged else _chosen(suite, names, selector)
    order = tuple(dict.fromkeys((*names, *(name for found in tagged.values() for name in found))))
    return (*(name for name in order if name in chosen), *sorted(chosen.difference(order)))


def _everywhere(suite: Suite, selector: str) -> Sequence[str]:
    """The scenarios of a mixture, of a tier or with a tag, whatever their world."""
    if selector.startswith(MIXTURE):
        return mixture(suite, selector.removeprefix(MIXTURE))
    if selector.startswith(TIER):
        tier = selector.removeprefix(TIER)
        return [item.name for item in suite.all("*") if fnmatchcase(tier_of(item), tier)]
    return suite.tagged(selector)


def in_worlds(suite: Suite, world: str) -> tuple[Scenario, ...]:
    """Every scenario of the worlds of that name or pattern; of those that no selector would mean if it is empty.

    Raises:
        SelectorError: no scenario is of such a world.
    """
    return tuple(map(suite.get, of_world(suite, world) if world else suite.names()))


def _looks(selector: str) -> bool:
    """True if a selector looks through scenarios, and does not name one."""
    return ":" in selector or any(mark in selector for mark in "*?[")


def of_world(suite: Suite, world: str) -> tuple[str, ...]:
    """The scenarios of a world, or of worlds by a pattern.

    Raises:
        SelectorError: there are none.
    """
    found = suite.names(world) if world else ()
    if not found and not suite.names("*"):
        raise SelectorError(NOTHING_HERE)
    if not found:
        raise SelectorError(f"no scenario is of world {world!r}; see 'sandbox-mcp worlds list'")
    return found


def _expanded(selectors: Iterable[str]) -> Iterator[str]:
    for selector in selectors:
        if selector == "-":
            yield from _lines(sys.stdin.read(), "standard input")
        elif selector.startswith("@"):
            path = selector[1:]
            try:
                text = Path(path).read_text(encoding="utf-8-sig")
            except (OSError, UnicodeDecodeError) as error:
                reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
                raise SelectorError(f"selector file {path!r} cannot be read: {reason}") from error
            yield from _lines(text, f"selector file {path!r}")
        else:
            yield selector


def _lines(text: str, source: str) -> list[str]:
    """The selectors in a list. An empty list is an error, because it is not meant to select every scenario."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    if found := [line for line in lines if line]:
        return found
    raise SelectorError(f"{source} names no scenario; give one selector a line")


def _chosen(suite: Suite, names: Sequence[str], selector: str) -> set[str]:
    if selector.startswith(CATEGORY):
        category = selector.removeprefix(CATEGORY)
        check_category(category)
        found = {name for name in names if category in suite.get(name).categories}
        problem = f"no scenario is in category {category!r}"
    elif selector.startswith(FAMILY):
        pattern, families = selector.removeprefix(FAMILY), {name: suite.family(name) for name in names}
        found = {name for name, family in families.items() if fnmatchcase(family, pattern)}
        problem = f"no scenario is of family {pattern!r}; {closest(pattern, dict.fromkeys(families.values()))}"
    elif selector.startswith(EXTENDS):
        pattern, originals = selector.removeprefix(EXTENDS), {name: suite.original(name) for name in names}
        pairs = {name: one for name, one in originals.items() if one is not None and fnmatchcase(one, pattern)}
        found = {*pairs, *pairs.values()}
        problem = f"no scenario branches from a scenario {pattern!r}; 'extends:*' means all that branch from one"
    elif _looks(selector):
        found = {name for name in names if fnmatchcase(name, selector)}
        problem = f"selector {selector!r} matches no scenario; see 'sandbox-mcp scenarios list'"
    else:
        try:
            return {suite.get(selector).name}
        except UnknownScenarioError:
            there = Path(selector)
            if there.is_file():
                told = f"{selector!r} is a file; write @{selector} for selectors in it, or --scenarios"
                raise SelectorError(told) from None
            if selector and there.is_dir():
                raise SelectorError(
                    f"{selector!r} is a folder; write --scenarios {selector} for the scenarios in it"
                ) from None
            raise
    if not found:
        raise SelectorError(problem)
    return found


def check_category(category: str) -> None:
    """See that there is a category of that name.

    Raises:
        SelectorError: there is not.
    """
    if category not in CATEGORIES:
        raise SelectorError(f"unknown category {category!r}; {closest(category, CATEGORIES)}")
