"""An agent made of one async function: the shortest way to put your own code under test.

Policy: the function is asked once per user message, with the whole conversation and the connected tools, and returns
what to say: ``async def agent(asked: Asked) -> str``. Whatever it raises is a fault of the agent.
"""

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from sandbox_clients.base import Agent, AgentError, AgentTurn, Brief, Conversation, PastStep, Tools, raised
from sandbox_mcp.engine.errors import inner_errors
from sandbox_mcp.play.users import Line


@dataclass(frozen=True, slots=True)
class Asked:
    """Input of the function: the conversation so far, the user's message last, the tools and the instructions.

    ``history`` is what had been said and done before the function was first asked, calls included; empty in all but
    prefix replay.
    """

    said: Sequence[Line]
    tools: Tools
    instructions: str
    history: Sequence[PastStep] = ()


Respond = Callable[[Asked], Awaitable[str | AgentTurn]]
"""What a function must be."""


@dataclass(slots=True)
class _Asking:
    respond: Respond
    tools: Tools
    instructions: str
    history: Sequence[PastStep] = ()
    said: list[Line] = field(default_factory=list[Line])

    async def turn(self, message: str) -> AgentTurn:
        self.said.append(Line("user", message))
        try:
            answer = await self.respond(Asked(tuple(self.said), self.tools, self.instructions, self.history))
        except AgentError:
            raise
        except Exception as error:
            raise raised(inner_errors(error)[0]) from error
        turn = AgentTurn(answer) if isinstance(answer, str) else answer
        if not isinstance(turn, AgentTurn):  # pyright: ignore[reportUnnecessaryIsInstance]  (code of others)
            raise AgentError(f"the agent answered with {type(turn).__name__}; expected text, or an AgentTurn")
        self.said.append(Line("agent", turn.text))
        return turn


def function_agent(given: Any, name: str = "") -> "FunctionAgent | None":
    """The agent that an async function is, or an object called like one; None for anything else.

    Without a ``name`` it is called as the function is.
    """
    if not inspect.iscoroutinefunction(given) and not inspect.iscoroutinefunction(type(given).__call__):
        return None
    function = getattr(given, "func", given)  # what functools.partial wraps
    return FunctionAgent(given, name or getattr(function, "__name__", type(given).__name__))


@dataclass(frozen=True, slots=True)
class FunctionAgent(Agent):
    """Asks ``respond`` for every answer."""

    respond: Respond
    name: str

    @asynccontextmanager
    async def converse(self, brief: Brief) -> AsyncGenerator[Conversation]:
        """Connect to the tools and keep track of the conversation."""
        async with brief.target.connect() as tools:
            said = [step for step in brief.history if isinstance(step, Line)]
            yield _Asking(self.respond, tools, brief.instructions, brief.history, said)

    @property
    def takes_history(self) -> bool:
        """True: it is told everything each time."""
        return True

    def describe(self) -> Mapping[str, Any]:
        """That it is a function."""
        return {"kind": "function"}
