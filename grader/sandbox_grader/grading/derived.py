"""Values that grading works out from a scenario alone, kept in the user's cache for later processes.

Policy: a solution carried out, and what an agent gets for nothing, are the same for every session of a
scenario, and take as long as the rest of grading one. What is kept holds while the scenario and this code are the same.
Scenarios that are not kept themselves, because their world may be another one next time, have nothing kept of them.
"""

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TypeVar, cast

import sandbox_scenarios
from sandbox_scenarios.cache import stamps_in
from sandbox_scenarios.model import Scenario

import sandbox_grader
import sandbox_mcp

CODE = (".py", ".yaml", ".csv", ".tsv", ".json", ".jsonl", ".gz")
"""How files end that have a say: code, scenarios, and what the worlds know."""
_Plain = TypeVar("_Plain")


def derived(scenario: Scenario, what: str, work: Callable[[], _Plain]) -> _Plain:
    """Work out something of a scenario, plain values only, or take it from an earlier process.

    ``what`` tells it from whatever else is worked out from the same scenario, as part of a file's name.
    """
    kept = cast("tuple[str, _Plain] | None", scenario.cache and scenario.cache.get(what, scenario.name, tuple))
    if kept and kept[0] == code_digest():
        return kept[1]
    made = work()
    if scenario.cache:
        scenario.cache.put(what, scenario.name, (code_digest(), made))
    return made


@cache
def code_digest() -> str:
    """Digest that tells this code, and the built-in scenarios, from any other state of theirs."""
    roots = [Path(str(package.__file__)).parent for package in (sandbox_mcp, sandbox_grader, sandbox_scenarios)]
    stamps = sorted(stamp for root in roots for stamp in stamps_in(root) if stamp[0].endswith(CODE))
    return sha256("\n".join(map(repr, stamps)).encode()).hexdigest()
