"""Reads the members of Inspect's ``.eval`` archives: zip files, packed with Deflate or, since 0.3.18x, with Zstandard.

Policy: an archive is read member by member, and never more of one than ``MOST``, whatever its directory says, because a
small file can unpack to more than a machine holds. Zstandard comes with Python from 3.14 on, and before with the
package that Inspect itself needs.
"""

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Final

from sandbox_grader.errors import ImportFormatError
from sandbox_grader.importers.reading.json_values import JsonNode, Loaded, load_whole

MOST: Final = 64_000_000
"""Bytes that one member may unpack to."""
TIMES: Final = 400
"""All members together may unpack to so many times the size of the archive, and ``MOST`` beyond it."""
DUMP: Final = "write it out with 'inspect log dump' and import the JSON"
INSTALL: Final = "is packed with Zstandard; pip install zstandard, or " + DUMP
ZSTANDARD: Final = 93
_LOCAL: Final = struct.Struct("<4s22xHH")
"""A member's own header: its mark, and the lengths of its name and of what else stands before the data."""
_BROKEN = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, KeyError, RuntimeError, OverflowError,
)  # fmt: skip


_SAMPLE = re.compile(r"samples/(?:[^/]+|[^/]+/sample)\.json")


class EvalArchive:
    """An archive, opened.

    Raises:
        ImportFormatError: it is not an archive, or holds neither a header nor a journal.
    """

    def __init__(self, data: bytes, path: Path) -> None:
        self._data = data
        self._path = path
        self._left = MOST + TIMES * len(data)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            members = self._zip.namelist()
        except _BROKEN as error:
            raise self._fault(f"is not an .eval archive: {error}") from error
        header = next((name for name in ("header.json", "_journal/start.json") if name in members), None)
        if header is None:
            raise self._fault("is not an .eval archive: it has no header.json and no journal")
        self._header = header
        self._samples = [name for name in members if _SAMPLE.fullmatch(name)]
        self._members = members

    def header(self) -> JsonNode:
        """Header of the log as a whole."""
        return self._member(self._header).nodes[0]

    def samples(self) -> list[Callable[[], Loaded]]:
        """Reader of each sample, so that one which is damaged keeps no other one away."""
        return [partial(self._sample, name) for name in dict.fromkeys(self._samples)]

    def _sample(self, name: str) -> Loaded:
        """A sample, put together where it was kept in chunks: its messages are ranges of one list."""
        loaded, folder = self._member(name), name.removesuffix("sample.json")
        if folder == name:
            return loaded
        sample = loaded.nodes[0]
        spans = [[int(at.number()) for at in span.items()] for span in sample.items_at("message_refs")]
        pool, events = self._chunks(f"{folder}messages/"), self._chunks(f"{folder}events/")
        told = {"messages": [item for begin, end in spans for item in pool[begin:end]], "events": events}
        return replace(loaded, nodes=(replace(sample, value={**told, **sample.members()}),))

    def _chunks(self, folder: str) -> list[Any]:
        numbered = sorted(
            (int(number), name)
            for name in self._members
            if name.startswith(folder) and (number := name.removeprefix(folder).removesuffix(".json")).isdecimal()
        )
        return [item.value for _, name in numbered for item in self._member(name).nodes[0].each()]

    def _fault(self, problem: str) -> ImportFormatError:
        return ImportFormatError(str(self._path), None, problem)

    def _member(self, name: str) -> Loaded:
        try:
            data = self._read(self._zip.getinfo(name))
        except ImportError as error:
            raise self._fault(f"{name!r} {INSTALL}") from error
        except NotImplementedError as error:
            raise self._fault(f"{name!r} uses a compression that Inspect does not; {DUMP}") from error
        except _zstd_errors() as error:
            raise self._fault(f"{name!r} cannot be read: {error}") from error
        return load_whole(data, f"{self._path}!{name}")

    def _read(self, info: zipfile.ZipInfo) -> bytes:
        data = self._stream(info).read(min(MOST, self._left) + 1)
        if len(data) > MOST:
            raise self._fault(f"{info.filename!r} unpacks to more than {MOST // 1_000_000} MB; {DUMP}")
        if len(data) > self._left:
            raise self._fault(f"unpacks to more than {TIMES} times its size; {DUMP}")
        self._left -= len(data)
        if zlib.crc32(data) != info.CRC:
            raise zipfile.BadZipFile("what it unpacks to is not what was packed")
        return data

    def _stream(self, info: zipfile.ZipInfo) -> IO[bytes]:
        if info.flag_bits & 1:
            raise zipfile.BadZipFile("it is encrypted")
        if info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            return self._zip.open(info)
        if info.compress_type != ZSTANDARD:
            raise NotImplementedError
        mark, name, more = _LOCAL.unpack_from(self._data, info.header_offset)
        if mark != b"PK\x03\x04":
            raise zipfile.BadZipFile("its header is damaged")
        start = info.header_offset + _LOCAL.size + name + more
        packed = self._data[start : start + info.compress_size]
        try:
            zstd: Any = import_module("compression.zstd")
        except ImportError:
            zstandard: Any = import_module("zstandard")
            return zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
        return zstd.ZstdFile(io.BytesIO(packed))


def _zstd_errors() -> tuple[type[Exception], ...]:
    """Errors that reading may raise, with the error of the Zstandard at hand."""
    found: list[type[Exception]] = []
    for module in ("compression.zstd", "zstandard"):
        try:
            found.append(import_module(module).ZstdError)
        except ImportError:
            continue
    return (*_BROKEN, *found)
