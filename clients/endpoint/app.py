"""The endpoint as an ASGI application: routes, and faults as they look on the wire.

Policy: it counts how often it was sent the very same request, because a retry is the only thing that a request does not
tell; everything else follows from the request. It accepts any key, or none.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from clients.endpoint import chat, responses
from clients.endpoint.prompt import Prompt
from clients.endpoint.reply import Brain, Fault, Move
from clients.endpoint.wire import Answer, BadRequestError, answer, fingerprint

MODEL = "scripted"
OnRequest = Callable[[Mapping[str, Any]], None]
"""Told of every request, as its body, before it is answered."""


@dataclass(frozen=True, slots=True)
class _Protocol:
    read: Callable[[Mapping[str, Any]], Prompt]
    whole: Callable[[Answer], dict[str, Any]]
    stream: Callable[[Answer, Mapping[str, Any]], Iterator[str]]


def _chat_stream(found: Answer, body: Mapping[str, Any]) -> Iterator[str]:
    wanted: Mapping[str, Any] = body.get("stream_options") or {}
    return chat.stream(found, usage=bool(wanted.get("include_usage")))


CHAT = _Protocol(chat.read, chat.whole, _chat_stream)
RESPONSES = _Protocol(responses.read, responses.whole, lambda found, _: responses.stream(found))


@dataclass(slots=True)
class Endpoint:
    """Answers requests with what a brain decides."""

    brain: Brain
    on_request: OnRequest = lambda _: None
    seen: Counter[str] = field(default_factory=Counter[str])

    def app(self) -> Starlette:
        """The ASGI application."""
        routes = [
            Route("/v1/chat/completions", self._handler(CHAT), methods=["POST"]),
            Route("/v1/responses", self._handler(RESPONSES), methods=["POST"]),
            Route("/v1/models", _models),
            Route("/v1/models/{model:path}", _model),
        ]
        return Starlette(routes=routes)

    def _handler(self, protocol: _Protocol) -> Callable[[Request], Any]:
        async def handle(request: Request) -> Response:
            try:
                body = await _body(request)
                prompt = protocol.read(body)
            except BadRequestError as error:
                return _error(400, str(error))
            except (AttributeError, LookupError, TypeError) as error:
                return _error(400, f"the request has an unexpected form: {error}")
            except ClientDisconnect:
                return Response(status_code=499)
            self.on_request(body)
            return await self._respond(protocol, body, prompt, request)

        return handle

    async def _respond(
        self, protocol: _Protocol, body: Mapping[str, Any], prompt: Prompt, request: Request
    ) -> Response:
        key = fingerprint(body)
        reply = await self.brain.decide(prompt, self.seen[key])
        self.seen[key] += 1
        if isinstance(reply, Fault):
            return await _fail(reply, protocol, request, answer(body, prompt.model, Move()))
        found = answer(body, prompt.model, reply)
        if body.get("stream"):
            return StreamingResponse(protocol.stream(found, body), media_type="text/event-stream")
        return JSONResponse(protocol.whole(found))


async def _fail(fault: Fault, protocol: _Protocol, request: Request, blank: Answer) -> Response:
    match fault.kind:
        case "status":
            return _status(fault)
        case "hang":
            return await _hang(request)
        case "half":
            return _Half()
        case "invalid_json":
            return Response('{"id": "chatcmpl-0", "choices": [', media_type="application/json")
        case "empty":
            nothing: dict[str, Any] = {"choices": [], "output": []}
            return JSONResponse({**protocol.whole(blank), **nothing})


async def _hang(request: Request) -> Response:
    """Wait until the client has given up."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    return Response(status_code=499)


async def _body(request: Request) -> Mapping[str, Any]:
    try:
        body = json.loads(await request.body())
    except ValueError as error:
        raise BadRequestError(f"the body is no JSON: {error}") from error
    if not isinstance(body, dict):
        raise BadRequestError("the body must be a JSON object")
    return body  # pyright: ignore[reportUnknownVariableType]


def _status(fault: Fault) -> Response:
    headers = {} if fault.retry_after is None else {"Retry-After": f"{fault.retry_after:g}"}
    return _error(fault.status, f"this failure with status {fault.status} was asked for", headers)


def _error(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    kind = "invalid_request_error" if status < 429 else "rate_limit_error" if status == 429 else "server_error"
    error = {"message": message, "type": kind, "param": None, "code": None}
    return JSONResponse({"error": error}, status_code=status, headers=headers)


class _Half(Response):
    """Starts an answer, and drops the connection in the middle of it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": b'{"id": "chatcmpl-0", "choi', "more_body": True})


async def _models(_: Request) -> Response:
    return JSONResponse({"object": "list", "data": [_described(MODEL)]})


async def _model(request: Request) -> Response:
    return JSONResponse(_described(request.path_params["model"]))


def _described(model: str) -> dict[str, Any]:
    return {"id": model, "object": "model", "created": 0, "owned_by": "sandbox-mcp"}
