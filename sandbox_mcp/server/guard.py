"""What stands before every route: who may address this server, and how long a request may be.

Policy: a page in a browser must not reach a server on its user's machine by way of a name that points there, so Host
and Origin must be known names (421 and 403). Secrets are compared in constant time.
"""

import secrets
from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from sandbox_mcp.server.settings import LOOPBACK, ServerSettings


class Guard:
    """ASGI middleware: refuses foreign hosts, foreign origins and bodies announced as too long."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in (*LOOPBACK, *settings.hosts))
        self._max_body = settings.max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with what is wrong."""
        refusal = self._refusal(scope["headers"]) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, headers: Iterable[tuple[bytes, bytes]]) -> Response | None:
        """One pass over the headers, because every request goes through here."""
        host, origin, length = b"", None, b"0"
        for name, value in headers:
            if name == b"host":
                host = value
            elif name == b"origin":
                origin = value
            elif name == b"content-length":
                length = value
        if host_of(host.decode("latin-1")) not in self._hosts:
            return problem(421, "wrong_host", "this server does not answer to that Host; see --allowed-host")
        if origin is not None and host_of(origin.decode("latin-1").partition("://")[2]) not in self._hosts:
            return problem(403, "wrong_origin", "requests from that Origin are not allowed")
        if length.isdigit() and int(length) > self._max_body:
            return problem(413, "too_large", f"a request body may have at most {self._max_body} bytes")
        return None


def host_of(authority: str) -> str:
    """The host in ``host``, ``host:port`` or ``[v6]:port``, in lower case."""
    if authority.startswith("["):
        return authority[1:].partition("]")[0].lower()
    return authority.rpartition(":")[0].lower() if authority.count(":") == 1 else authority.lower()


def problem(status: int, code: str, message: str) -> JSONResponse:
    """An error as every route of ours tells it."""
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return JSONResponse({"error": {"code": code, "message": message}}, status, headers)


def bearer_in(scope: Scope) -> str | None:
    """The bearer token of a request."""
    scheme, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None


def is_one_of(token: str | None, accepted: Iterable[str]) -> bool:
    """Whether a token is accepted; takes as long for a wrong one as for a right one."""
    given = (token or "").encode()
    matches = [secrets.compare_digest(given, known.encode()) for known in accepted]
    return any(matches)
