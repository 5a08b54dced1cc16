"""Wrong values: for each argument of each tool a few that are valid, likely to be tried, and not what was meant.

Policy: a wrong value is far off, so that a scenario which still gives full marks does not look at it at all.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

from sandbox_scenarios.model import Scenario

from sandbox_mcp.tools import Parameter, PresentedTool, fits_schema
from sandbox_mcp.tools.value_schemas import types_in
from sandbox_mcp.worlds import DEFAULT
from sandbox_mcp.worlds.phone.tools.rules import EARLIEST, LATEST

DAY = 86400.0
FAR = DAY + 3600.0
OTHER_YEAR = 400 * DAY
Wrong = Callable[[Any], Iterable[Any]]

_PERSON = ("person_id", "sender_person_id", "recipient_person_id")
_NUMBER = ("phone_number", "sender_phone_number", "recipient_phone_number")
RECIPIENTS = frozenset({*_PERSON, *_NUMBER, "reminder_id", "timer_id", "message_id"})
"""Arguments that say who or what is meant."""
_COLUMNS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(_PERSON, ("contact", "person_id")),
        **dict.fromkeys(_NUMBER, ("contact", "phone_number")),
        "name": ("contact", "name"),
        "reminder_id": ("reminder", "reminder_id"),
        "message_id": ("messaging", "message_id"),
        "timer_id": ("timer", "timer_id"),
    }
)
_NOBODY: Mapping[str, str] = MappingProxyType({"name": "Quentin Xu", "phone_number": "+12025550199"})
"""Whom to take where the phone knows nobody else."""
_TEXTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "content": ("Zebra crossing ahead, xylophones are on offer",),
        "relationship": ("astronaut",),
        "label": ("Something else",),
        "location": ("Reykjavik", "a planetarium"),
        "holiday_name": ("Christmas Day", "New Year's Day"),
        "query": ("Toyota", "Nestle"),
        "from_currency_code": ("JPY", "CHF"),
        "to_currency_code": ("JPY", "CHF"),
        "username": ("nobody",),
        "password": ("wrong",),
    }
)
UNITS = (
    ("meter", "kilometer", "mile", "foot"),
    ("kilogram", "pound", "gram", "ounce"),
    ("celsius", "fahrenheit", "kelvin"),
    ("liter", "gallon", "milliliter", "cup"),
    ("kilometer per hour", "mile per hour", "meter per second"),
    ("second", "hour", "day"),
    ("square meter", "acre", "hectare"),
)
"""Units that measure the same thing."""

_NUMBERS: Mapping[str, Wrong] = MappingProxyType(
    {
        "reminder_timestamp": lambda value: (value + FAR, value - FAR),
        "timestamp": lambda value: (value + OTHER_YEAR, value - OTHER_YEAR),
        "timestamp_0": lambda value: (value + FAR, value - FAR),
        "timestamp_1": lambda value: (value + FAR, value - FAR),
        "year": lambda value: (value + 1,),
        "month": lambda value: (value % 12 + 1,),
        "day": lambda value: (value % 28 + 1,),
        "hour": lambda value: ((value + 5) % 24,),
        "minute": lambda value: ((value + 17) % 60,),
        "second": lambda value: ((value + 23) % 60,),
        "days": lambda value: (value + 1, abs(value - 1)),
        "amount": lambda value: (2 * value + 1,),
        "seconds": lambda value: (2 * value + 7,),
    }
)


def wrong_values(scenario: Scenario, tool: PresentedTool, name: str, value: Any) -> tuple[Any, ...]:
    """Values that the argument ``name`` of a call should not have had; ``value`` is the right one."""
    parameter = next(item for item in tool.tool.parameters if item.name == name)
    if scenario.home.name == DEFAULT:
        candidates = _candidates(scenario, tool, name, value)
    else:
        candidates = _by_role(scenario, parameter, value)
    found = [item for item in candidates if item != value and fits_schema(item, parameter.value)]
    return tuple(item for place, item in enumerate(found) if item not in found[:place])


def _by_role(scenario: Scenario, parameter: Parameter, value: Any) -> Iterable[Any]:
    """Wrong values by what an argument is for: ids of other rows, other moments, other choices, other texts."""
    role = parameter.role.kind if parameter.role else None
    if role == "id" and parameter.role:
        others = [key for key in scenario.world.table(parameter.role.table) if key != value]
        return others[:2] or ("none",)
    if role == "moment" and isinstance(value, int | float):
        return (value + FAR, value - FAR)
    if role == "text":
        return ("Zebra crossing ahead, xylophones are on offer",)
    return _otherwise(scenario, parameter.value, value)


def _otherwise(scenario: Scenario, schema: Mapping[str, Any], value: Any) -> Iterator[Any]:
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
            for other in _otherwise(scenario, inside, item):
                yield [*items[:place], other, *items[place + 1 :]]
    elif isinstance(value, Mapping):
        given = dict(cast("Mapping[str, Any]", value))
        for name, item in given.items():
            for other in _otherwise(scenario, schema.get("properties", {}).get(name, {}), item):
                yield {**given, name: other}


def _other_texts(scenario: Scenario, value: str) -> Iterator[str]:
    """What stands in other rows where this text stands, and something that stands nowhere."""
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
        return {name: some_value(properties[name], dice) for name in schema.get("required", properties)}
    plain: Mapping[str, Any] = {"null": None, "boolean": dice.random() < 0.5, "string": "something"}
    return plain.get(kind, dice.randrange(0, 60))


def _candidates(scenario: Scenario, tool: PresentedTool, name: str, value: Any) -> Iterable[Any]:
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int | float):
        return _wrong_numbers(tool, name, value)
    if name in _COLUMNS:
        table, column = _COLUMNS[name]
        others = [row[column] for row in scenario.world.table(table).values() if row[column] != value]
        return others[:2] or (_NOBODY.get(column, "none"),)
    if name in ("from_unit", "to_unit"):
        return _other_units(str(value))
    return _TEXTS.get(name, ("something else",))


def _wrong_numbers(tool: PresentedTool, name: str, value: float) -> Iterable[Any]:
    if name.endswith("lowerbound"):
        return (LATEST,)
    if name.endswith("upperbound"):
        return (EARLIEST,)
    if name.startswith(("latitude", "longitude")):
        return ((value + 7.0) if value < 80 else (value - 7.0),)
    if tool.tool.name == "shift_timestamp":
        return (value + 3, -value - 1) if name != "timestamp" else (value + OTHER_YEAR, value - OTHER_YEAR)
    return _NUMBERS.get(name, lambda right: (right + 1,))(value)


def _other_units(unit: str) -> Iterable[str]:
    words = unit.casefold().rstrip("s")
    for group in UNITS:
        if any(words in (item, item[: len(words)]) for item in group):
            return [item for item in group if item != words]
    return [item for group in UNITS[:2] for item in group[:1]]
