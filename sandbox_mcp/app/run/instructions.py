"""First instructions of a run to its agents: the text of a file, or one of the choices that are built in.

Policy: agents are told the same few words unless a run says otherwise, because every further word moves scores. What is
built in stands for a study of a paper, in words and with an example of our own: its tools exist in no world, so that
the example gives nothing away. A file of a built-in's name is said as ``./NAME``.
"""

import errno
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.play.session import chosen_instructions

ONE_SHOT = """\
You answer one question with the help of the tools that you are given. Work in steps. In each step say in a sentence \
what you still need to know, then call the one tool that tells it, with the names and types of arguments that its \
description lists. Take values from the question and from what tools have returned, and make none up. If a call is \
refused, read why, and call again as it should be. Do not make a call twice that has been answered. When you know all \
that was asked, answer in one or two sentences and call nothing more. If no tool can tell it, say so.

An example, with tools that are not yours:

Question: Which of the two lighthouses on Gull Island is taller, and by how many feet?
Step 1. I need the names of the lighthouses on the island.
Call: list_lighthouses with {"island": "Gull Island"}
Result: ["North Head", "Cormorant Point"]
Step 2. I need the height of the first.
Call: get_lighthouse with {"name": "North Head"}
Result: {"name": "North Head", "height_ft": 92, "built": 1871}
Step 3. I need the height of the second.
Call: get_lighthouse with {"lighthouse": "Cormorant Point"}
Result: refused: get_lighthouse has no argument "lighthouse"; it has "name"
Step 4. The argument is called name.
Call: get_lighthouse with {"name": "Cormorant Point"}
Result: {"name": "Cormorant Point", "height_ft": 118, "built": 1904}
Answer: Cormorant Point is taller, by 26 feet."""

LONGEST = 80
"""How many characters of a choice an error shows, where the choice is not a file."""
BUILT_IN: Mapping[str, str] = MappingProxyType({"one-shot": ONE_SHOT})
"""The built-in choices by name. ``one-shot`` is ToolScan's: how to go about a question, and one worked example.
Source: ToolScan, section 7 and table 8."""


def instructions_from(chosen: str | None) -> Mapping[str, Any]:
    """Text to add to the description of agents that get a built-in text, or that of a file; for None nothing.

    Raises:
        RunError: there is neither, the file cannot be read, or it says nothing.
    """
    if chosen is None:
        return {}
    if chosen in BUILT_IN:
        return chosen_instructions(chosen, BUILT_IN[chosen])
    path = Path(chosen)
    try:
        text = path.read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOENT, errno.ENAMETOOLONG):  # as a text is
            shown = repr(chosen if len(chosen) <= LONGEST else f"{chosen[:LONGEST]}...")
            known = ", ".join(map(repr, BUILT_IN))
            told = f"instructions {shown}: there is no such file; expected a file of text, or the name {known}"
            raise RunError(told) from error
        raise RunError(f"instructions {str(path)!r} cannot be read as UTF-8 text: {error}") from error
    if not text:
        raise RunError(f"instructions {str(path)!r} are empty; expected what the agent is told first")
    return chosen_instructions(path.name, text)
