"""LangGraph: LangChain's agent on chat completions, with tools from langchain-mcp-adapters.

The adapters open a session for every call unless they are given one, so a conversation keeps one; the parameter
``connection=per_call`` leaves them to themselves.
"""
# pyright: basic, reportMissingImports=false, reportMissingModuleSource=false

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from lines import MAX_STEPS, TIMEOUT, AgentAnswer, Start, main


@asynccontextmanager
async def converse(start: Start) -> AsyncGenerator["LangGraphChat"]:
    """Make the agent; the framework's own checkpoints are its memory."""
    os.environ["LANGSMITH_TRACING"] = "false"
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI
    from langgraph.checkpoint.memory import InMemorySaver

    parameters = dict(start.parameters)
    async with _tools(start, parameters.pop("connection", "kept")) as tools:
        model = ChatOpenAI(
            model=start.model,
            base_url=start.base_url,
            api_key=start.key or "none",
            timeout=start.timeout,
            max_retries=start.retries,
            extra_body=parameters or None,
        )
        agent = create_agent(model, tools, system_prompt=start.instructions, checkpointer=InMemorySaver())
        yield LangGraphChat(agent, start.max_steps)


@asynccontextmanager
async def _tools(start: Start, connection: str) -> AsyncGenerator[list[Any]]:
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from langchain_mcp_adapters.tools import load_mcp_tools

    if connection not in ("kept", "per_call"):
        raise ValueError(f"connection is {connection!r}; expected kept or per_call")
    at: Any = {
        "transport": "streamable_http",
        "url": start.url,
        "headers": dict(start.headers),
        "timeout": timedelta(seconds=TIMEOUT),
    }
    client = MultiServerMCPClient({"sandbox": at})
    if connection == "per_call":
        yield await client.get_tools()
        return
    async with client.session("sandbox") as session:
        yield await load_mcp_tools(session)


class LangGraphChat:
    """One conversation."""

    def __init__(self, agent: Any, max_steps: int) -> None:
        self.agent = agent
        # An answer and the calls in it are a step each.
        self.config: Any = {"configurable": {"thread_id": "1"}, "recursion_limit": 2 * max_steps}

    async def turn(self, text: str) -> AgentAnswer:
        """Run the agent until it answers."""
        from langgraph.errors import GraphRecursionError

        before = len(await self._messages())
        stopped = False
        try:
            await self.agent.ainvoke({"messages": [{"role": "user", "content": text}]}, self.config)
        except GraphRecursionError:
            stopped = True
        answers = [message for message in (await self._messages())[before:] if message.type == "ai"]
        used = [message.usage_metadata or {} for message in answers]
        return AgentAnswer(
            "" if stopped else answers[-1].text,
            sum(usage.get("input_tokens", 0) for usage in used),
            sum(usage.get("output_tokens", 0) for usage in used),
            len(answers),
            finish=MAX_STEPS if stopped else None,
        )

    async def _messages(self) -> list[Any]:
        return (await self.agent.aget_state(self.config)).values.get("messages", [])


if __name__ == "__main__":
    main(converse)
