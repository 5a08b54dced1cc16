"""Scores for nothing: the session in which the agent stays silent, and the one in which it refuses.

Policy: both are made from the scenario alone, as logs like any other, and graded like any other.
"""

from sandbox_scenarios.model import Scenario

from sandbox_mcp.engine.trajectory import Message, Role, SessionEnded, SessionStarted, Trajectory

REFUSAL = "I'm sorry, I can't help with that."
"""What the refusing agent says, whatever it is asked."""


def idle(scenario: Scenario) -> Trajectory:
    """The session in which nothing follows the user's opening."""
    return _session(scenario, "idle", (_message(scenario, 1, "user", "agent", scenario.user.opening),))


def refusing(scenario: Scenario) -> Trajectory:
    """The session in which the agent answers the opening with its refusal."""
    opening = _message(scenario, 1, "user", "agent", scenario.user.opening)
    return _session(scenario, "refusal", (opening, _message(scenario, 2, "agent", "user", REFUSAL)))


def _session(scenario: Scenario, name: str, messages: tuple[Message, ...]) -> Trajectory:
    clock = {"now": scenario.clock.now, "zone": scenario.clock.zone, "step": scenario.clock.step}
    started = SessionStarted(
        session=name,
        scenario=scenario.name,
        digest=scenario.digest,
        categories=scenario.categories,
        world=scenario.world.tables,
        clock=clock,
    )
    ended = SessionEnded(seq=len(messages) + 1, clock=scenario.clock.now, reason="user_ended")
    return Trajectory(started, messages, ended)


def _message(scenario: Scenario, number: int, sender: Role, recipient: Role, content: str) -> Message:
    return Message(
        seq=number,
        clock=scenario.clock.now,
        sender=sender,
        recipient=recipient,
        content=content,
        visible_to=("user", "agent"),
    )
