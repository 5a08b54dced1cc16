"""Selectors: which scenarios a command means.

Policy: a selector is a name, a pattern with ``*`` or ``?``, ``category:NAME``, or a file with one selector per line
(``@FILE``, or ``-`` for standard input). No selector means all. The suite's order counts, never the selectors'.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import get_args

from sandbox_scenarios import Suite, UnknownScenarioError
from sandbox_scenarios.model import Category
from sandbox_scenarios.problem import closest

from sandbox_mcp.run.errors import RunError

CATEGORIES: tuple[str, ...] = get_args(Category)


def select(suite: Suite, selectors: Sequence[str]) -> tuple[str, ...]:
    """The names of the scenarios selected, each once, in the suite's order.

    Raises:
        RunError: a selector selects nothing, or its file cannot be read.
        UnknownScenarioError: a name is unknown.
    """
    names = suite.names()
    chosen: set[str] = set()
    for selector in _expanded(selectors):
        chosen |= _chosen(suite, names, selector)
    known = [name for name in names if name in chosen] if selectors else list(names)
    return (*known, *sorted(chosen.difference(names)))


def _expanded(selectors: Iterable[str]) -> Iterator[str]:
    for selector in selectors:
        if selector == "-":
            yield from _lines(sys.stdin.read())
        elif selector.startswith("@"):
            yield from _lines(_text(selector[1:]))
        else:
            yield selector


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise RunError(f"selector file {path!r} cannot be read: {reason}") from error


def _lines(text: str) -> list[str]:
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return [line for line in lines if line]


def _chosen(suite: Suite, names: Sequence[str], selector: str) -> set[str]:
    if selector.startswith("category:"):
        return _of_category(suite, names, selector.removeprefix("category:"))
    if any(mark in selector for mark in "*?["):
        found = {name for name in names if fnmatchcase(name, selector)}
        if not found:
            raise RunError(f"selector {selector!r} matches no scenario; see 'sandbox-mcp scenarios list'")
        return found
    try:
        return {suite.get(selector).name}
    except UnknownScenarioError:
        if Path(selector).exists():
            raise RunError(f"{selector!r} is a file; write @{selector} for selectors in it, or --scenarios") from None
        raise


def _of_category(suite: Suite, names: Sequence[str], category: str) -> set[str]:
    if category not in CATEGORIES:
        raise RunError(f"unknown category {category!r}; {closest(category, CATEGORIES)}")
    found = {name for name in names if category in suite.get(name).categories}
    if not found:
        raise RunError(f"no scenario is in category {category!r}")
    return found
