"""The tools of a session over MCP, by the SDK's own client: over HTTP, over stdio, or in memory.

Policy: what a tool says, errors included, is an output. Only what keeps a call from being answered is a fault, but for
a connection that closes while the server goes on: the agent is told, and decides.
"""

import itertools
import json
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, cast

import anyio
from anyio.lowlevel import checkpoint_if_cancelled

from sandbox_clients.base import AgentError, Era, ToolInfo, ToolOutput, ToolRequest, Tools
from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.errors import error_line, inner_errors
from sandbox_mcp.engine.tools.calling import as_text, is_object
from sandbox_mcp.engine.tools.races import BATCH_KEY
from sandbox_mcp.engine.tools.results import parsed, unwrapped

if TYPE_CHECKING:
    from ssl import SSLContext

    from mcp import Client, ClientSession
    from mcp.types import CallToolResult

TIMEOUT = 60.0
"""Seconds that one request to the tools may take."""

DROPPED = "ConnectionError: the connection was closed before an answer came"
"""What an agent is told of a call whose connection was closed."""


@dataclass(frozen=True, slots=True)
class McpTarget:
    """Tools behind anything that ``mcp.Client`` connects to: a URL, a server object, how to start one, a transport."""

    server: Any
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    era: Era = "auto"

    @property
    def url(self) -> str | None:
        """The address of the tools; None where they are reached in another way."""
        return self.server if isinstance(self.server, str) else None

    @asynccontextmanager
    async def connect(self) -> AsyncGenerator[Tools]:
        """Connect, and disconnect at the end.

        Raises:
            AgentError: the server cannot be reached, on entering or later.
        """
        from mcp import Client

        entered = False
        try:
            async with self._transport() as server, Client(server, mode=self.era, read_timeout_seconds=TIMEOUT) as mcp:
                entered = True
                _share_compiled(mcp.session)
                yield _McpTools(mcp)
        except Exception as error:
            cause = inner_errors(error)[0]
            if entered or isinstance(cause, AgentError):
                raise cause from cause.__cause__
            raise AgentError(
                f"cannot reach the tools at {self.url or 'the MCP server'}: {error_line(cause)}"
            ) from error

    @asynccontextmanager
    async def _transport(self) -> AsyncGenerator[Any]:
        if self.url is None:
            yield self.server
            return
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        async with httpx2.AsyncClient(headers=dict(self.headers), timeout=TIMEOUT, verify=_certificates()) as http:
            try:
                yield streamable_http_client(self.url, http_client=http)
            except* httpx2.TransportError as errors:  # which comes out of the SDK's own tasks, whatever was asked
                raise AgentError(
                    f"cannot reach the tools at {self.url}: {error_line(inner_errors(errors)[0])}"
                ) from errors


@cache
def _certificates() -> "SSLContext":
    """The authorities that this machine trusts: read once, because that takes longer than a whole session."""
    from ssl import create_default_context

    return create_default_context()


@dataclass(frozen=True, slots=True)
class _McpTools:
    """The tools behind one connected client."""

    client: "Client"
    batches: Iterator[int] = field(default_factory=itertools.count)

    async def list(self) -> tuple[ToolInfo, ...]:
        """The tools offered, all pages of them."""
        from mcp import MCPError

        found: list[ToolInfo] = []
        cursor: str | None = None
        while True:
            try:
                page = await self.client.list_tools(cursor=cursor)
            except (MCPError, OSError, ValueError) as error:
                raise AgentError(f"the tools could not be listed: {error_line(error)}") from error
            found += [ToolInfo(tool.name, tool.description or "", tool.input_schema) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                return tuple(found)

    async def call(self, name: str, arguments: Mapping[str, Any] | str) -> ToolOutput:
        """Call one tool."""
        return await self._call(ToolRequest(name, arguments), {})

    async def call_together(self, requests: Sequence[ToolRequest]) -> Sequence[ToolOutput]:
        """Send all calls before waiting for any, marked as one batch with the place of each in it."""
        if len(requests) == 1:
            return [await self._call(requests[0], {})]
        batch = f"batch-{next(self.batches)}"
        outputs: dict[int, ToolOutput] = {}

        async def call(index: int, request: ToolRequest) -> None:
            mark = {BATCH_KEY: {"id": batch, "index": index, "size": len(requests)}}
            outputs[index] = await self._call(request, mark)

        try:
            async with anyio.create_task_group() as group:
                for index, request in enumerate(requests):
                    group.start_soon(call, index, request)
        except ExceptionGroup as errors:
            first = inner_errors(errors)[0]
            raise first from first.__cause__
        return [outputs[index] for index in range(len(requests))]

    async def _call(self, request: ToolRequest, mark: Mapping[str, Any]) -> ToolOutput:
        from mcp import MCPError
        from mcp.types import CONNECTION_CLOSED

        await checkpoint_if_cancelled()  # a server in the same process gives no other task a chance to stop the caller
        meta = cast("Any", dict(mark)) or None
        try:
            given: Any = cast("Any", request.arguments)  # whatever an agent of others hands on
            name = request.name.encode("utf-8", "replace").decode()
            if given is not None and not is_object(given):
                return output(await self._call_raw(name, as_text(given), meta))
            arguments = dict(cast("Mapping[str, Any]", given or {}))
            return output(await self.client.call_tool(name, arguments, meta=meta))
        except (MCPError, OSError, ValueError, RuntimeError) as error:
            if isinstance(error, MCPError) and error.error.code == CONNECTION_CLOSED:
                await self.list()  # it says so where the server is gone
                return ToolOutput(DROPPED, is_error=True)
            raise AgentError(f"the call of {request.name!r} was not answered: {error_line(error)}") from error

    async def _call_raw(self, name: str, arguments: str, meta: Any) -> "CallToolResult":
        """Send what a model wrote as it is: the SDK's own call takes objects only, the wire takes anything."""
        from mcp.types import CallToolResult, Request, RequestParams

        class _RawParams(RequestParams):
            name: str
            arguments: str

        class _RawRequest(Request[_RawParams, str]):
            method: str = "tools/call"
            params: _RawParams

        request = _RawRequest(params=_RawParams(name=name, arguments=arguments, _meta=meta))
        return await self.client.session.send_request(request, CallToolResult)


def _share_compiled(session: "ClientSession") -> None:
    """Let a client check results by what another client has compiled from the same schema.

    Compiling takes longer than the call, and the SDK does it once per tool and session. It has no public place for what
    is shared, so that a release which compiles elsewhere costs this time and nothing more.
    """
    compile_anew: Callable[[str, dict[str, Any]], Any] | None = getattr(session, "_output_schema_validator", None)
    if compile_anew is None:
        return
    known: dict[str, tuple[dict[str, Any], Any]] = {}

    def shared(tool: str, schema: dict[str, Any]) -> Any:
        of, compiled = known.get(tool, (None, None))
        if of is not schema:
            compiled = compiled_schema(json.dumps(schema, sort_keys=True))
            if compiled is None:
                return compile_anew(tool, schema)  # which says what is wrong with it
            known[tool] = schema, compiled
        return compiled

    vars(session)["_output_schema_validator"] = shared


@lru_cache(maxsize=1024)
def compiled_schema(schema: str) -> Any:
    """Compile a validator of this schema; None where the schema is wrong, which the SDK then reports."""
    from jsonschema import SchemaError
    from jsonschema.validators import validator_for
    from referencing import Registry

    parsed = loads(schema)
    kind = validator_for(parsed)
    try:
        kind.check_schema(parsed)
    except SchemaError:
        return None
    return kind(parsed, registry=Registry())


def output(result: "CallToolResult") -> ToolOutput:
    """Read an MCP result: its texts in one, and its structured value without the wrapper."""
    text = "\n".join(item.text for item in result.content if item.type == "text")
    if result.is_error:
        return ToolOutput(text, is_error=True)
    structured = deepcopy(result.structured_content)  # in memory it is the server's own, which has recorded it
    return ToolOutput(text, parsed(text) if structured is None else unwrapped(structured))
