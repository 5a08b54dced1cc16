"""Imports captures of the Model Context Protocol: JSON-RPC messages of both directions, one per line.

Policy: a line is a message, a batch of them, or an envelope around one with the time, the direction or a session's
name. Ids are unique per sender only, so the sender of a request is told by its method. Only tool calls and tool lists
are a session; a call that was asked for input and sent again is one call, and one that became a task ends with what the
task came to. What user and agent said is unknown; the session ends where every call was answered.
"""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from sandbox_grader.errors import NothingToImportError
from sandbox_grader.importers.base import Faults, Imported
from sandbox_grader.importers.reading import chats
from sandbox_grader.importers.reading.build import CallOutcome, Names, OpenCall, SessionBuilder, stem
from sandbox_grader.importers.reading.content import outcome_of
from sandbox_grader.importers.reading.json_values import JsonNode, load, loads, picked
from sandbox_grader.importers.reading.values import arguments_of, failure
from sandbox_mcp.engine.trajectory import ErrorKind

SERVERS = ("sampling/", "elicitation/", "roots/list")
"""How the methods begin that a server asks of its client."""

SIDES: Final = MappingProxyType(
    {
        "client": "client", "client-to-server": "client", "client_to_server": "client", "c2s": "client",
        "server": "server", "server-to-client": "server", "server_to_client": "server", "s2c": "server",
    }
)  # fmt: skip
"""What an envelope calls the sender of its message."""

KINDS: Final = MappingProxyType[int, ErrorKind]({-32601: "unknown_tool", -32602: "invalid_format"})
"""JSON-RPC's error codes to our kinds; a call that fails with any other one failed in its tool."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One JSON-RPC message with what its envelope says of it."""

    node: JsonNode
    side: str | None
    stamp: Any
    session: str


def read(paths: Sequence[Path]) -> Iterator[Imported]:
    """Read the given files.

    Raises:
        ImportFormatError: a file holds something else than JSON-RPC messages.
    """
    names = Names()
    for path in paths:
        loaded = load(path)
        sessions: dict[str, list[Frame]] = {}
        for item in (item for node in loaded.nodes for item in node.each()):
            for frame in _unwrapped(item):
                sessions.setdefault(frame.session, []).append(frame)
        if not sessions:
            raise NothingToImportError(str(path), None, "holds no JSON-RPC messages")
        faults = Faults()
        for session, frames in sessions.items():
            with faults.aside():
                player = _Player(SessionBuilder("mcp-wire", str(path), stem(path), loaded.losses))
                yield player.play(frames, names.unique(stem(path), session))
        faults.tell()


def _unwrapped(node: JsonNode) -> Iterator[Frame]:
    """The messages of an item: itself, or what its envelope holds."""
    if _is_rpc(node):
        yield Frame(node, None, None, "")
        return
    inner = next((found for key in ("message", "payload", "data") if (found := node.get(key)) is not None), None)
    if inner is not None and isinstance(inner.value, str):
        try:
            inner = replace(inner, value=loads(inner.string())[0])
        except ValueError as error:
            raise inner.fail(f"is not a JSON-RPC message: {error}") from error
    if inner is None or not all(_is_rpc(item) for item in inner.each()):
        raise node.fail("is not a JSON-RPC message, nor an envelope around one in 'message', 'payload' or 'data'")
    members = node.members()
    sides = (SIDES.get(value) for key in ("direction", "sender", "from") if isinstance(value := members.get(key), str))
    stamps = (members[key] for key in ("timestamp", "time", "ts") if members.get(key) is not None)
    sessions = (
        node.need(key).label() for key in ("session", "session_id", "sessionId") if members.get(key) is not None
    )
    side, stamp, session = next(sides, None), next(stamps, None), next(sessions, "")
    yield from (Frame(item, side, stamp, session) for item in inner.each())


def _is_rpc(node: JsonNode) -> bool:
    members = node.members() if node.is_object else {}
    return isinstance(members.get("method"), str) or ("id" in members and ("result" in members or "error" in members))


class _Player:
    """Adds the tool calls of one capture to a session."""

    __slots__ = ("_builder", "_failed", "_ignored", "_open", "_pending", "_states", "_tasks")

    def __init__(self, builder: SessionBuilder) -> None:
        self._builder = builder
        self._pending: dict[tuple[str, str], deque[tuple[JsonNode, OpenCall | None]]] = {}
        """Requests that were not answered yet, by their sender and id; equal ids queue up."""
        self._open: list[OpenCall] = []
        self._states: dict[str, OpenCall] = {}
        self._tasks: dict[str, OpenCall] = {}
        self._failed: dict[OpenCall, CallOutcome] = {}
        """What is known of tasks that came to nothing, until their result is asked for."""
        self._ignored: Counter[str] = Counter()

    def play(self, frames: list[Frame], name: str) -> Imported:
        """Add the messages in order and finish the session."""
        for frame in frames:
            if frame.node.get("method") is not None:
                self._request(frame)
            else:
                self._response(frame)
        for opened, outcome in self._failed.items():
            if opened in self._open:
                self._builder.answer(opened, outcome)
        self._builder.lose("messages", "the protocol carries tool calls only; what user and agent said is unknown")
        for method in sorted(self._ignored):
            self._builder.lose(f"messages of method {method!r} ({self._ignored[method]})", "these are not kept")
        return self._builder.finish(name, "recorded" if self._builder.settled else None)

    def _request(self, frame: Frame) -> None:
        node, method = frame.node, frame.node.need("method").string()
        id_, opened = node.label_at("id"), None
        if method == "tools/call" and id_ is not None:
            params = node.need("params")
            state = params.members().get("requestState")
            opened = self._states.pop(state, None) if isinstance(state, str) else None
            if opened is not None:
                self._builder.lose(node, "the call was sent again with input that the server had asked for")
            else:
                given = arguments_of(params.members().get("arguments"))
                batch = self._open[-1].batch if self._open else self._builder.batch()
                name = params.need("name").string()
                opened = self._builder.call(name, given, batch=batch, id_=id_, stamp=frame.stamp)
                self._open.append(opened)
        elif method == "initialize":
            params = node.get("params")
            info = params.object_at("clientInfo") if params else None
            if info:
                self._builder.head = replace(self._builder.head, agent=picked(info.members(), ("name", "version")))
        elif method.startswith("notifications/tasks"):
            self._watch(node.get("params") or node.child("params", {}))
        elif method in {"tasks/get", "tasks/result", "tasks/cancel"}:
            opened = self._tasks.get(str(node.members_at("params").get("taskId")))
        elif method not in {"tools/call", "tools/list", "tasks/list"}:
            self._ignored[method] += 1
        side = frame.side or ("server" if method.startswith(SERVERS) else "client")
        if id_ is not None:
            queue = self._pending.setdefault((side, id_), deque())
            queue.append((node, opened))
            if len(queue) > 1:
                self._builder.lose(node, f"id {id_!r} is used while another request with it waits; paired in order")

    def _response(self, frame: Frame) -> None:
        id_ = frame.node.label_at("id")
        # without a direction a tool call comes first
        asked = {"client": ("server",), "server": ("client",)}.get(frame.side or "", ("client", "server"))
        queues = [queue for side in asked if id_ is not None and (queue := self._pending.get((side, id_)))]
        if not queues:
            self._builder.lose(frame.node, f"a response to the id {id_!r}, to which no request was seen, was dropped")
            return
        request, opened = queues[0].popleft()
        result = frame.node.object_at("result") or frame.node.child("result", {})
        if opened is not None:
            self._answer(frame, request.value["method"], result, opened)
        elif request.value["method"] == "tools/list":
            chats.offer_tools(self._builder, result.items_at("tools"))
        elif request.value["method"] == "initialize":
            info = result.members_at("serverInfo")
            name, version = info.get("name"), info.get("version")
            if isinstance(name, str) and isinstance(version, str):
                self._builder.head = replace(self._builder.head, versions={name: version})

    def _watch(self, task: JsonNode) -> None:
        """Take note of how a task goes on; one that was cancelled or has failed may never tell its result."""
        status, opened = task.members().get("status"), self._tasks.get(str(task.members().get("taskId")))
        result, error = task.object_at("result"), task.object_at("error")
        if opened in self._open and (result or error):
            self._builder.answer(opened, self._outcome(result or task, error))
            self._open.remove(opened)
            return
        if opened is not None and status in ("cancelled", "failed"):
            text = task.string_at("statusMessage") or f"the task was {status}"
            self._failed[opened] = CallOutcome(error=failure(text, "refused" if status == "cancelled" else "execution"))

    def _answer(self, frame: Frame, method: str, result: JsonNode, opened: OpenCall) -> None:
        """Give a call its outcome, unless the response says that it is still to come."""
        error, state = frame.node.get("error"), result.members().get("requestState")
        task = result.object_at("task") or (result if "taskId" in result.members() else None)
        if result.get("inputRequests") is not None and isinstance(state, str):
            self._states[state] = opened
            return
        if error is None and method == "tools/call" and task is not None:
            self._tasks[str(task.members().get("taskId"))] = opened
            return
        if error is None and method in {"tasks/get", "tasks/cancel"}:
            error = result.object_at("error")
            inner = result.object_at("result")
            if inner is None and error is None:
                self._watch(result)
                return
            result = inner or result
        if opened in self._open:
            wall = {} if frame.stamp is None else {"answered": frame.stamp}
            self._builder.answer(opened, replace(self._outcome(result, error), wall=wall))
            self._open.remove(opened)

    def _outcome(self, result: JsonNode, error: JsonNode | None) -> CallOutcome:
        if error is not None:
            message, code = error.string_at("message") or "", int(error.number_at("code") or 0)
            kind = "unknown_tool" if "unknown tool" in message.lower() else KINDS.get(code, "execution")
            return CallOutcome(error=failure(message, kind, f"JSON-RPC {code}"))
        structured, failed = result.get("structuredContent"), result.members().get("isError") is True
        if structured is not None and not failed:
            return CallOutcome(structured.value)
        return outcome_of(self._builder, result.get("content"), failed=failed)
