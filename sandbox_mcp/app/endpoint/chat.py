"""The chat-completions protocol: requests read, answers written, whole or as a stream."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from sandbox_mcp.app.endpoint.prompt import HistoryEntry, Prompt, assemble
from sandbox_mcp.app.endpoint.wire import (
    CREATED,
    BadRequestError,
    Protocol,
    RequestBody,
    WireAnswer,
    event,
    offer,
    openai_error,
    pieces,
    text_of,
)
from sandbox_mcp.play.models.asking import FunctionCall
from sandbox_mcp.play.models.completions import as_tool_call

_KINDS: Mapping[str, Any] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "output",
    "function": "output",
}


def read(body: Mapping[str, Any]) -> Prompt:
    """Read what a request shows the model.

    Raises:
        BadRequestError: it has another form.
    """
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise BadRequestError("messages must be a list with at least one message")
    entries: list[HistoryEntry] = []
    for message in cast("list[Mapping[str, Any]]", messages):
        role = str(message.get("role"))
        if role not in _KINDS:
            raise BadRequestError(f"unknown role {role!r}; expected one of {', '.join(_KINDS)}")
        calls: list[FunctionCall] = []
        for call in message.get("tool_calls") or ():
            made: Mapping[str, Any] = call["function"]
            calls.append(FunctionCall(str(call.get("id")), str(made.get("name")), str(made.get("arguments") or "")))
        answered = str(message.get("tool_call_id") or "")
        entries.append(HistoryEntry(_KINDS[role], text_of(message.get("content")), tuple(calls), answered))
    functions = [tool["function"] for tool in body.get("tools") or () if tool.get("type") == "function"]
    offered = {str(function["name"]): offer(function) for function in functions}
    return assemble(str(body.get("model", "")), entries, offered)


def whole(answer: WireAnswer) -> dict[str, Any]:
    """An answer as one document."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None, "refusal": None}
    if answer.calls:
        message["tool_calls"] = [as_tool_call(call) for call in answer.calls]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(answer)}
    choices = [] if answer.void else [choice]
    return {**_head(answer, "chat.completion"), "choices": choices, "usage": _usage(answer)}


def stream(answer: WireAnswer, body: RequestBody) -> Iterator[str]:
    """An answer as server-sent events, with its usage where the request asks for that."""
    if not answer.void:
        yield event(_chunk(answer, {"role": "assistant", "content": ""}))
        for piece in pieces(answer.text):
            yield event(_chunk(answer, {"content": piece}))
        for index, call in enumerate(answer.calls):
            head = {"index": index, **as_tool_call(FunctionCall(call.id, call.name, ""))}
            yield event(_chunk(answer, {"tool_calls": [head]}))
            for piece in pieces(call.arguments):
                yield event(_chunk(answer, {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}))
        yield event(_chunk(answer, {}, _finish(answer)))
    options: Mapping[str, Any] = body.get("stream_options") or {}
    if options.get("include_usage"):
        yield event({**_head(answer, "chat.completion.chunk"), "choices": [], "usage": _usage(answer)})
    yield event("[DONE]")


PROTOCOL = Protocol(read, whole, stream, openai_error)


def _chunk(answer: WireAnswer, delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {**_head(answer, "chat.completion.chunk"), "choices": [choice]}


def _head(answer: WireAnswer, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{answer.id[:24]}", "object": kind, "created": CREATED, "model": answer.model}


def _finish(answer: WireAnswer) -> str:
    return "tool_calls" if answer.calls else "stop"


def _usage(answer: WireAnswer) -> dict[str, int]:
    return {
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.completion_tokens,
        "total_tokens": answer.prompt_tokens + answer.completion_tokens,
    }
