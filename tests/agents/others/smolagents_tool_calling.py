"""Smolagents' agent that calls tools, with its own MCP client; it speaks through a tool as well, ``final_answer``."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from lines import AgentAnswer, Start, main


@asynccontextmanager
async def converse(start: Start) -> AsyncGenerator["Chat"]:
    from smolagents import MCPClient, OpenAIModel, ToolCallingAgent

    at = {"url": start.url, "transport": "streamable-http", "headers": dict(start.headers)}
    tools = await asyncio.to_thread(MCPClient, at, structured_output=False)
    model = OpenAIModel(start.model, api_base=start.base_url, api_key=start.key or "none")
    agent = ToolCallingAgent(tools.get_tools(), model, instructions=start.instructions, max_steps=start.max_steps)
    try:
        yield Chat(agent)
    finally:
        tools.disconnect()


class Chat:
    """One conversation; the agent's memory is kept between tasks."""

    def __init__(self, agent: Any) -> None:
        self.agent = agent

    async def turn(self, text: str) -> AgentAnswer:
        return AgentAnswer(str(await asyncio.to_thread(self.agent.run, text, reset=False)))


if __name__ == "__main__":
    main(converse)
