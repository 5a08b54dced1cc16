"""Time limits of the server for clients, and the number that it lets wait at a time.

Policy: who has begun a request gets a limited time to finish it, and who does not fetch an answer is let go. When all
places are taken, the client that has been silent longest makes room, so that no number of half-sent requests shuts
others out. A request being answered is never cut off.
"""

import asyncio
import logging
from collections import OrderedDict
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, cast

from sandbox_mcp.engine.processes import RESERVED, room_for_files
from sandbox_mcp.play.server.gathered_writes import GatheringTransport

MOST_CONNECTIONS = 2000
"""How many connections a server holds open, where the system lets it."""
FEWEST = 16
"""How many connections there may be at least, however few descriptors there are."""
MAX_MESSAGE = 1024 * 1024
"""Bytes that a message of a WebSocket may have."""
LATE = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds that the server waits, and number of clients at a time.

    ``head`` is for the head of a request, from the connection or its first byte on. ``body`` is for what follows the
    head. ``fetch`` is for a client that does not read its answer. ``idle`` is how long a connection stays open between
    requests. It is longer than clients keep theirs open, because a client loses a request on its way when the
    server closes. ``connections`` is how many may be open.
    """

    head: float = 10.0
    body: float = 30.0
    fetch: float = 60.0
    idle: float = 75.0
    connections: int = MOST_CONNECTIONS


class PatientConnections:
    """Makes the protocol of each connection, and knows them all, the longest silent first."""

    def __init__(self, patience: Patience) -> None:
        self.patience = patience
        self.limit = affordable(patience.connections)
        self.open: OrderedDict[int, PatientProtocol] = OrderedDict()

    def __call__(self, **given: Any) -> "PatientProtocol":
        """The protocol of one connection; uvicorn calls this as it would call the class."""
        return PatientProtocol(self, given)

    def admit(self, connection: "PatientProtocol") -> bool:
        """Find a place for a connection, if need be by ending one that waits for no answer; False if there is none."""
        if len(self.open) >= self.limit:
            silent = next((item for item in self.open.values() if not item.answering), None)
            if silent is None:
                return False
            silent.let_go()
        self.open[id(connection)] = connection
        return True

    def heard(self, connection: "PatientProtocol") -> None:
        """A connection has said something."""
        if id(connection) in self.open:
            self.open.move_to_end(id(connection))

    def forget(self, connection: "PatientProtocol") -> None:
        """Give up the place of a connection."""
        self.open.pop(id(connection), None)


class PatientProtocol(asyncio.Protocol):
    """uvicorn's protocol, with an end to every wait for the client."""

    def __init__(self, among: PatientConnections, given: dict[str, Any]) -> None:
        from uvicorn.protocols.http.auto import AutoHTTPProtocol

        self._among = among
        self._http: Any = AutoHTTPProtocol(**given)
        self._answered: Any = self._http.on_response_complete
        self._http.on_response_complete = self._next
        self._transport: GatheringTransport | None = None
        self._socket: asyncio.Protocol | None = None
        self._awaited: tuple[str, object] | None = None
        self._until: asyncio.TimerHandle | None = None
        self._fetching: asyncio.TimerHandle | None = None

    @property
    def answering(self) -> bool:
        """True if a whole request has come in whose answer has not gone out."""
        cycle = self._http.cycle
        return cycle is not None and not cycle.response_complete and not cycle.more_body

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected."""
        wire = cast("asyncio.Transport", transport)  # uvloop's transports are of no class of asyncio's
        self._transport = GatheringTransport(wire, self._switched)
        self._http.connection_made(self._transport)
        if self._among.admit(self):
            self._wait_for_more()
        else:
            wire.abort()

    def _switched(self, protocol: asyncio.BaseProtocol) -> None:
        """Go on as a WebSocket, which has limits of its own and makes no room for others."""
        self._socket = cast("asyncio.Protocol", protocol)
        self._among.forget(self)
        if self._until is not None:
            self._until.cancel()
        self._http = self._answered = self._awaited = self._until = None  # what read the request is of no more use

    def data_received(self, data: bytes) -> None:
        """A client has sent something."""
        if self._socket is not None:
            self._socket.data_received(data)
            return
        self._among.heard(self)
        self._http.data_received(data)
        self._wait_for_more()

    def eof_received(self) -> None:
        """A client will send nothing more."""
        (self._socket or self._http).eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._among.forget(self)
        for timer in (self._until, self._fetching):
            if timer is not None:
                timer.cancel()
        (self._socket or self._http).connection_lost(exc)

    def pause_writing(self) -> None:
        """A client does not fetch what was sent."""
        (self._socket or self._http).pause_writing()
        if self._transport is not None:
            loop = asyncio.get_running_loop()
            self._fetching = loop.call_later(self._among.patience.fetch, self._transport.abort)

    def resume_writing(self) -> None:
        """A client fetches again."""
        if self._fetching is not None:
            self._fetching.cancel()
        (self._socket or self._http).resume_writing()

    def shutdown(self) -> None:
        """Answer what has been asked, and nothing more."""
        self._http.shutdown()

    def let_go(self) -> None:
        """End the connection for the benefit of others."""
        self._among.forget(self)
        if self._transport is not None:
            self._transport.abort()

    def _wait_for_more(self) -> None:
        """Set the time by which what the client still owes has to be there; it does not start anew with every byte."""
        if self._socket is not None:
            return
        awaited = self._owed()
        if awaited == self._awaited:
            return
        self._awaited = awaited
        if self._until is not None:
            self._until.cancel()
        self._until = None
        if awaited is not None:
            patience = self._among.patience
            seconds = {"head": patience.head, "body": patience.body, "idle": patience.idle}[awaited[0]]
            self._until = asyncio.get_running_loop().call_later(seconds, self._too_late, awaited[0])

    def _owed(self) -> tuple[str, object] | None:
        """Bytes that the client has yet to send, and of which request; None where it is for us to answer."""
        cycle = self._http.cycle
        if cycle is None:
            return "head", None
        if cycle.more_body and self._is_in_a_body(cycle):
            return "body", cycle
        if not cycle.response_complete:
            return None
        if self.next_begun:
            return "head", cycle
        # Between requests uvicorn's own limit holds, unless the end of a body that was answered early has put it off.
        return None if self._http.timeout_keep_alive_task is not None else ("idle", cycle)

    def _is_in_a_body(self, cycle: Any) -> bool:
        """True if the body of the last request has not come in whole; uvicorn does not say so of one answered early."""
        parser = getattr(self._http, "conn", None)
        return not cycle.response_complete if parser is None else str(parser.their_state) == "SEND_BODY"

    @property
    def next_begun(self) -> bool:
        """True if the beginning of a request has come in, behind one that has been answered."""
        parser = getattr(self._http, "conn", None)  # httptools, which may be installed too, does not tell
        return self._http.timeout_keep_alive_task is None if parser is None else bool(parser.trailing_data[0])

    def _next(self) -> None:
        """An answer has gone out; an idle connection holds on to nothing of it."""
        if self._transport is not None:
            self._transport.send_held()
        self._http.cycle.scope = self._http.scope = {}
        self._answered()
        self._wait_for_more()

    def _too_late(self, awaited: str) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        cycle = self._http.cycle
        # Who has the answer already would take another for that to its next request.
        if cycle is None or not cycle.response_started or (cycle.response_complete and awaited == "head"):
            self._transport.write(LATE)
        self._transport.close()


def uvicorn_config(app: Any, connections: PatientConnections) -> Any:
    """Settings of uvicorn: no access log, because paths hold secrets, and no line per broken request.

    WebSockets are there where their library is. They are not compressed, which would take some 60 KB each, and a
    client that a step of training keeps busy has minutes to answer a ping.
    """
    import uvicorn

    logging.getLogger("uvicorn.error").addFilter(_tells_of_a_fault)
    patient: Any = connections  # uvicorn expects a class here, and numbers of whole seconds
    return uvicorn.Config(
        app,
        http=patient,
        ws="websockets-sansio" if find_spec("websockets") else "none",
        ws_max_size=MAX_MESSAGE,
        ws_per_message_deflate=False,
        ws_ping_interval=60.0,
        ws_ping_timeout=600.0,
        log_level="error",
        access_log=False,
        lifespan="on",
        server_header=False,
        timeout_graceful_shutdown=2,
        timeout_keep_alive=patient.patience.idle,
    )


def _tells_of_a_fault(record: logging.LogRecord) -> bool:
    """True if a message is more than the stack of a request that was broken off because the server stopped."""
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


def affordable(most: int) -> int:
    """Number of connections this process can hold open, at most ``most``, with the descriptors it may have."""
    descriptors = room_for_files(most)
    return max(FEWEST, min(most, descriptors - min(RESERVED, descriptors // 2)))
