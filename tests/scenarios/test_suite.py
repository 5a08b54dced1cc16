"""The built-in suite proves itself: what should score does, what should not does not.

One scenario of each family is played here; ``scenarios lint --deep``, which ``make check`` runs, plays them all.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import get_args

import pytest
from sandbox_grader.grading.scores import grade
from sandbox_scenarios import Scenario
from sandbox_scenarios.checks import labels_in
from sandbox_scenarios.loader import BUILT_IN
from sandbox_scenarios.model import CallConstraint, Category, Milestone, PlannedCall, Solution

from sandbox_mcp.engine.trajectory import Trajectory
from sandbox_mcp.engine.worlds.phone import phone
from tests.each import each
from tests.scenarios.playing import play, talk, with_calls
from tests.suite import SUITE

NAMES = tuple({SUITE.place(name)[0]: name for name in reversed(SUITE.names())}.values())[::-1]
"""The first scenario of each file."""
REFUSAL = "I'm sorry, but I can't help with that."


@cache
def solved(name: str) -> tuple[Trajectory, ...]:
    """The sessions in which a scenario's solutions are played."""
    scenario = SUITE.get(name)
    return tuple(play(scenario, solution) for solution in scenario.solutions)


def score(scenario: Scenario, solution: Solution, before: tuple[PlannedCall, ...] = ()) -> float | None:
    return grade(play(scenario, solution, before), scenario).score


def lacks(scenario: Scenario) -> bool:
    return "insufficient_information" in scenario.categories


def forbidden(scenario: Scenario) -> set[str]:
    """The tools that must not even be tried, whatever the arguments."""
    calls = (item for mine in scenario.minefields for item in mine.constraints if isinstance(item, CallConstraint))
    patterns = (pattern for call in calls if call.attempt for pattern in call.patterns)
    return {pattern.tool for pattern in patterns if not pattern.arguments}


def tools_of(milestones: Sequence[Milestone]) -> set[str]:
    """The tools whose calls some milestones or minefields ask for."""
    calls = (item for milestone in milestones for item in milestone.constraints if isinstance(item, CallConstraint))
    return {pattern.tool for constraint in calls for pattern in constraint.patterns}


@each("name", NAMES)
def test_every_reference_solution_scores_1(name: str) -> None:
    scenario = SUITE.get(name)
    assert {grade(log, scenario).score for log in solved(name)} == {1.0}


@each("name", NAMES)
def test_a_reference_solution_ends_because_the_user_has_what_it_wants(name: str) -> None:
    scenario = SUITE.get(name)
    for solution, log in zip(scenario.solutions, solved(name), strict=True):
        assert log.ended is not None
        assert log.ended.reason == "user_ended"
        said = [event for event in log.events if event.event == "message" and event.sender == "agent"]
        assert len(said) == len(solution.turns)


@each("name", NAMES)
def test_there_is_a_solution_and_everything_a_reader_wants_to_know(name: str) -> None:
    scenario = SUITE.get(name)
    assert scenario.solutions
    assert scenario.about
    assert scenario.categories
    assert scenario.user.knows or scenario.user.does_not_know


@each("name", NAMES)
def test_refusing_earns_next_to_nothing_and_little_where_refusing_is_right(name: str) -> None:
    scenario = SUITE.get(name)
    refused = grade(talk(scenario, REFUSAL), scenario).score
    assert refused is not None
    assert refused <= (0.5 if lacks(scenario) else 0.1)


@each("text", ["Done! Anything else?", "All right, I took care of that.", "Hm, what do you mean?", ""])
@each("name", NAMES)
def test_talk_without_deeds_earns_next_to_nothing(name: str, text: str) -> None:
    scenario = SUITE.get(name)
    assert (grade(talk(scenario, text), scenario).score or 0) <= 0.1


@each("name", NAMES)
def test_harmless_looks_cost_nothing(name: str) -> None:
    scenario = SUITE.get(name)
    looks = [
        tool for tool in map(phone.agent_tools.__getitem__, scenario.tools) if not tool.action and not tool.parameters
    ]
    extra = tuple(PlannedCall(tool.name, {}) for tool in looks)
    assert {score(scenario, solution, extra) for solution in scenario.solutions} == {1.0}


@each("name", NAMES)
def test_leaving_out_any_call_costs(name: str) -> None:
    """But for what an agent may know without: looks that are repeated or used for nothing, and what can be reckoned."""
    scenario = SUITE.get(name)
    for solution in scenario.solutions:
        calls = [call for turn in solution.turns for call in turn.calls]
        for position, call in enumerate(calls):
            alone = [other.tool for other in calls].count(call.tool) == 1
            demanded = alone and call.tool in tools_of(scenario.milestones)
            if phone.agent_tools[call.tool].computes:
                continue
            if call.label or phone.agent_tools[call.tool].action or demanded:
                lazy = with_calls(solution, lambda at, kept, out=position: None if at == out else kept)
                assert (score(scenario, lazy) or 0) < 1.0, call


REMOVING = [
    name
    for name in NAMES
    if "remove_contact" in SUITE.get(name).tools and "remove_contact" not in SUITE.get(name).confirm
]


@pytest.mark.parametrize("name", REMOVING)
def test_a_solution_that_also_deletes_somebody_is_worth_nothing(name: str) -> None:
    scenario = SUITE.get(name)
    turns = scenario.solutions[0].turns
    vandal = PlannedCall("remove_contact", {"person_id": next(iter(scenario.world.table("contact")))})
    spoilt = Solution((type(turns[0])((*turns[0].batches, (vandal,)), turns[0].reply), *turns[1:]))
    assert score(scenario, spoilt) == 0.0


@each("name", [name for name in NAMES if lacks(SUITE.get(name))])
def test_guessing_hits_the_minefield(name: str) -> None:
    scenario = SUITE.get(name)
    assert scenario.minefields
    for tool in forbidden(scenario):
        arguments = {item.name: "+33639980148" for item in phone.agent_tools[tool].parameters if item.required}
        guess = (PlannedCall(tool, arguments),)
        assert tool in scenario.tools
        assert score(scenario, scenario.solutions[0], guess) == 0.0


@each("name", [name for name in NAMES if lacks(SUITE.get(name))])
def test_what_is_withheld_is_offered_nowhere(name: str) -> None:
    scenario = SUITE.get(name)
    assert not set(scenario.without) & set(scenario.tools)


def test_every_file_carries_the_canary_that_the_page_on_the_suite_explains() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "suite.md").read_text(encoding="utf-8")
    canary = re.search(r"`([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})`", page)
    assert canary
    files = sorted(BUILT_IN.rglob("*.yaml"))
    assert files
    assert [path.name for path in files if canary[1] not in path.read_text(encoding="utf-8")] == []


@each("category", get_args(Category))
def test_every_category_is_there(category: Category) -> None:
    assert any(category in SUITE.get(name).categories for name in NAMES)


@each("name", NAMES)
def test_the_categories_fit_the_solution(name: str) -> None:
    scenario = SUITE.get(name)
    if lacks(scenario):
        assert scenario.categories == ("insufficient_information",)
        return
    calls = [len([call for turn in solution.turns for call in turn.calls]) for solution in scenario.solutions]
    assert ("single_tool_call" in scenario.categories) is (min(calls) == 1)
    assert ("multiple_tool_call" in scenario.categories) is (min(calls) > 1)
    follows_up = bool(scenario.user.script.then) or min(len(solution.turns) for solution in scenario.solutions) > 1
    assert ("multiple_user_turn" in scenario.categories) is follows_up
    assert ("single_user_turn" in scenario.categories) is not follows_up


def test_the_worlds_differ_in_people_zone_and_day() -> None:
    clocks = {SUITE.get(name).clock for name in NAMES}
    assert len({clock.zone for clock in clocks}) >= 2
    assert len({clock.now for clock in clocks}) >= 2


@each("name", NAMES)
def test_the_user_does_not_give_away_what_the_agent_should_find_out(name: str) -> None:
    """Numbers of the address book are for the tools to tell, unless the user opens with one."""
    scenario = SUITE.get(name)
    said = [scenario.user.opening, *scenario.user.script.then, *(item.say for item in scenario.user.script.answers)]
    for row in scenario.world.table("contact").values():
        assert not any(str(row["phone_number"]) in text for text in said)


@each("name", NAMES)
def test_tools_are_just_those_that_solutions_use_or_a_careful_agent_would_ask(name: str) -> None:
    scenario = SUITE.get(name)
    used = {call.tool for solution in scenario.solutions for turn in solution.turns for call in turn.calls}
    spare = set(scenario.tools) - used - tools_of(scenario.minefields)
    assert lacks(scenario) or {tool for tool in spare if phone.agent_tools[tool].action} == set()


def test_values_of_results_are_taken_from_results() -> None:
    """A solution copies no id: whatever is an id comes from an earlier call, as it would for an agent."""
    for name in NAMES:
        for solution in SUITE.get(name).solutions:
            for turn in solution.turns:
                for call in turn.calls:
                    for argument, value in call.arguments.items():
                        assert not argument.endswith("_id") or any(labels_in(value)), (name, call.tool)
