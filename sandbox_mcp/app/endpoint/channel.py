"""Conversations in which the user is reached through a tool, read as if the user had spoken.

Policy: where ``send_message_to_user`` is offered it is the only way to speak, so what the model would say becomes a
call of it, and what that call returns is what the user says next. Where a scenario has to be started with
``start_scenario``, the conversation begins with what that call returns. Tools that have to be loaded with
``ToolSearch``, as in Claude Code, are loaded before anything else, and that is not a part of the conversation.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from sandbox_mcp.app.endpoint.outputs import bare
from sandbox_mcp.app.endpoint.prompt import ModelStep, Prompt, PromptTurn
from sandbox_mcp.app.endpoint.reply import Move, PlannedMove
from sandbox_mcp.engine.tools.results import parsed

SEND, START, LOAD = "send_message_to_user", "start_scenario", "ToolSearch"


@dataclass(frozen=True, slots=True)
class ChannelTalk:
    """A conversation with the user, whatever it went through.

    ``send`` is the tool to speak with and ``start`` the one to begin with, where they are offered. ``started`` names
    the scenario that was begun; ``left`` tells that the user has gone.
    """

    turns: tuple[PromptTurn, ...]
    send: str | None = None
    start: str | None = None
    started: str | None = None
    left: bool = False

    def speak(self, text: str) -> Move:
        """Say something to the user."""
        return Move(text) if self.send is None else Move("", (PlannedMove(self.send, {"content": text}),))


def talk_in(prompt: Prompt) -> ChannelTalk:
    """The conversation that a request carries."""
    send, start = prompt.offered(SEND), prompt.offered(START)
    turns: list[PromptTurn] = []
    started: str | None = None
    left = False
    for original in prompt.turns:
        turns.append(PromptTurn(original.user))
        for step in original.steps:
            if step.calls and all(call.name == LOAD for call in step.calls):
                continue
            begun = _returned(step, start)
            answered = _returned(step, send)
            if begun is not None and "user_says" in begun:
                started, left, turns = str(begun.get("scenario")), False, [PromptTurn(str(begun["user_says"]))]
            elif answered is None:
                turns[-1] = PromptTurn(turns[-1].user, (*turns[-1].steps, step))
            elif answered.get("reply") is None:
                left = True
            else:
                turns.append(PromptTurn(str(answered["reply"])))
    return ChannelTalk(tuple(turns), send, start, started, left)


def loading(prompt: Prompt) -> Move | None:
    """The call that loads the tools which are not offered yet, None if there is nothing to load or it was tried."""
    tried = " ".join(call.arguments for step in prompt.steps for call in step.calls if call.name == LOAD)
    names = [name for name in prompt.deferred if name not in tried]
    if not names or LOAD not in prompt.tools:
        return None
    query = {"query": f"select:{','.join(names)}", "max_results": len(names)}
    return Move("", (PlannedMove(LOAD, query),))


def _returned(step: ModelStep, tool: str | None) -> Mapping[str, Any] | None:
    """The object that this tool returned in a step; None where the step did not call it or has no result yet."""
    for call in step.calls:
        if call.name == tool and call.id in step.outputs:
            value = parsed(bare(step.outputs[call.id]))
            return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
    return None
