"""Replies of an endpoint: a move of the model, or a fault of the endpoint.

Policy: faults are what real endpoints do when they fail, on the wire, not errors with a message of our own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from sandbox_mcp.app.endpoint.prompt import Prompt


@dataclass(frozen=True, slots=True)
class PlannedMove:
    """A call that the model should make. ``arguments`` as text go out as they are, be they JSON or not."""

    name: str
    arguments: Mapping[str, Any] | str


@dataclass(frozen=True, slots=True)
class Move:
    """Words and calls of the model."""

    text: str = ""
    calls: tuple[PlannedMove, ...] = ()


ReplyFault = Literal["status", "hang", "half", "invalid_json", "empty"]


@dataclass(frozen=True, slots=True)
class PlannedFault:
    """Failure of the endpoint.

    The kind ``status`` answers with that HTTP status, and with ``retry_after`` if it is given. ``hang`` never answers.
    ``half`` stops in the middle of an answer. ``invalid_json`` answers with broken JSON, ``empty`` with no choice.
    The same request fails ``times`` times, or always if ``times`` is None.
    """

    kind: ReplyFault = "status"
    status: int = 500
    retry_after: float | None = None
    times: int | None = 1

    def strikes(self, tries: int) -> bool:
        """True if a request that was seen ``tries`` times before fails again."""
        return self.times is None or tries < self.times


ModelReply = Move | PlannedFault


class Brain(Protocol):
    """Decides what the model does."""

    async def decide(self, prompt: Prompt, tries: int) -> ModelReply:
        """The answer to a request that was seen ``tries`` times before, word for word."""
        ...


@dataclass(frozen=True, slots=True)
class Failing:
    """A brain whose endpoint fails before every answer."""

    brain: Brain
    fault: PlannedFault

    async def decide(self, prompt: Prompt, tries: int) -> ModelReply:
        """Fail as long as the fault lasts, then answer."""
        return self.fault if self.fault.strikes(tries) else await self.brain.decide(prompt, tries)
