"""How a session begins: what its log's first line says, what the user is told, and the world it starts from.

Policy: a session goes on only from a log that began as it would begin now.
"""

from collections.abc import Mapping
from typing import Any

from sandbox_scenarios.model import UserSpec

from sandbox_mcp import __version__
from sandbox_mcp.errors import SandboxError
from sandbox_mcp.session.spec import SessionSpec
from sandbox_mcp.tools import PresentedTool
from sandbox_mcp.trajectory import SessionStarted, ToolSpec
from sandbox_mcp.users import User
from sandbox_mcp.world import Clock, IdStream, World, snapshot_of


class SessionError(SandboxError):
    """Something was asked of a session that it cannot do; the message says why."""


def started_event(
    spec: SessionSpec, user: User, tools: Mapping[str, PresentedTool], wall: Mapping[str, Any]
) -> SessionStarted:
    """The first line of a session's log."""
    scenario = spec.scenario
    clock = scenario.clock
    return SessionStarted(
        session=spec.id,
        scenario=scenario.name,
        digest=scenario.digest,
        categories=scenario.categories,
        variant=spec.variant,
        seed=spec.seed,
        trial=spec.trial,
        user_channel=spec.user_channel,
        agent=spec.agent,
        user={"kind": user.kind, **user.describe()},
        limits={"max_turns": scenario.max_turns, "max_calls": scenario.max_calls},
        tools=tuple(tool_spec(tool) for tool in tools.values()),
        world=scenario.world.tables,
        clock={"now": clock.now, "zone": clock.zone, "step": clock.step},
        versions={"sandbox_mcp": __version__},
        wall=wall,
    )


def tool_spec(tool: PresentedTool) -> ToolSpec:
    """What the log says about a tool as it was presented."""
    return ToolSpec(
        name=tool.name,
        tool=tool.tool.name,
        domain=tool.tool.domain,
        action=tool.tool.action,
        description=tool.description,
        input_schema=tool.schema,
    )


def user_briefing(user: UserSpec) -> str:
    """What the simulated user is told: its goal, and where its knowledge ends."""
    parts = [user.goal]
    if user.knows:
        parts.append("You know: " + " ".join(user.knows))
    if user.does_not_know:
        parts.append("You do not know: " + " ".join(user.does_not_know))
    return "\n".join(parts)


def check_same(spec: SessionSpec, started: SessionStarted) -> None:
    """Refuse to go on with a log that another session began.

    Raises:
        SessionError: it is of another scenario, variant or seed, or the scenario has changed since.
    """
    mine = (spec.scenario.name, spec.variant, spec.seed)
    theirs = (started.scenario, started.variant, started.seed)
    if mine != theirs:
        raise SessionError(f"the log is of scenario, variant and seed {theirs!r}, not {mine!r}")
    if started.digest != spec.scenario.digest:
        raise SessionError(f"scenario {started.scenario!r} has changed since this session began; start a new one")


def initial_world(started: SessionStarted) -> World:
    """A world as it was when the session began, with its clock and its ids.

    Raises:
        SessionError: the log recorded no state.
    """
    if started.world is None:
        raise SessionError(f"the log of {started.session!r} recorded no state")
    clock = Clock(started.clock["now"], started.clock["zone"], started.clock["step"])
    ids = IdStream(f"{started.scenario}/{started.variant}/{started.seed}")
    return World(snapshot_of(started.world), clock, ids)
