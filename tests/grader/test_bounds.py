"""The floor and the ceiling that stand beside the figures of a report."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from sandbox_grader.grading.metric import Mode
from sandbox_grader.grading.scores import grade
from sandbox_grader.milestones.baselines import refusing
from sandbox_grader.reporting.bounds import bounded, kept_bounds
from sandbox_grader.reporting.report import Report
from sandbox_grader.reporting.wording import certainty, family_lines, main_figures, sides_of
from sandbox_scenarios.model import Scenario

from sandbox_mcp.engine.trajectory import Trajectory
from tests.scenarios.playing import solved
from tests.suite import SUITE

MODES: tuple[Mode, Mode] = ("strict", "compat")
NAMES = ("wifi_off", "landlord_number", "late_for_dinner_no_address_book")


def report(logs: Sequence[Trajectory], mode: Mode = "strict", names: Sequence[str] = NAMES) -> Report:
    graded = [grade(log, SUITE.get(name), mode) for name, log in zip(names, logs, strict=True)]
    found = Report(graded, mode)
    bounded(found, lambda name: SUITE.get(name) if name in NAMES else None, solved)
    return found


def beside(found: Report, side: int) -> list[tuple[str, float, float]]:
    """The main figures of a report, each beside its floor (0) or its ceiling (1)."""
    known = sides_of(found)[side]
    told = [(family, figure) for family, values in found.families().items() for figure in main_figures(values)]
    return [(name, value, known[family, name]) for family, (name, value) in told if (family, name) in known]


def test_the_refusing_agent_stands_on_the_floor_of_every_figure():
    found = report([refusing(SUITE.get(name)) for name in NAMES])
    told = beside(found, 0)
    assert len(told) > 30
    assert [name for name, value, low in told if value != low] == []


def test_the_reference_agent_reaches_the_ceiling_of_every_figure():
    for mode in ("strict", "compat"):
        found = report([solved(SUITE.get(name)) for name in NAMES], mode)
        told = beside(found, 1)
        assert len(told) > 30
        assert [name for name, value, high in told if value != high] == []


def test_trials_count_once_in_the_bounds():
    names = ("wifi_off", "wifi_off", "landlord_number")
    found = report([solved(SUITE.get(name)) for name in names], names=names)
    assert found.floor is not None
    assert len(found.floor.sessions) == 2


def test_scenarios_that_are_not_known_have_no_bounds():
    found = report([solved(SUITE.get("what_address_is_this"))], names=["what_address_is_this"])
    assert found.floor is None
    assert found.summary()["bounds"] is None
    assert certainty(found)[0].headers == ("", "mean", "low", "high", "scenarios")
    assert not any("(" in line for line in family_lines(found, found.families(), full=True) if "tooltalk" not in line)


def test_summary_and_tables_tell_them():
    found = report([solved(SUITE.get(name)) for name in NAMES])
    bounds = found.summary()["bounds"]
    assert (bounds["floor"]["score"], bounds["ceiling"]["score"]) == (0.0, 1.0)
    assert bounds["floor"]["families"]["toolscan"]["mean_of_seven"] < 1
    assert certainty(found)[0].rows[0][-1] == 1.0
    lines = list(family_lines(found, found.families(), full=False))
    assert any("success_rate 1.000 (0.333 to 1.000)" in line for line in lines)


def test_kept_bounds_are_taken_and_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_MCP_CACHE", str(tmp_path))
    logs = [refusing(SUITE.get(name)) for name in NAMES]
    found = [Report([grade(log, SUITE.get(name)) for name, log in zip(NAMES, logs, strict=True)]) for _ in range(3)]
    asked: list[str] = []

    def find(name: str) -> Scenario | None:
        asked.append(name)
        return SUITE.get(name) if name != NAMES[1] else None

    bounded(found[0], find, solved)
    for report in found[1:]:
        asked.clear()
        bounded(report, find, solved, kept_bounds(report, ()))
    assert asked == []
    assert found[2].summary() == found[1].summary() == found[0].summary()
    assert found[2].ceiling is not None
    assert len(found[2].ceiling.sessions) == 2


def test_bounds_by_other_options_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_MCP_CACHE", str(tmp_path))
    strict, compat = (
        Report([grade(solved(SUITE.get(name)), SUITE.get(name), mode) for name in NAMES], mode) for mode in MODES
    )
    for report in (strict, compat):
        bounded(report, SUITE.get, solved, kept_bounds(report, ()))
        assert report.floor is not None
        assert report.floor.sessions[0].mode == report.mode


def test_bounds_of_a_scenario_that_may_be_another_one_next_time_are_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_MCP_CACHE", str(tmp_path))
    scenario = SUITE.get(NAMES[0])
    for floor, passing in ((0.0, replace(scenario, minefields=())), (1.0, replace(scenario, milestones=()))):
        report = Report([grade(solved(scenario), scenario)])
        bounded(report, lambda _, found=passing: found, solved, kept_bounds(report, ()))
        assert report.floor is not None
        assert report.floor.score == floor
