"""Finding and loading scenarios.

Policy: a file is parsed only when something in it is asked for. Names are found by a scan of the text, so that one
scenario costs one file and those it extends, however large the suite is.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from scenarios.build import build
from scenarios.errors import ScenarioFileError, UnknownScenarioError
from scenarios.merge import merge
from scenarios.model import Scenario
from scenarios.problem import ProblemError, closest
from scenarios.schema import RawFile, RawScenario
from scenarios.yaml_lines import Lines, load

BUILT_IN = Path(__file__).parent / "suite"
_NAME = re.compile(r"^\s*-?\s*name:\s*[\"']?([a-z][a-z0-9_]*)", re.MULTILINE)


class _File:
    """One parsed file: its entries by name, as written, and where they stand."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        data, self.lines = load(_text(path), self.path)
        self.data: dict[str, Any] = data if isinstance(data, dict) else {}
        _validate(data, self.path, self.lines)
        self.entries: list[dict[str, Any]] = self.data["scenarios"]
        self.index = {entry["name"]: number for number, entry in enumerate(self.entries)}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ScenarioFileError(str(path), None, f"cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ScenarioFileError(str(path), None, f"is not UTF-8 text: {error.reason} at byte {error.start}") from error


def _validate(data: Any, path: str, lines: Lines) -> None:
    """Check the form of a whole file before anything is merged, so that faults are told where they were written."""
    try:
        RawFile.model_validate(_without_plus(data))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = list(first["loc"])
        raise ScenarioFileError(path, lines.of(where), _reason(where, first, data)) from error


def _reason(where: Sequence[str | int], error: Mapping[str, Any], data: Any) -> str:
    name = _scenario_name(where, data)
    path = ".".join(str(part) for part in where[2:] if name) or ".".join(map(str, where))
    text = f"unknown key {where[-1]!r}" if error["type"] == "extra_forbidden" else str(error["msg"])
    shown = path if error["type"] != "extra_forbidden" else ".".join(path.split(".")[:-1])
    return ": ".join(part for part in (f"scenario {name!r}" if name else "", shown, text) if part)


def _scenario_name(where: Sequence[str | int], data: Any) -> str:
    if len(where) > 1 and where[0] == "scenarios" and isinstance(where[1], int):
        entry = data["scenarios"][where[1]]
        return str(cast("dict[str, Any]", entry).get("name", "")) if isinstance(entry, dict) else ""
    return ""


def _without_plus(value: Any) -> Any:
    if isinstance(value, dict):
        items = cast("dict[Any, Any]", value).items()
        return {
            key[:-1] if isinstance(key, str) and key.endswith("+") else key: _without_plus(item) for key, item in items
        }
    return [_without_plus(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value


class Suite:
    """The scenarios in some files and folders; without any, the built-in suite."""

    def __init__(self, places: Iterable[Path] = ()) -> None:
        given = tuple(places)
        self._places = (*given, BUILT_IN) if given else (BUILT_IN,)
        self._own = len(given)
        self._files: dict[Path, _File] = {}
        self._built: dict[str, Scenario] = {}

    @cached_property
    def _homes(self) -> dict[str, Path]:
        """Every name in any file to the file that holds it; files given by the caller win over built-in ones."""
        homes: dict[str, Path] = {}
        for path in self._paths(self._places):
            for name in _NAME.findall(_text(path)):
                homes.setdefault(name, path)
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
            ScenarioFileError: a file cannot be used.
        """
        places = self._places[: self._own] or self._places
        files = (self._file(path) for path in self._paths(places))
        return tuple(str(entry["name"]) for file in files for entry in file.entries if not entry.get("abstract"))

    def get(self, name: str) -> Scenario:
        """One scenario.

        Raises:
            UnknownScenarioError: there is none of that name.
            ScenarioFileError: its file cannot be used.
        """
        if name not in self._built:
            file, number = self._find(name)
            if file is None or file.entries[number].get("abstract"):
                raise UnknownScenarioError(name, self.names())
            self._built[name] = self._build(file, number)
        return self._built[name]

    def all(self) -> tuple[Scenario, ...]:
        """Every scenario that can be played. Raises like :meth:`get`."""
        return tuple(self.get(name) for name in self.names())

    def _file(self, path: Path) -> _File:
        if path not in self._files:
            self._files[path] = _File(path)
        return self._files[path]

    def _find(self, name: str) -> tuple[_File | None, int]:
        home = self._homes.get(name)
        file = self._file(home) if home else None
        number = file.index.get(name) if file else None
        return (file, number) if number is not None else (None, 0)

    def _build(self, file: _File, number: int) -> Scenario:
        line = file.lines.of(("scenarios", number))
        try:
            merged = self._inherited(file, number, ())
            return build(RawScenario.model_validate(merged), merged, file.path, line)
        except ProblemError as problem:
            where = file.lines.of(("scenarios", number, *problem.path))
            name = file.entries[number]["name"]
            raise ScenarioFileError(file.path, where, f"scenario {name!r}: {problem.text}") from problem

    def _inherited(self, file: _File, number: int, via: tuple[str, ...]) -> dict[str, Any]:
        entry = file.entries[number]
        name, base = str(entry["name"]), entry.get("extends")
        if base is None:
            return {**merge({}, entry), "name": name}
        if base in (*via, name):
            raise ProblemError(("extends",), f"extends itself by way of {' > '.join((*via, name, base))}")
        base_file, base_number = self._find(base)
        if base_file is None:
            raise ProblemError(("extends",), f"extends unknown {base!r}; {closest(base, self._homes)}")
        return {**merge(self._inherited(base_file, base_number, (*via, name)), entry), "name": name}
