"""A right answer to a scenario, worked out from its milestones: the calls and replies that meet them one by one.

Policy: a milestone on a table is met by the tool that writes it, one on a trace by that call, one on a message by
saying it. What a call needs beyond what the milestone names comes from the calls before it, from the user's words, or
is the least accepted by the tool. A service found off is switched on before the first call that needs it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from types import MappingProxyType
from typing import Any

from sandbox_grader.papers.toolsandbox.names import KEYS

from sandbox_mcp.app.benchmarks.toolsandbox.graphs import DEPENDENT, GUARDRAIL

_Json = Mapping[str, Any]
_Row = dict[str, Any]
SWITCHES: Mapping[str, str] = {
    "low_battery_mode": "set_low_battery_mode_status",
    "wifi": "set_wifi_status",
    "cellular": "set_cellular_service_status",
    "location_service": "set_location_service_status",
}
NEEDS: Mapping[str, tuple[str, ...]] = {
    "search_holiday": ("wifi",),
    "search_lat_lon": ("wifi",),
    "search_stock": ("wifi",),
    "convert_currency": ("wifi",),
    "search_location_around_lat_lon": ("location_service", "wifi"),
    "search_weather_around_lat_lon": ("location_service", "wifi"),
    "get_current_location": ("location_service",),
    "send_message_with_phone_number": ("cellular",),
}
"""The switches that have to be on for a tool; location service only where it is asked about "here"."""
WRITERS: Mapping[tuple[str, str], str] = {
    ("contact", "addition"): "add_contact",
    ("contact", "update"): "modify_contact",
    ("contact", "removal"): "remove_contact",
    ("reminder", "addition"): "add_reminder",
    ("reminder", "update"): "modify_reminder",
    ("reminder", "removal"): "remove_reminder",
    ("messaging", "addition"): "send_message_with_phone_number",
}
ASKED = "Which details can you give me?"
"""What is said first where the user has more to tell."""


@dataclass(slots=True)
class _Plan:
    """Plan so far, and the state that it leaves."""

    tables: Mapping[str, list[_Row]]
    goal: str
    now: float
    offered: frozenset[str]
    turns: list[_Row] = field(default_factory=list[_Row])
    calls: list[_Row] = field(default_factory=list[_Row])
    labels: dict[int, str] = field(default_factory=dict[int, str])

    def call(self, tool: str, arguments: _Json) -> str:
        """Plan a call, and what it needs before it; gives the label of its result."""
        for switch in NEEDS.get(tool, ()):
            if switch != "location_service" or arguments.get("latitude") is None:
                self.switch(switch, on=True)
        label = f"c{sum(len(turn['calls']) for turn in self.turns) + len(self.calls)}"
        self.calls.append({"tool": tool, "arguments": dict(arguments), "as": label})
        return label

    def switch(self, name: str, *, on: bool) -> None:
        """Plan that a switch is set, unless it is; in low battery mode nothing can be switched on."""
        setting = self.tables["setting"][0]
        if setting[name] == on:
            return
        if on and name != "low_battery_mode" and setting["low_battery_mode"]:
            self.switch("low_battery_mode", on=False)
        if SWITCHES[name] in self.offered:
            setting[name] = on
            self.calls.append({"tool": SWITCHES[name], "arguments": {"on": on}})

    def say(self, reply: str) -> None:
        """Plan a reply, which ends the turn."""
        self.turns.append({"calls": self.calls, "reply": reply})
        self.calls = []


def planned(
    nodes: Sequence[_Json], edges: Sequence[Sequence[int]] | None, tables: Mapping[str, Sequence[_Json]], goal: str,
    now: float, offered: frozenset[str], *, asks: bool,
) -> list[_Row]:  # fmt: skip
    """The turns of a solution, as scenario files have them; ``asks`` where the agent first asks for details.

    Only tools that are ``offered`` are called: a milestone that wants another one stays unmet.
    """
    plan = _Plan({name: [dict(row) for row in rows] for name, rows in tables.items()}, goal, now, offered)
    if asks:
        plan.say(ASKED)
    for number in _order(nodes, edges):
        _meet(plan, number, nodes[number])
    if plan.calls or len(plan.turns) == asks:  # what is said where no milestone says what
        last = next((call for call in reversed(plan.calls) if "as" in call), None)
        if last is None:
            plan.say("I am sorry, I cannot do that with what I have.")
        elif last["tool"].startswith(("search", "convert", "find")):
            plan.say(f"This is what I found: ${{{last['as']}}}")
        else:
            plan.say("It is done.")
    return plan.turns


def _order(nodes: Sequence[_Json], edges: Sequence[Sequence[int]] | None) -> Iterator[int]:
    """The milestones in an order that the edges allow; what switches something comes as early as it may."""
    pairs = [(number, number + 1) for number in range(len(nodes) - 1)] if edges is None else edges
    sorter = TopologicalSorter[int](
        {number: [before for before, after in pairs if after == number] for number in range(len(nodes))}
    )
    switching = {
        number
        for number, node in enumerate(nodes)
        if any(item["table"] == "setting" and item["kind"] == "snapshot" for item in node["constraints"])
    }
    sorter.prepare()
    ready = list[int]()
    while sorter.is_active():
        ready += sorter.get_ready()
        ready.sort(key=lambda number: (number not in switching, number))
        number = ready.pop(0)
        yield number
        sorter.done(number)


def _meet(plan: _Plan, number: int, node: _Json) -> None:
    constraints = [item for item in node["constraints"] if item["kind"] != GUARDRAIL]
    told = [item for item in constraints if "content" in item.get("rows", [{}])[0] and item["table"] == "messages"]
    if told:  # the text that serves all constraints is the longest, with what it takes from earlier results
        best = max(told, key=lambda item: len(item["rows"][0]["content"]))
        text = str(best["rows"][0]["content"])
        for value in best.get("extract", {}).get("values", ()) if best["kind"] == DEPENDENT else ():
            known = best["reference"] in plan.labels
            source = f"${{{_reference(plan, best['reference'], value['path'])}}}" if known else "unknown"
            text = text.replace(f"{{{value['to']}}}", source)
        plan.say(text)
        return
    traced = [item for item in constraints if item["table"] == "messages"]
    if traced and traced[0]["rows"][0]["tool_calls"][0]["tool"] in plan.offered:
        plan.labels[number] = _trace(plan, traced)
    for item in constraints:
        if item["table"] == "setting":
            for name, value in item["rows"][0].items():
                plan.switch(name, on=value)
        elif item["table"] != "messages":
            _write(plan, item)


def _reference(plan: _Plan, number: int, path: Sequence[str]) -> str:
    return ".".join((plan.labels[number], *path))


def _trace(plan: _Plan, constraints: Sequence[_Json]) -> str:
    """The call that several constraints on one message ask for together."""
    tool, arguments, golden = "", dict[str, Any](), dict[str, Any]()
    for item in constraints:
        tool = item["rows"][0]["tool_calls"][0]["tool"]
        golden |= item["rows"][0]["tool_calls"][0]["arguments"]
        arguments |= {name: value for name, value in golden.items() if value is not None}
        if item["kind"] == DEPENDENT and item["reference"] in plan.labels:
            arguments |= {
                value["to"]: f"${_reference(plan, item['reference'], value['path'])}"
                for value in item["extract"]["values"]
            }
    return plan.call(tool, _completed(plan, tool, arguments, golden))


def _completed(plan: _Plan, tool: str, given: _Json, golden: _Json = MappingProxyType({})) -> _Json:
    """The arguments with the least that the tool needs beside those given; ``golden`` are those that were asked for.

    Where it was not said where to look and location service is off, the place is told instead of asked for.
    """
    from sandbox_mcp.engine.worlds.phone import phone

    least: Mapping[str, _Json] = {
        "search_contacts": {"is_self": False},
        "search_messages": {"creation_timestamp_upperbound": plan.now},
        "search_reminder": {"creation_timestamp_upperbound": plan.now},
    }
    if not given and tool in least:
        return least[tool]
    made = dict(given)
    setting = plan.tables["setting"][0]
    free = tool.startswith(("search_location", "search_weather")) and "latitude" not in golden
    if free and not setting["location_service"]:
        made |= {name: setting[name] for name in ("latitude", "longitude")}
    for parameter in phone.agent_tools[tool].parameters:
        if parameter.required and parameter.name not in made:
            made[parameter.name] = _least(plan, parameter.name, parameter.types)
    return made


def _least(plan: _Plan, name: str, types: Sequence[str]) -> Any:
    calendar = {"year": 2024, "month": 3, "day": 22, "hour": 17, "minute": 0, "second": 0}
    if name in calendar:
        return calendar[name]
    if "timestamp" in name:
        return plan.now
    if "unit" in name:
        return "meter"
    if "string" in types:
        return plan.goal
    return True if "boolean" in types else 0


def _write(plan: _Plan, constraint: _Json) -> None:
    """The calls that change a table as a constraint wants it."""
    table, kind = constraint["table"], constraint["kind"]
    rows, key, tool = plan.tables[table], KEYS[table], WRITERS[table, kind]
    for wanted in constraint["rows"]:
        if kind == "addition":
            given: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None}
            phone = "recipient_phone_number" if table == "messaging" else None
            arguments = {"phone_number" if name == phone else name: value for name, value in given.items()}
            plan.call(tool, _completed(plan, tool, arguments))
            continue
        # the row of that id, or else the one that has most of the cells wanted
        row = max(rows, key=lambda row: (row[key] == wanted.get(key), sum(row.get(n) == v for n, v in wanted.items())))
        if kind == "removal":
            rows.remove(row)
            plan.call(tool, {key: row[key]})
        else:
            changed = {name: value for name, value in wanted.items() if name != key and row[name] != value}
            row.update(changed)
            plan.call(tool, {key: row[key], **changed})
