"""Replies of an agent that lives elsewhere, read from JSON into its turn; and the earlier talk that it is told.

Policy: answers read here go into the log, so whatever is not of the form that docs/adapters.md describes is a fault
that is told, and nothing is guessed.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from sandbox_clients.base import AgentError, AgentTurn, PastStep
from sandbox_mcp.engine.trajectory.model_text import strict_json
from sandbox_mcp.play.users import Line

COUNTS = ("prompt_tokens", "completion_tokens", "requests")
"""What ``usage`` counts."""


def as_messages(history: Sequence[PastStep]) -> list[dict[str, Any]]:
    """An earlier talk as messages: who said what, and calls with what came of them as an assistant's message."""
    messages: list[dict[str, Any]] = []
    for step in history:
        if isinstance(step, Line):
            messages.append({"role": "user" if step.speaker == "user" else "assistant", "content": step.text})
            continue
        calls = [
            {
                "name": call.name,
                "arguments": dict(call.arguments),
                "output": call.output.text,
                "is_error": call.output.is_error,
            }
            for call in step
        ]
        messages.append({"role": "assistant", "content": "", "calls": calls})
    return messages


def read_object(text: str, who: str, expected: str) -> dict[str, Any]:
    """The object that a text is.

    Raises:
        AgentError: it is not an object; the message names ``who`` wrote it and what was ``expected``.
    """
    try:
        value: Any = strict_json(text)
    except (ValueError, RecursionError) as error:
        raise AgentError(f"{who} {_short(text)}; expected {expected}") from error
    if not isinstance(value, dict):
        raise AgentError(f"{who} {_short(text)}; expected {expected}")
    return cast("dict[str, Any]", value)


def read_turn(said: Mapping[str, Any], who: str) -> AgentTurn:
    """The turn that an object says, with its ``text``, ``usage`` and ``meta``.

    Raises:
        AgentError: one of them has another form.
    """
    text = said.get("text")
    if not isinstance(text, str):
        raise AgentError(f"{who} {_short(json.dumps(dict(said)))}; expected a reply with text")
    meta = dict(_mapping(said, "meta", who))
    usage = _mapping(said, "usage", who)
    for name in COUNTS:
        count = usage.get(name, 0)
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise AgentError(f"{who} a usage with {name} {count!r}; expected a whole number from 0")
    return AgentTurn(text, {**meta, "usage": dict(usage)} if usage else meta)


def _mapping(said: Mapping[str, Any], key: str, who: str) -> Mapping[str, Any]:
    found = said.get(key)
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise AgentError(f"{who} {_short(json.dumps(dict(said)))}; expected {key} to be an object")
    return cast("Mapping[str, Any]", found)


def _short(text: str) -> str:
    return repr(text if len(text) <= 200 else f"{text[:200]}...")
