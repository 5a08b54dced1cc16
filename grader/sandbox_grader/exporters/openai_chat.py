"""Exports a session as OpenAI chat messages: what the agent saw, said and called.

Policy: messages the agent never saw and calls of others are not part of its conversation and stay out. Two extensions
keep what the form has no place for: ``error`` on every tool message, null where there was none, and ``recipient`` on a
message for another reader than usual. Statements on the session as a whole stand in ``metadata``.
"""

from collections.abc import Iterator
from typing import Any

from sandbox_grader.exporters.turns import (
    ExportedTurn,
    answered,
    copied,
    definition,
    in_agents_conversation,
    outcome_text,
    turns,
)
from sandbox_grader.importers.reading.values import encode
from sandbox_grader.ours import OURS, about, error_object
from sandbox_mcp.engine.trajectory import Message, Role, Trajectory

USUAL: dict[str, tuple[str, Role]] = {
    "system": ("system", "agent"),
    "environment": ("system", "agent"),
    "user": ("user", "agent"),
    "agent": ("assistant", "user"),
}
"""A message's sender to the role of chat messages, and whom such a message is for unless it says so."""


def write(trajectory: Trajectory) -> dict[str, Any]:
    """One session as ``{"messages": [...], "tools": [...], "metadata": {...}}``; ``tools`` only where known."""
    seen = turns(filter(in_agents_conversation, trajectory.events))
    document: dict[str, Any] = {"messages": [message for turn in seen for message in _messages(turn)]}
    if trajectory.started.tools:
        document["tools"] = [definition(tool) for tool in trajectory.started.tools]
    known = {"session": trajectory.started.session, "scenario": trajectory.started.scenario}
    document["metadata"] = known | {OURS: about(trajectory) | {"agent": copied(trajectory.started.agent)}}
    model = trajectory.started.agent.get("model")
    return document | ({"model": model} if isinstance(model, str) else {})


def _messages(turn: ExportedTurn) -> Iterator[dict[str, Any]]:
    if turn.said is not None:
        yield _said(turn.said) | _thought(turn)
    elif turn.calls:
        note = None if turn.note is None else turn.note.content
        calls: list[dict[str, Any]] = []
        for call in turn.calls:
            given = encode(call.arguments) if call.raw_arguments is None else call.raw_arguments
            calls.append({"id": call.call, "type": "function", "function": {"name": call.name, "arguments": given}})
        yield {"role": "assistant", "content": note, "tool_calls": calls} | _thought(turn)
        for call in filter(answered, turn.calls):
            text, error = outcome_text(call), error_object(call.error)
            yield {"role": "tool", "tool_call_id": call.call, "content": text, "error": error}
    elif turn.note is not None:
        yield _said(turn.note) | _thought(turn)
    else:
        yield {"role": "assistant", "content": None, "recipient": "agent"} | _thought(turn)


def _thought(turn: ExportedTurn) -> dict[str, Any]:
    return {} if turn.thought is None else {"reasoning_content": turn.thought.content}


def _said(message: Message) -> dict[str, Any]:
    role, usual = USUAL[message.sender]
    told: dict[str, Any] = {"role": role, "content": message.content}
    if message.sender == "environment":
        told["name"] = "environment"
    return told if message.recipient == usual else told | {"recipient": message.recipient}
