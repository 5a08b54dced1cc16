"""Ten scenarios on the git server of the MCP project: state, floor and ceiling, logs graded and replayed without it."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sandbox_grader import grade
from sandbox_grader.milestones.baselines import refusing
from sandbox_scenarios import Suite

from sandbox_mcp.app.cli import group
from sandbox_mcp.engine.worlds import FILES

EXAMPLE = Path(__file__).parents[3] / "examples" / "live_git"
pytestmark = [
    pytest.mark.skipif(
        which("mcp-server-git") is None or which("git") is None,
        reason="mcp-server-git is not installed; make test-mirror installs it",
    ),
    pytest.mark.timeout(900),  # a start of that server takes a second of CPU, and it is started eleven times
]


def invoke(*args: object) -> Result:
    return CliRunner().invoke(group, [str(arg) for arg in args])


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """A copy of the example, and a run by an agent that knows the answers; from then on no server can be started."""
    folder = tmp_path_factory.mktemp("git") / "live_git"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("*.jsonl"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FILES, "")
        found = invoke("run", "world:live_*", "--scenarios", folder / "git.yaml", "--agent", "reference",
                       "--threshold", "1", "--out", folder / "proof", "--quiet", "--no-bounds")  # fmt: skip
        assert found.exit_code == 0, found.output
        patch.setenv("PATH", "")
        yield folder / "git.yaml", folder / "proof"


def graded(played: tuple[Path, Path]) -> dict[str, Any]:
    found = invoke("grade", played[1], "--scenarios", played[0], "--threshold", "1", "--json")
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def test_the_reference_does_all_ten(played: tuple[Path, Path]):
    assert len(Suite([played[0]]).names("live_*")) == 10
    assert len(list(played[1].rglob("*git_*.jsonl*"))) == 10


def test_an_agent_that_refuses_gets_nothing(played: tuple[Path, Path]):
    suite = Suite([played[0]])
    assert {grade(refusing(suite.get(name)), suite.get(name)).score for name in suite.names("live_*")} == {0.0}


def test_the_logs_alone_give_the_same_scores(played: tuple[Path, Path]):
    assert len(graded(played)["sessions"]) == 10


def test_each_session_replays_from_its_own_log(played: tuple[Path, Path]):
    found = invoke("replay", played[1], "--scenarios", played[0])
    assert found.exit_code == 0, found.output
    assert "agreeing with their replay: 10 of 10" in found.output
