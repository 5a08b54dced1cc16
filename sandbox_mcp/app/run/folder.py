"""The folder of a run: one log per unit, a manifest, a summary, and what was set aside.

Policy: a log gets its name only once it is whole, so a process may be killed at any moment. What it left half done is
moved to ``aside`` and played again, as is a session that failed for reasons that say nothing about the agent, or whose
scenario has changed since. Nothing is ever deleted, nothing is counted twice, and only whole logs are called
``.jsonl``, so that whoever grades the folder finds those and no others. Two processes may share a folder if their
shards differ and they share the same sessions out in the same way; a lock per shard sees to that. A log that is being
written has a name of its own: a worker that was taken for dead, and plays on, gets in nobody's way.

Of a run of many sessions the logs go into packs, each written by one process of one command. Sessions that failed stay
files of their own, because they will be set aside.
"""

import json
import re
import secrets
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any, cast

from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.app.run.unit import Shard, Unit
from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.trajectory import INFRASTRUCTURE, LogWriter, Trajectory, TrajectoryError, read_trajectory
from sandbox_mcp.engine.trajectory.finding import logs_at
from sandbox_mcp.engine.trajectory.log import log_bytes
from sandbox_mcp.engine.trajectory.packs import SUFFIX, PackWriter, has_log, in_pack, leave_out
from sandbox_mcp.engine.whole_files import write_whole
from sandbox_mcp.play.session.file_lock import FileLock

MANIFEST = "run.json"
SUMMARY = "summary.json"
LOGS, PARTIAL = "logs", "partial"
"""Folders of whole logs, and of those that are being written."""
NAMED = 3
"""So many files of somebody else are named."""
PART = ".part"
"""What the name of a log ends in that is being written, or that a crash cut off."""
CLAIM = "claim.lock"
"""The lock that is held while sessions are shared out."""
PACKED_FROM = 2000
"""From how many sessions on a run's logs are packed where nothing was said about it."""
FIXED = ("schema", "agent", "user")
"""What of a manifest may not differ between two commands that share a folder."""


def manifest_in(folder: Path) -> Mapping[str, Any]:
    """Read a run's manifest; nothing where there is none, or the file of that name is another program's."""
    try:
        data: Any = loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    told = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    ours = all(isinstance(told.get(name), dict) for name in ("agent", "user", "scenarios"))
    return told if ours else {}


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Folder of one run."""

    root: Path

    @property
    def logs(self) -> Path:
        """Whole logs, one per unit."""
        return self.root / LOGS

    def log(self, unit: Unit) -> Path:
        """Path of a unit's whole log, now or later, as a file of its own."""
        return self.logs / f"{unit.name}{SUFFIX}"

    def kept(self) -> dict[str, Path]:
        """The whole logs of all units, by the units' names, whoever played them."""
        return {path.name.removesuffix(SUFFIX): path for path in sorted(logs_at(self.logs), key=_own_files_last)}

    @property
    def begun_here(self) -> bool:
        """True if the run is in this folder, as this machine sees it."""
        return (self.root / MANIFEST).exists()

    @property
    def cut(self) -> tuple[str, ...]:
        """A message for each pack here that ends in the middle of a log, as a crash may leave it."""
        return logs_at(self.logs).cut

    def prepare(self) -> None:
        """Make the folder.

        Raises:
            RunError: it cannot be made, or something else is in its place.
        """
        self._refuse_other_files()
        for folder in (self.logs, self._partial):
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise RunError(f"output folder {str(folder)!r} cannot be made: {error.strerror}") from error

    def _refuse_other_files(self) -> None:
        """See that the folder is a run's, or holds nothing that a person would see.

        Raises:
            RunError: it holds the files of somebody else.
        """
        if any((self.root / ours).exists() for ours in (MANIFEST, LOGS, PARTIAL)):
            return
        with suppress(OSError):  # of no folder, or one that cannot be listed, which is told when it is made
            others = sorted(path.name for path in self.root.iterdir() if not path.name.startswith("."))
            if others:
                named = ", ".join(map(repr, others[:NAMED])) + (", ..." if len(others) > NAMED else "")
                raise RunError(
                    f"output folder {str(self.root)!r} is not of a run: it holds {named}; name a new folder with --out,"
                    f" such as {str(self.root / 'run')!r}"
                )

    def settle(self) -> None:
        """See that each unit counts once, even if several processes wrote its log, such as a worker taken for dead."""
        counting: dict[str, Path] = {}
        for path in sorted(logs_at(self.logs), key=_own_files_last)[::-1]:
            if counting.setdefault(path.name, path) != path and in_pack(path):
                leave_out(path)

    def begun(self) -> dict[str, list[Path]]:
        """The logs that are not known to be whole, by the names of the units that they are of."""
        found: dict[str, list[Path]] = {}
        for path in sorted(self._partial.glob(f"*{SUFFIX}*{PART}")):
            found.setdefault(path.name.partition(SUFFIX)[0], []).append(path)
        return found

    def claim(self, unit: Unit) -> tuple[Unit, Path]:
        """The next trial of a unit that nobody has begun, and the file for its log, which is made at once.

        Raises:
            OSError: it cannot be made.
        """
        with FileLock(self._partial / CLAIM).held():
            taken = self.kept().keys() | self.begun().keys()
            mine = next(other for trial in count() if (other := replace(unit, trial=trial)).name not in taken)
            path = self._partial / f"{mine.name}{SUFFIX}.{secrets.token_hex(4)}{PART}"
            path.touch(exist_ok=False)
        return mine, path

    def finished(
        self, unit: Unit, digest: str, kept: Mapping[str, Path], begun: Mapping[str, Sequence[Path]]
    ) -> Trajectory | None:
        """The log of a unit, among ``kept``, that need not be played again; any that cannot count is set aside."""
        path = kept.get(unit.name)
        for unfinished in begun.get(unit.name, ()):
            with suppress(TrajectoryError, FileNotFoundError):
                if path and in_pack(path) and unfinished.read_bytes() == log_bytes(path):
                    unfinished.unlink()  # the command was killed in the moment between packing it and this
            self._set_aside(unfinished)
        if path is None:
            return None
        with suppress(TrajectoryError):
            trajectory = read_trajectory(path)
            ended = trajectory.ended
            if ended and ended.reason not in INFRASTRUCTURE and trajectory.started.digest == digest:
                return trajectory
        self._set_aside(path)
        return None

    @contextmanager
    def claimed(self, shard: Shard, shared: str) -> Generator[None]:
        """Keep other commands from playing the same sessions at the same time.

        ``shared`` tells the sessions that are shared out from any others: where two commands share out different ones,
        or in another number of parts, a session may be in a part of each.

        Raises:
            RunError: another command plays this part, or shares out other sessions, or in another way.
        """
        ours = f"-of-{shard.count}-{sha256(shared.encode()).hexdigest()[:12]}.lock"
        part = f"of the run in {str(self.root)!r}; wait for it, or"
        with ExitStack() as claim:
            with FileLock(self._partial / CLAIM).held():  # so that nobody looks while another does
                mine = self._partial / f"shard-{shard.index}{ours}"
                if not claim.enter_context(FileLock(mine).held(within=0)):
                    playing = f"another command is playing part {shard.index}/{shard.count}"
                    raise RunError(f"{playing} {part} share the work with --shard I/N")
                for path in self._partial.glob("shard-*.lock"):
                    if path.name.endswith(ours):
                        continue
                    with FileLock(path).held(within=0) as free:
                        if not free:
                            playing = f"another command is playing other sessions, or parts of another size, {part}"
                            raise RunError(f"{playing} give all the same sessions and the same N of --shard I/N")
                        with suppress(OSError):  # where what is open cannot be removed
                            path.unlink()
            yield

    def set_aside(self) -> Iterator[Trajectory]:
        """Logs that were set aside and can still be read."""
        for path in sorted((self.root / "aside").glob(f"*{SUFFIX}.aside")):
            with suppress(TrajectoryError):
                yield read_trajectory(path)

    def peek(self, name: str, kept: Mapping[str, Path]) -> Trajectory | None:
        """The log of a unit by the unit's name, among those ``kept``, unless it has gone; nothing is moved.

        Raises:
            TrajectoryError: it cannot be read.
        """
        path = kept[name]
        return read_trajectory(path) if path.exists() or has_log(path) else None

    def writer(self, unit: Unit) -> LogWriter:
        """Begin the log of a unit under a name not taken for a whole one.

        Raises:
            RunError: the folder has gone, and with it what had been played.
        """
        if not (self._partial.is_dir() and self.logs.is_dir()):
            raise RunError(f"output folder {str(self.root)!r} was removed while the run went on")
        return LogWriter(self._partial / f"{unit.name}{SUFFIX}.{secrets.token_hex(4)}{PART}")

    def pack(self, shard: Shard) -> PackWriter:
        """A pack for what this process plays of a part of the run."""
        return PackWriter(self.logs, f"{shard.index}-of-{shard.count}")

    def keep(self, unit: Unit, path: Path, pack: PackWriter | None = None) -> None:
        """Give the log that was written at ``path`` its name, now that it is whole, or put it into a pack.

        Raises:
            OSError: it cannot be kept; it stays where it was.
        """
        if pack is None:
            self._set_aside(self.log(unit))  # that of a worker which was taken for dead
            path.replace(self.log(unit))
            return
        pack.add(unit.name, path.read_bytes())
        path.unlink()

    def state(self, manifest: Mapping[str, Any]) -> str | None:
        """Write the manifest, or add to the present one.

        Returns:
            What a person should know of sessions that are there already: they have another seed.

        Raises:
            RunError: the folder holds a run of another agent or user, or files of somebody else.
        """
        path = self.root / MANIFEST
        try:
            found: Any = loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        except (OSError, ValueError) as error:
            raise RunError(f"{str(path)!r} is not a manifest of a run: {error}") from error
        if not isinstance(found, dict):
            raise RunError(f"{str(path)!r} is not a manifest of a run: expected one JSON object")
        before = cast("dict[str, Any]", found)
        for key in FIXED if before else ():
            if differing := _differences(before.get(key), manifest.get(key)):
                raise RunError(
                    f"{str(self.root)!r} holds a run with another {key}: {differing}; choose another folder with --out"
                )
        scenarios = {**before.get("scenarios", {}), **manifest["scenarios"]}
        write_json(path, {**manifest, "scenarios": dict(sorted(scenarios.items()))})
        if before and before.get("seed") != manifest.get("seed"):
            return (
                f"{str(self.root)!r} also holds sessions of seed {before.get('seed')}; those of seed "
                f"{manifest.get('seed')} are added, and the summary is of both"
            )
        return None

    def summarise(self, summary: Mapping[str, Any], part: Shard | None = None) -> None:
        """Write the summary, of the whole run or of a part that sums itself up alone."""
        write_json(self.summary(part) if part else self.root / SUMMARY, summary)

    def summary(self, part: Shard) -> Path:
        """Path of the summary of a part of the run, if that sums itself up alone."""
        return self.root / f"summary-{part.index}-of-{part.count}.json"

    @property
    def _partial(self) -> Path:
        return self.root / PARTIAL

    def _set_aside(self, path: Path) -> None:
        if not (in_pack(path) or path.exists()):
            return
        aside = self.root / "aside"
        aside.mkdir(exist_ok=True)
        number = 1
        while (target := aside / f"{path.name.partition(SUFFIX)[0]}.{number}{SUFFIX}.aside").exists():
            number += 1
        if in_pack(path):
            with suppress(TrajectoryError):  # what cannot be read is in its pack for who can mend it
                write_whole(target, log_bytes(path))
            leave_out(path)
        else:
            path.replace(target)


def _own_files_last(path: Path) -> tuple[bool, Path]:
    """A key that sorts packed logs before files: of a session that has both, the file counts."""
    return not in_pack(path), path


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON document whole or not at all."""
    write_whole(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def _differences(before: Any, now: Any) -> str:
    """Members in which two descriptions differ, in words; empty where they mean the same.

    The port of an address on this machine is no difference: a server started again has another one.
    """
    was, now_is = dict(_members(before)), dict(_members(now))
    return ", ".join(
        f"{name or 'it'} is {was.get(name, 'not stated')} there and {now_is.get(name, 'not stated')} here"
        for name in {**was, **now_is}
        if was.get(name) != now_is.get(name)
    )


def _members(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, member in cast("dict[str, Any]", value).items():
            yield from _members(member, f"{name}.{key}" if name else key)
    else:
        text = json.dumps(value, ensure_ascii=False)
        yield name, _LOOPBACK.sub("localhost", text) if isinstance(value, str) else text


_LOOPBACK = re.compile(r"(?<=://)(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]):\d{1,5}(?!\d)")
"""Host and port of an address on this machine."""
