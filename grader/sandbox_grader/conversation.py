"""A recorded session as text, one line an event, numbered as in its log.

Policy: what the agent could not see (what the user was told) is left out; long results are cut, never hidden.
"""

import json
from collections.abc import Iterator
from typing import Any

from sandbox_mcp.trajectory import ToolCall, Trajectory

WIDTH = 160


def conversation(trajectory: Trajectory) -> str:
    """Messages between user and agent, calls with their results or errors, and how it ended."""
    return "\n".join(_lines(trajectory)) + "\n"


def _lines(trajectory: Trajectory) -> Iterator[str]:
    for event in trajectory.events:
        if isinstance(event, ToolCall):
            yield from _call(event)
        elif event.sender != "system":
            yield f"#{event.seq:<3} {event.sender}: {_cut(event.content)}"
    if trajectory.ended:
        detail = f" ({trajectory.ended.detail})" if trajectory.ended.detail else ""
        yield f"#{trajectory.ended.seq:<3} ended: {trajectory.ended.reason}{detail}"
    else:
        yield "     the log ends here"


def _call(event: ToolCall) -> Iterator[str]:
    given = (
        event.raw_arguments
        if event.raw_arguments is not None
        else ", ".join(f"{name}={_json(value)}" for name, value in event.arguments.items())
    )
    yield f"#{event.seq:<3} {event.caller} calls {event.name}({_cut(given)})"
    outcome = f"{event.error.type}: {event.error.message}" if event.error else _json(event.result)
    yield f"     -> {_cut(outcome)}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= WIDTH else f"{line[:WIDTH]}... ({len(line)} characters)"
