"""The refusing agent: says politely that it cannot help, whatever it is asked, and never touches a tool.

Policy: it is the floor. What it scores is what a scenario gives away for nothing, and reports state it next to the
scores of other agents.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import ClassVar

from sandbox_clients.base import Agent, AgentTurn, Brief, Conversation

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
        """It refuses whatever was said before."""
        return True

    @asynccontextmanager
    async def converse(self, brief: Brief) -> AsyncGenerator[Conversation]:  # noqa: ARG002
        """Refuse, without even connecting."""
        yield _Refusing()
