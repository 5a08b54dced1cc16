"""Requests to a model, whatever the protocol: the endpoint, the patience, and the answer.

Policy: faults that may pass (429, 408, 409, 5xx, a lost or silent connection, an answer cut off or malformed)
are retried with back-off, and ``Retry-After`` is honoured; faults that will not pass are told at once. No fault is an
answer.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, cast
from urllib.parse import urlsplit, urlunsplit

from sandbox_mcp.engine.bounded import TooLargeError
from sandbox_mcp.engine.trajectory.model_text import strict_json
from sandbox_mcp.engine.trajectory.usage import Usage
from sandbox_mcp.play.models.retrying import FailedTry, Pacing, insist, one_line, refused

REFUSED_KEY = frozenset({401, 403})
"""Statuses with which an endpoint refuses a key, or the lack of one."""


LARGEST_ANSWER = 1 << 26
"""Bytes of an answer as it is sent; far more than any model writes at once."""


class EndpointError(Exception):
    """The endpoint gave no usable answer, however often it was asked."""


@dataclass(frozen=True, slots=True)
class Provider:
    """Origin of a protocol: its own address, and the variables that people keep another one and the key in.

    ``package`` has the provider's client.
    """

    url: str
    url_variable: str
    key_variable: str
    package: str


OPENAI = Provider("https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY", "openai")
ANTHROPIC = Provider("https://api.anthropic.com", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "anthropic")


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """Endpoint, model and patience.

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
    provider: Provider = OPENAI

    @property
    def url(self) -> str:
        """Address of the endpoint: as given, or as the environment says, or the provider's own."""
        return self.base_url or os.environ.get(self.provider.url_variable) or self.provider.url

    @property
    def key(self) -> str | None:
        """The key, where there is one, without the line end that files of variables and of secrets leave behind it."""
        return os.environ.get(self.named_variable, "").strip() or None

    @property
    def named_variable(self) -> str:
        """The variable in which the key is looked for."""
        return self.key_variable or self.provider.key_variable

    @property
    def key_source(self) -> str:
        """The variable that the key came from, in words."""
        return f"the key was read from {self.named_variable}" + ("" if self.key else ", which is not set")

    def problem(self, option: str = "") -> str | None:
        """Obstacle to asking the endpoint at all, and its remedy; None if nothing is known.

        ``option`` is what the options begin with by which this endpoint is named, such as ``user-``.
        """
        host = _host(self.url)
        if host is None:
            source = f"--{option}base-url" if self.base_url else self.provider.url_variable
            return f"cannot ask {self.url!r}; {source} must be an address such as http://127.0.0.1:8000/v1"
        if self.key is None and (self.key_variable or host == _host(self.provider.url)):
            other = f"name another variable with --{option}api-key-env, or another endpoint with --{option}base-url"
            told = f"needs a key for {self.url!r} in the variable {self.named_variable!r}, which is not set"
            return f"{told}; set it, {other}"
        return self.key_problem() or self.package_problem()

    def key_problem(self) -> str | None:
        """Obstacle to sending the key: a client that refuses a header quotes it, and the key would be told."""
        if self.key is None or (self.key.isascii() and self.key.isprintable()):
            return None
        return f"cannot send the key in the variable {self.named_variable!r}: it is not one line of ASCII; set it again"

    def package_problem(self) -> str | None:
        """That the provider's client is not installed, if so, and what installs it."""
        package = self.provider.package
        return None if find_spec(package) else f"needs the package {package!r}; install it with: pip install {package}"

    def describe(self) -> Mapping[str, Any]:
        """Describe it for a log: no key, and no credentials in the address."""
        return {"model": self.model, "base_url": public_address(self.url), "parameters": dict(self.parameters)}


def public_address(url: str) -> str:
    """An address without what may be secret in it: credentials, query and fragment; nothing of a malformed one."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _host(url: str) -> str | None:
    """The host in an address of the web; None if it is another kind of address."""
    try:
        parts = urlsplit(url)
        return parts.hostname if parts.scheme in {"http", "https"} and parts.port != 0 else None
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call that a model asked for; ``arguments`` is the text it wrote."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """Answer of the model: text, calls, or both.

    ``finish`` is why it stopped, as the endpoint names it. ``parts`` is what the endpoint wants to be shown again, in
    protocols in which an answer has parts that mean nothing elsewhere. ``reasoning`` is what it thought before it
    spoke, in words, where the endpoint shows that: for the log, never for whoever the answer is meant for.
    """

    text: str
    calls: tuple[FunctionCall, ...]
    usage: Usage
    finish: str | None = None
    parts: tuple[Mapping[str, Any], ...] = ()
    reasoning: str = ""


class ModelEndpoint(ABC):
    """A connection to one endpoint in one protocol, shared by all who ask it; opened with the first question.

    ``kind`` is what an answer is called.
    """

    provider: ClassVar[Provider]
    kind: ClassVar[str]

    def __init__(self, settings: EndpointSettings, pacing: Pacing | None = None) -> None:
        self.settings = settings
        self._pacing = pacing or Pacing()
        self._client: Any = None
        self._answered = False

    @abstractmethod
    def _open(self) -> Any:
        """The provider's client, which must not try anything again by itself."""

    @abstractmethod
    async def _send(self, client: Any, request: Mapping[str, Any]) -> Any:
        """Send a request, the settings' parameters with it; gives the client's raw response."""

    @abstractmethod
    def _read(self, body: Any) -> ModelAnswer:
        """Read a response.

        Raises:
            ValueError, LookupError, TypeError, AttributeError: it does not have the form of an answer.
        """

    async def request(self, request: Mapping[str, Any]) -> ModelAnswer:
        """Ask, as often as it takes and ``retries`` allows.

        Raises:
            EndpointError: there was no usable answer.
        """
        settings = self.settings
        who = f"model endpoint {public_address(settings.url)}"
        try:
            return await insist(lambda: self._once(request), settings.retries, settings.pause, self._pacing, who=who)
        except FailedTry as fault:
            refused_key = f"; {settings.key_source}" if fault.status in REFUSED_KEY else ""
            raise EndpointError(f"{who}: {fault}{refused_key}") from fault

    async def aclose(self) -> None:
        """Close the connection; the next question would open another."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _once(self, request: Mapping[str, Any]) -> ModelAnswer:
        if self._client is None:
            self._client = self._open()
        sdk: Any = import_module(self.provider.package)
        try:
            response = await self._send(self._client, request)
            self._answered = True
        except sdk.APIStatusError as error:  # the clients of both providers have the same exceptions
            self._answered = True
            raise refused(error.status_code, _said(error), error.response.headers.get("retry-after")) from error
        except sdk.APITimeoutError as error:
            raise FailedTry("no answer in time", passing=True) from error
        except sdk.APIConnectionError as error:
            reason = one_line(str(error.__cause__ or error))
            unreached = not self._answered and nobody_there(error.__cause__)
            raise FailedTry(f"connection failed: {reason}", passing=True, unreached=unreached) from error
        except sdk.APIError as error:
            raise FailedTry(one_line(str(error)), passing=False) from error
        except TooLargeError as error:
            raise FailedTry(f"the answer {error}", passing=False) from error
        try:
            return self._read(strict_json(response.http_response.content))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise FailedTry(f"the answer is not a {self.kind}: {error}", passing=True) from error


def nobody_there(error: BaseException | None) -> bool:
    """True if no connection could be made at all; the class is known by name, as clients use one library or another."""
    return type(error).__name__ == "ConnectError"


def bounded_client(provider: Provider) -> Any:
    """HTTP client for a provider's package that reads no more than :data:`LARGEST_ANSWER` of an answer."""
    return import_module(provider.package).DefaultAsyncHttpxClient(event_hooks={"response": [_bound]})


async def _bound(response: Any) -> None:
    library = import_module(type(response).__module__.partition(".")[0])  # the package decides of which one it is
    response.stream = _bounded_stream(library.AsyncByteStream)(response.stream)


@cache
def _bounded_stream(base: Any) -> Any:
    """Make the class of streams that end in an error beyond the bound; clients want one of their own library's."""

    class _BoundedStream(base):
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            length = 0
            async for piece in self._stream:
                length += len(piece)
                if length > LARGEST_ANSWER:
                    raise TooLargeError(f"has more than {LARGEST_ANSWER >> 20} MB, and that is not read")
                yield piece

        async def aclose(self) -> None:
            await self._stream.aclose()

    return _BoundedStream


def _said(error: Any) -> str:
    """Words of the endpoint about its refusal: OpenAI's client gives the value under ``error``, others all."""
    body: object = error.body
    for _ in range(2):
        if isinstance(body, Mapping):
            told = cast("Mapping[str, object]", body)
            body = told.get("message") or told.get("error")
    return str(body if isinstance(body, str) else error.response.text or error.message)
