"""The openai agent: function calling against any OpenAI-compatible chat-completions endpoint, tools taken from MCP.

Policy: the model gets the session's instructions, the tools as they are presented, and every result as text, errors
included; it is never told what else to do. Calls of one answer are one batch. What it writes in place of arguments is
passed on as it is, so that the session can say what is wrong with it. A model that never stops calling is stopped
after ``max_steps`` answers per user message; that is its own doing and counts.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from clients.arguments import as_arguments
from clients.base import (
    Agent,
    AgentError,
    AgentTurn,
    Brief,
    Conversation,
    ToolInfo,
    ToolRequest,
    Tools,
    UnknownAgentError,
)
from sandbox_mcp.users.completions import Answer, Completions, EndpointError, FunctionCall, Usage

if TYPE_CHECKING:
    from clients.settings import AgentSettings

STOPPED = "max_steps"


@dataclass(slots=True)
class _Chatting:
    endpoint: Completions
    max_steps: int
    tools: Tools
    offered: Sequence[Mapping[str, Any]]
    messages: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])

    async def turn(self, message: str) -> AgentTurn:
        self.messages.append({"role": "user", "content": message})
        usage = Usage()
        answer: Answer | None = None
        for _ in range(self.max_steps):
            answer = await self._ask()
            usage += answer.usage
            self.messages.append(answer.message())
            if not answer.calls:
                return AgentTurn(answer.text, self._meta(usage, answer.finish))
            await self._act(answer.calls)
        return AgentTurn(answer.text if answer else "", self._meta(usage, STOPPED))

    async def _ask(self) -> Answer:
        try:
            return await self.endpoint.ask(self.messages, self.offered)
        except EndpointError as error:
            raise AgentError(str(error)) from error

    async def _act(self, calls: Sequence[FunctionCall]) -> None:
        requests = [ToolRequest(call.name, as_arguments(call.arguments)) for call in calls]
        outputs = await self.tools.call_together(requests)
        for call, output in zip(calls, outputs, strict=True):
            self.messages.append({"role": "tool", "tool_call_id": call.id, "content": output.text})

    def _meta(self, usage: Usage, finish: str | None) -> dict[str, Any]:
        return {"model": self.endpoint.settings.model, "usage": usage.to_json(), "finish": finish}


@dataclass(frozen=True, slots=True)
class OpenAIAgent(Agent):
    """Puts every user message to a model, and makes the calls it asks for until it answers."""

    endpoint: Completions
    max_steps: int = 30
    name: str = "openai"
    marks_batches: ClassVar[bool] = True

    @classmethod
    def of(cls, settings: "AgentSettings") -> "OpenAIAgent":
        """The agent with these settings.

        Raises:
            UnknownAgentError: no model is named.
        """
        if not settings.endpoint.model:
            raise UnknownAgentError("the openai agent needs to know which model to ask; name one with --model")
        return cls(Completions(settings.endpoint), settings.max_steps)

    @asynccontextmanager
    async def converse(self, brief: Brief) -> AsyncGenerator[Conversation]:
        """Connect to the tools and list them, once."""
        async with brief.target.connect() as tools:
            offered = [as_function(tool) for tool in await tools.list()]
            system = {"role": "system", "content": brief.instructions}
            yield _Chatting(self.endpoint, self.max_steps, tools, offered, [system])

    def describe(self) -> Mapping[str, Any]:
        """Which model, where, and with which limits."""
        return {**self.endpoint.settings.describe(), "max_steps": self.max_steps}

    async def aclose(self) -> None:
        """Close the connection to the endpoint."""
        await self.endpoint.aclose()


def as_function(tool: ToolInfo) -> dict[str, Any]:
    """A tool in the form that chat completions take."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", "function": function}
