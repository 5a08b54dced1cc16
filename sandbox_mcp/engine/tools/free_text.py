"""Actions as free text: one tool that takes a line such as ``name(argument=value, ...)`` in place of many with schemas.

Policy: the line is parsed, never evaluated: values are JSON, and whatever is not understood is told as an invalid
format together with the form that would be. Source: ToolScan, section 8.1.3, which compares the two formats.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from sandbox_mcp.engine.tools.calling import Outcome, PresentedTool, bind, present
from sandbox_mcp.engine.tools.definition import Parameter, Tool, never_run
from sandbox_mcp.engine.world.faults import CallError

ACT = "act"
FORM = 'name(argument=value, ...), each value in JSON, such as rename(id="a1", name="Ann") or list_names()'
_HEAD = re.compile(r"\s*([\w./-]+)\s*\(\s*")
_NAME = re.compile(r"([^\s()=,\"]+)\s*=\s*")
"""Names as servers choose them, such as ``users/list`` and ``$top``, before what they open and what they are given."""
_NEXT = re.compile(r"\s*(?:,\s*|(?=\)))")
"""What stands between a value and the next argument or the closing bracket."""
_DECODER = json.JSONDecoder()


def act_tool(actions: Mapping[str, PresentedTool]) -> PresentedTool:
    """The tool that takes one action as text; its description lists the actions there are."""
    listed = "\n".join(_described(tool) for tool in actions.values())
    return present(
        Tool(
            name=ACT,
            domain="action",
            action=True,
            destructive=True,
            caller="agent",
            function=never_run,
            description=f"Do one thing, written as {FORM}.\nWhat can be done:\n{listed}",
            parameters=(Parameter("action", {"type": "string"}, True, f"One action, written as {FORM}."),),
            result_schema={},
        )
    )


def _described(tool: PresentedTool) -> str:
    arguments = ", ".join(
        f"{parameter.name}{'' if parameter.required else '?'}: {' or '.join(parameter.types)}"
        for parameter in tool.parameters
    )
    details = "".join(f"\n    {item.name}: {item.description}" for item in tool.parameters if item.description)
    return f"- {tool.name}({arguments}): {' '.join(tool.description.split())}{details}"


def unpack(name: str, arguments: object, actions: Mapping[str, PresentedTool]) -> tuple[str, object] | Outcome:
    """The call that an action stands for: its name and arguments, or the outcome that names its fault."""
    bound = bind({ACT: act_tool(actions)}, name, arguments)
    if isinstance(bound, Outcome):
        return bound
    text = str(bound.arguments["action"])
    parsed = parse(text)
    if parsed is not None:
        return parsed
    fault = CallError("invalid_format", "ArgumentFormatError", f"{text[:80]!r} is not an action; expected {FORM}")
    return Outcome(None, {}, text, fault=fault)


def parse(text: str) -> tuple[str, dict[str, Any]] | None:
    """Name and arguments of an action, or None where the text is not an action."""
    head = _HEAD.match(text)
    if head is None:
        return None
    arguments: dict[str, Any] = {}
    position = head.end()
    while not text.startswith(")", position):
        name = _NAME.match(text, position)
        if name is None or name[1] in arguments:
            return None
        try:
            arguments[name[1]], position = _DECODER.raw_decode(text, name.end())
        except (ValueError, RecursionError):
            return None
        following = _NEXT.match(text, position)
        if following is None:
            return None
        position = following.end()
    return None if text[position + 1 :].strip() else (head[1], arguments)


def render(name: str, arguments: Mapping[str, Any]) -> str:
    """A call as an action."""
    shown = ", ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in arguments.items())
    return f"{name}({shown})"
