"""ToolSandbox's milestones in our own language, by which ``strict`` and ``paper`` judge.

Policy: guardrails are left out, because strict grading asks of every change whether it was wanted. Where two
constraints want the same message, one by likeness and one by what it must contain, what it must contain counts. A text
with a value from a call is the fact that this value is told. What is only looked up as a means may be left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sandbox_mcp.app.benchmarks.toolsandbox.graphs import DEPENDENT, GUARDRAIL

_Json = Mapping[str, Any]
CHANGES: Mapping[str, str] = {"snapshot": "is", "addition": "adds", "removal": "removes", "update": "updates"}
DECIMALS = [0, 1, 2, 3]


def name_of(number: int) -> str:
    """The id of a milestone."""
    return f"m{number}"


def written(
    nodes: Sequence[_Json], edges: Sequence[Sequence[int]] | None, ids: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Milestones or minefields as a scenario file has them; ``ids`` maps the ids of rows to their labels."""
    pairs = [[number, number + 1] for number in range(len(nodes) - 1)] if edges is None else edges
    made: list[dict[str, Any]] = []
    for number, node in enumerate(nodes):
        constraints = list(_constraints(node["constraints"], ids))
        after = [name_of(before) for before, later in pairs if later == number]
        entry = {"id": name_of(number), **({"after": after} if after else {})}
        made.append({**entry, **constraints[0]} if len(constraints) == 1 else {**entry, "all": constraints})
    return made


def _constraints(items: Sequence[_Json], ids: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    judged = [item for item in items if item["kind"] != GUARDRAIL]
    told = [item for item in judged if item["table"] == "messages" and "content" in item["rows"][0]]
    traced = [item for item in judged if item["table"] == "messages" and "tool_calls" in item["rows"][0]]
    for item in judged:
        if item["table"] != "messages":
            rows = [{name: _cell(name, value, item, ids) for name, value in row.items()} for row in item["rows"]]
            since = item.get("reference")
            refers = {"since": name_of(since)} if since is not None and since >= 0 else {}
            yield {"table": item["table"], CHANGES[item["kind"]]: rows[0] if len(rows) == 1 else rows, **refers}
    if traced:
        yield _call(traced, ids)
    if told:
        exactly = [item for item in told if item["measures"]["content"]["measure"] == "contains"]
        yield _message((exactly or told)[0])


def _cell(name: str, value: Any, item: _Json, ids: Mapping[str, str]) -> Any:
    measured = item["measures"].get(name, {})
    if value is not None and measured.get("measure") == "close" and measured.get("tolerance") is not None:
        return {"close": value, "within": measured["tolerance"]}
    return labelled(value, ids)


def labelled(value: Any, ids: Mapping[str, str]) -> Any:
    """A value as a file has it: the id of a row by the row's label."""
    return f"@{ids[value]}" if isinstance(value, str) and value in ids else value


def _call(items: Sequence[_Json], ids: Mapping[str, str]) -> dict[str, Any]:
    """One of several calls, with the arguments that all constraints on them name."""
    taken: dict[str, Any] = {}
    for item in items:
        if item["kind"] == DEPENDENT:
            # A value from the call at another milestone; the least difference is not an error.
            taken |= {
                value["to"]: {"from": name_of(item["reference"]), "path": ".".join(value["path"]), "within": 1e-6}
                for value in item["extract"]["values"]
            }
    first = items[0]
    near: _Json = first["measures"]["tool_calls"].get("tolerance") or {}
    patterns = [
        {
            "tool": golden["tool"],
            "arguments": {name: _argument(value, near.get(name), ids) for name, value in golden["arguments"].items()}
            | taken,
        }
        for golden in first["rows"][0]["tool_calls"]
    ]
    return patterns[0] if len(patterns) == 1 else {"any_of": patterns}


def _argument(value: Any, near: Any, ids: Mapping[str, str]) -> Any:
    if near == float("inf"):
        return {"any": True}
    if near is not None and isinstance(value, int | float):
        return {"close": value, "within": near}
    return labelled(value, ids)


def _message(item: _Json) -> dict[str, Any]:
    """Text of a message; words to the environment are an attempt at the call that they name."""
    row = item["rows"][0]
    if row["recipient"] == "environment":
        return {"tool": row["content"], "attempt": True}
    between = {"sender": row["sender"], "recipient": row["recipient"]}
    if item["kind"] != DEPENDENT:
        measure = "contains" if item["measures"]["content"]["measure"] == "contains" else "rouge"
        return {"message": {**between, "content": {measure: row["content"]}}}
    decimals = {"decimals": DECIMALS} if item["extract"].get("forms") else {}
    values = {
        value["to"]: {"from": name_of(item["reference"]), "path": ".".join(value["path"]), "to": "text", **decimals}
        for value in item["extract"]["values"]
    }
    content = {"facts": [f"{{{name}}}" for name in values], "values": values}
    return {"message": {**between, "content": content}}
