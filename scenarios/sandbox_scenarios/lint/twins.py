"""Scenarios that say the same without one branching from the other.

Policy: inherited parts are written once and fine; the same text written twice is not, and neither is a branch that
plays exactly like another.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields

from sandbox_scenarios.lint.complaint import LintFinding
from sandbox_scenarios.lint.texts import plain
from sandbox_scenarios.loader import Suite
from sandbox_scenarios.model import Scenario
from sandbox_scenarios.problem import PartPath

_NOT_PLAYED = frozenset(
    {"name", "about", "digest", "path", "line", "categories", "idle_score", "world", "tags", "cache"}
)
_Told = tuple[Scenario, LintFinding]


def twins(suite: Suite, scenarios: Sequence[Scenario]) -> list[_Told]:
    """Rule ``twin``: each with the scenario that comes later in the suite."""
    return [
        *_same(suite, scenarios, ("user", "opening"), lambda item: plain(item.user.opening), "the opening"),
        *_same(suite, scenarios, ("user", "goal"), lambda item: plain(item.user.goal), "the goal"),
        *_same(suite, scenarios, ("milestones",), _deeds, "what the milestones and solutions ask for"),
        *_equal(scenarios),
    ]


def _same(
    suite: Suite, scenarios: Sequence[Scenario], path: PartPath, key: Callable[[Scenario], str], what: str
) -> Iterator[_Told]:
    first: dict[str, Scenario] = {}
    for scenario in scenarios:
        other = first.setdefault(key(scenario), scenario)
        if other is not scenario and suite.place(other.name, path) != suite.place(scenario.name, path):
            problem = f"{what} stands in {other.name!r} already"
            mend = f"extend what both have in common, or {other.name!r} itself, instead of writing it again"
            yield scenario, LintFinding("twin", path, problem, mend)


def _deeds(scenario: Scenario) -> str:
    """Deeds to be done, written down; unique to a scenario that asks for nothing."""
    if not scenario.milestones:
        return scenario.name
    calls = [(call.tool, call.arguments) for item in scenario.solutions for turn in item.turns for call in turn.calls]
    return repr(scenario.milestones) + json.dumps(calls, sort_keys=True, default=str)


def _equal(scenarios: Sequence[Scenario]) -> Iterator[_Told]:
    first: dict[str, Scenario] = {}
    for scenario in scenarios:
        played = [repr(getattr(scenario, item.name)) for item in fields(scenario) if item.name not in _NOT_PLAYED]
        world = {table: {key: dict(row) for key, row in rows.items()} for table, rows in scenario.world.tables.items()}
        other = first.setdefault("\n".join((*played, repr(world))), scenario)
        if other is not scenario:
            problem = f"plays exactly like {other.name!r}"
            yield scenario, LintFinding("twin", (), problem, "change what makes it different, or leave it out")
