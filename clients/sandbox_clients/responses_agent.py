"""The responses agent: function calling by OpenAI's Responses API, tools taken from MCP.

Policy: the whole conversation goes with every request, and every item of an answer goes back as it came, reasoning
included, so that nothing depends on what the endpoint remembers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from sandbox_clients.base import ToolInfo
from sandbox_clients.chat_agent import Asking, ChatAgent, Output
from sandbox_mcp.engine.trajectory.model_text import cleaned, readable
from sandbox_mcp.engine.trajectory.usage import Usage
from sandbox_mcp.play.models.asking import FunctionCall, ModelAnswer, ModelEndpoint
from sandbox_mcp.play.models.completions import OpenAIEndpoint

_Item = Mapping[str, Any]


class Responses(OpenAIEndpoint):
    """An endpoint that speaks Responses."""

    kind: ClassVar[str] = "response"

    async def _send(self, client: Any, request: Mapping[str, Any]) -> Any:
        create = client.responses.with_raw_response.create
        return await create(model=self.settings.model, **request, extra_body=dict(self.settings.parameters))

    def _read(self, body: Any) -> ModelAnswer:
        return read_response(body)


def read_response(body: Any) -> ModelAnswer:
    """Read a response.

    Raises:
        ValueError: it failed, or has no output.
        LookupError, TypeError, AttributeError: it has another form.
    """
    if body.get("error"):
        raise ValueError(body["error"].get("message") or "it failed")
    incomplete: Mapping[str, Any] = body.get("incomplete_details") or {}
    stopped = incomplete.get("reason")
    items = cast("list[_Item]", body["output"])
    if not items and not stopped:
        raise ValueError("it has no output")
    said, thought = list[str](), list[str]()
    for item in items:
        if item.get("type") == "message":  # a refusal is words like any others
            said += (
                str(part.get(_WORDS_IN[part["type"]]) or "") for part in item["content"] if part["type"] in _WORDS_IN
            )
        elif item.get("type") == "reasoning":
            thought += (str(part.get("text") or "") for part in item.get("summary") or item.get("content") or ())
    calls = tuple(
        FunctionCall(*(readable(str(told)) for told in (item["call_id"], item["name"], item.get("arguments") or "{}")))
        for item in items
        if item.get("type") == "function_call"
    )
    used: Mapping[str, Any] = body.get("usage") or {}
    usage = Usage(int(used.get("input_tokens") or 0), int(used.get("output_tokens") or 0), 1)
    return ModelAnswer(
        readable("".join(said)), calls, usage, stopped or body.get("status"), tuple(cleaned(items)),
        readable("\n".join(thought)).strip(),
    )  # fmt: skip


_WORDS_IN: Mapping[str, str] = {"output_text": "text", "refusal": "refusal"}


@dataclass(slots=True)
class _ResponsesAsking(Asking):
    """A conversation as Responses carry it; ``request`` is what every request has beside the items."""

    endpoint: Responses
    request: Mapping[str, Any]
    items: list[_Item]

    def hear(self, text: str) -> None:
        self.items.append({"role": "user", "content": text})

    async def ask(self) -> ModelAnswer:
        return await self.endpoint.request({**self.request, "input": list(self.items)})

    def keep(self, answer: ModelAnswer) -> None:
        """Take in an answer: its items, or where there are none, its text and its calls."""
        if answer.parts:
            self.items += answer.parts
            return
        if answer.text or not answer.calls:
            self.items.append({"role": "assistant", "content": answer.text})
        for call in answer.calls:
            named = {"call_id": call.id, "name": call.name, "arguments": call.arguments}
            self.items.append({"type": "function_call", **named})

    def give(self, outputs: Sequence[Output]) -> None:
        """Take in outputs, each an item of its own."""
        for call, output in outputs:
            self.items.append({"type": "function_call_output", "call_id": call.id, "output": output.text})


@dataclass(frozen=True, slots=True)
class ResponsesAgent(ChatAgent):
    """Asks a model by Responses."""

    endpoint: Responses
    name: str = "responses"
    called: ClassVar[str] = "responses"
    speaks: ClassVar[type[ModelEndpoint]] = Responses

    def asking(self, instructions: str, tools: Sequence[ToolInfo], stop: Sequence[str] = ()) -> Asking:
        """Begin; the protocol has no way to say where to stop."""
        del stop
        offered = {"tools": [as_function(tool) for tool in tools]} if tools else {}
        return _ResponsesAsking(self.endpoint, {"instructions": instructions, **offered}, [])


def as_function(tool: ToolInfo) -> dict[str, Any]:
    """A tool in the form that Responses take; ``strict`` would demand schemas of a kind that not all tools have."""
    about = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", **about, "strict": False}
