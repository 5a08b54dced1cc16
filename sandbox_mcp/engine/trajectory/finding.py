"""Places of logs: the files and packs that a path leads to, at any depth.

Policy: a named path without any log is an error. What may not be looked into, or was cut off, is told together with
what was found, so that nothing is left out in silence. A pack in a folder that cannot be read is listed as if it were a
log, so that whoever reads it is told. What disappears during the search was never there.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import overload

from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.trajectory.errors import TrajectoryError
from sandbox_mcp.engine.trajectory.packs import (
    PACKED,
    SUFFIX,
    has_log,
    in_pack,
    is_pack,
    packed_digest,
    packed_sessions,
    read_packed,
)

NOT_ALLOWED = "cannot be read: Permission denied; what is in it is left out"


class LogPaths(Sequence[Path]):
    """The paths of logs in order, each made when it is asked for: there may be millions, most of them never opened.

    ``closed`` are folders that could not be looked into, ``cut`` says of packs that they end in the middle of a log.
    """

    __slots__ = ("closed", "cut", "texts")

    def __init__(self, texts: Iterable[str], *, closed: Iterable[str] = (), cut: Iterable[str] = ()) -> None:
        """The paths as texts, written as ``str`` writes them."""
        self.texts = list(texts)
        self.closed = tuple(closed)
        self.cut = tuple(cut)

    @classmethod
    def of(cls, paths: Sequence[Path]) -> "LogPaths":
        """These paths in this form."""
        return paths if isinstance(paths, cls) else cls(map(str, paths))

    @property
    def folders(self) -> frozenset[Path]:
        """The folders in which the logs and their packs lie."""
        inside = {os.path.dirname(text) for text in self.texts}  # noqa: PTH120  (a path for each would take long)
        return frozenset(Path(place).parent if place.endswith(PACKED) else Path(place) for place in inside)

    @overload
    def __getitem__(self, index: int) -> Path: ...
    @overload
    def __getitem__(self, index: slice) -> "LogPaths": ...
    def __getitem__(self, index: int | slice) -> "Path | LogPaths":
        return LogPaths(self.texts[index]) if isinstance(index, slice) else Path(self.texts[index])

    def __len__(self) -> int:
        return len(self.texts)

    def __iter__(self) -> Iterator[Path]:
        return map(Path, self.texts)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, LogPaths):
            return self.texts == other.texts
        return list(self) == other if isinstance(other, list) else NotImplemented

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return f"LogPaths({self.texts!r})"


def logs_at(path: Path, *, spoilt: bool = False) -> LogPaths:
    """The logs that a path leads to: itself, or those in a pack, or in a folder and its packs at any depth, sorted.

    With ``spoilt``, a pack in an unreadable folder, or one with a lost part, is among them itself.

    Raises:
        TrajectoryError: a pack cannot be read.
    """
    if path.is_dir():
        found: list[str] = []
        closed: list[str] = []
        cut: list[str] = []
        for file in sorted(_log_files(path, closed), key=_in_order_of_parts):
            try:
                packed = packed_logs(Path(file), spoilt=spoilt) if file.endswith(PACKED) else LogPaths([file])
            except TrajectoryError:
                if not spoilt:
                    raise
                packed = LogPaths([file])
            found += packed.texts
            cut += packed.cut
        return LogPaths(found, closed=closed, cut=cut)
    if is_pack(path):
        return packed_logs(path, spoilt=spoilt)
    return LogPaths([str(path)] if path.exists() or has_log(path) else [])


def packed_logs(pack: Path, *, spoilt: bool = False) -> LogPaths:
    """The paths of all logs in a pack that count, sorted.

    With ``spoilt`` the pack itself is among them where some may be lost.

    Raises:
        TrajectoryError: it cannot be read.
    """
    found = packed_sessions(pack)
    paths = (f"{pack}{os.sep}{name}{SUFFIX}" for name in found.names)
    lost = [str(pack)] if spoilt and found.lost is not None else []
    behind = f"{pack}: is cut off at byte {found.cut}; the {counted(found.whole, 'session')} before it are whole"
    return LogPaths([*lost, *paths], cut=() if found.cut is None else (behind,))


def _log_files(folder: Path, closed: list[str]) -> Iterator[str]:
    """The files of logs and the packs in a folder at any depth; folders that may not be read go to ``closed``."""
    waiting = ["" if str(folder) == os.curdir else os.path.join(folder, "")]  # noqa: PTH118  (as scandir joins them)
    while waiting:
        inside = waiting.pop()
        try:
            with os.scandir(inside or os.curdir) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(f"{inside}{entry.name}{os.sep}")
                    elif entry.name.endswith((SUFFIX, PACKED)):
                        yield inside + entry.name
        except PermissionError:
            closed.append(inside or os.curdir)
        except FileNotFoundError:
            continue


def _in_order_of_parts(path: str) -> str:
    """A key that puts paths into the order in which ``Path`` has them, part by part."""
    return os.path.normcase(path).replace(os.sep, "\0")


def stamped_logs(path: Path) -> Iterator[tuple[str, str]]:
    """The logs that a path leads to, as :func:`logs_at` finds them but unsorted, each with its :func:`log_stamp`.

    A pack that cannot be read stands for its content; a folder that cannot be read, and what goes while this looks,
    have nothing to give.
    """
    folders = [str(path)] if path.is_dir() else []
    packs = [] if folders else [path]
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif entry.name.endswith(SUFFIX):
                    with suppress(OSError):
                        status = entry.stat()
                        yield entry.path, f"{status.st_size}-{status.st_mtime_ns}"
                elif entry.name.endswith(PACKED):
                    packs.append(Path(entry.path))
    for pack in packs:
        try:
            logs = logs_at(pack, spoilt=True)
        except TrajectoryError:
            logs = [pack]
        yield from ((str(log), stamp) for log in logs if (stamp := log_stamp(log)))


def find_logs(paths: Iterable[Path]) -> LogPaths:
    """The logs among ``paths``, spoilt packs included, see :func:`logs_at`; one that several lead to is there once.

    Raises:
        TrajectoryError: a path does not exist, or a folder or pack holds no log that can be read.
    """
    found: list[str] = []
    closed: list[str] = []
    cut: list[str] = []
    named = tuple(paths)
    for path in named:
        inside = logs_at(path, spoilt=True)
        if not inside and not path.exists():
            if in_pack(path):
                read_packed(path)  # says what is wrong with it
            raise TrajectoryError(str(path), None, "does not exist; expected a log or a folder of logs")
        if not inside and inside.closed:
            raise TrajectoryError(inside.closed[0], None, NOT_ALLOWED)
        if not inside and inside.cut:
            raise TrajectoryError(str(path), None, "is cut off in its first session, or holds such packs")
        if not inside:
            raise TrajectoryError(str(path), None, f"holds no log; expected files that end in {SUFFIX} or {PACKED}")
        found += inside.texts
        closed += inside.closed
        cut += inside.cut
    several = len(named) > 1
    return LogPaths(dict.fromkeys(found) if several else found, closed=dict.fromkeys(closed), cut=dict.fromkeys(cut))


def folder_of(path: Path) -> Path:
    """The folder in which a log lies, or the pack that has it."""
    return path.parent.parent if in_pack(path) else path.parent


def log_stamp(path: Path) -> str:
    """Stamp that tells this state of a log from any other, without reading it; nothing where there is no such log."""
    try:
        if in_pack(path):
            return packed_digest(path)
        status = path.stat()
    except (OSError, TrajectoryError):
        return ""
    return f"{status.st_size}-{status.st_mtime_ns}"
