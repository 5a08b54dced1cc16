"""A small MCP server with a state, for the mirror to stand before."""

from typing import Any

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ImageContent,
    ListToolsResult,
    TextContent,
    Tool,
    ToolAnnotations,
)

WHOLE = {"type": "object", "properties": {"count": {"type": "integer"}, "note": {"type": ["string", "null"]}}}
BY = {"type": "object", "properties": {"by": {"type": "integer"}, "pin": {"type": "string"}}, "required": ["by"]}
LOOKS = ToolAnnotations(read_only_hint=True)
count = 0


async def listed(_: Any, __: Any) -> ListToolsResult:
    return ListToolsResult(
        tools=[
            Tool(name="read-count", description="The count.", input_schema={"type": "object"}, output_schema=WHOLE,
                 annotations=LOOKS),
            Tool(name="increase", description="Count on.", input_schema=BY),
            Tool(name="picture", description="How it looks.", input_schema={"type": "object"}, annotations=LOOKS),
        ]
    )  # fmt: skip


async def called(_: Any, params: CallToolRequestParams) -> CallToolResult:
    global count
    given = params.arguments or {}
    if params.name == "read-count":
        return CallToolResult(content=[], structured_content={"count": count, "note": None})
    if params.name == "picture":
        return CallToolResult(content=[ImageContent(type="image", data="AAAA", mime_type="image/png")])
    if given["by"] < 0:
        return CallToolResult(
            content=[TextContent(type="text", text=f"{given['pin']} may not count down")], is_error=True
        )
    count += given["by"]
    return CallToolResult(content=[TextContent(type="text", text=f"  {count} it is — now\n")])


async def main() -> None:
    server: Server[Any] = Server(
        "counter", version="7", instructions="Count.", on_list_tools=listed, on_call_tool=called
    )
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
