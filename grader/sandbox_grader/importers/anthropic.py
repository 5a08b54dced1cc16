"""Imports conversations in the form of Anthropic's Messages API: message lists, alone or with system text and tools.

Policy: an object may hold ``messages``, ``system`` and ``tools`` (a request) and the response, merged into it or under
``response``. A result without ``is_error`` succeeded. Such a log ends where the agent has had the last word.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from sandbox_grader.errors import NothingToImportError
from sandbox_grader.importers.base import Imported
from sandbox_grader.importers.reading import chats
from sandbox_grader.importers.reading.blocks import agent_blocks, blocks_of, user_blocks
from sandbox_grader.importers.reading.build import Names, SessionBuilder, stem
from sandbox_grader.importers.reading.content import joined
from sandbox_grader.importers.reading.documents import conversations, is_message
from sandbox_grader.importers.reading.json_values import JsonNode, load


def read(paths: Sequence[Path]) -> Iterator[Imported]:
    """Read the given files.

    Raises:
        ImportFormatError: a file holds no messages of that form.
    """
    names = Names()
    for path in paths:
        loaded = load(path)
        for conversation in conversations(loaded, is_message):
            builder = SessionBuilder("anthropic", str(path), stem(path), loaded.losses)
            for message in conversation.items:
                _message(builder, message)
            given = "" if conversation.holder is None else _holder(conversation.holder, builder)
            if builder.last is None:
                raise NothingToImportError(str(path), None, "holds a conversation without messages")
            ended = builder.whole and not loaded.cut
            yield builder.finish(names.unique(stem(path), given), "recorded" if ended else None)


def _holder(holder: JsonNode, builder: SessionBuilder) -> str:
    request, response = holder.get("request") or holder, holder.get("response") or holder
    model = response.string_at("model") or request.string_at("model")
    builder.head = replace(builder.head, agent={"model": model} if model else {})
    chats.offer_tools(builder, request.items_at("tools"))
    system = request.get("system")
    if system is not None:
        builder.say("system", "agent", joined(system, builder))
    for message in request.need("messages").items():
        _message(builder, message)
    if response.get("content") is not None:
        _message(builder, response)
    return holder.label_at("id") or ""


def _message(builder: SessionBuilder, message: JsonNode) -> None:
    role = message.string_at("role") or "assistant"
    stamp = message.get("timestamp")
    blocks = blocks_of(message.get("content"), None if stamp is None else stamp.value)
    if role == "assistant":
        agent_blocks(builder, blocks)
        if message.string_at("stop_reason") == "max_tokens":
            builder.lose(message, "the agent's message was cut off at its limit of tokens")
    elif role == "user":
        user_blocks(builder, blocks)
    elif role == "system":
        builder.say("system", "agent", joined(message.get("content"), builder))
    else:
        builder.lose(message, f"a message of the unknown role {role!r} was dropped")
