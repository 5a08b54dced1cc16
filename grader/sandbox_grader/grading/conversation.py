"""A recorded session as text, one line an event, numbered as in its log.

Policy: what the agent could not see (what the user was told) is left out; long results are cut, never hidden.
"""

import json
from typing import Any

from sandbox_mcp.engine.trajectory import ToolCall, Trajectory

WIDTH = 160


def conversation(trajectory: Trajectory) -> str:
    """Messages between user and agent, calls with their results or errors, and how it ended."""
    lines: list[str] = []
    for event in trajectory.events:
        if isinstance(event, ToolCall):
            named = ", ".join(f"{name}={_json(value)}" for name, value in event.arguments.items())
            given = named if event.raw_arguments is None else event.raw_arguments
            outcome = f"{event.error.type}: {event.error.message}" if event.error else _json(event.result)
            lines.append(f"#{event.seq:<3} {event.caller} calls {event.name}({_cut(given)})")
            lines.append(f"     -> {_cut(outcome)}")
        elif event.sender != "system":
            lines.append(f"#{event.seq:<3} {event.sender}: {_cut(event.content)}")
    if trajectory.ended:
        detail = f" ({trajectory.ended.detail})" if trajectory.ended.detail else ""
        lines.append(f"#{trajectory.ended.seq:<3} ended: {trajectory.ended.reason}{detail}")
    else:
        lines.append("     the log ends here")
    return "\n".join(lines) + "\n"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= WIDTH else f"{line[:WIDTH]}... ({len(line)} characters)"
