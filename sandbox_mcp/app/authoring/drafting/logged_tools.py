"""A tape of the tools that logged sessions called, so that scenarios can be drafted where no log has a state.

Policy: a tool takes what its calls took. What a log defines of an argument stays where all calls keep to it, else the
types of the values seen are put together. Each session is one take. Calls that never reached a tool are left out, and
so are results that a log has lost.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sandbox_grader.grading.served import last_form
from sandbox_grader.grading.values import is_array, is_object

from sandbox_mcp.engine.tools.user_tools import ENGINE_TOOLS
from sandbox_mcp.engine.tools.value_schemas import fits_schema
from sandbox_mcp.engine.trajectory import ToolCall, ToolSpec, Trajectory
from sandbox_mcp.engine.worlds.recorded import FORMAT
from sandbox_mcp.engine.worlds.recorded.schemas import inlined, names_in
from sandbox_mcp.engine.worlds.recorded.world import UNPLAYABLE

RESERVED = frozenset({tool.name for tool in ENGINE_TOOLS} | UNPLAYABLE)
"""Names that every session has for itself."""
DEEP = 4
"""To this depth the types inside objects and lists are told."""


def on_tape(session: Trajectory) -> Iterator[ToolCall]:
    """The calls of a session that reached a tool and whose results the log has."""
    for event in session.events:
        if isinstance(event, ToolCall) and event.caller == "agent" and event.called not in RESERVED:
            reached = event.error is None or event.error.kind == "execution"
            if reached and not event.meta.get("result_missing"):
                yield event


def tape_text(sessions: Sequence[Trajectory], name: str) -> str:
    """The lines of a tape that holds what these sessions called and were answered."""
    server = {"kind": "server", "tape": FORMAT, "name": name, "version": "logged"}
    lines: list[Mapping[str, Any]] = [server, *_tools(sessions)]
    for number, session in enumerate(sessions):
        lines += [server] if number else []
        lines += [
            {"kind": "call", "tool": event.called, "arguments": dict(event.arguments), "result": _travelled(event)}
            for event in on_tape(session)
        ]
    return "".join(f"{json.dumps(line, ensure_ascii=False, default=dict)}\n" for line in lines)


def _travelled(event: ToolCall) -> Mapping[str, Any]:
    """A result as it travels over MCP."""
    if event.error is not None:
        return {"content": [{"type": "text", "text": event.error.message or event.error.type}], "isError": True}
    value = last_form(event.result)
    if isinstance(value, str):
        return {"content": [{"type": "text", "text": value}]}
    text = json.dumps(value, ensure_ascii=False, default=dict)
    told = {"content": [{"type": "text", "text": text}]}
    return told if value is None else {**told, "structuredContent": value}


def _tools(sessions: Sequence[Trajectory]) -> Iterator[Mapping[str, Any]]:
    defined: dict[str, ToolSpec] = {}
    for session in sessions:
        defined |= {spec.tool or spec.name: spec for spec in session.started.tools}
    given: dict[str, list[Mapping[str, Any]]] = {}
    for session in sessions:
        for event in on_tape(session):
            given.setdefault(event.called, []).append(event.arguments)
    for name in dict.fromkeys((*given, *(name for name in defined if name not in RESERVED))):
        spec = defined.get(name)
        schema = input_schema(given.get(name, ()), spec.input_schema if spec else {})
        reads = {"reads": True} if spec is not None and not spec.action else {}
        described = {"description": spec.description} if spec is not None and spec.description else {}
        yield {"kind": "tool", "name": name, **described, "inputSchema": schema, **reads}


def input_schema(calls: Sequence[Mapping[str, Any]], defined: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a tool's arguments, from its definition as far as all calls keep to it, and from the calls."""
    declared: Any = defined.get("properties")
    listed: Mapping[str, Any] = declared if is_object(declared) else {}
    seen = dict.fromkeys(name for arguments in calls for name in arguments)
    properties: dict[str, Any] = {}
    for name in dict.fromkeys((*listed, *seen)):
        values = [arguments[name] for arguments in calls if name in arguments]
        said = inlined(listed[name], defined) if name in listed else None
        kept = said is not None and all(fits_schema(value, said) for value in values)
        properties[name] = said if kept else merged(values)
    wanted = names_in(defined.get("required")) if listed else list(seen)
    required = [name for name in wanted if all(name in arguments for arguments in calls)]
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def merged(values: Iterable[Any], deep: int = 0) -> dict[str, Any]:
    """A schema that all of the values fit, with the types in them put together."""
    kinds = dict[str, list[Any]]()
    for value in values:
        kinds.setdefault(_kind(value), []).append(value)
    if "number" in kinds:
        kinds.pop("integer", None)
    schema: dict[str, Any] = {"type": next(iter(kinds)) if len(kinds) == 1 else sorted(kinds)} if kinds else {}
    if deep < DEEP and (lists := kinds.get("array")):
        schema["items"] = merged((item for value in lists for item in value), deep + 1)
    if deep < DEEP and (objects := kinds.get("object")):
        names = dict.fromkeys(name for value in objects for name in value)
        schema["properties"] = {
            name: merged((value[name] for value in objects if name in value), deep + 1) for name in names
        }
    return schema


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "integer" if isinstance(value, int) else "number"
    return "array" if is_array(value) else "object" if is_object(value) else "string"
