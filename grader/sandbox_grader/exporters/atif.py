"""Exports a session as an ATIF 1.8 trajectory, the format that Harbor and others exchange.

Policy: a step is what one participant did at once; the results of its calls are its observation. What ATIF has no
place for (errors, unusual readers, calls of the user) stands in ``extra.sandbox_mcp``, where our importer finds it.
"""

from datetime import UTC, datetime
from typing import Any

from sandbox_grader.exporters.turns import ExportedTurn, answered, copied, definition, outcome_text, turns
from sandbox_grader.ours import OURS, about, error_object
from sandbox_mcp.engine.trajectory import Message, ToolCall, Trajectory

SOURCES = {"system": "system", "environment": "system", "user": "user", "agent": "agent"}
USUAL = {"system": ("system", "agent"), "user": ("user", "agent"), "agent": ("agent", "user")}
"""An ATIF source to the sender and recipient of a message that says nothing else."""

EPOCH = 1e8
"""Virtual times below this are counters of steps, not times."""


def write(trajectory: Trajectory) -> dict[str, Any]:
    """One session as an ATIF document, ready for ``json.dump``."""
    started = trajectory.started
    steps = [_step(number, turn) for number, turn in enumerate(turns(trajectory.events), start=1)]
    agent: dict[str, Any] = {
        "name": str(started.agent.get("name") or "unknown"),
        "version": str(started.agent.get("version") or "unknown"),
    }
    if isinstance(started.agent.get("model"), str):
        agent["model_name"] = started.agent["model"]
    if started.tools:
        agent["tool_definitions"] = [definition(tool) for tool in started.tools]
    return {
        "schema_version": "ATIF-v1.8",
        "session_id": started.session,
        "trajectory_id": started.session,
        "agent": agent,
        "steps": steps,
        "final_metrics": {"total_steps": len(steps)},
        "extra": {OURS: about(trajectory)},
    }


def _step(number: int, turn: ExportedTurn) -> dict[str, Any]:
    lead = turn.said or turn.note
    first = turn.thought or lead or turn.calls[0]
    agents = not turn.calls or turn.calls[0].caller == "agent"
    step: dict[str, Any] = {"step_id": number}
    if EPOCH <= first.clock < 1e11:  # where virtual time is a time at all
        step["timestamp"] = datetime.fromtimestamp(first.clock, UTC).isoformat().replace("+00:00", "Z")
    step["source"] = "agent" if lead is None and agents else SOURCES[lead.sender if lead else turn.calls[0].caller]
    step["message"] = "" if lead is None or _is_kept_from_agent(lead) else lead.content
    if turn.thought is not None:
        step["reasoning_content"] = turn.thought.content
    if turn.calls and agents:
        step["tool_calls"] = [_call(call) for call in turn.calls]
    results = [
        {
            "source_call_id": call.call,
            "content": outcome_text(call),
            "extra": {OURS: {"error": error_object(call.error)}},
        }
        for call in turn.calls
        if answered(call)
    ]
    step |= {"observation": {"results": results}} if results else {}
    unusual = _unusual(turn, step["source"])
    return step | ({"extra": {OURS: unusual}} if unusual else {})


def _call(call: ToolCall) -> dict[str, Any]:
    told: dict[str, Any] = {"tool_call_id": call.call, "function_name": call.name, "arguments": copied(call.arguments)}
    if call.raw_arguments is not None:
        told["extra"] = {OURS: {"raw_arguments": call.raw_arguments}}
    return told


def _unusual(turn: ExportedTurn, source: str) -> dict[str, Any]:
    """Part of a step that its form does not express."""
    if turn.said is not None:
        return _unlike(turn.said, source, told=bool(turn.said.content) or turn.thought is None)
    if turn.calls and turn.calls[0].caller != "agent":
        return {"silent": True, "calls": [_call(call) | {"caller": call.caller} for call in turn.calls]}
    if turn.note is None:
        return {}
    return _unlike(turn.note, source) if not turn.calls or turn.note.visible_to != ("agent",) else {}


def _unlike(message: Message, source: str, *, told: bool = True) -> dict[str, Any]:
    """Speaker and listener, where the source does not tell; ``told`` is whether the step shows that it was said."""
    pair = (message.sender, message.recipient)
    if told and pair == USUAL[source] and set(message.visible_to) == set(pair):
        return {}
    content = {"content": message.content} if _is_kept_from_agent(message) else {}
    return {"sender": pair[0], "recipient": pair[1], "visible_to": list(message.visible_to), **content}


def _is_kept_from_agent(message: Message) -> bool:
    """True if the agent never saw it, such as the user's brief.

    Readers of ATIF take every step for a part of what the agent read, and a system step for its prompt. So the text of
    such a message stands in the step's ``extra`` alone, and its ``message`` is empty.
    """
    return "agent" not in message.visible_to
