"""What defines a session before anything happens in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox_scenarios.model import Scenario
from sandbox_scenarios.variants import BASE

from sandbox_mcp.trajectory import UserChannel

AGENT_INSTRUCTIONS = (
    "You are the assistant on somebody's phone and act through the tools you are given. "
    "Rely on what the user and the tools tell you: look up or ask for what you do not know, never make it up, "
    "and say so when something cannot be done with the tools you have."
)
"""What the agent is told before the conversation: the same in every session, and nothing about the scenario."""


@dataclass(frozen=True, slots=True)
class SessionSpec:
    """Which scenario, how it is presented, and who takes part. The same spec gives the same world, tools and ids.

    ``user_channel`` says who drives: ``harness`` (the harness takes the agent's final text as its turn) or ``tool``
    (the agent calls ``send_message_to_user``). ``agent`` is whatever is known of the agent, for the log.
    """

    scenario: Scenario
    variant: str = BASE
    seed: int = 0
    trial: int = 0
    user_channel: UserChannel = "harness"
    agent: Mapping[str, Any] = field(default_factory=dict[str, Any])
    session_id: str = ""

    @property
    def id(self) -> str:
        """The session's name in logs and reports; made from the rest where none was given."""
        return self.session_id or f"{self.scenario.name}-{self.variant}-s{self.seed}-t{self.trial}"
