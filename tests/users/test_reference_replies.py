"""The law that a user who was served leaves, and not before: every reply of every reference solution of all worlds."""

from collections.abc import Iterator
from itertools import groupby

import pytest
from sandbox_scenarios.model import Scenario, Solution

from sandbox_mcp.engine.trajectory import Message
from sandbox_mcp.engine.worlds import DEFAULT, names
from sandbox_mcp.play.session.rehearsal import RehearsalStage, filled_reply
from tests.suite import SUITE

COMPOSITES = ("phone+office",)
"""Worlds side by side in which built-in scenarios take place."""


def misread(scenario: Scenario) -> Iterator[str]:
    """The replies of its solutions after which the user does what it must not."""
    stage = RehearsalStage(scenario)
    for solution in scenario.solutions:
        played = stage.rehearse(solution)
        replies = [filled_reply(turn.reply, played.results) for turn in solution.turns]
        heard = _answers(event for event in played.log.events if isinstance(event, Message))
        for place, reply in enumerate(replies):
            answer = heard[place] if place < len(heard) else None
            if not _is_right(scenario, solution, place, answer):
                yield f"{scenario.name}: after {reply!r} the user {f'said {answer!r}' if answer else 'left'}"
                break


def _answers(messages: Iterator[Message]) -> list[str | None]:
    """What the user said to each message of the agent; None where it left."""
    said: list[str | None] = []
    for sender, group in groupby(
        (item for item in messages if item.sender in ("agent", "user")), lambda item: item.sender
    ):
        if sender == "agent":
            said += [None for _ in group]
        elif said:
            said[-1] = " ".join(item.content for item in group)
    return said


def _is_right(scenario: Scenario, solution: Solution, place: int, answer: str | None) -> bool:
    """It leaves after the last reply alone; where no reply but a delivery is planned, each one gets the next wish."""
    if place == len(solution.turns) - 1 or answer is None:
        return place == len(solution.turns) - 1 and answer is None
    wishes = scenario.user.script.then
    return len(wishes) != len(solution.turns) - 1 or wishes[place] in answer


def _parts() -> Iterator[tuple[str, int, int]]:
    """Every world in one part, the one with more than half of the scenarios in four."""
    for world in names():
        parts = 4 if world == DEFAULT else 1
        yield from ((world, part, parts) for part in range(parts))
    yield from ((world, 0, 1) for world in COMPOSITES)


@pytest.mark.parametrize(("world", "part", "parts"), list(_parts()))
def test_a_user_goes_on_after_each_reply_of_a_reference_solution_and_leaves_after_the_last(
    world: str, part: int, parts: int
) -> None:
    scenarios = [SUITE.get(name) for name in SUITE.names(world)[part::parts]]
    assert [line for scenario in scenarios for line in misread(scenario)] == []


def test_all_scenarios_are_of_these_worlds() -> None:
    assert sum(len(SUITE.names(world)) for world in (*names(), *COMPOSITES)) == len(SUITE.names("*"))
