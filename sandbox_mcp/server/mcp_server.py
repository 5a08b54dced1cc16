"""MCP servers: one for one session (in memory, stdio) and one that finds the session in the URL (HTTP).

Policy: every fault of a call is a result with ``isError``, never a protocol error, because some clients end their run
at a protocol error. The SDK refuses arguments that are no object before any handler runs, so calls are answered one
step earlier, in a middleware; tests hold what it answers against the SDK's own form for every protocol version.
"""

import json
from collections.abc import Callable
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp_types import (
    SERVER_INFO_META_KEY,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from sandbox_mcp import __version__
from sandbox_mcp.server.listing import listing
from sandbox_mcp.session import AGENT_INSTRUCTIONS, CallResult
from sandbox_mcp.session.manager import OpenSession, Presentation

Context = ServerRequestContext[Any, Any]
Find = Callable[[Context], OpenSession]
SCOPE_KEY = "sandbox_mcp.session"
"""Where the HTTP server leaves the session it found for a request."""
CHANNEL_INSTRUCTIONS = (
    "Nothing you write reaches the user unless you send it with send_message_to_user; it returns the user's answer. "
    "The user's first message to you was:"
)


def server_for(opened: OpenSession) -> Server[Any]:
    """A server that offers one session and nothing else."""
    return _SessionServer(lambda _: opened).server


def routed_server() -> Server[Any]:
    """A server that offers the session which the HTTP application found for the request."""
    return _SessionServer(_in_scope).server


def _in_scope(ctx: Context) -> OpenSession:
    if ctx.request is None:
        raise RuntimeError("a routed server needs HTTP requests")
    return ctx.request.scope[SCOPE_KEY]


def instructions_for(opened: OpenSession) -> str:
    """What an agent is told on connecting: nothing about the scenario but what its user has said."""
    if opened.session.spec.user_channel == "harness":
        return AGENT_INSTRUCTIONS
    return f"{AGENT_INSTRUCTIONS}\n{CHANNEL_INSTRUCTIONS}\n{opened.opening}"


class _SessionServer:
    """Handlers around a way to find the session of a request."""

    def __init__(self, find: Find) -> None:
        self._find = find
        self._listings: WeakKeyDictionary[Presentation, ListToolsResult] = WeakKeyDictionary()
        self._wire: WeakKeyDictionary[Presentation, dict[str, dict[str, Any]]] = WeakKeyDictionary()
        self.server: Server[Any] = Server(
            "sandbox-mcp",
            version=__version__,
            instructions=AGENT_INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=unreachable,
            get_tool_input_schema=lambda _: None,
        )
        self._stamp = stamp_of(self.server)
        self.server.middleware.append(self._answer)

    async def _list_tools(self, ctx: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        presentation = self._find(ctx).presentation
        if presentation not in self._listings:
            self._listings[presentation] = listing(presentation.listed)
        return self._listings[presentation]

    async def _answer(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        match ctx.method:
            case "tools/call":
                return await self._call(ctx)
            case "tools/list":
                return await self._listed(ctx, call_next)
            case "initialize" | "server/discover":
                result = await call_next(ctx)
                return {**as_dict(result), "instructions": instructions_for(self._find(ctx))}
            case _:
                return await call_next(ctx)

    async def _call(self, ctx: Context) -> dict[str, Any]:
        params = ctx.params or {}
        result = await self._find(ctx).call(
            name_in(params.get("name")), params.get("arguments"), meta=params.get("_meta")
        )
        return wire_result(result, self._stamp if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS else None)

    async def _listed(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """The SDK's own answer, kept in the form it had for this protocol version."""
        known = self._wire.setdefault(self._find(ctx).presentation, {})
        if ctx.protocol_version not in known:
            known[ctx.protocol_version] = as_dict(await call_next(ctx))
        return known[ctx.protocol_version]


async def unreachable(_: Context, params: CallToolRequestParams) -> NoReturn:
    """Stands where the SDK wants a handler, so that it announces tools; the middleware has answered before."""
    raise RuntimeError(f"call of {params.name!r} passed the middleware")


def stamp_of(server: Server[Any]) -> dict[str, Any]:
    """What every result of the newer protocol carries: who made it."""
    return {SERVER_INFO_META_KEY: server.server_info_stamp}


def as_dict(result: HandlerResult) -> dict[str, Any]:
    """A result that the SDK has already brought into its wire form."""
    if not isinstance(result, dict):
        raise TypeError(f"expected a result in wire form, got {type(result).__name__}")
    return result


def name_in(value: object) -> str:
    """The name of the tool that was asked for, whatever was sent in its place, as text that a log can hold."""
    text = value if isinstance(value, str) else json.dumps(value)
    return text.encode("utf-8", "replace").decode()


def wire_result(result: CallResult, stamp: dict[str, Any] | None) -> dict[str, Any]:
    """A call's result as it travels; ``stamp`` is the ``_meta`` of the newer protocol, None for the older ones."""
    wire: dict[str, Any] = {"content": [{"type": "text", "text": result.text}], "isError": result.error is not None}
    if result.error is None:
        wire["structuredContent"] = result.structured
    if stamp is not None:
        wire["resultType"] = "complete"
        wire["_meta"] = stamp
    return wire


__all__ = ("CallToolResult", "instructions_for", "routed_server", "server_for", "wire_result")
