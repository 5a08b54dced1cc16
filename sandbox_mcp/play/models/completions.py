"""OpenAI's chat completions, which endpoints of all kinds speak: one question, asked by the llm user and by agents.

Policy: what endpoints write in other ways than OpenAI's own, such as calls without ids, is read all the same. What is
fed back is written anew, so that an endpoint gets the protocol's own fields and, beside them, only the reasoning that
it sent: several providers refuse a call's result without it. A refusal is words like any others.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, cast

from sandbox_mcp.engine.trajectory.model_text import cleaned, readable
from sandbox_mcp.engine.trajectory.usage import Usage
from sandbox_mcp.play.models.asking import OPENAI, FunctionCall, ModelAnswer, ModelEndpoint, Provider, bounded_client

_SIGNED = ("reasoning_details", "thinking_blocks", "extra_content")
"""Members that carry a model's reasoning, or a signature of it, and go back wherever they came with (OpenRouter,
LiteLLM, Gemini)."""
_THOUGHT = ("reasoning_content", "reasoning")
"""Members with reasoning in words (DeepSeek, vLLM, OpenRouter). They go back with calls, whose results need them; some
endpoints refuse them with an answer that is over."""


class OpenAIEndpoint(ModelEndpoint):
    """A connection by OpenAI's client."""

    provider: ClassVar[Provider] = OPENAI

    def _open(self) -> Any:
        from openai import AsyncOpenAI

        settings = self.settings
        return AsyncOpenAI(
            api_key=settings.key or "none", base_url=settings.url, timeout=settings.timeout, max_retries=0,
            http_client=bounded_client(self.provider),
        )  # fmt: skip


class Completions(OpenAIEndpoint):
    """An endpoint that speaks chat completions."""

    kind: ClassVar[str] = "chat completion"

    async def ask(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], **more: Any
    ) -> ModelAnswer:
        """Ask for the next message; ``more`` goes into the request.

        Raises:
            EndpointError: there was no usable answer.
        """
        offered = {"tools": list(tools)} if tools else {}
        return await self.request({"messages": list(messages), **offered, **more})

    async def _send(self, client: Any, request: Mapping[str, Any]) -> Any:
        create = client.chat.completions.with_raw_response.create
        return await create(model=self.settings.model, **request, extra_body=dict(self.settings.parameters))

    def _read(self, body: Any) -> ModelAnswer:
        return read_answer(body)


def as_message(answer: ModelAnswer) -> dict[str, Any]:
    """An answer as the next message of the conversation."""
    if answer.parts:
        return dict(answer.parts[0])
    message: dict[str, Any] = {"role": "assistant", "content": answer.text if answer.text or not answer.calls else None}
    if answer.calls:
        message["tool_calls"] = list(map(as_tool_call, answer.calls))
    return message


def as_tool_call(call: FunctionCall) -> dict[str, Any]:
    """A call as the protocol has it in a message of the assistant's."""
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def read_answer(body: Any) -> ModelAnswer:
    """The first choice of a chat completion; some endpoints send text in parts, or arguments as an object.

    Raises:
        ValueError: it has no choice.
        LookupError, TypeError, AttributeError: it has another form.
    """
    if not body["choices"]:
        raise ValueError("it has no choice")
    choice = body["choices"][0]
    message: Mapping[str, Any] = choice["message"]
    calls: list[FunctionCall] = []
    asked: Sequence[Mapping[str, Any]] = message.get("tool_calls") or ()
    for index, call in enumerate(asked):
        function = call["function"]
        given = function.get("arguments") or "{}"
        arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        id_ = readable(str(call.get("id") or f"call_{index}"))
        calls.append(FunctionCall(id_, readable(str(function["name"])), readable(arguments)))
    text = readable(_words(message))
    used: Mapping[str, Any] = body.get("usage") or {}
    usage = Usage(int(used.get("prompt_tokens") or 0), int(used.get("completion_tokens") or 0), 1)
    answer = ModelAnswer(text, tuple(calls), usage, choice.get("finish_reason"), reasoning=_reasoning(message))
    again = {name: cleaned(message[name]) for name in _SIGNED if message.get(name)}
    if calls:
        again |= {name: cleaned(message[name]) for name in _THOUGHT if message.get(name)}
    signed = [{name: cleaned(call[name]) for name in _SIGNED if call.get(name)} for call in asked]
    if not again and not any(signed):
        return answer
    written = as_message(answer) | again
    for call, more in zip(written.get("tool_calls", ()), signed, strict=True):
        call.update(more)
    return replace(answer, parts=(written,))


def _words(message: Mapping[str, Any]) -> str:
    """The words of a message, which may be a text or parts, or else its refusal."""
    content = message.get("content")
    if not isinstance(content, list):
        return content or message.get("refusal") or ""
    parts = cast("list[Mapping[str, Any]]", content)
    said = "".join(str(part["text"]) for part in parts if part.get("type") == "text")
    refused = (str(part.get("refusal") or "") for part in parts if part.get("type") == "refusal")
    return said or "".join(refused) or message.get("refusal") or ""


def _reasoning(message: Mapping[str, Any]) -> str:
    """What a model thought, in words."""
    told = next((message[name] for name in _THOUGHT if isinstance(message.get(name), str)), "")
    details: object = message.get("reasoning_details")
    if not told and isinstance(details, list):
        parts = [cast("Mapping[str, Any]", part) for part in cast("list[object]", details) if isinstance(part, dict)]
        told = "\n".join(str(part.get("text") or part.get("summary") or "") for part in parts)
    return readable(told).strip()
