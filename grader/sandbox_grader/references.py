"""Reference solutions with their values: what a scenario's solutions call, and what each call returns.

Policy: a solution is carried out once in a fresh world of its scenario, at the pace of a session, so that values taken
from results are concrete and metrics that compare results can. Only solutions are executed here, never a log.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sandbox_scenarios.errors import ScenarioError
from sandbox_scenarios.filling import fill, refusal
from sandbox_scenarios.model import PlannedCall, Scenario
from sandbox_scenarios.model import Solution as PlannedSolution
from sandbox_scenarios.stage import Stage

from sandbox_grader.metric import Solution
from sandbox_mcp.tools import Bound
from sandbox_mcp.trajectory import ReferenceCall, ReferenceTurn, Trajectory


def references_of(scenario: Scenario | None, trajectory: Trajectory) -> tuple[Solution, ...]:
    """The reference solutions of a session: those its log carries, else those of its scenario, carried out."""
    started = trajectory.started
    if started.reference or scenario is None:
        return started.reference
    return _solved(scenario, started.variant, started.seed)


@lru_cache(maxsize=4096)
def _solved(scenario: Scenario, variant: str, seed: int) -> tuple[Solution, ...]:
    found = (_carry_out(Stage.of(scenario, variant, seed), scenario, solution) for solution in scenario.solutions)
    return tuple(solution for solution in found if solution is not None)


def _carry_out(stage: Stage, scenario: Scenario, solution: PlannedSolution) -> Solution | None:
    """One solution with concrete values; None where it takes a value that no call returned.

    The user confirms whatever waits for it between two turns.
    """
    stage.open()
    results: dict[str, Any] = {}
    turns: list[ReferenceTurn] = []
    try:
        for turn in solution.turns:
            calls = tuple(_call(stage, call, results) for call in turn.calls)
            turns.append(ReferenceTurn(calls=calls, reply=str(fill(turn.reply, results))))
            stage.tick()
            stage.tick()
            if scenario.user.script.approves:
                stage.gates.approve_all()
    except ScenarioError:
        return None
    return tuple(turns)


def _call(stage: Stage, planned: PlannedCall, results: dict[str, Any]) -> ReferenceCall:
    tool = stage.home.tools[planned.tool]
    arguments: Mapping[str, Any] = fill(planned.arguments, results)
    stage.tick()
    outcome, _ = stage.run(Bound(tool, arguments))
    if planned.label:
        results[planned.label] = refusal(outcome.fault.text) if outcome.fault else outcome.result
    error = outcome.fault.type if outcome.fault else None
    return ReferenceCall(tool=tool.name, arguments=arguments, result=outcome.result, error=error, action=tool.action)
