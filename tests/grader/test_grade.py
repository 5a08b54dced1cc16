"""Grading one session with everything there is, as a library user does it."""

import json
from typing import Any

import pytest
from sandbox_grader import Scores, grade
from sandbox_grader.grading.explain import explain
from sandbox_grader.grading.metric import Mode, Subject
from sandbox_grader.grading.metrics import FAMILIES, families
from sandbox_grader.grading.references import references_of
from sandbox_scenarios import Suite
from sandbox_scenarios.model import PlannedTurn, Solution

from sandbox_mcp.engine.trajectory import parse_trajectory, to_line
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from tests.each import each
from tests.grader.milestones.sessions import Play, contact, facts, milestone, row, say, scenario, state

WIFI_OFF = scenario(
    milestone("off", state("setting", "is", row(wifi=False))),
    milestone("told", say(facts(("off", "disabled"))), after=("off",)),
    minefields=(milestone("mine", say("never")),),
)


OURS = ("toolsandbox", "user_conduct")


def right() -> Play:
    return Play().sets("set_wifi_status", wifi=False).says("Wifi is off")


@pytest.fixture
def scores() -> Scores:
    return grade(right().done(), WIFI_OFF)


def test_every_family_gives_a_verdict(scores: Scores):
    assert list(scores.verdicts) == [family.name for family in families()]
    assert set(scores.verdicts) <= set(FAMILIES)


@each("mode", ["strict", "paper", "compat"])
def test_a_family_says_the_same_alone_as_after_the_others_about_the_same_session(mode: Mode):
    suite = Suite()
    for name in suite.names()[::40]:
        scenario = suite.get(name)
        for solution in (scenario.solutions[0], Solution((PlannedTurn((), "All done."),))):
            log = RehearsalStage(scenario).rehearse(solution).log
            shared = Subject(log, references_of(scenario, log), scenario)
            after = {family.name: family.grade(shared, mode) for family in reversed(families())}
            alone = {f.name: f.grade(Subject(log, references_of(scenario, log), scenario), mode) for f in families()}
            assert after == alone


def test_the_score_is_toolsandboxs(scores: Scores):
    assert (scores.score, scores.scored, scores.reason) == (1.0, True, None)


def test_it_knows_what_it_graded(scores: Scores):
    assert (scores.session, scores.scenario, scores.variant, scores.path) == ("s", "example", "base", "example.jsonl")
    assert scores.categories == WIFI_OFF.categories


def test_strict_is_the_default(scores: Scores):
    assert scores.mode == "strict"
    assert grade(right().done(), WIFI_OFF, "compat").mode == "compat"


def test_it_goes_to_json(scores: Scores):
    found: Any = json.loads(json.dumps(scores.to_json()))
    assert found["id"] == "s"
    assert found["metrics"]["toolsandbox"]["score"] == 1
    assert [item["id"] for item in found["details"]["toolsandbox"]] == ["off", "told", "mine"]


def test_without_a_scenario_milestones_are_inconclusive():
    scores = grade(right().done())
    assert scores.score is None
    assert scores.to_json()["metrics"]["toolsandbox"] == {"inconclusive": "no scenario: milestones are part of one"}


def test_a_session_that_broke_has_numbers_and_is_not_scored():
    scores = grade(right().done("agent_failed"), WIFI_OFF)
    assert (scores.score, scores.scored) == (1, False)
    assert scores.to_json()["reason"] == "incomplete: the session ended with 'agent_failed'"


def test_a_log_that_a_crash_cut_off_is_incomplete():
    played = right().done()
    data = "".join(to_line(event) for event in (played.started, *played.events)).encode()
    scores = grade(parse_trajectory(data[:-20], "cut.jsonl"), WIFI_OFF)
    assert (scores.scored, scores.reason) == (False, "incomplete: the log's last line is cut off")


def test_grading_is_pure(scores: Scores):
    assert grade(right().done(), WIFI_OFF) == scores


class TestExplanation:
    def test_of_a_right_session(self):
        assert explain(grade(right().done(), WIFI_OFF, metrics=OURS)) == (
            "example (base), graded strict\n"
            "milestone  event  score\n"
            "off        #2     1.00   met\n"
            "told       #3     1.00   met\n"
            "minefield mine: not met\n"
            "score 1.000   milestones 1.000   ToolSandbox's turn count 3\n"
            "doing nothing earns 0.000, refusing 0.000; corrected for refusing 1.000\n"
        )

    def test_of_a_wrong_one(self):
        played = Play().changes("modify_contact", "contact", "c1", contact("c1", phone="+9")).says("Wifi is off")
        assert explain(grade(played.says("never").done("abandoned"), WIFI_OFF, metrics=OURS)) == (
            "example (base), graded strict\n"
            "milestone  event  score\n"
            "off        -      0.00   setting: wifi true, expected false\n"
            "told       #3     0.00   rests on 'off', which was not met\n"
            "minefield mine: met at #4, which voids the score\n"
            "unwanted: modify_contact changed a row of contact that was not asked for: "
            "phone_number from '+1' to '+9'; this voids the score (#2)\n"
            "score 0.000   milestones 0.000   ToolSandbox's turn count 4\n"
            "doing nothing earns 0.000, refusing 0.000; corrected for refusing 0.000\n"
            "not scored: incomplete: the session ended with 'abandoned'\n"
        )

    def test_in_compat_only_places_are_known(self):
        text = explain(grade(Play().says("Off or on").done(), WIFI_OFF, "compat"))
        assert "off        -      0.00   not met\n" in text
        assert "told       #2     1.00   met\n" in text

    def test_of_a_session_without_a_scenario(self):
        assert explain(grade(right().done())).splitlines()[1] == (
            "milestones: inconclusive, no scenario: milestones are part of one"
        )

    def test_every_other_family_has_a_line(self, scores: Scores):
        lines = scores.explain().splitlines()
        assert lines[-4].startswith("tooltalk: no reference solution")
        assert lines[-3].startswith("toolscan: ian 1.000, iat 1.000")
        assert lines[-1].startswith("conduct: ")

    def test_a_scenario_that_pays_for_refusing_says_so(self):
        text = explain(grade(Play().says("No.").done(), scenario()))
        assert "doing nothing earns 1.000, refusing 1.000; refusing already earns everything" in text
