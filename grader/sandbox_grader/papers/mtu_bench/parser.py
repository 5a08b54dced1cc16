"""Reading of a model's text by the authors' code: the compat reading of ReAct answers.

Policy: every oddity is kept, because the published numbers rest on them. What their parser dies of is an exception
here, and what such a row then counts for is decided by whoever asked, never in this module.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox_grader.errors import GraderError
from sandbox_mcp.engine.bounded import loads

CRASH = "IndexError('list index out of range')"
"""What a row says that the authors' parser dies on; it has one way of dying."""

NO_CALL: Mapping[str, Mapping[str, Any]] = {"": {}}
"""How the single-tool settings write that no tool is called; the multi-tool settings write an empty object."""

_ACTION = "\nAction:"
_INPUT = "\nAction Input:"
_MANY = "\nAction: "
_PLACEHOLDER = "The name of the API to be called."
_ECHO = "Please provide your"


class ParserCrashError(GraderError):
    """The authors' parser raises on this text."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """The calls read from one answer, arguments by name as written; ``broken`` tells of a call that was lost."""

    calls: Mapping[str, Mapping[str, Any]]
    broken: bool = False


def parse_single(text: str) -> Parsed:
    """Read at most one call, as in S-S and M-S.

    The first ``Action`` counts. Quotes stay in its name, an input with nested braces ends at the first closing one,
    and an input other than JSON even after turning single quotes into double ones makes the call vanish.

    Raises:
        ParserCrashError: a marker stands without its colon, or the input has no braces.
    """
    if "Action Input" not in text:
        return Parsed(NO_CALL, broken=_promises_call(text))
    marked = _marked(text)
    name = _after(marked, _ACTION).split(_INPUT)[0].strip()
    line = (_after(marked, _INPUT).strip().rsplit("}", 1)[0] + "}").replace("\n", "")
    _, opened, rest = _lowered(line).partition("{")
    if not opened:
        raise ParserCrashError(CRASH)
    written = "{" + rest.partition("}")[0] + "}"  # an unclosed brace is closed at the end
    # single quotes made double; one behind a backslash stays and the backslash is doubled
    requoted = re.sub(r"\\?'", lambda found: '"' if found[0] == "'" else r"\\'", written)
    arguments = _json(written) or _json(requoted)
    if arguments is None or "None" in name:
        return Parsed(NO_CALL, broken=_promises_call(text))
    return Parsed({name.split(",")[0].strip() if "," in name else name: arguments})


def parse_multi(text: str) -> Parsed:
    """Read any number of calls, as in S-M and M-M: by name in order of first mention, the last arguments winning.

    Input that is not a JSON object leaves the call with no arguments, ``None`` is a tool like any other, and double
    quotes go from the name while blanks stay.

    Raises:
        ParserCrashError: an action has no input.
    """
    marked = _marked(text)
    thought = marked.split("\nAction")[0].replace("Thought: ", "")
    calls: dict[str, Mapping[str, Any]] = {}
    for block in marked.replace("Thought: " + thought, "").split(_MANY)[1:]:
        if _PLACEHOLDER not in block:
            said = block.split(_ECHO)[0].strip("\n")
            name = said.split("\nAction Input")[0].strip().replace('"', "")
            written = _after(said, _INPUT).strip().replace("\n  ", "").split("}")[0] + "}"
            calls[name] = _json(_lowered(written)) or {}
    return Parsed(calls)


def _marked(text: str) -> str:
    """The text with every marker at the start of a line."""
    broken = re.sub(r"Action( Input)?", lambda found: ("\n\n" if found[1] else "\n") + found[0], text)
    return broken.replace("\n\n", "\n")


def _after(text: str, marker: str) -> str:
    """Text between a marker and its next occurrence."""
    parts = text.split(marker)
    if len(parts) == 1:
        raise ParserCrashError(CRASH)
    return parts[1]


def _lowered(text: str) -> str:
    return text.replace("True", "true").replace("False", "false")


def _json(text: str) -> Mapping[str, Any] | None:
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return None


def _promises_call(text: str) -> bool:
    """True if a text from which no call was read sets out to make one."""
    _, marker, rest = text.partition("Action:")
    return bool(marker) and "None" not in rest.split("Action Input")[0]
