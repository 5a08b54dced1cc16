r"""Texts that are not ours, made fit to be shown: on a screen, in a line, in a cell, in JSON.

Policy: a name, a message or an error from elsewhere may hold what moves a terminal's cursor, hides or reorders text,
begins a formula, or is not Unicode. Wherever such a text is shown, these characters are shown as ``\u001b`` and the
like, so that nobody can write over a score with the name of a scenario.
"""

import json
import math
import sys
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, cast


@cache
def _harmful() -> Mapping[int, str]:
    """Every character that does more than stand in its place, and how it is shown instead."""
    control = {*range(0x20), *range(0x7F, 0xA0)} - {0x09, 0x0A}
    reordering = {0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A), 0xFEFF}
    halves = range(0xD800, 0xE000)
    return {code: f"\\u{code:04x}" for code in (*control, *reordering, *halves)}


def neutral(text: str) -> str:
    """A text of any length and number of lines without anything that a terminal obeys."""
    return text if text.isascii() and text.isprintable() else text.translate(_harmful())


def one_line(text: str) -> str:
    """A text that stays in the line it is put into."""
    return neutral(text).replace("\t", " ").replace("\n", "\\n")


def cell(value: Any) -> Any:
    """A value for a table that a spreadsheet may open: a text that would be taken for a formula is marked as text."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


def json_text(value: object) -> str:
    """JSON that every reader takes: numbers that are none become null, halves of characters U+FFFD."""
    text = json.dumps(_finite(value), ensure_ascii=False, indent=2, allow_nan=False)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in cast("list[Any]", value)]
    return value


class Screen:
    """A stream on which every text is shown neutrally; otherwise it is ``stream``, the one behind it."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str, /) -> int:
        """Write a text."""
        self.stream.write(neutral(text))
        return len(text)

    def writelines(self, texts: Iterable[str], /) -> None:
        """Write several texts."""
        for text in texts:
            self.write(text)

    def __getattr__(self, name: str) -> Any:
        """What a stream has besides."""
        return getattr(self.stream, name)


def behind(stream: Any) -> Any:
    """The stream itself, for what formats its own output and has made neutral what it puts into it."""
    return stream.stream if isinstance(stream, Screen) else stream


def control(text: str) -> None:
    """Write what moves the cursor of stderr's terminal; only for what is written in our own source."""
    behind(sys.stderr).write(text)


@contextmanager
def screened() -> Generator[None]:
    """While the context is open, whatever is printed is shown neutrally."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (_screen(stream) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _screen(stream: Any) -> Any:
    return stream if isinstance(stream, Screen) else Screen(stream)
