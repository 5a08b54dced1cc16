"""Announcements of the world as a resource, with notices to those who subscribed.

Policy: the resource says nothing that the agent is not told anyway with its next result. Reading it is not recorded,
and does not count as having been told. A client of the older protocol subscribes to the resource and is told on the
connection's own stream. A client of the newer one listens on a stream of the request, which ends with the session.
Nothing is sent again to a client that was away: it can read the resource.
"""

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any
from weakref import WeakKeyDictionary

import anyio
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError
from mcp_types import (
    EmptyResult,
    ListResourcesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    TextResourceContents,
    UnsubscribeRequestParams,
)

from sandbox_mcp.play.server.context import Context
from sandbox_mcp.play.server.empty_lists import no_resource
from sandbox_mcp.play.session.open_session import OpenSession

URI = "world://notices"
METHODS = frozenset({"resources/subscribe", "resources/unsubscribe", "subscriptions/listen"})
"""What there is only where the world may have something to announce."""
MOST = 64
"""How many clients of a session are told; of connections, which go without a word, the latest."""
NOTICES = Resource(
    name="notices",
    title="Notices",
    uri=URI,
    description=(
        "What has been announced so far, such as something that fell due: a list of objects with timestamp, in "
        "seconds since 1970 by the scenario's clock, and text. The same is told with the result of the next call."
    ),
    mime_type="application/json",
)


def offered_to(capabilities: Mapping[str, Mapping[str, Any]], *, announces: bool) -> dict[str, Any]:
    """The capabilities of a session out of those of the server: lists never change, and resources only with notices."""
    never = {"listChanged"} if announces else {"listChanged", "subscribe"}
    return {
        name: {key: False if key in never else value for key, value in capability.items()}
        for name, capability in capabilities.items()
    }


class Notices:
    """Handlers for the resource; ``find`` tells whose notices a request is about."""

    def __init__(self, find: Callable[[Context], OpenSession]) -> None:
        self._find = find
        self._audiences: WeakKeyDictionary[OpenSession, _Audience] = WeakKeyDictionary()

    def handlers(self) -> dict[str, Any]:
        """The arguments of the SDK's server that serve the resource."""
        return {
            "on_list_resources": self._list,
            "on_read_resource": self._read,
            "on_subscribe_resource": self._subscribe,
            "on_unsubscribe_resource": self._unsubscribe,
            "on_subscriptions_listen": self._listen,
        }

    async def _list(self, ctx: Context, _: PaginatedRequestParams | None) -> ListResourcesResult:
        return ListResourcesResult(resources=[NOTICES] if self._find(ctx).session.has_notices else [])

    async def _read(self, ctx: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        opened = self._find(ctx)
        if not opened.session.has_notices:
            raise no_resource(params.uri)
        _check(params.uri)
        notices = await opened.notices()
        text = json.dumps([asdict(notice) for notice in notices], ensure_ascii=False)
        return ReadResourceResult(contents=[TextResourceContents(uri=URI, mime_type=NOTICES.mime_type, text=text)])

    async def _subscribe(self, ctx: Context, params: SubscribeRequestParams) -> EmptyResult:
        _check(params.uri)
        self._audience(ctx).admit(ctx.session)
        return EmptyResult()

    async def _unsubscribe(self, ctx: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        _check(params.uri)
        self._audience(ctx).dismiss(ctx.session)
        return EmptyResult()

    async def _listen(self, ctx: Context, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        return await self._audience(ctx).listen(ctx, params)

    def _audience(self, ctx: Context) -> "_Audience":
        opened = self._find(ctx)
        if opened not in self._audiences:
            self._audiences[opened] = audience = _Audience()
            opened.when_announced(audience.tell)
            opened.when_over(audience.close)
        return self._audiences[opened]


def _check(uri: object) -> None:
    if str(uri) != URI:
        raise no_resource(uri, f"; known: {URI}")


class _Audience:
    """Those who want to be told of one session's notices."""

    def __init__(self) -> None:
        self._bus = InMemorySubscriptionBus()
        self._connections: OrderedDict[int, ServerSession] = OrderedDict()
        self._telling: set[asyncio.Task[None]] = set()
        self._listening = ListenHandler(self._bus, max_subscriptions=MOST)
        self._closed = False

    async def listen(self, ctx: Context, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        """Tell who made this request, on its stream, until there will be nothing more to tell."""
        if self._closed:
            self._begin(self._end_streams())
        return await self._listening(ctx, params)

    def admit(self, session: ServerSession) -> None:
        """Tell a connection of the older protocol from now on."""
        self._connections[_connection(session)] = session
        while len(self._connections) > MOST:
            self._connections.popitem(last=False)

    def dismiss(self, session: ServerSession) -> None:
        """Tell that connection no more."""
        self._connections.pop(_connection(session), None)

    def tell(self) -> None:
        """Begin to tell every subscriber; a client that reads slowly holds up neither the session nor other clients."""
        self._begin(self._bus.publish(ResourceUpdated(uri=URI)))
        for session in self._connections.values():
            self._begin(session.send_resource_updated(URI))

    def close(self) -> None:
        """End the streams: the session is over. What is being told goes out first."""
        self._closed = True
        self._connections.clear()
        self._begin(self._end_streams())

    async def _end_streams(self) -> None:
        self._listening.close()

    def _begin(self, telling: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(_quietly(telling))
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)


async def _quietly(telling: Coroutine[Any, Any, None]) -> None:
    with suppress(MCPError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await telling


def _connection(session: ServerSession) -> int:
    """A key of the connection that a request came by: the id of the object that its handshake left."""
    return id(session.client_params)
