"""Settings of a server, and the one rule about where it may listen.

Policy: beyond this machine only with a list of hosts it answers to and a token that clients must show. The credential
of a harness and those of agents are never the same.
"""

import secrets
from dataclasses import dataclass, field

from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.play.server.patience import Patience

LOOPBACK = ("127.0.0.1", "localhost", "::1")
MAX_BODY = 1024 * 1024
"""Largest request body in bytes; longer ones are refused before they are read."""


class ServerError(SandboxError):
    """The server cannot be started as it was asked to; the message says what to change."""


def new_token() -> str:
    """A secret that cannot be guessed: 192 random bits."""
    return secrets.token_urlsafe(24)


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Behaviour of a server.

    ``api_token`` opens the control API. ``lobby_tokens`` open the lobby, each its own; none means that anybody who
    reaches the server shares one. ``auth`` demands the session's own bearer at its URL. ``hosts`` are the names, beside
    those of loopback, under which the server may be addressed. ``lobby`` says whether there is one, ``elicits``
    whether the person at a client may confirm calls where no harness does. ``streams`` answers with event streams, on
    which a client of the older protocol can be asked something while its call waits, instead of with bare JSON, which
    costs half as much. ``patience`` is how long clients may take, and how many there may be.
    """

    api_token: str = field(default_factory=new_token)
    lobby_tokens: tuple[str, ...] = ()
    auth: bool = False
    hosts: tuple[str, ...] = ()
    max_body: int = MAX_BODY
    lobby: bool = True
    elicits: bool = True
    streams: bool = False
    patience: Patience = field(default_factory=Patience)

    def __post_init__(self) -> None:
        if self.api_token in self.lobby_tokens:
            raise ServerError("the token of the control API and the one for agents must differ")
        if not self.api_token or not all(self.lobby_tokens):
            raise ServerError("a token must not be empty")


def check_exposed(host: str, settings: ServerSettings) -> None:
    """Refuse to listen beyond this machine without protection.

    Raises:
        ServerError: the address is not loopback and there is no allowed host, no token or no demand for bearers.
    """
    if host in LOOPBACK:
        return
    missing = [
        option
        for option, given in (("--allowed-host", settings.hosts), ("--token", settings.lobby_tokens))
        if not given
    ]
    if missing:
        raise ServerError(f"listening on {host!r} lets other machines in; that needs {' and '.join(missing)}")
