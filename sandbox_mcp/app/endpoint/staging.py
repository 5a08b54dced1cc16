"""Solutions as they go in the variants of their scenarios, and which of them a conversation is on.

Policy: a scenario is recognised by what its user says first, it and its variant by the tools, and where scenarios share
both, by what the user says later. Where that too is the same, the first is played until a tool answers as it would in
another, with an error where none was due or the other way round; then that other is begun afresh.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from sandbox_scenarios.model import PlannedCall, Scenario, Solution
from sandbox_scenarios.plan import PlanError, fill, refusal, staged
from sandbox_scenarios.variants import VARIANTS, presented

from sandbox_mcp.app.endpoint.outputs import bare
from sandbox_mcp.app.endpoint.prompt import Prompt, PromptTurn
from sandbox_mcp.engine.tools import PresentedTool
from sandbox_mcp.engine.tools.free_text import ACT
from sandbox_mcp.engine.tools.gates import CODE
from sandbox_mcp.engine.tools.results import parsed
from sandbox_mcp.play.session.rehearsal import RehearsalStage

Outcomes = tuple[tuple[bool, ...], ...]
"""Per turn and call, whether the call is refused when the solution is played."""


@dataclass(frozen=True, slots=True)
class Staging:
    """A scenario's first solution in the names of one variant, and all tools that the variant presents."""

    scenario: Scenario
    variant: str
    solution: Solution
    tools: Mapping[str, PresentedTool]

    def fits(self, prompt: Prompt) -> bool:
        """True if every tool is offered."""
        return all(_offers(prompt, tool) for tool in self.tools.values())

    def heard(self, turns: Sequence[PromptTurn]) -> int:
        """Number of characters of the user's later words that this scenario's scripted user says."""
        script = self.scenario.user.script
        lines = {script.confirm, script.decline, *script.then, *(answer.say for answer in script.answers)}
        return sum(len(line) for turn in turns[1:] for line in lines if line in turn.user)

    def calls(self, turn: int) -> tuple[PlannedCall, ...]:
        """The calls planned for a turn; none behind the last."""
        return self.solution.turns[turn].calls if turn < len(self.solution.turns) else ()


@dataclass(frozen=True, slots=True)
class StagingPosition:
    """Position of a conversation in a solution: calls done in the last turn, and values by label."""

    staging: Staging
    done: int
    results: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Stagings:
    """All stagings of some scenarios, made when they are first asked for."""

    scenarios: Sequence[Scenario]
    made: dict[str, tuple[Staging, ...]] = field(default_factory=dict[str, tuple[Staging, ...]])
    outcomes: dict[tuple[str, str], Outcomes] = field(default_factory=dict[tuple[str, str], Outcomes])

    def place(self, prompt: Prompt, turns: Sequence[PromptTurn], name: str | None) -> StagingPosition | None:
        """Find the position of a conversation; ``name`` is the scenario's where known. None if nothing fits."""
        # the stagings that fit best, one per scenario
        said = f"{prompt.system}\n{turns[0].user if turns else ''}"
        meant = (item for item in self.scenarios if (item.user.opening in said if name is None else item.name == name))
        fitting = [staging for item in meant for staging in self._stagings(item) if staging.fits(prompt)]
        ranks = [(len(item.scenario.user.opening), len(item.tools), item.heard(turns)) for item in fitting]
        best = [staging for staging, rank in zip(fitting, ranks, strict=True) if rank == max(ranks)]
        candidates = list({staging.scenario.name: staging for staging in reversed(best)}.values())[::-1]
        if not candidates:
            return None
        current, *others = candidates
        done, results = 0, dict[str, Any]()
        for number, turn in enumerate(turns):
            done = 0
            for step in turn.steps:
                outputs = [step.outputs[call.id] for call in step.calls if call.id in step.outputs]
                if others and not self._expected(current, number, done, outputs):
                    current, done = others.pop(0), 0
                    continue
                for call, output in zip(current.calls(number)[done:], outputs, strict=False):
                    if call.label:
                        value = parsed(bare(output))
                        results[call.label] = refusal(value) if isinstance(value, str) and CODE.search(value) else value
                done += len(outputs)
        return StagingPosition(current, done, results)

    def _stagings(self, scenario: Scenario) -> tuple[Staging, ...]:
        """A scenario's first solution in every variant; none where it has no solution."""
        if scenario.name not in self.made:
            offered = {name: presented(scenario, name) for name in VARIANTS} if scenario.solutions else {}
            self.made[scenario.name] = tuple(
                Staging(scenario, variant, staged(scenario.solutions[0], scenario, variant, tools), tools)
                for variant, tools in offered.items()
            )
        return self.made[scenario.name]

    def _expected(self, staging: Staging, turn: int, done: int, outputs: Sequence[str]) -> bool:
        """True if these outputs are refusals where the solution meets refusals, and only there."""
        key = staging.scenario.name, staging.variant
        if key not in self.outcomes:
            self.outcomes[key] = _rehearsed(staging)
        due = self.outcomes[key][turn][done : done + len(outputs)] if turn < len(self.outcomes[key]) else ()
        return all(refused == _is_refusal(output) for refused, output in zip(due, outputs, strict=False))


def _offers(prompt: Prompt, tool: PresentedTool) -> bool:
    """True if a tool is there with its arguments; one that takes actions as text also has to list the same actions."""
    name = prompt.offered(tool.name)
    if name is None:
        return False
    offer = prompt.tools[name]
    return offer.arguments >= tool.names.keys() and (tool.name != ACT or offer.description == tool.description)


def _rehearsed(staging: Staging) -> Outcomes:
    """Play the solution in a session of its own, to see which of its calls are refused; nothing if it lacks a value."""
    solution = staging.scenario.solutions[0]
    run = RehearsalStage(staging.scenario).rehearse(solution, staging.variant)
    try:
        fill([turn.reply for turn in solution.turns], run.results)
    except PlanError:
        return ()
    if any(made.arguments is None for made in run.done):
        return ()
    refused = iter([made.error is not None for made in run.done])
    return tuple(tuple(islice(refused, len(turn.calls))) for turn in solution.turns)


def _is_refusal(output: str) -> bool:
    """True if an output is a refusal, which is a sentence, and not a result, which is JSON."""
    text = bare(output)
    return bool(text) and isinstance(parsed(text), str) and not text.startswith(("{", '"'))
