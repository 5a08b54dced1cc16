"""An agent built with the openai-agents SDK that knows nothing of this project: it gets a URL, and lines to answer.

Usage: python openai_agents_process.py MCP_URL PROTOCOL, with one JSON text per line on stdin and on stdout.
"""

import asyncio
import json
import os
import sys
from typing import Any

from agents import Agent, Runner, set_default_openai_api, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp


async def main(url: str, protocol: Any) -> None:
    set_tracing_disabled(disabled=True)
    set_default_openai_api(protocol)
    headers = {"Authorization": f"Bearer {os.environ['SESSION_BEARER']}"}
    async with MCPServerStreamableHttp(params={"url": url, "headers": headers}) as server:
        agent = Agent(name="assistant", instructions="Help the user.", mcp_servers=[server], model="some-model")
        history: list[Any] = []
        for line in iter(sys.stdin.readline, ""):
            result = await Runner.run(agent, [*history, {"role": "user", "content": json.loads(line)}], max_turns=20)
            history = result.to_input_list()
            print(json.dumps(result.final_output), flush=True)  # noqa: T201


asyncio.run(main(sys.argv[1], sys.argv[2]))
