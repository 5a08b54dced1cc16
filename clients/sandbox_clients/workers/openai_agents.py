"""OpenAI Agents SDK: its runner with its own MCP client, on chat completions or Responses.

The SDK lists the tools anew for every answer, gives a call five seconds, and ends its run where the model calls a tool
that is not there, unless told otherwise.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from lines import MAX_STEPS, TIMEOUT, AgentAnswer, Start, main


@asynccontextmanager
async def converse(start: Start) -> AsyncGenerator["OpenAIAgentsChat"]:
    """Connect, and keep one connection for the whole conversation."""
    from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, OpenAIResponsesModel, set_tracing_disabled
    from agents.mcp import MCPServerStreamableHttp
    from openai import AsyncOpenAI

    set_tracing_disabled(disabled=True)
    parameters = dict(start.parameters)
    model_class = OpenAIResponsesModel if parameters.pop("api", "chat") == "responses" else OpenAIChatCompletionsModel
    client = AsyncOpenAI(
        api_key=start.key or "none", base_url=start.base_url, timeout=start.timeout, max_retries=start.retries
    )
    at: Any = {"url": start.url, "headers": dict(start.headers)}
    async with (
        client,
        MCPServerStreamableHttp(at, client_session_timeout_seconds=TIMEOUT, cache_tools_list=True) as server,
    ):
        agent = Agent(
            name="assistant",
            instructions=start.instructions,
            mcp_servers=[server],
            model=model_class(start.model, client),
            model_settings=ModelSettings(extra_body=parameters or None),
        )
        yield OpenAIAgentsChat(agent, start.max_steps)


class OpenAIAgentsChat:
    """One conversation; the SDK's own input list is its memory."""

    def __init__(self, agent: Any, max_steps: int) -> None:
        self.agent = agent
        self.max_steps = max_steps
        self.said: list[Any] = []

    async def turn(self, text: str) -> AgentAnswer:
        """Run the agent until it answers."""
        from agents import RunConfig, Runner
        from agents.exceptions import MaxTurnsExceeded

        self.said.append({"role": "user", "content": text})
        try:
            told = RunConfig(tool_not_found_behavior="return_error_to_model")
            result = await Runner.run(self.agent, self.said, max_turns=self.max_steps, run_config=told)
        except MaxTurnsExceeded as stopped:
            run: Any = stopped.run_data  # what was done until then stays in memory, and was paid for
            self.said += [item.to_input_item() for item in run.new_items]
            return AgentAnswer("", *_used(run), finish=MAX_STEPS)
        self.said = result.to_input_list()
        return AgentAnswer(str(result.final_output), *_used(result))


def _used(run: Any) -> tuple[int, int, int]:
    usage = run.context_wrapper.usage
    return usage.input_tokens, usage.output_tokens, usage.requests


if __name__ == "__main__":
    main(converse)
