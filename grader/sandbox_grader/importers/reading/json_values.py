"""Foreign JSON, read so that nothing in it can surprise an importer or the log made from it.

Policy: every fault is an ImportFormatError that says file, line and JSON path. What JSON cannot say (NaN, infinities,
lone surrogates) is replaced and named as a loss; what the log's reader cannot take (deep nesting) is refused.
A last line that a crash cut off is dropped and named, any other broken line is an error. A file may be packed by gzip,
and be UTF-16 where its first bytes say so; other archives are refused with what to do.
"""

import codecs
import gzip
import io
import json
import math
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeGuard

from sandbox_grader.errors import ImportFormatError, NothingToImportError
from sandbox_grader.importers.base import Loss
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.trajectory.model_text import cleaned

BLANK = b"\xef\xbb\xbf\r\n\t "
"""Bytes that say nothing: white space, and the mark that some editors put before a text."""
MAX_DEPTH = 150
"""How deep a document may nest. The log's reader stops at 198 levels, of which an event needs a few itself."""

_NEXT = re.compile(r"[ \t\r\n]*+(?=[{\[])")
LINES = frozenset({".jsonl", ".ndjson"})
GZIP, ZIP, ZSTANDARD = b"\x1f\x8b", b"PK\x03\x04", b"\x28\xb5\x2f\xfd"
"""How files begin that were packed."""
MOST_UNPACKED = 4_000_000_000
"""Bytes beyond which a packed file is not unpacked."""


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def is_array(value: Any) -> TypeGuard[list[Any]]:
    """Whether a JSON value is an array."""
    return isinstance(value, list)


@dataclass(frozen=True, slots=True)
class JsonNode:
    """A JSON value and where it stands: file, line (None for a whole document) and path inside the document."""

    value: Any
    path: str
    line: int | None = None
    where: str = ""

    def fail(self, problem: str) -> ImportFormatError:
        """The error about this value; the caller raises it."""
        return ImportFormatError(self.path, self.line, f"{self.where + ': ' if self.where else ''}{problem}")

    def empty(self, problem: str) -> NothingToImportError:
        """The error that says that there is no session here; the caller raises it."""
        return NothingToImportError(self.path, self.line, f"{self.where + ': ' if self.where else ''}{problem}")

    def child(self, key: str | int, value: Any) -> "JsonNode":
        """A member or element of this value."""
        plain = isinstance(key, str) and key.replace(".", "_").isidentifier()
        step = key if plain else f"[{shown(key)}]"
        dot = "." if self.where and plain else ""
        return JsonNode(value, self.path, self.line, f"{self.where}{dot}{step}")

    @property
    def is_object(self) -> bool:
        """True if this is a JSON object."""
        return is_object(self.value)

    @property
    def is_array(self) -> bool:
        """True if this is a JSON array."""
        return is_array(self.value)

    def members(self) -> dict[str, Any]:
        """The object this is. Raises ImportFormatError for anything else."""
        if is_object(self.value):
            return self.value
        raise self.fail(f"expected an object, found {shown(self.value)}")

    def items(self) -> list["JsonNode"]:
        """The elements of the array this is. Raises ImportFormatError for anything else."""
        if is_array(self.value):
            return [self.child(index, value) for index, value in enumerate(self.value)]
        raise self.fail(f"expected an array, found {shown(self.value)}")

    def each(self) -> list["JsonNode"]:
        """The elements of an array; anything else alone."""
        return self.items() if self.is_array else [self]

    def sole_array(self) -> "JsonNode | None":
        """This array, or the array that is the one member of this object; None for anything else."""
        [name] = self.value if self.is_object and len(self.value) == 1 else [None]
        found = self if name is None else self.child(name, self.value[name])
        return found if found.is_array else None

    def string(self) -> str:
        """The string this is. Raises ImportFormatError for anything else."""
        if not isinstance(self.value, str):
            raise self.fail(f"expected a string, found {shown(self.value)}")
        return self.value

    def number(self) -> float:
        """The number this is. Raises ImportFormatError for anything else."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float) or abs(self.value) > 1e300:
            raise self.fail(f"expected a number, found {shown(self.value)}")
        return float(self.value)

    def label(self) -> str:
        """The string or number this is, as text: what ids are made of. Raises ImportFormatError for anything else."""
        if isinstance(self.value, str):
            return self.value
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.fail(f"expected a string or a number, found {shown(self.value)}")
        return json.dumps(self.value)

    def get(self, key: str) -> "JsonNode | None":
        """A member of this object, or None where it is absent or null."""
        value = self.members().get(key)
        return None if value is None else self.child(key, value)

    def object_at(self, key: str) -> "JsonNode | None":
        """A member's object, or None where it is absent, null or anything else."""
        found = self.get(key)
        return found if found is not None and found.is_object else None

    def need(self, key: str) -> "JsonNode":
        """A member of this object that has to be there. Raises ImportFormatError where it is absent or null."""
        found = self.get(key)
        if found is None:
            raise self.fail(f"lacks {key!r}; it has {listed(self.members()) or 'nothing'}")
        return found

    def string_at(self, key: str) -> str | None:
        """A member's string, or None where it is absent or null."""
        found = self.get(key)
        return None if found is None else found.string()

    def label_at(self, key: str) -> str | None:
        """A member's id, or None where it is absent or null."""
        found = self.get(key)
        return None if found is None else found.label()

    def number_at(self, key: str) -> float | None:
        """A member's number, or None where it is absent or null."""
        found = self.get(key)
        return None if found is None else found.number()

    def items_at(self, key: str) -> list["JsonNode"]:
        """The elements of a member's array; none where it is absent or null."""
        found = self.get(key)
        return [] if found is None else found.items()

    def members_at(self, key: str) -> dict[str, Any]:
        """A member's object; empty where it is absent or null."""
        found = self.get(key)
        return {} if found is None else found.members()

    def whole_at(self, key: str) -> int:
        """A member's whole number; 0 where it is absent or null."""
        found = self.number_at(key)
        return 0 if found is None else int(found)


@dataclass(frozen=True, slots=True)
class Loaded:
    """Content of a file: one document, or one per line. ``cut`` tells that its last line was incomplete."""

    nodes: tuple[JsonNode, ...]
    lines: bool = False
    cut: bool = False
    losses: tuple[Loss, ...] = ()

    @property
    def document(self) -> JsonNode:
        """The one document of a format that has one in a file.

        Raises:
            ImportFormatError: there are more, and the others would be lost.
        """
        for second in self.nodes[1:2]:
            raise second.fail("begins a second document; expected one in the file")
        return self.nodes[0]

    def unfolded(self) -> "Loaded":
        """The content with the elements of its one array, or of the one that its one object holds, for lines."""
        array = self.nodes[0].sole_array() if len(self.nodes) == 1 else None
        return self if array is None else replace(self, nodes=tuple(array.items()))


def shown(value: Any) -> str:
    """A JSON value for an error message: its kind, and a short value itself."""
    if value is None:
        return "null"
    if is_object(value) or is_array(value):
        return "an object" if is_object(value) else "an array"
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def listed(members: Iterable[str]) -> str:
    """The names of an object's members for an error message: the first few, in order."""
    return ", ".join(map(shown, sorted(members)[:12]))


def loads(text: str) -> tuple[Any, int]:
    """A JSON text's value, and how many numbers beyond JSON (NaN, infinities, overflows) were replaced by null.

    Lone surrogates become U+FFFD, because no UTF-8 file can hold them.

    Raises:
        ValueError: the text is not JSON or nests deeper than the log can hold.
    """
    replaced: list[str] = []

    def beyond(literal: str) -> None:
        replaced.append(literal)

    def real(literal: str) -> float | None:
        number = float(literal)
        return number if math.isfinite(number) else beyond(literal)

    try:
        value = json.loads(text, parse_constant=beyond, parse_float=real)
    except RecursionError as error:
        raise ValueError(f"nests deeper than {MAX_DEPTH} levels") from error
    if depth(value) > MAX_DEPTH:
        raise ValueError(f"nests deeper than {MAX_DEPTH} levels")
    return (cleaned(value) if "\\u" in text else value), len(replaced)


def depth(value: Any) -> int:
    """Depth to which a value nests objects and arrays, counted up to one more than MAX_DEPTH."""
    levels, level = 0, _containers([value])
    while level and levels <= MAX_DEPTH:
        levels += 1
        level = _containers(
            child for container in level for child in (container.values() if is_object(container) else container)
        )
    return levels


def _containers(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if is_object(value) or is_array(value)]


def read_bytes(path: Path) -> bytes:
    """A file's bytes, unpacked where they are packed by gzip, and as UTF-8 where they say that they are UTF-16.

    Raises:
        ImportFormatError: it cannot be read.
    """
    try:
        data = path.read_bytes()
    except IsADirectoryError as error:
        raise ImportFormatError(str(path), None, "is a folder; name the files in it") from error
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise ImportFormatError(str(path), None, f"cannot be read: {reason}") from error
    if data.startswith(GZIP):
        try:
            data = gzip.GzipFile(fileobj=io.BytesIO(data)).read(MOST_UNPACKED + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise ImportFormatError(str(path), None, f"is damaged and cannot be unpacked by gzip: {error}") from error
        if len(data) > MOST_UNPACKED:
            raise ImportFormatError(str(path), None, "unpacks to more than 4 GB; unpack it and split it first")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return data.decode("utf-16").encode()
        except UnicodeDecodeError as error:
            problem = f"begins as UTF-16 and cannot be read as that (byte {error.start}); save it as UTF-8"
            raise ImportFormatError(str(path), None, problem) from error
    return data


def load(path: Path) -> Loaded:
    """A file of one JSON document, or of one per line; without the usual ending its first line decides.

    Documents behind each other that take several lines each, as a pretty-printer leaves them, are read like lines.

    Raises:
        ImportFormatError: it cannot be read, is not UTF-8 or is not JSON.
        NothingToImportError: it is empty, or an empty array.
    """
    data = read_bytes(path)
    for packed, by, how in ((ZIP, "zip archive", "unzip"), (ZSTANDARD, "Zstandard file", "zstd -d")):
        if data.startswith(packed):
            raise ImportFormatError(str(path), None, f"is a {by}; unpack it first, as with {how!r}")
    try:
        if Path(path.name.lower().removesuffix(".gz")).suffix not in LINES and not _looks_like_lines(data):
            return load_whole(data, str(path))
        try:
            return load_lines(data, str(path))
        except ImportFormatError:
            # A document printed over several lines may have any name, and its first line tells that it is one.
            with suppress(ImportFormatError):
                return load_whole(data, str(path))
            raise
    except NothingToImportError:
        raise
    except ImportFormatError:
        if printed := _in_sequence(data, str(path)):
            return printed
        raise


def _in_sequence(data: bytes, path: str) -> Loaded | None:
    """Several documents with nothing between them but blanks; None where the bytes are anything else."""
    try:
        text = data.decode("utf-8-sig")
        decoder, at, line = json.JSONDecoder(), 0, 1
        nodes: list[JsonNode] = []
        losses: list[Loss] = []
        while rest := _NEXT.match(text, at):
            line, at = line + text.count("\n", at, rest.end()), rest.end()
            _, end = decoder.raw_decode(text, at)
            value, replaced = loads(text[at:end])
            nodes.append(JsonNode(value, path, line))
            losses.extend(_beyond_json(replaced, line))
            line, at = line + text.count("\n", at, end), end
    except (ValueError, RecursionError):
        return None
    whole = len(nodes) > 1 and not text[at:].strip()
    told = tuple(node for node in nodes if node.value != [])
    return Loaded(told, lines=True, losses=tuple(losses)) if whole and told else None


def _looks_like_lines(data: bytes) -> bool:
    lines = [line for line in data.removeprefix(codecs.BOM_UTF8).split(b"\n", 64) if line.strip()]
    if len(lines) < 2 or lines[0][:1] not in {b"{", b"["}:
        return False
    try:
        loads(lines[0].decode())
    except ValueError:
        return False
    return True


def load_whole(data: bytes, path: str) -> Loaded:
    """One JSON document. Raises like :func:`load`."""
    if not data.strip(BLANK):
        raise NothingToImportError(path, None, "is empty")
    value, replaced = _parse(data, path, None)
    if value == []:
        raise NothingToImportError(path, None, "is an empty array")
    return Loaded((JsonNode(value, path),), losses=_beyond_json(replaced, None))


def load_lines(data: bytes, path: str) -> Loaded:
    """JSON Lines; a broken last line without a newline is dropped. Raises like :func:`load`."""
    lines = data.split(b"\n")
    nodes: list[JsonNode] = []
    losses: list[Loss] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip(BLANK):
            continue
        try:
            value, replaced = _parse(line, path, number)
        except ImportFormatError:
            if number < len(lines) or not nodes:
                raise
            losses.append(Loss(f"line {number}", "the last line is cut off and was dropped"))
            return Loaded(tuple(nodes), lines=True, cut=True, losses=tuple(losses))
        if value != []:
            nodes.append(JsonNode(value, path, number))
        losses.extend(_beyond_json(replaced, number))
    if not nodes:
        raise NothingToImportError(path, None, "is empty")
    return Loaded(tuple(nodes), lines=True, losses=tuple(losses))


def _beyond_json(replaced: int, line: int | None) -> tuple[Loss, ...]:
    where = "document" if line is None else f"line {line}"
    what = f"read as null, as JSON holds no NaN and no infinity: {counted(replaced, 'number')}"
    return (Loss(where, what),) if replaced else ()


def _parse(data: bytes, path: str, line: int | None) -> tuple[Any, int]:
    try:
        return loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        at = line or data.count(b"\n", 0, error.start) + 1
        raise ImportFormatError(path, at, f"is not UTF-8 (byte {data[error.start]:#04x}); save it as UTF-8") from error
    except json.JSONDecodeError as error:
        raise ImportFormatError(path, line or error.lineno, f"is not JSON: {error.msg}") from error
    except ValueError as error:
        told = str(error).partition("; use sys.")[0]  # Python's remedy for too long a number is not the user's
        raise ImportFormatError(path, line, f"is not usable JSON: {told[:120]}") from error


def picked(source: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """Those of the members ``keys`` that are there and not null."""
    return {key: source[key] for key in keys if source.get(key) is not None}
