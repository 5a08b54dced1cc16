"""The user played by a person: at a terminal, or at the host that the agent lives in.

Policy: a person is told what the scenario tells any user, and what they type is said as it is. At a terminal they are
asked when the agent has spoken; end of input leaves. At a host the server asks them, with a form of the client's, and
hands the session their answer; this user cannot be asked in any other way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox_scenarios.model import UserSpec

from sandbox_mcp.play.users.base import Line, UserError, UserTurn
from sandbox_mcp.play.users.terminal import Terminal
from sandbox_mcp.play.users.typed import HELP, TypedError, briefing, turn_of

PROMPT = "you> "
COMMANDS = ("/confirm", "/end", "/goal", "/help")
KIND = "human"


@dataclass(frozen=True, slots=True)
class TerminalUser:
    """A person at the terminal; ``introduced`` if they have been told what they want."""

    spec: UserSpec
    terminal: Terminal = field(default_factory=Terminal)
    introduced: bool = False
    kind: str = KIND

    def describe(self) -> Mapping[str, Any]:
        """Place of the person."""
        return {"channel": "terminal"}

    async def respond(self, dialogue: Sequence[Line]) -> UserTurn:
        """Show the agent's words, and the briefing before the first of them, and read until there is an answer.

        Raises:
            UserError: there is nothing to read from.
        """
        if len(dialogue) == 2 and not self.introduced:
            self.terminal.show(self.introduction())
        self.terminal.show(f"\nassistant: {dialogue[-1].text}")
        while (line := await self.terminal.ask(PROMPT, COMMANDS)) is not None:
            typed = line.strip()
            if typed == "/help":
                self.terminal.show(f"{HELP} /goal says again what you want.")
            elif typed == "/goal":
                self.terminal.show(briefing(self.spec))
            elif typed:
                try:
                    return turn_of(typed, self.spec, dialogue)
                except TypedError as error:
                    self.terminal.show(str(error))
        return UserTurn(None)

    def introduction(self) -> str:
        """What a person is told who is about to play."""
        return (
            f"\nYou play a person who talks to an assistant.\n{briefing(self.spec)}\n"
            f"You have said: {self.spec.opening}\n(/help tells what else you can type)"
        )


@dataclass(frozen=True, slots=True)
class HostUser:
    """A person at the client that the agent lives in, whom the server asks before the session is told."""

    spec: UserSpec
    kind: str = KIND

    def describe(self) -> Mapping[str, Any]:
        """Place of the person."""
        return {"channel": "elicitation"}

    async def respond(self, dialogue: Sequence[Line]) -> UserTurn:  # noqa: ARG002
        """Raise: this user is asked elsewhere.

        Raises:
            UserError: always.
        """
        raise UserError(
            "the human user answers at the agent's client, in sessions whose agent has send_message_to_user"
        )
