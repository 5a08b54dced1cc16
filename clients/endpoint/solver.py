"""A model that knows the answers: plays the reference solution of whatever scenario the conversation is about.

Policy: the scenario is recognised by what the user says first, and it and its variant by the tools; where scenarios
share both, the first is meant. The next step follows from the results that are there. Nothing is remembered between
requests, so any client can be put in front of it: one that prefixes names, opens a connection per call, or carries out
one call of a batch at a time.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clients.endpoint.channel import through_channel
from clients.endpoint.prompt import Prompt, Turn
from clients.endpoint.reply import Move, PlannedMove, Reply
from clients.mcp_tools import parsed
from clients.plan import PlanError, as_text, fill, ready, refusal, staged
from clients.reference import NOTHING_LEFT
from sandbox_mcp.tools.gates import CODE
from scenarios.model import PlannedCall, PlannedTurn, Scenario, Solution
from scenarios.variants import VARIANTS, presented

LOST = "I do not know this conversation, so I cannot help."


@dataclass(frozen=True, slots=True)
class _Staged:
    """A scenario's first solution in the names of one variant, and the arguments of every tool that it presents."""

    solution: Solution
    tools: Mapping[str, frozenset[str]]

    def fits(self, prompt: Prompt) -> bool:
        """Whether every tool is offered, with its arguments."""
        return all(
            (name := prompt.offered(tool)) is not None and prompt.tools[name] >= arguments
            for tool, arguments in self.tools.items()
        )


@dataclass(frozen=True, slots=True)
class Solver:
    """Knows the solutions of these scenarios."""

    scenarios: Sequence[Scenario]
    known: dict[str, tuple[_Staged, ...]] = field(default_factory=dict[str, tuple[_Staged, ...]])

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
        """Of the solutions whose opening was said and whose tools are all there, the one that presents most."""
        said = f"{prompt.system}\n{turns[0].user if turns else ''}"
        meant = (item for item in self.scenarios if item.solutions and item.user.opening in said)
        fitting = [staging for item in meant for staging in self._stagings(item) if staging.fits(prompt)]
        best = max(fitting, key=lambda staging: len(staging.tools), default=None)
        return best.solution if best else None

    def _stagings(self, scenario: Scenario) -> tuple[_Staged, ...]:
        if scenario.name not in self.known:
            self.known[scenario.name] = tuple(_staged(scenario, variant) for variant in VARIANTS)
        return self.known[scenario.name]


def _staged(scenario: Scenario, variant: str) -> _Staged:
    tools = presented(scenario, variant)
    arguments = {name: frozenset(tool.names) for name, tool in tools.items()}
    return _Staged(staged(scenario.solutions[0], scenario, variant, tools), arguments)


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
    return PlannedMove(prompt.offered(call.tool) or call.tool, ready(call, results))


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
