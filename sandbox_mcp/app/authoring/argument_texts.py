"""Descriptions of a tool's arguments: of the schema, or of the docstring that stands in its description."""

import re
from collections.abc import Mapping
from typing import Any, cast

from sandbox_mcp.engine.worlds.recorded import TapeTool

_ENTRY = re.compile(r"[-*]?\s*`?([A-Za-z_]\w*)`?\s*+(?:\([^)]*\)\s*+)?:\s*(.*)")
_BULLET = re.compile(r"(?m)^[ \t]*[-*][ \t]+[`'\"]?([A-Za-z_]\w*)[`'\"]?\s*+(?:\([^)\n]*\)\s*+)?:[ \t]*(.*)$")


def documented(text: str) -> dict[str, str]:
    """The arguments that an ``Args:`` section of a docstring lists, each with its text."""
    begun = re.search(r"(?m)^[ \t]*(?:Args|Arguments|Parameters):[ \t]*$", text)
    if begun is None:
        return {}
    found: dict[str, str] = {}
    name, indent = "", None
    for line in text[begun.end() :].splitlines()[1:]:
        if not line.strip():
            break
        lead = len(line) - len(line.lstrip())
        indent = lead if indent is None else indent
        match = _ENTRY.match(line.strip())
        if lead < indent or (lead == indent and match is None):
            break
        if lead == indent and match is not None:
            name = match[1]
            found[name] = match[2]
        elif name:
            found[name] = f"{found[name]} {line.strip()}"
    return found


def fields_in(text: str) -> dict[str, str]:
    """The fields that a description lists as ``- name: text``, for objects whose schema names none."""
    return {match[1]: match[2].strip() for match in _BULLET.finditer(text)}


def described(tool: TapeTool) -> Mapping[str, str]:
    """The description of each argument that has one."""
    schema: Any = tool.listed.get("inputSchema") or {}
    properties: Any = schema.get("properties")
    listed = cast("Mapping[str, Any]", properties) if isinstance(properties, Mapping) else dict[str, Any]()
    told = documented(str(tool.listed.get("description") or ""))
    for name, item in listed.items():
        text = cast("Mapping[str, Any]", item).get("description") if isinstance(item, Mapping) else None
        if isinstance(text, str) and text.strip():
            told[name] = text
    return {name: text for name, text in told.items() if name in listed and text.strip()}
