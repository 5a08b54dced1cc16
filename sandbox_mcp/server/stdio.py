"""MCP over the process's standard streams."""

import sys
from collections.abc import AsyncGenerator
from io import TextIOWrapper
from typing import Any, cast

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server

from sandbox_mcp.server.malformed import mended_line


async def serve_stdio(server: Server[Any]) -> None:
    """Serve one client until it closes the stream."""
    lines = cast("anyio.AsyncFile[str]", _Lines())
    async with stdio_server(stdin=lines) as (read, write):
        await server.run(read, write, server.create_initialization_options())


class _Lines:
    """The lines of stdin, each fit to be read."""

    async def __aiter__(self) -> AsyncGenerator[str]:
        async for line in anyio.wrap_file(TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace")):
            yield mended_line(line)
