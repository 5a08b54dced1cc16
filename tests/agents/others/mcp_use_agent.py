"""mcp-use, with LangChain's model and its own MCP client."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from lines import AgentAnswer, Start, main


@asynccontextmanager
async def converse(start: Start) -> AsyncGenerator["Chat"]:
    from langchain_openai import ChatOpenAI
    from mcp_use import MCPAgent, MCPClient

    model = ChatOpenAI(model=start.model, base_url=start.base_url, api_key=start.key or "none")
    client = MCPClient({"mcpServers": {"phone": {"url": start.url, "headers": dict(start.headers)}}})
    agent = MCPAgent(model, client, max_steps=start.max_steps, system_prompt=start.instructions)
    try:
        yield Chat(agent)
    finally:
        await agent.close()
        await client.close_all_sessions()


class Chat:
    """One conversation; the agent remembers it."""

    def __init__(self, agent: Any) -> None:
        self.agent = agent

    async def turn(self, text: str) -> AgentAnswer:
        return AgentAnswer(str(await self.agent.run(text)))


if __name__ == "__main__":
    main(converse)
