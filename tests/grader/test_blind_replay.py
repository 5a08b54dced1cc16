"""The score of a blind replay: what the package has of it, what the docs say of it, and where reports show it."""

import json
from pathlib import Path
from statistics import mean

import pytest
from sandbox_grader.grading.scores import grade
from sandbox_grader.milestones.baselines import refusing
from sandbox_grader.papers.shared.breakdown import TABLES
from sandbox_grader.papers.shared.table import LabelledRun
from sandbox_grader.reporting.blind_replay import blind_replay, replayed
from sandbox_grader.reporting.bounds import bounded
from sandbox_grader.reporting.markdown import report_markdown
from sandbox_grader.reporting.report import Report
from sandbox_grader.reporting.wording import bounds_of, certainty

from tests.scenarios.playing import solved
from tests.suite import SUITE

DOCS = Path(__file__).parents[2] / "docs"
NAMES = ("wifi_off", "landlord_number")


def report(names: tuple[str, ...] = NAMES, own: tuple[str, ...] = ()) -> Report:
    found = Report([grade(refusing(SUITE.get(name)), SUITE.get(name)) for name in names])
    bounded(found, SUITE.get, solved, own=own)
    return found


def test_the_docs_say_what_was_measured_of_nearly_all_that_can_be_played() -> None:
    told = json.loads((DOCS / "replay.json").read_text(encoding="utf-8"))["all"]
    assert f"passes {told['tape']:.3f} of all {told['scenarios']} " in (DOCS / "trust.md").read_text(encoding="utf-8")
    assert told["scenarios"] == pytest.approx(len(SUITE.names("*")), rel=0.05), "measure again: python -m bench replay"
    scores = replayed().values()
    assert told["scenarios"] == len(scores)
    assert told["tape"] == pytest.approx(mean(value >= 1 for value in scores), abs=0.0005)


def test_only_what_can_be_played_has_a_score() -> None:
    assert replayed().keys() <= set(SUITE.names("*"))


def test_instances_have_the_score_of_their_scenario_and_count_once_each() -> None:
    assert blind_replay(["wifi_off@7"]) == blind_replay(["wifi_off"]) == replayed()["wifi_off"]
    both = [replayed()[name] for name in NAMES]
    assert blind_replay([*NAMES, NAMES[0]]) == mean(both)


def test_reports_show_it_between_floor_and_ceiling() -> None:
    found = report()
    value = blind_replay(NAMES)
    assert list(bounds_of(found)) == ["floor", "blind replay", "ceiling"]
    assert certainty(found)[0].rows[0][-3:] == (0.0, value, 1.0)
    assert found.summary()["bounds"]["blind_replay"] == {"score": value}
    assert f"a blind replay {value:.3f}" in report_markdown(found)


def test_breakdowns_show_it() -> None:
    by_world = next(table for table in TABLES if table.name == "world")
    (row,) = by_world.filled([LabelledRun(report())]).to_json()["rows"]
    assert (row["cells"]["refusing"]["value"], row["cells"]["blind replay"]["value"]) == (
        0.0,
        round(blind_replay(NAMES) or 0.0, 3),
    )


def test_scenarios_of_ones_own_were_never_replayed_however_they_are_called() -> None:
    assert report(own=NAMES).blind_replay is None
    assert blind_replay(["wifi_off"], own=["wifi_off"]) is None


def test_nothing_is_said_of_scenarios_unless_all_of_them_were_replayed() -> None:
    assert blind_replay([*NAMES, "my_own"]) is None


def test_it_is_known_for_strict_scores_alone() -> None:
    found = Report([grade(refusing(SUITE.get("wifi_off")), SUITE.get("wifi_off"), "compat")], "compat")
    bounded(found, SUITE.get, solved)
    assert found.floor is not None
    assert found.blind_replay is None
