"""Every fact that a session's replies should state, with what strict grading heard: what a second judge is asked."""

from dataclasses import dataclass

from sandbox_scenarios.model import Scenario

from sandbox_grader.milestones import strict
from sandbox_grader.milestones.listening import in_words
from sandbox_grader.milestones.strict_nodes import hears
from sandbox_mcp.engine.trajectory import Message, ToolCall, Trajectory

MOST_CALLS = 30
"""So many calls before a message are its evidence, the latest."""
LONGEST = 600
"""Characters of a result that are shown as evidence."""


@dataclass(frozen=True, slots=True)
class Told:
    """One fact of one milestone: in words, the message that was held against it, and whether it was heard there.

    ``request`` is what the user had said until then, ``evidence`` the calls with their results, a line each.
    """

    milestone: str
    fact: str
    seq: int
    message: str
    request: tuple[str, ...]
    evidence: tuple[str, ...]
    stated: bool
    why: str


def told(scenario: Scenario, trajectory: Trajectory) -> tuple[Told, ...]:
    """Every fact that a milestone asks the agent's messages for, held against the message that came nearest."""
    result = strict.evaluate(scenario, trajectory)
    nodes, events = result.milestones, result.milestones.timeline.events
    spoken = nodes.timeline.messages("agent", "user")
    found: list[Told] = []
    for number, milestone in enumerate(nodes.milestones):
        place = result.placed.get(number)
        lookup = nodes.lookup(number, nodes.slots(number, result.placed)) if place else None
        for constraint in milestone.constraints:
            if not hears(constraint) or not spoken:
                continue
            said = dict(spoken)
            at = place.index if place and place.index in said else spoken[-1][0]
            message = said[at]
            before = [event for event in events[:at] if isinstance(event, Message) and event.sender == "user"]
            calls = [event for event in events[:at] if isinstance(event, ToolCall) and event.caller == "agent"]
            for fact, finding in nodes.listener.findings(constraint.content, at, lookup):
                found.append(Told(
                    milestone.id, in_words(fact), message.seq, message.content, tuple(item.content for item in before),
                    tuple(map(_line, calls[-MOST_CALLS:])), finding.outcome == "stated", finding.why,
                ))  # fmt: skip
    return tuple(found)


def _line(call: ToolCall) -> str:
    outcome = str(call.result) if call.error is None else f"failed: {call.error.message}"
    return f"{call.called}({dict(call.arguments)}) -> {outcome[:LONGEST]}"
