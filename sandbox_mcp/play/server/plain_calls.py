"""Calls over HTTP, carried out as soon as it is certain that they are calls and nothing else.

Policy: the SDK makes a connection, a session and a context for every request of the newer protocol, and passes each
of the older one through four tasks and their streams. Either costs as much as carrying out a call, and a call at a
session's URL needs none of it. Only correct calls are answered here. Anything else goes on to the SDK, which words
every refusal. So do calls about which the person at the client may be asked, and calls that wait for outside sources,
which a client may want to cancel. Tests compare each answer with that of the SDK.
"""

import json
from collections.abc import Mapping
from typing import Any, cast

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import InboundModernRoute, classify_inbound_request
from mcp_types import JSONRPCResponse
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic_core import from_json
from starlette.types import Scope, Send

from sandbox_mcp.play.server.malformed import WholeBody
from sandbox_mcp.play.server.mcp_server import Answering
from sandbox_mcp.play.session.open_session import OpenSession

CALL = "tools/call"
JSON = "application/json"
STREAM = b"text/event-stream"
MEMBERS = frozenset({"jsonrpc", "id", "method", "params"})
_READ = frozenset({b"accept", b"content-type", b"mcp-method", b"mcp-name", b"mcp-protocol-version"})
_ENCODER = json.JSONEncoder(separators=(",", ":"))
"""Writes as the SDK does in the newer protocol."""
_Sent = Mapping[str, Any]
"""The JSON-RPC request of a call."""


class PlainCalls:
    """Answers the plain calls among the requests for sessions; ``transport`` gets all others."""

    def __init__(self, transport: StreamableHTTPSessionManager) -> None:
        self._transport = transport

    async def answered(
        self, opened: OpenSession, scope: Scope, body: WholeBody, send: Send, connection: str | None = None
    ) -> bool:
        """Answer a request at the URL of a session if it is a plain call, and say whether it was one.

        ``connection`` is that of the older protocol through which it came.
        """
        first = self._transport.app.middleware[0]
        if not self._transport.json_response or not isinstance(first, Answering) or not first.answers_plainly(opened):
            return False
        if not body.complete or len(body.data) > self._transport.max_request_body_size:
            return False
        headers = _plain_headers(scope)
        if headers is None:
            return False
        call = _newer_call(headers, body.data) if connection is None else _older_call(headers, body.data)
        if call is None:
            return False
        try:
            result = await first.call_of(opened, call["params"], newer=connection is None)
        except MCPError:  # the stream of the answer ends before the answer
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", STREAM)]})
            await send({"type": "http.response.body", "body": b""})
            return True
        if connection is None:
            answer = _ENCODER.encode({"jsonrpc": "2.0", "id": call["id"], "result": result}).encode()
            told: list[tuple[bytes, bytes]] = []
        else:
            response = JSONRPCResponse(jsonrpc="2.0", id=call["id"], result=result)
            answer = response.model_dump_json(by_alias=True, exclude_unset=True).encode()
            told = [(MCP_SESSION_ID_HEADER.encode(), connection.encode())]
        told += [(b"content-type", JSON.encode()), (b"content-length", b"%d" % len(answer))]
        await send({"type": "http.response.start", "status": 200, "headers": told})
        await send({"type": "http.response.body", "body": answer})
        return True


def _plain_headers(scope: Scope) -> Mapping[str, str] | None:
    """The headers that matter to a call; None where one comes twice, or they are not those of JSON sent for JSON."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        if name in _READ:
            if name.decode() in headers:
                return None
            headers[name.decode()] = value.decode("latin-1")
    is_json = headers.get("content-type", "").partition(";")[0].strip() == JSON
    accepts_json = any(kind.partition(";")[0].strip() == JSON for kind in headers.get("accept", "").split(","))
    return headers if scope["method"] == "POST" and is_json and accepts_json else None


def _newer_call(headers: Mapping[str, str], body: bytes) -> _Sent | None:
    """A call of the newer protocol; the SDK's own rules say whether what is told twice is told alike."""
    if headers.get("mcp-method") != CALL:
        return None
    try:
        sent = _call_in(json.loads(body))
    except (ValueError, RecursionError):
        return None
    right = sent is not None and isinstance(classify_inbound_request(sent, headers=headers), InboundModernRoute)
    return sent if right else None


def _older_call(headers: Mapping[str, str], body: bytes) -> _Sent | None:
    """A call of the older protocol. If it names a version, it must be one with connections."""
    version = headers.get("mcp-protocol-version")
    if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
        return None
    try:
        return _call_in(from_json(body))
    except ValueError:
        return None


def _call_in(message: Any) -> _Sent | None:
    """A message if it is the request of a call, and if no reader of JSON-RPC could take it for anything else."""
    if not isinstance(message, dict):
        return None
    sent = cast("dict[str, Any]", message)
    right = (
        sent.keys() == MEMBERS
        and sent["jsonrpc"] == "2.0"
        and type(sent["id"]) in (int, str)
        and sent["method"] == CALL
        and isinstance(sent["params"], dict)
    )
    return sent if right else None
