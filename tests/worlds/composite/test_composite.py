"""Several worlds in one scenario: named apart, played together, found again, and judged by the state of all."""

import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from sandbox_grader import grade
from sandbox_grader.milestones.baselines import refusing
from sandbox_scenarios import Suite
from sandbox_scenarios.errors import ScenarioFileError
from sandbox_scenarios.variants import presented

from sandbox_mcp.app.cli import group
from sandbox_mcp.engine.world.faults import WorldError
from sandbox_mcp.engine.worlds import named
from sandbox_mcp.engine.worlds.composite import composite
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from sandbox_mcp.play.session.replay import differences

ERRAND = Path(__file__).parent / "errand.yaml"
PHONE, OFFICE = named("phone"), named("office")


def test_tables_of_one_name_are_told_apart_and_others_keep_theirs():
    both = composite(PHONE, OFFICE)
    assert {"phone_reminder", "office_reminder", "setting", "event"} <= both.tables.keys()
    assert "reminder" not in both.tables
    assert both.tools["AddReminder"].effects is not None
    assert both.tools["AddReminder"].effects.adds == {"office_reminder"}


def test_ids_point_at_the_tables_under_their_new_names():
    account = composite(PHONE, OFFICE).tables["office_reminder"].column("account")
    assert account is not None
    assert account.role is not None
    assert account.role.table == "office_account"


def test_it_is_found_again_by_its_name_and_in_other_processes():
    both = composite(PHONE, OFFICE)
    assert named("phone+office") is both
    assert pickle.loads(pickle.dumps(both)) is both


def test_one_world_alone_is_itself_and_nested_ones_lie_flat():
    assert composite(PHONE) is PHONE
    assert composite(composite(PHONE, OFFICE), named("travel")) is named("phone+office+travel")


def test_a_world_listed_twice_is_refused():
    with pytest.raises(WorldError, match="'phone' is listed twice"):
        composite(PHONE, OFFICE, PHONE)


class TestPlayed:
    scenario = Suite([ERRAND]).get("milk_and_boats")
    log = RehearsalStage(scenario).rehearse(scenario.solutions[0]).log

    def test_the_reference_scores_1_and_doing_nothing_0(self):
        assert grade(self.log, self.scenario).score == 1.0
        assert grade(refusing(self.scenario), self.scenario).score == 0.0

    def test_its_replay_agrees(self):
        assert list(differences(self.log)) == []

    def test_a_change_in_one_world_that_nobody_asked_for_counts_in_both(self):
        extra = RehearsalStage(self.scenario)
        solution = self.scenario.solutions[0]
        [batch] = [calls for turn in solution.turns for calls in turn.batches if calls[0].tool == "AddReminder"]
        turn = solution.turns[0]
        twice = replace(solution, turns=(replace(turn, batches=(*turn.batches, batch)),))
        assert grade(extra.rehearse(twice).log, self.scenario).score == 0.0


def test_the_agent_is_told_what_each_part_tells_of_the_moment():
    scenario = Suite([ERRAND]).get("milk_and_boats")
    assert "It is Monday, 2027-03-15 07:45:00. hemi_sails is logged in." in scenario.situation


def test_variants_and_instances_know_it():
    suite = Suite([ERRAND])
    one, other = suite.get("milk_and_boats@1"), suite.get("milk_and_boats@2")
    assert one.world.table("phone_reminder").keys() != other.world.table("phone_reminder").keys()
    assert {"AddReminder", "add_reminder", "SearchInbox"} <= presented(one, "all_tools").keys()
    for scenario in (one, other):
        log = RehearsalStage(scenario).rehearse(scenario.solutions[0], "10_distraction_tools").log
        assert grade(log, scenario).score == 1.0
        assert list(differences(log, scenario)) == []


def test_scenarios_of_composites_are_listed_by_their_name():
    assert Suite([ERRAND]).names("phone+office") == ("milk_and_boats",)
    assert Suite([ERRAND]).names("phone") == ()
    assert Suite([ERRAND]).home is named("phone+office")


def test_what_cannot_be_a_part_is_told_with_its_place(tmp_path: Path):
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(ERRAND.read_text().replace("[phone, office]", "[phone, offic]"))
    with pytest.raises(ScenarioFileError, match="unknown world 'offic'"):
        Suite([wrong]).get("milk_and_boats")


def test_lint_run_and_replay_know_it(tmp_path: Path):
    def run(*args: str) -> None:
        done = CliRunner().invoke(group, [*args])
        assert done.exit_code == 0, done.output

    run("scenarios", "lint", "--deep", "--scenarios", str(ERRAND))
    run("run", "milk_and_boats", "--scenarios", str(ERRAND), "--agent", "reference", "--threshold", "1", "--no-bounds",
        "--out", str(tmp_path / "done"))  # fmt: skip
    run("grade", str(tmp_path / "done"), "--scenarios", str(ERRAND), "--threshold", "1")
    run("replay", str(tmp_path / "done"))
