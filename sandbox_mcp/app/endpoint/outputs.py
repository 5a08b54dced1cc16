"""Gets the outputs that tools wrote back out of what clients put around them before the model sees them.

Policy: only wrappings that real clients were seen to use are taken off; any other output is left as it is.
"""

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from sandbox_mcp.engine.bounded import loads

HEADING = re.compile(r"\AWall time: [0-9.]+ seconds\nOutput:\n?")

PRINTED = re.compile(r"""TextContent\(type='text', text=('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")


def bare(output: str) -> str:
    """The text of an output.

    Out of ``{"error": text}`` (Pydantic AI), out of an error with its stack (mcp-use), of a whole MCP result (Google
    ADK) or of one as Python prints it (LlamaIndex), or from under what it took (Codex).
    """
    output = HEADING.sub("", output, count=1)
    try:
        value: Any = loads(output)
    except (ValueError, RecursionError):
        return _printed(output) or output
    if not isinstance(value, Mapping):
        return output
    given = cast("Mapping[str, Any]", value)
    if set(given) == {"error"} and isinstance(given["error"], str):
        return given["error"]
    if {"error", "details", "stack"} <= set(given):
        return str(given["details"])
    if isinstance(given.get("content"), list) and "isError" in given:
        parts = cast("Sequence[Mapping[str, Any]]", given["content"])
        return "\n".join(str(part.get("text", "")) for part in parts if part.get("type") == "text")
    return output


def _printed(output: str) -> str:
    """The texts in a result that was printed as a Python object; an empty text where they cannot be read."""
    try:
        return "\n".join(map(ast.literal_eval, PRINTED.findall(output)))
    except (ValueError, SyntaxError):
        return ""
