"""MCP over the process's standard streams.

Policy: stdout is the wire and nothing else gets onto it. One thread waits for input and the event loop writes, which
costs half of what a thread for every line and write does. A line that is not a message is answered with a parse error
instead of silence, because a client waits for an answer. A client that has said all it wants closes its end and may
still read: what it asked is answered before the server goes.
"""

import asyncio
import math
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server import Server
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from sandbox_mcp.play.server.malformed import UnanswerableError, check_answerable, mended
from sandbox_mcp.play.server.settings import MAX_BODY

CHUNK = 65536
GRACE = 1.0
"""Seconds for which a server whose client has closed its end waits for the answers; clients kill it after two."""
ENDLESS = frozenset({"subscriptions/listen"})
"""Requests whose answer comes only when there is nothing more to tell."""
_Line = bytes | None
"""One line without its end; None stands for one that was longer than a message may be."""


async def serve_stdio(
    server: Server[Any], source: int = 0, sink: int | None = None, *, longest: int = MAX_BODY
) -> None:
    """Serve one client until it closes the stream; ``source`` and ``sink`` are file descriptors, stdin and stdout.

    ``longest`` is how many bytes a message of the client may have.
    """
    wire = claim_stdout() if sink is None else sink
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
    write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    listener = _Listener(incoming, wire, longest)
    threading.Thread(target=_listen, args=(source, asyncio.get_running_loop(), listener, longest), daemon=True).start()
    with incoming:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_write_all, outgoing, wire, listener.answered, tasks.cancel_scope.cancel)
            await server.run(read, write, server.create_initialization_options())
            tasks.cancel_scope.cancel()


def claim_stdout() -> int:
    """A descriptor of stdout for the wire alone; whatever else is printed goes to stderr from now on."""
    sys.stdout.flush()
    wire = os.dup(1)
    os.dup2(2, 1)
    return wire


class _Listener:
    """Takes lines in the event loop and makes messages of them."""

    def __init__(self, incoming: MemoryObjectSendStream[SessionMessage | Exception], wire: int, longest: int) -> None:
        self._incoming = incoming
        self._wire = wire
        self._longest = longest
        self._waiting: set[RequestId] = set()
        self._ended = False

    def heard(self, lines: Iterable[_Line]) -> None:
        """Pass on what can be read, and answer the rest."""
        for line in lines:
            if line is None:
                self._refuse(INVALID_REQUEST, f"a message may have at most {self._longest} bytes")
            elif line.strip():
                self._read(line)

    def closed(self) -> None:
        """The client has closed its end: nothing is read any more, and what was asked is answered."""
        self._ended = True
        asyncio.get_running_loop().call_later(GRACE, self._incoming.close)
        self._finish()

    def answered(self, message: JSONRPCMessage) -> None:
        """A message has been written."""
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self._waiting.discard(message.id)
            self._finish()

    def _finish(self) -> None:
        if self._ended and not self._waiting:
            self._incoming.close()

    def _read(self, line: bytes) -> None:
        try:
            message = _message(line)
        except ValidationError as error:
            first = error.errors()[0]
            if first["type"] == "json_invalid":
                self._refuse(PARSE_ERROR, f"Parse error: {first.get('ctx', {}).get('error', first['msg'])}")
            else:
                self._refuse(INVALID_REQUEST, "Invalid request")
            return
        except UnanswerableError as error:
            self._refuse(INVALID_REQUEST, str(error))
            return
        if isinstance(message, JSONRPCRequest) and message.method not in ENDLESS:
            self._waiting.add(message.id)
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._incoming.send_nowait(SessionMessage(message))

    def _refuse(self, code: int, message: str) -> None:
        answer = JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=code, message=message))
        with suppress(OSError):
            send(self._wire, answer.model_dump_json(by_alias=True, exclude={"error": {"data"}}))


def _message(line: bytes) -> JSONRPCMessage:
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        if isinstance(message, JSONRPCNotification):  # which a request with a wrong id is read as
            check_answerable(line)
        return message
    except ValidationError:
        return jsonrpc_message_adapter.validate_json(mended(line).decode("utf-8", "replace"), by_name=False)


def _listen(source: int, loop: asyncio.AbstractEventLoop, listener: _Listener, longest: int) -> None:
    """Read until the end, in a thread of its own; the loop may be gone before, and so may the input (a terminal)."""
    with suppress(RuntimeError):
        with suppress(OSError):
            for lines in lines_of(lambda: os.read(source, CHUNK), longest):
                loop.call_soon_threadsafe(listener.heard, lines)
        loop.call_soon_threadsafe(listener.closed)


def lines_of(read: Callable[[], bytes], longest: int = MAX_BODY) -> Iterator[list[_Line]]:
    """Whole lines, as many at a time as came together; the last one needs no end."""
    parts: list[bytes] = []
    size = 0
    while data := read():
        *whole, rest = data.split(b"\n")
        lines: list[_Line] = []
        for end in whole:
            lines.append(b"".join([*parts, end]) if size + len(end) <= longest else None)
            parts, size = [], 0
        size += len(rest)
        parts = [*parts, rest] if size <= longest else []
        if lines:
            yield lines
    if size:
        yield [b"".join(parts) if size <= longest else None]


async def _write_all(
    outgoing: MemoryObjectReceiveStream[SessionMessage],
    wire: int,
    written: Callable[[JSONRPCMessage], None],
    give_up: Callable[[], None],
) -> None:
    """Write until the server stops; a client that no longer listens is gone."""
    async with outgoing:
        async for sent in outgoing:
            try:
                send(wire, sent.message.model_dump_json(by_alias=True, exclude_unset=True))
            except OSError:
                give_up()
            written(sent.message)


def send(wire: int, text: str) -> None:
    """Write one line."""
    rest = memoryview(text.encode() + b"\n")
    while rest:
        rest = rest[os.write(wire, rest) :]
