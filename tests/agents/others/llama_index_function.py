"""LlamaIndex's function agent, with its own MCP client, which connects anew for every call."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from lines import AgentAnswer, Start, main


@asynccontextmanager
async def converse(start: Start) -> AsyncGenerator["Chat"]:
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.memory import Memory
    from llama_index.llms.openai_like import OpenAILike
    from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

    model = OpenAILike(
        model=start.model,
        api_base=start.base_url,
        api_key=start.key or "none",
        is_chat_model=True,
        is_function_calling_model=True,
        context_window=100_000,
    )
    tools = await McpToolSpec(BasicMCPClient(start.url, headers=dict(start.headers))).to_tool_list_async()
    agent = FunctionAgent(llm=model, tools=tools, system_prompt=start.instructions)
    yield Chat(agent, Memory.from_defaults())


class Chat:
    """One conversation; it forgets what was said unless it is given a memory."""

    def __init__(self, agent: Any, memory: Any) -> None:
        self.agent = agent
        self.memory = memory

    async def turn(self, text: str) -> AgentAnswer:
        return AgentAnswer(str(await self.agent.run(text, memory=self.memory)))


if __name__ == "__main__":
    main(converse)
