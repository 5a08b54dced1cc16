"""Claude Agent SDK: one client, and so one process of Claude Code, for a whole conversation.

It is set up as Claude Code by itself is, see :mod:`claude_code`, and uses the one that comes with the SDK.
"""

# pyright: basic, reportMissingImports=false

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from claude_code import MessageEvents, as_words, place_for, servers
from lines import AgentAnswer, Start, main


@asynccontextmanager
async def converse(start: Start) -> AsyncGenerator["ClaudeSdkChat"]:
    """Start Claude Code, and keep it for the whole conversation."""
    from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient

    with place_for(start) as place:
        options = ClaudeAgentOptions(
            model=start.model,
            system_prompt=start.instructions,
            mcp_servers=servers(start),
            strict_mcp_config=True,
            allowed_tools=["mcp__sandbox"],
            tools=[],
            setting_sources=[],
            max_turns=start.max_steps,
            cwd=place.work,
            env=dict(place.environment),
            extra_args={"bare": None, "disable-slash-commands": None},
        )
        async with ClaudeSDKClient(options) as client:
            yield ClaudeSdkChat(client)


class ClaudeSdkChat:
    """One conversation; Claude Code is its memory."""

    def __init__(self, client: Any) -> None:
        self.client = client

    async def turn(self, text: str) -> AgentAnswer:
        """Put the message to Claude Code, and wait for its result."""
        from claude_agent_sdk import AssistantMessage, ResultMessage, SystemMessage

        heard = MessageEvents()
        await self.client.query(as_words(text))
        async for message in self.client.receive_response():  # each as the event that the SDK made it of
            if isinstance(message, AssistantMessage):
                heard.take({"type": "assistant", "message": {"id": message.message_id}})
            elif isinstance(message, ResultMessage):
                heard.take({"type": "result", **vars(message)})
            elif isinstance(message, SystemMessage):
                heard.take(message.data)
        return heard.said()


if __name__ == "__main__":
    main(converse)
