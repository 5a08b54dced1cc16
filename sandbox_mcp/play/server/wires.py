"""More ways to reach the sessions of a server than MCP and the control API, as others bring them.

Policy: a server knows nothing of their protocols. Where several processes share the work, a wire tells by the bytes of
a request which process it is for, or that it has to see the body first.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from starlette.routing import BaseRoute

from sandbox_mcp.play.session.manager import SessionManager

WAIT = object()
"""As the key of a request: it is in the body, which has not come in."""


def _no_routes(_: SessionManager) -> Sequence[BaseRoute]:
    return ()


def _no_key(_head: bytes, _body: bytes, _whole: bool) -> object:
    return None


@dataclass(frozen=True, slots=True)
class Wires:
    """``routes`` of a process's sessions, and the ``key`` of a request: a text, None for any process, or ``WAIT``.

    ``key`` gets the head, what there is of the body, and whether that is all of it.
    """

    routes: Callable[[SessionManager], Sequence[BaseRoute]] = _no_routes
    key: Callable[[bytes, bytes, bool], object] = _no_key


NO_WIRES = Wires()
