"""An agent built with the openai-agents SDK that knows nothing of this project: it gets a URL, and lines to answer.

Each line on stdin is JSON. An object begins a conversation: ``url`` and ``bearer`` of an MCP server, ``model_url``, and
``protocol``, in which the model is asked. A text is what the user says; the answer is a text on a line of stdout.
"""

import asyncio
import json
import sys
from collections.abc import Mapping
from typing import Any

from agents import Agent, Runner, set_default_openai_api, set_default_openai_client, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp
from openai import AsyncOpenAI


async def converse(url: str, bearer: str, model_url: str, protocol: Any) -> Mapping[str, Any] | None:
    """Answer until the next conversation begins, which is returned."""
    set_tracing_disabled(disabled=True)
    set_default_openai_api(protocol)
    headers = {"Authorization": f"Bearer {bearer}"}
    async with (
        AsyncOpenAI(base_url=model_url, api_key="any") as model,
        MCPServerStreamableHttp(params={"url": url, "headers": headers}) as server,
    ):
        set_default_openai_client(model, use_for_tracing=False)
        agent = Agent(name="assistant", instructions="Help the user.", mcp_servers=[server], model="some-model")
        history: list[Any] = []
        for line in iter(sys.stdin.readline, ""):
            said = json.loads(line)
            if not isinstance(said, str):
                return said
            result = await Runner.run(agent, [*history, {"role": "user", "content": said}], max_turns=20)
            history = result.to_input_list()
            print(json.dumps(result.final_output), flush=True)  # noqa: T201
    return None


begun: Mapping[str, Any] | None = json.loads(sys.stdin.readline())
while begun:
    begun = asyncio.run(converse(**begun))
