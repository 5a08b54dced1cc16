"""Reference solutions with their values: what a scenario's solutions call, and what each call returns.

Policy: a solution is carried out once in a fresh world of its scenario, at the pace of a session, so that values taken
from results are concrete and metrics that compare results can. What falls due happens, and the user does what its
script has it do at such replies. Only solutions are executed here, never a log. What came of them is kept for later
processes (``grading.derived``), as those of a scenario take longer to carry out than a session to be graded.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from sandbox_scenarios.errors import ScenarioError
from sandbox_scenarios.filling import fill, refusal
from sandbox_scenarios.model import PlannedAct, PlannedCall, Scenario, Script, Solution
from sandbox_scenarios.stage import Stage
from sandbox_scenarios.variants import VARIANTS, without_faults

from sandbox_grader.grading.derived import derived
from sandbox_mcp.engine.tools import Bound
from sandbox_mcp.engine.tools.calling import WorldFailedError
from sandbox_mcp.engine.trajectory import ReferenceCall, ReferenceTurn, Trajectory

ReferenceTurns = tuple[ReferenceTurn, ...]
"""A reference solution with its values, turn by turn."""


def references_of(scenario: Scenario | None, trajectory: Trajectory, later: float = 0.0) -> tuple[ReferenceTurns, ...]:
    """The reference solutions of a session: those its log carries, else those of its scenario, carried out.

    ``later`` is by how many seconds the scenario's clock is moved before they are.
    """
    started = trajectory.started
    if started.reference or scenario is None:
        return started.reference
    return _solved(scenario, without_faults(started.variant)[0], started.seed, later)


@lru_cache(maxsize=4096)
def _solved(scenario: Scenario, variant: str, seed: int, later: float) -> tuple[ReferenceTurns, ...]:
    moved = replace(scenario, clock=scenario.clock.advanced(later)) if later else scenario

    def carried_out() -> tuple[_PlainSolution, ...]:
        found = (_carry_out(Stage.of(moved, variant, seed), moved, solution) for solution in scenario.solutions)
        return tuple(_as_plain(solution) for solution in found if solution is not None)

    if variant not in VARIANTS or seed:  # there may be any number of them
        return tuple(map(_from_plain, carried_out()))
    return tuple(map(_from_plain, derived(scenario, f"solved-{variant}-{later}", carried_out)))


_PlainSolution = tuple[tuple[tuple[tuple[Any, ...], ...], str | None], ...]
"""The turns of a solution: the values of every call, and the reply."""


def _as_plain(solution: ReferenceTurns) -> _PlainSolution:
    return tuple(
        (tuple((call.tool, call.arguments, call.result, call.error, call.action) for call in turn.calls), turn.reply)
        for turn in solution
    )


def _from_plain(solution: _PlainSolution) -> ReferenceTurns:
    return tuple(
        ReferenceTurn(
            calls=tuple(
                ReferenceCall(tool=tool, arguments=arguments, result=result, error=error, action=action)
                for tool, arguments, result, error, action in calls
            ),
            reply=reply,
        )
        for calls, reply in solution
    )


def _carry_out(stage: Stage, scenario: Scenario, solution: Solution) -> ReferenceTurns | None:
    """One solution with concrete values; None where it takes a value that no call returned, or the world fails.

    The user confirms whatever waits for it between two turns.
    """
    stage.open()
    results: dict[str, Any] = {}
    turns: list[ReferenceTurn] = []
    heard, then = scenario.clock.now, list(scenario.user.script.then)
    try:
        for turn in solution.turns:
            calls: list[ReferenceCall] = []
            for batch in turn.batches:
                calls += (_call(stage, call, results) for call in batch)
                heard = _announced(stage, heard)
            reply = str(fill(turn.reply, results))
            turns.append(ReferenceTurn(calls=tuple(calls), reply=reply))
            stage.tick()
            for act in _acts_at(reply, scenario.user.script, then):
                stage.tick()
                stage.again(Bound(stage.home.user_acts[act.name], act.arguments))
            stage.tick()
            heard = _announced(stage, heard)
            if scenario.user.script.approves:
                stage.gates.approve_all()
    except (ScenarioError, WorldFailedError):
        return None
    return tuple(turns)


def _announced(stage: Stage, since: float) -> float:
    """Let everything happen that has fallen due since then. Gives the time up to which that is."""
    for _ in stage.let_happen(since, set()):
        pass
    return stage.now


def _acts_at(reply: str, script: Script, then: list[str]) -> Iterator[PlannedAct]:
    """Acts of the user before it answers a reply: it says the lines about what is asked for, else its next wish."""
    told = [
        answer.say for answer in script.answers
        if any(re.search(rf"(?<!\w){re.escape(about)}(?!\w)", reply, re.IGNORECASE) for about in answer.about)
    ]  # fmt: skip
    if not told and then and "?" not in reply:
        told = [then.pop(0)]
    yield from (script.does[line] for line in told if line in script.does)


def _call(stage: Stage, planned: PlannedCall, results: dict[str, Any]) -> ReferenceCall:
    tool = stage.home.tools[planned.tool]
    arguments: Mapping[str, Any] = fill(planned.arguments, results)
    stage.tick()
    outcome, _ = stage.run(Bound(tool, arguments))
    if planned.label:
        results[planned.label] = refusal(outcome.fault.text) if outcome.fault else outcome.result
    error = outcome.fault.type if outcome.fault else None
    return ReferenceCall(tool=tool.name, arguments=arguments, result=outcome.result, error=error, action=tool.action)
