"""Patterns that are compiled when they are first used, so that a process pays only for those that its texts need."""

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

WORDY = re.IGNORECASE
"""The flag for words that may be in capitals."""


class Lazy:
    """A regular expression that compiles itself at first use; its methods are those of :class:`re.Pattern`."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern, self.flags = pattern, flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The compiled expression."""
        return re.compile(self.pattern, self.flags)

    @cached_property
    def search(self) -> Callable[..., re.Match[str] | None]:
        """As :meth:`re.Pattern.search`."""
        return self.compiled.search

    @cached_property
    def match(self) -> Callable[..., re.Match[str] | None]:
        """As :meth:`re.Pattern.match`."""
        return self.compiled.match

    @cached_property
    def fullmatch(self) -> Callable[..., re.Match[str] | None]:
        """As :meth:`re.Pattern.fullmatch`."""
        return self.compiled.fullmatch

    @cached_property
    def finditer(self) -> Callable[..., Iterator[re.Match[str]]]:
        """As :meth:`re.Pattern.finditer`."""
        return self.compiled.finditer

    @cached_property
    def findall(self) -> Callable[..., list[Any]]:
        """As :meth:`re.Pattern.findall`."""
        return self.compiled.findall

    @cached_property
    def split(self) -> Callable[..., list[str]]:
        """As :meth:`re.Pattern.split`; the pattern has no groups."""
        return self.compiled.split  # pyright: ignore[reportReturnType]

    def sub(self, into: str | Callable[[re.Match[str]], str], text: str) -> str:
        """As :meth:`re.Pattern.sub`."""
        return self.compiled.sub(into, text)


def any_case(pattern: str) -> Lazy:
    """A pattern for words in capitals, too."""
    return Lazy(pattern, WORDY)


def one_of(words: str) -> frozenset[str]:
    """Words written in a row as a set."""
    return frozenset(words.split())
