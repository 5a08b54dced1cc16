"""Requests of agents that have the model reason and act in text, understood as if they used calls, and the way back.

Policy: such a request is known by its instructions, which list the tools in the form of
:mod:`sandbox_clients.react_text`. A step has one action, so of several calls the first is written.
"""

import json
from dataclasses import replace

from sandbox_clients.react_text import CORRECTION, OBSERVATION, read_step, tools_in

from sandbox_mcp.endpoint.prompt import ModelStep, Prompt, PromptTurn
from sandbox_mcp.endpoint.reply import Move
from sandbox_mcp.endpoint.wire import offer
from sandbox_mcp.models.asking import FunctionCall


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
