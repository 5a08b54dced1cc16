"""What the tests of training share: how a solution is played, whatever carries the actions."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sandbox_scenarios.model import Scenario
from sandbox_scenarios.plan import as_text, fill, ready, refusal, staged

from sandbox_mcp.engine.tools.results import unwrapped
from sandbox_mcp.engine.trajectory import Trajectory
from sandbox_mcp.engine.trajectory.log import all_lines
from sandbox_mcp.play.training import Episode

Calls = Sequence[tuple[str, Mapping[str, Any]]]
Action = Calls | str
"""Calls that are sent together, or words for the user."""


def played(episode: Episode, number: int = 0) -> Episode:
    """Play a solution of an episode's scenario to its end."""
    plan = actions(episode.scenario, episode.task.variant, episode.session.tools, number)
    action = next(plan, None)
    while action is not None and not episode.over:
        made = [] if isinstance(action, str) else episode.call_together(action)
        if isinstance(action, str):
            episode.say(action)
        action = _next(plan, [(one.error, one.structured) for one in made])
    episode.finish()
    return episode


def _next(plan: Any, results: list[tuple[str | None, Any]]) -> Action | None:
    try:
        return plan.send(results)
    except StopIteration:
        return None


def actions(scenario: Scenario, variant: str, tools: Any, number: int = 0) -> Iterator[Action]:
    """The actions of a solution, one after the other; what came of calls is sent in: error or None, and result."""
    results: dict[str, Any] = {}
    solution = staged(scenario.solutions[number], scenario, variant, tools)
    for turn in solution.turns:
        for batch in turn.batches:
            made: Any = yield [(call.tool, ready(call, results, concrete=solution.concrete)) for call in batch]
            for call, (error, structured) in zip(batch, made, strict=True):
                if call.label:
                    results[call.label] = refusal(error) if error is not None else unwrapped(structured)
        yield turn.reply if solution.concrete else as_text(fill(turn.reply, results))


def without_wall(log: Trajectory) -> bytes:
    """The lines of a log, the real clock left out."""
    from dataclasses import replace

    events = tuple(replace(event, wall={}) for event in log.events)
    ended = replace(log.ended, wall={}) if log.ended else None
    return all_lines(Trajectory(replace(log.started, wall={}), events, ended))
