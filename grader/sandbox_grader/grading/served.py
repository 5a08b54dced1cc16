"""Results as hosts keep them, and when one is what our server sent.

Policy: a result is the same as the recorded one in any of its forms: the value, the object that carries it, the text of
either in JSON or as Python prints it, the whole result, or a text of the host's in which any of these stands. Other
forms of log tell times roughly if at all, so moments that are less than ``DRIFT`` seconds apart are the same.
"""

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from json import JSONDecoder
from typing import Any, Final

from sandbox_grader.grading.values import is_array, is_number, is_object, same_value
from sandbox_grader.importers.reading.values import literal
from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.tools.results import unwrapped

MISSING: Any = object()
DRIFT = 60.0
MOMENT = 1e8
"""From here on a number may be a time in seconds since 1970."""
CARRIERS = frozenset(
    {
        "result", "output", "content", "response", "value", "structuredContent", "structured_content", "text", "data",
        "toolResult", "tool_result", "observation",
    }
)  # fmt: skip
"""Members under which hosts keep what a tool gave."""
NOTHING = frozenset({"", "None", "null", "undefined", "(no content)", "(no output)"})
"""Texts that hosts write for a result that is null."""
WRAPPED = 4
"""How deep a result may be wrapped in others."""
TRIED = 16
"""In a text so many places are tried at which a value may begin."""
_OPENING: Final = re.compile(r"[{\[]")
_QUOTED: Final = re.compile(r"\btext='((?:[^'\\]|\\.)*+)'")
"""The text of a part of MCP's content, as Python prints the object."""


def forms(recorded: Any, deep: int = 0) -> Iterator[Any]:
    """Every value that a recorded result may stand for, itself first: what it carries, and what its text says."""
    yield recorded
    if deep == WRAPPED:
        return
    if is_object(recorded):
        inner = [unwrapped(recorded)] if "result" in recorded else []
        if "notices" in recorded:
            inner.append({name: value for name, value in recorded.items() if name != "notices"})
        inner += [value for name, value in recorded.items() if name in CARRIERS]
        for value in inner:
            if value is not recorded:
                yield from forms(value, deep + 1)
    elif is_array(recorded) and len(recorded) == 1 and is_object(recorded[0]) and recorded[0].keys() & {"text", "json"}:
        yield from forms(recorded[0].get("text", recorded[0].get("json")), deep + 1)
    elif isinstance(recorded, str) and recorded[:1] in '{["ntf-0123456789':
        try:
            value: Any = loads(recorded)
        except (ValueError, RecursionError):
            value = literal(recorded)
        if value is not None:
            yield from forms(value, deep + 1)


def last_form(recorded: Any) -> Any:
    """What a recorded result carries, if it carries anything."""
    return list(forms(recorded))[-1]


def inside(recorded: Any) -> Iterator[Any]:
    """Every value that stands among other words in a text of a recorded result, in the order of the text."""
    for text in {form: None for form in forms(recorded) if isinstance(form, str)}:
        if text in NOTHING:
            yield None
        for quoted in _QUOTED.findall(text):
            with suppress(SyntaxError, ValueError):
                yield from forms(ast.literal_eval(f"'{quoted}'"), 1)
        start = 0
        for _ in range(TRIED):
            opening = _OPENING.search(text, start)
            if opening is None:
                break
            start = opening.end()
            try:
                value, start = JSONDecoder().raw_decode(text, opening.start())
            except (ValueError, RecursionError):
                continue
            yield from forms(value, 1)


def texts_in(recorded: Any) -> Iterator[str]:
    """Every text in a recorded result, also in the members of an object that accounts for a failure."""
    for form in forms(recorded):
        if isinstance(form, str):
            yield form
        elif is_object(form):
            nested = (
                value for member in form.values() for value in (member.values() if is_object(member) else [member])
            )
            yield from (value for value in nested if isinstance(value, str))


def alike(recorded: Any, again: Any) -> bool:
    """True if two results are the same, where moments may be up to ``DRIFT`` seconds apart."""
    if is_object(recorded) and is_object(again):
        return all(alike(recorded.get(name), again.get(name)) for name in recorded.keys() | again.keys())
    if is_array(recorded) and is_array(again):
        return len(recorded) == len(again) and all(alike(a, b) for a, b in zip(recorded, again, strict=True))
    if same_value(recorded, again):
        return True
    one, other = _moment(recorded), _moment(again)
    return one is not None and other is not None and abs(one - other) < DRIFT


def as_sent(recorded: Any, sent: Any) -> Any:
    """What a result is, where the recorded one is a form of what a tool sent; ``MISSING`` where it is not.

    Hosts read a text in JSON, so that a tool's text ``"null"`` may be recorded as null.
    """
    found = (*forms(recorded), *inside(recorded))
    same = next((form for form in found if alike(form, sent)), MISSING)
    if same is not MISSING or not isinstance(sent, str):
        return same
    read = [None] if sent in NOTHING else list(forms(sent))[1:]
    return sent if any(alike(form, value) for form in found for value in read) else MISSING


def _moment(value: Any) -> float | None:
    """Seconds since the epoch of a number, or of a text as ISO 8601 writes date and time; None of anything else."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value) if len(value) > len("2026-01-02T") else None
        except ValueError:
            return None
        return moment and moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()
    return value if is_number(value) and MOMENT <= value < 100 * MOMENT else None
