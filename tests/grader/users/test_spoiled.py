"""Sessions that their user spoiled: listed and counted, and in no mean about agents unless somebody wants it."""

from dataclasses import replace
from pathlib import Path

from click.testing import CliRunner
from sandbox_grader.grading.explain import explain
from sandbox_grader.grading.scores import grade
from sandbox_grader.reporting.report import Report
from sandbox_grader.reporting.tables import to_junit

from sandbox_mcp.app.cli.grade import command
from sandbox_mcp.engine.trajectory import LogWriter, Trajectory
from tests.scenarios.playing import play, talk
from tests.suite import SUITE

SCENARIO = SUITE.get("wifi_off")


def left_early() -> Trajectory:
    """A session whose user leaves when it is asked for its leave."""
    log = talk(SCENARIO, "I can't.")
    *before, asking, leaving = log.events
    return replace(log, events=(*before, replace(asking, content="Shall I switch it off?"), leaving))


def good() -> Trajectory:
    return play(SCENARIO, SCENARIO.solutions[0])


def test_a_spoiled_session_is_not_scored_and_says_why() -> None:
    scores = grade(left_early(), SCENARIO)
    assert not scores.scored
    assert scores.to_json()["reason"].startswith("spoiled_by_user: early_end")
    assert scores.score == 0


def test_it_is_scored_where_that_is_wanted() -> None:
    scores = grade(left_early(), SCENARIO, keep_spoiled=True)
    assert (scores.scored, scores.spoiled, scores.verdicts["user_conduct"].values["spoiled"]) == (True, False, True)


def test_means_about_agents_leave_it_out_and_those_about_users_do_not() -> None:
    summary = Report([grade(log, SCENARIO) for log in (good(), left_early())]).families()
    assert summary["toolsandbox"]["overall"]["n"] == 1
    assert summary["user_conduct"]["spoiled"] == {"known": 2, "sessions": 1, "rate": 0.5}


def test_a_session_that_broke_is_not_called_spoiled() -> None:
    log = left_early()
    cut = Trajectory(log.started, log.events, None)
    scores = grade(cut, SCENARIO)
    assert (scores.spoiled, scores.reason) == (False, "incomplete: the log has no end")


def test_its_explanation_says_so_in_the_end() -> None:
    assert explain(grade(left_early(), SCENARIO)).splitlines()[-1].startswith("not scored: spoiled_by_user: early_end")


def test_in_junit_it_is_skipped() -> None:
    assert 'skipped="1"' in to_junit(Report([grade(left_early(), SCENARIO)]))


def test_the_command_line_counts_and_keeps_them(tmp_path: Path) -> None:
    for name, log in (("a", good()), ("b", left_early())):
        with LogWriter(tmp_path / f"{name}.jsonl") as writer:
            for event in (log.started, *log.events, log.ended):
                writer.write(event)
    left, kept = (CliRunner().invoke(command, [str(tmp_path), *more]).output for more in ([], ["--keep-spoiled"]))
    assert "1 scored session, mean score 1.000" in left
    assert "left out as spoiled by the user: 1 session; --keep-spoiled scores these too" in left
    assert "2 scored sessions, mean score 0.500" in kept
    assert "left out" not in kept
