"""Opening of a session: its definition, the first line of its log, and the texts for agent and user.

Policy: a session goes on only from a log that began as it would begin now.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from sandbox_scenarios.model import Scenario, UserSpec
from sandbox_scenarios.personas import user_of
from sandbox_scenarios.stage import session_name
from sandbox_scenarios.variants import BASE

from sandbox_mcp import __version__
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.tools import PresentedTool
from sandbox_mcp.engine.trajectory import ReferenceTurn, SessionStarted, ToolSpec, UserChannel
from sandbox_mcp.engine.world import Snapshot
from sandbox_mcp.play.users import User

LARGEST = 2**63 - 1
"""The largest seed and trial: both are part of the log's name."""
INSTRUCTIONS = "instructions"
"""Where the description of an agent has other instructions: their ``name`` and their ``text``."""


@dataclass(frozen=True, slots=True)
class SessionSpec:
    """Scenario, presentation and participants. The same spec gives the same world, tools and ids.

    ``user_channel`` says who drives: ``harness`` (the harness takes the agent's final text as its turn) or ``tool``
    (the agent calls ``send_message_to_user``). ``agent`` is whatever is known of the agent, for the log. If it has
    ``instructions``, the agent is told their text instead of what the scenario's world tells every agent. In both cases
    it is then told the facts in ``told``, or without them what its world says of the moment at which the session
    begins. ``reference`` and ``origin`` go into the log of a session whose material comes from elsewhere, as an
    importer would put them there.
    """

    scenario: Scenario
    variant: str = BASE
    seed: int = 0
    trial: int = 0
    user_channel: UserChannel = "harness"
    agent: Mapping[str, Any] = field(default_factory=dict[str, Any])
    session_id: str = ""
    told: str = ""
    reference: tuple[tuple[ReferenceTurn, ...], ...] = ()
    origin: Mapping[str, Any] | None = None

    @classmethod
    def of_log(cls, scenario: Scenario, started: SessionStarted) -> "SessionSpec":
        """The spec of a session whose log is known."""
        return cls(
            scenario,
            started.variant,
            started.seed,
            started.trial,
            started.user_channel,
            started.agent,
            started.session,
        )

    @property
    def id(self) -> str:
        """The session's name in logs and reports; made from the rest where none was given."""
        return self.session_id or session_name(self.scenario.name, self.variant, self.seed, self.trial)

    @property
    def user(self) -> UserSpec:
        """The user of the scenario, under its personas and those of the variant."""
        return user_of(self.scenario, self.variant)

    @property
    def instructions(self) -> str:
        """Instructions of the agent before the conversation."""
        chosen = self.agent.get(INSTRUCTIONS)
        text = cast("Mapping[str, Any]", chosen).get("text") if isinstance(chosen, Mapping) else None
        briefing = text if isinstance(text, str) else self.scenario.home.briefing
        facts = self.told or self.scenario.situation
        return f"{briefing}\n{facts}" if facts else briefing


def chosen_instructions(name: str, text: str) -> Mapping[str, Any]:
    """Text to add to the description of an agent that gets this text."""
    return {INSTRUCTIONS: {"name": name, "text": text}}


class SessionError(SandboxError):
    """Something was asked of a session that it cannot do; the message says why."""


def started_event(
    spec: SessionSpec, user: User, tools: Mapping[str, PresentedTool], wall: Mapping[str, Any],
    state: Snapshot | None = None,
) -> SessionStarted:  # fmt: skip
    """The first line of a session's log; ``state`` is the state that it begins with."""
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
        world=(state or scenario.world).tables,
        worlds=scenario.home.told(),
        clock={"now": clock.now, "zone": clock.zone, "step": clock.step},
        versions={"sandbox_mcp": __version__},
        reference=spec.reference,
        origin=spec.origin,
        wall=wall,
    )


def tool_spec(tool: PresentedTool) -> ToolSpec:
    """Describe a tool for the log as it was presented."""
    return ToolSpec(
        name=tool.name,
        tool=tool.tool.name,
        domain=tool.tool.domain,
        action=tool.tool.action,
        description=tool.description,
        input_schema=tool.schema,
    )


def user_briefing(user: UserSpec) -> str:
    """Briefing of the simulated user: its goal, what it refuses, and where its knowledge ends."""
    parts = [" ".join((user.goal, *user.wants_not))]
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
