"""Telemetry of the server: durations of requests of MCP and of HTTP, and the number of open sessions.

Policy: a call's span is made where the call is recorded, see :mod:`sandbox_mcp.play.telemetry.spans`; here it is said
which request it was for. Only a call that left no record gets its span here; the SDK makes those of all other requests.
Paths are told as routes, because they hold secrets.
Source: OpenTelemetry, semantic conventions for the Model Context Protocol and for HTTP metrics; SEP-414.
"""

import time
from collections.abc import Mapping
from typing import Any

from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from opentelemetry.context import attach, detach
from opentelemetry.metrics import CallbackOptions, Meter, Observation
from opentelemetry.trace import SpanKind, Status, StatusCode
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sandbox_mcp.play.server.context import Context
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.telemetry.pipeline import Exporting
from sandbox_mcp.play.telemetry.propagation import parent_in
from sandbox_mcp.play.telemetry.requests import REQUEST, RequestTrace

MCP_BOUNDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
HTTP_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)
"""Upper bounds of classes of durations, in seconds, as the conventions advise."""
METHODS = frozenset({"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE"})
SESSION_ROUTE = "/s/{token}/mcp"


class TracedRequests:
    """The middleware of MCP that says for which request something is done, and how long requests took."""

    def __init__(self, out: Exporting) -> None:
        self._out = out
        self._duration = out.meter and out.meter.create_histogram(
            "mcp.server.operation.duration",
            unit="s",
            description="Duration of requests and notifications of MCP, as the server sees them.",
            explicit_bucket_boundaries_advisory=MCP_BOUNDS,
        )

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Answer a request."""
        request = _request(ctx)
        REQUEST.set(request)
        token = None if request.parent is None else attach(request.parent)
        began, since = time.time_ns(), time.perf_counter()
        error, told = "", ""
        try:
            result = await call_next(ctx)
            error = "tool_error" if isinstance(result, Mapping) and result.get("isError") is True else ""
        except MCPError as refused:
            error, told = str(refused.error.code), refused.error.message
            raise
        except Exception as broke:
            error = type(broke).__qualname__
            raise
        finally:
            if token is not None:
                detach(token)
            if self._duration is not None:
                self._duration.record(time.perf_counter() - since, _measured(request, ctx, error))
            if ctx.method == "tools/call" and not request.told:
                self._unrecorded(request, ctx, began, error, told)
        return result

    def _unrecorded(self, request: RequestTrace, ctx: Context, began: int, error: str, told: str) -> None:
        """Tell of a call in no log, such as one of the lobby or of an ended session."""
        tool = _tool(ctx)
        named = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool} if tool else {}
        attributes = {**request.attributes, **named}
        span = self._out.tracer.start_span(ctx.method, request.parent, SpanKind.SERVER, attributes, start_time=began)
        if error:
            span.set_attribute("error.type", error)
            span.set_status(Status(StatusCode.ERROR, told or None))
        span.end()


def _request(ctx: Context) -> RequestTrace:
    """Facts on a request. A trace context in its ``_meta`` counts before one in the HTTP headers."""
    attributes = {"mcp.method.name": ctx.method, "mcp.protocol.version": ctx.protocol_version}
    if ctx.request_id is not None:
        attributes["jsonrpc.request.id"] = str(ctx.request_id)
    headers: Mapping[str, str] = {}
    if ctx.request is not None:
        attributes |= {"network.transport": "tcp", "network.protocol.name": "http"}
        attributes["network.protocol.version"] = str(ctx.request.scope.get("http_version", "1.1"))
        headers = ctx.request.headers
    return RequestTrace(ctx.method, attributes, parent_in(ctx.meta, headers))


def _measured(request: RequestTrace, ctx: Context, error: str) -> dict[str, str]:
    """The attributes of a duration. Only tools that the server knows are named, so that their number is limited."""
    told = {key: value for key, value in request.attributes.items() if key != "jsonrpc.request.id"}
    if ctx.method == "tools/call":
        told["gen_ai.operation.name"] = "execute_tool"
        if request.told and (tool := _tool(ctx)):
            told["gen_ai.tool.name"] = tool
    if error:
        told["error.type"] = error
    return told


def _tool(ctx: Context) -> str:
    name = (ctx.params or {}).get("name")
    return name if isinstance(name, str) else ""


class TracedHttp:
    """ASGI middleware that measures requests of HTTP."""

    def __init__(self, app: ASGIApp, meter: Meter) -> None:
        self._app = app
        self._active = meter.create_up_down_counter(
            "http.server.active_requests", unit="{request}", description="Requests of HTTP that are being answered."
        )
        self._duration = meter.create_histogram(
            "http.server.request.duration",
            unit="s",
            description="Duration of requests of HTTP, as the server sees them.",
            explicit_bucket_boundaries_advisory=HTTP_BOUNDS,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        method = scope["method"] if scope["method"] in METHODS else "_OTHER"
        about = {"http.request.method": method, "url.scheme": scope.get("scheme", "http")}
        answered: dict[str, Any] = {}

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                answered["http.response.status_code"] = message["status"]
            await send(message)

        self._active.add(1, about)
        since = time.perf_counter()
        try:
            await self._app(scope, receive, sending)
        except Exception as broke:
            answered["error.type"] = type(broke).__qualname__
            raise
        finally:
            self._active.add(-1, about)
            if answered.get("http.response.status_code", 0) >= 500:
                answered.setdefault("error.type", str(answered["http.response.status_code"]))
            version = {"network.protocol.version": str(scope.get("http_version", "1.1"))}
            self._duration.record(time.perf_counter() - since, {**about, **version, **_route(scope), **answered})


def _route(scope: Scope) -> dict[str, str]:
    """The route that a request matched: its path, with the names of parameters in the place of their values."""
    path: str = scope["path"].removeprefix(scope.get("root_path", ""))
    if path.startswith("/s/") and path.endswith("/mcp"):
        return {"http.route": SESSION_ROUTE}
    if "endpoint" not in scope:
        return {}
    parameters: Mapping[str, Any] = scope.get("path_params", {})
    for name, value in parameters.items():
        path = path.replace(f"/{value}", f"/{{{name}}}", 1)
    return {"http.route": path}


def watch_sessions(meter: Meter, manager: SessionManager) -> None:
    """Export the number of open sessions whenever figures are exported."""

    def count(_: CallbackOptions) -> list[Observation]:
        return [Observation(len(manager))]

    meter.create_observable_up_down_counter(
        "sandbox_mcp.sessions.open", [count], unit="{session}", description="Sessions that this process has open."
    )
