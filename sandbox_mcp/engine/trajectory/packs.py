"""Packs: the logs of many sessions in one file, ``NAME.jsonl.zst``, which ``zstd -dc`` turns into their lines again.

Policy: a pack is only ever appended to, by one process. Sessions are compressed in frames of about a megabyte, in which
each finds again what it shares with those before it (world, tools), and the compressor is flushed after each: a pack
that was cut off anywhere has lost at most the session that was being written. Behind a frame stands a skippable frame
that names the sessions in it; where it is missing or damaged, they are found by unpacking the whole ones. What is
damaged takes no more with it than its frame. A session that does not count any more is named in a file beside the
pack, and stays in it.

The log of a packed session has a path like any other, ``NAME.jsonl.zst/SESSION.jsonl``, and nothing outside this
package has to know whether such a path leads into a pack.

Form: an index is one JSON object, ``{"sessions": [[name, length, digest], ...], "digest": digest}``, in the order of
the frame before it, lengths in bytes, the last digest that of the list; how frames and indexes lie in the file is for
``sandbox_mcp.engine.trajectory.frames`` to know.
"""

import json
import mmap
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.trajectory.errors import TrajectoryError
from sandbox_mcp.engine.trajectory.frames import Compressor, PackFrame, frames_in, index_frame, most_of, unpack
from sandbox_mcp.engine.whole_files import append_whole

SUFFIX = ".jsonl"
PACKED = ".jsonl.zst"
LEFT_OUT = ".left-out"
"""What the name of the file beside a pack ends in that names, one a line, the sessions that do not count any more."""
FRAME = 1 << 20
"""Bytes of logs after which a frame is finished: what has to be unpacked to read one session, at most, or so."""
SESSION_LINE, END_LINE = b'{"event":"session",', b'{"event":"end",'
"""How the first line of a log of ours begins, and the line that ends a session."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Place of a session: its frame, and the part of the unpacked frame."""

    frame: PackFrame
    start: int
    length: int
    digest: str


class _Sessions(NamedTuple):
    """Content of a pack: the place of each session, by name.

    ``cut`` is the byte at which it was cut off, ``lost`` the first at which sessions may have been lost of which not
    even the names are known; None if there is no such byte.
    """

    places: Mapping[str, _Place]
    cut: int | None
    lost: int | None = None


def in_pack(path: Path) -> bool:
    """True if a path is that of a session in a pack."""
    return path.parent.name.endswith(PACKED)


def is_pack(path: Path) -> bool:
    """True if a path has the name of a pack, and leads to a file."""
    return path.name.endswith(PACKED) and path.is_file()


class PackedSessions(NamedTuple):
    """``names`` are those that count, sorted; ``whole`` is how many there are.

    ``cut`` is where the pack was cut off, ``lost`` where it is damaged so that nobody knows what was there.
    """

    names: list[str]
    whole: int
    cut: int | None
    lost: int | None


def packed_sessions(pack: Path) -> PackedSessions:
    """Sessions in a pack.

    Raises:
        TrajectoryError: it cannot be read.
    """
    out, (places, cut, lost) = _left_out(pack), _indexed(pack, _identity(pack))
    return PackedSessions(sorted(places.keys() - out), len(places), cut, lost)


def has_log(path: Path) -> bool:
    """True if a path leads to a log in a pack that counts."""
    if not (in_pack(path) and is_pack(path.parent)):
        return False
    name = path.name.removesuffix(SUFFIX)
    return name in _places(path.parent) and name not in _left_out(path.parent)


def can_be_packed(lines: bytes) -> bool:
    """True if lines begin and end as our own logs do, so that a session can be told from the next without an index."""
    return lines.startswith(SESSION_LINE) and lines.endswith(b"\n")


def read_packed(path: Path) -> bytes:
    """The lines of a packed session, as they were written, whether it counts or not.

    Raises:
        TrajectoryError: the pack cannot be read or is damaged, or has no such session.
    """
    place = _place(path)
    unpacked = _unpacked(path.parent, place.frame, _identity(path.parent) if place.frame.index is None else None)
    lines = unpacked[place.start : place.start + place.length]
    if digest_of(lines) != place.digest:
        raise TrajectoryError(str(path), None, "is damaged: it is not what was packed under that name")
    return lines


def packed_digest(path: Path) -> str:
    """A digest of the lines of a packed session; one look at the pack's index. Raises like :func:`read_packed`."""
    return _place(path).digest


def packed_digests(pack: Path) -> Callable[[str], str]:
    """Digests (:func:`packed_digest`) of a pack's sessions as it is now, by the names of their logs.

    It gives nothing for a log that the pack does not have.

    Raises:
        TrajectoryError: it cannot be read.
    """
    places = _places(pack)

    def digest(log: str) -> str:
        place = places.get(log.removesuffix(SUFFIX))
        return place.digest if place else ""

    return digest


def leave_out(path: Path) -> None:
    """Let a packed session count no more."""
    with _list_of_left_out(path.parent).open("a", encoding="utf-8") as file:
        file.write(path.name.removesuffix(SUFFIX) + "\n")


class PackWriter:
    """Writes a pack of its own: a file that it makes when the first session comes. For one thread at a time."""

    def __init__(self, folder: Path, stem: str) -> None:
        """The pack's name is ``stem`` with the first free number in ``folder``."""
        self._folder = folder
        self._stem = stem
        self._descriptor = -1
        self._compressor: Compressor | None = None
        self._sessions: list[tuple[str, int, str]] = []
        self._names = set[str]()
        self._broken = False
        self.path: Path | None = None

    def add(self, name: str, lines: bytes) -> None:
        """Append a session, whole; when this returns the system has it.

        Raises:
            OSError: it cannot be kept; the pack is as it was before, and takes no more.
            ValueError: the pack has a session of that name, or this is not a log.
        """
        if name in self._names:
            raise ValueError(f"the pack has a session {name!r} already")
        if not can_be_packed(lines):
            raise ValueError(f"what is to be packed as {name!r} does not begin and end as a log of ours does")
        if self._descriptor < 0:
            self._descriptor = self._made()
        self._compressor = self._compressor or Compressor()
        self._write(self._compressor.flushed(lines))
        self._names.add(name)
        self._sessions.append((name, len(lines), digest_of(lines)))
        if sum(length for _, length, _ in self._sessions) >= FRAME:
            self.rest()

    def rest(self) -> None:
        """Finish the frame and write its index, which tells its content without unpacking."""
        if self._compressor is None or self._broken:
            return
        index = {"sessions": self._sessions, "digest": _digest_of_index(self._sessions)}
        self._write(self._compressor.finished() + index_frame(_json(index)))
        self._compressor, self._sessions = None, []

    def close(self) -> None:
        """Finish the frame and let go of the file; a session that comes later makes a new pack."""
        if self._descriptor >= 0:
            try:
                self.rest()
            finally:
                os.close(self._descriptor)
                self._descriptor = -1

    def __enter__(self) -> "PackWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _made(self) -> int:
        self._folder.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL
        flags |= getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        number = 1
        while True:
            self.path = self._folder / f"{self._stem}-{number}{PACKED}"
            try:
                return os.open(self.path, flags, 0o666)
            except FileExistsError:
                number += 1

    def _write(self, data: bytes) -> None:
        """Append to the file, all or nothing. What the compressor has seen and the file has not makes it useless."""
        if self._broken:
            raise OSError(f"pack {str(self.path)!r} could not be written to before, and takes no more")
        try:
            append_whole(self._descriptor, data, self.path or self._folder)
        except OSError:
            self._broken = True
            raise


@lru_cache(maxsize=8)
def _unpacked(pack: Path, frame: PackFrame, _state: tuple[int, int, int] | None) -> bytes:
    """Unpack a frame of a pack; the last few are kept.

    A frame with an index is known by that, or by its digest, so that a kept entry never passes for a frame of another
    pack that got the same name later. A frame without an index is known by the state of its file.
    """
    with pack.open("rb") as file:
        file.seek(frame.start)
        packed = file.read(frame.end - frame.start)
    try:
        data = unpack(packed)
    except MemoryError:
        raise  # which says nothing about the pack
    except Exception as error:  # each of the two modules has an error of its own
        raise TrajectoryError(str(pack), None, f"is damaged at byte {frame.start}: {error}") from error
    if len(data) > (most := most_of(len(packed))):
        problem = f"has a frame at byte {frame.start} that unpacks to more than {most} bytes"
        raise TrajectoryError(str(pack), None, problem)
    return data


def _place(path: Path) -> _Place:
    places = _places(path.parent)
    try:
        return places[path.name.removesuffix(SUFFIX)]
    except KeyError:
        raise TrajectoryError(str(path), None, f"is not among the {len(places)} sessions of the pack") from None


def _identity(path: Path) -> tuple[int, int, int]:
    """Stamp that tells this state of a file from any other."""
    try:
        status = path.stat()
    except OSError as error:
        raise TrajectoryError(str(path), None, f"cannot be read: {error.strerror or error}") from error
    return status.st_ino, status.st_size, status.st_mtime_ns


def _places(pack: Path) -> Mapping[str, _Place]:
    return _indexed(pack, _identity(pack)).places


@lru_cache(maxsize=64)
def _indexed(pack: Path, identity: tuple[int, int, int]) -> _Sessions:
    """Place of every session of a pack, by name, and the place where the pack was cut off or is damaged.

    Raises:
        TrajectoryError: it cannot be read, or nothing in it can be told from any other file.
    """
    size = identity[1]
    found: dict[str, _Place] = {}
    if not size:
        return _Sessions(found, None)
    try:
        with pack.open("rb") as file, mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) as data:
            frames = list(frames_in(data, str(pack)))
    except OSError as error:
        raise TrajectoryError(str(pack), None, f"cannot be read: {error.strerror or error}") from error
    start, lost, why = 0, None, None
    for frame in frames:
        start = 0
        kept = frame if frame.index is None else replace(frame, index=digest_of(frame.index).encode())
        try:
            listed = _listed(frame, pack, identity)
        except TrajectoryError as error:
            lost, why = (frame.start, error) if lost is None else (lost, why)
            continue
        for name, length, digest in listed:
            found[name] = _Place(kept, start, length, digest)
            start += length
    if why and not found:
        raise why
    if not frames:
        return _Sessions(found, 0)
    last = frames[-1]
    end = last.end if last.index is None else last.end + 8 + len(last.index)
    half_a_session = last.index is None and lost != last.start and start < len(_unpacked(pack, last, identity))
    return _Sessions(found, end if end < size or half_a_session else None, lost)


def _listed(frame: PackFrame, pack: Path, identity: tuple[int, int, int]) -> list[tuple[str, int, str]]:
    """The sessions in a frame, from its index, or else from those of its lines that are whole.

    Raises:
        TrajectoryError: the index is missing or damaged, and the frame cannot be unpacked.
    """
    if frame.index is not None:
        with suppress(ValueError, KeyError, TypeError):  # what an index that is damaged says is in the frame as well
            told: dict[str, Any] = loads(frame.index)
            listed: list[Any] = told["sessions"]
            if told.get("digest") in (None, _digest_of_index(listed)):
                return [(str(name), int(length), str(digest)) for name, length, digest in listed]
    lines = _unpacked(pack, frame, identity).split(b"\n" + SESSION_LINE)
    texts = [lines[0] + b"\n", *(SESSION_LINE + line + b"\n" for line in lines[1:])]
    texts[-1] = texts[-1].removesuffix(b"\n")
    if not texts[-1].endswith(b"\n") or not texts[-1][texts[-1].rfind(b"\n", 0, -1) + 1 :].startswith(END_LINE):
        texts.pop()  # it was being written
    try:
        heads: list[Any] = [loads(text[: text.index(b"\n")]) for text in texts]
        return [(str(head["session"]), len(text), digest_of(text)) for head, text in zip(heads, texts, strict=True)]
    except (ValueError, KeyError, TypeError) as error:
        raise TrajectoryError(str(pack), None, f"is damaged at byte {frame.start}: it holds no logs there") from error


def _digest_of_index(sessions: Sequence[Sequence[object]]) -> str:
    return digest_of(_json(sessions))


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _list_of_left_out(pack: Path) -> Path:
    return pack.with_name(pack.name + LEFT_OUT)


def _left_out(pack: Path) -> frozenset[str]:
    try:
        return frozenset(_list_of_left_out(pack).read_text(encoding="utf-8").split("\n"))
    except FileNotFoundError:
        return frozenset()


def digest_of(lines: bytes) -> str:
    """Digest of these lines."""
    return blake2b(lines, digest_size=16).hexdigest()
