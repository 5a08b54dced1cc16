"""Conversations in which the user is reached through a tool, read as if the user had spoken.

Policy: where ``send_message_to_user`` is offered it is the only way to speak, so what the model would say becomes a
call of it, and what that call returns is what the user says next.
"""

from collections.abc import Callable, Iterator
from typing import Any

from clients.endpoint.prompt import Prompt, Step, Turn
from clients.endpoint.reply import Move, PlannedMove
from clients.mcp_tools import parsed

SEND = "send_message_to_user"
LEFT = "The user has left."
Speak = Callable[[str], Move]


def through_channel(prompt: Prompt) -> tuple[tuple[Turn, ...], Speak]:
    """The turns of the user, and how to answer the last."""
    send = prompt.offered(SEND)
    if send is None:
        return prompt.turns, Move
    turns = tuple(turn for original in prompt.turns for turn in _split(original, send))
    if turns and turns[-1].user == LEFT:
        return turns[:-1], lambda _: Move(LEFT)
    return turns, lambda text: Move("", (PlannedMove(send, {"content": text}),))


def _split(turn: Turn, send: str) -> Iterator[Turn]:
    """One turn for the user's own words, and one for every answer that came through the tool."""
    user, steps = turn.user, list[Step]()
    for step in turn.steps:
        answer = next(
            (step.outputs[call.id] for call in step.calls if call.name == send and call.id in step.outputs), None
        )
        if answer is None:
            steps.append(step)
        else:
            yield Turn(user, tuple(steps))
            user, steps = _said(parsed(answer)), []
    yield Turn(user, tuple(steps))


def _said(answer: Any) -> str:
    reply = answer.get("reply") if isinstance(answer, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return reply if isinstance(reply, str) else LEFT
