"""Reference solutions with their values: what a scenario's solutions call, and what each call returns.

Policy: a solution is carried out once in a fresh world of its scenario, at the pace of a session, so that values taken
from results are concrete and metrics that compare results can. Only solutions are executed here, never a log.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sandbox_scenarios.errors import ScenarioError
from sandbox_scenarios.filling import fill, refusal
from sandbox_scenarios.model import PlannedCall, PlannedTurn, Scenario
from sandbox_scenarios.model import Solution as PlannedSolution

from sandbox_grader.metric import Solution
from sandbox_mcp.tools import Bound, Outcome, run
from sandbox_mcp.tools.gates import Gates
from sandbox_mcp.trajectory import ReferenceCall, ReferenceTurn, Trajectory
from sandbox_mcp.world import IdStream, World
from sandbox_mcp.worlds.phone.registry import all_tools

OPENING_EVENTS = 3
"""What a session writes before the agent's first turn: a word to the agent, one to the user, and the opening."""


def references_of(scenario: Scenario | None, trajectory: Trajectory) -> tuple[Solution, ...]:
    """The reference solutions of a session: those its log carries, else those of its scenario, carried out."""
    started = trajectory.started
    if started.reference or scenario is None:
        return started.reference
    return _solved(_Key(scenario, f"{started.scenario}/{started.variant}/{started.seed}"))


class _Key:
    """A scenario and the seed of its ids, compared by the scenario's digest."""

    __slots__ = ("ids", "scenario")

    def __init__(self, scenario: Scenario, ids: str) -> None:
        self.scenario = scenario
        self.ids = ids

    def __hash__(self) -> int:
        return hash((self.scenario.digest, self.ids))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and (self.scenario, self.ids) == (other.scenario, other.ids)


@lru_cache(maxsize=4096)
def _solved(key: _Key) -> tuple[Solution, ...]:
    found = (_carry_out(key.scenario, solution, key.ids) for solution in key.scenario.solutions)
    return tuple(solution for solution in found if solution is not None)


def _carry_out(scenario: Scenario, solution: PlannedSolution, ids: str) -> Solution | None:
    """One solution with concrete values; None where it takes a value that no call returned."""
    stage = _Stage(scenario, ids)
    try:
        return tuple(stage.turn(turn) for turn in solution.turns)
    except ScenarioError:
        return None


class _Stage:
    """A fresh world with what has been returned so far. The user confirms whatever waits for it between two turns."""

    def __init__(self, scenario: Scenario, ids: str) -> None:
        self._world = World(scenario.world, scenario.clock, IdStream(ids))
        self._world.tick(OPENING_EVENTS * scenario.clock.step)
        self._gates = Gates(ids, scenario.confirm, sign_in=scenario.sign_in)
        self._approves = scenario.user.script.approves
        self._results: dict[str, Any] = {}

    def turn(self, planned: PlannedTurn) -> ReferenceTurn:
        calls = tuple(self._call(call) for call in planned.calls)
        reply = str(fill(planned.reply, self._results))
        self._world.tick()
        self._world.tick()
        if self._approves:
            self._gates.approve_all()
        return ReferenceTurn(calls=calls, reply=reply)

    def _call(self, planned: PlannedCall) -> ReferenceCall:
        tool = all_tools()[planned.tool]
        arguments: Mapping[str, Any] = fill(planned.arguments, self._results)
        self._world.tick()
        outcome = self._run(Bound(tool, arguments))
        if planned.label:
            self._results[planned.label] = refusal(outcome.fault.text) if outcome.fault else outcome.result
        error = outcome.fault.type if outcome.fault else None
        return ReferenceCall(
            tool=tool.name, arguments=arguments, result=outcome.result, error=error, action=tool.action
        )

    def _run(self, call: Bound) -> Outcome:
        refused = self._gates.check(call, self._world.snapshot)
        return Outcome(call.tool, call.arguments, fault=refused[0]) if refused else run(self._world, call)
