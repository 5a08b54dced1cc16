"""``compare --across extends``: what branching does to the same agent, scenario by scenario."""

import json
from pathlib import Path

from click.testing import CliRunner, Result

from sandbox_mcp.app.cli import group


def invoked(*arguments: object) -> Result:
    return CliRunner().invoke(group, [str(argument) for argument in arguments])


def test_branches_are_compared_with_what_they_branch_from(tmp_path: Path) -> None:
    played = invoked("run", "extends:wifi_off", "--agent", "reference", "--out", tmp_path / "run", "--quiet")
    assert played.exit_code == 0, played.output
    done = invoked("compare", tmp_path / "run", "--across", "extends", "--json", "--quiet")
    assert done.exit_code == 0, done.output
    [found] = json.loads(done.stdout)
    assert (found["a"]["run"], found["b"]["run"]) == ("originals", "branches")
    assert found["a"]["sessions"] == found["b"]["sessions"] > 0


def test_a_run_without_pairs_is_told_so(tmp_path: Path) -> None:
    invoked("run", "wifi_off", "--agent", "reference", "--out", tmp_path / "run", "--quiet")
    done = invoked("compare", tmp_path / "run", "--across", "extends", "--quiet")
    assert "no scenario together with one that it branches from" in str(done.exception)
