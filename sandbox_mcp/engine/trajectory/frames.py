"""Frames of Zstandard, of which a pack is made: how one is written, what it unpacks to, and where each lies in a file.

Form: RFC 8878. Behind a frame of sessions stands its index, a skippable frame with the magic number ``0x184D2A5A``.
"""

import mmap
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from sandbox_mcp.engine.trajectory.errors import TrajectoryError

LEVEL = 3
MOST = 1 << 28
"""Bytes that a frame may unpack to; more is an attack and no log."""
SMALL, RATIO = 1 << 24, 400
"""Bytes that any frame may unpack to, and how many times its own size a larger one may; logs come to some 20 times."""
PIECE = 1 << 20
"""Bytes that are unpacked at a time."""
ZEROS = 256
"""So many zeros on end are not what a compressor writes."""
_DATA, _INDEX = 0xFD2FB528, 0x184D2A5A
_SKIPPABLE = range(0x184D2A50, 0x184D2A60)


@dataclass(frozen=True, slots=True)
class PackFrame:
    """A frame of sessions: where it lies in its file, and the index behind it (or its digest), if there is one."""

    start: int
    end: int
    index: bytes | None


class Compressor:
    """One frame of Zstandard in the making, by Python's own module or, before 3.14, the package of that name."""

    def __init__(self) -> None:
        if sys.version_info >= (3, 14):
            from compression import zstd

            self._own = zstd.ZstdCompressor(level=LEVEL)
        else:
            import zstandard

            self._flush = zstandard.COMPRESSOBJ_FLUSH_BLOCK
            self._other = zstandard.ZstdCompressor(level=LEVEL).compressobj()

    def flushed(self, data: bytes) -> bytes:
        """Bytes that bring the frame up to the end of this data."""
        if sys.version_info >= (3, 14):
            return self._own.compress(data, self._own.FLUSH_BLOCK)
        return self._other.compress(data) + self._other.flush(self._flush)

    def finished(self) -> bytes:
        """The bytes that end the frame."""
        return self._own.flush() if sys.version_info >= (3, 14) else self._other.flush()


def index_frame(index: bytes) -> bytes:
    """An index in a frame of its own, which is skipped when the file is unpacked."""
    return _INDEX.to_bytes(4, "little") + len(index).to_bytes(4, "little") + index


def most_of(packed: int) -> int:
    """Bytes that a frame of so many bytes may unpack to."""
    return min(MOST, max(SMALL, RATIO * packed))


def unpack(data: bytes) -> bytes:
    """Unpack a frame, or its beginning. Raises an error of the module's own where it is damaged."""
    most = most_of(len(data))
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.ZstdDecompressor().decompress(data, most + 1)
    import zstandard

    reader, parts, size = zstandard.ZstdDecompressor().stream_reader(data), list[bytes](), 0
    while size <= most and (part := reader.read(PIECE)):  # at once, it would ask for the most there may be
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def frames_in(data: mmap.mmap, path: str) -> Iterator[PackFrame]:
    """The frames of sessions, by a walk over the heads of frames and blocks; a last one ends where it was cut off.

    Where a head is damaged the walk goes on at the next frame or index behind it. What lies before that is yielded as a
    frame, whether it can be unpacked or not, so that an index says what was in it.

    Raises:
        TrajectoryError: the file does not begin as a pack does, and nothing in it does either.
    """
    at, size = 0, _written(data)
    waiting: tuple[int, int] | None = None
    while at + 4 <= size:
        magic = _magic(data, at)
        if magic in _SKIPPABLE:
            end, whole = _end_of_index(data, at, size)
            if magic == _INDEX and waiting:
                yield PackFrame(*waiting, data[at + 8 : end] if whole else None)
                waiting = None
            led_on = whole
        else:
            if waiting:
                yield PackFrame(*waiting, None)
            end, whole = _end_of_blocks(data, at, size) if magic == _DATA else (at, False)
            waiting = (at, end)
            led_on = whole and (end + 4 > size or _magic(data, end) in (_DATA, *_SKIPPABLE))
        if led_on:
            at = end
            continue
        following = _next_head(data, at + 4)
        if following is None:
            break
        if waiting and not whole:
            waiting = (at, following)
        at = following
    if waiting == (0, 0) and _magic(data, 0) != _DATA:
        raise TrajectoryError(path, None, "is not a pack of logs, or is damaged at byte 0")
    if waiting and waiting[1] > waiting[0]:
        yield PackFrame(*waiting, None)


def _written(data: mmap.mmap) -> int:
    """Number of bytes of a file that were written: where the power failed, its end may be zeros that nobody wrote."""
    end = len(data)
    while end >= ZEROS and data[end - ZEROS : end] == bytes(ZEROS):
        end -= ZEROS
    while 0 < end < len(data) and data[end - 1] == 0:
        end -= 1
    return end


def _magic(data: mmap.mmap, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")


def _next_head(data: mmap.mmap, start: int) -> int | None:
    """Position of the next frame or index, as far as can be told from its first bytes."""
    places = (data.find(magic.to_bytes(4, "little"), start) for magic in (_DATA, _INDEX))
    return min((place for place in places if place >= 0), default=None)


def _end_of_index(data: mmap.mmap, start: int, size: int) -> tuple[int, bool]:
    """End of the part to skip, and whether it is whole; an index is JSON, and whole with its last bracket."""
    end = start + 8 + int.from_bytes(data[start + 4 : start + 8], "little")
    return end, start + 8 <= end <= size and (_magic(data, start) != _INDEX or data[end - 1 : end] == b"}")


def _end_of_blocks(data: mmap.mmap, start: int, size: int) -> tuple[int, bool]:
    """End of a frame, and whether it is whole; if it was cut off, the end of its last whole block."""
    if start + 5 > size:
        return start, False
    told = data[start + 4]
    single, checksum = told >> 5 & 1, told >> 2 & 1
    at = start + 5 + (not single) + (0, 1, 2, 4)[told & 3] + (single, 2, 4, 8)[told >> 6]
    end = start
    while at + 3 <= size:
        block = int.from_bytes(data[at : at + 3], "little")
        at += 3 + (1 if block >> 1 & 3 == 1 else block >> 3)
        if at > size:
            break
        end = at
        if block & 1:
            return (at + 4 * checksum, True) if at + 4 * checksum <= size else (end, False)
    return end, False
