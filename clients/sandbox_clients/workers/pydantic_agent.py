"""Pydantic AI: its agent on chat completions, with its own MCP toolset.

A tool's error is a retry to it, and by default the second one of a tool ends the run; here a tool may fail as often as
the model may answer.
"""
# pyright: basic, reportMissingImports=false, reportMissingModuleSource=false

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from lines import MAX_STEPS, TIMEOUT, AgentAnswer, Start, main


@asynccontextmanager
async def converse(start: Start) -> AsyncGenerator["PydanticChat"]:
    """Connect, and keep one connection for the whole conversation."""
    from openai import AsyncOpenAI
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    client = AsyncOpenAI(
        api_key=start.key or "none", base_url=start.base_url, timeout=start.timeout, max_retries=start.retries
    )
    settings: Any = {"extra_body": dict(start.parameters)} if start.parameters else None
    async with client:
        agent = Agent(
            OpenAIChatModel(start.model, provider=OpenAIProvider(openai_client=client)),
            instructions=start.instructions,
            model_settings=settings,
            retries=start.max_steps,
            toolsets=[MCPToolset(start.url, headers=dict(start.headers), init_timeout=TIMEOUT, read_timeout=TIMEOUT)],
        )
        async with agent:
            yield PydanticChat(agent, start.max_steps)


class PydanticChat:
    """One conversation; the framework's own messages are its memory."""

    def __init__(self, agent: Any, max_steps: int) -> None:
        self.agent = agent
        self.max_steps = max_steps
        self.messages: list[Any] = []

    async def turn(self, text: str) -> AgentAnswer:
        """Run the agent until it answers."""
        from pydantic_ai import capture_run_messages
        from pydantic_ai.exceptions import UsageLimitExceeded
        from pydantic_ai.usage import RunUsage, UsageLimits

        usage = RunUsage()
        limits = UsageLimits(request_limit=self.max_steps)
        with capture_run_messages() as messages:
            try:
                result = await self.agent.run(text, message_history=self.messages, usage=usage, usage_limits=limits)
            except UsageLimitExceeded:
                result = None
        self.messages = list(messages)
        took = usage.input_tokens, usage.output_tokens, usage.requests
        return AgentAnswer("", *took, finish=MAX_STEPS) if result is None else AgentAnswer(result.output, *took)


if __name__ == "__main__":
    main(converse)
