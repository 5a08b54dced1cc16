"""State of the agent when it speaks to the user: its calls, and whether the wish is met.

Policy: a wish counts as met once the calls with which some reference solution acts, or for a wish to be told something
its last look-up, have succeeded with the same plain arguments. That is strict on purpose: whoever takes it for not met
only goes by the agent's words. It is told to the user alone, which may use it one way only, see ``engine.talk.acts``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox_scenarios.model import PlannedCall, Scenario, Solution

from sandbox_mcp.play.users import Line, as_read


@dataclass(slots=True)
class CallsSoFar:
    """Counts the agent's calls that succeeded, since the user last spoke and in all; ``deeds`` name tools that act."""

    scenario: Scenario
    deeds: frozenset[str]
    done: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list[tuple[str, Mapping[str, Any]]])
    fresh: int = 0

    def called(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Note a call of the agent's that has succeeded."""
        self.done.append((tool, arguments))
        self.fresh += 1

    def line(self, text: str) -> Line:
        """Words of the agent, with what the session knows; the count begins anew."""
        heard = Line(
            "agent", as_read(text), self.fresh, any(self._meets(solution) for solution in self.scenario.solutions)
        )
        self.fresh = 0
        return heard

    def _meets(self, solution: Solution) -> bool:
        calls = [call for turn in solution.turns for call in turn.calls]
        deeds = [call for call in calls if call.tool in self.deeds] or calls[-1:]
        if len(self.done) < len(deeds):
            return False
        left = list(self.done)
        for deed in deeds:
            fitting = next((item for item in left if _is(deed, *item)), None)
            if fitting is None:
                return False
            left.remove(fitting)
        return bool(deeds)


def _is(deed: PlannedCall, tool: str, arguments: Mapping[str, Any]) -> bool:
    """True if a call is a planned one: every value neither in prose nor from a result is the same."""
    return tool == deed.tool and all(
        arguments.get(name) == value
        for name, value in deed.arguments.items()
        if isinstance(value, bool | int | float) or (isinstance(value, str) and "$" not in value and " " not in value)
    )
