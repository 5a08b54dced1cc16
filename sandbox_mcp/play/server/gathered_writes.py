"""Sends an answer in as few pieces as possible, because every piece costs a call of the system.

Policy: uvicorn writes the head of an answer and its body one after the other, and each would go out by itself. What is
written without waiting in between goes out together: at the end of the answer, or when the loop takes its next turn.
"""

import asyncio
from collections.abc import Callable
from typing import Any

MOST_HELD = 65536
"""Bytes that are held back; whoever writes more without waiting has to feel when the client does not keep up."""


class GatheringTransport(asyncio.Transport):
    """A transport that sends each burst of writes in one piece."""

    __slots__ = ("_held", "_size", "_switched", "_wire")

    def __init__(
        self, wire: asyncio.Transport, switched: Callable[[asyncio.BaseProtocol], None] = lambda _: None
    ) -> None:
        """``switched`` learns of the protocol that the connection goes on with, once it becomes a WebSocket."""
        self._wire = wire
        self._switched = switched
        self._held: list[bytes] = []
        self._size = 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Take bytes to send."""
        if not data:
            return
        if not self._held:
            asyncio.get_running_loop().call_soon(self.send_held)
        self._held.append(bytes(data))
        self._size += len(data)
        if self._size > MOST_HELD:
            self.send_held()

    def send_held(self) -> None:
        """Send all that was written so far."""
        if self._held:
            held, self._held, self._size = self._held, [], 0
            self._wire.write(b"".join(held) if len(held) > 1 else held[0])

    def get_write_buffer_size(self) -> int:
        """Number of bytes written and not yet sent."""
        return self._size + self._wire.get_write_buffer_size()

    def close(self) -> None:
        """Send what was written, and then no more."""
        self.send_held()
        self._wire.close()

    def abort(self) -> None:
        """End the connection at once."""
        self._held.clear()
        self._wire.abort()

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Go on in another protocol."""
        self._switched(protocol)

    def is_closing(self) -> bool:
        """True if the connection is at its end."""
        return self._wire.is_closing()

    def pause_reading(self) -> None:
        """Leave unread what the client sends."""
        self._wire.pause_reading()

    def resume_reading(self) -> None:
        """Read on."""
        self._wire.resume_reading()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Facts on the connection."""
        return self._wire.get_extra_info(name, default)
