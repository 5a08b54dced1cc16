"""Requests of agents that have the model reason and act in text, understood as if they used calls, and the way back.

Policy: such a request is known by its instructions, which list the tools in the form of
:mod:`sandbox_clients.react_text`. A step has one action, so of several calls the first is written.
"""

import json
from dataclasses import replace

from sandbox_clients.react_text import CORRECTION, OBSERVATION, read_step, tools_in

from sandbox_mcp.endpoint.prompt import ModelStep, Prompt, PromptCall, PromptTurn
from sandbox_mcp.endpoint.reply import Move
from sandbox_mcp.endpoint.wire import offer


def in_calls(prompt: Prompt) -> Prompt | None:
    """The request with tools, calls and outputs where the original has text; None if it is another kind of request."""
    tools = tools_in(prompt.system)
    if tools is None:
        return None
    turns: list[PromptTurn] = []
    for turn in prompt.turns:
        steps = tuple(_step(step, len(turns)) for step in turn.steps)
        if turns and turns[-1].steps and turn.user.startswith((OBSERVATION, CORRECTION)):
            turns[-1] = _continued(turns[-1], turn.user, steps)
        else:
            turns.append(PromptTurn(turn.user, steps))
    offers = {str(tool["name"]): offer(tool, "arguments") for tool in tools}
    return replace(prompt, turns=tuple(turns), tools=offers)


def _step(step: ModelStep, number: int) -> ModelStep:
    written = read_step(step.text)
    if written.action is None:
        return ModelStep(step.text if written.answer is None else written.answer)
    return ModelStep("", (PromptCall(f"call_{number}", written.action, written.arguments),))


def _continued(turn: PromptTurn, said: str, steps: tuple[ModelStep, ...]) -> PromptTurn:
    """A turn with what its last action came to, and what the model did then."""
    *before, last = turn.steps
    outputs = {call.id: said.removeprefix(OBSERVATION).strip() for call in last.calls}
    return PromptTurn(turn.user, (*before, ModelStep(last.text, last.calls, outputs), *steps))


def in_text(move: Move) -> Move:
    """A move as one step of text."""
    if not move.calls:
        return Move(f"Thought: There is nothing left to do.\nFinal Answer: {move.text}")
    call = move.calls[0]
    given = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments, ensure_ascii=False)
    return Move(f"Thought: {call.name} comes next.\nAction: {call.name}\nAction Input: {given}")
