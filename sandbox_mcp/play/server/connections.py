"""Connections of the older protocol, each tied to what it was made at: a session's URL, or a seat in the lobby.

Policy: the SDK knows connections by their id alone. Here an id means something only at the place where it was given
out; everywhere else it is as unknown as one that never was. A place keeps the connections that were used last, because
some clients open one per call and never close it. When a session is over its open streams end, and when it is
forgotten its connections go with it.
"""

import asyncio
from collections import OrderedDict
from contextlib import suppress
from weakref import WeakKeyDictionary

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types import INVALID_REQUEST
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

from sandbox_mcp.play.server.guard import problem
from sandbox_mcp.play.server.malformed import TooManyNamesError, UnanswerableError, whole_body
from sandbox_mcp.play.server.plain_calls import PlainCalls
from sandbox_mcp.play.session.open_session import OpenSession

MOST = 64
"""How many connections of the older protocol one place keeps."""
MOST_OF_ALL = 8000
"""How many of them a server keeps; below the limit at which the SDK would refuse whoever comes next."""
NOT_FOUND = '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Session not found"}}'
"""What the SDK says of an id that it does not know."""


class _Place:
    """The connections of one session or seat. ``known`` has each of them, with how many requests use it now."""

    __slots__ = ("known", "over", "streams")

    def __init__(self) -> None:
        self.known: OrderedDict[str, int] = OrderedDict()
        self.streams: set[asyncio.Event] = set()
        self.over = False


class Connections:
    """Hands requests to the SDK, if their connection belongs to the place where they came in."""

    def __init__(self, transport: StreamableHTTPSessionManager, max_body: int) -> None:
        self._transport = transport
        self._plain = PlainCalls(transport)
        self._max_body = max_body
        self._places: WeakKeyDictionary[object, _Place] = WeakKeyDictionary()
        self._order: OrderedDict[str, _Place] = OrderedDict()
        self._farewells: OrderedDict[str, str] = OrderedDict()
        self._ending: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._order)

    async def serve(self, owner: object, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that came in at the place of ``owner``, which is a session or a seat."""
        try:
            read = await whole_body(receive, self._max_body)
        except TooManyNamesError as error:
            return await problem(413, "too_large", str(error))(scope, receive, send)
        except UnanswerableError as error:
            refusal = {"jsonrpc": "2.0", "id": None, "error": {"code": INVALID_REQUEST, "message": str(error)}}
            return await JSONResponse(refusal, 400)(scope, receive, send)
        if read is None:
            return None  # the client has gone before it had said what it wants
        used = _connection_of(scope)
        if used is None:
            if isinstance(owner, OpenSession) and await self._plain.answered(owner, scope, read, send):
                return None
            return await self._asked(scope, read, self._noting(self._place(owner), send))
        place = self._place(owner)
        if used not in place.known:
            return await Response(NOT_FOUND, 404, media_type="application/json")(scope, read, send)
        if scope["method"] == "DELETE":
            self._drop(place, used)
            return await self._asked(scope, read, send)
        self._order.move_to_end(used)
        place.known.move_to_end(used)
        place.known[used] += 1
        try:
            if scope["method"] == "GET":
                await self._stream(place, scope, read, send)
            elif not (isinstance(owner, OpenSession) and await self._plain.answered(owner, scope, read, send, used)):
                await self._asked(scope, read, send)
        finally:
            if used in place.known:
                place.known[used] -= 1

    def took_leave(self, token: str, scope: Scope) -> bool:
        """True if a client ends, at the URL of a session that is gone, a connection that it had there."""
        used = Headers(scope=scope).get(MCP_SESSION_ID_HEADER, "")
        if scope["method"] != "DELETE" or self._farewells.get(used) != token:
            return False
        del self._farewells[used]
        return True

    def _place(self, owner: object) -> _Place:
        place = self._places.get(owner)
        if place is None:
            place = self._places[owner] = _Place()
            if isinstance(owner, OpenSession):
                owner.when_over(lambda: self._end_streams(place))
                owner.when_forgotten(lambda token=owner.token: self._end_all(place, token))
        return place

    def _noting(self, place: _Place, send: Send) -> Send:
        """A ``send`` that learns the id of the connection that an answer opens."""

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:
                opened = Headers(raw=message["headers"]).get(MCP_SESSION_ID_HEADER)
                if opened is not None:
                    place.known[opened] = 0
                    self._order[opened] = place
                    self._make_room(place, opened)
            await send(message)

        return noting

    def _make_room(self, place: _Place, newest: str) -> None:
        if len(place.known) > MOST:
            self._end(place, next((name for name, uses in place.known.items() if not uses), next(iter(place.known))))
        if len(self._order) > MOST_OF_ALL:
            idle = (name for name, at in self._order.items() if not at.known[name] and name != newest)
            oldest = next(idle, next(iter(self._order)))
            self._end(self._order[oldest], oldest)

    async def _stream(self, place: _Place, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a stream of its own until the client goes or the session is over."""
        ended = asyncio.Event()
        if place.over:
            ended.set()
        place.streams.add(ended)

        async def receive_or_end() -> Message:
            waits = [asyncio.ensure_future(item) for item in (receive(), ended.wait())]
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                return {"type": "http.disconnect"} if ended.is_set() else waits[0].result()  # pyright: ignore[reportReturnType]
            finally:
                for wait in waits:
                    wait.cancel()

        try:
            await self._asked(scope, receive_or_end, send)
        finally:
            place.streams.discard(ended)

    async def _asked(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the SDK answer. A stream that it breaks off, as when the server stops, is ended properly."""
        unfinished = False

        async def noting(message: Message) -> None:
            nonlocal unfinished
            unfinished = message["type"] == "http.response.start" or message.get("more_body", False)
            await send(message)

        await self._transport.asgi_app(scope, receive, noting)
        if unfinished:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _end_streams(self, place: _Place) -> None:
        place.over = True
        for ended in place.streams:
            ended.set()

    def _end_all(self, place: _Place, token: str) -> None:
        self._end_streams(place)
        for name in list(place.known):
            self._end(place, name)
            self._farewells[name] = token
        while len(self._farewells) > MOST_OF_ALL:
            self._farewells.popitem(last=False)

    def _drop(self, place: _Place, name: str) -> None:
        place.known.pop(name, None)
        self._order.pop(name, None)

    def _end(self, place: _Place, name: str) -> None:
        self._drop(place, name)
        task = asyncio.get_running_loop().create_task(_left(self._transport, name))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


def _connection_of(scope: Scope) -> str | None:
    """The connection that a request names; the newer protocol has none, so there the name means nothing."""
    headers = Headers(scope=scope)
    is_newer = headers.get(MCP_PROTOCOL_VERSION_HEADER, LATEST_HANDSHAKE_VERSION) not in HANDSHAKE_PROTOCOL_VERSIONS
    return None if is_newer else headers.get(MCP_SESSION_ID_HEADER)


async def _left(transport: StreamableHTTPSessionManager, name: str) -> None:
    """Tell the SDK that a connection has ended, in the words in which its client would."""
    headers = [(b"mcp-session-id", name.encode()), (b"content-length", b"0")]
    scope: Scope = {
        "type": "http", "method": "DELETE", "path": "/", "raw_path": b"/", "query_string": b"", "headers": headers,
        "http_version": "1.1", "scheme": "http", "server": None, "client": None, "root_path": "",
    }  # fmt: skip

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(_: Message) -> None:
        return None

    with suppress(RuntimeError):  # the server is stopping, and with it all connections
        await transport.asgi_app(scope, receive, send)
