"""Agents behind an address: one POST for every message of the user, with all that was said and where the tools are.

Policy: what may pass is tried again as with a model's endpoint: 429, 5xx, a connection refused or lost. How
long an answer may take is the run's affair, because a slow agent is still at work. A key is sent only if its
variable is named, and no credentials are in the address that logs see. The form is written down in docs/adapters.md.
"""

import uuid
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from sandbox_clients.base import Agent, AgentError, AgentTurn, Brief, Conversation, UnknownAgentError
from sandbox_clients.replies import as_messages, read_object, read_turn
from sandbox_clients.settings import AgentSettings
from sandbox_mcp.play.models.asking import REFUSED_KEY, nobody_there, public_address
from sandbox_mcp.play.models.retrying import FailedTry, Pacing, insist, one_line, refused

if TYPE_CHECKING:
    from httpx2 import AsyncClient


@dataclass(slots=True)
class _Talking:
    agent: "HttpAgent"
    brief: Brief
    http: "AsyncClient"
    session: str = field(default_factory=lambda: uuid.uuid4().hex)
    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    async def turn(self, message: str) -> AgentTurn:
        self.messages.append({"role": "user", "content": message})
        endpoint, who = self.agent.settings.endpoint, f"agent at {self.agent.name}"
        try:
            answered = await insist(self._once, endpoint.retries, endpoint.pause, self.agent.pacing, who=who)
        except FailedTry as fault:
            refused_key = f"; {self._key_source}" if fault.status in REFUSED_KEY else ""
            raise AgentError(f"{who}: {fault}{refused_key}") from fault
        who = f"{who}: answered with"
        turn = read_turn(read_object(answered, who, "an object with text"), who)
        self.messages.append({"role": "assistant", "content": turn.text})
        return turn

    @property
    def _key_source(self) -> str:
        endpoint = self.agent.settings.endpoint
        return endpoint.key_source if endpoint.key_variable else "no key was sent; --api-key-env names its variable"

    async def _once(self) -> str:
        import httpx2

        try:
            target = self.brief.target
            response = await self.http.post(
                self.agent.url,
                json={
                    "session": self.session,
                    "instructions": self.brief.instructions,
                    "mcp": {"url": target.url, "headers": dict(target.headers)},
                    "messages": self.messages,
                    "settings": self.agent.settings.told(),
                },
            )
        except httpx2.TransportError as error:
            reason = one_line(str(error)) or type(error).__name__
            unreached = not self.agent.answered and nobody_there(error)
            raise FailedTry(f"connection failed: {reason}", passing=True, unreached=unreached) from error
        self.agent.answered.add(self.agent.name)
        if response.is_success:
            return response.text
        try:
            body: Any = response.json()
            said = body.get("error") if isinstance(body, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        except (ValueError, RecursionError):
            said = None
        words = said if isinstance(said, str) else response.text
        raise refused(response.status_code, words, response.headers.get("retry-after"))


@dataclass(frozen=True, slots=True)
class HttpAgent(Agent):
    """Asks ``url`` for every answer; ``name`` is that without anything secret."""

    name: str
    url: str
    settings: AgentSettings
    pacing: Pacing = field(default_factory=Pacing)
    answered: set[str] = field(default_factory=set[str], init=False, repr=False, compare=False)
    """The address, once anybody has answered there."""
    needs_url: ClassVar[bool] = True

    @classmethod
    def of(cls, url: str, settings: AgentSettings) -> "HttpAgent":
        """The agent at this address.

        Raises:
            UnknownAgentError: it is not an address, or the variable that should hold the key is not set.
        """
        endpoint = settings.endpoint
        if endpoint.key_variable and endpoint.key is None:
            raise UnknownAgentError(f"the agent's key should be in {endpoint.key_variable!r}, which is not set")
        if endpoint.key_variable and (problem := endpoint.key_problem()):
            raise UnknownAgentError(f"the agent {problem}")
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise UnknownAgentError(f"agent {url!r} is not an address: {error}") from error
        if not parts.hostname or port == 0 or url.split() != [url]:
            raise UnknownAgentError(f"agent {url!r} is not an address; write http://HOST:PORT/PATH")
        return cls(public_address(url), url, settings)

    @asynccontextmanager
    async def converse(self, brief: Brief) -> AsyncGenerator[Conversation]:
        """Keep track of the conversation; nothing is sent before the user has spoken."""
        import httpx2

        endpoint = self.settings.endpoint
        headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key_variable else {}
        timeout = httpx2.Timeout(None, connect=endpoint.timeout)
        async with httpx2.AsyncClient(headers=headers, timeout=timeout) as http:
            yield _Talking(self, brief, http, messages=as_messages(brief.history))

    @property
    def takes_history(self) -> bool:
        """True: it is sent the whole conversation each time."""
        return True

    def describe(self) -> Mapping[str, Any]:
        """Describe its address, and what it is told of its model."""
        told = self.settings.told()
        return {"address": self.name, **told, "base_url": public_address(told["base_url"] or "") or None}
