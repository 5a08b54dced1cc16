"""Parts that the protocols share: how each sees the endpoint, and one and the same answer for the same request."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from sandbox_mcp.app.endpoint.prompt import Offer, Prompt
from sandbox_mcp.app.endpoint.reply import Move
from sandbox_mcp.play.models.asking import FunctionCall

CREATED = 1_760_000_000
"""The moment at which every answer claims to have been made, in seconds since 1970."""
RequestBody = Mapping[str, Any]
"""A request, as its JSON."""


class BadRequestError(Exception):
    """The request has not the protocol's form; the message names the fault."""


@dataclass(frozen=True, slots=True)
class WireAnswer:
    """One answer of the model: an id, its text, its calls, and the tokens that it and its prompt are counted as.

    ``void`` makes it one that has nothing where the protocol promises something, as endpoints send that are broken.
    """

    id: str
    model: str
    text: str
    calls: tuple[FunctionCall, ...]
    prompt_tokens: int
    completion_tokens: int
    void: bool = False


@dataclass(frozen=True, slots=True)
class Protocol:
    """One protocol: how its requests are read, and how its answers and errors are written.

    ``stream`` also gets the request, which may say what should be in the stream; ``error`` a status and what is to be
    said about it.
    """

    read: Callable[[RequestBody], Prompt]
    whole: Callable[[WireAnswer], dict[str, Any]]
    stream: Callable[[WireAnswer, RequestBody], Iterator[str]]
    error: Callable[[int, str], dict[str, Any]]


def answer(body: Mapping[str, Any], model: str, move: Move) -> WireAnswer:
    """The answer that a move comes to; ids are made from the request."""
    asked = json.dumps(body, sort_keys=True)
    digest = hashlib.sha256(asked.encode()).hexdigest()
    calls = tuple(
        FunctionCall(
            f"call_{digest[:20]}{index}",
            call.name,
            call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments, ensure_ascii=False),
        )
        for index, call in enumerate(move.calls)
    )
    said = len(move.text) + sum(len(call.name) + len(call.arguments) for call in calls)
    return WireAnswer(digest, model, move.text, calls, tokens(len(asked)), tokens(said))


def tokens(characters: int) -> int:
    """Number of tokens for so many characters: a quarter, at least one."""
    return max(1, characters // 4)


def text_of(content: object) -> str:
    """The text of a message, which may come in parts."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise BadRequestError(f"content must be text or a list of parts, not {type(content).__name__}")
    parts = cast("list[Mapping[str, Any]]", content)
    return "".join(str(part.get("text") or part.get("refusal") or "") for part in parts)


def offer(function: Mapping[str, Any], schema: str = "parameters") -> Offer:
    """A function as a request offers it, with its schema under that key."""
    parameters: Mapping[str, Any] = function.get(schema) or {}
    return Offer(str(function.get("description") or ""), frozenset(parameters.get("properties") or ()))


def openai_error(status: int, message: str) -> dict[str, Any]:
    """An error as both of OpenAI's protocols have it."""
    kind = "invalid_request_error" if status < 429 else "rate_limit_error" if status == 429 else "server_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def event(data: object, name: str | None = None) -> str:
    """One server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)}\n\n"


def pieces(text: str) -> list[str]:
    """A text in pieces, as a stream delivers it."""
    return [text[start : start + 24] for start in range(0, len(text), 24)]
