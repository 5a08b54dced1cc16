"""Instances: the same scenario with everything drawn anew."""

from datetime import UTC, datetime
from pathlib import Path
from textwrap import dedent

import pytest
from sandbox_grader.milestones import strict
from sandbox_scenarios import ScenarioFileError, Suite, UnknownScenarioError
from sandbox_scenarios.instances import instances, labels, split
from sandbox_scenarios.lint.instances import instance

import sandbox_mcp
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from tests.laws import at_least
from tests.suite import SUITE

NOTE = """
family: notes
scenarios:
  - name: note_read
    clock: {now: 2026-04-03 16:10:00, zone: Australia/Lord_Howe}
    categories: [single_tool_call]
    tools: [search_reminder]
    draws: {Fergus: man, mooring: [jetty, slipway, pontoon], "240": {number: [150, 390]}}
    world:
      setting: {cellular: true, wifi: true, location_service: true, low_battery_mode: false, latitude: 1, longitude: 2}
      contact:
        me: {name: Noor Whitlock, phone_number: +61491570156, relationship: self, is_self: true}
      reminder:
        debt:
          content: Pay Fergus 240 dollars for the mooring by Friday, 10 April
          creation_timestamp: 2026-04-01 09:00:00
          reminder_timestamp: 2026-04-10 12:00:00
    user:
      goal: You want to know what you owe Fergus for the mooring by the 10th.
      opening: Mooring money for Fergus, what is it? My number is 0491 570 156.
    reference:
      - turns:
          - calls: [{tool: search_reminder, arguments: {content: mooring}, as: found}]
            reply: 240 dollars to Fergus by 10 April 2026.
    milestones:
      - {id: told, message: {content: {facts: [{number: 240}, {date: "04-10"}]}}}
"""


def suite_of(folder: Path, text: str = NOTE) -> Suite:
    (folder / "notes.yaml").write_text(dedent(text))
    return Suite([folder])


def score_of(suite: Suite, name: str) -> float:
    scenario = suite.get(name)
    return strict.evaluate(scenario, RehearsalStage(scenario).rehearse(scenario.solutions[0]).log).score


def test_everything_that_is_drawn_changes_together(tmp_path: Path) -> None:
    suite = suite_of(tmp_path)
    plain, drawn = suite.get("note_read"), suite.get("note_read@7")
    row = next(iter(drawn.world.table("reminder").values()))
    for word in ("Fergus", "mooring", "Mooring", "240", "10 April", "570 156"):
        assert word not in f"{row['content']} {drawn.user.opening} {drawn.user.goal} {drawn.solutions}"
    assert row["reminder_id"] not in plain.world.table("reminder")
    assert score_of(suite, "note_read@7") == 1


def test_days_keep_their_weekday_and_their_distances(tmp_path: Path) -> None:
    suite = suite_of(tmp_path)
    before, after = suite.get("note_read"), suite.get("note_read@3")
    days = (after.clock.now - before.clock.now) / 86400
    old, new = (next(iter(item.world.table("reminder").values())) for item in (before, after))
    assert days % 7 == 0
    assert float(str(new["reminder_timestamp"])) - float(str(old["reminder_timestamp"])) == days * 86400
    assert "by Friday, " in str(new["content"])


def test_an_instance_is_the_same_wherever_it_is_made_and_differs_from_the_next(tmp_path: Path) -> None:
    first, again = suite_of(tmp_path).get("note_read@7"), suite_of(tmp_path).get("note_read@7")
    assert (first.name, first.digest, first.world) == ("note_read@7", again.digest, again.world)
    digests = {suite_of(tmp_path).get(name).digest for name in ("note_read", "note_read@1", "note_read@2")}
    assert len(digests) == 3


def test_instance_0_is_the_scenario_as_written(tmp_path: Path) -> None:
    suite = suite_of(tmp_path)
    assert suite.get("note_read@0") == suite.get("note_read")


def test_a_telephone_number_changes_in_whichever_way_it_is_written(tmp_path: Path) -> None:
    scenario = suite_of(tmp_path).get("note_read@4")
    number = str(next(iter(scenario.world.table("contact").values()))["phone_number"])
    assert number != "+61491570156"
    assert f"0{number[3:6]} {number[6:9]} {number[9:]}" in scenario.user.opening


@pytest.mark.parametrize("name", ["note_read@", "note_read@A", "note_read@1@2"])
def test_labels_are_small_letters_and_digits(tmp_path: Path, name: str) -> None:
    if name == "note_read@":
        assert split(name) == ("note_read", "")
        return
    with pytest.raises((ScenarioFileError, UnknownScenarioError), match="instance"):
        suite_of(tmp_path).get(name)


def test_what_may_be_drawn_must_not_stand_there_already(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, NOTE.replace("[jetty, slipway, pontoon]", "[Friday]"))
    with pytest.raises(ScenarioFileError, match="'mooring' stands in the scenario already"):
        suite.get("note_read@1")


def test_labels_by_a_secret_cannot_be_told_without_it() -> None:
    assert labels(2) == ("1", "2")
    assert labels(2, "a") != labels(2, "b")
    assert instances(["x", "y@4"], 2) == ("x@1", "x@2", "y@4")


def test_an_alternative_replaces_wish_and_answer_together_in_some_instances(tmp_path: Path) -> None:
    other = """
    choose:
      - user: {opening: Who gets the mooring money?}
        milestones:
          - {id: told, message: {content: {facts: [{name: Fergus}]}}}
"""
    suite = suite_of(tmp_path, NOTE + other)
    made = [suite.get(f"note_read@{label}") for label in range(1, 13)]
    asked = {("Who gets" in item.user.opening, "name" in str(item.milestones)) for item in made}
    assert asked == {(True, True), (False, False)}
    assert all(not item.user.opening.startswith("Mooring money for Fergus") for item in made)
    assert suite.get("note_read@0").user.opening.startswith("Mooring money for Fergus")


def test_a_branch_does_not_inherit_alternatives(tmp_path: Path) -> None:
    branch = """
    choose: [{user: {opening: Who gets it?}}]
  - name: note_reworded
    extends: note_read
    user: {opening: "What's owed for the mooring?"}
"""
    suite = suite_of(tmp_path, NOTE + branch)
    assert all("owed" in suite.get(f"note_reworded@{label}").user.opening for label in range(1, 9))


def test_a_drawn_day_moves_with_the_days_of_its_instance(tmp_path: Path) -> None:
    drawn = NOTE.replace("draws: {", "draws: {'04-10|2026-04-10 12:00:00': ['04-12|2026-04-12 12:00:00'], ")
    for label in range(1, 6):
        made = suite_of(tmp_path, drawn).get(f"note_read@{label}")
        row = next(iter(made.world.table("reminder").values()))
        due = datetime.fromtimestamp(float(str(row["reminder_timestamp"])), UTC)
        assert f"'{due:%m-%d}'" in str(made.milestones)


def test_a_literal_that_is_left_over_is_complained_of(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, NOTE.replace("you owe Fergus", "you owe FERGUS"))
    assert "'Fergus' still stands" in next(instance(suite, "note_read@3")).problem
    assert not list(instance(suite_of(tmp_path), "note_read@3"))


def test_a_weekday_that_no_longer_fits_is_complained_of(tmp_path: Path) -> None:
    drawn = NOTE.replace("draws: {", "draws: {dates: same, 2026-04-03 16:10:00: ['2027-04-03 16:10:00'], ")
    found = [item.problem for item in instance(suite_of(tmp_path, drawn), "note_read@3")]
    assert found == ["in note_read@3 10 April is called a Friday"]


def test_a_demonstration_calls_people_as_the_instance_does(tmp_path: Path) -> None:
    shown = NOTE.replace(
        "      opening: Moor", "      demonstration: [{user: Text Fergus., agent: Done.}]\n      opening: Moor"
    )
    made = suite_of(tmp_path, shown).get("note_read@5")
    assert "Fergus" not in str(made.user.demonstration)


def test_no_instance_is_kept_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_MCP_CACHE", str(tmp_path / "kept"))
    suite = suite_of(tmp_path)
    suite.get("note_read@7")
    assert not list((tmp_path / "kept").rglob("scenario-*"))
    suite.get("note_read")
    assert len(list((tmp_path / "kept").rglob("scenario-*"))) == 1


def test_draws_do_not_change_the_digest_of_the_scenario_as_written(tmp_path: Path) -> None:
    plain = NOTE.replace("    draws:", "    about:").replace('"240": {number: [150, 390]}}', '"240": x}')
    without = "\n".join(line for line in plain.splitlines() if "    about: {" not in line)
    assert suite_of(tmp_path, without).get("note_read").digest == suite_of(tmp_path).get("note_read").digest


TOTALS = """
def notes(draw, size):
    payer = draw.word("woman")
    return {
        "user": {"goal": f"You want {payer}.", "opening": f"Who is {payer}?"},
        "reference": [{"turns": [{"reply": payer}]}],
        "milestones": [{"id": "told", "message": {"content": {"facts": [[payer] * size["times"]]}}}],
    }
"""
GENERATED = """
family: notes
scenarios:
  - name: made
    clock: {now: 2026-04-03 16:10:00}
    categories: [single_tool_call]
    tools: [get_wifi_status]
    world:
      setting: {cellular: true, wifi: true, location_service: true, low_battery_mode: false, latitude: 1, longitude: 2}
    generate: {by: "totals.py:notes", size: {times: 2}}
"""


def test_a_generator_makes_the_scenario_of_a_draw(tmp_path: Path) -> None:
    (tmp_path / "totals.py").write_text(TOTALS)
    suite = suite_of(tmp_path, GENERATED)
    openings = {suite.get(name).user.opening for name in ("made", "made@1", "made@2", "made@3")}
    assert len(openings) == 4
    assert score_of(suite, "made@3") == 1


@pytest.mark.parametrize(
    ("by", "told"),
    [
        ("totals.py:nothing", "has no function 'nothing'"),
        ("gone.py:notes", "does not exist"),
        ("totals.py", "names no function"),
    ],
)
def test_a_generator_that_cannot_be_used_is_told_where_it_is_named(tmp_path: Path, by: str, told: str) -> None:
    (tmp_path / "totals.py").write_text(TOTALS)
    with pytest.raises(ScenarioFileError, match=told):
        suite_of(tmp_path, GENERATED.replace("totals.py:notes", by)).get("made@1")


def test_what_a_generator_made_wrongly_is_told(tmp_path: Path) -> None:
    (tmp_path / "totals.py").write_text(TOTALS.replace('"opening"', '"openign"'))
    with pytest.raises(ScenarioFileError, match="made has a fault: user"):
        suite_of(tmp_path, GENERATED).get("made@1")


def test_a_run_plays_instances_and_clusters_them_by_scenario() -> None:
    suite = sandbox_mcp.Suite().select("wifi_off", "late_for_work").instances(3)
    report = sandbox_mcp.evaluate("reference", suite)
    assert report.score == 1
    assert {item.scenario for item in report.sessions} >= {"wifi_off@1", "late_for_work@3"}
    assert report.estimate is not None
    assert report.estimate.clusters == 2


@pytest.mark.parametrize("name", SUITE.names("*")[:: max(1, 40 // at_least(4))])
def test_references_score_1_in_instances(name: str) -> None:
    for label in labels(at_least(20) // 10 or 2, "checked"):
        assert score_of(SUITE, f"{name}@{label}") == 1


def test_several_people_of_one_name_are_renamed_together() -> None:
    user = SUITE.get("kayak_maria@76").user
    assert "Maria" not in f"{user.opening} {user.knows} {user.goal}"
