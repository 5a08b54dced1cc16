"""MCP servers: one for one session (in memory, stdio) and one that finds the session in the URL (HTTP).

Policy: every fault of a call is a result with ``isError``, never a protocol error, because some clients end their run
at a protocol error. The SDK refuses arguments that are not an object before any handler runs, so calls are answered one
step earlier, in a middleware; tests hold what it answers against the SDK's own form for every protocol version. What a
client is told of a tool is what the session checks: the schema of its presentation, unchanged.
"""

import json
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NoReturn, Protocol
from weakref import WeakKeyDictionary

from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    SERVER_INFO_META_KEY,
    CallToolRequestParams,
    ListToolsResult,
    PaginatedRequestParams,
    Tool,
    ToolAnnotations,
)
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS

from sandbox_mcp import __version__
from sandbox_mcp.engine.tools import PresentedTool
from sandbox_mcp.play.server.confirming import Confirming, Refused
from sandbox_mcp.play.server.context import Context
from sandbox_mcp.play.server.empty_lists import ABSENT
from sandbox_mcp.play.server.metrics import CallMeter
from sandbox_mcp.play.server.notices import METHODS, Notices, offered_to
from sandbox_mcp.play.session import AgentCall, CallResult
from sandbox_mcp.play.session.agent_calls import ClosedConnection
from sandbox_mcp.play.session.open_session import OpenSession, Presentation
from sandbox_mcp.play.telemetry import exporting

logger = logging.getLogger(__name__)
SCOPE_KEY = "sandbox_mcp.session"
"""Where the HTTP server leaves what it found for a request: the session, or the place in the lobby."""
BROKEN = "InternalError: the sandbox broke at this call; the call was right, and the reason is in the server's messages"
CHANNEL_INSTRUCTIONS = (
    "Nothing you write reaches the user unless you send it with send_message_to_user; it returns the user's answer. "
    "The user's first message to you was:"
)


class PreparedResult(Protocol):
    """The answer to a call in a form of its own."""

    def wire(self, stamp: Mapping[str, Any] | None) -> dict[str, Any]:
        """The answer as it travels; ``stamp`` is the ``_meta`` of the newer protocol, None for the older ones."""
        ...


class Face(Protocol):
    """Tools and instructions that a server shows to a client, request by request."""

    def presentation(self, ctx: Context) -> Presentation:
        """The tools it offers."""
        ...

    def instructions(self, ctx: Context) -> str:
        """Instructions for an agent that connects."""
        ...

    async def call(
        self, ctx: Context, name: str, arguments: object, meta: Mapping[str, Any] | None
    ) -> CallResult | PreparedResult:
        """Carry out a call; whatever it raises becomes a result with ``isError``."""
        ...

    def announces(self, ctx: Context) -> bool:
        """True if there are notices to read and to subscribe to."""
        ...

    def attended(self, ctx: Context) -> OpenSession | None:
        """The session whose confirmations the person at the client may give; None where they may not."""
        ...


@dataclass(frozen=True, slots=True)
class ToolPages:
    """The pages that show results of tools: what a server says of itself for it, and the page of each such tool."""

    extensions: Mapping[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    tools: Mapping[str, str] = field(default_factory=dict[str, str])


NO_PAGES = ToolPages()


@dataclass(frozen=True, slots=True)
class SessionFace:
    """One session and nothing else; ``find`` tells which, ``elicits`` whether the client's human may confirm."""

    find: Callable[[Context], OpenSession]
    elicits: bool = True

    def presentation(self, ctx: Context) -> Presentation:
        """The session's tools."""
        return self.find(ctx).presentation

    def instructions(self, ctx: Context) -> str:
        """Nothing about the scenario but, where the agent has to know it from here, what its user has said."""
        opened = self.find(ctx)
        spec = opened.session.spec
        if spec.user_channel == "harness":
            return spec.instructions
        return f"{spec.instructions}\n{CHANNEL_INSTRUCTIONS}\n{opened.opening}"

    async def call(self, ctx: Context, name: str, arguments: object, meta: Mapping[str, Any] | None) -> CallResult:
        """Call a tool of the session."""
        return await self.find(ctx).call(name, arguments, meta=meta)

    def announces(self, ctx: Context) -> bool:
        """True where something may happen by itself in the session."""
        return self.find(ctx).session.has_notices

    def attended(self, ctx: Context) -> OpenSession | None:
        """The session, if its client may ask the person there and no harness drives it."""
        opened = self.find(ctx)
        return opened if self.elicits and opened.session.spec.user_channel == "tool" else None


def server_for(opened: OpenSession, *, elicits: bool = True) -> Server[Any]:
    """A server that offers one session and nothing else; ``elicits`` lets the client's human confirm calls."""
    return _session_server(SessionFace(lambda _: opened, elicits))


def routed_server(*, elicits: bool = True, meter: CallMeter | None = None) -> Server[Any]:
    """A server that offers the session which the HTTP application found for the request; ``meter`` counts calls."""
    return _session_server(SessionFace(in_scope, elicits), meter)


def _session_server(face: SessionFace, meter: CallMeter | None = None) -> Server[Any]:
    return server_of(face, meter=meter, **Notices(face.find).handlers())


def in_scope(ctx: Context) -> Any:
    """Find what the HTTP application attached to this request."""
    if ctx.request is None:
        raise RuntimeError("a routed server needs HTTP requests")
    return ctx.request.scope[SCOPE_KEY]


def server_of(
    face: Face, pages: ToolPages = NO_PAGES, *, meter: CallMeter | None = None, **handlers: Any
) -> Server[Any]:
    """A server with this face; ``meter`` counts calls, ``handlers`` are further arguments of the SDK's server."""
    further = {**ABSENT, **handlers}

    async def list_tools(ctx: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        return listing(face.presentation(ctx).listed, pages.tools)

    server: Server[Any] = Server(
        "sandbox-mcp",
        version=__version__,
        on_list_tools=list_tools,
        on_call_tool=_unreachable,
        **further,
    )
    stamp = {SERVER_INFO_META_KEY: server.server_info_stamp}
    server.middleware.insert(0, Answering(face, stamp, pages, meter))
    if (out := exporting()) is not None:
        from sandbox_mcp.play.server.telemetry import TracedRequests

        server.middleware.insert(0, TracedRequests(out))
    return server


class Answering:
    """The middleware that answers calls, keeps answers that never change, and speaks for the session on connecting."""

    def __init__(self, face: Face, stamp: Mapping[str, Any], pages: ToolPages, meter: CallMeter | None) -> None:
        self._face = face
        self._meter = meter
        self._pages = pages
        self._stamp = stamp
        self._lists: WeakKeyDictionary[Presentation, dict[str, dict[str, Any]]] = WeakKeyDictionary()
        self._confirming = Confirming()

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Answer a request, or have it answered."""
        if ctx.method.endswith("/list") and (ctx.params or {}).get("cursor"):
            raise MCPError(INVALID_PARAMS, "there is no such page: every list is whole, and gives out no cursor")
        match ctx.method:
            case "tools/call":
                params = ctx.params or {}
                name = name_in(params.get("name"))
                return await self._carried_out(name, self._result(ctx, name, params), ctx.protocol_version)
            case "tools/list":  # the SDK's own answer for this protocol version; servers without pages share it
                presentation = self._face.presentation(ctx)
                known = self._lists.setdefault(presentation, {}) if self._pages.tools else presentation.lists
                if ctx.protocol_version not in known:
                    known[ctx.protocol_version] = _wired(await call_next(ctx))
                return known[ctx.protocol_version]
            case "initialize" | "server/discover":
                answer = _wired(await call_next(ctx))
                offered = offered_to(answer["capabilities"], announces=self._face.announces(ctx))
                if self._pages.extensions:  # the SDK leaves them out of older protocols, whose hosts look for them too
                    offered["extensions"] = self._pages.extensions
                return {**answer, "capabilities": offered, "instructions": self._face.instructions(ctx)}
            case method if method in METHODS and not self._face.announces(ctx):
                raise MCPError(METHOD_NOT_FOUND, "Method not found", method)
            case _:
                return await call_next(ctx)

    def answers_plainly(self, opened: OpenSession) -> bool:
        """True if a call at a session's URL can be made at once, without asking a person or a source outside."""
        face = self._face
        ours = type(face) is SessionFace and face.find is in_scope
        return ours and opened.session.spec.user_channel != "tool" and opened.session.live is None

    async def call_of(self, opened: OpenSession, params: Mapping[str, Any], *, newer: bool) -> dict[str, Any]:
        """Outcome of such a call as it travels, in the newer protocol or the older one.

        Raises:
            MCPError: the connection is to be closed instead.
        """
        name = name_in(params.get("name"))
        result = opened.call(name, params.get("arguments"), meta=params.get("_meta"))
        return await self._carried_out(name, result, LATEST_MODERN_VERSION if newer else LATEST_HANDSHAKE_VERSION)

    async def _carried_out(
        self, name: str, result: Awaitable[CallResult | PreparedResult], version: str
    ) -> dict[str, Any]:
        """The result of a call as it travels, whatever breaks on the way, and counted.

        Raises:
            MCPError: the connection is to be closed instead.
        """
        began = time.perf_counter()
        try:
            came = await result
        except Exception:  # whatever it was, the agent's run must not die of a bug of ours
            logger.exception("the call of %r failed", name)
            came = CallResult({}, BROKEN)
        stamp = self._stamp if version in MODERN_PROTOCOL_VERSIONS else None
        wire = wire_result(came, stamp) if isinstance(came, CallResult) else came.wire(stamp)
        if self._meter is not None:
            self._meter.took(time.perf_counter() - began, fault=wire.get("isError") is True)
        if isinstance(came, ClosedConnection):
            raise MCPError(CONNECTION_CLOSED, "Connection closed")
        return wire

    async def _result(self, ctx: Context, name: str, params: Mapping[str, Any]) -> CallResult | PreparedResult:
        """Outcome of a call, also of one about which the person at the client was or may be asked."""
        arguments = params.get("arguments")
        if "inputResponses" in params and (opened := self._face.attended(ctx)) is not None:
            answered = await self._confirming.answered(opened, AgentCall(name, arguments), params)
            if answered is not None:
                return answered
        result = await self._face.call(ctx, name, arguments, params.get("_meta"))
        if isinstance(result, Refused) and (opened := self._face.attended(ctx)) is not None:
            return await self._confirming.ask(ctx, opened, AgentCall(name, arguments), result)
        return result


async def _unreachable(_: Context, params: CallToolRequestParams) -> NoReturn:
    """A handler, because the SDK wants one; the middleware has answered before it is reached."""
    raise RuntimeError(f"call of {params.name!r} passed the middleware")


def _wired(result: HandlerResult) -> dict[str, Any]:
    """A result that the SDK has already brought into its wire form."""
    if not isinstance(result, dict):
        raise TypeError(f"expected a result in wire form, got {type(result).__name__}")
    return result


def name_in(value: object) -> str:
    """The name of the tool that was asked for, whatever was sent in its place, as text that a log can hold."""
    text = value if isinstance(value, str) else json.dumps(value)
    return text.encode("utf-8", "replace").decode()


def wire_result(result: CallResult, stamp: Mapping[str, Any] | None) -> dict[str, Any]:
    """A call's result as it travels; ``stamp`` is the ``_meta`` of the newer protocol, None for the older ones."""
    wire: dict[str, Any] = {"content": [{"type": "text", "text": result.text}], "isError": result.error is not None}
    if result.error is None:
        wire["structuredContent"] = result.structured
    return complete(wire, stamp)


def complete(wire: dict[str, Any], stamp: Mapping[str, Any] | None) -> dict[str, Any]:
    """A result with what the newer protocol demands of every one that answers its request for good."""
    return wire if stamp is None else {**wire, "resultType": "complete", "_meta": stamp}


def listing(tools: Iterable[PresentedTool], pages: Mapping[str, str] = MappingProxyType({})) -> ListToolsResult:
    """The answer to ``tools/list``; nothing in it ever changes, and it is meant for one client only.

    ``pages`` has the address of the page that shows a tool's results, by the tool's name.
    """
    return ListToolsResult(tools=[listed(tool, pages.get(tool.name)) for tool in tools])


def listed(presented: PresentedTool, page: str | None = None) -> Tool:
    """One tool as MCP describes it; ``page`` shows its results.

    The annotations say which tools act, so that a host may ask its human first; no tool reaches beyond the sandbox.
    """
    return Tool(
        _meta={"ui": {"resourceUri": page}} if page else None,
        name=presented.name,
        description=presented.description or None,
        input_schema=dict(presented.schema),
        output_schema=presented.tool.output_schema(),
        annotations=ToolAnnotations(
            read_only_hint=not presented.tool.action,
            destructive_hint=presented.tool.destructive,
            idempotent_hint=not presented.tool.action,
            open_world_hint=False,
        ),
    )
