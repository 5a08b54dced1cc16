"""Logs in object storage: places that fsspec knows by URLs such as ``s3://bucket/run``, copied to this machine.

Policy: a command works on the copy. What it reads is copied first, as far as it has changed since the last time; what
it wrote is copied back when it ends, however it ends. The copy stays, so that kept scores hold, and so that a command
that was killed loses nothing: the same command again goes on, and copies back. A file that was changed in both places
is never overwritten; of the files that sum up a run the last one counts.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.errors import SandboxError, first_line
from sandbox_mcp.engine.trajectory.packs import LEFT_OUT, PACKED, SUFFIX
from sandbox_mcp.engine.whole_files import write_whole

COPIED = (SUFFIX, PACKED, PACKED + LEFT_OUT, SUFFIX + ".aside", ".json")
"""How the names of files end that belong to a run."""
SUMMED = re.compile(r"(.*/)?(run|summary[^/]*)\.json")
STAMPS = ".copied"
"""The file that says what was copied, and what it was like."""
BLOCK = 1 << 20
"""Bytes of two files that are held against each other at a time."""
TOLD = ("ETag", "etag", "md5Hash", "crc32c", "last_modified", "LastModified", "updated", "mtime", "created")
"""What file systems call what changes with a file."""


class StorageError(SandboxError):
    """A place in object storage that cannot be used."""


class _Stamp(NamedTuple):
    """A file as it was when both places had the same."""

    there: str
    size: int
    time: int


@dataclass(frozen=True, slots=True)
class StoredCopy:
    """A place in object storage, and the folder of its copy; ``path`` is what stands there for the place itself."""

    url: str
    folder: Path
    path: Path
    _files: Any
    _root: str

    @classmethod
    def of(cls, url: str, *, to_write: bool = False) -> "StoredCopy":
        """The copy of a place, brought up to date. Only one ``to_write`` may be empty.

        Raises:
            StorageError: nothing knows such URLs, the place cannot be read, or holds no logs.
        """
        files, root = _opened(url)
        try:
            inner = "" if to_write else _session_in_pack(files, root)
            whole = root.removesuffix(f"/{inner}") if inner else root
            single = not to_write and bool(files.isfile(whole))
            above = whole.rpartition("/")[0] if single else whole
            folder = _home() / _named(above, url)
            copy = cls(url, folder, folder / whole.rpartition("/")[2] / inner if single else folder, files, above)
            named = [path for path in (whole, whole + LEFT_OUT) if single and files.isfile(path)]
            found = {path.rpartition("/")[2]: files.info(path) for path in named} or dict(copy._there())
            if not found and not to_write:
                raise StorageError(f"{url!r} holds no log; expected files that end in {SUFFIX} or {PACKED}")
            copy._fetch(found)
        except StorageError:
            raise
        except Exception as error:  # each file system has errors of its own
            raise StorageError(f"{url!r} cannot be read: {first_line(error) or type(error).__name__}") from error
        return copy

    def send(self) -> int:
        """Copy back new and changed files, and say how many files those are.

        Raises:
            StorageError: it cannot be written, or something there was changed meanwhile.
        """
        stamps, sent = self._stamps(), dict[str, tuple[int, int]]()
        try:
            there = dict(self._there())
            for name in sorted(_names(self.folder)):
                path, known, here = self.folder / name, stamps.get(name), _here(self.folder / name)
                if here is None or (known and known[1:] == here):
                    continue
                if name in there and not (known and known.there == _there_stamp(there[name])):
                    self._check_same(name)
                target = f"{self._root}/{name}"
                self._files.makedirs(target.rpartition("/")[0], exist_ok=True)
                self._files.put_file(str(path), target)
                sent[name] = here
            self._files.invalidate_cache()
            there = dict(self._there()) if sent else {}
            self._note(
                stamps | {name: _Stamp(_there_stamp(there[name]), *sent[name]) for name in sent if name in there}
            )
        except StorageError:
            raise
        except Exception as error:  # each file system has errors of its own
            why = first_line(error) or type(error).__name__
            told = f"{self.url!r} cannot be written: {why}; what was to go there is in {str(self.folder)!r}"
            raise StorageError(told) from error
        return len(sent)

    def _there(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The files of a run in object storage, by name below its root."""
        if not self._files.exists(self._root):
            return
        for path, info in self._files.find(self._root, detail=True).items():
            name = str(path).removeprefix(self._root).lstrip("/")
            if _belongs_to_a_run(PurePosixPath(name)):
                yield name, info

    def _fetch(self, found: Mapping[str, Mapping[str, Any]]) -> None:
        stamps = self._stamps()
        for name, info in found.items():
            path, known, met = self.folder / name, stamps.get(name), _there_stamp(info)
            here = _here(path)
            if known and known.there == met and here is not None:
                continue
            if here is not None and (known is None or known[1:] != here):
                self._check_same(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            new = path.with_name(f".{path.name}.{os.getpid()}")
            self._files.get_file(f"{self._root}/{name}", str(new))
            new.replace(path)
            stamps[name] = _Stamp(met, *(_here(path) or (0, 0)))
        for name in [name for name in stamps if name not in found]:
            if _here(self.folder / name) == stamps[name][1:]:
                (self.folder / name).unlink()
            del stamps[name]
        self.folder.mkdir(parents=True, exist_ok=True)
        self._note(stamps)

    def _check_same(self, name: str) -> None:
        """Refuse to overwrite a file that was changed in both places, unless it is the same or sums up a run."""
        if SUMMED.fullmatch(name):
            return
        with self._files.open(f"{self._root}/{name}", "rb") as there, (self.folder / name).open("rb") as here:
            while (one := there.read(BLOCK)) == here.read(BLOCK):
                if not one:
                    return
        twice = f"{name!r} was changed in {self.url!r} and in its copy {str(self.folder)!r}"
        raise StorageError(f"{twice}; move one of the two elsewhere, and give the command again")

    def _stamps(self) -> dict[str, _Stamp]:
        try:
            told: dict[str, list[Any]] = loads((self.folder / STAMPS).read_text(encoding="utf-8"))
            return {name: _Stamp(str(there), int(size), int(time)) for name, (there, size, time) in told.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def _note(self, stamps: Mapping[str, _Stamp]) -> None:
        write_whole(self.folder / STAMPS, json.dumps(stamps))


def _opened(url: str) -> tuple[Any, str]:
    """Open a URL with fsspec: the file system, and the path in it."""
    try:
        core = import_module("fsspec.core")
    except ImportError as error:
        raise StorageError(f"{url!r} needs fsspec; install it with: pip install 'sandbox-mcp-eval[storage]'") from error
    try:
        files, root = core.url_to_fs(url)
    except Exception as error:  # what is not installed, not known, or not allowed
        raise StorageError(f"{url!r} cannot be opened: {first_line(error) or type(error).__name__}") from error
    return files, str(root).rstrip("/")


def _session_in_pack(files: Any, root: str) -> str:
    """The name of a session where a path leads into a pack, as the paths of logs in packs do."""
    above, _, name = root.rpartition("/")
    return name if above.endswith(PACKED) and files.isfile(above) else ""


def _named(place: str, url: str) -> str:
    """The name of a copy's folder: readable, and different for every place."""
    plain = re.sub(r"[^\w.-]+", "-", PurePosixPath(place).name)
    return f"{plain}-{sha256(url.encode()).hexdigest()[:12]}"


def _home() -> Path:
    """Home of copies: in the user's cache, or where ``SANDBOX_MCP_STORAGE`` says."""
    own = os.environ.get("SANDBOX_MCP_STORAGE")
    cache = os.environ.get("XDG_CACHE_HOME")
    return Path(own) if own else (Path(cache) if cache else Path.home() / ".cache") / "sandbox-mcp" / "storage"


def _names(folder: Path) -> Iterator[str]:
    """The files of a run in a folder, without those that are not finished."""
    for path in folder.rglob("*"):
        name = PurePosixPath(*path.relative_to(folder).parts)
        if _belongs_to_a_run(name) and path.is_file():
            yield str(name)


def _belongs_to_a_run(name: PurePosixPath) -> bool:
    return name.name.endswith(COPIED) and not any(part.startswith(".") for part in name.parts)


def _here(path: Path) -> tuple[int, int] | None:
    with suppress(OSError):
        status = path.stat()
        return status.st_size, status.st_mtime_ns
    return None


def _there_stamp(info: Mapping[str, Any]) -> str:
    return " ".join(map(str, (info.get("size"), *(info[key] for key in TOLD if key in info))))
