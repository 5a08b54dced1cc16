"""Writes the pages that are generated from the code. A test checks that they are current."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sandbox_scenarios import Suite
from sandbox_scenarios.values import row_id

from sandbox_mcp.engine.tools import Outcome, Tool, call, present
from sandbox_mcp.engine.world import Change, IdStream, Running, fold
from sandbox_mcp.engine.worlds.phone import phone

PAGE = Path(__file__).parent / "tools.md"
WREN = "+17735550113"
SUNDAY = 1747580400.0
SAMPLES: dict[str, dict[str, Any]] = {
    "sign_in": {"username": "ingrid", "password": "lake-side-9"},
    "add_contact": {"name": "Ada", "phone_number": "+14155550123", "is_self": False},
    "modify_contact": {"person_id": row_id("contact", "wren"), "phone_number": WREN, "is_self": False},
    "remove_contact": {"person_id": row_id("contact", "wren")},
    "search_contacts": {"name": "Wren", "is_self": False},
    "unit_conversion": {"amount": 20, "from_unit": "celsius", "to_unit": "fahrenheit"},
    "convert_currency": {"amount": 20, "from_currency_code": "USD", "to_currency_code": "EUR"},
    "calculate_lat_lon_distance": {"latitude_0": 0, "longitude_0": 0, "latitude_1": 1, "longitude_1": 1},
    "send_message_with_phone_number": {"phone_number": WREN, "content": "On my way"},
    "search_messages": {"content": "dinner"},
    "add_reminder": {"content": "Buy bread", "reminder_timestamp": SUNDAY},
    "modify_reminder": {"reminder_id": row_id("reminder", "plants"), "content": "Water all plants"},
    "search_reminder": {"content": "plants"},
    "remove_reminder": {"reminder_id": row_id("reminder", "plants")},
    "search_holiday": {"holiday_name": "Thanksgiving"},
    "search_lat_lon": {"latitude": 41.88, "longitude": -87.62},
    "search_location_around_lat_lon": {"location": "coffee"},
    "search_weather_around_lat_lon": {},
    "search_stock": {"query": "Apple"},
    "timestamp_to_datetime_info": {"timestamp": SUNDAY},
    "datetime_info_to_timestamp": {"year": 2025, "month": 5, "day": 18, "hour": 10, "minute": 0, "second": 0},
    "shift_timestamp": {"timestamp": SUNDAY, "days": 1},
    "timestamp_diff": {"timestamp_0": SUNDAY, "timestamp_1": SUNDAY},
    "seconds_to_hours_minutes_seconds": {"seconds": 3661},
    "set_timer": {"seconds": 60},
    "cancel_timer": {"timer_id": "t"},
    "wait": {"seconds": 60},
}
"""A successful call of every tool that takes arguments; what it touches is what the page says the tool touches."""
SIGNED_IN = {"sign_out": True}
HEAD = """# Tools

Generated from the code by `docs/generate.py`; a test checks that it is current. What a tool reads and writes was
observed: each tool was called once, and its transaction tells what it touched. Errors are listed in the order in which
they are looked for. Before any of them, for every tool: unknown tool, arguments that are no JSON object, unknown
arguments, missing arguments, wrong types; all offenders of the first kind found are named. A boolean is not a number, a
number without a fraction is an integer, and null is a value only where the table says so: for any other argument that
may be left out it counts as not given.

Argument types are JSON types; `?` marks an argument that may be left out. An **action** changes the world, a **query**
does not.
"""
COLUMNS = ("tool", "arguments", "result", "errors, in order", "reads", "writes")


def page() -> str:
    """The whole page."""
    return HEAD + "".join(_section(domain) for domain in dict.fromkeys(tool.domain for tool in phone.tools.values()))


def _section(domain: str) -> str:
    tools = [tool for tool in phone.tools.values() if tool.domain == domain]
    head = f"\n## {domain}\n\n| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|\n"
    return head + "".join(_row(tool) for tool in tools)


def _row(tool: Tool) -> str:
    outcome = sample(tool)
    kind = "action" if tool.action else "query"
    caller = "" if tool.caller == "agent" else ", of the user"
    cells = (
        f"`{tool.name}` ({kind}{caller})",
        "<br>".join(_arguments(tool)) or "none",
        _type(tool.result_schema),
        "<br>".join(_errors(tool)) or "none",
        _touched(outcome.reads),
        _touched(outcome.writes),
    )
    return "| " + " | ".join(cells) + " |\n"


def _arguments(tool: Tool) -> Iterator[str]:
    for parameter in tool.parameters:
        yield f"`{parameter.name}`{'' if parameter.required else '?'} {' or '.join(parameter.types)}"


def _errors(tool: Tool) -> Iterator[str]:
    for line in tool.description.splitlines():
        if line.startswith("Fails with "):
            yield line.removeprefix("Fails with ").rstrip(".")


def _type(schema: Any) -> str:
    if "anyOf" in schema:
        return " or ".join(_type(option) for option in schema["anyOf"])
    kind = schema["type"]
    if kind == "array":
        return f"list of {_type(schema['items'])}"
    if kind == "object":
        return "{" + ", ".join(schema.get("properties", {})) + "}"
    return kind if isinstance(kind, str) else " or ".join(kind)


def _touched(accesses: Any) -> str:
    tables: dict[str, set[str]] = {}
    for table, _, column in accesses:
        tables.setdefault(table, set()).add(column or "*")
    shown = (
        f"{table}: {'all' if '*' in columns else ', '.join(sorted(columns))}"
        for table, columns in sorted(tables.items())
    )
    return "<br>".join(shown) or "nothing"


def sample(tool: Tool) -> Outcome:
    """What a successful call of the tool did, on a phone where it can succeed."""
    arguments = SAMPLES.get(tool.name, {})
    if tool.name.startswith("set_") and tool.name.endswith("_status"):
        arguments = {"on": tool.name == "set_low_battery_mode_status"}
    if tool.name == "confirm_action":
        arguments = {"code": "OK-000000"}
    outcome = call(_world(tool), {tool.name: present(tool)}, tool.name, arguments)
    if outcome.fault:
        raise RuntimeError(f"the sample call of {tool.name} fails: {outcome.fault.text}")
    return outcome


def _world(tool: Tool) -> Running:
    scenario = Suite().get("wifi_off")
    account = {"account_id": "a", "username": "ingrid", "password": "lake-side-9", "signed_in": tool.name in SIGNED_IN}
    timer = {"timer_id": "t", "label": "tea", "creation_timestamp": 0.0, "due_timestamp": 4e9}
    extra = [Change("account", "a", None, account), Change("timer", "t", None, timer)]
    return Running(fold(scenario.world, extra), scenario.clock, IdStream("docs"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name}: {len(phone.agent_tools)} tools of the agent over {len(phone.tables)} tables")  # noqa: T201
