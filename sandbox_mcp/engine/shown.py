r"""Texts that are not ours, made fit to be shown: on a screen, in a line, in a cell, in JSON.

Policy: a name, a message or an error from elsewhere may hold what moves a terminal's cursor, hides or reorders text,
cannot be seen, begins a formula, or is not Unicode. Wherever such a text is shown, these characters are shown as
``\u001b`` and the like, so that the name of a scenario cannot write over a score.
"""

import json
import math
import os
import sys
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, cast


@cache
def _harmful() -> Mapping[int, str]:
    """Every character that does more than stand in its place, and how it is shown instead."""
    control = {*range(0x20), *range(0x7F, 0xA0)} - {0x09, 0x0A}
    reordering = {0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)}
    unseen = {
        0xAD,
        0x115F,
        0x1160,
        0x180E,
        0x200B,
        *range(0x2060, 0x2065),
        *range(0x206A, 0x2070),
        0x3164,
        0xFEFF,
        0xFFA0,
        *range(0xFFF9, 0xFFFC),
        0xE0001,
        *range(0xE0020, 0xE0080),
    }  # but for what joins and keeps apart the letters of several scripts and the parts of pictures, U+200C and U+200D
    halves = range(0xD800, 0xE000)
    return {code: _escape(code) for code in (*control, *reordering, *unseen, *halves)}


def _escape(code: int) -> str:
    """A character as JSON would write it, in two halves where it takes two, so that JSON stays what it was."""
    if code < 0x10000:
        return f"\\u{code:04x}"
    return f"\\u{0xD800 + (code - 0x10000 >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def neutral(text: str) -> str:
    """A text of any length and number of lines without anything that a terminal obeys."""
    return text if text.isascii() and text.isprintable() else text.translate(_harmful())


def one_line(text: str) -> str:
    """A text that stays in the line it is put into."""
    return neutral(text).replace("\t", " ").replace("\n", "\\n")


def cell(value: Any) -> Any:
    """A value for a table in a file, shown neutrally; a text that a spreadsheet would take for a formula is marked."""
    if not isinstance(value, str):
        return value
    text = neutral(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t")) else text


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
    """A stream on which every text is shown neutrally; otherwise it is ``stream``, the one behind it.

    What is written beside the results (``beside``), such as progress, goes nowhere once nobody reads it any more.
    """

    def __init__(self, stream: Any, *, beside: bool = False) -> None:
        # a process may have been started without
        self.stream = stream or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
        self.beside = beside

    def write(self, text: str, /) -> int:
        """Write a text; a character that the stream's encoding lacks, as many do on Windows, is escaped as well."""
        shown = neutral(text)
        with self._read_or_not():
            try:
                self.stream.write(shown)
            except UnicodeEncodeError:
                has = partial(str.encode, encoding=self.stream.encoding, errors="ignore")
                self.stream.write("".join(char if has(char) else _escape(ord(char)) for char in shown))
        return len(text)

    def flush(self) -> None:
        """Pass on what has been written."""
        with self._read_or_not():
            self.stream.flush()

    @contextmanager
    def _read_or_not(self) -> Generator[None]:
        try:
            yield
        except BrokenPipeError:
            if not self.beside:
                raise
            leave_unread(self.stream)

    def writelines(self, texts: Iterable[str], /) -> None:
        """Write several texts."""
        for text in texts:
            self.write(text)

    def __getattr__(self, name: str) -> Any:
        """Give any other attribute of the stream."""
        return getattr(self.stream, name)


def leave_unread(stream: Any) -> None:
    """Let text written to a stream whose reader has gone, now and later, go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def behind(stream: Any) -> Any:
    """The stream itself, for what formats its own output and has made neutral what it puts into it."""
    return stream.stream if isinstance(stream, Screen) else stream


def control(text: str) -> None:
    """Write what moves the cursor of stderr's terminal; only for text from our own source."""
    behind(sys.stderr).write(text)


@contextmanager
def screened() -> Generator[None]:
    """While the context is open, whatever is printed is shown neutrally."""
    before = out, err = sys.stdout, sys.stderr
    sys.stdout = out if isinstance(out, Screen) else Screen(out)
    sys.stderr = err if isinstance(err, Screen) else Screen(err, beside=True)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
