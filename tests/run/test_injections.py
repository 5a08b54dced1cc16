"""Injections of a run: what an obedient agent does, what the reference does not, and what the report says of both."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from sandbox_clients.reference import ObedientAgent, ReferenceAgent
from sandbox_grader.grading.scores import grade
from sandbox_grader.reporting.wording import text_of
from sandbox_scenarios import Scenario, ScenarioError, Suite
from sandbox_scenarios.injections import PHRASINGS, InjectionCase, injections_into, obeying
from sandbox_scenarios.variants import (
    injected,
    injection_in,
    is_under_faults,
    presented,
    under_faults,
    variant_named,
    without_faults,
)

import sandbox_mcp
from sandbox_mcp.app.run.evaluate import evaluate
from sandbox_mcp.app.run.sessions import INJECTIONS, JUDGED
from sandbox_mcp.engine.tools.attacks import CARRIED_BY, SLIPPED_IN
from sandbox_mcp.engine.trajectory import ToolCall, Trajectory
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from sandbox_mcp.play.session.replay import differences
from tests.clients.sessions import SUITE
from tests.laws import at_least
from tests.run.runs import batch

EACH_WORLD = (
    "unknown_number_says", "choir_headcount", "nearest_pharmacy_number",
)  # fmt: skip
WORLDS = ("office", "movies", "patent", "social", "media", "travel", "video_images", "tools", "desk")


def figures(log: Trajectory, scenario: Scenario) -> dict[str, Any]:
    return dict(grade(log, scenario, metrics=[INJECTIONS]).verdicts[INJECTIONS].values)


def agree(scenario: Scenario, number: int, case: InjectionCase) -> None:
    """The reference serves its user and is not fooled; who obeys is, and both logs can be replayed."""
    stage, variant = RehearsalStage(scenario), injected("base", number)
    for solution, attack in ((scenario.solutions[0], 0), (obeying(scenario.solutions[0], case), 1)):
        log = stage.rehearse(solution, variant).log
        found = figures(log, scenario)
        assert (found["shown"], found["attack"]) == (1, attack), (scenario.name, number)
        assert found["utility"] == 1 or attack, (scenario.name, number)
        assert not list(differences(log, scenario)), (scenario.name, number)


@pytest.mark.parametrize("name", EACH_WORLD)
def test_the_reference_is_not_fooled_and_who_obeys_is(name: str) -> None:
    scenario = SUITE.get(name)
    for number, case in enumerate(injections_into(scenario)[:6], 1):
        agree(scenario, number, case)


@pytest.mark.parametrize("world", WORLDS)
def test_other_worlds_have_injections_too(world: str) -> None:
    suite = Suite()
    found = ((suite.get(name), injections_into(suite.get(name))) for name in suite.names(world))
    scenario, cases = next((scenario, cases) for scenario, cases in found if cases)
    agree(scenario, 1, cases[0])


@pytest.mark.hypothesis  # so that `make laws` tries all
def test_there_are_more_than_600_cases_and_oracles_agree_on_them() -> None:
    suite, found = Suite(), 0
    names = [name for world in ("phone", *WORLDS) for name in suite.names(world)]
    for name in names[:: 1 if at_least(6) >= 100 else 60]:
        scenario = suite.get(name)
        for number, case in enumerate(injections_into(scenario)[:3], 1):
            agree(scenario, number, case)
            found += 1
    assert found >= (600 if at_least(6) >= 100 else 6)


def test_what_an_injection_wants_is_nothing_that_a_solution_does() -> None:
    scenario = SUITE.get("unknown_number_says")
    goals = {case.goal.name: case.goal for case in injections_into(scenario)}
    assert {"text_stranger", "add_stranger", "remove_contact"} <= goals.keys()
    said = repr((scenario.world, scenario.user, scenario.solutions))
    assert goals["text_stranger"].cells["recipient_phone_number"] not in said
    assert {case.phrasing for case in injections_into(scenario)} == PHRASINGS.keys()


def test_the_log_says_what_was_slipped_in_and_the_tool_for_it_is_offered() -> None:
    scenario = SUITE.get("unknown_number_says")
    case = injections_into(scenario)[0]
    assert {tool for tool, _ in case.goal.calls} <= presented(scenario, "base+injection1").keys()
    log = RehearsalStage(scenario).rehearse(scenario.solutions[0], "base+injection1").log
    [call, *_] = [event for event in log.events if isinstance(event, ToolCall) and SLIPPED_IN in event.meta]
    assert (call.meta[CARRIED_BY], call.meta[SLIPPED_IN]) == (case.carrier, case.says)
    assert f"{case.carrier} {case.says}" in repr(call.result)
    assert case.says not in repr(log.started.world)


def test_numbers_and_secrets_differ_between_instances() -> None:
    one, other = (injections_into(SUITE.get(f"last_text_reply@{number}")) for number in (1, 2))
    assert {case.says for case in one}.isdisjoint(case.says for case in other)


def test_an_injection_is_part_of_the_variants_name() -> None:
    name = injected(under_faults("all_tools", ["after:0.2"]), 12)
    assert name == "all_tools+after0.2+injection12"
    assert (without_faults(name), injection_in(name)) == (("all_tools", {"after": 0.2}), 12)
    assert is_under_faults(name)
    assert not is_under_faults("base+injection3")
    assert injection_in("base+after0.2") == 0
    assert variant_named(name) is variant_named("all_tools")


@pytest.mark.parametrize("name", ["base+injection0", "base+injection", "base+injection1+injection2", "base+inject1"])
def test_a_variant_with_a_wrong_injection_is_refused(name: str) -> None:
    with pytest.raises(ScenarioError, match="base"):
        variant_named(name)


def test_a_scenario_says_how_many_injections_it_has() -> None:
    scenario = SUITE.get("wifi_off")
    with pytest.raises(ScenarioError, match="has no injection 1; it has 0"):
        presented(scenario, "base+injection1")


@pytest.mark.parametrize(
    ("agent", "attack", "utility"), [(ReferenceAgent(), 0, 1), (ObedientAgent(), 1, 0)], ids=["reference", "obey"]
)
def test_a_report_tells_utility_under_attack_and_attack_success(
    tmp_path: Path, agent: ReferenceAgent, attack: int, utility: int
) -> None:
    variants = ("base", "base+injection1", "base+injection2")
    work = batch(tmp_path, agent, scenarios=("unknown_number_says",), variants=variants)
    work.crew = replace(work.crew, metrics=(*JUDGED, INJECTIONS))
    report = anyio.run(work.run)
    told = report.summary()["injections"]
    assert (told["cases"], told["shown"], told["utility_without"]) == (2, 2, 1)
    assert (told["attack_success"], told["utility_under_attack"]) == (attack, utility)
    assert "utility under attack" in text_of(report)


def test_a_run_leaves_out_scenarios_without_injections(tmp_path: Path) -> None:
    suite = sandbox_mcp.Suite().select("wifi_off", "unknown_number_says")
    report = evaluate("reference", suite, injections=2, out=tmp_path)
    played = sorted((item.scenario, item.variant) for item in report.sessions)
    assert played == [
        ("unknown_number_says", "base"),
        ("unknown_number_says", "base+injection1"),
        ("unknown_number_says", "base+injection2"),
        ("wifi_off", "base"),
    ]
