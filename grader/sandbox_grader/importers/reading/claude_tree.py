"""The conversations in a Claude Code session file, whose lines form a forest by ``parentUuid``.

Policy: each root is a conversation of its own, sub-agents (``isSidechain``) too. Of its branches the one that was
continued last is the session; the others were abandoned on a retry. Parallel calls fork as well without being a
retry: the lines of one API message, and the results of its calls, belong together on whatever branch they stand.
Lines that name no parent follow each other: all of a session in which none does, as in what the command prints, and
elsewhere those that cannot begin anything, which are the agent's and the results of calls. What the host notes of a
summary that it put in the place of the history, and of words typed while the agent worked, belongs to the line before.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sandbox_grader.importers.reading.json_values import JsonNode


@dataclass(frozen=True, slots=True)
class TreeLine:
    """One line of a session file that has a place in the forest."""

    index: int
    node: JsonNode
    kind: str
    uuid: str
    parent: str | None
    sidechain: bool

    @property
    def session(self) -> str | None:
        """The session that the line belongs to, by its id."""
        return self.node.string_at("sessionId") or self.node.string_at("session_id")

    @property
    def started_by(self) -> str | None:
        """The call that started the sub-agent whose line this is, where the line tells."""
        return self.node.string_at("parent_tool_use_id")

    @property
    def place(self) -> tuple[str | None, bool, str | None]:
        """Whose line it is: its session's, and there the main agent's or a sub-agent's."""
        return self.session, self.sidechain, self.started_by

    @property
    def answers(self) -> bool:
        """True if it follows from something that came before it, so that no conversation can begin with it."""
        return self.kind == "assistant" or bool(self.ids("tool_result", "tool_use_id"))

    @property
    def typed(self) -> JsonNode | None:
        """What the user typed while the agent worked, where the line is how the host handed it over."""
        attachment = self.node.object_at("attachment")
        if attachment is not None and attachment.members().get("type") == "queued_command":
            return attachment.get("prompt")
        return self.node.get("content") if self.kind == QUEUED else None

    @property
    def sums_up(self) -> bool:
        """True if it tells of a summary in the place of what came before."""
        members = self.node.members()
        return members.get("subtype") == "compact_boundary" or members.get("isCompactSummary") is True

    @property
    def talks(self) -> bool:
        """True if it is a message of the user or the agent, results included."""
        return self.kind in {"user", "assistant"}

    def blocks(self) -> list[JsonNode]:
        """The content blocks of its message that are objects."""
        message = self.node.get("message") if self.talks else None
        content = message.get("content") if message is not None else None
        return [item for item in content.items() if item.is_object] if content is not None and content.is_array else []

    def ids(self, kind: str, member: str) -> set[str]:
        """The ids in its blocks of one type."""
        blocks = (block for block in self.blocks() if block.members().get("type") == kind)
        return {id_ for block in blocks if (id_ := block.label_at(member)) is not None}

    @property
    def message_id(self) -> str | None:
        """The id of the API message it is a part of."""
        return self.node.need("message").label_at("id") if self.kind == "assistant" else None


@dataclass(frozen=True, slots=True)
class Thread:
    """One conversation: the lines of its last branch, those of abandoned ones, and lines whose parent is missing."""

    lines: tuple[TreeLine, ...]
    abandoned: tuple[TreeLine, ...]
    orphans: tuple[TreeLine, ...]

    @property
    def sidechain(self) -> bool:
        """True if it is a sub-agent's."""
        return self.lines[0].sidechain


QUEUED = "queue-operation"
"""Type of the lines that tell what became of words that the user typed while the agent worked."""


def lines_of(nodes: Sequence[JsonNode], left_out: list[JsonNode]) -> Iterator[TreeLine]:
    """The lines that have a place in the forest: those with a ``uuid``, and messages without one, in file order.

    A host that goes on with a session writes its lines again. To ``left_out`` go broken ones, and other words of one.
    """
    seen: dict[str, Any] = {}
    last: str | None = None
    for index, node in enumerate(nodes):
        if broken_in(node) is not None:
            left_out.append(node)
            continue
        kind = node.need("type").string()
        typed = (
            kind == QUEUED and node.members().get("reason") == "absorbed_mid_turn" and node.get("content") is not None
        )
        uuid = node.string_at("uuid") or (f"line {index}" if kind in {"user", "assistant"} or typed else None)
        if uuid is None:
            continue
        said = node.members().get("message")
        if uuid in seen:
            if said != seen[uuid]:
                left_out.append(node)
            continue
        seen[uuid] = said
        parent = node.string_at("parentUuid") or node.string_at("logicalParentUuid")
        aside = node.members().get("isSidechain") is True or node.string_at("parent_tool_use_id") is not None
        line = TreeLine(index, node, kind, uuid, parent, aside)
        if typed or (line.sums_up and parent not in seen):
            line = replace(line, parent=last)
        if not aside:
            last = uuid
        yield line


def broken_in(node: JsonNode) -> str | None:
    """Fault for which a line cannot be one of a host's; None where it has none."""
    if not node.is_object:
        return "is no object"
    message = node.object_at("message")
    if message is not None and message.get("role") is not None and "content" not in message.members():
        return "has a message without 'content'"
    return None if isinstance(node.members().get("type"), str) else "has no 'type'"


def threads_of(lines: Sequence[TreeLine]) -> list[Thread]:
    """The conversations, in the order of their first lines; trees without a message are left out."""
    known = {line.uuid for line in lines}
    orphans = {line.uuid for line in lines if line.parent is not None and line.parent not in known}
    parents = _parents(lines)
    roots = _roots(lines, parents)
    trees: dict[str, list[TreeLine]] = {}
    for line in lines:
        trees.setdefault(roots[line.uuid], []).append(line)
    threads: list[Thread] = []
    for tree in (tree for tree in trees.values() if any(line.talks for line in tree)):
        path: set[str] = set()
        at: str | None = [line for line in tree if line.talks][-1].uuid
        while at is not None and at not in path:  # a cycle ends where it closes
            path.add(at)
            at = parents[at]
        # the other lines of the branch's API messages and the results of their calls belong to it, too
        messages = {line.message_id for line in tree if line.uuid in path} - {None}
        branch = path | {line.uuid for line in tree if line.message_id in messages}
        called = {id_ for line in tree if line.uuid in branch for id_ in line.ids("tool_use", "id")}
        chosen = branch | {line.uuid for line in tree if line.ids("tool_result", "tool_use_id") & called}
        for line in tree:  # in order, as one of these may follow another
            chosen |= {line.uuid} if parents[line.uuid] in chosen and (line.typed or line.sums_up) else set()
        lines_of_it = tuple(line for line in tree if line.uuid in chosen)
        left = (line for line in tree if line.talks and line.uuid not in chosen)
        abandoned = tuple(line for line in left if not line.sums_up)
        threads.append(Thread(lines_of_it, abandoned, tuple(line for line in tree if line.uuid in orphans)))
    return threads


def _parents(lines: Sequence[TreeLine]) -> dict[str, str | None]:
    """Each line's parent: the line before it where none is named, and none across the border of a sub-agent."""
    by_uuid = {line.uuid: line for line in lines}
    linked = {line.place for line in lines if line.parent is not None}
    before: dict[bool | tuple[str | None, bool, str | None], str] = {}
    parents: dict[str, str | None] = {}
    for line in lines:
        named = by_uuid.get(line.parent) if line.parent is not None else None
        if named is not None:
            parents[line.uuid] = named.uuid if named.sidechain == line.sidechain else None
        else:
            lost = line.parent is not None or line.uuid.startswith("line ")
            follows = line.place not in linked or line.answers
            parents[line.uuid] = before.get(line.sidechain) if lost else before.get(line.place) if follows else None
        before[line.sidechain] = before[line.place] = line.uuid
    return parents


def _roots(lines: Sequence[TreeLine], parents: dict[str, str | None]) -> dict[str, str]:
    """The root above each line; a cycle counts as one root. Linear, because no line is walked through twice."""
    roots: dict[str, str] = {}
    for line in lines:
        path: dict[str, None] = {}
        at: str | None = line.uuid
        while at is not None and at not in roots and at not in path:
            path[at] = None
            at = parents[at]
        top = list(path)[-1] if at is None or at in path else roots[at]
        roots.update(dict.fromkeys(path, top))
    return roots
