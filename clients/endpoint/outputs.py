"""Outputs as the tools wrote them, out of what clients make of them before the model sees them.

Policy: only wrappings that real clients were seen to use are taken off; any other output is left as it is.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

HEADING = re.compile(r"\AWall time: [0-9.]+ seconds\nOutput:\n?")


def bare(output: str) -> str:
    """The text of an output.

    Out of ``{"error": text}`` (Pydantic AI), of a whole MCP result (Google ADK), or from under what it took (Codex).
    """
    output = HEADING.sub("", output, count=1)
    try:
        value: Any = json.loads(output)
    except ValueError:
        return output
    if not isinstance(value, Mapping):
        return output
    given = cast("Mapping[str, Any]", value)
    if set(given) == {"error"} and isinstance(given["error"], str):
        return given["error"]
    return _text(given["content"]) if isinstance(given.get("content"), list) and "isError" in given else output


def _text(content: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(str(part.get("text", "")) for part in content if part.get("type") == "text")
