"""The Responses protocol, as far as clients that send the whole conversation with every request need it.

Policy: nothing is stored, so ``previous_response_id`` is refused rather than ignored. Functions in a namespace, which
is how Codex offers tools, are known here as ``NAMESPACE::NAME``. In calls, namespace and name stand apart, as the
protocol has it.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Any, cast

from sandbox_mcp.app.endpoint.prompt import HistoryEntry, Offer, Prompt, assemble
from sandbox_mcp.app.endpoint.wire import (
    CREATED,
    BadRequestError,
    Protocol,
    WireAnswer,
    event,
    offer,
    openai_error,
    pieces,
    text_of,
)
from sandbox_mcp.play.models.asking import FunctionCall

WITHIN = "::"
_ROLES: Mapping[str, Any] = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}


def read(body: Mapping[str, Any]) -> Prompt:
    """Read what a request shows the model.

    Raises:
        BadRequestError: it has another form, or refers to an earlier response.
    """
    if body.get("previous_response_id") or body.get("conversation"):
        raise BadRequestError("nothing is stored here; send the whole conversation as input")
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    if not isinstance(items, list) or not items:
        raise BadRequestError("input must be text or a list with at least one item")
    entries = [HistoryEntry("system", str(body["instructions"]))] if body.get("instructions") else []
    for item in cast("list[Mapping[str, Any]]", items):
        kind = item.get("type") or "message"
        if kind == "message":
            role = str(item.get("role"))
            if role not in _ROLES:
                raise BadRequestError(f"unknown role {role!r}; expected one of {', '.join(_ROLES)}")
            entries.append(HistoryEntry(_ROLES[role], text_of(item.get("content"))))
        elif kind == "function_call":
            within = f"{item['namespace']}{WITHIN}" if item.get("namespace") else ""
            id_, arguments = str(item.get("call_id")), str(item.get("arguments") or "")
            call = FunctionCall(id_, f"{within}{item.get('name')}", arguments)
            entries.append(HistoryEntry("assistant", "", (call,)))
        elif kind == "function_call_output":
            entries.append(HistoryEntry("output", text_of(item.get("output")), call_id=str(item.get("call_id"))))
        elif kind != "reasoning":
            raise BadRequestError(f"items of type {kind!r} are not understood here")
    return assemble(str(body.get("model", "")), entries, dict(_tools(body.get("tools") or ())))


def _tools(tools: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Offer]]:
    for tool in tools:
        if tool.get("type") == "function":
            yield str(tool["name"]), offer(tool)
        elif tool.get("type") == "namespace":
            within = f"{tool['name']}{WITHIN}"
            yield from ((f"{within}{name}", offered) for name, offered in _tools(tool.get("tools") or ()))


def whole(answer: WireAnswer) -> dict[str, Any]:
    """An answer as one document."""
    return _response(answer, "completed", list(_output(answer)))


def stream(answer: WireAnswer) -> Iterator[str]:
    """An answer as server-sent events."""
    number = count()

    def say(kind: str, **fields: Any) -> str:
        return event({"type": kind, "sequence_number": next(number), **fields}, kind)

    yield say("response.created", response=_response(answer, "in_progress", []))
    yield say("response.in_progress", response=_response(answer, "in_progress", []))
    for index, item in enumerate(_output(answer)):
        empty: dict[str, Any] = {"content": []} if item["type"] == "message" else {"arguments": ""}
        started = {**item, "status": "in_progress", **empty}
        yield say("response.output_item.added", output_index=index, item=started)
        where = {"item_id": item["id"], "output_index": index}
        if item["type"] == "message":
            part = item["content"][0]
            place = {**where, "content_index": 0}
            yield say("response.content_part.added", **place, part={**part, "text": ""})
            for piece in pieces(part["text"]):
                yield say("response.output_text.delta", **place, delta=piece, logprobs=[])
            yield say("response.output_text.done", **place, text=part["text"], logprobs=[])
            yield say("response.content_part.done", **place, part=part)
        else:
            for piece in pieces(item["arguments"]):
                yield say("response.function_call_arguments.delta", **where, delta=piece)
            done = {**where, "name": item["name"], "arguments": item["arguments"]}
            yield say("response.function_call_arguments.done", **done)
        yield say("response.output_item.done", output_index=index, item=item)
    yield say("response.completed", response=whole(answer))


PROTOCOL = Protocol(read, whole, lambda found, _: stream(found), openai_error)


def _output(answer: WireAnswer) -> Iterator[dict[str, Any]]:
    if answer.void:
        return
    if answer.text or not answer.calls:
        part: dict[str, Any] = {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}
        message: dict[str, Any] = {"type": "message", "role": "assistant", "status": "completed", "content": [part]}
        yield {"id": f"msg_{answer.id[:24]}", **message}
    for index, call in enumerate(answer.calls):
        namespace, within, name = call.name.rpartition(WITHIN)
        named = {"name": name, "namespace": namespace} if within else {"name": name}
        made = {"call_id": call.id, **named, "arguments": call.arguments}
        yield {"id": f"fc_{answer.id[:24]}{index}", "type": "function_call", "status": "completed", **made}


def _response(answer: WireAnswer, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"resp_{answer.id[:24]}",
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": answer.model,
        "output": output,
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": {
            "input_tokens": answer.prompt_tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": answer.completion_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": answer.prompt_tokens + answer.completion_tokens,
        }
        if status == "completed"
        else None,
    }
