"""Input of a person in an agent's place: a call, words for the user, or a command.

Policy: a line that begins with a tool's name is a call, its arguments one JSON object, or ``name=value`` apart by
blanks. A value is read as its parameter's type wants it. A tool whose name is a word of English is only called where
the rest of the line is arguments; ``/call`` and ``/say`` leave no doubt.
"""

import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from sandbox_clients.base import ToolInfo

from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.errors import SandboxError

HELP = """\
TOOL name=value ...   calls a tool; quote values with blanks: content="On my way"
TOOL {"name": ...}    the same, with the arguments as one JSON object
/tools                lists the tools
/tool NAME            tells all about one
/call TOOL ...        calls a tool, whatever its name looks like
/say TEXT             says TEXT to the user, whatever it looks like
/quit, Ctrl-D         gives up
anything else is said to the user, and is your turn's end"""
COMMANDS = ("/call", "/help", "/quit", "/say", "/tool", "/tools")


_LIKE_A_TOOL = re.compile(r"[a-z]+(?:_[a-z0-9]+)+")


class TypingError(SandboxError):
    """Something was typed that cannot be carried out; the message says why."""


@dataclass(frozen=True, slots=True)
class TypedCall:
    """A tool to call."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Say:
    """Words for the user."""

    text: str


@dataclass(frozen=True, slots=True)
class Show:
    """Something to be shown to the person: the help, all tools, or one of them."""

    what: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Quit:
    """The person gives up."""


Typed = TypedCall | Say | Show | Quit


def meaning(line: str, tools: Mapping[str, ToolInfo]) -> Typed:
    """Parse a line with something on it.

    Raises:
        TypingError: it is an unknown command, or a call whose arguments cannot be read.
    """
    first, _, rest = line.strip().partition(" ")
    rest = rest.strip()
    match first:
        case "/help" | "/tools":
            return Show(first)
        case "/tool" | "/call":
            name, _, given = rest.partition(" ")
            _check(name, tools)
            return Show("/tool", name) if first == "/tool" else TypedCall(name, arguments_of(given, tools[name]))
        case "/say" if rest:
            return Say(rest)
        case "/quit":
            return Quit()
        case _ if first.startswith("/"):
            raise TypingError(f"cannot do {first!r}; /help tells what you can type")
        case _:
            return _call_or_words(line.strip(), first, rest, tools)


def arguments_of(text: str, tool: ToolInfo) -> Mapping[str, Any]:
    """The arguments that a text states.

    Raises:
        TypingError: it is neither a JSON object nor ``name=value`` apart by blanks.
    """
    if text.strip().startswith("{"):
        try:
            found: Any = loads(text)
        except ValueError as error:
            raise TypingError(f"the arguments of {tool.name} are not JSON: {error}") from error
        return cast("Mapping[str, Any]", found)
    try:
        parts = shlex.split(text)
    except ValueError as error:
        raise TypingError(
            f"cannot read {text!r}: {error}; a quote within a value is written inside other quotes"
        ) from error
    properties: Mapping[str, Any] = tool.input_schema.get("properties", {})
    made: dict[str, Any] = {}
    for part in parts:
        name, found, value = part.partition("=")
        if not name or not found:
            known = ", ".join(properties) or "none"
            raise TypingError(f"cannot read {part!r}: arguments of {tool.name} are written name=value; it has: {known}")
        kind = properties.get(name, {}).get("type", ())
        made[name] = value
        if kind != "string" and not (isinstance(kind, list) and "string" in kind):
            with suppress(ValueError):
                made[name] = loads(value)
    return made


def _call_or_words(line: str, first: str, rest: str, tools: Mapping[str, ToolInfo]) -> Typed:
    if first not in tools:
        if _LIKE_A_TOOL.fullmatch(first):
            _check(first, tools)
        return Say(line)
    try:
        return TypedCall(first, arguments_of(rest, tools[first]))
    except TypingError:
        if "_" in first:
            raise
        return Say(line)


def _check(name: str, tools: Mapping[str, ToolInfo]) -> None:
    if name not in tools:
        from sandbox_scenarios.problem import closest

        hint = f"there is no tool {name!r}; {closest(name, list(tools))}; /say says it to the user"
        raise TypingError(hint if name else "name a tool")
