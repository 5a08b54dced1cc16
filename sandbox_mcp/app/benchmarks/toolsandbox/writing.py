"""From a dump of ToolSandbox to scenario files of ours: one file for each kind of scenario, and what agents are told.

Policy: the eight presentations of a base are variants of one scenario, with the tools of each as ToolSandbox has them.
Rows get labels and with them ids of ours. Its own milestones stand beside those in our language, word for word, and
``compat`` judges by them. What the user's model is told stands there too; the scripted user says the goal when asked.
"""

import json
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from sandbox_grader.papers.toolsandbox.names import KEYS, ROLES, TABLES, VARIANTS, label_of, split_name
from sandbox_scenarios.values import row_id

from sandbox_mcp.app.benchmarks.toolsandbox import milestones
from sandbox_mcp.app.benchmarks.toolsandbox.graphs import graph
from sandbox_mcp.app.benchmarks.toolsandbox.planning import planned
from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.errors import first_line
from sandbox_mcp.engine.world import to_timestamp

_Json = Mapping[str, Any]
PRESENTATIONS = frozenset(
    {
        "NO_DISTRACTION_TOOLS", "THREE_DISTRACTION_TOOLS", "TEN_DISTRACTION_TOOLS", "ALL_TOOLS_AVAILABLE",
        "TOOL_NAME_SCRAMBLED", "TOOL_DESCRIPTION_SCRAMBLED", "ARG_DESCRIPTION_SCRAMBLED", "ARG_TYPE_SCRAMBLED",
    }
)  # fmt: skip
"""Its categories that say how tools are presented; with us that is the variant."""
FAMILIES = ("insufficient_information", "multiple_user_turn", "single_tool_call", "multiple_tool_call")
LEAVE = "end_conversation"
INSTRUCTIONS = "instructions.txt"
"""The file with what ToolSandbox tells every agent first, for ``run --instructions``."""
QUESTIONS = ("what", "which", "who", "whom", "whose", "when", "where", "how", "details", "name", "time", "number")
_TASK = re.compile(r"task you \(User A\) want User B to complete:\s*")
_BOUNDARY = re.compile(r"(?:^|(?<=[.!?]))\s*(?=(?:You (?:do|don|only)\b|Do not leak|It should be))")


def write_suite(dumped: _Json, zone: str, out: Path) -> int:
    """Write a suite to a folder; gives the number of scenarios, each of which has eight variants.

    Raises:
        RunError: there is something in the dump unknown here; nothing is written.
    """
    with _in_their_form("the dump"):
        scenarios: Mapping[str, _Json] = dumped["scenarios"]
        now = datetime.fromisoformat(dumped["now"])
        bases = [name for name in scenarios if split_name(name)[1] == "base"]
    if not bases:
        raise RunError("the dump has no scenarios")
    families: dict[str, list[dict[str, Any]]] = {}
    for name in bases:
        with _in_their_form(f"scenario {name!r}"):
            base = _Base(name, scenarios, now, zone)
            families.setdefault(base.family, []).append(base.entry())
    with _in_their_form(f"scenario {bases[0]!r}"):
        messages = scenarios[bases[0]]["messages"]
        told = [m["content"] for m in messages if (m["sender"], m["recipient"]) == ("SYSTEM", "AGENT")]
        texts = {INSTRUCTIONS: "\n\n".join(told) + "\n"}
    for family, entries in families.items():
        with _in_their_form(f"a scenario of {family}"):
            texts[f"toolsandbox_{family}.yaml"] = _as_yaml(family, entries)
    out.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (out / name).write_text(text, encoding="utf-8", errors="replace")
    return len(bases)


def _as_yaml(family: str, entries: Sequence[_Json]) -> str:
    import yaml

    return yaml.dump(
        {"family": f"toolsandbox_{family}", "scenarios": entries},
        Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper),
        sort_keys=False, allow_unicode=True, width=120, default_flow_style=None,
    )  # fmt: skip


@contextmanager
def _in_their_form(what: str) -> Generator[None]:
    """Read a part of a dump, whose form is only ever that of the checkout which made it.

    Raises:
        RunError: it has another form.
    """
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, StopIteration, OverflowError, RecursionError) as error:
        told = f"{type(error).__name__}: {first_line(error)}" if first_line(error) else type(error).__name__
        raise RunError(f"{what} has another form than ToolSandbox's scenarios: {told}") from error


@dataclass(frozen=True)
class _Base:
    """One scenario without distraction tools, and through it its eight presentations."""

    name: str
    scenarios: Mapping[str, _Json]
    now: datetime
    zone: str

    @cached_property
    def dumped(self) -> _Json:
        """The scenario with the ids that its rows have here in the place of its own."""
        text = json.dumps(self.scenarios[self.name])
        for old, label in self.labels.items():
            text = text.replace(old, row_id(*label.split(".", 1)))
        return loads(text)

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """The labels of all rows by the ids that ToolSandbox gives them, each as ``table.label``."""
        tables: Mapping[str, Sequence[_Json]] = self.scenarios[self.name]["tables"]
        found: dict[str, str] = {}
        for name, key in KEYS.items():
            for number, row in enumerate(tables[name.upper()]):
                found.setdefault(row[key], f"{name}.{label_of(name, number, row)}")
        return found

    @property
    def family(self) -> str:
        given = {item.lower() for item in self.dumped["categories"]}
        return next((name for name in FAMILIES if name in given), "others")

    def entry(self) -> dict[str, Any]:
        """The scenario as a file has it."""
        source = self.dumped
        ids = {row_id(*label.split(".", 1)): label for label in self.labels.values()}
        nodes, edges = graph(source["milestones"])
        mines, mine_edges = graph(source["minefields"])
        user = self._user(nodes)
        tables = {TABLES[name]: rows for name, rows in source["tables"].items()}
        now = to_timestamp(self.now, self.zone)
        several = len(user["script"]["then"]) > 0 if "script" in user else False
        tools = list(self._visible(self.name).values())
        others = ((variant, f"{self.name}_{ending}") for ending, variant in VARIANTS.items())
        offered = {variant: self._visible(name) for variant, name in others if name in self.scenarios}
        turns = planned(nodes, edges, tables, user["goal"], now, frozenset(tools), asks=several)
        return {
            "name": self.name,
            "about": f"ToolSandbox's {self.name!r}.",
            "tags": ["toolsandbox:scenario"],
            "categories": [item.lower() for item in source["categories"] if item not in PRESENTATIONS],
            "clock": {"now": self.now, "zone": self.zone, "step": 1.0},
            "world": {
                "setting": {name: value for name, value in tables["setting"][0].items() if name != "device_id"},
                **{name: _rows(name, tables[name], ids) for name in KEYS if name != "setting"},
            },
            "tools": tools,
            "without": [name for name in source["denied"] if name != LEAVE],
            "offered": {"base": self._visible(self.name), **offered},
            "user": user,
            "reference": [{"about": "worked out from the milestones", "turns": turns}],
            "milestones": milestones.written(nodes, edges, ids),
            "minefields": milestones.written(mines, mine_edges, ids),
            "allows": {"reminder": ["creation_timestamp"]},
            "max_turns": max(1, source["max_messages"] // 2),
            "max_calls": max(1, source["max_messages"] // 2),
            "original": {
                "milestones": nodes, "milestone_edges": edges, "minefields": mines, "minefield_edges": mine_edges,
            },
        }  # fmt: skip

    def _visible(self, name: str) -> dict[str, str]:
        """The tools that are presented to the agent, by the names under which they are."""
        shown: Mapping[str, str] = self.scenarios[name]["presented"]
        return {seen: tool for seen, tool in shown.items() if tool != LEAVE}

    def _user(self, nodes: Sequence[_Json]) -> dict[str, Any]:
        messages: Sequence[_Json] = self.dumped["messages"]
        own = [m for m in messages if m["visible_to"] != ["USER"]]
        told = next(m["content"] for m in reversed(own) if (m["sender"], m["recipient"]) == ("SYSTEM", "USER"))
        opening = next(m["content"] for m in reversed(own) if (m["sender"], m["recipient"]) == ("USER", "AGENT"))
        goal, *bounds = (part.strip() for part in _BOUNDARY.split(_TASK.split(told)[-1]) if part.strip())
        user: dict[str, Any] = {
            "goal": goal, "opening": opening, "does_not_know": bounds, "prompt": told,
            "demonstration": list(_demonstrated(messages)),
        }  # fmt: skip
        if "MULTIPLE_USER_TURN" in self.dumped["categories"]:
            judged = ([item for item in node["constraints"] if item["table"] == "messages"] for node in nodes)
            told_nodes = sum(any("content" in item.get("rows", [{}])[0] for item in items) for items in judged)
            more = [f"And the rest of what I wanted: {goal}"] * (told_nodes > 1)
            user["script"] = {"answers": [{"about": list(QUESTIONS), "say": goal}], "then": [goal, *more]}
        return user


def _rows(table: str, rows: Sequence[_Json], ids: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Rows by their labels, as a file has them; a cell with the id of a row refers to its label."""
    return {
        label_of(table, number, row): {
            name: milestones.labelled(value, ids) for name, value in row.items() if name != KEYS[table]
        }
        for number, row in enumerate(rows)
    }


def _demonstrated(messages: Sequence[_Json]) -> Iterator[dict[str, str]]:
    """The demonstrations as pairs of lines."""
    asked = ""
    for message in messages:
        if message["visible_to"] != ["USER"]:
            continue
        between = (ROLES[message["sender"]], ROLES[message["recipient"]])
        if between == ("user", "agent"):
            asked = message["content"]
        elif between == ("agent", "user"):
            yield {"user": asked, "agent": message["content"]}
