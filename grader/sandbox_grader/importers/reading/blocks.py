"""Content blocks of Anthropic's Messages API, shared by its importer and that of Claude Code's session files.

Policy: text before a tool use of the same message is a note, text after the last one is the reply. Tools that the
provider runs itself (web search, MCP connector) are calls like any other; their results stand in the same message.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox_grader.importers.reading.build import CallOutcome, SessionBuilder
from sandbox_grader.importers.reading.content import outcome_of, part_text
from sandbox_grader.importers.reading.json_values import JsonNode, picked
from sandbox_grader.importers.reading.values import arguments_of, failure
from sandbox_mcp.engine.trajectory import Role

USES = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
THINKING = frozenset({"thinking", "redacted_thinking"})

Refine = Callable[[SessionBuilder, JsonNode, CallOutcome], CallOutcome]
"""What a host knows better about the outcome that a ``tool_result`` block tells."""


@dataclass(frozen=True, slots=True)
class Block:
    """A content block, and when it was written where known."""

    node: JsonNode
    stamp: Any = None

    @property
    def kind(self) -> str:
        """The type it names; text where it is bare text."""
        return "text" if isinstance(self.node.value, str) else self.node.need("type").string()


def blocks_of(content: JsonNode | None, stamp: Any = None) -> list[Block]:
    """A content's blocks; a bare text is one.

    Raises:
        ImportFormatError: the content is neither text nor an array.
    """
    if content is None:
        return []
    if isinstance(content.value, str):
        return [Block(content, stamp)]
    return [Block(item, stamp) for item in content.items()]


def agent_blocks(builder: SessionBuilder, blocks: Sequence[Block], seen_by: Sequence[Role] = ("agent",)) -> None:
    """Add one message of the agent. ``seen_by`` is who could read what it wrote beside its calls."""
    uses = [index for index, block in enumerate(blocks) if block.kind in USES]
    last = uses[-1] if uses else -1
    batch = builder.batch() if uses else ""
    for block in blocks[: last + 1]:
        if block.kind == "text":
            builder.note(part_text(block.node, builder) or "", "text", stamp=block.stamp, seen_by=seen_by)
        elif block.kind in USES:
            node, given = block.node, arguments_of(block.node.members().get("input"))
            meta: dict[str, Any] = picked(node.members(), ("server_name",))
            builder.call(
                node.need("name").string(), given, batch=batch, id_=node.label_at("id"), stamp=block.stamp,
                offered=block.kind != "tool_use", **meta,
            )  # fmt: skip
        else:
            _beside(builder, block)
    reply = blocks[last + 1 :]
    texts = [part_text(block.node, builder) or "" for block in reply if block.kind == "text"]
    for block in reply:
        if block.kind != "text":
            _beside(builder, block)
    if texts:
        builder.say("agent", "user", "".join(texts), stamp=reply[-1].stamp)


def _beside(builder: SessionBuilder, block: Block) -> None:
    """Whatever is neither text nor the use of a tool: reasoning, results of the provider's own tools, the unknown."""
    if block.kind == "redacted_thinking":
        builder.lose(block.node, "reasoning that the provider encrypted is not kept")
    elif block.kind in THINKING:
        builder.note(block.node.string_at("thinking") or "", "reasoning", stamp=block.stamp)
    elif block.kind.endswith("_tool_result"):
        node, content = block.node, block.node.get("content")
        if block.kind == "mcp_tool_result":
            outcome = outcome_of(builder, content, failed=bool(node.members().get("is_error")))
        else:
            kind = content.string_at("type") if content is not None and content.is_object else None
            failed = kind is not None and kind.endswith("_error")
            what = content.label_at("error_code") if failed and content is not None else None
            error = failure(what or kind or "", type_=kind) if failed else None
            outcome = CallOutcome(None if error or content is None else content.value, error)
        builder.settle(node, node.label_at("tool_use_id"), outcome)
    else:
        builder.lose(block.node, f"a content block of type {block.kind!r} is not kept")


def user_blocks(builder: SessionBuilder, blocks: Sequence[Block], refine: Refine | None = None) -> None:
    """Add one message of the user: the results it carries, then its text."""
    texts: list[str] = []
    for block in blocks:
        if block.kind == "tool_result":
            node, wall = block.node, {} if block.stamp is None else {"answered": block.stamp}
            failed = bool(node.members().get("is_error"))
            outcome = outcome_of(builder, node.get("content"), failed=failed, wall=wall)
            outcome = refine(builder, node, outcome) if refine else outcome
            builder.settle(node, node.label_at("tool_use_id"), outcome)
        else:
            text = part_text(block.node, builder)
            texts.extend([] if text is None else [text])
    if texts:
        builder.say("user", "agent", "\n".join(texts), stamp=blocks[-1].stamp)
