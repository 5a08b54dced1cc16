"""One question to an OpenAI-compatible chat-completions endpoint, asked by the LLM user and by the openai agent.

Policy: faults that may pass (429, 408, 409, 5xx, a lost or silent connection, half an answer, an answer that is none)
are retried with back-off, and ``Retry-After`` is honoured; faults that will not pass are told at once. No fault is an
answer.
"""

import json
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast
from urllib.parse import urlsplit, urlunsplit

from sandbox_mcp.users.text import readable

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI, OpenAIError

KEY_VARIABLE = "OPENAI_API_KEY"
URL_VARIABLE = "OPENAI_BASE_URL"
DEFAULT_URL = "https://api.openai.com/v1"
PASSING = frozenset({408, 409, 429})
"""Statuses below 500 that are worth another try."""
LONGEST_PAUSE = 60.0
"""Seconds waited at most between two tries, whatever the endpoint asks for."""

Sleep = Callable[[float], Awaitable[None]]


class EndpointError(Exception):
    """The endpoint gave no usable answer, however often it was asked."""


class _Fault(Exception):
    """One failed try; ``after`` is how many seconds the endpoint asked to wait."""

    def __init__(self, problem: str, *, passing: bool, after: float | None = None) -> None:
        self.passing = passing
        self.after = after
        super().__init__(problem)


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """Which endpoint, which model, and how patient to be.

    ``key_variable`` names the environment variable with the API key, None the provider's own; the key itself is kept
    nowhere. ``parameters`` go into every request as they are, for example ``temperature``. ``timeout`` is in seconds,
    per request.
    """

    model: str = ""
    base_url: str | None = None
    key_variable: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    timeout: float = 120.0
    retries: int = 5
    pause: float = 1.0

    @property
    def url(self) -> str:
        """Where the endpoint is: as given, or as the environment says, or OpenAI's own."""
        return self.base_url or os.environ.get(URL_VARIABLE) or DEFAULT_URL

    def describe(self) -> Mapping[str, Any]:
        """What a log may say of it: no key, and no credentials in the address."""
        parts = urlsplit(self.url)
        address = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
        return {"model": self.model, "base_url": address, "parameters": dict(self.parameters)}


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call that a model asked for; ``arguments`` is the text it wrote."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens read and written, and how many requests it took, failed ones not counted."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    requests: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.requests + other.requests,
        )

    def to_json(self) -> dict[str, int]:
        """As a log has it."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "requests": self.requests,
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model said: text, calls, or both. ``finish`` is why it stopped, as the endpoint names it."""

    text: str
    calls: tuple[FunctionCall, ...]
    usage: Usage
    finish: str | None = None

    def message(self) -> dict[str, Any]:
        """The answer as the next message of the conversation."""
        message: dict[str, Any] = {"role": "assistant", "content": self.text if self.text or not self.calls else None}
        if self.calls:
            message["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in self.calls
            ]
        return message


class Asking(Protocol):
    """Anything that answers like a chat-completions endpoint."""

    async def ask(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> Answer:
        """Ask for the next message.

        Raises:
            EndpointError: there was no usable answer.
        """
        ...


class Completions:
    """A connection to one endpoint, shared by all who ask it; opened with the first question."""

    def __init__(self, settings: EndpointSettings, sleep: Sleep | None = None) -> None:
        self.settings = settings
        self._sleep = sleep
        self._client: AsyncOpenAI | None = None

    async def ask(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> Answer:
        """Ask for the next message, as often as it takes and ``retries`` allows.

        Raises:
            EndpointError: there was no usable answer.
        """
        for tried in range(self.settings.retries + 1):
            try:
                return await self._once(messages, tools)
            except _Fault as fault:
                if not fault.passing or tried == self.settings.retries:
                    times = f" ({tried + 1} tries)" if tried else ""
                    raise EndpointError(
                        f"model endpoint {self.settings.describe()['base_url']}: {fault}{times}"
                    ) from fault
                await self._wait(tried, fault.after)
        raise AssertionError("unreachable")

    async def aclose(self) -> None:
        """Close the connection; the next question would open another."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _once(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> Answer:
        from openai import OpenAIError

        request: dict[str, Any] = {"model": self.settings.model, "messages": list(messages), **self.settings.parameters}
        if tools:
            request["tools"] = list(tools)
        try:
            create: Any = self._opened().chat.completions.with_raw_response.create
            return read_answer(json.loads((await create(**request)).content))
        except OpenAIError as error:
            raise _fault(error) from error
        except (ValueError, LookupError, TypeError) as error:
            raise _Fault(f"the answer is no chat completion: {error}", passing=True) from error

    async def _wait(self, tried: int, after: float | None) -> None:
        import anyio

        pause = self.settings.pause * 2.0**tried if after is None else after
        await (self._sleep or anyio.sleep)(min(pause, LONGEST_PAUSE))

    def _opened(self) -> "AsyncOpenAI":
        if self._client is None:
            from openai import AsyncOpenAI

            key = os.environ.get(self.settings.key_variable or KEY_VARIABLE) or "none"
            self._client = AsyncOpenAI(
                api_key=key, base_url=self.settings.url, timeout=self.settings.timeout, max_retries=0
            )
        return self._client


def read_answer(body: Any) -> Answer:
    """The first choice of a chat completion.

    Raises:
        ValueError: it has none, or says neither a text nor a call.
        LookupError, TypeError: it has another form.
    """
    choice = body["choices"][0]
    message = choice["message"]
    calls = tuple(_call(index, call) for index, call in enumerate(message.get("tool_calls") or ()))
    return Answer(_text(message.get("content")), calls, _usage(body.get("usage") or {}), choice.get("finish_reason"))


def _call(index: int, call: Mapping[str, Any]) -> FunctionCall:
    """One call; some endpoints leave ids out, or send arguments as an object."""
    function = call["function"]
    arguments = function.get("arguments") or "{}"
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return FunctionCall(str(call.get("id") or f"call_{index}"), readable(str(function["name"])), readable(text))


def _text(content: Any) -> str:
    """A message's text; some endpoints send it in parts."""
    if content is None or isinstance(content, str):
        return readable(content or "")
    parts = cast("list[Mapping[str, Any]]", content)
    return readable("".join(str(part["text"]) for part in parts if part.get("type") == "text"))


def _usage(usage: Mapping[str, Any]) -> Usage:
    return Usage(int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0), 1)


def _fault(error: "OpenAIError") -> _Fault:
    from openai import APIConnectionError, APIStatusError, APITimeoutError

    if isinstance(error, APIStatusError):
        status = error.status_code
        return _Fault(
            f"status {status}: {_line(_said(error))}",
            passing=status >= 500 or status in PASSING,
            after=_retry_after(error.response.headers.get("retry-after")),
        )
    if isinstance(error, APITimeoutError):
        return _Fault("no answer in time", passing=True)
    if isinstance(error, APIConnectionError):
        return _Fault(f"connection failed: {_line(str(error.__cause__ or error))}", passing=True)
    return _Fault(_line(str(error)), passing=False)


def _said(error: "APIStatusError") -> str:
    """What the endpoint itself said about its refusal."""
    body: Any = error.body
    message = body.get("message") if isinstance(body, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return str(message or error.response.text or error.message)  # pyright: ignore[reportUnknownArgumentType]


def _retry_after(header: str | None) -> float | None:
    """Seconds to wait; a date, which endpoints for models do not send, counts as none."""
    try:
        return max(0.0, float(header)) if header else None
    except ValueError:
        return None


def _line(text: str, limit: int = 200) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[:limit]}..."
