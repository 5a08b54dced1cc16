"""Google's Agent Development Kit: its runner on Gemini, with its own MCP toolset."""
# pyright: basic, reportMissingImports=false, reportMissingModuleSource=false

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from lines import MAX_STEPS, TIMEOUT, AgentAnswer, Start, main

NAME = "assistant"


@asynccontextmanager
async def converse(start: Start) -> AsyncGenerator["AdkChat"]:
    """Connect, and keep one connection for the whole conversation."""
    from google.adk.agents import LlmAgent
    from google.adk.models import Gemini
    from google.adk.runners import InMemoryRunner
    from google.adk.tools.mcp_tool import McpToolset, StreamableHTTPConnectionParams
    from google.genai import types

    options = types.HttpOptions(
        base_url=start.base_url,
        timeout=int(start.timeout * 1000),
        retry_options=types.HttpRetryOptions(attempts=start.retries + 1),
        extra_body={"generationConfig": dict(start.parameters)} if start.parameters else None,
    )
    key = start.key or os.environ.get("GEMINI_API_KEY") or "none"
    at = StreamableHTTPConnectionParams(url=start.url, headers=dict(start.headers), timeout=TIMEOUT)
    agent = LlmAgent(
        name=NAME,
        model=Gemini(model=start.model, client_kwargs={"api_key": key, "http_options": options}),
        instruction=lambda _: start.instructions,  # as text it would be searched for names in braces
        tools=[McpToolset(connection_params=at)],
    )
    runner = InMemoryRunner(agent, app_name=NAME)
    session = await runner.session_service.create_session(app_name=NAME, user_id=NAME)
    try:
        yield AdkChat(runner, session.id, start.max_steps)
    finally:
        await runner.close()


class AdkChat:
    """One conversation; the runner's session is its memory."""

    def __init__(self, runner: Any, session: str, max_steps: int) -> None:
        self.runner = runner
        self.session = session
        self.max_steps = max_steps

    async def turn(self, text: str) -> AgentAnswer:
        """Run the agent until it answers; what its model was kept from saying is its doing, and told as the finish."""
        from google.adk.agents.invocation_context import LlmCallsLimitExceededError
        from google.adk.agents.run_config import RunConfig
        from google.genai import types

        answers: list[Any] = []
        said = types.Content(role="user", parts=[types.Part(text=text)])
        limit = RunConfig(max_llm_calls=self.max_steps)
        run: Any = self.runner.run_async(user_id=NAME, session_id=self.session, new_message=said, run_config=limit)
        try:
            async for event in run:
                answers += [event] if event.usage_metadata else []
        except LlmCallsLimitExceededError:
            return AgentAnswer("", *_used(answers), finish=MAX_STEPS)
        last = answers[-1] if answers else None
        blocked = str(last.error_code) if last and last.error_code else None
        parts = last.content.parts if last and last.content else None
        words = "".join(part.text for part in parts or () if part.text and not part.thought)
        return AgentAnswer(words, *_used(answers), finish=blocked)


def _used(answers: list[Any]) -> tuple[int, int, int]:
    used = [event.usage_metadata for event in answers]
    prompt = sum(usage.prompt_token_count or 0 for usage in used)
    return prompt, sum(usage.candidates_token_count or 0 for usage in used), len(used)


if __name__ == "__main__":
    main(converse)
