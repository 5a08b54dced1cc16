"""Live servers of sessions: started afresh, reset, called, and stopped when the session is over.

Policy: a session has its own process, in a folder of its own where the scenario wants one; a server at a URL is shared,
so that a session resets it and no two may have it at a time. A call not answered in time is refused, and a
server that dies breaks the world, which counts against nobody. Everything else in the process waits for an answer.
"""

from typing import TYPE_CHECKING, cast

from sandbox_scenarios.model import Scenario

from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.tools.declared import OfSession
from sandbox_mcp.engine.worlds import JOINED

if TYPE_CHECKING:
    from sandbox_mcp.engine.worlds.recorded.live import LiveWorld
    from sandbox_mcp.play.session.running_server import RunningServer


def live_worlds(home: World) -> "tuple[LiveWorld, ...]":
    """The live servers of a world, which may be several side by side."""
    if not any(name.startswith("live_") for name in home.name.split(JOINED)):
        return ()
    from sandbox_mcp.engine.worlds.composite import Composite
    from sandbox_mcp.engine.worlds.recorded.live import LiveWorld

    parts = home.parts if isinstance(home, Composite) else (home,)

    return tuple(part for part in parts if isinstance(part, LiveWorld))


def with_servers(scenario: Scenario, knowledge: object, *, keep: bool = False) -> object:
    """What a session's tools look things up in: ``knowledge``, and a server of its own for each live world.

    With ``keep`` what the servers answer goes onto the tapes of their worlds, where it is not there yet.

    Raises:
        SandboxError: a server cannot be started.
    """
    found = live_worlds(scenario.home)
    if not found:
        return knowledge
    from sandbox_mcp.play.session.running_server import RunningServer

    started: dict[str, object] = {}
    try:
        for world in found:
            started[world.name] = RunningServer(world.server, world, keep=keep)
    except Exception:
        close_servers(OfSession(started))
        raise
    return OfSession(started, knowledge)


def close_servers(knowledge: object) -> None:
    """Stop the servers that :func:`with_servers` started."""
    for server in knowledge.servers.values() if isinstance(knowledge, OfSession) else ():
        cast("RunningServer", server).close()
