"""The built-in scenarios as the grader sees them: well formed, and nothing for nothing."""

import pytest
from sandbox_grader.milestones.baselines import idle, refusing
from sandbox_grader.milestones.strict import check, evaluate
from sandbox_grader.milestones.translate import to_case
from sandbox_scenarios.model import Scenario

from tests.suite import SUITE

FREE = 0.1
"""What may be had for nothing without a word about it."""


@pytest.fixture(scope="module")
def suite() -> tuple[Scenario, ...]:
    return SUITE.all()


def test_every_order_of_milestones_can_be_kept(suite: tuple[Scenario, ...]):
    for scenario in suite:
        check(scenario)


def test_silence_earns_nothing_unless_the_scenario_says_why(suite: tuple[Scenario, ...]):
    paid = {scenario.name: evaluate(scenario, idle(scenario)).score for scenario in suite if not scenario.idle_score}
    assert {name: score for name, score in paid.items() if score > FREE} == {}


def test_refusing_earns_nothing_where_something_can_be_done(suite: tuple[Scenario, ...]):
    able = [item for item in suite if "insufficient_information" not in item.categories and not item.idle_score]
    paid = {scenario.name: evaluate(scenario, refusing(scenario)).score for scenario in able}
    assert {name: score for name, score in paid.items() if score > FREE} == {}


def test_a_bare_refusal_is_never_the_whole_answer(suite: tuple[Scenario, ...]):
    assert all(evaluate(scenario, refusing(scenario)).score < 1 for scenario in suite)


def test_nothing_is_unwanted_before_anything_happens(suite: tuple[Scenario, ...]):
    assert all(evaluate(scenario, idle(scenario)).unwanted == () for scenario in suite)


def test_no_minefield_is_met_at_the_start(suite: tuple[Scenario, ...]):
    assert {scenario.name for scenario in suite if evaluate(scenario, idle(scenario)).hit} == set()


def test_every_scenario_can_be_put_in_the_originals_terms(suite: tuple[Scenario, ...]):
    for scenario in suite:
        case = to_case(scenario, refusing(scenario)).case
        assert len(case.milestones.nodes) == len(scenario.milestones)
        assert all(node.constraints for node in (*case.milestones.nodes, *case.minefields.nodes))
