"""A model that plays the user: follows the script of whatever scenario the conversation is about.

Policy: it is asked the way an LLM user asks its model, with the agent's words as the user's and its own as the
assistant's. The scenario is recognised by the opening, the goal and what else the instructions tell of the user.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sandbox_scenarios.model import Scenario

from sandbox_mcp.app.endpoint.prompt import Prompt
from sandbox_mcp.app.endpoint.reply import ModelReply, Move, PlannedMove
from sandbox_mcp.engine.tools.user_tools import CONFIRM, END
from sandbox_mcp.play.users import Line, ScriptedUser

STRANGER = "I do not know what I wanted."


@dataclass(frozen=True, slots=True)
class ScriptedUserModel:
    """Knows the users of these scenarios."""

    scenarios: Sequence[Scenario]

    async def decide(self, prompt: Prompt, tries: int) -> ModelReply:  # noqa: ARG002
        """Decide on the user's next words, or the call with which it leaves."""
        prompt = prompt.without_example()
        said = [step.text for step in prompt.steps]
        # the scenario that opens like this, or failing that has this goal, and of several the one told of most
        opening = said[0] if said else None

        def likeness(item: Scenario) -> tuple[bool, int]:
            user = item.user
            facts = (user.goal, *user.wants_not, *user.knows, *user.does_not_know)
            return opening == user.opening, sum(1 if fact in prompt.system else -1 for fact in facts)

        known = [item for item in self.scenarios if opening == item.user.opening or item.user.goal in prompt.system]
        scenario = max(known, key=likeness, default=None)
        if scenario is None:
            return Move(STRANGER)
        if not said:
            return Move(scenario.user.opening)
        dialogue: list[Line] = []  # from the opening on
        for number, exchange in enumerate(prompt.turns):
            if number:
                dialogue.append(Line("agent", exchange.user))
            dialogue += [Line("user", step.text) for step in exchange.steps]
        turn = await ScriptedUser.of(scenario.user, scenario.clock).respond(dialogue)
        if turn.says is None:
            end = prompt.offered(END)
            return Move("", (PlannedMove(end, {}),)) if end else Move("Thanks, bye.")
        confirm = prompt.offered(CONFIRM)
        calls = tuple(PlannedMove(confirm, {"code": code}) for code in turn.confirms) if confirm else ()
        return Move(turn.says, calls)
