"""Imports conversations in the form of Anthropic's Messages API: message lists, alone or with system text and tools.

Policy: an object may hold ``messages``, ``system`` and ``tools`` (a request) and the response, merged into it or under
``response``. A result without ``is_error`` succeeded. Such a log ends where the agent has had the last word.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from sandbox_grader.importers.base import Imported
from sandbox_grader.importers.reading import chats
from sandbox_grader.importers.reading.blocks import agent_blocks, blocks_of, user_blocks
from sandbox_grader.importers.reading.build import SessionBuilder
from sandbox_grader.importers.reading.content import joined
from sandbox_grader.importers.reading.documents import exchange_in, read_messages
from sandbox_grader.importers.reading.json_values import JsonNode
from sandbox_grader.importers.reading.values import stated


def read(paths: Sequence[Path]) -> Iterator[Imported]:
    """Read the given files.

    Raises:
        ImportFormatError: a file holds no messages of that form.
    """
    return read_messages(paths, "anthropic", _play, _play_holder)


def _play_holder(builder: SessionBuilder, holder: JsonNode) -> None:
    request, response = exchange_in(holder)
    model = response.string_at("model") or request.string_at("model")
    builder.head = replace(builder.head, agent=stated(model=model))
    chats.offer_tools(builder, request.items_at("tools"))
    system = request.get("system")
    if system is not None:
        builder.say("system", "agent", joined(system, builder))
    _play(builder, request.need("messages").items())
    if response.get("content") is not None:
        _play(builder, [replace(response, value={"role": "assistant", **response.members()})])


def _play(builder: SessionBuilder, messages: list[JsonNode]) -> None:
    for message in messages:
        role = message.need("role").string()
        if "content" not in message.members():
            message.need("content")
        blocks = blocks_of(message.get("content"), message.members().get("timestamp"))
        if role == "assistant":
            agent_blocks(builder, blocks)
            builder.spend(message.object_at("usage"))
            if message.string_at("stop_reason") == "max_tokens":
                builder.lose(message, "the agent's message was cut off at its limit of tokens")
        elif role == "user":
            user_blocks(builder, blocks)
        elif role == "system":
            builder.say("system", "agent", joined(message.get("content"), builder))
        else:
            builder.lose(message, f"a message of the unknown role {role!r} was dropped")
