"""Microsoft's Agent Framework, with its own MCP client, told to say why a call failed."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from lines import AgentAnswer, Start, main


@asynccontextmanager
async def converse(start: Start) -> AsyncGenerator["Chat"]:
    from agent_framework import Agent, MCPStreamableHTTPTool
    from agent_framework.openai import OpenAIChatCompletionClient

    model = OpenAIChatCompletionClient(
        start.model,
        api_key=start.key or "none",
        base_url=start.base_url,
        function_invocation_configuration={"include_detailed_errors": True},
    )
    tools = MCPStreamableHTTPTool(
        "phone", start.url, static_headers=dict(start.headers), load_prompts=False, approval_mode="never_require"
    )
    async with Agent(model, start.instructions, tools=tools) as agent:
        yield Chat(agent, agent.create_session())


class Chat:
    """One conversation; the session is its memory."""

    def __init__(self, agent: Any, session: Any) -> None:
        self.agent = agent
        self.session = session

    async def turn(self, text: str) -> AgentAnswer:
        return AgentAnswer((await self.agent.run(text, session=self.session)).text)


if __name__ == "__main__":
    main(converse)
