"""What each tool that acts can change, and which switches have to be on for a call.

Policy: what a world's hints say of a tool goes before what the tool declares, because it may say less than that.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sandbox_mcp.tools import World
from sandbox_mcp.tools.hints import Effect
from sandbox_mcp.world.tx import WHOLE
from sandbox_scenarios.model import PlannedCall, Scenario, Solution


def effects(home: World, tools: Iterable[str]) -> tuple[Effect, ...]:
    """What these tools can change; a tool that declares nothing may change anything."""
    return tuple(effect for name in tools for effect in _of(home, name))


def _of(home: World, name: str) -> Iterator[Effect]:
    if name in home.hints.effects:
        yield home.hints.effects[name]
        return
    tool = home.tools[name]
    if not tool.action:
        return
    for table, schema in home.state_tables.items():
        columns = frozenset(item.name for item in schema.columns)
        if tool.effects is None:
            yield from (Effect(table, "adds"), Effect(table, "removes"), Effect(table, "updates", columns))
            continue
        if table in tool.effects.adds:
            yield Effect(table, "adds")
        if table in tool.effects.removes:
            yield Effect(table, "removes")
        if table in tool.effects.updates:
            named = tool.effects.updates[table]
            yield Effect(table, "updates", columns if WHOLE in named else named)


def needs(home: World, tool: str, arguments: Mapping[str, Any]) -> frozenset[str]:
    """The switches that must be on for a call to succeed."""
    return home.hints.needs(tool, arguments) if home.hints.needs else frozenset()


def blocked(scenario: Scenario, solution: Solution) -> tuple[str, ...]:
    """Why calls of a solution would fail if nothing were switched first: switches that are off, or in the way."""
    hints = scenario.home.hints
    columns = set(hints.switches.values())
    tables = (schema for schema in scenario.home.state_tables.values() if schema.single)
    table = next((item.name for item in tables if columns <= {column.name for column in item.columns}), None)
    state = next(iter(scenario.world.table(table).values()), None) if table and columns else None
    if state is None:
        return ()
    calls = [call for turn in solution.turns for call in turn.calls]
    off = {switch for call in calls for switch in needs(scenario.home, call.tool, call.arguments) if not state[switch]}
    if hints.off_first and state[hints.off_first] and any(_switches_on(scenario.home, call) for call in calls):
        off.add(hints.off_first)
    return tuple(sorted(off))


def _switches_on(home: World, call: PlannedCall) -> bool:
    return home.hints.switches.get(call.tool, home.hints.off_first) != home.hints.off_first and (
        call.arguments.get("on") is True
    )
