"""Anthropic's Messages protocol: requests read, answers written, whole or as a stream.

Policy: what the real one refuses about calls and their results is refused here too, because a client that gets it wrong
would fail on its first day with a model. What Claude Code puts in between the user's words for its own ends, in
``<system-reminder>`` elements, is not what the user said; but there, or in messages of the system, it lists the tools
that it has and does not offer yet.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from sandbox_mcp.app.endpoint.prompt import HistoryEntry, Prompt, assemble
from sandbox_mcp.app.endpoint.wire import BadRequestError, Protocol, WireAnswer, event, offer, pieces
from sandbox_mcp.engine.trajectory.model_text import as_arguments
from sandbox_mcp.play.models.asking import FunctionCall

_Block = Mapping[str, Any]

_ASIDE = re.compile(r"<system-reminder>.*?(?:</system-reminder>\s*|\Z)", re.DOTALL)
_ASIDE_END = "</system-reminder>"
_ASIDES = frozenset({"", "Tool loaded."})
_LISTED = re.compile(r"^mcp__\S+$", re.MULTILINE)
_ROLES = ("user", "assistant", "system")
_SKIPPED = frozenset({"thinking", "redacted_thinking", "image", "document"})
_ERRORS: Mapping[int, str] = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def read(body: Mapping[str, Any]) -> Prompt:
    """Read what a request shows the model.

    Raises:
        BadRequestError: it has another form, or its calls and results do not belong together.
    """
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise BadRequestError("messages: at least one message is required")
    if not isinstance(body.get("max_tokens"), int):
        raise BadRequestError("max_tokens: field required")
    given = [(str(message.get("role")), _blocks(message.get("content"))) for message in cast("list[_Block]", messages)]
    _check(given)
    told = [HistoryEntry("system", "\n".join(_texts(_blocks(body.get("system") or ()))))]
    entries = [*told, *(entry for role, blocks in given for entry in _entries(role, blocks))]
    tools = {
        str(tool["name"]): offer(tool, "input_schema") for tool in body.get("tools") or () if "input_schema" in tool
    }
    listed = [name for _, blocks in given for text in _texts(blocks) for name in _LISTED.findall(text)]
    deferred = tuple(name for name in dict.fromkeys(listed) if name not in tools)
    return replace(assemble(str(body.get("model", "")), entries, tools), deferred=deferred)


def _blocks(content: object) -> Sequence[_Block]:
    """The blocks of a message; text is one block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, (list, tuple)):
        raise BadRequestError(f"content must be text or a list of blocks, not {type(content).__name__}")
    return cast("Sequence[_Block]", content)


def _texts(blocks: Iterable[_Block]) -> Iterator[str]:
    return (str(block.get("text") or "") for block in blocks if block.get("type") == "text")


def _check(messages: Sequence[tuple[str, Sequence[_Block]]]) -> None:
    """Refuse what no model would be shown: results without calls, calls without results, and empty content."""
    due: set[str] = set()
    for number, (role, blocks) in enumerate(messages):
        if role not in _ROLES:
            raise BadRequestError(f"messages.{number}.role: unknown role {role!r}; expected one of {', '.join(_ROLES)}")
        if role == "system":
            continue
        if any(not text.strip() for text in _texts(blocks)) or (not blocks and number < len(messages) - 1):
            raise BadRequestError(f"messages.{number}: content must not be empty")
        returned = {str(block.get("tool_use_id")) for block in blocks if block.get("type") == "tool_result"}
        if returned != due:
            told, asked = ", ".join(sorted(returned)) or "none", ", ".join(sorted(due)) or "none"
            raise BadRequestError(f"messages.{number}: tool_result for {told}, but tool_use right before for {asked}")
        due = {str(block.get("id")) for block in blocks if block.get("type") == "tool_use"}


def _entries(role: str, blocks: Iterable[_Block]) -> Iterator[HistoryEntry]:
    for block in blocks:
        kind = block.get("type")
        if kind == "text":
            yield from _said(role, str(block["text"]))
        elif kind == "tool_use":
            call = FunctionCall(
                str(block["id"]), str(block["name"]), json.dumps(block.get("input") or {}, ensure_ascii=False)
            )
            yield HistoryEntry("assistant", "", (call,))
        elif kind == "tool_result":
            text = "".join(_texts(_blocks(block.get("content") or ())))
            yield HistoryEntry("output", text, call_id=str(block["tool_use_id"]))
        elif kind not in _SKIPPED:
            raise BadRequestError(f"blocks of type {kind!r} are not understood here")


def _said(role: str, text: str) -> Iterator[HistoryEntry]:
    """The words of a message, without what a client put in; nothing if it has no others."""
    if role != "user":
        yield HistoryEntry("assistant" if role == "assistant" else "system", text)
        return
    last = text.rfind(_ASIDE_END) + len(_ASIDE_END) if _ASIDE_END in text else 0  # an open one beyond it does not count
    spoken = _ASIDE.sub("", text[:last]) + (text[last:].lstrip() if last else text)
    if spoken.strip() not in _ASIDES:
        yield HistoryEntry("user", spoken)


def whole(answer: WireAnswer) -> dict[str, Any]:
    """An answer as one document."""
    return _message(answer, _content(answer), None if answer.void else _stop(answer), answer.completion_tokens)


def stream(answer: WireAnswer) -> Iterator[str]:
    """An answer as server-sent events."""
    yield _event("message_start", message=_message(answer, [], None, 1))
    arguments = {call.id: call.arguments for call in answer.calls}
    for index, block in enumerate(_content(answer)):
        empty: dict[str, Any] = {"text": ""} if block["type"] == "text" else {"input": {}}
        if block["type"] == "text":
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
        else:
            written = pieces(arguments[block["id"]])
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in written]
        yield _event("content_block_start", index=index, content_block={**block, **empty})
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    delta = {"stop_reason": None if answer.void else _stop(answer), "stop_sequence": None}
    yield _event("message_delta", delta=delta, usage={"output_tokens": answer.completion_tokens})
    yield _event("message_stop")


def _event(kind: str, **fields: Any) -> str:
    return event({"type": kind, **fields}, kind)


def error(status: int, message: str) -> dict[str, Any]:
    """An error in the form of this protocol."""
    kind = _ERRORS.get(status, "invalid_request_error" if status < 500 else "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_0"}


PROTOCOL = Protocol(read, whole, lambda found, _: stream(found), error)


def _content(answer: WireAnswer) -> list[dict[str, Any]]:
    said = [{"type": "text", "text": answer.text}] if answer.text else []
    calls = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": as_arguments(call.arguments)}
        for call in answer.calls
    ]
    return [*said, *calls]


def _stop(answer: WireAnswer) -> str:
    return "tool_use" if answer.calls else "end_turn"


def _message(answer: WireAnswer, content: list[dict[str, Any]], stop: str | None, written: int) -> dict[str, Any]:
    usage = {
        "input_tokens": answer.prompt_tokens,
        "output_tokens": written,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }
    return {
        "id": f"msg_{answer.id[:24]}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
    }
