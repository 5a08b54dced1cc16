"""AutoGen's assistant, with the MCP tools of autogen-ext."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from lines import AgentAnswer, Start, main

FAMILY = {"vision": False, "function_calling": True, "json_output": False, "structured_output": False}


@asynccontextmanager
async def converse(start: Start) -> AsyncGenerator["Chat"]:
    from autogen_agentchat.agents import AssistantAgent
    from autogen_ext.models.openai import OpenAIChatCompletionClient
    from autogen_ext.tools.mcp import McpWorkbench, StreamableHttpServerParams

    model = OpenAIChatCompletionClient(
        model=start.model,
        base_url=start.base_url,
        api_key=start.key or "none",
        model_info={**FAMILY, "family": "unknown"},
    )
    async with McpWorkbench(StreamableHttpServerParams(url=start.url, headers=dict(start.headers))) as tools:
        agent = AssistantAgent(
            "assistant",
            model,
            workbench=tools,
            system_message=start.instructions,
            max_tool_iterations=start.max_steps,
        )
        yield Chat(agent)


class Chat:
    """One conversation; the agent's context is its memory."""

    def __init__(self, agent: Any) -> None:
        self.agent = agent

    async def turn(self, text: str) -> AgentAnswer:
        return AgentAnswer((await self.agent.run(task=text)).messages[-1].to_text())


if __name__ == "__main__":
    main(converse)
