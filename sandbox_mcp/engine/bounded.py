"""Reading what others wrote within bounds: how many bytes, how deep, and how much more than was sent.

Policy: a file or an answer that nobody could have meant is refused in one line, and takes neither the memory of the
machine nor what else was to be read. The bounds are far beyond anything met in practice. Python's own reader of JSON
fails on depth with an error that is no ``ValueError``, so that whoever expects bad JSON does not expect it.
"""

import json
import zlib
from collections.abc import Iterable
from json import JSONDecodeError
from pathlib import Path
from typing import Any, cast

LARGEST = 1 << 29
"""Bytes of a file that is read whole."""
DEEPEST = 400
"""Levels of arrays and objects within each other; less than half of what Python's own recursion bears."""
INFLATED = 1 << 26
"""Bytes that one compressed value may have."""


class TooLargeError(ValueError):
    """More bytes than are read."""


def read_bounded(path: Path, most: int = LARGEST) -> bytes:
    """Content of a file, which need not be a regular one.

    Raises:
        OSError: it cannot be read.
        TooLargeError: it has more than ``most`` bytes.
    """
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise TooLargeError(f"has more than {most >> 20} MB, and that is not read")
    return data


def loads(text: str | bytes, **options: Any) -> Any:
    """Value of JSON that somebody else wrote, as :func:`json.loads` gives it.

    Raises:
        JSONDecodeError: it is not JSON, or nests deeper than :data:`DEEPEST`.
    """
    try:
        value = json.loads(text, **options)
    except RecursionError:
        raise JSONDecodeError("nests too deeply", "", 0) from None
    opening = text.count("[") + text.count("{") if isinstance(text, str) else text.count(b"[") + text.count(b"{")
    if opening > DEEPEST and _deeper_than(value, DEEPEST):
        raise JSONDecodeError("nests too deeply", "", 0)
    return value


def _deeper_than(value: object, levels: int) -> bool:
    """Look at arrays and objects level by level, without recursion."""
    level = list(_nested([value]))
    for _ in range(levels):
        level = [child for item in level for child in _nested(item)]
        if not level:
            return False
    return True


def _nested(item: object) -> Iterable[object]:
    values = cast("dict[str, object]", item).values() if isinstance(item, dict) else cast("list[object]", item)
    for value in values:
        if isinstance(value, dict | list):
            yield cast("object", value)


def inflated(data: bytes, most: int = INFLATED) -> bytes:
    """Data that zlib compressed.

    Raises:
        ValueError: it is damaged, or has more than ``most`` bytes.
    """
    reader = zlib.decompressobj()
    try:
        found = reader.decompress(data, most + 1)
    except zlib.error as error:
        raise ValueError(f"is damaged: {error}") from error
    if len(found) > most or not reader.eof:
        raise TooLargeError(f"unpacks to more than {most >> 20} MB, or is cut off")
    return found
