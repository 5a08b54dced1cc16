"""Strands, with its own MCP client, which it keeps connected in a thread."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from lines import AgentAnswer, Start, main


@asynccontextmanager
async def converse(start: Start) -> AsyncGenerator["Chat"]:
    from strands import Agent
    from strands.models.openai import OpenAIModel
    from strands.tools.mcp import MCPClient

    model = OpenAIModel(client_args={"base_url": start.base_url, "api_key": start.key or "none"}, model_id=start.model)
    tools = MCPClient(url=start.url, headers=dict(start.headers))
    agent = Agent(model=model, tools=[tools], system_prompt=start.instructions, callback_handler=None)
    try:
        yield Chat(agent)
    finally:
        agent.cleanup()


class Chat:
    """One conversation; the agent's messages are its memory."""

    def __init__(self, agent: Any) -> None:
        self.agent = agent

    async def turn(self, text: str) -> AgentAnswer:
        return AgentAnswer(str(await self.agent.invoke_async(text)).strip())


if __name__ == "__main__":
    main(converse)
