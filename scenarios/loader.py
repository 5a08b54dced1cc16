"""Finding and loading scenarios.

Policy: a file is parsed only when something in it is asked for. Names are found by a scan of the text, so that one
scenario costs one file and those it extends, however large the suite is.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from scenarios.build import build, labels_of
from scenarios.errors import ScenarioFileError, UnknownScenarioError
from scenarios.form import validate
from scenarios.merge import merge, written_as
from scenarios.model import Scenario
from scenarios.problem import ProblemError, closest
from scenarios.schema import RawScenario
from scenarios.values import row_id
from scenarios.yaml_lines import load

BUILT_IN = Path(__file__).parent / "suite"
_NAME = re.compile(r"name:\s*[\"']?([a-z][a-z0-9_]*)")
"""Finds too much (people have names as well) and finds it fast: it begins with a literal and ignores line starts."""


class _File:
    """One parsed file: its entries by name, as written, and where they stand."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        data, self.lines = load(_text(path), self.path)
        validate(data, self.path, self.lines)
        self.entries: list[dict[str, Any]] = data["scenarios"]
        self.index: dict[str, int] = {}
        for number, entry in enumerate(self.entries):
            if self.index.setdefault(entry["name"], number) != number:
                line = self.lines.of(("scenarios", number, "name"))
                raise ScenarioFileError(self.path, line, f"two scenarios have the name {entry['name']!r}")


@dataclass(frozen=True, slots=True)
class _Source:
    """One link of a chain of ``extends``: an entry, and all that it inherits."""

    file: _File
    number: int
    base: dict[str, Any]

    @property
    def entry(self) -> dict[str, Any]:
        return self.file.entries[self.number]

    def find(self, path: Sequence[str | int]) -> tuple[int, int]:
        """How many parts of a path of the merged scenario were written here, and the line of the last."""
        depth, line = self.file.lines.find(("scenarios", self.number, *written_as(self.entry, self.base, path)))
        return depth - 2, line


def _place(chain: Sequence[_Source], path: Sequence[str | int]) -> tuple[int, str, int]:
    """How far the link that wrote most of a path got, its file, and the line there; of equals the nearest."""
    found = ((*source.find(path), source.file.path) for source in chain)
    return max(((depth, file, line) for depth, line, file in found), key=lambda place: place[0])


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ScenarioFileError(str(path), None, f"cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ScenarioFileError(str(path), None, f"is not UTF-8 text: {error.reason} at byte {error.start}") from error


class Suite:
    """The scenarios in some files and folders; without any, the built-in suite."""

    def __init__(self, places: Iterable[Path] = ()) -> None:
        given = tuple(places)
        self._places = (*given, BUILT_IN) if given else (BUILT_IN,)
        self._own = len(given)
        self._files: dict[Path, _File] = {}
        self._built: dict[str, Scenario] = {}
        self._chains: dict[str, list[_Source]] = {}

    @cached_property
    def _homes(self) -> dict[str, list[Path]]:
        """Every name to the files that seem to hold it; files given by the caller come before built-in ones."""
        homes: dict[str, list[Path]] = {}
        for path in self._paths(self._places):
            for name in dict.fromkeys(_NAME.findall(_text(path))):
                homes.setdefault(name, []).append(path)
        return homes

    @staticmethod
    def _paths(places: Sequence[Path]) -> list[Path]:
        paths: list[Path] = []
        for place in places:
            if not place.exists():
                raise ScenarioFileError(
                    str(place), None, "does not exist; expected a scenario file or a folder of them"
                )
            paths += sorted(place.rglob("*.yaml")) if place.is_dir() else [place]
        return paths

    def names(self) -> tuple[str, ...]:
        """The names of all scenarios that can be played, in the order of files and of each file.

        Of the caller's own files where there are any, otherwise of the built-in suite.

        Raises:
            ScenarioFileError: a file cannot be used, or two of the files have a scenario of the same name.
        """
        return self._playable(self._places[: self._own] or self._places)

    def _playable(self, places: Sequence[Path]) -> tuple[str, ...]:
        homes: dict[str, str] = {}
        for file in map(self._file, self._paths(places)):
            for name, number in file.index.items():
                if file.entries[number].get("abstract"):
                    continue
                if homes.setdefault(name, file.path) != file.path:
                    line = file.lines.of(("scenarios", number, "name"))
                    raise ScenarioFileError(file.path, line, f"scenario {name!r} also stands in {homes[name]}")
        return tuple(homes)

    def get(self, name: str) -> Scenario:
        """One scenario.

        Raises:
            UnknownScenarioError: there is none of that name.
            ScenarioFileError: its file cannot be used.
        """
        if name not in self._built:
            found = self._find(name)
            if found is None or found[0].entries[found[1]].get("abstract"):
                raise UnknownScenarioError(name, self._every_name(), abstract=found is not None)
            self._built[name] = self._build(*found)
        return self._built[name]

    def all(self) -> tuple[Scenario, ...]:
        """Every scenario that can be played. Raises like :meth:`get`."""
        return tuple(self.get(name) for name in self.names())

    def place(self, name: str, path: Sequence[str | int] = ()) -> tuple[str, int]:
        """The file and line where a part of a scenario is written, in the base it inherits that part from if need be.

        ``path`` leads from the scenario down, such as ``("user", "opening")``. Raises like :meth:`get`.
        """
        _, file, line = _place(self._links(name), path)
        return file, line

    def lineage(self, name: str) -> tuple[str, ...]:
        """The scenario and all it extends, nearest first. Raises like :meth:`get`."""
        return tuple(str(link.entry["name"]) for link in self._links(name))

    def labels(self, name: str) -> Mapping[str, str]:
        """The id of every row of a scenario's or base's world that has a label, to ``table.label``.

        Raises like :meth:`get`, but for bases, which have one too.
        """
        nearest = self._links(name)[0]
        world: dict[str, Any] = merge(nearest.base, nearest.entry).get("world") or {}
        rows = ((table, label) for table, labelled in world.items() for label in labels_of(table, labelled))
        return {row_id(table, label): f"{table}.{label}" for table, label in rows}

    def base(self, name: str) -> Scenario:
        """A base world as a scenario in which nobody wants anything. Raises like :meth:`get`."""
        nearest = self._links(name)[0]
        merged = {**merge(nearest.base, nearest.entry), "name": name, "user": {"goal": "-", "opening": "-"}}
        return build(RawScenario.model_validate(merged), merged, nearest.file.path, 0)

    def bases(self) -> tuple[str, ...]:
        """The base worlds that scenarios branch from, the caller's own and the built-in, each once.

        Raises like :meth:`get`.
        """
        return tuple(dict.fromkeys(self.lineage(name)[-1] for name in self._every_name()))

    def _links(self, name: str) -> list[_Source]:
        found = self._find(name)
        if found is None:
            raise UnknownScenarioError(name, self._every_name())
        return self._chain(*found, ())

    def _file(self, path: Path) -> _File:
        if path not in self._files:
            self._files[path] = _File(path)
        return self._files[path]

    def _every_name(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self._playable(self._places[: self._own]), *self._playable((BUILT_IN,)))))

    def _find(self, name: str) -> tuple[_File, int] | None:
        """Where an entry stands. A name that the scan did not see may be written in a way it does not know."""
        for path in self._candidates(name):
            number = self._file(path).index.get(name)
            if number is not None:
                return self._file(path), number
        return None

    def _candidates(self, name: str) -> Iterator[Path]:
        yield from self._homes.get(name, ())
        yield from self._paths(self._places)

    def _build(self, file: _File, number: int) -> Scenario:
        chain = self._chain(file, number, ())
        entry = chain[0].entry
        merged = {**merge(chain[0].base, entry), "name": entry["name"]}
        try:
            line = file.lines.of(("scenarios", number))
            return build(RawScenario.model_validate(merged), merged, file.path, line)
        except ProblemError as problem:
            _, path, line = _place(chain, problem.path)
            raise ScenarioFileError(path, line, f"scenario {entry['name']!r}: {problem.text}") from problem

    def _chain(self, file: _File, number: int, via: tuple[str, ...]) -> list[_Source]:
        """An entry and all it extends, nearest first."""
        entry = file.entries[number]
        name, base = str(entry["name"]), entry.get("extends")
        if base is None:
            return [_Source(file, number, {})]
        line = file.lines.of(("scenarios", number, "extends"))
        if base in (*via, name):
            circle = " > ".join((*via, name, base))
            raise ScenarioFileError(file.path, line, f"scenario {name!r}: extends itself by way of {circle}")
        found = self._find(base)
        if found is None:
            hint = closest(base, self._homes)
            raise ScenarioFileError(file.path, line, f"scenario {name!r}: extends unknown {base!r}; {hint}")
        rest = self._chains.get(base) or self._chain(*found, (*via, name))
        self._chains[base] = rest
        return [_Source(file, number, merge(rest[0].base, rest[0].entry)), *rest]
