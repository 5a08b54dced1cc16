"""Content that a format gives as text or as typed parts: text is joined, everything else is a named loss."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sandbox_grader.importers.reading.build import CallOutcome, SessionBuilder
from sandbox_grader.importers.reading.json_values import JsonNode

TEXTS = MappingProxyType(
    {"text": "text", "input_text": "text", "output_text": "text", "summary_text": "text", "reasoning_text": "text",
     "refusal": "refusal"}
)  # fmt: skip
"""Type of a part to the member that holds its text."""


def joined(content: JsonNode | None, builder: SessionBuilder, *, texts: Mapping[str, str] = TEXTS) -> str:
    """The text of a content: itself, or that of its part or parts, a line each. Other parts are named as losses.

    Raises:
        ImportFormatError: it is neither text nor a part nor an array of parts.
    """
    if content is None or isinstance(content.value, str):
        return "" if content is None else content.string()
    members = content.members() if content.is_object else {}
    if not content.is_array and texts.get(str(members.get("type"))) not in members:
        raise content.fail("expected text or an array of content parts")
    parts = content.items() if content.is_array else [content]  # some hosts give a single part as it is
    found = (part_text(part, builder, texts) for part in parts)
    return "\n".join(text for text in found if text is not None)


def part_text(part: JsonNode, builder: SessionBuilder, texts: Mapping[str, str] = TEXTS) -> str | None:
    """The text of one part, or None where it has none; such a part is named as a loss."""
    if isinstance(part.value, str):
        return part.string()
    kind = part.need("type").string()
    member = texts.get(kind)
    if member is None:
        builder.lose(part, f"content of type {kind!r} is not kept")
        return None
    if member not in part.members():
        part.need(member)
    return part.string_at(member) or ""


def outcome_of(
    builder: SessionBuilder,
    content: JsonNode | None,
    *,
    failed: bool | None,
    wall: Mapping[str, Any] = MappingProxyType({}),
) -> CallOutcome:
    """The outcome that a result's content tells; ``failed`` is the source's flag, None where it has none.

    A result with parts that could not be kept says so in its ``meta``.
    """
    known = len(builder.losses)
    judged = builder.judge(joined(content, builder), failed)
    meta = {"result_partial": True} if len(builder.losses) > known else {}
    return CallOutcome(judged.result, judged.error, meta, wall)
