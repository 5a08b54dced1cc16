"""Plays a reference solution with the tools alone, without a session: the world it leaves and what was said."""

import re
from collections.abc import Mapping
from typing import Any

from sandbox_mcp.tools import Outcome, agent_tools, call, present
from sandbox_mcp.world import IdStream, World
from scenarios import Scenario
from scenarios.model import PlannedTurn, Solution
from scenarios.values import parse_path

_PLACE = re.compile(r"\$\{([^}]+)\}")


def play(scenario: Scenario, solution: Solution) -> tuple[World, list[Outcome], list[str]]:
    """The world after the solution, what every call did, and the replies with their values filled in."""
    world = World(scenario.world, scenario.clock, IdStream(scenario.name))
    offered = {name: present(agent_tools()[name]) for name in scenario.tools}
    results: dict[str, Any] = {}
    outcomes: list[Outcome] = []
    replies: list[str] = []
    for turn in solution.turns:
        outcomes += _play_turn(world, offered, turn, results)
        replies.append(filled(turn.reply, results))
        world.tick()
    return world, outcomes, replies


def _play_turn(world: World, offered: Mapping[str, Any], turn: PlannedTurn, results: dict[str, Any]) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for planned in turn.calls:
        outcome = call(world, offered, planned.tool, filled(planned.arguments, results))
        world.tick()
        if planned.label:
            results[planned.label] = outcome.result
        outcomes.append(outcome)
    return outcomes


def filled(value: Any, results: Mapping[str, Any]) -> Any:
    """``$label.path`` replaced by what it stands for, ``${label.path}`` within a text by its text."""
    if isinstance(value, Mapping):
        return {key: filled(item, results) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, results) for item in value]
    if not isinstance(value, str):
        return value
    if value.startswith("$") and not value.startswith("${"):
        return _found(value[1:], results)
    return _PLACE.sub(lambda match: str(_found(match[1], results)), value)


def _found(reference: str, results: Mapping[str, Any]) -> Any:
    label, _, path = reference.partition(".")
    value = results[label]
    for part in parse_path(path):
        value = value[part]
    return value
