"""A model that knows the answers: plays the reference solution of whatever scenario the conversation is about.

Policy: everything follows from the request. Nothing is remembered between requests, so any client can be put in front
of it: one that prefixes names, opens a connection per call, or carries out one call of a batch at a time. A request of
an agent that has its model reason and act in text is known by its instructions, which list the tools in the form of
:mod:`sandbox_clients.react_text`. It is understood as if it used calls, and answered in text; a step has one action, so
of several calls the first is written.
"""

import json
from collections.abc import Sequence
from dataclasses import replace

from sandbox_clients.react_text import CORRECTION, OBSERVATION, read_step, tools_in
from sandbox_clients.reference import NOTHING_LEFT
from sandbox_scenarios.model import Scenario
from sandbox_scenarios.plan import PlanError, as_text, fill, ready

from sandbox_mcp.app.endpoint.channel import loading, talk_in
from sandbox_mcp.app.endpoint.prompt import ModelStep, Prompt, PromptTurn
from sandbox_mcp.app.endpoint.reply import ModelReply, Move, PlannedMove
from sandbox_mcp.app.endpoint.staging import Stagings
from sandbox_mcp.app.endpoint.wire import offer
from sandbox_mcp.play.models.asking import FunctionCall

LOST = "I do not know this conversation, so I cannot help."
LEFT = "The user has left."


class Solver:
    """Knows the solutions of some scenarios."""

    __slots__ = ("_stage",)

    def __init__(self, scenarios: Sequence[Scenario]) -> None:
        self._stage = Stagings(scenarios)

    async def decide(self, prompt: Prompt, tries: int) -> ModelReply:  # noqa: ARG002
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


def in_calls(prompt: Prompt) -> Prompt | None:
    """The request with tools, calls and outputs where the original has text; None if it is another kind of request."""
    tools = tools_in(prompt.system)
    if tools is None:
        return None
    turns: list[PromptTurn] = []
    for turn in prompt.turns:
        steps: list[ModelStep] = []
        for step in turn.steps:
            written = read_step(step.text)
            if written.action is not None:
                call = FunctionCall(f"call_{len(turns)}", written.action, written.arguments)
                steps.append(ModelStep("", (call,)))
            else:
                steps.append(ModelStep(step.text if written.answer is None else written.answer))
        if turns and turns[-1].steps and turn.user.startswith((OBSERVATION, CORRECTION)):
            *before, last = turns[-1].steps
            outputs = {call.id: turn.user.removeprefix(OBSERVATION).strip() for call in last.calls}
            carried_out = ModelStep(last.text, last.calls, outputs)
            turns[-1] = PromptTurn(turns[-1].user, (*before, carried_out, *steps))
        else:
            turns.append(PromptTurn(turn.user, tuple(steps)))
    offers = {str(tool["name"]): offer(tool, "arguments") for tool in tools}
    return replace(prompt, turns=tuple(turns), tools=offers)


def in_text(move: Move) -> Move:
    """A move as one step of text."""
    if not move.calls:
        return Move(f"Thought: There is nothing left to do.\nFinal Answer: {move.text}")
    call = move.calls[0]
    given = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments, ensure_ascii=False)
    return Move(f"Thought: {call.name} comes next.\nAction: {call.name}\nAction Input: {given}")
