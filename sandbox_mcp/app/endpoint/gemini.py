"""Google's Gemini protocol: requests read, answers written, whole or as a stream.

Policy: names are understood in camel and in snake case, as by the real one. The address names the model and whether to
stream; both are read with the rest of the request. Calls may have no ids; then a tool's outputs belong to its calls in
their order.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from sandbox_mcp.app.endpoint.prompt import HistoryEntry, Offer, Prompt, assemble
from sandbox_mcp.app.endpoint.wire import BadRequestError, Protocol, WireAnswer, event, offer, pieces
from sandbox_mcp.engine.trajectory.model_text import as_arguments
from sandbox_mcp.play.models.asking import FunctionCall

_Part = Mapping[str, Any]

_KINDS: Mapping[str, Any] = {"user": "user", "model": "assistant", "function": "user"}
_STATUSES: Mapping[int, str] = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_REFUSAL = re.compile(r"\w+Error: ")


def read(body: Mapping[str, Any]) -> Prompt:
    """Read what a request shows the model.

    Raises:
        BadRequestError: it has another form, or its calls and outputs do not belong together.
    """
    contents = body.get("contents")
    if not isinstance(contents, list) or not contents:
        raise BadRequestError("contents is not specified")
    told = "\n".join(str(part.get("text") or "") for part in _parts(_get(body, "systemInstruction") or {}))
    entries = _Reading().entries(cast("list[_Part]", contents))
    functions = [item for tool in body.get("tools") or () for item in _get(tool, "functionDeclarations") or ()]
    offers: dict[str, Offer] = {}
    for function in functions:
        schema = _get(function, "parametersJsonSchema") or function.get("parameters")
        offers[str(function["name"])] = offer({**function, "parameters": schema})
    return assemble(str(body.get("model", "")), [HistoryEntry("system", told), *entries], offers)


def _get(given: _Part, name: str) -> Any:
    """A field, by its name in camel or in snake case."""
    return given[name] if name in given else given.get(re.sub(r"([A-Z])", r"_\1", name).lower())


def _parts(content: _Part) -> Sequence[_Part]:
    return cast("Sequence[_Part]", content.get("parts") or ())


@dataclass(slots=True)
class _Reading:
    """Reads contents one after the other; ``due`` are the calls without an output, as id and name."""

    due: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    made: int = 0

    def entries(self, contents: Sequence[_Part]) -> Iterator[HistoryEntry]:
        for content in contents:
            role = str(content.get("role") or "user")
            if role not in _KINDS:
                raise BadRequestError(f"unknown role {role!r}; expected one of {', '.join(_KINDS)}")
            returned = sum(bool(_get(part, "functionResponse")) for part in _parts(content))
            if returned != len(self.due):
                raise BadRequestError(f"{len(self.due)} function calls are followed by {returned} function responses")
            for part in _parts(content):
                if call := _get(part, "functionCall"):
                    self.made += 1
                    id_, name = str(call.get("id") or f"call_{self.made}"), str(call["name"])
                    self.due.append((id_, name))
                    yield HistoryEntry("assistant", "", (FunctionCall(id_, name, json.dumps(call.get("args") or {})),))
                elif response := _get(part, "functionResponse"):
                    text = _output(response.get("response") or {})
                    yield HistoryEntry("output", text, call_id=self._answered(response))
                elif part.get("text") and not part.get("thought"):
                    yield HistoryEntry(_KINDS[role], str(part["text"]))

    def _answered(self, response: _Part) -> str:
        """The id of the call that a response belongs to: the one it names, or the first one of its tool."""
        meant = [due for due in self.due if due[0] == response.get("id")]
        found = meant or [due for due in self.due if due[1] == response.get("name")]
        if not found:
            raise BadRequestError(f"a function response for {response.get('name')!r}, which was not called")
        self.due.remove(found[0])
        return found[0][0]


def _output(response: Mapping[str, Any]) -> str:
    """Output of a tool as text; text is taken out of the object that this protocol demands.

    Tools return objects under the name "result" as well, and those stay as they are.
    """
    if len(response) == 1:
        ((key, value),) = response.items()
        if isinstance(value, str) and (
            key in ("output", "error") or (key == "result" and (value.startswith("{") or _REFUSAL.match(value)))
        ):
            return value
    return json.dumps(response, ensure_ascii=False)


def whole(answer: WireAnswer) -> dict[str, Any]:
    """An answer as one document."""
    said = [{"text": answer.text}] if answer.text else []
    return _chunk(answer, [*said, *_calls(answer)], ended=True)


def stream(answer: WireAnswer) -> Iterator[str]:
    """An answer as server-sent events."""
    for piece in pieces(answer.text):
        yield event(_chunk(answer, [{"text": piece}], ended=False))
    yield event(_chunk(answer, _calls(answer), ended=True))


def error(status: int, message: str) -> dict[str, Any]:
    """An error in the form of this protocol."""
    kind = _STATUSES.get(status, "INVALID_ARGUMENT" if status < 500 else "INTERNAL")
    return {"error": {"code": status, "message": message, "status": kind}}


PROTOCOL = Protocol(read, whole, lambda found, _: stream(found), error)


def _calls(answer: WireAnswer) -> list[dict[str, Any]]:
    values = ((call, _object(call.arguments)) for call in answer.calls)
    return [
        {"functionCall": {"id": call.id, "name": call.name, "args": args}} for call, args in values if args is not None
    ]


def _object(arguments: str) -> Mapping[str, Any] | None:
    """Arguments as an object, None if they are none, which the protocol has no way to carry."""
    found = as_arguments(arguments)
    return None if isinstance(found, str) else found


def _chunk(answer: WireAnswer, parts: list[dict[str, Any]], *, ended: bool) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if ended:
        malformed = any(_object(call.arguments) is None for call in answer.calls)
        candidate["finishReason"] = "MALFORMED_FUNCTION_CALL" if malformed else "STOP"
    head = {
        "modelVersion": answer.model,
        "responseId": answer.id[:24],
        "usageMetadata": {
            "promptTokenCount": answer.prompt_tokens,
            "candidatesTokenCount": answer.completion_tokens,
            "totalTokenCount": answer.prompt_tokens + answer.completion_tokens,
        },
    }
    return {"candidates": [] if answer.void else [candidate], **head}
