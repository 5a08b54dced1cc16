"""Difficulty by what agents did: who counts, the share that solved a scenario, and its interval."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from sandbox_grader.milestones.baselines import refusing
from sandbox_grader.reporting.difficulty import attempts, difficulty, wilson

from sandbox_mcp.app.cli.scenarios import command
from sandbox_mcp.engine.trajectory import Trajectory
from sandbox_mcp.engine.trajectory.log import all_lines
from tests.scenarios.playing import solved
from tests.suite import SUITE

SCENARIO = SUITE.get("wifi_off@3")


def logs(folder: Path, *found: Trajectory) -> list[Path]:
    paths = [folder / f"{number}.jsonl" for number in range(len(found))]
    for path, log in zip(paths, found, strict=True):
        path.write_bytes(all_lines(log))
    return paths


def changed(log: Trajectory) -> Trajectory:
    return replace(log, started=replace(log.started, digest="another"))


def test_the_share_solved_is_of_sessions_that_are_of_the_scenario_as_it_is(tmp_path: Path) -> None:
    right, wrong = solved(SCENARIO), refusing(SCENARIO)
    found = difficulty(*attempts(logs(tmp_path, right, right, wrong, changed(right)), SUITE.get))
    figures = found["scenarios"]["wifi_off"]
    assert (found["sessions"], found["left_out"]) == (3, 1)
    assert (figures["sessions"], figures["solved"], figures["tier"]) == (3, 0.667, "basic")
    assert found["tiers"]["basic"]["solved"] == 0.667


@pytest.mark.parametrize(
    ("right", "sessions", "low", "high"), [(0, 10, 0.0, 0.278), (10, 10, 0.722, 1.0), (5, 10, 0.237, 0.763)]
)
def test_the_interval_is_wilson_s(right: int, sessions: int, low: float, high: float) -> None:
    assert wilson(right, sessions) == pytest.approx((low, high), abs=0.0005)


def test_a_label_names_who_played(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    logs(tmp_path / "run", solved(SCENARIO))
    out = tmp_path / "told.json"
    found = CliRunner().invoke(command, ["difficulty", f"somebody={tmp_path / 'run'}", "--out", str(out), "--json"])
    assert json.loads(found.stdout) == json.loads(out.read_text())
    assert json.loads(found.stdout)["scenarios"]["wifi_off"]["players"] == ["somebody"]


def test_a_run_that_is_not_there_is_an_error_in_one_line(tmp_path: Path) -> None:
    found = CliRunner().invoke(command, ["difficulty", str(tmp_path / "nothing")])
    assert found.exit_code == 2
    assert "does not exist" in found.output


def test_the_page_says_what_the_file_has() -> None:
    docs = Path(__file__).parents[2] / "docs"
    told = json.loads((docs / "difficulty.json").read_text())
    page = (docs / "suite.md").read_text()
    for tier, item in told["tiers"].items():
        low, high = item["interval"]
        assert f"| {tier} | {item['sessions']} | {item['solved']:.3f} | {low:.3f} to {high:.3f} |" in page
