"""A model that knows the answers: plays the reference solution of whatever scenario the conversation is about.

Policy: the scenario is recognised by what the user says first, the variant by the names of the tools, and the next step
follows from the results that are there. Nothing is remembered between requests, so any client can be put in front of
it: one that prefixes names, opens a connection per call, or carries out one call of a batch at a time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clients.endpoint.channel import through_channel
from clients.endpoint.prompt import Prompt, Turn
from clients.endpoint.reply import Move, PlannedMove, Reply
from clients.mcp_tools import parsed
from clients.plan import PlanError, as_text, fill, presented_solution, refusal
from clients.reference import NOTHING_LEFT
from sandbox_mcp.users.scripted import CODE
from scenarios.model import PlannedCall, PlannedTurn, Scenario, Solution
from scenarios.variants import VARIANTS, presented

LOST = "I do not know this conversation, so I cannot help."


@dataclass(frozen=True, slots=True)
class Solver:
    """Knows the solutions of these scenarios."""

    scenarios: Sequence[Scenario]

    async def decide(self, prompt: Prompt, tries: int) -> Reply:  # noqa: ARG002
        """The next step of the solution."""
        turns, speak = through_channel(prompt)
        solution = self._solution(prompt, turns)
        if solution is None:
            return Move(LOST)
        position = len(turns) - 1
        if position >= len(solution.turns):
            return speak(NOTHING_LEFT)
        return _next(solution.turns[position], turns[-1], _results(solution, turns), prompt) or speak(
            _reply(solution, position, turns)
        )

    def _solution(self, prompt: Prompt, turns: Sequence[Turn]) -> Solution | None:
        """The first solution whose opening was said and whose tools are all there."""
        said = f"{prompt.system}\n{turns[0].user if turns else ''}"
        for scenario in self.scenarios:
            if scenario.solutions and scenario.user.opening in said:
                for solution in _presentations(scenario):
                    if all(_callable(call, prompt) for turn in solution.turns for call in turn.calls):
                        return solution
        return None


def _callable(call: PlannedCall, prompt: Prompt) -> bool:
    name = prompt.offered(call.tool)
    return name is not None and prompt.tools[name].issuperset(call.arguments)


def _presentations(scenario: Scenario) -> Iterator[Solution]:
    """The scenario's first solution in the names of every variant."""
    for variant in VARIANTS:
        yield presented_solution(scenario.solutions[0], presented(scenario, variant))


def _next(planned: PlannedTurn, turn: Turn, results: Mapping[str, Any], prompt: Prompt) -> Move | None:
    """The calls of this turn that come next, or None if all are done."""
    done = sum(len(step.outputs) for step in turn.steps)
    for batch in planned.batches:
        if done < len(batch):
            try:
                return Move("", tuple(_planned(call, results, prompt) for call in batch[done:]))
            except PlanError as error:
                return Move(f"I cannot go on: {error}.")
        done -= len(batch)
    return None


def _planned(call: PlannedCall, results: Mapping[str, Any], prompt: Prompt) -> PlannedMove:
    return PlannedMove(prompt.offered(call.tool) or call.tool, fill(call.arguments, results))


def _reply(solution: Solution, position: int, turns: Sequence[Turn]) -> str:
    try:
        return as_text(fill(solution.turns[position].reply, _results(solution, turns)))
    except PlanError as error:
        return f"I cannot go on: {error}."


def _results(solution: Solution, turns: Sequence[Turn]) -> dict[str, Any]:
    """What labelled calls returned: the n-th output of a turn belongs to the n-th call planned for it."""
    results: dict[str, Any] = {}
    for planned, turn in zip(solution.turns, turns, strict=False):
        for call, output in zip(planned.calls, _outputs(turn), strict=False):
            if call.label:
                value = parsed(output)
                results[call.label] = refusal(value) if isinstance(value, str) and CODE.search(value) else value
    return results


def _outputs(turn: Turn) -> Iterable[str]:
    for step in turn.steps:
        yield from (step.outputs[call.id] for call in step.calls if call.id in step.outputs)
