"""Reads the calls out of a ReAct text (``Thought``, ``Action``, ``Action Input``), and objects written as Python.

Policy: what a reader would take for a call is one, however it is quoted; what cannot be read is kept as the text it
was. Nothing here runs what a model wrote: Python literals are rewritten as JSON and then read as JSON.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

from sandbox_grader.importers.reading.json_values import is_object, loads
from sandbox_grader.importers.reading.values import Given

_MARKER: Final = re.compile(r"Action(?P<input>[ \t]*Input)?[ \t]*:")
_NOTHING: Final = frozenset({"", "none", "null", "n/a", "nil", "no action"})
_AROUND: Final = " \t\r\n\"'`*."
_TOKEN: Final = re.compile(
    r"""
    "(?:[^"\\]|\\.)*+(?:"|\\?\Z)   # a text in double quotes; one that is never closed reaches to the end
    |'(?:[^'\\]|\\.)*+(?:'|\\?\Z)
    |[{}\[\]]
    |\b(?:True|False|None)\b
    """,
    re.DOTALL | re.VERBOSE,
)
_WORDS: Final = {"True": "true", "False": "false", "None": "null"}


@dataclass(frozen=True, slots=True)
class TextCall:
    """A call as a text makes it: the name without quotes, and its arguments or the text they were."""

    name: str
    given: Given


@dataclass(frozen=True, slots=True)
class Reading:
    """The calls of a text; ``fault`` says why something that begins like a call could not be read as one."""

    calls: tuple[TextCall, ...]
    fault: str | None = None


def read_react(text: str) -> Reading:
    """The calls of a text in order. An action named ``None`` is not a call; one without an input is a fault."""
    markers = list(_MARKER.finditer(text))
    ends = [marker.start() for marker in markers[1:]] + [len(text)]
    calls: list[TextCall] = []
    faults: list[str] = []
    name: str | None = None
    for marker, end in zip(markers, ends, strict=False):
        part = text[marker.end() : end]
        if not marker["input"]:
            faults += _unfinished(name)
            name = part.strip(_AROUND)
        elif name is None:
            faults.append("an action input stands without an action")
        else:
            said, name = _said(name, part), None
            calls += [said] if said else []
    faults += _unfinished(name)
    return Reading(tuple(calls), faults[0] if faults else None)


def read_object(text: str) -> Any:
    """The first object or array in a text, written as JSON or as Python, or None where there is none."""
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=None)
    span = None if start is None else _balanced(text, start)
    return None if span is None else _value(span)


def _unfinished(name: str | None) -> list[str]:
    if name is None or name.partition("\n")[0].strip(_AROUND).lower() in _NOTHING:
        return []
    return [f"action {name[:60]!r} has no input"]


def _said(name: str, part: str) -> TextCall | None:
    if name.lower() in _NOTHING or (" " in name and "{" not in part):
        return None
    start = part.find("{")
    span = None if start < 0 else _balanced(part, start)
    value = None if span is None else _value(span)
    return TextCall(name, Given(value) if is_object(value) else Given({}, part.strip()))


def _balanced(text: str, start: int) -> str | None:
    """The text from an opening bracket to the one that closes it; brackets inside of quotes do not count."""
    level = 0
    for token in _TOKEN.finditer(text, start):
        level += (token[0] in "{[") - (token[0] in "}]")
        if level == 0 and token[0] in "}]":
            return text[start : token.end()]
    return None


def _value(span: str) -> Any:
    for written in (span, _TOKEN.sub(_as_json, span)):
        try:
            value, replaced = loads(written)
        except ValueError:
            continue
        return None if replaced else value
    return None


def _as_json(token: re.Match[str]) -> str:
    text = token[0]
    if text[0] not in "\"'" or text[0] != text[-1]:
        return _WORDS.get(text, text)
    inner = text[1:-1].replace("\\'", "'").replace("\n", "\\n")
    return f'"{inner}"' if text[0] == '"' else '"' + re.sub(r'(?<!\\)"', r"\"", inner) + '"'
