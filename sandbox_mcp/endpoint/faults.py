"""Faults as they look on the wire: a status, silence, an answer that breaks off, is not JSON, or has nothing in it.

Policy: a fault looks like the answer that it spoils, in the client's protocol, streamed where a stream was asked for.
"""

import json
from collections.abc import Mapping
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from sandbox_mcp.endpoint.reply import PlannedFault
from sandbox_mcp.endpoint.wire import Body, Protocol, WireAnswer

STREAM = "text/event-stream"


def written(protocol: Protocol, found: WireAnswer, body: Body) -> Response:
    """An answer, whole or as a stream, as the request asks."""
    if body.get("stream"):
        return StreamingResponse(protocol.stream(found, body), media_type=STREAM)
    return JSONResponse(protocol.whole(found))


async def failed(fault: PlannedFault, protocol: Protocol, request: Request, blank: WireAnswer, body: Body) -> Response:
    """What a fault answers in place of an answer; ``blank`` is one that says nothing."""
    match fault.kind:
        case "status":
            headers = {} if fault.retry_after is None else {"Retry-After": f"{fault.retry_after:g}"}
            return error(protocol, fault.status, f"this failure with status {fault.status} was asked for", headers)
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
            return written(protocol, replace(blank, void=True), body)


def error(protocol: Protocol, status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """An error in the form of the protocol."""
    return JSONResponse(protocol.error(status, message), status_code=status, headers=headers)


def _cut(protocol: Protocol, blank: WireAnswer, body: Body) -> tuple[str, str]:
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
