"""Cache of what was built from scenario files, for the processes that come later.

Policy: a kept value is found again only while all that it was made from is the same: the caller's files by their
content; built-in files and code by size and time, as Python goes by for its own bytecode; the time zones and the Python
by their versions. A cache saves time and does nothing else: where it cannot be written, is damaged, or belongs to
another user, everything is built from the files. It can name only the classes below, so that reading it runs no code,
and it is read only from a folder in which no other user can write.

Looking at every file takes longer than all the rest. So for one scenario only the files that it was made from are
looked at: its own, those of what it extends, and its world's; and also the list of built-in files, because a new one
might come first. One edit goes unnoticed: an entry of another built-in file gets a taken name. Until
names are listed, the name means what it meant before, as its file has it now. Listing looks at all files and refuses
the duplicate.
"""

import io
import os
import pickle
import re
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields
from functools import cache
from hashlib import blake2b, sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar, cast

from sandbox_mcp.engine import tools
from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.tools.injected import FaultRule
from sandbox_mcp.engine.world import Clock, Snapshot
from sandbox_mcp.engine.worlds import BUILT_IN as WORLDS
from sandbox_mcp.engine.worlds import JOINED, named
from sandbox_scenarios import model
from sandbox_scenarios.happenings import Happening, WorldCondition

VARIABLE = "SANDBOX_MCP_CACHE"
"""The environment variable that names another folder for the cache, or ``off`` for none."""
SUITES_KEPT = 32
"""Of how many states of files something is kept; what was used last stays."""
_PACKAGE = Path(str(tools.__file__)).parent.parent
_CHECK = 16
_OTHERS = 0o077
_Kept = TypeVar("_Kept")
_STATE = re.compile(r"[0-9a-f]{32}")
_KIND = re.compile(r"[a-z0-9_.+-]{1,60}")
_NAME = re.compile(r"[a-z0-9_+]{1,150}|\*?")


def _frozen(values: Mapping[Any, Any]) -> Mapping[Any, Any]:
    return MappingProxyType(values)


_CLASSES: tuple[Any, ...] = (
    Clock, FaultRule, Happening, Snapshot, WorldCondition,
    model.Answer, model.CallConstraint, model.CallPattern, model.Exchange, model.Expected, model.Fact,
    model.MessageConstraint, model.Milestone, model.PlannedAct, model.PlannedCall, model.PlannedTurn, model.Scenario,
    model.Script, model.Slip, model.Solution, model.TableConstraint, model.UserSpec, model.ValueRef,
)  # fmt: skip
"""All that a scenario consists of besides plain values, frozen mappings, and its world, which is kept by name."""
_MAKERS: Mapping[tuple[str, str], Callable[..., Any]] = {
    (kind.__module__, kind.__qualname__): kind for kind in (*_CLASSES, _frozen)
}
_FIELDS: Mapping[Any, tuple[str, ...]] = {
    kind: tuple(field.name for field in fields(kind) if field.init) for kind in _CLASSES
}


class _Writer(pickle.Pickler):
    """Writes plain values and the classes above, and refuses everything else."""

    def persistent_id(self, obj: Any) -> str | None:
        """A world of ours is written as its name, with the state of its code."""
        if not isinstance(obj, World):
            return None
        if not is_ours(obj.name) or named(obj.name) is not obj:
            raise pickle.PicklingError(f"world {obj.name!r} may be another one next time")
        return f"{obj.name} {_code_of(obj.name)}"

    def reducer_override(self, obj: Any) -> Any:
        """Reduce an object to how it is made again; asked for everything but plain values."""
        if type(obj) is MappingProxyType:
            return _frozen, (dict(cast("Mapping[Any, Any]", obj)),)
        if names := _FIELDS.get(type(obj)):
            return type(obj), tuple(getattr(obj, name) for name in names)
        if obj is _frozen or obj in _FIELDS:
            return NotImplemented
        raise pickle.PicklingError(f"{type(obj).__name__} is no part of a scenario")


class _Reader(pickle.Unpickler):
    """Reads what the writer writes; whatever else a file may say stops it."""

    def persistent_load(self, pid: Any) -> World:
        """The world of ours by its name, if its code is the same."""
        name, _, code = str(pid).partition(" ")
        if not is_ours(name) or code != _code_of(name):
            raise pickle.UnpicklingError(f"{pid!r} is no world of ours, or was another one")
        return named(name)

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        """One of the classes above."""
        if made := _MAKERS.get((module_name, global_name)):
            return made
        raise pickle.UnpicklingError(f"{module_name}.{global_name} is no part of a scenario")


class SuiteCache:
    """Cache of one state of some files. Each thing is a file of its own, and is replaced as a whole."""

    def __init__(self, folder: Path | None = None) -> None:
        """Without a folder nothing is kept."""
        self._folder = folder
        self._there = False
        if folder is not None:
            with suppress(OSError):
                os.utime(folder)
                self._there = True

    @classmethod
    def of(cls, own: Mapping[Path, str], built_in: Path) -> "SuiteCache":
        """The cache of the caller's own files, as they are written, and the built-in ones."""
        home = users_folder("suites")
        if home is None:
            return cls()
        state = sha256(_surroundings(built_in))
        for part in (part for path, text in own.items() for part in (str(path), text)):
            written = part.encode("utf-8", "surrogatepass")
            state.update(b"%d:" % len(written) + written)
        return cls(home / state.hexdigest()[:32])

    def get(self, kind: str, name: str, form: type[_Kept]) -> _Kept | None:
        """Read the value kept under a name; None where nothing is, or where it no longer holds."""
        if self._folder is None or not self._there or not _is_plain(kind, name):
            return None
        try:
            with (self._folder / self._file(kind, name)).open("rb", buffering=0) as file:
                written = file.readall() if _is_mine(os.fstat(file.fileno())) else b""
            if written[:_CHECK] == _check(written[_CHECK:]):
                made_from, value = _Reader(io.BytesIO(written[_CHECK:])).load()
                holds = all(stamp(path) == (size, changed) for path, size, changed in made_from)
                return value if holds and isinstance(value, form) else None
        except Exception:  # noqa: BLE001  (whatever is wrong with it, it can be built)
            return None
        return None

    def put(self, kind: str, name: str, value: Any, made_from: Iterable[str] = ()) -> bool:
        """Keep something under a name, with the built-in files it was made from; whether that could be done."""
        if self._folder is None or not _is_plain(kind, name):
            return False
        buffer = io.BytesIO()
        with suppress(OSError, pickle.PicklingError):
            _Writer(buffer, 5).dump((tuple((path, *stamp(path)) for path in made_from), value))
            written = buffer.getvalue()
            if not self._there:
                _begin(self._folder)
                self._there = True
            _replace(self._folder / self._file(kind, name), _check(written) + written)
            return True
        return False

    @staticmethod
    def _file(kind: str, name: str) -> str:
        return f"{kind}-{name.replace('*', 'ALL')}"


def _is_plain(kind: str, name: str) -> bool:
    """True if kind and name make a file's name, and nothing that leads elsewhere."""
    return bool(_KIND.fullmatch(kind) and _NAME.fullmatch(name))


def _check(written: bytes) -> bytes:
    return blake2b(written, digest_size=_CHECK).digest()


def users_folder(name: str) -> Path | None:
    """A folder of the user's cache; None where the cache is switched off, or others could write to it."""
    named_here = os.environ.get(VARIABLE, "")
    if named_here.lower() == "off":
        return None
    try:
        cache_of_user = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        home = (Path(named_here) if named_here else Path(cache_of_user) / "sandbox-mcp") / name
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = home.lstat()
    except (OSError, RuntimeError):  # a user may have no home
        return None
    open_to_others = sys.platform != "win32" and status.st_mode & _OTHERS
    return home if stat.S_ISDIR(status.st_mode) and _is_mine(status) and not open_to_others else None


def _is_mine(status: os.stat_result) -> bool:
    """True if something belongs to the user; on Windows the profile's folder sees to that."""
    return sys.platform == "win32" or status.st_uid == os.geteuid()


def _begin(folder: Path) -> None:
    """Make room for a state of files, in place of those that have not been used for longest."""
    folder.mkdir(mode=0o700, exist_ok=True)
    with suppress(OSError):
        from shutil import rmtree

        states = (other for other in folder.parent.iterdir() if _STATE.fullmatch(other.name))
        used = sorted(states, key=lambda other: other.stat().st_mtime, reverse=True)
        for old in used[SUITES_KEPT:]:
            rmtree(old, ignore_errors=True)


def _replace(path: Path, written: bytes) -> None:
    """Put a whole file in place of the present one, so that a reader at the same moment finds the one or the other."""
    new = path.with_name(f"{path.name}.{os.getpid()}.{time.monotonic_ns()}")
    try:
        new.write_bytes(written)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


@cache
def _surroundings(built_in: Path) -> bytes:
    """Digest of everything else that shapes the scenarios built from files: our code, versions, and paths."""
    import tzdata

    stamps = (
        *stamps_in(_PACKAGE, deep=False),
        *stamps_in(_PACKAGE / "tools"),
        *stamps_in(_PACKAGE / "world"),
        *stamps_in(_PACKAGE / "worlds", deep=False),
        *stamps_in(Path(__file__).parent, deep=False),  # what checks and counts scenarios builds none
    )
    versions = (sys.version, sys.implementation.cache_tag or "", tzdata.IANA_VERSION)
    files = (entry.path for entry in _files_in(built_in) if entry.name.endswith(".yaml"))
    return repr((versions, sorted(stamps), sorted(files))).encode()


@cache
def is_ours(name: str) -> bool:
    """True if a world is built in, or all those are that stand side by side in it."""
    return all(part in WORLDS for part in name.split(JOINED))


def _code_of(name: str) -> str:
    """A digest of the code and the data of one of our worlds, or of several side by side."""
    places = (WORLDS[part].removeprefix("sandbox_mcp.engine.worlds.") for part in name.split(JOINED))
    parts = (place.partition(":")[0].partition(".")[0] for place in places)
    stamps = [sorted(stamps_in(_PACKAGE / "worlds" / part)) for part in parts]
    return sha256(repr(stamps if len(stamps) > 1 else stamps[0]).encode()).hexdigest()


@cache
def stamp(path: str) -> tuple[int, int]:
    """Size and time of a built-in file, as this process found them first.

    Whoever reads such a file asks for them before, so that its kept form cannot pass for what it became meanwhile.
    """
    status = Path(path).stat()
    return status.st_size, status.st_mtime_ns


def stamps_in(folder: Path, *, deep: bool = True) -> Iterator[tuple[str, int, int]]:
    """The path, size and time of every file in a folder, but for bytecode; of the file alone, if it is one."""
    if folder.is_file():
        status = folder.stat()
        yield str(folder), status.st_size, status.st_mtime_ns
    for entry in _files_in(folder, deep=deep):
        with suppress(OSError):  # it may be gone again, or lead nowhere
            status = entry.stat()
            yield entry.path, status.st_size, status.st_mtime_ns


def _files_in(folder: Path, *, deep: bool = True) -> Iterator[os.DirEntry[str]]:
    waiting = [str(folder)]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if not entry.is_dir():
                    yield entry
                elif deep and entry.name != "__pycache__":
                    waiting.append(entry.path)
