"""Effects of each tool that acts, changes without the agent, and the switches that a call needs.

Policy: of what the user can do only what its script does counts, since that is what the user of the scenario is sure
to do.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.tools.hints import Effect
from sandbox_mcp.engine.world.effects import WHOLE, Effects
from sandbox_scenarios.model import Scenario, Solution


def effects(home: World, tools: Iterable[str]) -> tuple[Effect, ...]:
    """Effects of these tools; a tool that declares nothing may change anything."""
    acting = (tool for tool in map(home.tools.__getitem__, tools) if tool.action)
    return tuple(effect for tool in acting for effect in _declared(home, tool.effects))


def effects_of_others(scenario: Scenario) -> tuple[Effect, ...]:
    """Changes without a call of the agent: by what the script has the user do, and by events."""
    home = scenario.home
    acts = dict.fromkeys(act.name for act in scenario.user.script.does.values())
    by_events = (effect for event in home.events for effect in _declared(home, event.effects))
    return (*effects(home, acts), *by_events)


def _declared(home: World, declared: Effects | None) -> Iterator[Effect]:
    for table, schema in home.state_tables.items():
        columns = frozenset(item.name for item in schema.columns)
        if declared is None:
            yield from (Effect(table, "adds"), Effect(table, "removes"), Effect(table, "updates", columns))
            continue
        if table in declared.adds:
            yield Effect(table, "adds")
        if table in declared.removes:
            yield Effect(table, "removes")
        if table in declared.updates:
            named = declared.updates[table]
            yield Effect(table, "updates", columns if WHOLE in named else named)


def needs(home: World, tool: str, arguments: Mapping[str, Any]) -> frozenset[str]:
    """The switches that must be on for a call to succeed."""
    return home.hints.needs(tool, arguments) if home.hints.needs else frozenset()


def blocked(scenario: Scenario, solution: Solution) -> tuple[str, ...]:
    """Reasons for which calls of a solution would fail if nothing were switched first: switches off, or in the way."""
    hints = scenario.home.hints
    columns = set(hints.switches.values())
    tables = (schema for schema in scenario.home.state_tables.values() if schema.single)
    table = next((item.name for item in tables if columns <= {column.name for column in item.columns}), None)
    state = next(iter(scenario.world.table(table).values()), None) if table and columns else None
    if state is None:
        return ()
    calls = [call for turn in solution.turns for call in turn.calls]
    off = {switch for call in calls for switch in needs(scenario.home, call.tool, call.arguments) if not state[switch]}
    first = hints.off_first  # must be off before anything else can be switched on
    switched_on = {hints.switches.get(call.tool, first) for call in calls if call.arguments.get("on") is True}
    if first and state[first] and switched_on - {first}:
        off.add(first)
    return tuple(sorted(off))
