"""What a server really answers to a program that does not tell: a wire tap between the two."""

import re
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import anyio
from anyio.abc import ByteStream, SocketAttribute

STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")
PROTOCOL_ERROR = re.compile(rb'"error": ?\{"code": ?-?\d+')


@dataclass(frozen=True)
class Tap:
    """Everything that was answered, connection by connection."""

    url: str
    heard: list[bytearray] = field(default_factory=list)

    @property
    def statuses(self) -> Counter[int]:
        return Counter(int(status) for connection in self.heard for status in STATUS.findall(connection))

    @property
    def protocol_errors(self) -> list[bytes]:
        return [error for connection in self.heard for error in PROTOCOL_ERROR.findall(connection)]


@asynccontextmanager
async def overheard(url: str) -> AsyncGenerator[Tap]:
    """Listen in on a server of this machine; the tap's ``url`` leads there as well."""
    parts = urlsplit(url)
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    tap = Tap(f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}{parts.path}")

    async def connect(client: ByteStream) -> None:
        answers = bytearray()
        tap.heard.append(answers)
        async with (
            client,
            await anyio.connect_tcp("127.0.0.1", parts.port or 80) as server,
            anyio.create_task_group() as both,
        ):
            both.start_soon(pass_on, client, server, bytearray(), both.cancel_scope)
            both.start_soon(pass_on, server, client, answers, both.cancel_scope)

    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, connect)
        yield tap
        tasks.cancel_scope.cancel()


async def pass_on(source: ByteStream, sink: ByteStream, kept: bytearray, done: anyio.CancelScope) -> None:
    """Pass on what comes, and keep it, until either side has had enough."""
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async for chunk in source:
            kept += chunk
            await sink.send(chunk)
    done.cancel()
