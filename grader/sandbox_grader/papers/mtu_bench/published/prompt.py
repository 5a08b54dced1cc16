"""Takes an MTU-Bench question apart: the tools it offers, the conversation before, and the turn to answer.

Policy: the last line that begins with ``User:`` opens the turn. Where a question has no such line it is all turn, and
where its list of tools cannot be read there are no tools; the importer names both as losses. The conversation is read
in both its written forms, ``user:/function:/observation:/assistant:`` and ``User:/Action:/Assistant:``; a line that
begins otherwise goes on with what stands before it, and a call that cannot be read is left out.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from sandbox_grader.importers.reading.json_values import is_array, is_object
from sandbox_grader.papers.mtu_bench.react import read_object, read_react

_TURN: Final = "\nUser:"
_DIALOGUE: Final = re.compile(r"\n(?:History Dialog[ \t]*:|User:|user:)")
_TODAY: Final = re.compile(r"Today is ([^.\n]{1,60})")
_OFFER: Final = "you can use:"
_MANY: Final = "name of the APIs"
_TYPES: Final = {
    "string": "string", "str": "string", "integer": "integer", "int": "integer", "number": "number", "float": "number",
    "boolean": "boolean", "bool": "boolean", "array": "array", "list": "array", "object": "object", "dict": "object",
}  # fmt: skip
_KEPT: Final = ("description", "default", "enum", "format", "pattern")
_LABEL: Final = re.compile(
    r"^(?P<who>user|function|action(?![ \t]*input)|observation|assistant)[ \t]*:", re.IGNORECASE | re.MULTILINE
)
PastCalls = tuple[tuple[str, Mapping[str, Any]], ...]
"""Calls by tool and arguments."""


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool that a question describes, with the JSON Schema of its arguments and the names of what it returns."""

    name: str
    description: str
    schema: Mapping[str, Any]
    results: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptParts:
    """A question in parts. ``user`` is None where no turn can be cut out, ``tools`` where no list can be read.

    ``many`` tells that it asks for any number of calls and not for at most one, ``today`` the date that it names.
    """

    user: str | None
    history: str
    tools: tuple[OfferedTool, ...] | None
    many: bool
    today: str = ""


def take_apart(question: str) -> PromptParts:
    """Split one question into its parts."""
    before, cut, user = question.rpartition(_TURN)
    head, _, rest = (before if cut else question).partition(_OFFER)
    dialogue = _DIALOGUE.search(rest)
    listed = rest[: dialogue.start()] if dialogue else rest
    history = rest[dialogue.start() :] if dialogue else ""
    return PromptParts(
        user=user.strip() if cut else None,
        history=history.strip().removeprefix("History Dialog").lstrip(" :\n"),
        tools=_tools(listed),
        many=_MANY in head,
        today=found[1].strip() if (found := _TODAY.search(head)) else "",
    )


@lru_cache(maxsize=256)
def _tools(listed: str) -> tuple[OfferedTool, ...] | None:
    """The tools of a list; dialogues share their lists, so what was read is kept for a while."""
    found = read_object(listed)
    listing: Any = found.get("apis") if is_object(found) else found
    if not is_array(listing):
        return None
    tools: list[OfferedTool] = []
    for item in filter(is_object, listing):
        if isinstance(item.get("name"), str):
            required = _parameters(item.get("required_parameters"))
            properties = required | _parameters(item.get("optional_parameters"))
            schema = {"type": "object", "properties": properties, "required": list(required)}
            results = tuple(_parameters(item.get("result_parameters")))
            tools.append(OfferedTool(item["name"].strip(), str(item.get("description") or ""), schema, results))
    return tuple(tools)


def _parameters(written: Any) -> dict[str, dict[str, Any]]:
    """Parameters by name: from names, from objects with a name, or from names with their defaults."""
    if is_object(written):
        return {name: {"default": value} for name, value in written.items()}
    items = written if is_array(written) else []
    named = {item["name"]: _property(item) for item in filter(is_object, items) if isinstance(item.get("name"), str)}
    return {item: {} for item in items if isinstance(item, str)} | named


def _property(parameter: Mapping[str, Any]) -> dict[str, Any]:
    kind = json_type(str(parameter.get("type")))
    kept = {key: parameter[key] for key in _KEPT if parameter.get(key) is not None}
    if isinstance(choices := parameter.get("choices"), list):
        kept.setdefault("enum", choices)
    return ({"type": kind} if kind else {}) | kept


def json_type(written: str) -> str | None:
    """The JSON type that a name of a type means, in JSON's words or in Python's."""
    return _TYPES.get(written.lower())


@dataclass(frozen=True, slots=True)
class PastTurn:
    """One earlier turn: the user's words, the calls that followed, what came of them as written, and the reply."""

    user: str
    calls: PastCalls = ()
    observed: str = ""
    reply: str = ""


@lru_cache(maxsize=256)
def read_history(text: str) -> tuple[PastTurn, ...]:
    """The turns of a history, in order."""
    labels = list(_LABEL.finditer(text))
    ends = [label.start() for label in labels[1:]] + [len(text)]
    turns: list[PastTurn] = []
    for label, end in zip(labels, ends, strict=False):
        who, said = label["who"].lower(), text[label.end() : end].strip().lstrip(":").strip()
        if who == "user":
            turns.append(PastTurn(said))
        elif turns and who == "action":
            turns[-1] = replace(turns[-1], calls=(*turns[-1].calls, *_calls(said)))
        elif turns and who == "observation":
            turns[-1] = replace(turns[-1], observed=said)
        elif turns and who == "assistant":
            turns[-1] = replace(turns[-1], reply="\n".join(filter(None, (turns[-1].reply, said))))
    return tuple(turns)


def _calls(written: str) -> PastCalls:
    """The calls of an action: one as ReAct writes it, or any number as an object of tools with their arguments."""
    if not written.startswith("{"):
        return tuple((call.name, call.given.arguments) for call in read_react(f"Action: {written}").calls)
    found = read_object(written)
    named = found.items() if is_object(found) else ()
    return tuple((name.strip(), value) for name, value in named if is_object(value))
