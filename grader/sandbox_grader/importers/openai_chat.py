"""Imports conversations in the form of OpenAI's Chat Completions: message lists, alone or with their tools.

Policy: an object may hold ``messages`` and ``tools`` (a request, a row of training data) and the ``choices`` that
answered it, of which the first is taken. Such a log ends where the agent has had the last word.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from sandbox_grader.errors import NothingToImportError
from sandbox_grader.importers.base import Imported
from sandbox_grader.importers.reading import chats
from sandbox_grader.importers.reading.build import Names, SessionBuilder, stem
from sandbox_grader.importers.reading.documents import conversations, is_message
from sandbox_grader.importers.reading.json_values import JsonNode, load


def read(paths: Sequence[Path]) -> Iterator[Imported]:
    """Read the given files.

    Raises:
        ImportFormatError: a file holds no chat messages.
    """
    names = Names()
    for path in paths:
        loaded = load(path)
        for conversation in conversations(loaded, is_message):
            builder = SessionBuilder("openai-chat", str(path), stem(path), loaded.losses)
            chats.play(builder, conversation.items)
            given = "" if conversation.holder is None else _holder(conversation.holder, builder)
            if builder.last is None:
                raise NothingToImportError(str(path), None, "holds a conversation without messages")
            ended = builder.whole and not loaded.cut
            yield builder.finish(names.unique(stem(path), given), "recorded" if ended else None)


def _holder(holder: JsonNode, builder: SessionBuilder) -> str:
    request, response = holder.get("request") or holder, holder.get("response") or holder
    chats.offer_tools(builder, request.items_at("tools") or request.items_at("functions"))
    # our own exporter and some other programs put the scenario into the metadata
    about, model = holder.get("metadata"), response.string_at("model") or request.string_at("model")
    scenario = about.get("scenario") if about is not None and about.is_object else None
    builder.head = replace(
        builder.head,
        agent={"model": model} if model else {},
        scenario=scenario.label() if scenario is not None else builder.head.scenario,
    )
    if about is not None:
        builder.origin["metadata"] = about.value
    chats.play(builder, request.need("messages").items())
    choices = response.items_at("choices")
    chats.play(builder, [choice.need("message") for choice in choices[:1]])
    for choice in choices[1:]:
        builder.lose(choice, "an alternative answer is not kept")
    return holder.label_at("id") or ""
