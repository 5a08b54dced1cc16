"""MCP over the process's standard streams."""

from typing import Any

from mcp.server import Server
from mcp.server.stdio import stdio_server


async def serve_stdio(server: Server[Any]) -> None:
    """Serve one client until it closes the stream."""
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
