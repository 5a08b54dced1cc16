"""Imports what Codex CLI writes of each session under ``~/.codex/sessions``: rollouts, one JSON object per line.

Policy: the items of the conversation are those of the Responses API, each wrapped with the time it was written; what
else a rollout tells repeats them. Codex says how an MCP call ended, which its output as text does not. What it puts in
front of the user's words (the environment, instructions of the project) is the system's, not the user's.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from sandbox_grader.errors import ImportFormatError, NothingToImportError
from sandbox_grader.importers.base import Imported
from sandbox_grader.importers.openai_responses import ItemPlayer
from sandbox_grader.importers.reading.build import Ending, Names, SessionBuilder, stem
from sandbox_grader.importers.reading.content import joined
from sandbox_grader.importers.reading.json_values import JsonNode, is_object, load
from sandbox_grader.importers.reading.values import decode, stated

ITEM, HEAD, EVENT, TURN, COMPACTED = "response_item", "session_meta", "event_msg", "turn_context", "compacted"
_ASIDE: Final = re.compile(r"\s*(?:<(?:environment_context|user_instructions|\w{1,40}_instructions)>|# AGENTS\.md )")
_HEADING: Final = re.compile(
    r"(?:[A-Z][A-Za-z ]{1,30}: [^\n]{0,80}\n|Process exited with code -?\d{1,9}\n|Process running [^\n]{0,80}\n){1,8}"
    r"Output:\n?"
)
"""What stands above an output: how long it took, and how a command ended."""
_EXIT: Final = re.compile(r"(?:Exit code:|Process exited with code) (-?\d{1,9})\n")


def read(paths: Sequence[Path]) -> Iterator[Imported]:
    """Read the given files.

    Raises:
        ImportFormatError: a file is not a rollout, or holds no item of a conversation.
    """
    names = Names()
    for path in paths:
        loaded = load(path)
        lines = [node for node in loaded.nodes if node.is_object]
        if not any(_kind(line) in (HEAD, ITEM) for line in lines):
            printed = any(_kind(line) == "thread.started" for line in lines)
            problem = f"is not a rollout of Codex: none of its lines is of the type {HEAD!r} or {ITEM!r}" + (
                "; 'codex exec --json' prints less than Codex keeps of the session under ~/.codex/sessions"
                if printed
                else ""
            )
            raise ImportFormatError(str(path), None, problem)
        builder = SessionBuilder("codex", str(path), "", loaded.losses)
        player = _Player(builder, _endings(lines))
        written: list[tuple[str | None, JsonNode]] = []
        for line in lines:
            payload = line.object_at("payload")
            if payload is None:
                continue
            if _kind(line) == HEAD:
                _head(payload, player)
            elif _kind(line) == TURN and not builder.head.agent.get("model"):
                model = payload.string_at("model")
                builder.head = replace(builder.head, agent={**builder.head.agent, **stated(model=model)})
            elif _kind(line) == ITEM:
                written.append((line.string_at("timestamp"), payload))
            elif _kind(line) == COMPACTED:
                builder.lose(line, "the history was compacted here; what the model was shown after it is a summary")
        player.play_at(written)
        if builder.last is None:
            raise NothingToImportError(builder.origin["file"], None, "holds no message and no call")
        yield builder.finish(names.unique(stem(builder.origin["file"])), *_end(lines, builder, cut=loaded.cut))


def _kind(line: JsonNode) -> str:
    return line.string_at("type") or ""


def _head(payload: JsonNode, player: "_Player") -> None:
    builder = player.builder
    version, provider = payload.string_at("cli_version"), payload.string_at("model_provider")
    builder.head = replace(
        builder.head,
        session=builder.head.session or payload.string_at("id") or "",
        agent={**builder.head.agent, **stated(name="codex", provider=provider)},
        versions=stated(codex=version),
    )
    given = payload.get("base_instructions") or payload.get("instructions")
    if given is not None and given.is_object:
        given = given.get("text")
    if given is not None and isinstance(given.value, str):
        player.instruct(given)


def _endings(lines: list[JsonNode]) -> dict[str, bool | str]:
    """How each call of an MCP server ended, by its id: whether it failed, or the error where there was no result."""
    found: dict[str, bool | str] = {}
    for line in lines:
        payload = line.members_at("payload")
        item: Any = payload.get("item") if payload.get("type") == "item_completed" else None
        if is_object(item) and item.get("type") == "McpToolCall":
            found[str(item.get("id"))] = _failed(item.get("result"), item.get("error"))
        elif payload.get("type") == "mcp_tool_call_end":
            result: Any = payload.get("result")
            parts = result if is_object(result) else {}
            found[str(payload.get("call_id"))] = _failed(parts.get("Ok"), parts.get("Err"))
    return found


def _failed(result: Any, error: Any) -> bool | str:
    if error is not None:
        return str(error.get("message") or error) if is_object(error) else str(error)
    flag: Any = (result.get("isError") or result.get("is_error")) if is_object(result) else None
    return flag is True


def _end(lines: list[JsonNode], builder: SessionBuilder, *, cut: bool) -> Ending:
    """A turn that was broken off does not end a session; one that ended in an error is the agent's."""
    events = [line.members_at("payload") for line in lines if _kind(line) == EVENT]
    turns = [event for event in events if event.get("type") in ("task_complete", "turn_aborted", "error")]
    if turns and turns[-1]["type"] == "error":
        return "agent_failed", str(turns[-1].get("message") or "the turn ended in an error")
    if cut or (turns and turns[-1]["type"] == "turn_aborted"):
        return None, None
    return ("recorded" if builder.whole else None), None


class _Player(ItemPlayer):
    """Plays items as Codex writes them."""

    __slots__ = ("_endings", "_times")

    def __init__(self, builder: SessionBuilder, endings: dict[str, bool | str]) -> None:
        super().__init__(builder)
        self._endings = endings
        self._times: dict[int, str | None] = {}

    def play_at(self, written: Sequence[tuple[str | None, JsonNode]]) -> None:
        """Play items, each at the time it was written."""
        items: list[JsonNode] = []
        self._times = {}
        for stamp, item in written:
            # what Codex put in front of the user's words is the system's
            aside = item.members().get("role") == "user" and _ASIDE.match(_first_text(item))
            items.append(replace(item, value={**item.members(), "role": "system"}) if aside else item)
            self._times[id(items[-1])] = stamp
        self.play(items)

    def _item(self, kind: str, item: JsonNode, following: Iterator[JsonNode]) -> None:
        self.stamp = self._times.get(id(item))
        super()._item(kind, item, following)

    def result(self, item: JsonNode) -> None:
        """Add what came of a call: a command by its exit code, a call of a server by what Codex says of it."""
        id_ = item.label_at("call_id")
        text, code = _unwrapped(item, self.builder)
        ending = self._endings.get(id_ or "")
        failed = None if ending is None else ending is not False
        if failed:
            text = text or str(ending)
        elif code is not None:
            failed, text = code != 0, text or (f"exit code {code}" if code else "")
        self.builder.settle(item, id_, self.builder.judge(text, failed))


def _first_text(item: JsonNode) -> str:
    """The text that a message begins with; empty where it begins with something else."""
    content = item.get("content")
    first = next(iter(content.items()), None) if content is not None and content.is_array else content
    text = first.members().get("text") if first is not None and first.is_object else first and first.value
    return text if isinstance(text, str) else ""


def _unwrapped(item: JsonNode, builder: SessionBuilder) -> tuple[str, int | None]:
    """An output without what Codex wrote around it, and the exit code where it was a command's."""
    output = item.get("output")
    if output is not None and output.is_object:
        output = output.get("content") or output
    text = joined(output, builder)
    heading = _HEADING.match(text)
    if heading:
        code = _EXIT.search(heading[0])
        return text[heading.end() :], int(code[1]) if code else None
    wrapped: Any = decode(text)
    if is_object(wrapped) and set(wrapped) == {"output", "metadata"} and is_object(wrapped["metadata"]):
        code: Any = wrapped["metadata"].get("exit_code")
        return str(wrapped["output"]), code if isinstance(code, int) else None
    return text, None
