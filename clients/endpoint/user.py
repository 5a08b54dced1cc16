"""A model that plays the user: follows the script of whatever scenario the conversation is about.

Policy: it is asked the way an LLM user asks its model, with the agent's words as the user's and its own as the
assistant's. The scenario is recognised by the goal in the instructions or by the opening.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from clients.endpoint.prompt import Prompt
from clients.endpoint.reply import Move, PlannedMove, Reply
from sandbox_mcp.users import Line, ScriptedUser
from scenarios.model import Scenario

END = "end_conversation"
CONFIRM = "confirm_action"
STRANGER = "I do not know what I wanted."


@dataclass(frozen=True, slots=True)
class ScriptedUserModel:
    """Knows the users of these scenarios."""

    scenarios: Sequence[Scenario]

    async def decide(self, prompt: Prompt, tries: int) -> Reply:  # noqa: ARG002
        """What the user says next, or the call with which it leaves."""
        said = [step.text for step in prompt.steps]
        scenario = self._scenario(prompt.system, said)
        if scenario is None:
            return Move(STRANGER)
        if not said:
            return Move(scenario.user.opening)
        turn = await ScriptedUser(scenario.user.script).respond(_dialogue(prompt))
        if turn.says is None:
            end = prompt.offered(END)
            return Move("", (PlannedMove(end, {}),)) if end else Move("Thanks, bye.")
        confirm = prompt.offered(CONFIRM)
        calls = tuple(PlannedMove(confirm, {"code": code}) for code in turn.confirms) if confirm else ()
        return Move(turn.says, calls)

    def _scenario(self, system: str, said: Sequence[str]) -> Scenario | None:
        opening = said[0] if said else None
        known = (item for item in self.scenarios if opening in (None, item.user.opening))
        fitting = sorted(known, key=lambda item: item.user.goal not in system)
        return fitting[0] if fitting and (opening or fitting[0].user.goal in system) else None


def _dialogue(prompt: Prompt) -> list[Line]:
    """The dialogue from the opening on."""
    lines: list[Line] = []
    for number, turn in enumerate(prompt.turns):
        if number:
            lines.append(Line("agent", turn.user))
        lines += [Line("user", step.text) for step in turn.steps]
    return lines
