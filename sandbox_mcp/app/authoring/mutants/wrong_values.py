"""Wrong values: for each argument of each tool a few that are valid, likely to be tried, and not what was meant.

Policy: a wrong value is far off, so that a scenario which still gives full marks does not look at it at all.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from sandbox_scenarios.model import Scenario

from sandbox_mcp.engine.tools import PresentedTool, Tool, fits_schema
from sandbox_mcp.engine.tools.value_schemas import EACH, RolePath, types_in
from sandbox_mcp.engine.world.schema import CellRole

_Roles = Mapping[RolePath, CellRole]
DAY = 86400.0
FAR = DAY + 3600.0


def is_meant(scenario: Scenario, tool: Tool, name: str) -> bool:
    """True if an argument names a person or a thing: an id, a recipient, or one that the world lists as such."""
    role = next((item.role for item in tool.parameters if item.name == name), None)
    by_role = role is not None and role.kind == "id"
    return name in scenario.home.hints.meant or by_role or (tool.reaches is not None and name == tool.reaches)


def wrong_values(scenario: Scenario, tool: PresentedTool, name: str, value: Any) -> tuple[Any, ...]:
    """Wrong values for the argument ``name`` of a call, whose right one is ``value``."""
    parameter = next(item for item in tool.tool.parameters if item.name == name)
    own, read = scenario.home.hints.wrong, scenario.home.hints.read or dict[str, Any]
    roles = {(): parameter.role} if parameter.role else dict(parameter.inside)
    by_role = _by_role(scenario, roles, parameter.value, value)
    candidates = own(scenario.world, tool.tool.name, name, value) if own else by_role
    differing = (item for item in candidates if item != value and read({name: item}) != read({name: value}))
    found = [item for item in differing if fits_schema(item, parameter.value)]
    return tuple(item for place, item in enumerate(found) if item not in found[:place])


def _by_role(scenario: Scenario, roles: _Roles, schema: Mapping[str, Any], value: Any) -> Iterable[Any]:
    """Wrong values by what an argument, or a part of one, is for: other ids, moments, choices and texts."""
    role = roles.get(())
    if role and role.kind == "id":
        others = [key for key in scenario.world.table(role.table) if key != value]
        return others[:2] or ("none",)
    if role and role.kind == "moment" and isinstance(value, int | float):
        return (value + FAR, value - FAR)
    if role and role.kind == "text":
        return ("Zebra crossing ahead, xylophones are on offer",)
    return _otherwise(scenario, roles, schema, value)


def _otherwise(scenario: Scenario, roles: _Roles, schema: Mapping[str, Any], value: Any) -> Iterator[Any]:
    """Values of the same form that mean something else, also deep inside lists and objects."""
    if isinstance(value, bool):
        yield not value
    elif schema.get("enum"):
        yield from [option for option in schema["enum"] if option != value and option is not None][:2]
    elif isinstance(value, int | float):
        yield from (2 * value + 1, value + 1, value - 1)
    elif isinstance(value, str):
        yield from _other_texts(scenario, value)
    elif isinstance(value, list | tuple):
        items = list(cast("Sequence[Any]", value))
        yield from ([*items[:place], *items[place + 1 :]] for place in range(len(items)))
        inside: Mapping[str, Any] = schema.get("items", {})
        for place, item in enumerate(items):
            for other in _by_role(scenario, _within(roles, EACH), inside, item):
                yield [*items[:place], other, *items[place + 1 :]]
    elif isinstance(value, Mapping):
        given = dict(cast("Mapping[str, Any]", value))
        for name, item in given.items():
            for other in _by_role(scenario, _within(roles, name), schema.get("properties", {}).get(name, {}), item):
                yield {**given, name: other}


def _within(roles: _Roles, step: str) -> _Roles:
    """The roles of what stands one step further inside."""
    return {path[1:]: role for path, role in roles.items() if path and path[0] in (EACH, step)}


def _other_texts(scenario: Scenario, value: str) -> Iterator[str]:
    """Texts in other rows at the place of this text, and one that stands nowhere."""
    beside = [
        str(other[column])
        for rows in scenario.world.tables.values()
        for row in rows.values()
        for column, cell in row.items()
        if cell == value
        for other in rows.values()
        if isinstance(other[column], str) and other[column] != value
    ]
    yield from list(dict.fromkeys(beside))[:2]
    yield "something else"


def some_value(schema: Mapping[str, Any], dice: random.Random) -> Any:
    """Some value that fits a schema, small rather than large."""
    if schema.get("enum"):
        return dice.choice(list(schema["enum"]))
    if schema.get("anyOf"):
        return some_value(dice.choice(list(schema["anyOf"])), dice)
    kind = dice.choice(types_in(schema) or ("string",))
    if kind == "array":
        return [some_value(schema.get("items", {}), dice) for _ in range(dice.randrange(1, 3))]
    if kind == "object":
        properties: Mapping[str, Any] = schema.get("properties", {})
        return {name: some_value(properties.get(name, {}), dice) for name in schema.get("required", properties)}
    plain: Mapping[str, Any] = {"null": None, "boolean": dice.random() < 0.5, "string": "something"}
    return plain.get(kind, dice.randrange(0, 60))
