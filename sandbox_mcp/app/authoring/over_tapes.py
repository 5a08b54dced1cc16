"""Whether scenarios over tapes can be done at all: their solutions, played on what was recorded.

Policy: a solution that the tape has no answer to says nothing about any agent, so it is told before anything is scored.
"""

from collections.abc import Iterable, Iterator

from sandbox_scenarios import Scenario, Suite
from sandbox_scenarios.lint.complaint import Complaint

from sandbox_mcp.engine.trajectory import ToolCall

NOT_RECORDED = "NotRecordedError"
MEND = "record it with 'sandbox-mcp mirror', say which tools only look with --reads, or take it out of the reference"


def unanswered(suite: Suite, names: Iterable[str]) -> Iterator[Complaint]:
    """The calls of solutions that a scenario's tape has no answer to."""
    for name in names:
        if any(part.startswith("recorded_") for part in suite.world(name).split("+")):
            scenario = suite.get(name)
            if not scenario.fill:
                yield from _of(scenario)


def _of(scenario: Scenario) -> Iterator[Complaint]:
    from sandbox_mcp.play.session.rehearsal import RehearsalStage

    for number, solution in enumerate(scenario.solutions, 1):
        log = RehearsalStage(scenario).rehearse(solution, starts=False).log
        for event in log.events:
            if isinstance(event, ToolCall) and event.error is not None and event.error.type == NOT_RECORDED:
                problem = f"solution {number} cannot be played: {event.error.message}"
                yield Complaint(scenario.name, scenario.path, scenario.line, "not_recorded", problem, MEND)
                break
