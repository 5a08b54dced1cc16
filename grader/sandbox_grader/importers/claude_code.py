"""Imports the session files of Claude Code: JSON Lines, a forest of lines, with sub-agents in the file or beside it.

What its command prints (``--output-format stream-json``, or ``json`` with ``--verbose``) is read as well.

Policy: one session per conversation in a file, sub-agents as sessions of their own. An output that was too long for
the session file is read from ``tool-results`` where it is still there. What the host put in (caveats, commands,
summaries) comes from the system, not from the user. What the agent writes beside its calls is shown to the user.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

from sandbox_grader.errors import NothingToImportError
from sandbox_grader.importers.base import Imported
from sandbox_grader.importers.reading.blocks import Block, agent_blocks, blocks_of, user_blocks
from sandbox_grader.importers.reading.build import CallOutcome, Names, SessionBuilder
from sandbox_grader.importers.reading.claude_tree import Thread, TreeLine, lines_of, threads_of
from sandbox_grader.importers.reading.content import joined
from sandbox_grader.importers.reading.json_values import JsonNode, Loaded, load, read_bytes
from sandbox_grader.importers.reading.values import decode
from sandbox_mcp.plurals import counted
from sandbox_mcp.trajectory import ErrorKind

PERSISTED = "<persisted-output>"
"""How a result begins whose full text was put into a file."""

HOST_TEXTS = ("<command-name>", "<command-message>", "<local-command-", "<bash-input>", "<bash-stdout>")
"""How user lines begin that the host wrote about its own commands."""

KINDS: Final = MappingProxyType[str, ErrorKind](
    {
        "No such tool available": "unknown_tool",
        "An unexpected parameter": "unknown_argument",
        "required parameter": "missing_argument",
        "type is expected as": "wrong_type",
        "InputValidationError": "invalid_format",
        "The user doesn't want to proceed": "refused",
        "has been denied": "refused",
    }
)
"""What the host says when it did not run a call, by the first of these that its text contains."""

_SAFE = re.compile(r"[A-Za-z0-9_-]{1,200}")


def read(paths: Sequence[Path]) -> Iterator[Imported]:
    """Read the given session files, or all of a project's directory, each with its sub-agents.

    Raises:
        ImportFormatError: a file is not a session file.
    """
    names = Names()
    for path in dict.fromkeys(file for given in paths for file in _files(given)):
        loaded = load(path)
        if not loaded.lines and loaded.nodes[0].is_array:
            loaded = replace(loaded, nodes=tuple(loaded.nodes[0].items()))
        lines = list(lines_of(loaded.nodes))
        threads = threads_of(lines)
        noted = (any(map(node.get, ("sessionId", "session_id", "leafUuid"))) for node in loaded.nodes)
        if not threads and not all(noted):  # lines that the host writes for itself are a session, if an empty one
            raise NothingToImportError(str(path), None, "holds no message of a user or an agent")
        for number, thread in enumerate(threads):
            builder = SessionBuilder("claude-code", str(path), path.stem, loaded.losses)
            if number == 0:
                kinds = Counter(str(node.value["type"]) for node in loaded.nodes)
                for kind in sorted(kinds.keys() - {"user", "assistant"}):
                    builder.lose(
                        f"lines of type {kind!r} ({kinds[kind]})", "what the host noted for itself is not kept"
                    )
            yield _session(number, thread, builder, names, loaded)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return [file for session in sorted(path.glob("*.jsonl")) for file in _files(session)]
    return [path, *sorted((path.with_suffix("") / "subagents").glob("*.jsonl"))]


def _session(number: int, thread: Thread, builder: SessionBuilder, names: Names, loaded: Loaded) -> Imported:
    _describe(thread, builder, first=number == 0)
    for group in _messages(thread.lines):
        if group[0].kind == "assistant":
            _agent(builder, group)
        elif group[0].kind == "user":
            _user(builder, group[0], Path(builder.origin["file"]))
        elif group[0].node.members().get("subtype") == "compact_boundary":
            builder.lose(group[0].node, "the host replaced what came before by a summary in the agent's context")
    if thread.abandoned:
        calls = sum(len(line.ids("tool_use", "id")) for line in thread.abandoned)
        lines = counted(len(thread.abandoned), "line")
        what = f"{lines} with {counted(calls, 'tool call')} on branches that a retry abandoned"
        builder.lose("branches", what)
    for line in thread.orphans:
        builder.lose(line.node, f"its parent {line.parent!r} is not in the file; the line before was taken")
    name = names.unique(builder.head.scenario, _agent_id(thread))
    if _is_api_error([line for line in thread.lines if line.talks][-1]):
        return builder.finish(name, "agent_failed", "the model's endpoint failed")
    return builder.finish(name, "recorded" if builder.whole and not loaded.cut else None)


def _describe(thread: Thread, builder: SessionBuilder, *, first: bool) -> None:
    session, agent = thread.lines[0].session, _agent_id(thread)
    version = next((found for line in thread.lines if (found := line.node.string_at("version"))), None)
    model = next((found for line in thread.lines if (found := _model(line)) and not found.startswith("<")), None)
    known = {"name": "claude-code", "version": version, "model": model}
    builder.head = replace(
        builder.head, session=session if session and first and not thread.sidechain else "",
        agent={key: value for key, value in known.items() if value},
    )  # fmt: skip
    if thread.sidechain:
        builder.origin.update({"parent": session, "agent_id": agent})
        builder.lose("session", "what the main agent told this sub-agent stands as said by its user")


def _agent_id(thread: Thread) -> str:
    found = thread.lines[0].node.string_at("agentId") or thread.lines[0].started_by
    return f"agent-{found or 'side'}" if thread.sidechain else ""


def _model(line: TreeLine) -> str | None:
    return line.node.need("message").string_at("model") if line.kind == "assistant" else None


def _messages(lines: Sequence[TreeLine]) -> list[list[TreeLine]]:
    """The lines with those of one API message gathered at the first of them."""
    groups: dict[str, list[TreeLine]] = {}
    for line in lines:
        id_ = line.message_id
        groups.setdefault(line.uuid if id_ is None else f"message {id_}", []).append(line)
    return list(groups.values())


def _agent(builder: SessionBuilder, lines: list[TreeLine]) -> None:
    spoken = [line for line in lines if not _is_api_error(line)]
    for line in lines:
        if _is_api_error(line):
            text = joined(line.node.need("message").get("content"), builder)
            builder.lose(line.node, f"the model's endpoint failed: {text[:200]}")
    blocks = [block for line in spoken for block in _blocks(line)]
    agent_blocks(builder, blocks, seen_by=("agent", "user"))


def _is_api_error(line: TreeLine) -> bool:
    return line.node.members().get("isApiErrorMessage") is True


def _blocks(line: TreeLine) -> list[Block]:
    stamp = line.node.get("timestamp")
    return blocks_of(line.node.need("message").get("content"), None if stamp is None else stamp.value)


def _user(builder: SessionBuilder, line: TreeLine, path: Path) -> None:
    def refine(builder: SessionBuilder, result: JsonNode, outcome: CallOutcome) -> CallOutcome:
        if outcome.error is not None:
            message = outcome.error.message
            kind = next((kind for text, kind in KINDS.items() if text in message), outcome.error.kind)
            return replace(outcome, error=replace(outcome.error, kind=kind), stated=kind != "execution")
        if not isinstance(outcome.result, str) or not outcome.result.startswith(PERSISTED):
            return outcome
        text = _full_text(path, result.label_at("tool_use_id") or "")
        if text is None:
            builder.lose(result, "the output was too long for the session file and its own file is missing")
            return replace(outcome, meta={**outcome.meta, "result_truncated": True})
        return replace(outcome, result=decode(text))

    blocks = _blocks(line)
    kind = _host_kind(line, blocks)
    if kind is None:
        user_blocks(builder, blocks, refine)
        return
    text = joined(line.node.need("message").get("content"), builder)
    builder.say("system", "agent", text, stamp=blocks[0].stamp if blocks else None, kind=kind)


def _host_kind(line: TreeLine, blocks: Sequence[Block]) -> str | None:
    """What the host wrote in the user's name, or None where it was the user or a result."""
    members = line.node.members()
    if any(block.kind == "tool_result" for block in blocks):
        return None
    if members.get("isCompactSummary") is True:
        return "summary"
    if members.get("isMeta") is True:
        return "meta"
    first = blocks[0].node.value if blocks else None
    return "command" if isinstance(first, str) and first.startswith(HOST_TEXTS) else None


def _full_text(path: Path, id_: str) -> str | None:
    """The output kept beside the session; the id is the file's name, so it may not be a path of any kind."""
    if not _SAFE.fullmatch(id_):
        return None
    for folder in (path.with_suffix(""), path.parent.parent):
        file = folder / "tool-results" / f"{id_}.txt"
        if file.is_file():
            return read_bytes(file).decode(errors="replace")
    return None
