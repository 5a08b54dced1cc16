"""Writes the scenarios of an installed ToolSandbox as JSON. Run by a Python that has it; imports nothing of ours.

Policy: it lists the content and gives nothing a meaning. Its clock stands still, because those scenarios work out
their dates from the moment they are built. Runs on Python 3.9.

Usage: python dump.py NOW OUTPUT, with NOW as ``YYYY-MM-DDTHH:MM:SS`` of the zone in the variable TZ.
"""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, cast


def stop_the_clock(now: datetime.datetime) -> None:
    """Give every module loaded from now on a clock that stands still."""

    class _Stopped(datetime.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            stands = cls.fromtimestamp(now.timestamp())
            return stands if tz is None else stands.astimezone(tz)

    setattr(datetime, "datetime", _Stopped)  # noqa: B010 - the attribute of a module


def scenarios() -> Mapping[str, Any]:
    """All scenarios by name, built by the package itself."""
    backend = import_module("tool_sandbox.common.tool_discovery").ToolBackend.DEFAULT
    return import_module("tool_sandbox.scenarios").named_scenarios(preferred_tool_backend=backend)


def dumped(scenario: Any) -> dict[str, Any]:
    """One scenario: its tables, messages, tools and graphs."""
    context, evaluation = scenario.starting_context, scenario.evaluation
    spaces = import_module("tool_sandbox.common.execution_context").DatabaseNamespace
    tables = {str(space): context.get_database(namespace=space).to_dicts() for space in spaces if space != "SANDBOX"}
    messages = context.get_database(namespace=spaces.SANDBOX, get_all_history_snapshots=True).to_dicts()
    shown = context.get_available_tools(scrambling_allowed=True)
    return {
        "categories": [str(category) for category in scenario.categories],
        "tables": tables,
        "messages": [
            {name: message[name] for name in ("sender", "recipient", "content", "visible_to")} for message in messages
        ],
        "allowed": list(context.tool_allow_list or ()),
        "denied": list(context.tool_deny_list or ()),
        "presented": {name: str(getattr(tool, "__name__", name)) for name, tool in shown.items()},
        "max_messages": scenario.max_messages,
        "milestones": _graph(evaluation.milestone_matcher),
        "minefields": _graph(evaluation.minefield_matcher),
    }


def _graph(matcher: Any) -> dict[str, Any]:
    """The nodes and edges of a matcher, with the guardrails that it has added to its nodes."""
    edges = None if matcher.edge_list is None else [list(edge) for edge in matcher.edge_list]
    nodes = [[_constraint(item) for item in node.snapshot_constraints] for node in matcher.milestones]
    return {"nodes": nodes, "edges": edges}


def _constraint(item: Any) -> dict[str, Any]:
    rows = None if item.target_dataframe is None else item.target_dataframe.to_dicts()
    measures: Mapping[str, Any] = item.column_similarity_measure or cast("dict[str, Any]", {})
    named = {column for row in rows or () for column in row}
    return {
        "table": str(item.database_namespace),
        "reference": item.reference_milestone_node_index,
        "rows": rows,
        "function": _function(item.snapshot_constraint),
        "measures": {column: _function(measures[column]) for column in measures if column in named},
    }


def _function(function: Any) -> dict[str, Any]:
    """A function by its name, with the arguments that are bound to it."""
    if not isinstance(function, partial):
        return {"name": str(function.__name__)}
    bound = cast("partial[Any]", function)
    keywords = {name: _plain(value) for name, value in bound.keywords.items()}
    return {**_function(bound.func), **keywords}


def _plain(value: Any) -> Any:
    if callable(value):
        return _function(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    return value


def main(arguments: Sequence[str]) -> None:
    """Dump everything to the file named."""
    now = datetime.datetime.fromisoformat(arguments[0])
    import_module("tool_sandbox.common.execution_context")  # loads the libraries that look at the type of dates
    stop_the_clock(now)
    found = {name: dumped(scenario) for name, scenario in scenarios().items()}
    text = json.dumps({"now": arguments[0], "scenarios": found}, ensure_ascii=False, default=str)
    Path(arguments[1]).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
