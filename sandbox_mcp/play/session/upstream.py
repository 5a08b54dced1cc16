"""A real MCP server to speak to: started as a program, or reached at its URL."""

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TextIO

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Tool
from pydantic import ValidationError

from sandbox_mcp.engine.errors import SandboxError, inner_errors

ConnectMode = Literal["auto", "legacy"]
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
        """A client that is connected to this server."""
        if not self.url:
            started = StdioServerParameters(
                command=self.command[0], args=[*self.command[1:]], env={**os.environ}, cwd=self.folder
            )
            transport = stdio_client(started, self.errors) if self.errors else stdio_client(started)
            async with Client(transport, mode=self.mode) as client:
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


async def tools_of(client: Client) -> list[Tool]:
    """All that a server lists, from all pages.

    Raises:
        SandboxError: there is no end to its pages.
    """
    page = await client.list_tools(cache_mode="bypass")
    found, pages = [*page.tools], 1
    while page.next_cursor is not None:
        if pages >= MOST_PAGES:
            raise SandboxError(f"the server lists its tools without end; it was not asked for more than {pages} pages")
        page = await client.list_tools(cursor=page.next_cursor, cache_mode="bypass")
        found += page.tools
        pages += 1
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
