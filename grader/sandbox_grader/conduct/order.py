"""Whether two calls of a solution may change places, found out by carrying the solution out that way.

Policy: an order is wrong if a call that worked then fails, or if another state is left. New ids do not matter, nor do
moments that no call names, because they follow from when something happened. Calls of one tool that touch different
rows may always change places.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sandbox_scenarios.model import Scenario
from sandbox_scenarios.stage import Stage

from sandbox_grader.grading.values import leaves
from sandbox_mcp.engine.tools import Outcome, call, present
from sandbox_mcp.engine.trajectory import ReferenceCall
from sandbox_mcp.engine.world.schema import TableSchema
from sandbox_mcp.engine.world.state import Snapshot


class Rehearsal:
    """A solution with concrete values, to be carried out in a fresh world of its scenario in any order."""

    def __init__(self, scenario: Scenario, wanted: Sequence[ReferenceCall]) -> None:
        self._scenario = scenario
        self._wanted = wanted
        self._named = {leaf for call in wanted for leaf in leaves(call.arguments)}
        self._there = {key for rows in scenario.world.tables.values() for key in rows}
        self._usual: tuple[list[Outcome], Any] | None = None
        self._swapped: dict[tuple[int, int], str | None] = {}

    def swapped(self, first: int, second: int) -> str | None:
        """Find the fault if the second call comes right before the first one; None if there is none."""
        if (first, second) not in self._swapped:
            self._swapped[first, second] = self._problem(first, second)
        return self._swapped[first, second]

    def _problem(self, first: int, second: int) -> str | None:
        usual = self._usual = self._usual or self._run(range(len(self._wanted)))
        touched = [{(change.table, change.key) for change in usual[0][place].changes} for place in (first, second)]
        if self._wanted[first].tool == self._wanted[second].tool and not touched[0] & touched[1]:
            return None
        order = [place for place in range(len(self._wanted)) if place != second]
        order.insert(first, second)
        outcomes, state = self._run(order)
        for place, outcome in enumerate(outcomes):
            if outcome.fault is not None and usual[0][place].fault is None:
                return f"{self._wanted[place].tool} fails: {outcome.fault.text}"
        return None if state == usual[1] else "it leaves another state"

    def _run(self, order: Sequence[int]) -> tuple[list[Outcome], Any]:
        """The outcome of each call by its place in the solution, and the state that it leaves."""
        scenario, tools = self._scenario, self._scenario.home.tools
        world = Stage.of(scenario).running
        outcomes: dict[int, Outcome] = {}
        for place in order:
            wanted = self._wanted[place]
            offered = {wanted.tool: present(tools[wanted.tool])} if wanted.tool in tools else {}
            world.tick()
            outcomes[place] = call(world, offered, wanted.tool, dict(wanted.arguments))
        return [outcomes[place] for place in range(len(self._wanted))], self._left(world.snapshot)

    def _left(self, state: Snapshot) -> Mapping[str, list[str]]:
        """A state as far as the order of calls may not change it."""
        schemas = self._scenario.home.tables
        return {
            name: sorted(
                repr([item for item in row.items() if self._stays(schemas.get(name), *item)]) for row in rows.values()
            )
            for name, rows in state.tables.items()
        }

    def _stays(self, schema: TableSchema | None, name: str, value: object) -> bool:
        column = schema.column(name) if schema else None
        if column is None:
            return True
        if column.role is not None and column.role.kind in ("key", "id"):
            return value in self._there
        return not (column.passing or (column.type == "timestamp" and value not in self._named))


def rehearsal_of(scenario: Scenario, wanted: Sequence[ReferenceCall]) -> Rehearsal:
    """The rehearsal of a solution, one for all sessions that are held against it."""
    return _rehearsal(scenario, _Plan(repr([(call.tool, call.arguments) for call in wanted]), tuple(wanted)))


@dataclass(frozen=True, slots=True)
class _Plan:
    """The calls of a solution; what they are ``written`` as tells them from any others."""

    written: str
    calls: Sequence[ReferenceCall] = field(compare=False)


@lru_cache(maxsize=256)
def _rehearsal(scenario: Scenario, plan: _Plan) -> Rehearsal:
    return Rehearsal(scenario, plan.calls)
