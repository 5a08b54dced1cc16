"""Builders of neutral cases, for tests of what ToolSandbox's own evaluator would say."""

from collections.abc import Mapping
from typing import Any

from sandbox_grader.milestones.case import (
    MESSAGES,
    Case,
    CaseConstraint,
    CaseMessage,
    Extraction,
    Graph,
    Measured,
    Node,
    RecordedCall,
    RowChange,
)  # fmt: skip
from sandbox_grader.milestones.compat import CompatResult, evaluate

START = CaseMessage("user", "agent", "Go.", None)


def said(content: str, sender: str = "agent", recipient: str = "user", *changes: RowChange) -> CaseMessage:
    return CaseMessage(sender, recipient, content, (sender, recipient), None, changes)


def did(
    tool: str = "search", /, result: Any = None, changes: tuple[RowChange, ...] = (), **arguments: Any
) -> CaseMessage:
    call = RecordedCall(tool, arguments, result)
    return CaseMessage("environment", "agent", "ok", ("environment", "agent"), (call,), changes)


def added(table: str, **row: Any) -> RowChange:
    return RowChange(table, "add", 0, row)


def updated(table: str, position: int = 0, **row: Any) -> RowChange:
    return RowChange(table, "update", position, row)


def removed(table: str, position: int = 0) -> RowChange:
    return RowChange(table, "remove", position)


def text(content: str, measure: str | None = None) -> CaseConstraint:
    row = {"sender": "agent", "recipient": "user", "content": content}
    return CaseConstraint(MESSAGES, "snapshot", (row,), measures={"content": Measured(measure)} if measure else None)


def trace(tool: str = "search", /, **arguments: Any) -> CaseConstraint:
    return CaseConstraint(MESSAGES, "snapshot", ({"tool_calls": [{"tool": tool, "arguments": arguments}]},))


def taking(
    path: tuple[str | int, ...],
    convert: Any = "raw",
    *,
    reference: int = 0,
    source: Any = "result",
    decimals: tuple[int, ...] = (),
    content: str | None = None,
    given: Mapping[str, Any] | None = None,
) -> CaseConstraint:
    """A constraint with the value ``x`` from the reference message: in a text if there is one, else as an argument."""
    extract = (Extraction(source, path, "x", convert, decimals),)
    if content is None:
        row: dict[str, Any] = {"tool_calls": [{"tool": "use", "arguments": dict(given or {})}]}
        return CaseConstraint(MESSAGES, "trace_dependent", (row,), reference, None, "tool_calls", extract)
    measures = {"content": Measured("exact")}
    return CaseConstraint(MESSAGES, "trace_dependent", ({"content": content},), reference, measures, "content", extract)


def table(
    name: str, kind: Any, *rows: Mapping[str, Any], reference: int | None = None, **measures: Any
) -> CaseConstraint:
    return CaseConstraint(name, kind, rows, reference, measures or None)


def node(*constraints: CaseConstraint, guarded: tuple[str, ...] | None = (), unguarded: tuple[str, ...] = ()) -> Node:
    """A node without implicit guardrails, unless asked for with ``guarded=None``."""
    return Node(constraints, guarded, unguarded)


def judged(
    *nodes: Node,
    messages: tuple[CaseMessage, ...],
    edges: tuple[tuple[int, int], ...] | None = None,
    tables: Mapping[str, Any] | None = None,
    minefields: tuple[Node, ...] = (),
) -> CompatResult:
    return evaluate(Case(tables or {}, (START, *messages), Graph(nodes, edges), Graph(minefields)))
