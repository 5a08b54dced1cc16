"""Reading and writing trajectory logs: JSON Lines, one session per file, one flush per event.

Policy: a log is append-only, and a line is in it whole or not at all: one that does not fit is taken back, and whoever
wrote it is told. A last line that a crash cut off is dropped and the log counts as incomplete; any other
line that cannot be read is an error that names the file and the line, because skipping it would change the score.
"""

import json
import os
from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from sandbox_mcp.engine.bounded import TooLargeError, loads, read_bounded
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.trajectory.errors import TrajectoryError
from sandbox_mcp.engine.trajectory.events import SCHEMA, Event, Message, SessionEnded, SessionStarted, ToolCall
from sandbox_mcp.engine.trajectory.packs import digest_of, in_pack, is_pack, packed_digest, packed_sessions, read_packed
from sandbox_mcp.engine.whole_files import append_whole, check_regular

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_ELSEWHERE = "those of a run lie in its folder 'logs', and 'sandbox-mcp import' reads those of other harnesses"
_OURS = f'{{"event":"session","schema":{SCHEMA},"session":"'.encode()
"""How the first line of a log of this version begins, whose schema needs no look of its own."""
_EMPTY = "is empty; expected a trajectory log in JSON Lines"


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One session as it was recorded; ``cut`` tells that its last line was incomplete."""

    started: SessionStarted
    events: tuple[Message | ToolCall, ...]
    ended: SessionEnded | None
    path: str = ""
    cut: bool = False

    @property
    def complete(self) -> bool:
        """True if the session reached an end of its own."""
        return self.ended is not None


class Sink(Protocol):
    """Destination of a session's events."""

    def write(self, event: Event) -> None:
        """Keep one event, in order."""
        ...


class MemoryLog:
    """Keeps the events of one session in memory."""

    __slots__ = ("events",)

    def __init__(self) -> None:
        self.events: list[Event] = []

    def write(self, event: Event) -> None:
        """Keep one event."""
        self.events.append(event)

    def trajectory(self, path: str = "") -> Trajectory:
        """Events recorded so far, as if they had been written and read again."""
        return assemble(self.events, path)


class LogWriter:
    """Appends the events of one session to a file, so that a crash loses at most the line in flight.

    Nothing is kept back in the process: when ``write`` returns the system has the line, and when it raises the file is
    as it was before.
    """

    __slots__ = ("_descriptor", "path")

    def __init__(self, path: Path, *, exists: bool = False) -> None:
        """Open a log, which is made with its folder unless it has to be there already."""
        self.path = path
        flags = os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        made = flags if exists else flags | os.O_CREAT
        try:
            self._descriptor = os.open(path, made, 0o666)
        except FileNotFoundError:
            if exists:
                raise
            path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(path, made, 0o666)

    def write(self, event: Event) -> None:
        """Append one event as one line.

        Raises:
            OSError: it cannot be kept, because there is no room, or because the file has been removed.
        """
        append_whole(self._descriptor, to_line(event).encode(), self.path)

    def close(self) -> None:
        """Close the file; writing afterwards is an error."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> "LogWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def to_line(event: Event) -> str:
    """One event as one line of JSON, with its newline. Halves of characters, which no file can hold, become ``?``."""
    line = _ENCODER.encode(event) + "\n"
    return line if line.isascii() else line.encode("utf-8", "replace").decode()


def all_lines(trajectory: Trajectory) -> bytes:
    """All events of a session as the lines of a log."""
    last = (trajectory.ended,) if trajectory.ended else ()
    return "".join(map(to_line, (trajectory.started, *trajectory.events, *last))).encode()


def plain(value: object) -> Any:
    """A value of a log in a form that JSON has; the ``default`` of :func:`json.dumps`."""
    if names := _field_names(type(value)):
        return {name: getattr(value, name) for name in names}
    if isinstance(value, Mapping):
        return dict(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    raise TypeError(f"{type(value).__name__} is not JSON")


_ENCODER = json.JSONEncoder(default=plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


@cache
def _field_names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(item.name for item in fields(kind)) if is_dataclass(kind) else ()


def mend_log(path: Path) -> bool:
    """Make a log fit to be appended to, and say whether it was changed.

    A last line that a crash cut off is removed; one that only lacks its newline gets it. A missing file is fine.
    """
    if not check_regular(path).exists():
        return False
    data = path.read_bytes()
    start = data.rfind(b"\n") + 1
    if start == len(data):
        return False
    if _is_whole(data[start:]):
        with path.open("ab") as file:
            file.write(b"\n")
    else:
        os.truncate(path, start)
    return True


def read_trajectory(path: str | Path) -> Trajectory:
    """Read one log, from a file of its own or from a pack.

    Raises:
        TrajectoryError: the file is missing, is not a log, has a broken line, or was written by a newer version.
    """
    return parse_trajectory(log_bytes(Path(path)), str(path))


def log_bytes(path: Path) -> bytes:
    """The lines of a log as they were written, from a file of its own or from a pack.

    Raises:
        TrajectoryError: it cannot be read.
    """
    if in_pack(path):
        return read_packed(path)
    if is_pack(path):
        found = packed_sessions(path)  # which says what is wrong with it where nothing can be read
        if found.lost is not None:
            left = f"the {counted(found.whole, 'session')} that can be told from it are read"
            problem = f"is damaged at byte {found.lost}, where sessions may be lost; {left}"
            raise TrajectoryError(str(path), None, problem)
        raise TrajectoryError(
            str(path), None, f"is a pack of many logs; name one of them, as in {path.name}/SESSION.jsonl"
        )
    try:
        return read_bounded(path)
    except TooLargeError as error:
        raise TrajectoryError(str(path), None, str(error)) from error
    except OSError as error:
        raise TrajectoryError(str(path), None, f"cannot be read: {error.strerror or error}") from error


def log_digest(path: Path) -> str:
    """A digest of the lines of a log, which a pack knows without a look at them. Raises like :func:`log_bytes`."""
    return packed_digest(path) if in_pack(path) else digest_of(log_bytes(path))


def parse_trajectory(data: bytes, path: str = "<log>") -> Trajectory:
    """Read one log from bytes; ``path`` is for messages only. Raises like :func:`read_trajectory`."""
    lines = data.removeprefix(BOM_UTF8).split(b"\n")
    cut = bool(lines[-1].strip()) and not _is_whole(lines[-1])
    whole = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    if cut:
        whole.pop()
    if not whole:
        problem = "is not a trajectory log: its first line is cut off" if cut else _EMPTY
        raise TrajectoryError(path, None, problem)
    if not (whole[0][1].startswith(_OURS) and whole[0][1].endswith(b"}")):
        _check_schema(*whole[0], path, document=len(whole) > 1 and _is_whole(data))
    events = [(number, _event(number, line, path)) for number, line in whole]
    trajectory = _assembled(events, path, cut=cut)
    # a log in which an event is missing, doubled or out of place would be graded as another session
    for expected, (line, event) in enumerate(events):
        if not isinstance(event, SessionStarted) and event.seq != expected:
            problem = f"is event {event.seq}, expected {expected}; a line is missing, doubled or out of place"
            raise TrajectoryError(path, line, problem)
    return trajectory


def assemble(events: Iterable[Event], path: str = "") -> Trajectory:
    """Put events into a trajectory.

    Raises:
        TrajectoryError: the first event does not start a session, a later one does, or something follows the end.
    """
    return _assembled(list(enumerate(events, start=1)), path)


def _assembled(events: Sequence[tuple[int, Event]], path: str, *, cut: bool = False) -> Trajectory:
    line, started = events[0] if events else (1, None)
    if not isinstance(started, SessionStarted):
        raise TrajectoryError(path, line, "is not a trajectory log: its first line must be the 'session' event")
    last = events[-1][1]
    ended = last if isinstance(last, SessionEnded) else None
    between: list[Message | ToolCall] = []
    for line, event in events[1 : len(events) - (ended is not None)]:
        if isinstance(event, SessionStarted | SessionEnded):
            raise TrajectoryError(path, line, f"has a {event.event!r} event in the middle; one log holds one session")
        between.append(event)
    return Trajectory(started, tuple(between), ended, path, cut)


def _event(number: int, line: bytes, path: str) -> Event:
    from pydantic import ValidationError

    try:
        event = _adapter().validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        problem = f"is not a log event: {where + ': ' if where else ''}{first['msg']}"
        raise TrajectoryError(path, number, problem) from error
    if b"NaN" in line or b"Infinity" in line:  # this reader lets them through as numbers, and those of browsers do not

        def refuse(constant: str) -> None:
            raise TrajectoryError(path, number, f"is not a log event: {constant} is not JSON")

        loads(line, parse_constant=refuse)
    return event


def _check_schema(number: int, line: bytes, path: str, *, document: bool) -> None:
    if document:
        raise TrajectoryError(
            path, None, f"is one JSON document and no trajectory log, which has an event per line; {_ELSEWHERE}"
        )
    try:
        head = loads(line)
    except (ValueError, RecursionError) as error:
        raise TrajectoryError(path, number, f"is not a trajectory log: not JSON ({error})") from error
    schema = head.get("schema") if isinstance(head, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(schema, int):
        raise TrajectoryError(
            path,
            number,
            f"is not a trajectory log: its first line must be the 'session' event with a schema number; {_ELSEWHERE}",
        )
    if schema > SCHEMA:
        problem = f"was written with log schema {schema}; this version reads up to {SCHEMA}, upgrade sandbox-mcp"
        raise TrajectoryError(path, number, problem)


def _is_whole(line: bytes) -> bool:
    try:
        loads(line)
    except (ValueError, RecursionError):
        return False
    return True


@cache
def _adapter() -> "TypeAdapter[Event]":
    from pydantic import Field, TypeAdapter

    return TypeAdapter(Annotated[Event, Field(discriminator="event")])
