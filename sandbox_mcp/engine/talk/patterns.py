"""Patterns that are compiled when they are first used, so that a process pays only for those that its texts need."""

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

WORDY = re.IGNORECASE
"""The flag for words that may be in capitals."""


class Lazy:
    """A regular expression that compiles itself at first use; its methods are those of :class:`re.Pattern`."""

    search: Callable[..., re.Match[str] | None]
    match: Callable[..., re.Match[str] | None]
    fullmatch: Callable[..., re.Match[str] | None]
    finditer: Callable[..., Iterator[re.Match[str]]]
    findall: Callable[..., list[Any]]
    split: Callable[..., list[str]]

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern, self.flags = pattern, flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The compiled expression."""
        return re.compile(self.pattern, self.flags)

    def __getattr__(self, name: str) -> Any:
        """A method of the compiled expression, kept for the next time."""
        method = self.__dict__[name] = getattr(self.compiled, name)
        return method

    def sub(self, into: str | Callable[[re.Match[str]], str], text: str) -> str:
        """As :meth:`re.Pattern.sub`."""
        return self.compiled.sub(into, text)


def any_case(pattern: str) -> Lazy:
    """A pattern for words in capitals, too."""
    return Lazy(pattern, WORDY)


def one_of(words: str) -> frozenset[str]:
    """Words written in a row as a set."""
    return frozenset(words.split())
