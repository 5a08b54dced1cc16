"""The anthropic agent: tool use by Anthropic's Messages API, tools taken from MCP.

Policy: the content of every answer goes back as it came, thinking included. All results of one answer go into one
message, refusals marked as errors. A message that says nothing is left out, because the protocol knows none.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from sandbox_clients.base import ToolInfo
from sandbox_clients.chat_agent import Asking, ChatAgent, Output
from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.trajectory.model_text import cleaned, readable
from sandbox_mcp.engine.trajectory.usage import Usage
from sandbox_mcp.play.models.asking import ANTHROPIC, FunctionCall, ModelAnswer, ModelEndpoint, Provider, bounded_client

_Block = Mapping[str, Any]
MAX_TOKENS = 8192
"""Tokens of one answer, which every request has to limit; ``--param max_tokens=N`` says otherwise."""


class Messages(ModelEndpoint):
    """An endpoint that speaks Messages."""

    provider: ClassVar[Provider] = ANTHROPIC
    kind: ClassVar[str] = "message"

    def _open(self) -> Any:
        from anthropic import AsyncAnthropic

        settings = self.settings
        root = settings.url.rstrip("/").removesuffix("/v1")
        return AsyncAnthropic(
            api_key=settings.key or "none", base_url=root, timeout=settings.timeout, max_retries=0,
            http_client=bounded_client(self.provider),
        )  # fmt: skip

    async def _send(self, client: Any, request: Mapping[str, Any]) -> Any:
        create = client.messages.with_raw_response.create
        named = {"model": self.settings.model, "max_tokens": MAX_TOKENS}
        return await create(**named, **request, extra_body=dict(self.settings.parameters))

    def _read(self, body: Any) -> ModelAnswer:
        return read_message(body)


def read_message(body: Any) -> ModelAnswer:
    """Read a message of the model.

    Raises:
        ValueError: it has neither content nor a reason to have none.
        LookupError, TypeError, AttributeError: it has another form.
    """
    blocks = cast("list[_Block]", body["content"])
    finish = body.get("stop_reason")
    if not blocks and not finish:
        raise ValueError("it has no content")
    text = readable("".join(str(block["text"]) for block in blocks if block.get("type") == "text"))
    calls: list[FunctionCall] = []
    for block in blocks:
        if block.get("type") == "tool_use":  # input that is not an object stays as it is, for the session to judge
            given = block["input"]
            arguments = readable(given) if isinstance(given, str) else json.dumps(given)
            calls.append(FunctionCall(readable(str(block["id"])), readable(str(block["name"])), arguments))
    counts: Mapping[str, Any] = body.get("usage") or {}  # what a cache held is counted apart there, and together here
    read = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    usage = Usage(sum(int(counts.get(name) or 0) for name in read), int(counts.get("output_tokens") or 0), 1)
    thought = "\n".join(str(block.get("thinking") or "") for block in blocks if block.get("type") == "thinking")
    return ModelAnswer(text, tuple(calls), usage, finish, tuple(cleaned(blocks)), readable(thought).strip())


@dataclass(slots=True)
class _MessagesAsking(Asking):
    """A conversation as Messages carry it; ``request`` is what every request has beside the messages."""

    endpoint: Messages
    request: Mapping[str, Any]
    messages: list[dict[str, Any]]

    def hear(self, text: str) -> None:
        self._add("user", [{"type": "text", "text": text}])

    async def ask(self) -> ModelAnswer:
        return await self.endpoint.request({**self.request, "messages": list(self.messages)})

    def keep(self, answer: ModelAnswer) -> None:
        """Take in an answer: its blocks, or where there are none, its text and its calls."""
        asked = (
            {"type": "tool_use", "id": call.id, "name": call.name, "input": loads(call.arguments)}
            for call in answer.calls
        )
        blocks = answer.parts or ({"type": "text", "text": answer.text}, *asked)
        self._add("assistant", [block for block in blocks if block.get("type") != "text" or block["text"].strip()])

    def give(self, outputs: Sequence[Output]) -> None:
        """Take in outputs, all in one message."""
        results: list[_Block] = []
        for call, output in outputs:
            failed = {"is_error": True} if output.is_error else {}
            results.append({"type": "tool_result", "tool_use_id": call.id, "content": output.text, **failed})
        self._add("user", results)

    def _add(self, role: str, blocks: list[_Block]) -> None:
        """Add blocks to the conversation, to the last message if it is of the same role."""
        if self.messages and self.messages[-1]["role"] == role:
            self.messages[-1] = {"role": role, "content": [*self.messages[-1]["content"], *blocks]}
        elif blocks:
            self.messages.append({"role": role, "content": blocks})


@dataclass(frozen=True, slots=True)
class AnthropicAgent(ChatAgent):
    """Asks a model by Messages."""

    endpoint: Messages
    name: str = "anthropic"
    called: ClassVar[str] = "anthropic"
    speaks: ClassVar[type[ModelEndpoint]] = Messages

    def asking(self, instructions: str, tools: Sequence[ToolInfo], stop: Sequence[str] = ()) -> Asking:
        """Begin with the instructions as the system's text."""
        offered = {"tools": [as_tool(tool) for tool in tools]} if tools else {}
        stopping = {"stop_sequences": list(stop)} if stop else {}
        return _MessagesAsking(self.endpoint, {"system": instructions, **offered, **stopping}, [])


def as_tool(tool: ToolInfo) -> dict[str, Any]:
    """A tool in the form that Messages take."""
    return {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
