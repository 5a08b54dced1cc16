"""Calls of the newer protocol over HTTP, carried out as soon as it is certain that they are calls and nothing else.

Policy: for every request of the newer protocol the SDK makes a connection, a session and a context, which together cost
as much as carrying out a call, and a call at a session's URL needs none of them. Here is only the way of a call that is
right. Whatever differs from one in anything goes on to the SDK, which words every refusal, and so does a call about
which the person at the client may be asked. Tests hold each answer against the one that the SDK sends.
"""

import json
from collections.abc import Mapping
from typing import Any, cast

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import InboundModernRoute, classify_inbound_request
from starlette.types import Scope, Send

from sandbox_mcp.server.malformed import WholeBody
from sandbox_mcp.server.mcp_server import Answering
from sandbox_mcp.session.open_session import OpenSession

CALL = "tools/call"
JSON = "application/json"
_READ = frozenset({b"accept", b"content-type", b"mcp-method", b"mcp-name", b"mcp-protocol-version"})
_ENCODER = json.JSONEncoder(separators=(",", ":"))
"""Writes as the SDK does."""


class PlainCalls:
    """Answers the plain calls among the requests for sessions; ``transport`` gets all others."""

    def __init__(self, transport: StreamableHTTPSessionManager) -> None:
        self._transport = transport

    async def answered(self, opened: OpenSession, scope: Scope, body: WholeBody, send: Send) -> bool:
        """Answer a request at the URL of a session if it is a plain call, and say whether it was one."""
        first = self._transport.app.middleware[0]
        if not self._transport.json_response or not isinstance(first, Answering) or not first.answers_plainly(opened):
            return False
        call = _plain_call(scope, body.data) if body.complete else None
        if call is None or len(body.data) > self._transport.max_request_body_size:
            return False
        result = await first.call_of(opened, call["params"])
        answer = _ENCODER.encode({"jsonrpc": "2.0", "id": call["id"], "result": result}).encode()
        headers = [(b"content-length", b"%d" % len(answer)), (b"content-type", JSON.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})
        return True


def _plain_call(scope: Scope, body: bytes) -> Mapping[str, Any] | None:
    """The JSON-RPC request in a body; None where the SDK might find anything amiss with it."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        if name in _READ:
            if name.decode() in headers:
                return None
            headers[name.decode()] = value.decode("latin-1")
    if (
        scope["method"] != "POST"
        or headers.get("mcp-method") != CALL
        or not headers.get("content-type", "").startswith(JSON)
        or all(kind.partition(";")[0].strip() != JSON for kind in headers.get("accept", "").split(","))
    ):
        return None
    try:
        sent: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(sent, dict):
        return None
    request = cast("dict[str, Any]", sent)
    if request.get("jsonrpc") != "2.0" or type(request.get("id")) not in (int, str):
        return None
    return request if isinstance(classify_inbound_request(request, headers=headers), InboundModernRoute) else None
