"""The runs below the paths that a person names: where the logs of each lie, and what it says of itself."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Any

from sandbox_mcp.app.report.errors import ReportError
from sandbox_mcp.app.run.folder import MANIFEST, manifest_in
from sandbox_mcp.engine.trajectory.finding import folder_of, stamped_logs
from sandbox_mcp.engine.trajectory.packs import PACKED, SUFFIX, has_log


@dataclass(frozen=True, slots=True)
class RunSource:
    """A run to be indexed: its key in addresses, where its logs lie, and its manifest if it has one.

    Of ``loose`` logs, which lie in a folder beside runs and belong to none, those of that folder alone count.
    """

    key: str
    path: Path
    manifest: Mapping[str, Any]
    loose: bool = False

    def logs(self) -> Iterator[tuple[str, str]]:
        """The paths of its logs, each with what tells this state of it from any other."""
        if self.loose:
            return ((log, stamp) for log, stamp in stamped_logs(self.path) if folder_of(Path(log)) == self.path)
        return stamped_logs(self._folder)

    def naming(self) -> Callable[[str], str]:
        """A function that names a log by its path below the run's folder, as no other log of the run is named."""
        whole, above = str(self._folder), f"{self._folder}{os.sep}"
        return lambda log: Path(log).stem if log == whole else log.removeprefix(above).removesuffix(SUFFIX)

    @property
    def _folder(self) -> Path:
        logs = self.path / "logs"
        return logs if logs.is_dir() and not self.loose else self.path


def find_runs(paths: Iterable[Path]) -> list[RunSource]:
    """The runs below some paths: folders with a manifest, and others with logs that belong to none of those.

    Where nothing below a path has a manifest, all below it is one run.

    Raises:
        ReportError: a path does not exist.
    """
    found: dict[str, RunSource] = {}
    for path in paths:
        if not (path.exists() or has_log(path)):
            raise ReportError(f"{str(path)!r} does not exist; expected the folder of a run, or a folder of those")
        for place, loose in _places(path):
            key = _name(place, {key for key, run in found.items() if run.path != place})
            found[key] = RunSource(key, place, manifest_in(place), loose)
    return list(found.values())


def _name(place: Path, taken: Set[str]) -> str:
    """The folder's name, and where another run has that already, as many of the folders above it as tell them apart."""
    parts = place.resolve().parts
    names = (f"{parts[-1]} in {'/'.join(parts[start:-1])}" for start in range(len(parts) - 2, -1, -1))
    return next(name for name in chain([parts[-1]], names, (f"{parts[-1]} {n}" for n in count(2))) if name not in taken)


def _places(path: Path) -> list[tuple[Path, bool]]:
    """The folders of runs below a path, or else that path; and the folders of logs that belong to no run."""
    runs: list[Path] = []
    loose: list[Path] = []
    for folder, folders, files in os.walk(path):
        folders.sort()
        place = Path(folder)
        if MANIFEST in files:
            runs.append(place)
        elif any(name.endswith((SUFFIX, PACKED)) for name in files) and not any(map(place.is_relative_to, runs)):
            loose.append(place)
    return [*((run, False) for run in runs), *((place, True) for place in loose)] if runs else [(path, False)]
