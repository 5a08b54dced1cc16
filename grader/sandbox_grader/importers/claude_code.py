"""Imports the session files of Claude Code: JSON Lines, a forest of lines, with sub-agents in the file or beside it.

What its command prints (``--output-format stream-json``, or ``json`` with ``--verbose``) is read as well.

Policy: one session per conversation in a file. Sub-agents are part of the session that started them, at their time:
their calls are its, what they said are notes. What was copied from another session is left out. An output that was too
long for the session file is read from ``tool-results`` where it is still there. What the host put in (caveats,
commands, summaries) comes from the system, not from the user; what was typed while the agent worked, from the user.
What the agent writes beside its calls is shown to the user.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from sandbox_grader.errors import NothingToImportError
from sandbox_grader.importers.base import Faults, Imported
from sandbox_grader.importers.reading.blocks import Block, agent_blocks, blocks_of, user_blocks
from sandbox_grader.importers.reading.build import CallOutcome, Names, SessionBuilder
from sandbox_grader.importers.reading.claude_tree import QUEUED, Thread, TreeLine, broken_in, lines_of, threads_of
from sandbox_grader.importers.reading.content import joined
from sandbox_grader.importers.reading.json_values import JsonNode, Loaded, is_object, load, read_bytes
from sandbox_grader.importers.reading.values import decode, seconds, stated
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.trajectory import ErrorKind

PERSISTED = "<persisted-output>"
"""How a result begins whose full text was put into a file."""

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
    given = dict.fromkeys(file for path in paths for file in files(path))
    inner = {file: [other for other in given if _folder(file) in other.parents] for file in given}
    beside = {other for others in inner.values() for other in others}
    for path in (file for file in given if file not in beside):
        loaded = load(path).unfolded()
        doubled: list[JsonNode] = []
        lines = list(lines_of(loaded.nodes, doubled))
        threads = threads_of(lines)
        faults = Faults()
        for other in inner[path]:
            with faults.aside():
                threads += threads_of(list(lines_of(load(other).unfolded().nodes, doubled)))
        own = [thread for thread in threads if not thread.sidechain]
        subs = [thread for thread in threads if thread.sidechain] if own else []
        threads = own or threads
        nodes = [node for node in loaded.nodes if node.is_object]
        for other in loaded.nodes[: not nodes]:
            other.members()  # raises, as this is not one
        if not threads and any(node.members().get("type") == "result" for node in nodes):
            told = "holds the last result alone, as --output-format json prints it; add --verbose, or use stream-json"
            raise NothingToImportError(str(path), None, told)
        noted = (any(map(node.get, ("sessionId", "session_id", "leafUuid"))) for node in nodes)
        if not threads and not all(noted):  # lines that the host writes for itself are a session, if an empty one
            raise NothingToImportError(str(path), None, "holds no message of a user or an agent")
        kinds = Counter(str(node.value["type"]) for node in nodes if not broken_in(node))
        kinds -= Counter(line.kind for line in lines if line.typed)
        of_thread = _by_starter(own, subs)
        for number, thread in enumerate(threads):
            builder = SessionBuilder("claude-code", str(path), path.stem, loaded.losses)
            if number == 0:
                for node in doubled:
                    what = broken_in(node) or "has the uuid of an earlier line and another message"
                    builder.lose(node, f"{what}; it is left out")
                for kind in sorted(kinds.keys() - {"user", "assistant"}):
                    told = f"lines of type {kind!r} ({kinds[kind]})"
                    builder.lose(told, "what the host noted for itself is not kept")
            of_it = (node for node in nodes if node.members().get("session_id") == thread.lines[0].session)
            stated = [cost for node in of_it if (cost := node.members().get("total_cost_usd")) is not None]
            builder.spend(nodes[-1].child("cost", {"cost": stated[-1]}) if stated else None)
            with faults.aside():
                yield _session(number, thread, of_thread.get(number, []), builder, names, loaded)
        faults.tell()


def files(path: Path) -> list[Path]:
    """A session's file with those of its sub-agents, or those of all sessions in a project's directory."""
    if path.is_dir():
        return [file for session in sorted(path.glob("*.jsonl")) for file in files(session)]
    return [path, *sorted(_folder(path).rglob("*.jsonl"))]


def _folder(path: Path) -> Path:
    """Where the files of a session's sub-agents are, however deep."""
    return path.with_suffix("") / "subagents"


def _by_starter(own: Sequence[Thread], subs: Sequence[Thread]) -> dict[int, list[Thread]]:
    """The sub-agents of each conversation: of the one with the call that started them, else of the last before them."""
    called = {id_: n for n, thread in enumerate(own) for line in thread.lines for id_ in line.ids("tool_use", "id")}
    told = {
        str(answer.get("agentId")): n
        for n, thread in enumerate(own)
        for line in thread.lines
        if is_object(answer := line.node.members().get("toolUseResult")) and answer.get("agentId")
    }
    found: dict[int, list[Thread]] = {}
    for sub in subs:
        first = sub.lines[0]
        agent, time = first.node.string_at("agentId") or "", first.node.string_at("timestamp") or ""
        before = [n for n, thread in enumerate(own) if (thread.lines[0].node.string_at("timestamp") or "") <= time]
        starter = called.get(first.started_by or "", told.get(agent, before[-1] if before else 0))
        found.setdefault(starter, []).append(sub)
    return found


def _in_time(thread: Thread, subs: Sequence[Thread]) -> list[TreeLine]:
    """The lines of a conversation and its sub-agents, by their times and, where these are equal, as they stand."""
    placed: list[tuple[float, int, TreeLine]] = []
    for lines in (thread.lines, *(sub.lines for sub in subs)):
        latest = 0.0  # a line is not before those that it follows, whatever its time says
        for line in lines:
            latest = max(latest, seconds(line.node.members().get("timestamp")) or 0.0)
            placed.append((latest, line.index, line))
    return [line for *_, line in sorted(placed, key=lambda item: item[:2])] if subs else list(thread.lines)


def _session(
    number: int, thread: Thread, subs: Sequence[Thread], builder: SessionBuilder, names: Names, loaded: Loaded
) -> Imported:
    session, agent = thread.lines[0].session, _agent_id(thread)
    version = next((found for line in thread.lines if (found := line.node.string_at("version"))), None)
    spoken = (line.node.need("message").string_at("model") for line in thread.lines if line.kind == "assistant")
    model = next((found for found in spoken if found and not found.startswith("<")), None)
    builder.head = replace(
        builder.head, session=session if session and number == 0 and not thread.sidechain else "",
        agent=stated(name="claude-code", version=version, model=model),
    )  # fmt: skip
    if thread.sidechain:
        builder.origin.update({"parent": session, "agent_id": agent})
        builder.lose("session", "what the main agent told this sub-agent stands as said by its user")
    if subs:
        told = "their calls are part of the session, what was said between them and the main agent are notes"
        builder.lose(f"sub-agents ({len(subs)})", told)
    by_message: dict[str, list[TreeLine]] = {}  # the lines of one API message count at the first of them
    everything = _in_time(thread, subs)
    copied = {line.uuid for line in everything if line.node.get("forkedFrom") is not None}
    if copied:
        builder.lose(f"lines ({len(copied)})", "copied from the session that this one forked from; they are left out")
    handed = {str(line.typed.value) for line in everything if line.kind == "attachment" and line.typed}
    for line in everything:
        if line.uuid in copied or (line.kind == QUEUED and line.typed and str(line.typed.value) in handed):
            continue
        by_message.setdefault(line.uuid if line.message_id is None else f"message {line.message_id}", []).append(line)
    for lines in by_message.values():
        first = lines[0]
        with builder.aside(really=first.sidechain and not thread.sidechain):
            _play(lines, builder)
    if thread.abandoned:
        calls = sum(len(line.ids("tool_use", "id")) for line in thread.abandoned)
        told = f"{counted(len(thread.abandoned), 'line')} with {counted(calls, 'tool call')}"
        builder.lose("branches", f"{told} on branches that a retry abandoned")
    for line in thread.orphans if not copied else ():
        builder.lose(line.node, f"its parent {line.parent!r} is not in the file; the line before was taken")
    name = names.unique(builder.head.scenario, _agent_id(thread))
    if _is_api_error([line for line in thread.lines if line.talks][-1]):
        return builder.finish(name, "agent_failed", "the model's endpoint failed")
    return builder.finish(name, "recorded" if builder.whole and not loaded.cut else None)


def _play(lines: Sequence[TreeLine], builder: SessionBuilder) -> None:
    """Add the lines of one message, or one line of anything else."""
    first = lines[0]
    if first.kind == "assistant":
        for line in filter(_is_api_error, lines):
            text = joined(line.node.need("message").get("content"), builder)
            builder.lose(line.node, f"the model's endpoint failed: {text[:200]}")
        blocks = [block for line in lines if not _is_api_error(line) for block in _blocks(line)]
        agent_blocks(builder, blocks, seen_by=("agent", "user"))
        builder.spend(lines[-1].node.need("message").get("usage"))  # every line repeats it, and the last is whole
        builder.spend(lines[-1].node)  # where older versions state the cost
    elif first.kind == "user":
        _user(builder, first, Path(first.node.path))
    elif (typed := first.typed) is not None:
        attachment = first.node.members_at("attachment")
        hosts = attachment.get("commandMode", "prompt") != "prompt" or _of_host(attachment)
        text, stamp = joined(typed, builder), first.node.members().get("timestamp")
        builder.say("system" if hosts else "user", "agent", text, stamp=stamp)
    elif first.node.members().get("subtype") == "compact_boundary":
        builder.lose(first.node, "the host replaced what came before by a summary in the agent's context")


def _agent_id(thread: Thread) -> str:
    found = thread.lines[0].node.string_at("agentId") or thread.lines[0].started_by
    return f"agent-{found or 'side'}" if thread.sidechain else ""


def _is_api_error(line: TreeLine) -> bool:
    return line.node.members().get("isApiErrorMessage") is True


def _blocks(line: TreeLine) -> list[Block]:
    return blocks_of(line.node.need("message").get("content"), line.node.members().get("timestamp"))


def _user(builder: SessionBuilder, line: TreeLine, path: Path) -> None:
    def refine(builder: SessionBuilder, result: JsonNode, outcome: CallOutcome) -> CallOutcome:
        if outcome.error is not None:
            message = outcome.error.text
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
    """Kind of a message that the host wrote in the user's name, or None where it was the user or a result."""
    members = line.node.members()
    if any(block.kind == "tool_result" for block in blocks):
        return None
    if members.get("isCompactSummary") is True:
        return "summary"
    if members.get("isMeta") is True:
        return "meta"
    return "host" if _of_host(members) else None


def _of_host(members: Mapping[str, Any]) -> bool:
    """True if a message in the user's name says itself that it does not come from a person."""
    origin = members.get("origin")
    return is_object(origin) and origin.get("kind", "human") != "human"


def _full_text(path: Path, id_: str) -> str | None:
    """The output kept beside the session; the id is the file's name, so it may not be a path of any kind."""
    if not _SAFE.fullmatch(id_):
        return None
    for folder in (path.with_suffix(""), path.parent.parent):
        file = folder / "tool-results" / f"{id_}.txt"
        if file.is_file():
            return read_bytes(file).decode(errors="replace")
    return None
