"""The baseline: an echo server on the SDK's low-level server, with as many tools as are asked for and nothing else."""

import sys
from typing import Any

import anyio
from mcp.server import Server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool

ECHO_SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "What to say back, word for word."},
        "times": {"type": "integer", "description": "How often to say it."},
    },
    "required": ["text"],
    "additionalProperties": False,
}
RESULT_SCHEMA = {"type": "object", "properties": {"result": {"type": "string"}}, "required": ["result"]}


def echo_server(tools: int) -> Server[Any]:
    listed = ListToolsResult(
        tools=[
            Tool(
                name=f"echo_{number}",
                description="Say back what was said, as often as is wanted, so that there is something to list.",
                input_schema=ECHO_SCHEMA,
                output_schema=RESULT_SCHEMA,
            )
            for number in range(tools)
        ]
    )

    async def on_list(_: Any, __: Any) -> ListToolsResult:
        return listed

    async def on_call(_: Any, params: CallToolRequestParams) -> CallToolResult:
        text = str((params.arguments or {}).get("text"))
        return CallToolResult(content=[TextContent(text=text)], structured_content={"result": text})

    return Server("bare", on_list_tools=on_list, on_call_tool=on_call, get_tool_input_schema=lambda _: None)


def main() -> None:
    server = echo_server(int(sys.argv[2]))
    if sys.argv[1] == "stdio":
        anyio.run(_stdio, server)
    else:
        import uvicorn

        app = server.streamable_http_app(json_response=True)
        uvicorn.run(
            app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False, timeout_keep_alive=600
        )


async def _stdio(server: Server[Any]) -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    main()
