"""A model that knows the answers: plays the reference solution of whatever scenario the conversation is about.

Policy: everything follows from the request. Nothing is remembered between requests, so any client can be put in front
of it: one that prefixes names, opens a connection per call, or carries out one call of a batch at a time.
"""

from collections.abc import Sequence

from sandbox_clients.reference import NOTHING_LEFT
from sandbox_scenarios.model import Scenario
from sandbox_scenarios.plan import PlanError, as_text, fill, ready

from sandbox_mcp.endpoint.channel import loading, talk_in
from sandbox_mcp.endpoint.prompt import Prompt
from sandbox_mcp.endpoint.react import in_calls, in_text
from sandbox_mcp.endpoint.reply import Move, PlannedMove, Reply
from sandbox_mcp.endpoint.staging import Stagings

LOST = "I do not know this conversation, so I cannot help."
LEFT = "The user has left."


class Solver:
    """Knows the solutions of some scenarios."""

    __slots__ = ("_stage",)

    def __init__(self, scenarios: Sequence[Scenario]) -> None:
        self._stage = Stagings(scenarios)

    async def decide(self, prompt: Prompt, tries: int) -> Reply:  # noqa: ARG002
        """The next step of the solution, in text if the request asks for text."""
        textual = in_calls(prompt)
        return in_text(self._move(textual)) if textual else self._move(prompt)

    def _move(self, prompt: Prompt) -> Move:
        if load := loading(prompt):
            return load
        talk = talk_in(prompt)
        if talk.left:
            return Move(LEFT)
        if talk.start is not None and talk.started is None:
            said = talk.turns[0].user if talk.turns else ""
            named = [scenario.name for scenario in self._stage.scenarios if scenario.name in said]
            if not named:
                return Move(LOST)
            return Move("", (PlannedMove(talk.start, {"name": max(named, key=len)}),))
        place = self._stage.place(prompt, talk.turns, talk.started)
        if place is None:
            return Move(LOST)
        if len(talk.turns) > len(place.staging.solution.turns):
            return talk.speak(NOTHING_LEFT)
        planned, done = place.staging.solution.turns[len(talk.turns) - 1], place.done
        try:
            for batch in planned.batches:
                if done < len(batch):
                    rest = ((prompt.offered(call.tool) or call.tool, call) for call in batch[done:])
                    return Move("", tuple(PlannedMove(name, ready(call, place.results)) for name, call in rest))
                done -= len(batch)
            return talk.speak(as_text(fill(planned.reply, place.results)))
        except PlanError as error:
            return talk.speak(f"I cannot go on: {error}.")
