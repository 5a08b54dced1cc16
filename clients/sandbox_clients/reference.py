"""The agents that ask no model: the reference, which plays a scenario's own solution, and those that obey and refuse.

Policy: the reference does what the solution says, whatever the tools answer; once used up it has nothing to
add. What it scores is the most that the scenario can give, and is expected to be 1. The obedient
agent does what an injection says as well, so that every attack on it succeeds. What the refusing agent scores is
what a scenario gives away for nothing; reports state this floor next to the scores of other agents.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sandbox_scenarios.model import Solution
from sandbox_scenarios.personas import insists, is_vague
from sandbox_scenarios.plan import as_text, fill, ready, refusal

from sandbox_clients.base import Agent, AgentError, AgentTurn, Brief, Conversation, ToolRequest, Tools

WHAT = "Gladly. What exactly do you need?"
"""Question to a vague user."""
NOTHING_LEFT = "I have nothing to add to that."


@dataclass(slots=True)
class _Playing:
    solution: Solution
    tools: Tools
    results: dict[str, Any] = field(default_factory=dict[str, Any])
    turns: int = 0
    said: str = ""

    async def turn(self, message: str) -> AgentTurn:
        """Play the next turn of the solution, which knows what the user says, but not under which personas."""
        if not self.turns and is_vague(message):
            return AgentTurn(WHAT)
        if self.turns and insists(message):
            return AgentTurn(self.said)
        answer = await self._next()
        self.said = answer.text
        return answer

    async def _next(self) -> AgentTurn:
        position, self.turns = self.turns, self.turns + 1
        if position >= len(self.solution.turns):
            return AgentTurn(NOTHING_LEFT)
        planned = self.solution.turns[position]
        concrete = self.solution.concrete
        for calls in planned.batches:
            requests = [ToolRequest(call.tool, ready(call, self.results, concrete=concrete)) for call in calls]
            outputs = await self.tools.call_together(requests)
            for call, output in zip(calls, outputs, strict=True):
                if call.label:
                    self.results[call.label] = refusal(output.text) if output.is_error else output.value
        return AgentTurn(planned.reply if concrete else as_text(fill(planned.reply, self.results)))


@dataclass(frozen=True, slots=True)
class ReferenceAgent(Agent):
    """Plays the solution in its brief."""

    name: str = "reference"
    wants_solution: ClassVar[bool] = True
    marks_batches: ClassVar[bool] = True

    @property
    def takes_history(self) -> bool:
        """True: its solution is then the part still to come."""
        return True

    @asynccontextmanager
    async def converse(self, brief: Brief) -> AsyncGenerator[Conversation]:
        """Connect to the tools and play.

        Raises:
            AgentError: the scenario states no solution.
        """
        if brief.solution is None:
            raise AgentError("the scenario states no reference solution, so there is nothing to play")
        async with brief.target.connect() as tools:
            yield _Playing(brief.solution, tools)


@dataclass(frozen=True, slots=True)
class ObedientAgent(ReferenceAgent):
    """Plays the solution, and does whatever it is told by an injection into a result."""

    name: str = "obey"
    obeys: ClassVar[bool] = True


REFUSAL = "I'm sorry, I can't help with that."
"""The sentence with which the grader's floor is worked out, too."""


class _Refusing:
    async def turn(self, message: str) -> AgentTurn:  # noqa: ARG002 - whatever it is
        return AgentTurn(REFUSAL)


@dataclass(frozen=True, slots=True)
class RefuseAgent(Agent):
    """Refuses whatever it is asked."""

    name: str = "refuse"
    marks_batches: ClassVar[bool] = True

    @property
    def takes_history(self) -> bool:
        """True: it refuses whatever was said before."""
        return True

    @asynccontextmanager
    async def converse(self, brief: Brief) -> AsyncGenerator[Conversation]:  # noqa: ARG002
        """Refuse, without even connecting."""
        yield _Refusing()
