"""Reference solutions with their values: what a scenario's solutions call, and what each call returns.

Policy: a solution is carried out once in a fresh world of its scenario, at the pace of a session, so that values taken
from results are concrete and metrics that compare results can. Only solutions are executed here, never a log.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from grader.metric import Solution
from sandbox_mcp.tools import Bound, all_tools, run
from sandbox_mcp.trajectory import ReferenceCall, ReferenceTurn, Trajectory
from sandbox_mcp.world import IdStream, World
from scenarios.errors import ScenarioError
from scenarios.filling import fill
from scenarios.model import PlannedCall, Scenario
from scenarios.model import Solution as PlannedSolution

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
    world = World(scenario.world, scenario.clock, IdStream(ids))
    world.tick(OPENING_EVENTS * scenario.clock.step)
    results: dict[str, Any] = {}
    turns: list[ReferenceTurn] = []
    try:
        for turn in solution.turns:
            calls = tuple(_call(world, call, results) for call in turn.calls)
            world.tick(2 * scenario.clock.step)
            turns.append(ReferenceTurn(calls=calls, reply=str(fill(turn.reply, results))))
    except ScenarioError:
        return None
    return tuple(turns)


def _call(world: World, call: PlannedCall, results: dict[str, Any]) -> ReferenceCall:
    tool = all_tools()[call.tool]
    arguments: Mapping[str, Any] = fill(call.arguments, results)
    world.tick()
    outcome = run(world, Bound(tool, arguments))
    if call.label:
        results[call.label] = outcome.result
    error = outcome.fault.type if outcome.fault else None
    return ReferenceCall(tool=tool.name, arguments=arguments, result=outcome.result, error=error, action=tool.action)
