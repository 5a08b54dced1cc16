"""Imports what Codex CLI writes of each session under ``~/.codex/sessions``: rollouts, one JSON object per line.

Policy: the items of the conversation are those of the Responses API, each wrapped with the time it was written; what
else a rollout tells repeats them. Codex says how an MCP call ended, which its output as text does not. What it puts in
front of the user's words (the environment, instructions of the project) is the system's, not the user's. Turns that
were rolled back, and what was copied from the session that a rollout forked from, are left out and listed; the rollouts
of sub-agents that are read with that of their session are part of it, at their time.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from sandbox_grader.errors import ImportFormatError, NothingToImportError
from sandbox_grader.importers.base import Imported
from sandbox_grader.importers.openai_responses import ItemPlayer
from sandbox_grader.importers.reading.build import Ending, Names, SessionBuilder, stem
from sandbox_grader.importers.reading.content import joined
from sandbox_grader.importers.reading.json_values import JsonNode, Loaded, is_object, load
from sandbox_grader.importers.reading.manners import speakers_in
from sandbox_grader.importers.reading.values import decode, stated
from sandbox_mcp.engine.plurals import counted

ITEM, HEAD, EVENT, TURN, COMPACTED = "response_item", "session_meta", "event_msg", "turn_context", "compacted"
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
    rollouts = [(path, *_lines(load(path).unfolded(), path)) for path in paths]
    heads = {id_ for _, lines, _ in rollouts if (id_ := _head_of(lines).string_at("id"))}
    inner: dict[str, list[list[JsonNode]]] = {}
    for _, lines, _ in rollouts:
        parent = _started_by(_head_of(lines))
        if parent in heads:
            inner.setdefault(str(parent), []).append(lines)
    for path, lines, loaded in rollouts:
        head = _head_of(lines)
        if _started_by(head) in heads:
            continue
        builder = SessionBuilder("codex", str(path), "", loaded.losses)
        if _started_by(head) is not None:
            builder.origin["parent"] = _started_by(head)
        for node in (node for node in loaded.nodes if not node.is_object):
            builder.lose(node, "is no object; it is left out")
        subs = _below(str(head.members().get("id")), inner)
        _play(builder, lines, subs)
        if builder.last is None:
            raise NothingToImportError(builder.origin["file"], None, "holds no message and no call")
        yield builder.finish(names.unique(stem(builder.origin["file"])), *_end(lines, builder, cut=loaded.cut))


def _lines(loaded: Loaded, path: Path) -> tuple[list[JsonNode], Loaded]:
    lines = [node for node in loaded.nodes if node.is_object]
    if any("record_type" in line.members() for line in lines):
        bare = [line for line in lines if "record_type" not in line.members()]  # as versions before 0.44 wrote
        lines = [replace(line, value={"type": ITEM if _kind(line) else HEAD, "payload": line.value}) for line in bare]
    if not any(_kind(line) in (HEAD, ITEM) for line in lines):
        printed = any(_kind(line) == "thread.started" for line in lines)
        problem = f"is not a rollout of Codex: none of its lines is of the type {HEAD!r} or {ITEM!r}" + (
            "; 'codex exec --json' prints less than Codex keeps of the session under ~/.codex/sessions"
            if printed
            else ""
        )
        raise ImportFormatError(str(path), None, problem)
    return lines, loaded


def _head_of(lines: Sequence[JsonNode]) -> JsonNode:
    """What a rollout says of its session; the heads that follow are those of sessions it was copied from."""
    found = (line.object_at("payload") for line in lines if _kind(line) == HEAD)
    return next(filter(None, found), lines[0].child("payload", {}))


def _started_by(head: JsonNode) -> str | None:
    """The session whose agent started the sub-agent of a rollout, None where it is no sub-agent's."""
    source: Any = head.members().get("source")
    spawned: Any = source.get("subagent") if is_object(source) else None
    spawned = spawned.get("thread_spawn", spawned) if is_object(spawned) else None
    return str(spawned["parent_thread_id"]) if is_object(spawned) and spawned.get("parent_thread_id") else None


def _below(session: str, inner: dict[str, list[list[JsonNode]]]) -> list[list[JsonNode]]:
    """The rollouts of a session's sub-agents, and of theirs."""
    found = inner.pop(session, [])
    return [*found, *(more for lines in found for more in _below(str(_head_of(lines).members().get("id")), inner))]


def _play(builder: SessionBuilder, lines: list[JsonNode], subs: list[list[JsonNode]]) -> None:
    """Add a rollout, and those of its sub-agents at their time."""
    if subs:
        told = "their calls are part of the session, what was said between them and the main agent are notes"
        builder.lose(f"sub-agents ({len(subs)})", told)
    written: list[tuple[_Player, str | None, JsonNode]] = []
    for number, own in enumerate([lines, *subs]):
        player = _Player(builder, _endings(own), aside=number > 0)
        told = _kept(own, builder)
        for line in told:
            payload = line.object_at("payload")
            if payload is None:
                continue
            if _kind(line) == HEAD and number == 0:
                _head(payload, player)
            elif _kind(line) == TURN and not builder.head.agent.get("model"):
                model = payload.string_at("model")
                builder.head = replace(builder.head, agent={**builder.head.agent, **stated(model=model)})
            elif _kind(line) == ITEM:
                written.append((player, line.string_at("timestamp"), payload))
            elif _kind(line) == COMPACTED:
                builder.lose(line, "the history was compacted here; what the model was shown after it is a summary")
        _lose_unknown(told, builder)
        spent, requests = _spent(told)
        builder.spend(spent, requests=requests)
    if subs and all(stamp for _, stamp, _ in written):
        written.sort(key=lambda item: item[1] or "")
    for player, group in groupby(written, key=lambda item: item[0]):
        player.play_at([(stamp, item) for _, stamp, item in group])


def _lose_unknown(lines: list[JsonNode], builder: SessionBuilder) -> None:
    for kind, times in Counter(map(_kind, lines)).items():
        if kind not in (ITEM, HEAD, EVENT, TURN, COMPACTED):
            builder.lose(f"lines of type {kind!r} ({times})", "what the host noted for itself is not kept")


def _kept(lines: list[JsonNode], builder: SessionBuilder) -> list[JsonNode]:
    """The lines that are of this session and were not taken back."""
    heads = [index for index, line in enumerate(lines) if _kind(line) == HEAD]
    forked = _head_of(lines).members().get("forked_from_id")
    if forked is not None:
        own = next(
            (index for index, line in enumerate(lines) if _kind(line) == TURN and index > heads[-1]), heads[-1] + 1
        )
        begun = [line for line in lines[own:] if _kind(line) != HEAD]
        if len(heads) > 1:
            copied = sum(_kind(line) == ITEM for line in lines[:own])
            builder.lose(f"items ({copied})", f"copied from the session {forked!r}; they are left out")
            lines = [lines[heads[0]], *begun]
    kept: list[JsonNode] = []
    for line in lines:
        payload = line.members_at("payload")
        if _kind(line) == EVENT and payload.get("type") == "thread_rolled_back":
            starts = [index for index, item in enumerate(kept) if _is_users(item)]
            turns = int(payload.get("num_turns") or 0)
            at = starts[-turns] if 0 < turns <= len(starts) else (starts[0] if turns else len(kept))
            gone = sum(_kind(item) == ITEM for item in kept[at:])
            builder.lose(line, f"turns that were rolled back ({turns}, of {counted(gone, 'item')}) are left out")
            del kept[at:]
        else:
            kept.append(line)
    return kept


def _is_users(line: JsonNode) -> bool:
    """True if a line is what the user said at the beginning of a turn."""
    payload = line.object_at("payload") if _kind(line) == ITEM else None
    if payload is None or payload.members().get("role") != "user":
        return False
    return any(not hosts for _, hosts in speakers_in(_first_text(payload)))


def _spent(lines: list[JsonNode]) -> tuple[JsonNode | None, int]:
    """The tokens of a whole session, which its last count tells, and the number of requests that added to them."""
    totals: list[JsonNode] = []
    for line in lines:
        payload = line.object_at("payload")
        if payload is not None and _kind(line) == EVENT and payload.members().get("type") == "token_count":
            info = payload.object_at("info")
            total = info.object_at("total_token_usage") if info is not None else None
            if total is not None and not (totals and totals[-1].value == total.value):
                totals.append(total)
    return (totals[-1], len(totals)) if totals else (None, 0)


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
    """Endings of an MCP server's calls by id: failed or not, or the error where there was no result."""
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

    __slots__ = ("_aside", "_endings", "_times")

    def __init__(self, builder: SessionBuilder, endings: dict[str, bool | str], *, aside: bool) -> None:
        super().__init__(builder)
        self._aside = aside
        self._endings = endings
        self._times: dict[int, str | None] = {}

    def play_at(self, written: Sequence[tuple[str | None, JsonNode]]) -> None:
        """Play items, each at the time it was written."""
        items = [item for _, item in written]
        self._times = {id(item): stamp for stamp, item in written}
        with self.builder.aside(really=self._aside):
            self.play(items)

    def _item(self, kind: str, item: JsonNode, following: Iterator[JsonNode]) -> None:
        self.stamp = self._times.get(id(item))
        if kind == "agent_message":  # of a sub-agent, to the one that started it
            with self.builder.aside():
                self.builder.say("agent", "agent", joined(item.get("content"), self.builder), stamp=self.stamp)
        else:
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
