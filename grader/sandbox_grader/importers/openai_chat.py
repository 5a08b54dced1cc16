"""Imports conversations in the form of OpenAI's Chat Completions: message lists, alone or with their tools.

Rollouts of verifiers are read as well: a prompt, its completion and the reward.

Policy: an object may hold ``messages`` and ``tools`` (a request, a row of training data) and the ``choices`` that
answered it, of which the first is taken. Such a log ends where the agent has had the last word.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from sandbox_grader.importers.base import Imported
from sandbox_grader.importers.reading import chats
from sandbox_grader.importers.reading.build import Ending, SessionBuilder
from sandbox_grader.importers.reading.documents import exchange_in, read_messages
from sandbox_grader.importers.reading.json_values import JsonNode
from sandbox_grader.importers.reading.values import stated
from sandbox_grader.ours import OURS, ending_in, take_about


def read(paths: Sequence[Path]) -> Iterator[Imported]:
    """Read the given files.

    Raises:
        ImportFormatError: a file holds no chat messages.
    """
    return read_messages(paths, "openai-chat", chats.play, _play_holder)


def _play_holder(builder: SessionBuilder, holder: JsonNode) -> Ending | None:
    request, response = exchange_in(holder)
    offered = request.items_at("tools") or request.items_at("functions")
    chats.offer_tools(builder, offered or request.items_at("tool_defs"))
    # our own exporter and some other programs put the scenario into the metadata
    about, model = holder.get("metadata"), response.string_at("model") or request.string_at("model")
    scenario = about.get("scenario") if about and about.is_object else None
    builder.head = replace(
        builder.head,
        agent=stated(model=model),
        scenario=scenario.label() if scenario is not None else builder.head.scenario,
    )
    if about is not None:
        kept = {k: v for k, v in about.value.items() if k != OURS} if about.is_object else about.value
        builder.origin["metadata"] = kept
    ours = about.object_at(OURS) if about and about.is_object else None
    if about is not None and ours is not None:
        agent = {**builder.head.agent, **ours.members_at("agent")}
        builder.head = replace(builder.head, session=about.label_at("session") or "", agent=agent)
        take_about(ours, builder)
    prompt = request.get("messages") or request.get("prompt") or request.need("messages")
    if isinstance(prompt.value, str):
        builder.say("user", "agent", prompt.string())
    else:
        chats.play(builder, prompt.items())
    completion = holder.get("completion") or request.get("completion")  # as a rollout of verifiers
    if completion is not None:
        chats.play(builder, completion.items())
    builder.spend(response.object_at("usage") or holder.object_at("token_usage"))
    choices = response.items_at("choices")
    chats.play(builder, [choice.need("message") for choice in choices[:1]])
    for choice in choices[1:]:
        builder.lose(choice, "an alternative answer is not kept")
    return None if ours is None else ending_in(ours)
