"""Checks before every route: who may address this server, and how long a request may be.

Policy: a page in a browser must not reach a server on its user's machine by way of a name that points there, so Host
and Origin must be known names (421 and 403), written as a browser writes them and only once: what two readers could
understand differently is refused. Secrets are compared in constant time.
"""

import re
import secrets
from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from sandbox_mcp.play.server.settings import LOOPBACK, ServerSettings

_AUTHORITY = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]{2,45})\]|(?P<name>[^\[\]:/?#@\s,]{1,255}))(?::[0-9]{1,5})?")


class Guard:
    """ASGI middleware: refuses foreign hosts, foreign origins and bodies announced as too long; WebSockets likewise."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in (*LOOPBACK, *settings.hosts))
        self._max_body = settings.max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with its fault."""
        refusal = self._refusal(scope["headers"]) if scope["type"] in ("http", "websocket") else None
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, headers: Iterable[tuple[bytes, bytes]]) -> Response | None:
        """One pass over the headers, because every request goes through here."""
        hosts: list[bytes] = []
        origins: list[bytes] = []
        length, chunked = b"", False
        for name, value in headers:
            if name == b"host":
                hosts.append(value)
            elif name == b"origin":
                origins.append(value)
            elif name == b"content-length":
                length = value
            elif name == b"transfer-encoding":
                chunked = True
        if len(hosts) != 1 or host_of(hosts[0].decode("latin-1")) not in self._hosts:
            return problem(421, "wrong_host", "this server does not answer to that Host; see --allowed-host")
        if origins and (len(origins) > 1 or host_of_origin(origins[0].decode("latin-1")) not in self._hosts):
            return problem(403, "wrong_origin", "requests from that Origin are not allowed")
        if length and chunked:  # a proxy may hold one for the end of the request, and the server the other
            told = "a request has Content-Length or Transfer-Encoding, and not both"
            refusal = problem(400, "two_lengths", told)
            refusal.headers["Connection"] = "close"
            return refusal
        if length.isdigit() and int(length) > self._max_body:
            return problem(413, "too_large", f"a request body may have at most {self._max_body} bytes")
        return None


def host_of(authority: str) -> str:
    """The host in ``host``, ``host:port`` or ``[v6]:port``, in lower case; empty where it is nothing of the kind."""
    if authority.count(":") > 1 and "[" not in authority:
        return authority.lower()  # a bare address of version 6, which some clients send
    found = _AUTHORITY.fullmatch(authority)
    return (found["v6"] or found["name"]).lower() if found else ""


def host_of_origin(origin: str) -> str:
    """The host in ``http://host:port``, in lower case; empty where it is nothing of the kind."""
    scheme, _, authority = origin.partition("://")
    return host_of(authority) if scheme.lower() in ("http", "https") else ""


def problem(status: int, code: str, message: str) -> JSONResponse:
    """An error as every route of ours tells it."""
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return JSONResponse({"error": {"code": code, "message": message}}, status, headers)


def bearer_in(scope: Scope) -> str | None:
    """The bearer token of a request."""
    scheme, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None


class TokenDoor:
    """ASGI middleware: lets requests and WebSockets pass that show one of some tokens; all where there are none.

    A token is shown as a bearer token, or under X-API-Key, where clients of some frameworks put it.
    """

    def __init__(self, app: ASGIApp, accepted: tuple[str, ...]) -> None:
        self._app = app
        self._accepted = accepted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if (
            scope["type"] in ("http", "websocket")
            and self._accepted
            and not is_one_of(bearer_in(scope) or Headers(scope=scope).get("x-api-key"), self._accepted)
        ):
            refusal = problem(401, "unauthorized", "this needs a token of the server: Authorization: Bearer ...")
            return await refusal(scope, receive, send)
        return await self._app(scope, receive, send)


def is_one_of(token: str | None, accepted: Iterable[str]) -> bool:
    """True if a token is accepted; takes as long for a wrong one as for a right one."""
    given = (token or "").encode()
    matches = [secrets.compare_digest(given, known.encode()) for known in accepted]
    return any(matches)
