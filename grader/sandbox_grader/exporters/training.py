"""Exports sessions that were graded as material for fine-tuning, one JSON object a line.

Policy: only what the agent saw and did, in the forms that trainers read without extensions: ``chat`` is chat messages
with tool calls and the tools, ``mtu-instruct`` is turns of thought, action, action input and observation, the fields of
MTU-Instruct; ``preferences`` are pairs of a better and a worse session that began alike. Reference solutions,
milestones and state stay out. A call without its result, or arguments that are not a JSON object, would teach a
mistake: such a session is left out and counted.

Source of the fields: MTU-Bench, section 2.1.1.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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


def preferences(sessions: Sequence[tuple[Trajectory, float]], margin: float) -> Iterator[dict[str, Any]]:
    """Pairs of sessions of one scenario as ``{"prompt", "chosen", "rejected", "tools", "scores"}``.

    ``sessions`` are sessions that may be learnt from, each with its score. Every session that scored at least
    ``margin`` less than the best one is rejected in favour of it. The prompt is all that both conversations begin with,
    up to where the agents first differ; a pair whose agents were never asked the same is left out.
    """
    ranked = sorted(sessions, key=lambda one: -one[1])
    written = [(chat(trajectory), score) for trajectory, score in ranked]
    for rejected, low in written[1:]:
        chosen, high = written[0]
        if high - low < margin or rejected.get("tools") != chosen.get("tools"):
            continue
        better, worse = chosen["messages"], rejected["messages"]
        alike = _alike(better, worse)
        if not alike or min(len(better), len(worse)) == alike:
            continue
        if better[alike]["role"] == worse[alike]["role"] == "assistant":
            tools = {"tools": chosen["tools"]} if "tools" in chosen else {}
            pair = {"prompt": better[:alike], "chosen": better[alike:], "rejected": worse[alike:]}
            yield pair | tools | {"scores": {"chosen": high, "rejected": low}}


def _alike(one: Sequence[Mapping[str, Any]], other: Sequence[Mapping[str, Any]]) -> int:
    """Count the messages with which two conversations begin alike, whatever their calls' ids."""
    pairs = zip(map(_without_ids, one), map(_without_ids, other), strict=False)
    return next((number for number, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _without_ids(message: Mapping[str, Any]) -> Mapping[str, Any]:
    calls = [call["function"] for call in message.get("tool_calls", ())]
    return {**message, "tool_calls": calls, "tool_call_id": ""}


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


def material(
    form: str, scenarios: Iterable[Sequence[tuple[Trajectory, float]]], least: float, margin: float
) -> Iterator[dict[str, Any]]:
    """Lines of a form of :data:`FORMS`, or ``preferences`` whose better session scored ``least``.

    ``scenarios`` has the sessions of each scenario with their scores.
    """
    for sessions in scenarios:
        if form != "preferences":
            yield from (FORMS[form](trajectory) for trajectory, _ in sessions)
        elif max(score for _, score in sessions) >= least:
            yield from preferences(sessions, margin)
