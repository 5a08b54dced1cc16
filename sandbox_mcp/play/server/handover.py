"""Connections that are handed to the worker that has the session they ask for.

Policy: a session lives in one worker, so that its calls race, batch and lock as in a server without workers. The system
gives a new connection to any worker. That one reads the head of each request, and where another worker has the session
it hands over the connection itself, with what was read of it: nothing is copied from socket to socket afterwards, and
the client notices nothing. What waits to be handed over is kept by the system, so it outlives a worker that dies, and
whoever steps in for that one goes on with it.
"""

import asyncio
import errno
import os
import re
import socket
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from urllib.parse import unquote, urlsplit

from sandbox_mcp.play.server.access import AFTER, BEFORE
from sandbox_mcp.play.server.patience import Patience, PatientConnections, PatientProtocol
from sandbox_mcp.play.server.wires import NO_WIRES, WAIT, Wires
from sandbox_mcp.play.session.kept_sessions import seat_of
from sandbox_mcp.play.session.share import OPEN, OVER, Share

LONGEST_HEAD = 65536
"""Bytes of a head that are waited for before a request is left to whoever has it; uvicorn refuses it then."""
LONGEST_MESSAGE = 60_000
"""Bytes that go into one message between workers; what is longer travels in a file without a name."""
AGAIN, GIVE_UP = 0.005, 30.0
"""Seconds until the next attempt to hand over a connection, and until the last one."""
BUSY = frozenset({errno.EAGAIN, errno.ENOBUFS, errno.ETOOMANYREFS})
_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_BEARER = re.compile(rb"\nauthorization:[ \t]*bearer[ \t]+([^\r\n]*)", re.IGNORECASE)
_CHUNKED = re.compile(rb"\ntransfer-encoding:", re.IGNORECASE)
_LENGTH = re.compile(rb"\ncontent-length:[ \t]*([0-9]{1,18})[ \t]*\r?\n", re.IGNORECASE)
_SESSION = re.compile("/api/sessions/([^/]+)(?:/.*)?")


class Inbox:
    """Place where a worker finds what others hand to it; it lasts as long as the process that made it."""

    def __init__(self) -> None:
        self.reading, self.writing = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        for end in (self.reading, self.writing):
            end.setblocking(False)


class Desk:
    """Place where one worker hands connections to the others, and gets those that are its own."""

    def __init__(
        self, share: Share, inboxes: Sequence[Inbox], max_sessions: int, *, seats: bool, wires: Wires = NO_WIRES
    ) -> None:
        """Use the inbox of each worker; ``seats`` tells whether the lobby has one for each of several tokens."""
        self._wires = wires
        self.index = share.index
        self._share = share
        self._inbox = inboxes[share.index].reading
        self._outboxes = [inbox.writing for inbox in inboxes]
        self._seats = seats
        self._max_sessions = max_sessions
        self._arriving: set[asyncio.Task[object]] = set()
        self._closing = False

    def open(self, make: "Callable[[bytes], HandedProtocol]") -> None:
        """Accept connections from now on; ``make`` makes the protocol of one from the bytes that were read already."""
        asyncio.get_running_loop().add_reader(self._inbox.fileno(), self._take, make)

    def close(self) -> None:
        """Answer one request on each connection that still arrives, as uvicorn does on those it knows."""
        self._closing = True

    def owner(self, head: bytes, body: bytes = b"", *, whole: bool = True) -> int | None:
        """The worker for a request; this one where it does not matter, None where its body has to be seen first."""
        key = self._wires.key(head, body, whole)
        if key is WAIT:
            return None
        if isinstance(key, str):
            return self._share.owner(key)
        line, _, _ = head.partition(b"\n")
        method, _, rest = line.decode("latin-1").partition(" ")
        target = rest.split(" ", 1)[0].partition("?")[0]
        path = unquote(target if target.startswith("/") else urlsplit(target).path)
        if path.startswith(BEFORE) and path.endswith(AFTER):
            return self._share.owner(path[len(BEFORE) : -len(AFTER)])
        if path == AFTER:
            shown = _BEARER.search(head) if self._seats else None
            return self._share.owner(seat_of(shown[1].decode("latin-1").strip() if shown else ""))
        if path == "/api/sessions" and method == "POST":
            # the fewest open sessions; when all places are taken, one that has a session to forget
            tallies = self._share.tallies
            counts = tallies.of_each(OPEN)
            if sum(counts) >= self._max_sessions:
                over = tallies.of_each(OVER)
                return max(range(len(over)), key=lambda index: (over[index] > 0, index == self._share.index))
            return min(range(len(counts)), key=lambda index: (counts[index], index != self._share.index))
        named = _SESSION.fullmatch(path)
        return self._share.owner(named[1]) if named else self._share.index

    def send(self, owner: int, connection: int, read: bytes, until: float | None = None) -> None:
        """Hand over a connection and close its descriptor here. Waits in the background if the other worker is busy."""
        deadline = time.monotonic() + GIVE_UP if until is None else until
        try:
            _sent(self._outboxes[owner], connection, read)
        except OSError as error:
            if error.errno in BUSY and time.monotonic() < deadline:
                asyncio.get_running_loop().call_later(AGAIN, self.send, owner, connection, read, deadline)
                return
        os.close(connection)

    def _take(self, make: "Callable[[bytes], HandedProtocol]") -> None:
        try:
            told, descriptors, _, _ = socket.recv_fds(self._inbox, LONGEST_MESSAGE + 1, 2)
        except OSError:
            return  # another reader was faster, or it was a false alarm
        connection, *rest = descriptors
        read = told[1:]
        if rest:
            with os.fdopen(rest[0], "rb") as file:
                file.seek(0)
                read = file.read()
        client = socket.socket(fileno=connection)
        client.setblocking(False)
        arriving = asyncio.ensure_future(self._arrived(client, make(read)))
        self._arriving.add(arriving)
        arriving.add_done_callback(self._arriving.discard)

    async def _arrived(self, client: socket.socket, protocol: "HandedProtocol") -> None:
        with suppress(OSError):  # the client has gone meanwhile
            await asyncio.get_running_loop().connect_accepted_socket(lambda: protocol, client)
            if self._closing:
                protocol.shutdown()


def _sent(outbox: socket.socket, connection: int, read: bytes) -> None:
    if len(read) <= LONGEST_MESSAGE:
        try:
            socket.send_fds(outbox, [b"-" + read], [connection])
        except OSError as error:
            if error.errno != errno.EMSGSIZE:
                raise
        else:
            return
    with tempfile.TemporaryFile() as file:
        file.write(read)
        file.flush()
        socket.send_fds(outbox, [b"-"], [connection, file.fileno()])


class HandedConnections(PatientConnections):
    """Makes the protocol of each connection of a worker."""

    def __init__(self, patience: Patience, desk: Desk) -> None:
        super().__init__(patience)
        self.desk = desk

    def __call__(self, **given: object) -> "HandedProtocol":
        """The protocol of a connection that the system gave to this worker."""
        return HandedProtocol(self, dict(given))

    def handed(self, read: bytes, **given: object) -> "HandedProtocol":
        """The protocol of a connection that another worker has handed over, with the bytes that it had read."""
        return HandedProtocol(self, dict(given), read)


class HandedProtocol(PatientProtocol):
    """A patient protocol that looks at the head of each request before anything else does, one request at a time."""

    def __init__(self, among: HandedConnections, given: dict[str, object], read: bytes = b"") -> None:
        super().__init__(among, given)
        self._desk = among.desk
        self._read = bytearray(read)
        self._is_ours = bool(read)
        self._left = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected, or comes from another worker."""
        super().connection_made(transport)
        if self._read:
            self.data_received(b"")

    def data_received(self, data: bytes) -> None:
        """A client has sent something; what follows a request waits until that one is answered."""
        if self._socket is not None:
            self._socket.data_received(data)
            return
        if self._transport is None or self._transport.is_closing():
            return
        self._read += data
        self._among.heard(self)
        cycle = self._http.cycle
        if cycle is None or (cycle.response_complete and not (self._left and cycle.more_body)):
            self._begin_request(self._transport)
        elif not self.answering:
            self._feed()
        elif len(self._read) > LONGEST_HEAD:
            self._transport.pause_reading()

    def _begin_request(self, transport: asyncio.Transport) -> None:
        """Keep the next request, or hand the connection over, once its head is there."""
        head = _END_OF_HEAD.search(self._read)
        if not self._read or (head is None and len(self._read) < LONGEST_HEAD):
            self._wait_for_more()
            return
        end = len(self._read) if head is None else head.end()
        whole = end + _length_of_body(self._read[:end]) <= len(self._read) or len(self._read) > LONGEST_HEAD
        owner = self._desk.owner(bytes(self._read[:end]), bytes(self._read[end:]), whole=whole)
        if owner is None:
            self._wait_for_more()
            return
        if not self._is_ours and owner != self._desk.index:
            self._hand_over(owner, transport)
            return
        self._is_ours = False
        self._left = len(self._read) if head is None else head.end() + _length_of_body(self._read[: head.end()])
        endless = self._left == inf
        self._feed()
        if endless and self._http.cycle is not None:  # where it ends only uvicorn knows; what follows may be another's
            self._http.cycle.keep_alive = False

    @property
    def next_begun(self) -> bool:
        """True if the beginning of a request has come in, here or with uvicorn."""
        return bool(self._read) or super().next_begun

    def _feed(self) -> None:
        size = int(min(self._left, len(self._read)))
        piece = bytes(self._read[:size])
        del self._read[:size]
        self._left -= size
        super().data_received(piece)
        if self._read and not self._left and self._http.cycle is not None and self._http.cycle.response_complete:
            self._go_on()  # it was answered before its end came in, together with the beginning of the next

    def _next(self) -> None:
        """Go on, once a request is answered, with what was sent meanwhile."""
        super()._next()
        self._go_on()

    def _go_on(self) -> None:
        if self._read and self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()
            asyncio.get_running_loop().call_soon(self.data_received, b"")

    def _hand_over(self, owner: int, transport: asyncio.Transport) -> None:
        if transport.is_closing():
            return
        transport.pause_reading()
        if transport.get_write_buffer_size():  # the last answer has to be out before another process writes
            asyncio.get_running_loop().call_later(AGAIN, self._hand_over, owner, transport)
            return
        connection = os.dup(transport.get_extra_info("socket").fileno())
        transport.abort()
        self._among.forget(self)
        self._desk.send(owner, connection, bytes(self._read))


def _length_of_body(head: bytearray) -> float:
    """Number of bytes that follow a head; without end where the body says by itself when it ends."""
    if _CHUNKED.search(head):
        return inf
    length = _LENGTH.search(head)
    return int(length[1]) if length else 0
