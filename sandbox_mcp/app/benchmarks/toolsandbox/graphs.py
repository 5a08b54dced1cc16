"""ToolSandbox's milestones as its package writes them, in the neutral form that our ``compat`` mode judges.

Policy: nothing is added and nothing left out. Guardrails, which its matcher derives from the edges, stand there one by
one, so that no rule for deriving them is applied a second time. An unknown function is an error.
"""

from collections.abc import Mapping
from typing import Any, cast

from sandbox_grader.milestones.case import MESSAGES
from sandbox_grader.papers.toolsandbox.names import MESSAGES as SANDBOX
from sandbox_grader.papers.toolsandbox.names import ROLES, TABLES

from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.engine.bounded import loads

_Json = Mapping[str, Any]
GUARDRAIL, DEPENDENT = "guardrail", "trace_dependent"
KINDS: Mapping[str, str] = {
    "snapshot_similarity": "snapshot",
    "addition_similarity": "addition",
    "removal_similarity": "removal",
    "update_similarity": "update",
    "guardrail_similarity": GUARDRAIL,
    "tool_trace_dependant_similarity": DEPENDENT,
}
MEASURES: Mapping[str, str] = {
    "column_exact_match_similarity": "exact",
    "column_close_similarity": "close",
    "column_one_similarity": "one",
    "column_contains_similarity": "contains",
    "column_tool_trace_exact_match_similarity": "trace_exact",
    "column_rouge_l_similarity": "rouge_l",
}


def _taken(to: str, *path: str, convert: str = "float", worded: bool = False) -> dict[str, Any]:
    value = {"from": "result", "path": list(path), "to": to, "as": convert}
    return {"values": [value], **({"forms": "decimals_0_3"} if worded else {})}


EXTRACTORS: Mapping[str, _Json] = {
    "search_weather_around_lat_lon_temperature_extractor": _taken("temperature", "current_temperature", worded=True),
    "result_to_timestamp0_extractor": _taken("timestamp_0"),
    "result_to_timestamp1_extractor": _taken("timestamp_1"),
    "result_to_reminder_timestamp_lowerbound_extractor": _taken("reminder_timestamp_lowerbound"),
    "days_extractor": _taken("days", "days", convert="int"),
    "current_temperature_extractor": _taken("amount", "current_temperature"),
    "min_temperature_amount_extractor": _taken("amount", "min_temperature"),
    "result_to_temperature_extractor": _taken("temperature", worded=True),
    "min_temperature_extractor": _taken("min_temperature", worded=True),
    "lat_lon_dict_extractor": {
        "values": [{"from": "result", "path": [name], "to": name, "as": "raw"} for name in ("latitude", "longitude")]
    },
}
"""What each extractor takes from the result of a call, and under which name."""


def graph(source: _Json) -> tuple[list[dict[str, Any]], list[list[int]] | None]:
    """The nodes and edges of a dumped graph.

    Raises:
        RunError: it uses an unknown function.
    """
    nodes: list[dict[str, Any]] = []
    for node in source["nodes"]:
        constraints: list[dict[str, Any]] = []
        for item in node:
            function = item["function"]
            table, kind = {**TABLES, SANDBOX: MESSAGES}[item["table"]], _known(KINDS, function["name"])
            made: dict[str, Any] = {"table": table, "kind": kind}
            if item["reference"] is not None:
                made["reference"] = item["reference"]
            if kind != GUARDRAIL:
                rows, measures = item["rows"], item["measures"]
                made["rows"] = [{_column(name): _cell(name, value) for name, value in row.items()} for row in rows]
                made["measures"] = {_column(name): _measure(function) for name, function in measures.items()}
            if kind == DEPENDENT:
                made["fill"] = "tool_calls" if function["fill_to"] == "tool_trace" else "content"
                made["extract"] = _known(EXTRACTORS, function["extractor"]["name"])
            constraints.append(made)
        nodes.append({"guardrail_tables": [], "constraints": constraints})
    return nodes, source["edges"]


def _column(name: str) -> str:
    return "tool_calls" if name == "tool_trace" else name


def _cell(name: str, value: Any) -> Any:
    if name in ("sender", "recipient"):
        return ROLES[value]
    if name != "tool_trace":
        return value
    traces: Any = loads(value)
    listed = cast("list[_Json]", traces if isinstance(traces, list) else [traces])
    return [{"tool": item["tool_name"], "arguments": item["arguments"]} for item in listed]


def _measure(function: _Json) -> dict[str, Any]:
    measure = _known(MEASURES, function["name"])
    within: _Json = function.get("atol_dict") or cast("dict[str, Any]", {})
    if measure == "close":
        return {"measure": measure, "tolerance": next(iter(within.values()), None)}
    return {"measure": measure, **({"tolerance": within} if within else {})}


def _known(table: Mapping[str, Any], name: str) -> Any:
    if name not in table:
        raise RunError(f"this ToolSandbox judges with {name!r}, which is unknown here; known: {', '.join(table)}")
    return table[name]
