"""Reasoning and acting in text: how a model is told to write, and how what it wrote is read.

Policy: labels count at the beginning of a line, whatever their case and decoration. The first action, or the first
final answer, is what the model does; whatever it wrote behind that, above all an observation of its own invention, is
cut off, so that it never comes to believe it. Arguments are passed on as they were written.

Source of the form: ReAct (Yao et al., 2023), which ToolSandbox compares with plain prompting in appendix D.1.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sandbox_clients.base import ToolInfo
from sandbox_mcp.engine.bounded import loads

TOOLS = "Your tools, one JSON object a line, with the JSON Schema of the arguments that each takes:"
RULES = """\
Work in steps, and write nothing but one step at a time. To use a tool, a step has three parts:

Thought: what you know so far and what has to be done next
Action: the name of one tool
Action Input: its arguments, as one JSON object

Stop there. The next message begins with "Observation:" and holds what the tool returned; you never write that \
yourself. Once nothing is left to do, or if you have to ask something, the step has two parts instead:

Thought: why this is the moment to speak
Final Answer: what the user is to read"""
CORRECTION = """\
That could not be read as a step, so nothing was done. Write either a Thought, an Action with the name of one tool, \
and an Action Input with a JSON object, or a Thought and a Final Answer, each label at the beginning of a line and \
followed by a colon."""
OBSERVATION = "Observation:"
STOP = (f"\n{OBSERVATION}",)
"""What the model is to stop before."""

_LABEL = re.compile(
    r"^[ \t>*#_`-]*(thought|action[ _]input|action|observation|final[ _]answer)[*_` \t]*:[ \t]*\**",
    re.IGNORECASE | re.MULTILINE,
)
_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_FENCE = re.compile(r"`(?:``\w*)?\s*")
_CALL = re.compile(r"([\w.-]+)\s*\((.*)\)\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class WrittenStep:
    """One step that a model wrote: an action with its arguments, a final answer, or neither.

    ``written`` is the text up to where it stops to count.
    """

    written: str
    action: str | None = None
    arguments: str = ""
    answer: str | None = None


EMPTY = WrittenStep("")


def prompt(instructions: str, tools: Sequence[ToolInfo]) -> str:
    """The instructions, with the tools and how to use them."""
    lines = [
        json.dumps(
            {"name": tool.name, "description": tool.description, "arguments": tool.input_schema}, ensure_ascii=False
        )
        for tool in tools
    ]
    return "\n\n".join([instructions, "\n".join([TOOLS, *lines]), RULES])


def tools_in(text: str) -> list[Mapping[str, Any]] | None:
    """The tools that :func:`prompt` has put into a text; None if it has not."""
    if TOOLS not in text or RULES not in text:
        return None
    listed = text.partition(f"{TOOLS}\n")[2].partition(RULES)[0]
    return [cast("Mapping[str, Any]", loads(line)) for line in listed.splitlines() if line.strip()]


def read_step(text: str) -> WrittenStep:
    """Read a model's text as its next step."""
    last = max(
        (found.end() for found in _THOUGHT.finditer(text)), default=0
    )  # what is never closed was written to be read
    text = (_THINKING.sub("", text[:last]) + text[last:]).strip()
    labels = list(_LABEL.finditer(text))
    ends = [*(label.start() for label in labels), len(text)]
    parts = [_Part(text, "", 0, 0, ends[0])]  # what stands before the first label
    for label, end in zip(labels, ends[1:], strict=True):
        parts.append(_Part(text, label[1].lower().replace("_", " "), label.start(), label.end(), end))
    for index, part in enumerate(parts):
        if part.label == "observation":
            break
        if part.label == "final answer":
            # An answer goes on to the end, unless an observation is invented behind it.
            end = _end(parts[index:])
            return WrittenStep(part.text[:end].strip(), answer=part.text[part.begin : end].strip())
        if part.label == "action" and part.content:
            following = parts[index + 1] if index + 1 < len(parts) else None
            return _acted(part, following if following and following.label == "action input" else None)
    return WrittenStep(text[: _end(parts)].strip())


@dataclass(frozen=True, slots=True)
class _Part:
    """A label and what follows it, at a place in a text."""

    text: str
    label: str
    start: int
    begin: int
    end: int

    @property
    def content(self) -> str:
        return self.text[self.begin : self.end].strip()


def _end(parts: Sequence[_Part]) -> int:
    """Position at which the first observation begins, or the text ends."""
    return next((part.start for part in parts if part.label == "observation"), parts[-1].end)


def _acted(action: _Part, given: _Part | None) -> WrittenStep:
    if given is None:  # then both may have been written as the action, ``name({...})``
        call = _CALL.fullmatch(action.content.strip("`"))
        name, arguments = (call[1], _arguments(call[2].strip())) if call else (_name(action.content), "")
        return WrittenStep(action.text[: action.end].strip(), name, arguments)
    arguments = _arguments(given.content)
    behind = action.text.find(arguments, given.begin) + len(arguments)
    fence = re.match(r"\s*`+", action.text[behind:])
    return WrittenStep(action.text[: behind + (fence.end() if fence else 0)].strip(), _name(action.content), arguments)


def _name(content: str) -> str:
    return content.splitlines()[0].strip("`*\"' ")


def _arguments(content: str) -> str:
    """The first JSON object, if the text begins with one, else all of it; fences around it do not count."""
    opened = _FENCE.match(content)
    bare = content[opened.end() :] if opened else content
    bare = bare.rstrip("`").rstrip() if bare.endswith("`") else bare
    try:
        _, end = json.JSONDecoder().raw_decode(bare)
    except (ValueError, RecursionError):
        return bare
    return bare[:end]
