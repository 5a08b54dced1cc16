"""The HTTP application: session URLs, the lobby, the control API, and a way to run it inside an event loop.

Policy: a session's URL is all its agent needs, in both protocol eras, with a connection per call as much as with one
for all.
"""

import asyncio
import errno
import gc
import os
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
from mcp.server import Server
from mcp.server.streamable_http_manager import DEFAULT_SESSION_IDLE_TIMEOUT, StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from sandbox_mcp import __version__
from sandbox_mcp.play.server.access import LobbyDoor, SessionDoor
from sandbox_mcp.play.server.api import Api
from sandbox_mcp.play.server.guard import Guard, bearer_in, is_one_of, problem
from sandbox_mcp.play.server.lobby.server import lobby_server
from sandbox_mcp.play.server.lobby.session_app import SessionApp
from sandbox_mcp.play.server.mcp_server import routed_server
from sandbox_mcp.play.server.metrics import TEXT, CallMeter
from sandbox_mcp.play.server.models import Health
from sandbox_mcp.play.server.patience import Patience, PatientConnections, uvicorn_config
from sandbox_mcp.play.server.settings import ServerError, ServerSettings
from sandbox_mcp.play.server.wires import NO_WIRES, Wires
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.session.open_session import OpenSession
from sandbox_mcp.play.telemetry import exporting, flush


def build_app(
    manager: SessionManager,
    settings: ServerSettings | None = None,
    announce: Callable[[OpenSession], None] = lambda _: None,
    server: Server[Any] | None = None,
    app: SessionApp | None = None,
    meter: CallMeter | None = None,
    wires: Wires = NO_WIRES,
) -> Starlette:
    """The application that serves the manager's sessions.

    ``announce`` is told of sessions that begin in the lobby. ``app`` shows a page of each that is over, to hosts in the
    lobby. ``server`` speaks MCP at session URLs. It is a ``routed_server`` unless a program brings one of its own, made
    by ``server_of``. ``meter`` counts the calls of this worker, where there are several. ``wires`` have more routes,
    which come before the lobby's.
    """
    settings = settings or ServerSettings()
    meter = meter or CallMeter()

    async def metrics(request: Request) -> Response:
        if not is_one_of(bearer_in(request.scope), (settings.api_token,)):
            return problem(401, "unauthorized", "metrics need the control API's token: Authorization: Bearer ...")
        return Response(meter.text(manager.open_anywhere, manager.max_sessions), media_type=TEXT)

    routed = server or routed_server(elicits=settings.elicits, meter=meter)
    sessions = _transport(
        routed, settings, idle=None
    )  # they end with their session, which is given up where it is idle
    in_lobby = lobby_server(manager.suite, elicits=settings.elicits, app=app, meter=meter)
    lobby = _transport(in_lobby, settings, idle=DEFAULT_SESSION_IDLE_TIMEOUT)
    lobby_routes = [Route("/mcp", LobbyDoor(manager, settings, lobby, announce, app))] if settings.lobby else []
    routes: list[BaseRoute] = [
        *Api(manager, settings).routes(),
        Route("/healthz", _health),
        Route("/metrics", metrics),
        *wires.routes(manager),
        *lobby_routes,
        Route("/openapi.json", _openapi),
    ]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with sessions.run(), lobby.run(), anyio.create_task_group() as tasks:
            tasks.start_soon(manager.reap_forever)
            yield
            tasks.cancel_scope.cancel()

    return Starlette(
        routes=routes,
        middleware=[
            *_measuring(manager),
            Middleware(Guard, settings=settings),
            Middleware(SessionDoor, manager=manager, settings=settings, transport=sessions),
        ],
        exception_handlers={HTTPException: _http_error, Exception: _internal_error},
        lifespan=lifespan,
    )


def _measuring(manager: SessionManager) -> list[Middleware]:
    """Middleware that measures this server for OpenTelemetry, where figures are exported."""
    out = exporting()
    if out is None or out.meter is None:
        return []
    from sandbox_mcp.play.server.telemetry import TracedHttp, watch_sessions

    watch_sessions(out.meter, manager)
    return [Middleware(TracedHttp, meter=out.meter)]


def _transport(server: Server[Any], settings: ServerSettings, idle: float | None) -> StreamableHTTPSessionManager:
    """What speaks MCP over HTTP. A connection of the older protocol ends when it was not used for ``idle`` seconds."""
    return StreamableHTTPSessionManager(
        server,
        json_response=not settings.streams,
        max_request_body_size=settings.max_body,
        session_idle_timeout=idle,
    )


async def _health(_: Request) -> Response:
    return JSONResponse(Health(version=__version__).model_dump())


async def _openapi(_: Request) -> Response:
    from sandbox_mcp.play.server.openapi import document

    return JSONResponse(document())


async def _http_error(_: Request, error: Exception) -> Response:
    """Answers requests that no route takes, or none with this method."""
    if not isinstance(error, HTTPException):
        raise error
    detail = error.detail.lower()
    told = problem(error.status_code, detail.replace(" ", "_"), f"{detail}; see /openapi.json")
    told.headers.update(error.headers or {})
    return told


async def _internal_error(_: Request, __: Exception) -> Response:
    """A bug of ours, told in the form of all errors; what it was is in the server's messages."""
    return problem(500, "internal_error", "the server broke at this request; its messages say why")


def listener_on(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes any free one.

    Raises:
        ServerError: the address cannot be had, because it is in use or not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio sets TCP_NODELAY by this
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        hint = "; choose another with --port" if error.errno == errno.EADDRINUSE else ""
        raise ServerError(f"cannot listen on {host} port {port}: {error.strerror or error}{hint}") from error
    return listener


def base_url(listener: socket.socket) -> str:
    """The URL under which a listening socket is reached."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@asynccontextmanager
async def serving(
    manager: SessionManager,
    settings: ServerSettings | None = None,
    server: Server[Any] | None = None,
    wires: Wires = NO_WIRES,
) -> AsyncGenerator[str]:
    """Serve on a free port of loopback while the context is open; gives the base URL.

    Runs in the event loop it is entered in, and leaves signals to whoever owns the process.
    """
    app = build_app(manager, settings, server=server, wires=wires)
    async with serving_app(app, (settings or ServerSettings()).patience) as base:
        yield base


@asynccontextmanager
async def serving_app(app: ASGIApp, patience: Patience | None = None) -> AsyncGenerator[str]:
    """Serve any application as :func:`serving` does."""
    import uvicorn

    class _Embedded(uvicorn.Server):
        ready = anyio.Event()

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            self.ready.set()

        @contextmanager
        def capture_signals(self) -> Generator[None]:
            yield

    listener = listener_on("127.0.0.1", 0)
    embedded = _Embedded(uvicorn_config(app, PatientConnections(patience or Patience())))
    stopped = anyio.Event()

    async def run() -> None:
        try:
            await embedded.serve([listener])
        finally:
            listener.close()
            stopped.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await embedded.ready.wait()
        try:
            yield base_url(listener)
        finally:
            embedded.should_exit = True
            with anyio.CancelScope(shield=True):
                await stopped.wait()


def serve_forever(
    manager: SessionManager,
    settings: ServerSettings,
    listener: socket.socket,
    announce: Callable[[OpenSession], None] = lambda _: None,
    app: SessionApp | None = None,
    wires: Wires = NO_WIRES,
) -> None:
    """Serve until a signal says to stop, then close all sessions, which cannot be reached any more."""
    import uvicorn

    class _Standalone(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await super().shutdown(sockets)
            await manager.close_all()
            await asyncio.to_thread(flush)  # before the signal that ended this ends the process

    connections = PatientConnections(settings.patience)
    server = _Standalone(uvicorn_config(build_app(manager, settings, announce, app=app, wires=wires), connections))
    gc.freeze()  # a collection that looked through all that is there by now would hold up every session
    server.run(sockets=[listener])
