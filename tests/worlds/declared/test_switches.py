"""Switches that a world of your own has: replies are read for them by the names that its tables give them."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import pytest
from sandbox_grader import grade
from sandbox_grader.milestones.strict import evaluate
from sandbox_scenarios import Suite
from sandbox_scenarios.lint import lint

from sandbox_mcp import Id, Table, World, column, key
from sandbox_mcp.app.authoring.deep_lint import lint_scenario
from sandbox_mcp.engine.world.faults import WorldError
from sandbox_mcp.engine.worlds import FILES, named
from sandbox_mcp.play.session.rehearsal import RehearsalStage

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def suite(monkeypatch: pytest.MonkeyPatch) -> Suite:
    monkeypatch.setenv(FILES, str(HERE / "house.py"))
    return Suite([HERE / "house.yaml"])


def scores(suite: Suite, scenario: str, reply: str) -> Any:
    played = suite.get(scenario)
    *turns, last = played.solutions[0].turns
    solution = replace(played.solutions[0], turns=(*turns, replace(last, reply=reply)))
    return grade(RehearsalStage(played).rehearse(solution).log, played)


def contradictions(suite: Suite, scenario: str, reply: str) -> int:
    return scores(suite, scenario, reply).verdicts["conduct"].values["contradicting_answer"]


def test_the_scenarios_of_the_house_are_sound(suite: Suite) -> None:
    assert lint(suite) == ()


class TestFacts:
    def test_any_name_of_a_switch_states_it(self, suite: Suite) -> None:
        for reply in ("The heating is on.", "I turned the radiators on.", "The warmth is now on."):
            assert scores(suite, "house_warm_it", reply).score == 1

    def test_any_name_of_it_denies_it(self, suite: Suite) -> None:
        for reply in ("The radiators are off.", "The warmth is disabled.", "The heating is still off."):
            assert scores(suite, "house_warm_it", reply).score < 1

    def test_a_fact_may_name_the_switch_as_people_do(self, suite: Suite) -> None:
        assert scores(suite, "house_is_it_quiet", "Yes, quiet hours are on.").score == 1
        assert scores(suite, "house_is_it_quiet", "No, quiet hours are off.").score < 1

    def test_of_two_switches_each_has_its_own_state(self, suite: Suite) -> None:
        assert scores(suite, "house_is_it_quiet", "The radiators are off and night mode is on.").score == 1
        assert scores(suite, "house_is_it_quiet", "The radiators are on and night mode is off.").score < 1

    def test_another_world_s_names_mean_nothing(self, suite: Suite) -> None:
        assert scores(suite, "house_warm_it", "The wifi is on.").score < 1

    def test_a_log_that_names_no_world_is_read_in_the_scenario_s(self, suite: Suite) -> None:
        scenario = suite.get("house_warm_it")
        [turn] = scenario.solutions[0].turns
        solution = replace(scenario.solutions[0], turns=(replace(turn, reply="The radiators are on."),))
        log = RehearsalStage(scenario).rehearse(solution).log
        nameless = replace(log, started=replace(log.started, worlds={}))
        assert evaluate(scenario, nameless).score == 1


class TestConduct:
    def test_a_reply_contradicts_the_state(self, suite: Suite) -> None:
        for reply in (
            "Night mode is off.",
            "The night-mode is now disabled.",
            "Quiet hours are off.",
            "The radiators are on.",
        ):
            assert contradictions(suite, "house_is_it_quiet", reply) == 1

    def test_a_reply_agrees_with_it(self, suite: Suite) -> None:
        for reply in (
            "Night mode is on.", "Quiet hours are on.", "The radiators are off.", "The wifi is off.",
            "The warmth is on its way.", "The lamp is off.", "The light is on.", "Is night mode off?",
        ):  # fmt: skip
            assert contradictions(suite, "house_is_it_quiet", reply) == 0

    def test_it_is_the_state_by_then_that_counts(self, suite: Suite) -> None:
        assert contradictions(suite, "house_warm_it", "The radiators are on.") == 0
        assert contradictions(suite, "house_warm_it", "The radiators are off.") == 1


class TestDeclaration:
    def test_the_world_tells_what_its_switches_are_called(self) -> None:
        assert dict(named("house").switches) == {
            "heating": ("heating", "radiators", "the warmth"),
            "night": ("night mode", "quiet hours"),
            "lit": ("lamp", "light"),
        }

    def test_only_what_is_on_or_off_is_called_so(self) -> None:
        class Dial(Table):
            id: Id[Self] = key()
            level: int = column(called=["dial"])

        with pytest.raises(WorldError, match=r"column 'level' is called \['dial'\]; expected names of a switch"):
            assert World("dials", tables=[Dial]).tables

    def test_a_name_has_letters(self) -> None:
        class Dial(Table):
            id: Id[Self] = key()
            on: bool = column(called=["-"])

        with pytest.raises(WorldError, match="expected names of a switch"):
            assert World("dials", tables=[Dial]).tables


class TestMeans:
    """A switch that the wish names has to stay as it was set; one that only helped may go back."""

    @pytest.mark.parametrize(
        ("opening", "goal", "only_means"),
        [
            ("Please switch the heating on.", "You want it warm.", False),
            ("Please switch the radiators on.", "You want it warm.", False),
            ("Please do something.", "You want the warmth on.", False),
            ("It is cold here, do something.", "You want to be warm.", True),
        ],
    )
    def test_it_is_named_by_any_of_its_names(
        self, tmp_path: Path, opening: str, goal: str, *, only_means: bool
    ) -> None:
        text = (HERE / "house.yaml").read_text(encoding="utf-8")
        told = text.replace("Please switch the heating on.", opening).replace("You want the heating on.", goal)
        (tmp_path / "house.yaml").write_text(told, encoding="utf-8")
        assert Suite([tmp_path / "house.yaml"]).get("house_warm_it").milestones[0].transient is only_means

    def test_the_state_that_its_column_names_need_not_be_said(self, tmp_path: Path, monkeypatch: Any) -> None:
        world = (HERE / "house.py").read_text(encoding="utf-8").replace("heating: bool =", "vault_open: bool =")
        world = world.replace("heating=on", "vault_open=on").replace(".heating", ".vault_open")
        (tmp_path / "house.py").write_text(world, encoding="utf-8")
        text = (HERE / "house.yaml").read_text(encoding="utf-8").replace("heating: false", "vault_open: false")
        told = text.replace("updates: {heating: true}", "updates: {vault_open: true}")
        told = told.replace("Please switch the heating on.", "Unlock the vault.")
        (tmp_path / "house.yaml").write_text(told, encoding="utf-8")
        monkeypatch.setenv(FILES, str(tmp_path / "house.py"))
        assert not Suite([tmp_path / "house.yaml"]).get("house_warm_it").milestones[0].transient


def test_a_switch_that_nobody_asked_for_is_expected_to_cost_a_share_and_no_more(suite: Suite) -> None:
    assert lint_scenario(suite, "house_is_it_quiet").complaints == ()


def test_bad_plays_have_what_tools_look_things_up_in(suite: Suite) -> None:
    assert lint_scenario(suite, "house_warm_it").complaints == ()
