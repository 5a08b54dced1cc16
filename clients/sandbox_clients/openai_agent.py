"""The openai agent: function calling against any OpenAI-compatible chat-completions endpoint, tools taken from MCP.

Policy: that of :mod:`sandbox_clients.chat_agent`; nothing is peculiar to this protocol.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sandbox_clients.base import ToolInfo
from sandbox_clients.chat_agent import Asking, ChatAgent, Output
from sandbox_mcp.play.models.asking import ModelAnswer, ModelEndpoint
from sandbox_mcp.play.models.completions import Completions, as_message


@dataclass(slots=True)
class _CompletionsAsking(Asking):
    """A conversation as chat completions carry it; ``request`` is what every request has beside the messages."""

    endpoint: Completions
    messages: list[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]]
    request: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def hear(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    async def ask(self) -> ModelAnswer:
        return await self.endpoint.ask(self.messages, self.tools, **self.request)

    def keep(self, answer: ModelAnswer) -> None:
        self.messages.append(as_message(answer))

    def give(self, outputs: Sequence[Output]) -> None:
        """Take in outputs, each a message of its own."""
        for call, output in outputs:
            self.messages.append({"role": "tool", "tool_call_id": call.id, "content": output.text})


@dataclass(frozen=True, slots=True)
class OpenAIAgent(ChatAgent):
    """Asks a model by chat completions."""

    endpoint: Completions
    name: str = "openai"
    called: ClassVar[str] = "openai"
    speaks: ClassVar[type[ModelEndpoint]] = Completions

    def asking(self, instructions: str, tools: Sequence[ToolInfo], stop: Sequence[str] = ()) -> Asking:
        """Begin with the instructions as the system's message."""
        system = {"role": "system", "content": instructions}
        request = {"stop": list(stop)} if stop else {}
        return _CompletionsAsking(self.endpoint, [system], [as_function(tool) for tool in tools], request)


def as_function(tool: ToolInfo) -> dict[str, Any]:
    """A tool in the form that chat completions take."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", "function": function}
