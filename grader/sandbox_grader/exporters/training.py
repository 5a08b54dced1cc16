"""Exports sessions that were graded as material for fine-tuning, one JSON object a line.

Policy: only what the agent saw and did, in the forms that trainers read without extensions: ``chat`` is chat messages
with tool calls and the tools, ``mtu-instruct`` is turns of thought, action, action input and observation, the fields of
MTU-Instruct. Reference solutions, milestones and state stay out. A call without its result, or arguments that are not
a JSON object, would teach a mistake: such a session is left out and counted.

Source of the fields: MTU-Bench, section 2.1.1.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from sandbox_grader.exporters import openai_chat
from sandbox_grader.exporters.turns import (
    ExportedTurn,
    answered,
    copied,
    definition,
    in_agents_conversation,
    outcome_text,
    turns,
)
from sandbox_mcp.engine.trajectory import Message, ToolCall, Trajectory

STANDARD: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "system": ("role", "content"),
        "user": ("role", "content"),
        "assistant": ("role", "content", "tool_calls"),
        "tool": ("role", "content", "tool_call_id"),
    }
)
"""The members that every trainer knows of a message of each role."""
_Form = Callable[[Trajectory], dict[str, Any]]


def chat(trajectory: Trajectory) -> dict[str, Any]:
    """One session as ``{"messages": [...], "tools": [...]}``."""
    document = openai_chat.write(trajectory)
    messages = [
        {name: message[name] for name in STANDARD[message["role"]] if name in message}
        for message in document["messages"]
        if "recipient" not in message  # what the agent wrote for itself
    ]
    return {"messages": messages, **({"tools": document["tools"]} if "tools" in document else {})}


def mtu_instruct(trajectory: Trajectory) -> dict[str, Any]:
    """One session as ``{"id", "tools", "turns"}``.

    A turn has what the ``user`` said, the ``steps`` that the agent took (``thought``, ``action``, ``action_input``,
    ``observation``; several calls at once are several steps), and its ``reply`` with the ``thought`` before it.
    """
    tools = [definition(tool)["function"] for tool in trajectory.started.tools]
    found: list[dict[str, Any]] = []
    for turn in turns(filter(in_agents_conversation, trajectory.events)):
        said = turn.said
        if said is not None and said.sender == "user":
            found.append({"user": said.content, "steps": [], "thought": "", "reply": ""})
        elif found and turn.calls:
            for number, call in enumerate(turn.calls):
                step = {
                    "thought": "" if number else _thought(turn),
                    "action": call.name,
                    "action_input": copied(call.arguments),
                    "observation": outcome_text(call),
                }
                found[-1]["steps"].append(step)
        elif found and said is not None and said.sender == "agent":
            found[-1] |= {"thought": _thought(turn), "reply": said.content}
    return {"id": trajectory.started.session, "tools": tools, "turns": found}


def _thought(turn: ExportedTurn) -> str:
    return "\n".join(message.content for message in (turn.thought, turn.note) if message is not None)


def unfit(trajectory: Trajectory) -> str | None:
    """Reason to learn nothing from a session, whatever its score; None where nothing speaks against it."""
    calls = [event for event in trajectory.events if isinstance(event, ToolCall) and event.caller == "agent"]
    if not all(map(answered, calls)):
        return "the result of a call is missing"
    if any(call.raw_arguments is not None for call in calls):
        return "arguments of a call are no JSON object"
    spoke = any(isinstance(event, Message) and event.sender == "agent" for event in trajectory.events)
    return None if spoke else "the agent says nothing"


FORMS: Mapping[str, _Form] = MappingProxyType({"chat": chat, "mtu-instruct": mtu_instruct})
"""Every form by name."""
