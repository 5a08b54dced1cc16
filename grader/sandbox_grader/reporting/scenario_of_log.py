"""Finds the scenario that a log is graded by.

Policy: our own logs name it. A log from elsewhere is of the scenario that has the log's name for it, as far as a
scenario can be called so, or else of the only one with whose opening it begins, in one message or several; both only
among files that were named.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from pathlib import Path

from sandbox_scenarios import Suite, UnknownScenarioError
from sandbox_scenarios.cache import stamps_in
from sandbox_scenarios.model import Scenario

from sandbox_grader.importers.reading.build import stem
from sandbox_mcp.engine.trajectory import Message, SessionStarted, Trajectory

_Stamps = tuple[tuple[str, int, int], ...]
Find = Callable[[str], Scenario | None]
"""Finds a scenario by name; None where there is no such scenario."""


@dataclass(frozen=True)
class SuiteFinder:
    """Finds scenarios in some files and folders, or the built-in ones; gives None where there is no such scenario.

    It can be sent to other processes, which read the files themselves, once for as long as they stay as they are.
    """

    places: tuple[Path, ...] = ()
    _files: _Stamps = field(init=False, repr=False)
    """Path, size and time of each file when this was made, so that a changed one is read again."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "places", tuple([Path(place).absolute() for place in self.places]))
        object.__setattr__(self, "_files", tuple(sorted(chain.from_iterable(map(stamps_in, self.places)))))

    def __call__(self, name: str) -> Scenario | None:
        """The scenario of that name. Raises like :meth:`Suite.get` where its file cannot be used."""
        try:
            return _suite(self.places, self._files).get(name)
        except UnknownScenarioError:
            return None

    def own_names(self) -> frozenset[str]:
        """The names of the scenarios in the files named. Raises like :meth:`Suite.names`."""
        return frozenset(_suite(self.places, self._files).names("*")) if self.places else frozenset()

    def of_log(self, log: Trajectory) -> Scenario | None:
        """The scenario of a log, which may come from elsewhere. Raises like :meth:`Suite.get`."""
        found = self(log.started.scenario)
        if found is not None or not self.places:
            return found
        named = self(plain_name(task)) if (task := task_of(log.started)) else None
        known = _openings(self.places, self._files)
        return named or self(next((known[words] for words in beginnings(log) if words in known), ""))


def placed(log: Trajectory, find: Find) -> tuple[Trajectory, Scenario | None]:
    """A log with its scenario, under whose name it is graded; logs from elsewhere may call it otherwise."""
    scenario = find.of_log(log) if isinstance(find, SuiteFinder) else find(log.started.scenario)
    if scenario is not None and scenario.name != log.started.scenario:
        log = replace(log, started=replace(log.started, scenario=scenario.name, digest=""))
    return log, scenario


def task_of(started: SessionStarted) -> str:
    """The name by which a log calls its scenario; nothing where an importer could only take that of the file."""
    file = str((started.origin or {}).get("file", ""))
    return "" if file and started.scenario == stem(file) else started.scenario


def plain_name(text: str) -> str:
    """A name as scenarios may have it: ``tau-bench/0`` is ``tau_bench_0``."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    return name if name[:1].isalpha() else f"s_{name}"


def beginnings(log: Trajectory) -> list[str]:
    """What the user says before the agent answers, each in one line: all of it first, then one message less each time.

    Nothing where the user says nothing.
    """
    said: list[str] = []
    for event in log.events:
        if isinstance(event, Message):
            if (event.sender, event.recipient) == ("agent", "user") and said:
                break
            said += [event.content] if event.sender == "user" else []
    return [" ".join(" ".join(said[:count]).split()) for count in range(len(said), 0, -1)]


@cache
def _suite(places: tuple[Path, ...], _files: _Stamps) -> Suite:
    return Suite(places)


@cache
def _openings(places: tuple[Path, ...], files: _Stamps) -> Mapping[str, str]:
    """The scenarios by the words with which alone they begin."""
    suite = _suite(places, files)
    names: dict[str, list[str]] = {}
    for name in suite.names("*"):
        names.setdefault(" ".join(suite.get(name).user.opening.split()), []).append(name)
    return {words: found[0] for words, found in names.items() if words and len(found) == 1}
