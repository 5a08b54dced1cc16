"""Groups the events of a session into what other formats call a step or a message."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox_grader.importers.reading.values import encode
from sandbox_mcp.engine.trajectory import Message, ToolCall, ToolSpec


@dataclass(frozen=True, slots=True)
class ExportedTurn:
    """Everything one participant did at once: think, then either speak or make a batch of calls with a note.

    ``said`` is a message with a reader; ``note`` is text that the agent wrote for itself beside the calls.
    """

    thought: Message | None = None
    note: Message | None = None
    said: Message | None = None
    calls: list[ToolCall] = field(default_factory=list[ToolCall])


def turns(events: Iterable[Message | ToolCall]) -> Iterator[ExportedTurn]:
    """The turns of a session, in order: calls are gathered while they follow one another in one batch."""
    turn = ExportedTurn()
    for event in events:
        if not _fits(turn, event):
            yield turn
            turn = ExportedTurn()
        if isinstance(event, ToolCall):
            turn = ExportedTurn(turn.thought, turn.note, None, [*turn.calls, event])
        elif is_thought(event):
            turn = ExportedTurn(thought=event)
        elif is_note(event):
            turn = ExportedTurn(turn.thought, note=event)
        else:
            turn = ExportedTurn(turn.thought, said=event)
    if turn != ExportedTurn():
        yield turn


def in_agents_conversation(event: Message | ToolCall) -> bool:
    """True if an event is part of what the agent lived through: a call of its own, or a message that it could read."""
    return event.caller == "agent" if isinstance(event, ToolCall) else "agent" in event.visible_to


def is_thought(message: Message) -> bool:
    """True if a message is the agent's reasoning."""
    return is_note(message) and message.meta.get("kind") == "reasoning"


def is_note(message: Message) -> bool:
    """True if a message is the agent's note to itself."""
    return (message.sender, message.recipient) == ("agent", "agent")


def _fits(turn: ExportedTurn, event: Message | ToolCall) -> bool:
    """True if an event belongs to the turn under way."""
    if isinstance(event, ToolCall):
        if turn.calls:
            return (event.batch, event.caller) == (turn.calls[0].batch, turn.calls[0].caller)
        return turn.said is None and (event.caller == "agent" or turn == ExportedTurn())
    if turn.calls or turn.said is not None or turn.note is not None:
        return False
    return turn.thought is None or (event.sender == "agent" and not is_thought(event))


def answered(call: ToolCall) -> bool:
    """True if it is known what came of a call."""
    return call.meta.get("result_missing") is not True


def outcome_text(call: ToolCall) -> str:
    """Text that the caller was given: the error's, or the result's."""
    return encode(call.result) if call.error is None else call.error.message


def copied(value: Mapping[str, Any]) -> dict[str, Any]:
    """A mapping as plain JSON values, detached from the session."""
    return json.loads(encode(value))


def definition(tool: ToolSpec) -> dict[str, Any]:
    """A tool's definition in the form that OpenAI's API gave the world."""
    function = {"name": tool.name, "description": tool.description, "parameters": copied(tool.input_schema)}
    return {"type": "function", "function": function}
