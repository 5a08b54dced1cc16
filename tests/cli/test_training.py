"""``export training``: sessions that scored enough, as JSON Lines, and what is said of the others."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sandbox_mcp.app.cli import group


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for agent in ("reference", "refuse"):
        done = CliRunner().invoke(
            group, ["run", "wifi_off", "landlord_number", "--agent", agent, "--out", str(folder / agent), "--quiet"]
        )
        assert done.exit_code == 0, done.output
    return folder


def exported(*arguments: object) -> Result:
    return CliRunner().invoke(group, ["export", "training", *map(str, arguments)])


def test_those_that_scored_enough_are_written(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "training.jsonl"
    done = exported(runs, "--min-score", 0.9, "-o", out)
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 2
    assert all(line["messages"][-1]["role"] == "assistant" and line["tools"] for line in lines)
    assert "left out 2 sessions: scored less than 0.9" in done.stderr
    assert "wrote 2 sessions of 4" in done.stderr
    assert "2 scenarios of the built-in suite among them" in done.stderr


def test_as_thought_action_input_and_observation(runs: Path) -> None:
    [line] = exported(runs / "reference", "--min-score", 1, "--form", "mtu-instruct").stdout.splitlines()[:1]
    step = json.loads(line)["turns"][0]["steps"][0]
    assert set(step) == {"thought", "action", "action_input", "observation"}


def test_nothing_good_enough_is_exit_code_1(runs: Path) -> None:
    assert exported(runs / "refuse", "--min-score", 1).exit_code == 1


def test_how_good_is_good_enough_must_be_said(runs: Path) -> None:
    done = exported(runs)
    assert done.exit_code == 2
    assert "needs --min-score" in done.output


def test_its_options_are_for_it_alone(runs: Path) -> None:
    done = CliRunner().invoke(group, ["export", "atif", str(runs), "--min-score", "1"])
    assert done.exit_code == 2
    assert "--min-score goes with the format training" in done.output


def test_pairs_of_a_better_and_a_worse_session(runs: Path) -> None:
    done = exported(runs, "--min-score", 0.9, "--form", "preferences")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [[part[0]["role"] for part in (line["chosen"], line["rejected"])] for line in lines] == [
        ["assistant"] * 2
    ] * 2
    assert "wrote 2 pairs of 4 sessions" in done.stderr


def test_a_margin_is_for_pairs(runs: Path) -> None:
    assert "--margin goes with --form preferences" in exported(runs, "--min-score", 1, "--margin", 0.2).output
