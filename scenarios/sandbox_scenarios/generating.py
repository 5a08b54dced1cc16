"""Families by generator: a Python function that makes a scenario of a draw and of sizes, its answer included.

Policy: the function gets a :class:`Draw` that depends on the scenario's name and the instance alone, and returns what a
scenario file would have; it is merged over the entry as a branch is over its base. It must not look at anything else
(no clock, no random source, no file that may change), so that a log can be graded wherever the function is.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any, cast

from pydantic import ValidationError

from sandbox_mcp.engine.own_code import others_code
from sandbox_scenarios.errors import ScenarioError
from sandbox_scenarios.merge import RESERVED, merge
from sandbox_scenarios.pools import POOLS
from sandbox_scenarios.problem import ProblemError
from sandbox_scenarios.schema import RawScenario

Generator = Callable[["Draw", Mapping[str, Any]], object]
"""Makes an entry of a draw and of the sizes under ``generate: {size: ...}``."""


class Draw(Random):
    """A source of chance for one instance, which never gives the same word twice."""

    def __init__(self, seed: str) -> None:
        super().__init__(seed)
        self._left: dict[str, list[str]] = {}

    def word(self, kind: str) -> str:
        """A word of a kind, such as ``woman`` or ``last``; another one each time.

        Raises:
            ScenarioError: there is no such kind, or none of its words is left.
        """
        if kind not in POOLS:
            raise ScenarioError(f"unknown kind of word {kind!r}; known: {', '.join(POOLS)}")
        left = self._left.setdefault(kind, self.sample(POOLS[kind], len(POOLS[kind])))
        if not left:
            raise ScenarioError(f"all {len(POOLS[kind])} words of kind {kind!r} are used")
        return left.pop()

    def person(self) -> str:
        """A first and a last name that no other person has."""
        return f"{self.word(self.choice(('woman', 'man')))} {self.word('last')}"


def generated(merged: dict[str, Any], folder: Path, instance: str) -> dict[str, Any]:
    """A merged entry with what its generator makes; files are looked for in ``folder``.

    Raises:
        ProblemError: the function cannot be loaded, breaks, or returns no mapping.
    """
    given = cast("dict[str, Any]", merged["generate"])
    by, name = str(given.get("by", "")), str(merged["name"])
    where = ("generate", "by")
    try:
        function = _function(by, folder)
        with others_code(f"generator {by!r} broke", ScenarioError):
            made = function(Draw(f"{name}/{instance or 0}"), cast("dict[str, Any]", given.get("size") or {}))
    except ScenarioError as error:
        raise ProblemError(where, str(error)) from error
    if not isinstance(made, Mapping):
        raise ProblemError(where, f"generator {by!r} returned {type(made).__name__}, not a mapping")
    for key in ("name", "extends", "generate"):
        if key in made:
            raise ProblemError(where, f"generator {by!r} sets {key!r}, which only the file can say")
    own = {key: merged[key] for key in RESERVED if key in merged}
    return {**own, **merge(merged, dict(cast("Mapping[str, Any]", made))), "name": name, "generate": given}


def made_valid(merged: dict[str, Any]) -> RawScenario:
    """A generated entry, if it has the form of a scenario.

    Raises:
        ProblemError: it has not; the first fault is told by its place in what was made.
    """
    try:
        return RawScenario.model_validate(merged)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = ".".join(map(str, fault["loc"]))
        by = merged["generate"]["by"]
        raise ProblemError(
            ("generate", "by"), f"what generator {by!r} made has a fault: {place}: {fault['msg']}"
        ) from error


def _function(by: str, folder: Path) -> Generator:
    place, colon, name = by.rpartition(":")
    if not colon or not place or not name:
        raise ScenarioError(f"generator {by!r} names no function; expected file.py:function or module:function")
    with others_code(f"generator {by!r} cannot be loaded", ScenarioError):
        module = _from_file((folder / place).resolve()) if place.endswith(".py") else import_module(place)
    function = getattr(module, name, None)
    if not callable(function):
        raise ScenarioError(f"{place!r} has no function {name!r}")
    return cast(Generator, function)


def _from_file(path: Path) -> ModuleType:
    """The module of a file, loaded once in a process."""
    name = f"sandbox_generator_{path.stem}_{abs(hash(str(path)))}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.exists():
        raise ScenarioError(f"{str(path)!r} does not exist")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
