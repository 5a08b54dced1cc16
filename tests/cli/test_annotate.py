"""``annotate`` and ``agreement``: from a run to sheets, and from filled sheets to figures."""

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sandbox_mcp.app.cli import group


def invoked(*arguments: object) -> Result:
    return CliRunner().invoke(group, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for agent in ("reference", "refuse"):
        done = invoked("run", "wifi_off", "landlord_number", "--agent", agent, "--out", folder / agent, "--quiet")
        assert done.exit_code == 0, done.output
    return folder


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def filled(runs: Path, path: Path, judge: str) -> Path:
    """A sheet on which somebody has judged: ``right`` sees what happened, ``kind`` says yes to everything."""
    assert invoked("annotate", runs, "-o", path).exit_code == 0
    sheet = rows(path)
    for row in sheet:
        refused = "sorry" in row["conversation"].lower() or "can't" in row["conversation"].lower()
        row["success"] = "no" if judge == "right" and refused else "yes"
        row["quality"] = "2" if judge == "right" and refused else "9"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(sheet[0]))
        writer.writeheader()
        writer.writerows(sheet)
    return path


def test_a_sheet_has_goal_and_conversation_and_not_who_played(runs: Path, tmp_path: Path) -> None:
    assert invoked("annotate", runs, "-o", tmp_path / "sheet.csv").exit_code == 0
    text = (tmp_path / "sheet.csv").read_text(encoding="utf-8")
    sheet = rows(tmp_path / "sheet.csv")
    assert len(sheet) == 4
    assert all(row["goal"] and "user:" in row["conversation"] and row["success"] == "" for row in sheet)
    assert "reference" not in text
    assert "refuse" not in text


def test_a_sample_is_the_same_for_everybody(runs: Path, tmp_path: Path) -> None:
    for name in ("ana", "bo"):
        assert invoked("annotate", runs, "-o", tmp_path / f"{name}.csv", "--sample", 2, "--seed", 7).exit_code == 0
    assert (tmp_path / "ana.csv").read_bytes() == (tmp_path / "bo.csv").read_bytes()
    assert len(rows(tmp_path / "ana.csv")) == 2


def test_people_are_compared_with_each_other_and_with_metrics(runs: Path, tmp_path: Path) -> None:
    sheets = [filled(runs, tmp_path / "ana.csv", "right"), filled(runs, tmp_path / "bo.csv", "kind")]
    done = invoked("agreement", *sheets, "--run", runs, "--json")
    assert done.exit_code == 0, done.output
    found = {(row["column"], row["one"], row["other"]): row for row in json.loads(done.stdout)}
    assert found["success", "ana", "bo"]["share"] == 0.5
    assert found["success", "ana", "bo"]["kappa"] == 0
    assert found["success", "ana", "toolsandbox.score"]["kappa"] == 1
    assert found["quality", "ana", "toolsandbox.score"]["pearson"] == pytest.approx(1)
    assert found["success", "bo", "toolsandbox.score"]["pearson"] is None
    assert found["quality", "everyone", "toolsandbox.score"]["n"] == 4


def test_own_columns_and_metrics(runs: Path, tmp_path: Path) -> None:
    assert invoked("annotate", runs, "-o", tmp_path / "sheet.csv", "--ask", "polite").exit_code == 0
    assert "polite" in rows(tmp_path / "sheet.csv")[0]
    sheet = filled(runs, tmp_path / "ana.csv", "right")
    done = invoked("agreement", sheet, "--run", runs, "--metric", "success=toolsandbox.turn_count")
    assert "toolsandbox.turn_count" in done.stdout
    assert "quality" not in done.stdout


def test_mistakes_are_told(runs: Path, tmp_path: Path) -> None:
    sheet = filled(runs, tmp_path / "ana.csv", "right")
    for arguments, told in [
        (["--metric", "toolsandbox.score"], "name them with --run"),
        (["--run", runs, "--metric", "polite=toolsandbox.score"], "no sheet has a column 'polite'"),
        ([sheet], "two sheets have files of one name"),
    ]:
        done = invoked("agreement", sheet, *arguments)
        assert done.exit_code == 2
        assert told in done.output
    alone = invoked("agreement", sheet)
    assert alone.exit_code == 1
    assert "nothing to compare" in alone.stderr
