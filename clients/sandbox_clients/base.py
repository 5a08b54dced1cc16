"""Agents under test: each is given the user's words and answers them, acting through tools on the way.

Policy: an agent learns what a session's agent may learn and nothing more. Its faults, and those of what it runs on, are
:class:`AgentError`; they end the session without a score. What a tool refuses is not a fault but an answer.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

from sandbox_scenarios.model import Solution

from sandbox_mcp.engine.errors import SandboxError, error_line
from sandbox_mcp.engine.own_code import place_of
from sandbox_mcp.play.users import Line


class AgentError(SandboxError):
    """The agent or its model endpoint broke; says nothing about what the agent can do."""


def raised(error: BaseException) -> AgentError:
    """The fault of an agent whose code raised this, with the file and line of its own where it did."""
    return AgentError(f"the agent raised {error_line(error)}{place_of(error)}")


class UnknownAgentError(SandboxError):
    """No agent has that name, or what the name points to is not an agent."""


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """A tool as it is offered to the agent."""

    name: str
    description: str
    input_schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """Result of a call: the text that a model is shown, and the value in it; an error has text alone."""

    text: str
    value: Any = None
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A call to make, with arguments as :meth:`Tools.call` takes them."""

    name: str
    arguments: Mapping[str, Any] | str


class Tools(Protocol):
    """The tools of one session, connected."""

    async def list(self) -> tuple[ToolInfo, ...]:
        """The tools offered.

        Raises:
            AgentError: they could not be asked for.
        """
        ...

    async def call(self, name: str, arguments: Mapping[str, Any] | str) -> ToolOutput:
        """Call one tool. ``arguments`` as text are what a model wrote in place of a JSON object.

        Raises:
            AgentError: the call did not get through; a refusal by the tool is an output.
        """
        ...

    async def call_together(self, requests: Sequence[ToolRequest]) -> Sequence[ToolOutput]:
        """Make calls that were decided on together, before any of their results was known; outputs in their order.

        Raises:
            AgentError: a call did not get through.
        """
        ...


class Target(Protocol):
    """Address of a session's tools. ``url`` is None where they cannot be reached from outside this process."""

    @property
    def url(self) -> str | None:
        """The MCP endpoint over HTTP."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers that every request to ``url`` must carry."""
        ...

    def connect(self) -> AbstractAsyncContextManager[Tools]:
        """Connect to the tools.

        Raises:
            AgentError: on entering, if they cannot be reached.
        """
        ...


@dataclass(frozen=True, slots=True)
class PastCall:
    """A call that was made before the agent came in, under the name it is offered by, and what it showed."""

    name: str
    arguments: Mapping[str, Any]
    output: ToolOutput


PastStep = Line | tuple[PastCall, ...]
"""One step of a conversation before the agent came in: something said, or calls that were made together."""


@dataclass(frozen=True, slots=True)
class Brief:
    """Material that an agent is given before the conversation.

    ``history`` is what has happened in it already, to be taken for the agent's own doing; empty in all but prefix
    replay.

    ``solution`` is filled for agents that ask for it (``wants_solution``), in the names that this session's tools are
    presented under; no agent under test may.
    """

    instructions: str
    target: Target
    solution: Solution | None = None
    history: tuple[PastStep, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentTurn:
    """Words of the agent to the user. ``meta`` is recorded with the message: model, number of tokens."""

    text: str
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Conversation(Protocol):
    """One session of an agent; it remembers what was said."""

    async def turn(self, message: str) -> AgentTurn:
        """Do what the user's message asks for, and answer.

        Raises:
            AgentError: the agent, or what it runs on, broke.
        """
        ...


class Agent(ABC):
    """An agent under test; one object holds many conversations, also at the same time."""

    name: str
    wants_solution: ClassVar[bool] = False
    obeys: ClassVar[bool] = False
    """Whether the solution it plays does what injections say."""
    needs_url: ClassVar[bool] = False
    """Whether the agent runs where only an HTTP address reaches the tools."""
    marks_batches: ClassVar[bool] = False
    """Whether it says itself which calls belong together, by :meth:`Tools.call_together`, so that none need wait."""

    @abstractmethod
    def converse(self, brief: Brief) -> AbstractAsyncContextManager[Conversation]:
        """Begin a conversation; leaving the context ends it."""

    @property
    def takes_history(self) -> bool:
        """True if the agent can be made to believe that it has said and done what ``Brief.history`` tells."""
        return False

    def describe(self) -> Mapping[str, Any]:
        """Describe this agent for a log, beside its name. No secrets."""
        return {}

    async def aclose(self) -> None:
        """Let go of what all conversations share."""
        return


Era = Literal["auto", "legacy", "2026-07-28"]
"""How the MCP client connects: find out, with the handshake of 2025-11-25, or without any."""
