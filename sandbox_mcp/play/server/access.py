"""Doors: who gets through to MCP, and to what, decided before MCP sees anything.

Policy: an unknown session and another client's are the same, not found. Session URLs are the busy path, so their door
stands before the routing of everything else.
"""

from collections.abc import Callable

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from sandbox_mcp.play.server.connections import Connections
from sandbox_mcp.play.server.guard import bearer_in, is_one_of, problem
from sandbox_mcp.play.server.lobby.seats import Lobby, ManagedSeat
from sandbox_mcp.play.server.lobby.session_app import SessionApp
from sandbox_mcp.play.server.mcp_server import SCOPE_KEY
from sandbox_mcp.play.server.settings import ServerSettings
from sandbox_mcp.play.session.kept_sessions import seat_of
from sandbox_mcp.play.session.manager import SessionManager, UnknownSessionError
from sandbox_mcp.play.session.open_session import OpenSession

BEFORE, AFTER = "/s/", "/mcp"


def session_path(token: str) -> str:
    """Path of a session's MCP endpoint on the server."""
    return f"{BEFORE}{token}{AFTER}"


class SessionDoor:
    """ASGI middleware: the token in the path finds the session; the bearer, where one is demanded, must be its own."""

    def __init__(
        self,
        app: ASGIApp,
        manager: SessionManager,
        settings: ServerSettings,
        transport: StreamableHTTPSessionManager,
    ) -> None:
        self._app = app
        self._manager = manager
        self._settings = settings
        self._connections = Connections(transport, settings.max_body)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request for a session to MCP or refuse it, and pass on all others."""
        path = scope["path"].removeprefix(scope.get("root_path", "")) if scope["type"] == "http" else ""
        if not (path.startswith(BEFORE) and path.endswith(AFTER)):
            return await self._app(scope, receive, send)
        token = path[len(BEFORE) : -len(AFTER)]
        opened = self._opened(token, scope)
        if isinstance(opened, Response) and opened.status_code == 404 and self._connections.took_leave(token, scope):
            opened = Response(status_code=200)
        if isinstance(opened, Response):
            return await opened(scope, receive, send)
        scope[SCOPE_KEY] = opened
        return await self._connections.serve(opened, scope, receive, send)

    def _opened(self, token: str, scope: Scope) -> OpenSession | Response:
        bearer = bearer_in(scope) if self._settings.auth else None
        if self._settings.auth and bearer is None:
            return problem(401, "unauthorized", "this server needs the session's bearer: Authorization: Bearer ...")
        try:
            opened = self._manager.get(token)
            if self._settings.auth and not is_one_of(bearer, (opened.bearer,)):
                raise UnknownSessionError
        except UnknownSessionError as error:
            return problem(404, "unknown_session", str(error))
        return opened


class LobbyDoor:
    """ASGI endpoint of the lobby: each token has a seat of its own; where no token is asked for, all share one."""

    def __init__(
        self,
        manager: SessionManager,
        settings: ServerSettings,
        transport: StreamableHTTPSessionManager,
        announce: Callable[[OpenSession], None],
        app: SessionApp | None = None,
    ) -> None:
        self._settings = settings
        self._connections = Connections(transport, settings.max_body)
        seats = settings.lobby_tokens or ("",)
        self._lobbies = {token: Lobby(manager, ManagedSeat(manager, seat_of(token)), announce, app) for token in seats}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request to MCP, unless it has no seat."""
        bearer = bearer_in(scope) if self._settings.lobby_tokens else ""
        seat = next((token for token in self._lobbies if is_one_of(bearer, (token,))), None)
        if seat is None:
            refusal = problem(401, "unauthorized", "the lobby needs a token: Authorization: Bearer ...")
            return await refusal(scope, receive, send)
        scope[SCOPE_KEY] = self._lobbies[seat]
        return await self._connections.serve(self._lobbies[seat], scope, receive, send)
