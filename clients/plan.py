"""Reference solutions as something to play, in the names under which a session presents its tools.

Policy: what a solution takes from earlier results is filled in as ``scenarios.filling`` says; what cannot be filled in
is a fault of the agent that plays it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from clients.base import AgentError
from sandbox_mcp.tools import PresentedTool
from scenarios import filling
from scenarios.filling import as_text, refusal
from scenarios.model import PlannedCall, PlannedTurn, Solution

__all__ = ("PlanError", "as_text", "fill", "look_up", "presented_solution", "refusal")


class PlanError(AgentError):
    """A reference solution refers to something that no call before it returned."""


@dataclass(frozen=True, slots=True)
class _Renaming:
    tools: Mapping[str, str]
    arguments: Mapping[str, Mapping[str, str]]

    def call(self, planned: PlannedCall) -> PlannedCall:
        names = self.arguments.get(planned.tool, {})
        given = {names.get(name, name): value for name, value in planned.arguments.items()}
        return replace(planned, tool=self.tools.get(planned.tool, planned.tool), arguments=given)


def presented_solution(solution: Solution, offered: Mapping[str, PresentedTool]) -> Solution:
    """The solution in the names under which a session presents its tools and their arguments."""
    tools = {tool.tool.name: name for name, tool in offered.items()}
    arguments = {
        tool.tool.name: {canonical: shown for shown, canonical in tool.names.items()} for tool in offered.values()
    }
    renaming = _Renaming(tools, arguments)
    turns = tuple(
        PlannedTurn(tuple(tuple(renaming.call(call) for call in batch) for batch in turn.batches), turn.reply)
        for turn in solution.turns
    )
    return Solution(turns, solution.about)


def fill(value: Any, results: Mapping[str, Any]) -> Any:
    """A planned value with everything that it takes from earlier results; ``results`` maps label to value.

    Raises:
        PlanError: there is no such result, or nothing at that path in it.
    """
    try:
        return filling.fill(value, results)
    except filling.FillError as error:
        raise PlanError(str(error)) from error


def look_up(reference: str, results: Mapping[str, Any]) -> Any:
    """The value at ``label.path``. Raises like :func:`fill`."""
    return fill(f"${reference}", results)
