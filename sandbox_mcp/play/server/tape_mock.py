"""A tape served as a mock of the server that it was recorded from: no scenario, no user, no log.

Policy: a call gets the recorded answer, to the byte, for equal arguments after the same acting calls; where the tape
gives a question the same answer always, the acting calls do not matter. Whatever else is asked is a miss: counted,
reported, and refused with the nearest recorded call, unless somebody was named who answers it. Each URL
``/s/NAME/mcp`` has a state of its own, and so has ``/mcp``.
"""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.from_thread
from mcp import MCPError
from mcp.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import INTERNAL_ERROR, CallToolRequestParams, CallToolResult, ListToolsResult, Tool
from pydantic import ValidationError
from starlette.types import ASGIApp, Receive, Scope, Send

from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.tools.fault_kinds import FaultKind, FaultRates
from sandbox_mcp.engine.worlds.recorded import (
    FillQuestion,
    Fills,
    Tape,
    TapeAnswerBook,
    TapeError,
    fills_beside,
    read_tape,
)
from sandbox_mcp.engine.worlds.recorded.tape import Deed, canonical_text, deed
from sandbox_mcp.play.server.context import Context
from sandbox_mcp.play.server.empty_lists import ABSENT
from sandbox_mcp.play.server.settings import LOOPBACK
from sandbox_mcp.play.session.upstream import fault_in

Ask = Callable[[str, Mapping[str, Any]], Awaitable[CallToolResult]]
"""Asks somebody else what the tape does not have."""
LATE = 5.0
"""How many seconds a call with the fault ``slow`` waits."""
_ALONE = "alone"
"""The state of clients that name none."""


@dataclass(slots=True)
class _Node:
    """A place in the recorded history: its answers, and where acting calls lead."""

    answers: dict[Deed, CallToolResult] = field(default_factory=dict[Deed, CallToolResult])
    took: dict[Deed, float] = field(default_factory=dict[Deed, float])
    then: "dict[Deed, _Node]" = field(default_factory=dict[Deed, Any])
    after: tuple[Deed, ...] = ()


@dataclass(frozen=True, slots=True)
class MockOptions:
    """How a mock answers: ``latency`` is None for that of the tape, or seconds; ``faults`` are given to some calls."""

    latency: float | None = 0.0
    faults: FaultRates = field(default_factory=lambda: FaultRates({}))
    late: float = LATE


class TapeMock:
    """The mock of one tape. ``calls`` counts what was asked, ``misses`` tells what the tape did not have."""

    def __init__(
        self,
        tape: Tape,
        options: MockOptions | None = None,
        ask: Ask | None = None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.tape = tape
        self.calls = 0
        self.misses: list[str] = []
        self._options = options or MockOptions()
        self._ask = ask
        self._tell = tell
        self._book = TapeAnswerBook(tape)
        self._root = _Node()
        self._always: dict[Deed, CallToolResult | None] = {}
        self._states: dict[str, _Node] = {}
        self._before: dict[str, _Node] = {}
        self._acting = frozenset(name for name, tool in tape.tools.items() if tool.acts)
        self._deeds: dict[tuple[str, str], Deed] = {}
        texts: dict[Deed, str] = {}
        for call in tape.calls:
            node = self._root
            for made in call.after:
                node = node.then.setdefault(made, _Node(after=(*node.after, made)))
            try:
                result, text = CallToolResult.model_validate(call.result), canonical_text(call.result)
            except ValidationError as error:
                raise TapeError(tape.path, call.line, f"has no result of a tool: {fault_in(error)}") from error
            node.answers.setdefault(call.deed, result)
            if call.took is not None:
                node.took.setdefault(call.deed, call.took)
            same = texts.setdefault(call.deed, text) == text
            self._always[call.deed] = result if same and self._always.get(call.deed, result) is not None else None
            if call.deed[0] in self._acting and not call.refused:
                node.then.setdefault(call.deed, _Node(after=(*node.after, call.deed)))
        try:
            tools = [Tool.model_validate(dict(tool.listed)) for tool in tape.tools.values()]
        except ValidationError as error:
            raise TapeError(tape.path, None, f"has a tool that cannot be listed: {fault_in(error)}") from error
        self._listed = ListToolsResult(tools=tools)

    @property
    def told(self) -> str:
        """What came of it, in one line."""
        return f"answered {self.calls} calls; not on the tape: {len(self.misses)}"

    def answered_by(self, ask: Ask | None) -> None:
        """Have somebody answer what the tape does not have."""
        self._ask = ask

    def forget(self, state: str = _ALONE) -> None:
        """Put a state back to where the tape begins."""
        self._states.pop(state, None)

    def server(self) -> Server[Any]:
        """The server that clients see."""
        told = self.tape.server
        handlers: Mapping[str, Any] = ABSENT
        return Server(
            str(told.get("name") or "tape"),
            version=str(told.get("version") or ""),
            instructions=cast("str | None", told.get("instructions")),
            on_list_tools=self._list,
            on_call_tool=self._call,
            **handlers,
        )

    def app(self, hosts: Sequence[str] = ()) -> ASGIApp:
        """The server over HTTP, of both eras, at ``/mcp`` and at ``/s/NAME/mcp``.

        ``hosts`` are names under which it may be addressed, beside those of this machine.
        """
        names = [*LOOPBACK, *hosts]
        security = TransportSecuritySettings(
            allowed_hosts=[*names, *(f"{name}:*" for name in names)],
            allowed_origins=[
                f"{kind}://{name}{port}" for kind in ("http", "https") for name in names for port in ("", ":*")
            ],
        )
        inner = self.server().streamable_http_app(
            streamable_http_path="/s/{state}/mcp", json_response=True, transport_security=security
        )

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http" and scope["path"] == "/mcp":
                scope = {**scope, "path": f"/s/{_ALONE}/mcp", "raw_path": f"/s/{_ALONE}/mcp".encode()}
            elif scope["type"] == "http" and scope["path"] == "/misses":
                await _json(send, {"calls": self.calls, "misses": self.misses})
                return
            await inner(scope, receive, send)

        return app

    async def _list(self, _: Context, __: object) -> ListToolsResult:
        return self._listed

    async def _call(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        state = context.request.path_params["state"] if context.request is not None else _ALONE
        self.calls += 1
        fault = self._options.faults.of(self.calls)
        if fault is not None and not fault.acts:
            return _failed(fault)
        node = self._states.get(state, self._root)
        asked = self._asked(params.name, params.arguments or {})
        seen = self._before.get(state, node) if fault is not None and fault.name == "stale" else node
        result = seen.answers.get(asked) or self._always.get(asked)
        if result is None:
            result = await self._missed(asked, node, params)
        elif params.name in self._acting and result.is_error is not True:
            self._before[state], self._states[state] = node, node.then.get(asked, node)
        latency = node.took.get(asked, 0.0) if self._options.latency is None else self._options.latency
        if fault is not None and fault.name == "slow":
            latency += self._options.late
        if latency:
            await anyio.sleep(latency)
        return result if fault is None else _faulty(result, fault)

    def _asked(self, name: str, arguments: Mapping[str, Any]) -> Deed:
        """The call as the tape knows it; what was worked out once is kept, as clients ask alike."""
        written = name, json.dumps(arguments)
        found = self._deeds.get(written)
        if found is None:
            found = self.tape.plain(deed(name, arguments, self.tape.redacted))
            if len(self._deeds) < 10_000:
                self._deeds[written] = found
        return found

    async def _missed(self, asked: Deed, node: _Node, params: CallToolRequestParams) -> CallToolResult:
        told = f"NotRecordedError: {self._book.missing(asked, node.after)}"
        self.misses.append(told)
        self._tell(f"miss {len(self.misses)}: {told}")
        if self._ask is not None:
            return await self._ask(params.name, params.arguments or {})
        return CallToolResult.model_validate({"content": [{"type": "text", "text": told}], "isError": True})


def _failed(fault: FaultKind) -> CallToolResult:
    if fault.name == "dropped":
        raise MCPError(INTERNAL_ERROR, fault.error)
    return CallToolResult.model_validate({"content": [{"type": "text", "text": fault.error}], "isError": True})


def _faulty(result: CallToolResult, fault: FaultKind) -> CallToolResult:
    """A result as a fault changes it after the call has acted."""
    if fault.error:
        return _failed(fault)
    if fault.name != "partial":
        return result
    structured: Any = _part(result.structured_content)
    blocks = [block.model_dump(by_alias=True, mode="json", exclude_none=True) for block in result.content]
    for block in blocks:
        text = block.get("text")
        if isinstance(text, str):
            try:
                block["text"] = json.dumps(_part(json.loads(text)), ensure_ascii=False)
            except ValueError:
                block["text"] = text[: len(text) // 2]
    return CallToolResult.model_validate({"content": blocks, "structuredContent": structured})


def _part(value: Any) -> Any:
    """A value with the first half of each list."""
    if isinstance(value, list):
        listed = cast("list[Any]", value)
        return listed[: (len(listed) + 1) // 2] if len(listed) > 1 else listed
    if isinstance(value, Mapping):
        return {name: _part(item) for name, item in cast("Mapping[str, Any]", value).items()}
    return value


async def _json(send: Send, value: object) -> None:
    body = json.dumps(value, ensure_ascii=False).encode()
    head = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def asking(on_miss: str, tape: Tape) -> AsyncGenerator[Ask | None]:
    """Whoever answers what the tape does not have: ``error`` nobody, ``fill:MODEL`` a model, else a URL or a command.

    Raises:
        SandboxError: it cannot be asked.
    """
    if on_miss == "error":
        yield None
        return
    if on_miss.startswith("fill:"):
        yield _filling(on_miss.removeprefix("fill:"), tape)
        return
    import shlex

    from sandbox_mcp.play.session.upstream import Upstream, unreachable

    url = on_miss if on_miss.startswith(("http://", "https://")) else ""
    upstream = Upstream(url=url) if url else Upstream(command=tuple(shlex.split(on_miss)))
    entered = False
    try:
        async with upstream.connected() as client:
            entered = True

            async def ask(name: str, arguments: Mapping[str, Any]) -> CallToolResult:
                return await client.call_tool(name, dict(arguments))

            yield ask
    except Exception as error:
        if entered:
            raise
        raise unreachable(on_miss, error) from error


def _filling(model: str, tape: Tape) -> Ask:
    from sandbox_mcp.play.session.tape_filling import filler

    fills = Fills(fills_beside(tape.path), filler(model), tape.plain)
    book = TapeAnswerBook(tape)

    async def ask(name: str, arguments: Mapping[str, Any]) -> CallToolResult:
        tool = tape.tools.get(name)
        if tool is None:
            raise MCPError(INTERNAL_ERROR, f"the tape has no tool {name!r}")
        asked = tape.plain(deed(name, arguments, tape.redacted))
        question = FillQuestion(tool, asked, (), tuple(book.nearest(asked, (), 8)))
        found = await anyio.to_thread.run_sync(fills.to, question)
        if found is None:
            raise MCPError(INTERNAL_ERROR, "the model gave no answer")
        return CallToolResult.model_validate(found.result)

    return ask


class MissedError(AssertionError):
    """A mock was asked what its tape does not have."""


@dataclass(frozen=True, slots=True)
class ServedMock:
    """A mock served: its ``url``, and what it was asked."""

    url: str
    mock: TapeMock

    @property
    def misses(self) -> list[str]:
        """What was asked that the tape does not have."""
        return self.mock.misses

    @property
    def calls(self) -> int:
        """Number of calls."""
        return self.mock.calls


@contextmanager
def mock_server(
    tape: Path | str, *, strict: bool = True, latency: float | None = 0.0, faults: tuple[str, ...] = (), seed: int = 0
) -> Generator[ServedMock]:
    """Serve a tape over HTTP on a free port of this machine while the context is open; for tests.

    With ``strict`` a call not on the tape fails the test when the context ends.

    Raises:
        MissedError: there was such a call.
        SandboxError: the tape cannot be used, or a kind of fault is unknown.
    """
    mock = TapeMock(read_tape(Path(tape)), MockOptions(latency, FaultRates.reading(faults, seed)))
    with anyio.from_thread.start_blocking_portal() as portal, portal.wrap_async_context_manager(served(mock)) as base:
        yield ServedMock(f"{base}/mcp", mock)
    if strict and mock.misses:
        raise MissedError(f"{len(mock.misses)} calls are not on the tape: {mock.misses[0]}")


@asynccontextmanager
async def served(mock: TapeMock) -> AsyncGenerator[str]:
    """Serve a mock on a free port of loopback while the context is open; gives the base URL."""
    from sandbox_mcp.play.server.app import serving_app

    async with serving_app(mock.app()) as base:
        yield base


def check_options(faults: tuple[str, ...], latency: str, seed: int) -> MockOptions:
    """The options that a command line gives.

    Raises:
        SandboxError: one means nothing.
    """
    try:
        seconds = None if latency == "recorded" else 0.0 if latency == "none" else float(latency)
    except ValueError as error:
        raise SandboxError(f"--latency {latency!r}: expected recorded, none, or seconds") from error
    return MockOptions(seconds, FaultRates.reading(faults, seed))
