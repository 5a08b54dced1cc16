"""What each tool that acts can change, and which service of the phone each tool needs.

Policy: a table for reading, not a second implementation; a test holds it against what the tools really do.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from sandbox_mcp.tools import World
from sandbox_mcp.world.tx import WHOLE
from sandbox_mcp.worlds import DEFAULT
from sandbox_scenarios.model import PlannedCall, Scenario, Solution

Kind = Literal["adds", "removes", "updates"]
SERVICES = ("cellular", "wifi", "location_service")


@dataclass(frozen=True, slots=True)
class Effect:
    """One way to change a table; ``columns`` are those an update may set."""

    table: str
    kind: Kind
    columns: frozenset[str] = frozenset()


def _updates(table: str, *columns: str) -> Effect:
    return Effect(table, "updates", frozenset(columns))


EFFECTS: Mapping[str, Effect] = MappingProxyType(
    {
        "add_contact": Effect("contact", "adds"),
        "modify_contact": _updates("contact", "name", "phone_number", "relationship", "is_self"),
        "remove_contact": Effect("contact", "removes"),
        "send_message_with_phone_number": Effect("messaging", "adds"),
        "add_reminder": Effect("reminder", "adds"),
        "modify_reminder": _updates(
            "reminder", "content", "creation_timestamp", "reminder_timestamp", "latitude", "longitude"
        ),
        "remove_reminder": Effect("reminder", "removes"),
        "set_timer": Effect("timer", "adds"),
        "cancel_timer": Effect("timer", "removes"),
        "set_low_battery_mode_status": _updates("setting", "low_battery_mode", *SERVICES),
        "set_wifi_status": _updates("setting", "wifi"),
        "set_cellular_service_status": _updates("setting", "cellular"),
        "set_location_service_status": _updates("setting", "location_service"),
        "sign_in": _updates("account", "signed_in"),
        "sign_out": _updates("account", "signed_in"),
    }
)
"""The one effect of every tool that acts."""

_SWITCHES = MappingProxyType(
    {
        "set_wifi_status": "wifi",
        "set_cellular_service_status": "cellular",
        "set_location_service_status": "location_service",
    }
)
_ONLINE = ("search_holiday", "search_lat_lon", "search_stock", "convert_currency")
_AROUND = ("search_location_around_lat_lon", "search_weather_around_lat_lon")


def effects(home: World, tools: Iterable[str]) -> tuple[Effect, ...]:
    """What these tools can change; a tool that declares nothing may change anything."""
    return tuple(effect for name in tools for effect in _of(home, name))


def _of(home: World, name: str) -> Iterator[Effect]:
    if name in EFFECTS and home.name == DEFAULT:
        yield EFFECTS[name]
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


def needs(tool: str, arguments: Mapping[str, Any]) -> frozenset[str]:
    """The services that must be on for a call to succeed."""
    if tool == "send_message_with_phone_number":
        return frozenset({"cellular"})
    if tool == "get_current_location":
        return frozenset({"location_service"})
    if tool in _ONLINE:
        return frozenset({"wifi"})
    if tool in _AROUND:
        return frozenset({"wifi"} if arguments.get("latitude") is not None else {"wifi", "location_service"})
    return frozenset()


def blocked(scenario: Scenario, solution: Solution) -> tuple[str, ...]:
    """Why calls of a solution would fail if nothing were switched first: services that are off, or low battery."""
    settings = next(iter(scenario.world.table("setting").values()), None)
    if settings is None:
        return ()
    calls = [call for turn in solution.turns for call in turn.calls]
    off = {service for call in calls for service in needs(call.tool, call.arguments) if not settings[service]}
    if settings["low_battery_mode"] and any(_switches_on(call) for call in calls):
        off.add("low_battery_mode")
    return tuple(sorted(off))


def _switches_on(call: PlannedCall) -> bool:
    return call.tool in _SWITCHES and call.arguments.get("on") is True
