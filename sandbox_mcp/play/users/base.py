"""What a simulated user is: something that answers the agent, given what has been said so far.

Policy: a user keeps no state of its own. Everything it knows is in its scenario and in the dialogue, so that a session
can be taken up again after its process has died, and so that the same dialogue gets the same answer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from sandbox_mcp.engine.tools import Tool


@dataclass(frozen=True, slots=True)
class Line:
    """Something said between user and agent.

    Of an agent's line the session may know more: how many ``calls`` have succeeded since the user last spoke (None
    where they are not counted), whether all that the user wants is ``met`` in the world, and how to ``act`` there
    before it is answered: what came of an act is told at once. ``holds`` are the lines of the user's script whose
    condition is true in the world at that moment.
    """

    speaker: Literal["user", "agent"]
    text: str
    calls: int | None = None
    met: bool = False
    act: "Callable[[UserAct], str] | None" = field(default=None, compare=False, repr=False)
    holds: frozenset[str] = frozenset()


LONGEST_READ = 12_000
"""Characters of a message that a user reads: the first and the last half of so many."""


def as_read(text: str) -> str:
    """What a user reads of a message: all of it, or its beginning and its end where it is very long."""
    half = LONGEST_READ // 2
    return text if len(text) <= LONGEST_READ else f"{text[:half]}\n{text[-half:]}"


@dataclass(frozen=True, slots=True)
class UserCall:
    """A call of a tool of the user's own, carried out and recorded; no agent sees it."""

    tool: Tool
    arguments: Mapping[str, Any]
    result: str


@dataclass(frozen=True, slots=True)
class UserAct:
    """Something the user does in the world: one of the acts that the world offers it, by name.

    ``place`` stands in what the user says for what came of it; by default that is the name in braces.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    place: str = ""

    @property
    def shown(self) -> str:
        """Text that becomes what came of the act."""
        return self.place or f"{{{self.name}}}"


@dataclass(frozen=True, slots=True)
class UserTurn:
    """What the user does next: says something, or ends the conversation (and then says nothing).

    ``confirms`` are codes of actions that the user lets the agent carry out, ``calls`` what it has called before it
    spoke. ``does`` is done in the world before it speaks, in this order; ``{name}`` in what it says becomes what came
    of that act.
    ``meta`` is recorded with the message: for a model, which one and how many tokens. ``parting`` are the words with
    which it leaves; they are told to whoever drives the agent, and no message that anybody answers or grades.
    """

    says: str | None
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    confirms: tuple[str, ...] = ()
    calls: tuple[UserCall, ...] = ()
    does: tuple[UserAct, ...] = ()
    parting: str = ""

    @property
    def ends(self) -> bool:
        """True if the user ends the conversation."""
        return self.says is None


class UserError(Exception):
    """The user, or what it runs on, broke; says nothing about the agent."""


class User(Protocol):
    """A simulated user."""

    @property
    def kind(self) -> str:
        """Its name in logs and on the command line."""
        ...

    def describe(self) -> Mapping[str, Any]:
        """What a log should say about this user, beside its kind."""
        ...

    async def respond(self, dialogue: Sequence[Line]) -> UserTurn:
        """Answer the last line, which is the agent's.

        Raises:
            UserError: it could not be asked.
        """
        ...
