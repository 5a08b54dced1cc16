"""A real MCP server to speak to: started as a program, or reached at its URL."""

import logging
import os
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TextIO, cast

import anyio
from mcp import Client, MCPError, StdioServerParameters
from mcp.client import Transport
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import (
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    Tool,
)
from pydantic import ValidationError

from sandbox_mcp.engine.errors import SandboxError, inner_errors

ConnectMode = Literal["auto", "legacy"]
_ID = re.compile(r'"id"\s{0,9}:\s{0,9}(?:(-?\d{1,18})|"([^"\\]{0,100})")')
MOST_PAGES = 1000
"""On how many pages a server may list its tools."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """A command with its arguments, or a URL with headers.

    ``folder`` is where a command is started, and ``errors`` where its messages go. ``mode`` is the protocol's era.
    """

    command: tuple[str, ...] = ()
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    folder: Path | None = None
    errors: TextIO | None = None
    mode: ConnectMode = "auto"

    @asynccontextmanager
    async def connected(self) -> AsyncGenerator[Client]:
        """A client connected to this server."""
        if not self.url:
            started = StdioServerParameters(
                command=self.command[0], args=[*self.command[1:]], env={**os.environ}, cwd=self.folder
            )
            transport = stdio_client(started, self.errors) if self.errors else stdio_client(started)
            async with Client(answering(transport), mode=self.mode) as client:
                yield client
            return
        import httpx2

        refused: list[str] = []

        async def note(response: httpx2.Response) -> None:
            if response.is_error:
                refused.append(f"{response.status_code} {response.reason_phrase}".strip())

        async with AsyncExitStack() as held:
            hooks = {"response": [note]}
            http = httpx2.AsyncClient(headers=dict(self.headers), timeout=None, event_hooks=hooks)
            await held.enter_async_context(http)
            try:
                client = await held.enter_async_context(
                    Client(streamable_http_client(self.url, http_client=http), mode=self.mode)
                )
            except Exception as error:
                if not refused:
                    raise
                remedy = "; --header gives it what it asks for" if refused[-1].startswith(("401", "403")) else ""
                raise SandboxError(f"the server {self.url!r} answered {refused[-1]}{remedy}") from error
            yield client


@asynccontextmanager
async def answering(transport: Transport) -> AsyncGenerator[tuple[Any, Any]]:
    """A connection over stdio on which an answer that cannot be read is an error of its call.

    The SDK drops such a line (a null result, half a surrogate pair, 400 levels of lists), and its call would wait for
    ever. Lines that are no messages, such as what a server prints for its author, stay dropped.
    """
    logging.getLogger("mcp.client.stdio").addFilter(_in_one_line)
    waiting = dict[str, RequestId]()
    async with transport as (read, write), anyio.create_task_group() as tasks:
        to_client, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        writing, from_client = anyio.create_memory_object_stream[SessionMessage](0)

        async def receive() -> None:
            async with to_client:
                async for item in read:
                    if isinstance(item, SessionMessage):
                        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
                            waiting.pop(str(item.message.id), None)
                        await to_client.send(item)
                    elif isinstance(item, ValidationError) and (answered := _meant_by(item, waiting)) is not None:
                        told = ErrorData(code=PARSE_ERROR, message=f"its answer cannot be read: {_unreadable(item)}")
                        error = JSONRPCError(jsonrpc="2.0", id=waiting.pop(answered), error=told)
                        await to_client.send(SessionMessage(error))

        async def send() -> None:
            async with from_client:
                async for message in from_client:
                    if isinstance(message.message, JSONRPCRequest):
                        waiting[str(message.message.id)] = message.message.id
                    await write.send(message)

        tasks.start_soon(_until_closed, receive)
        tasks.start_soon(_until_closed, send)
        try:
            yield reading, writing
        finally:
            tasks.cancel_scope.cancel()
            for stream in (to_client, reading, writing, from_client):
                stream.close()


async def _until_closed(pump: Callable[[], Awaitable[None]]) -> None:
    """Run until one of both sides is gone."""
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
        await pump()


def _unreadable(error: ValidationError) -> str:
    """Fault of a line, seen as the answer that it was to be."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    first = next((fault for fault in faults if fault["loc"][:1] == ("JSONRPCResponse",)), faults[0])
    return ": ".join((*map(str, first["loc"][1:]), first["msg"]))


def _in_one_line(record: logging.LogRecord) -> bool:
    """Error of the SDK on a line that is not a message, without the place in the SDK's own code."""
    record.exc_info = None
    return True


def _meant_by(error: ValidationError, waiting: Mapping[str, RequestId]) -> str | None:
    """The request that an unreadable line answers: the one whose id it has, or the only one that waits."""
    for fault in error.errors(include_url=False, include_context=False):
        line: Any = fault["input"]
        if isinstance(line, Mapping):
            named = [str(cast("Mapping[str, Any]", line).get("id"))]
        elif isinstance(line, str) and line.lstrip().startswith("{") and '"jsonrpc"' in line:
            named = [found[1] or found[2] for found in _ID.finditer(line)]
        else:
            continue
        known = [name for name in named if name in waiting]
        return known[0] if known else next(iter(waiting)) if len(waiting) == 1 else None
    return None


async def tools_of(client: Client) -> list[Tool]:
    """All that a server lists, from all pages.

    Raises:
        SandboxError: there is no end to its pages, or one cannot be read.
    """
    try:
        page = await client.list_tools(cache_mode="bypass")
        found, pages = [*page.tools], 1
        while page.next_cursor is not None:
            if pages >= MOST_PAGES:
                told = f"the server lists its tools without end; it was not asked for more than {pages} pages"
                raise SandboxError(told)
            page = await client.list_tools(cursor=page.next_cursor, cache_mode="bypass")
            found += page.tools
            pages += 1
    except MCPError as error:
        raise SandboxError(f"the server lists no tools: {error}") from error
    except ValidationError as error:
        raise SandboxError(f"the server lists its tools in a form that is not MCP's: {fault_in(error)}") from error
    return found


def wire(message: Any) -> dict[str, Any]:
    """A message of the protocol as it travels."""
    found = message.model_dump(by_alias=True, mode="json", exclude_none=True)
    found.pop("resultType", None)
    return found


def unreachable(place: str, error: Exception) -> SandboxError:
    """What to say of a server that could not be connected to, in one line."""
    cause = inner_errors(error)[0]
    if isinstance(cause, SandboxError):
        return cause
    if isinstance(cause, ValidationError):
        return SandboxError(f"the server {place!r} answers in a form that is not MCP's: {fault_in(cause)}")
    told = cause.strerror if isinstance(cause, OSError) and cause.strerror else f"{type(cause).__name__}: {cause}"
    return SandboxError(f"cannot reach the server {place!r}: {told}")


def fault_in(error: ValidationError) -> str:
    """The first fault, in one line, without the value."""
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
