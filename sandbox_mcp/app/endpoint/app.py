"""The endpoint as an ASGI application: a route for every protocol, and faults as they look on the wire.

Policy: it counts how often it was sent the very same request, because a retry is the only thing that a request does not
tell; everything else follows from the request. It accepts any key, or none. A fault looks like the answer that it
spoils, in the client's protocol, streamed where a stream was asked for.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from sandbox_mcp.app.endpoint import chat, gemini, messages, responses
from sandbox_mcp.app.endpoint.reply import Brain, Move, PlannedFault
from sandbox_mcp.app.endpoint.wire import BadRequestError, Protocol, RequestBody, WireAnswer, answer, tokens
from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.errors import error_line

MODEL = "scripted"
STREAM = "text/event-stream"
OnRequest = Callable[[Mapping[str, Any]], None]
"""Told of every request, as its body, before it is answered."""
PROTOCOLS: Mapping[str, Protocol] = {
    "/v1/chat/completions": chat.PROTOCOL,
    "/v1/responses": responses.PROTOCOL,
    "/v1/messages": messages.PROTOCOL,
    "/{version}/models/{model}:generateContent": gemini.PROTOCOL,
    "/{version}/models/{model}:streamGenerateContent": gemini.PROTOCOL,
}


@dataclass(slots=True)
class Endpoint:
    """Answers requests with what a brain decides."""

    brain: Brain
    on_request: OnRequest = lambda _: None
    seen: Counter[str] = field(default_factory=Counter[str])

    def app(self) -> Starlette:
        """The ASGI application."""
        asking = [Route(path, self._handler(protocol), methods=["POST"]) for path, protocol in PROTOCOLS.items()]
        about = [
            Route("/v1/messages/count_tokens", _count, methods=["POST"]),
            Route("/{version}/models/{model}:countTokens", _count, methods=["POST"]),
            Route("/v1/models", _models),
            Route("/v1/models/{id:path}", _model),
        ]
        return Starlette(routes=[*asking, *about])

    def _handler(self, protocol: Protocol) -> Callable[[Request], Any]:
        async def handle(request: Request) -> Response:
            try:
                body = await _body(request)
                prompt = protocol.read(body)
            except BadRequestError as problem:
                return _error(protocol, 400, str(problem))
            except (AttributeError, LookupError, TypeError) as problem:
                return _error(protocol, 400, f"the request has an unexpected form: {problem}")
            except ClientDisconnect:
                return Response(status_code=499)
            self.on_request(body)
            blank = answer(body, prompt.model, Move())  # which has the id of the request
            try:
                reply = await self.brain.decide(prompt, self.seen[blank.id])
            except Exception as problem:  # noqa: BLE001 - whoever asked should read what broke, as of any endpoint
                return _error(protocol, 500, f"the scripted model broke: {error_line(problem)}")
            self.seen[blank.id] += 1
            if isinstance(reply, PlannedFault):
                return await _failed(reply, protocol, request, blank, body)
            return _written(protocol, answer(body, prompt.model, reply), body)

        return handle


async def _body(request: Request) -> RequestBody:
    """A request's JSON, and in it what Google's protocol says in the address instead."""
    try:
        body = loads(await request.body())
    except (ValueError, RecursionError) as problem:
        raise BadRequestError(f"the body is not JSON: {problem}") from problem
    if not isinstance(body, dict):
        raise BadRequestError("the body must be a JSON object")
    streams = {"stream": True} if request.url.path.endswith(":streamGenerateContent") else {}
    return {**cast("RequestBody", body), **request.path_params, **streams}


async def _count(request: Request) -> Response:
    """Count the tokens of a request, in one answer that Anthropic's and Google's clients both understand."""
    number = tokens(len(await request.body()))
    return JSONResponse({"input_tokens": number, "totalTokens": number})


async def _models(_: Request) -> Response:
    page = {"has_more": False, "first_id": MODEL, "last_id": MODEL}
    return JSONResponse({"object": "list", "data": [_described(MODEL)], **page})


async def _model(request: Request) -> Response:
    return JSONResponse(_described(request.path_params["id"]))


def _described(model: str) -> dict[str, Any]:
    """A model as OpenAI's and Anthropic's clients both understand it."""
    anthropic = {"type": "model", "display_name": model, "created_at": "2026-01-01T00:00:00Z"}
    return {"id": model, "object": "model", "created": 0, "owned_by": "sandbox-mcp", **anthropic}


def _written(protocol: Protocol, found: WireAnswer, body: RequestBody) -> Response:
    """An answer, whole or as a stream, as the request asks."""
    if body.get("stream"):
        return StreamingResponse(protocol.stream(found, body), media_type=STREAM)
    return JSONResponse(protocol.whole(found))


async def _failed(
    fault: PlannedFault, protocol: Protocol, request: Request, blank: WireAnswer, body: RequestBody
) -> Response:
    """Reply of a fault in place of an answer; ``blank`` is one that says nothing."""
    match fault.kind:
        case "status":
            headers = {} if fault.retry_after is None else {"Retry-After": f"{fault.retry_after:g}"}
            return _error(protocol, fault.status, f"this failure with status {fault.status} was asked for", headers)
        case "hang":  # until the client has given up
            while (await request.receive())["type"] != "http.disconnect":
                pass
            return Response(status_code=499)
        case "half":
            return _Half(*_cut(protocol, blank, body))
        case "invalid_json":
            text, media_type = _cut(protocol, blank, body)
            return Response(f"{text}\n\n" if media_type == STREAM else text, media_type=media_type)
        case "empty":
            return _written(protocol, replace(blank, void=True), body)


def _error(protocol: Protocol, status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """An error in the form of the protocol."""
    return JSONResponse(protocol.error(status, message), status_code=status, headers=headers)


def _cut(protocol: Protocol, blank: WireAnswer, body: RequestBody) -> tuple[str, str]:
    """The first half of an answer, or of a stream's first event, and the media type of the whole."""
    streamed = bool(body.get("stream"))
    text = next(protocol.stream(blank, body)).rstrip() if streamed else json.dumps(protocol.whole(blank))
    return text[: len(text) // 2], STREAM if streamed else "application/json"


class _Half(Response):
    """Starts an answer, and drops the connection in the middle of it."""

    def __init__(self, text: str, media_type: str) -> None:
        super().__init__()
        self.half = text.encode()
        self.kind = media_type.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", self.kind)]})
        await send({"type": "http.response.body", "body": self.half, "more_body": True})
