"""Reference solutions as something to play, in the names under which a session presents its tools.

Policy: what a solution takes from earlier results is filled in as ``sandbox_scenarios.filling`` says; what
cannot be filled in is a fault of whoever plays it.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sandbox_mcp.engine.tools import PresentedTool
from sandbox_mcp.engine.tools.free_text import ACT, render
from sandbox_scenarios.filling import PlanError, as_text, fill, look_up, refusal
from sandbox_scenarios.model import PlannedCall, PlannedTurn, Scenario, Solution
from sandbox_scenarios.variants import actions, variant_named

__all__ = ("PlanError", "as_text", "fill", "look_up", "presented_solution", "ready", "refusal", "staged")


def presented_solution(solution: Solution, offered: Mapping[str, PresentedTool]) -> Solution:
    """The solution in the names under which a session presents its tools and their arguments."""
    tools = {tool.tool.name: name for name, tool in offered.items()}
    arguments = {
        tool.tool.name: {canonical: shown for shown, canonical in tool.names.items()} for tool in offered.values()
    }

    def renamed(call: PlannedCall) -> PlannedCall:
        names = arguments.get(call.tool, {})
        given = {names.get(name, name): value for name, value in call.arguments.items()}
        return replace(call, tool=tools.get(call.tool, call.tool), arguments=given)

    return _with_each_call(solution, renamed)


def staged(solution: Solution, scenario: Scenario, variant: str, offered: Mapping[str, PresentedTool]) -> Solution:
    """The solution as a session of this variant can be played; ``offered`` are the tools that it presents.

    Where actions are free text, a call becomes one of the tool that takes them; :func:`ready` writes the text, because
    only then are all its values known.
    """
    if not variant_named(variant).free_text:
        return presented_solution(solution, offered)

    def as_action(call: PlannedCall) -> PlannedCall:
        arguments = {"action": {"name": call.tool, "arguments": call.arguments}}
        return replace(call, tool=ACT, arguments=arguments, as_text=True)

    return _with_each_call(presented_solution(solution, actions(scenario, variant)), as_action)


def _with_each_call(solution: Solution, changed: Callable[[PlannedCall], PlannedCall]) -> Solution:
    turns = tuple(
        PlannedTurn(tuple(tuple(map(changed, batch)) for batch in turn.batches), turn.reply) for turn in solution.turns
    )
    return Solution(turns, solution.about, solution.concrete)


def ready(call: PlannedCall, results: Mapping[str, Any], *, concrete: bool = False) -> Mapping[str, Any]:
    """The arguments with which a call is made, all values filled in unless they are ``concrete`` already.

    Raises:
        PlanError: there is no such result, or nothing at that path in it.
    """
    given = call.arguments if concrete else fill(call.arguments, results)
    if not call.as_text:
        return given
    return {"action": render(given["action"]["name"], given["action"]["arguments"])}
