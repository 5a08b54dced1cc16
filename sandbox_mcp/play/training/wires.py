"""The wires of training frameworks on a server: where they are mounted, who may use them, which process answers.

Policy: beside MCP and the control API they need the control API's token, because an agent that is being tested must
not be able to practise. A server that was started for training alone (``serve --as``) has its wire at the root, and
asks for a token where it can be reached from other machines.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast
from urllib.parse import parse_qs

from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Mount

from sandbox_mcp.play.server.guard import TokenDoor
from sandbox_mcp.play.server.settings import ServerSettings
from sandbox_mcp.play.server.wires import WAIT, Wires
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.training.hosting import EpisodeHost
from sandbox_mcp.play.training.nemo_gym import COOKIE, TOKEN, NemoGymWire
from sandbox_mcp.play.training.openenv_routes import OpenEnvWire
from sandbox_mcp.play.training.openreward import SESSION, OpenRewardWire
from sandbox_mcp.play.training.rollouts import Rollouts

Served = Literal["openenv", "nemo-gym", "openreward"]
OPENENV, NEMO_GYM = "/openenv", "/nemo-gym"
_NAMED = f"(?:{TOKEN}|{SESSION})".encode()
_SHOWN = re.compile(rb"\n" + _NAMED + rb":[ \t]*([^\r\n \t]+)", re.IGNORECASE)
_COOKIE = re.compile(rb"\ncookie:[^\r\n]*?\b" + COOKIE.encode() + rb"=([^\r\n;, \t]+)", re.IGNORECASE)
_IN_BODIES = ("/mcp", "/reset", "/step", "/seed_session", "/close_session")
"""How the paths end of requests that say in their body which environment they are about."""


@dataclass(frozen=True, slots=True)
class TrainingWires:
    """Makes the wires of a server. ``served`` is the one at the root, if any, and ``world`` its world.

    ``rollouts`` keep the episodes that have ended.
    """

    settings: ServerSettings
    served: Served | None = None
    world: str = ""
    rollouts: Rollouts | None = None

    def wires(self) -> Wires:
        """The wires for :func:`sandbox_mcp.play.server.app.build_app`."""
        return Wires(self._routes, self._key)

    def _routes(self, manager: SessionManager) -> Sequence[BaseRoute]:
        host = EpisodeHost(manager, self.rollouts)
        tokens = self.settings.lobby_tokens if self.served else ()
        accepted = (self.settings.api_token, *tokens) if tokens or not self.served else ()
        door = [Middleware(TokenDoor, accepted=accepted)]
        openenv, nemo = OpenEnvWire(host, self.world).routes(), NemoGymWire(host).routes()
        mounted: list[BaseRoute] = [
            Mount(f"{OPENENV}/{{world}}", routes=openenv, middleware=door),
            Mount(NEMO_GYM, routes=nemo, middleware=door),
        ]
        match self.served:
            case "openenv":
                return [*mounted, _Root(openenv, door)]
            case "nemo-gym":
                return [*mounted, _Root(nemo, door)]
            case "openreward":
                return [*mounted, _Root(OpenRewardWire(host, self.world).routes(), door)]
            case None:
                return mounted

    def _key(self, head: bytes, body: bytes, whole: bool) -> object:
        """What tells which process has the environment or session that a request is about."""
        line, _, _ = head.partition(b"\r\n")
        method, _, rest = line.decode("latin-1").partition(" ")
        path, _, query = rest.split(" ", 1)[0].partition("?")
        if not (self.served or path.startswith((f"{OPENENV}/", f"{NEMO_GYM}/"))) or path.startswith(("/api/", "/s/")):
            return None
        for name in ("session_id", "episode_id"):
            if found := parse_qs(query).get(name):
                return found[0]
        if method != "POST" and self.served != "openreward":
            return None
        if found := _SHOWN.search(head) or _COOKIE.search(head):
            return found[1].decode("latin-1")
        if method != "POST" or not path.endswith(_IN_BODIES):
            return None
        return _named_in(body) if whole else WAIT


def _named_in(body: bytes) -> str | None:
    """The environment or session that a request's body is about."""
    try:
        read: Any = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        return None
    if not isinstance(read, dict):
        return None
    given = cast("dict[str, Any]", read)
    params = given.get("params")
    places = (given, cast("dict[str, Any]", params) if isinstance(params, dict) else {})
    names = ("episode_id", "session_id", "resources_session_id")
    found = (place.get(name) for place in places for name in names)
    return next((name for name in found if isinstance(name, str)), None)


class _Root(Mount):
    """Routes at the root that are tried before others, and do not take what they do not have."""

    def __init__(self, routes: Sequence[BaseRoute], door: list[Middleware]) -> None:
        super().__init__("", routes=list(routes), middleware=door)
        self._own = list(routes)

    def matches(self, scope: Any) -> Any:
        """How a request fits: as well as it fits the best of the routes."""
        found = [route.matches(scope)[0] for route in self._own]
        best = max(found, key=lambda match: match.value)
        return best, {**super().matches(scope)[1]}
