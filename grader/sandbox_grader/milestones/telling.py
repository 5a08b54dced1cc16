"""The facts of a session that are in doubt, with what a judge or a person needs to settle each."""

from dataclasses import dataclass

from sandbox_scenarios.model import Scenario

from sandbox_grader.milestones import strict
from sandbox_mcp.engine.trajectory import Message, ToolCall, Trajectory

MOST_CALLS = 30
"""So many calls before a message are its evidence, the latest."""
LONGEST = 600
"""Characters of a result that are shown as evidence."""


@dataclass(frozen=True, slots=True)
class DoubtfulFact:
    """One fact of one milestone: in words, the message that may state it, and the reason for the doubt.

    ``request`` is what the user had said until then, ``evidence`` the calls with their results, a line each.
    """

    milestone: str
    fact: str
    seq: int
    message: str
    request: tuple[str, ...]
    evidence: tuple[str, ...]
    why: str


def in_doubt(scenario: Scenario, trajectory: Trajectory) -> tuple[DoubtfulFact, ...]:
    """Every fact whose statement strict grading is uncertain about, and on which a score hangs."""
    found = dict[tuple[int, str], DoubtfulFact]()
    for doubt in strict.evaluate(scenario, trajectory).doubts:
        before = [event for event in trajectory.events if event.seq < doubt.seq]
        said = next(item.content for item in trajectory.events if isinstance(item, Message) and item.seq == doubt.seq)
        request = tuple(event.content for event in before if isinstance(event, Message) and event.sender == "user")
        calls = [event for event in before if isinstance(event, ToolCall) and event.caller == "agent"]
        evidence = tuple(map(_line, calls[-MOST_CALLS:]))
        fact = DoubtfulFact(doubt.milestone, doubt.fact, doubt.seq, said, request, evidence, doubt.why)
        found.setdefault((doubt.seq, doubt.fact), fact)
    return tuple(found.values())


def _line(call: ToolCall) -> str:
    outcome = str(call.result) if call.error is None else f"failed: {call.error.message}"
    return f"{call.called}({dict(call.arguments)}) -> {outcome[:LONGEST]}"
