"""Inspect: our scenarios as its task, its agents under test, its log, and our grades of it."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sandbox_clients.environments import python_of
from sandbox_grader import read_trajectory

from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.reply import Failing, PlannedFault
from sandbox_mcp.app.endpoint.server import running
from sandbox_mcp.app.endpoint.solver import Solver
from tests.agents.kit import FIVE
from tests.clients.sessions import SUITE
from tests.e2e.processes import run

INSPECT = python_of("inspect")
REACT = """
from inspect_ai.agent import react


def make(instructions, tools):
    return react(prompt=instructions, tools=tools, submit=False)
"""
pytestmark = pytest.mark.skipif(
    INSPECT is None, reason="there is no environment for inspect; 'make test-agents' makes it"
)


def evaluated(folder: Path, brain: Any, *options: str, select: str = ",".join(FIVE)) -> tuple[Path, Mapping[str, Any]]:
    """What ``inspect eval`` writes down of these scenarios."""
    assert INSPECT is not None
    task = ["eval", "sandbox_mcp/scenarios", "-T", f"select={select}", *options, "--model", "openai-api/fake/scripted"]
    limits = ["--display", "none", "--log-format", "json", "--log-dir", str(folder / "inspect"), "--max-retries", "0"]
    with running(Endpoint(brain)) as url:
        environment = {**os.environ, "FAKE_BASE_URL": url, "FAKE_API_KEY": "none", "INSPECT_TELEMETRY": ""}
        command = [str(INSPECT.with_name("inspect")), *task, *limits]
        subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=800, check=False)
    (log,) = (folder / "inspect").glob("*.json")
    return log, json.loads(log.read_text(encoding="utf-8"))


def scores(log: Mapping[str, Any]) -> dict[str, float]:
    return {sample["metadata"]["scenario"]: sample["scores"]["milestones"]["value"] for sample in log["samples"]}


def test_inspects_own_loop_plays_the_five_scenarios_and_our_grader_agrees_with_its_log(tmp_path: Path) -> None:
    path, log = evaluated(tmp_path, Solver(SUITE.all()), "-T", f"out={tmp_path / 'ours'}")
    assert scores(log) == dict.fromkeys(FIVE, 1.0)
    assert "milestones 1.000" in log["samples"][0]["scores"]["milestones"]["explanation"]

    assert run("import", "inspect", str(path), "-o", str(tmp_path / "imported")).code == 0
    graded = json.loads(run("grade", str(tmp_path / "imported"), "--json").out)
    assert [session["metrics"]["toolsandbox"]["score"] for session in graded["sessions"]] == [1.0] * len(FIVE)
    ours = {read_trajectory(log).started.scenario for log in (tmp_path / "ours").glob("*.jsonl")}
    assert ours == set(FIVE)


def test_an_agent_of_ones_own_gets_instructions_and_tools(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(REACT, encoding="utf-8")
    _, log = evaluated(tmp_path, Solver(SUITE.all()), "-T", "agent=mine:make", select="hotel_in_yen")
    assert scores(log) == {"hotel_in_yen": 1.0}


def test_a_model_that_fails_is_an_error_of_the_sample_and_no_score(tmp_path: Path) -> None:
    _, log = evaluated(
        tmp_path, Failing(Solver(SUITE.all()), PlannedFault("status", 500, times=None)), select="wifi_off"
    )
    (sample,) = log["samples"]
    assert "agent_failed" in sample["error"]["message"]
    assert not sample.get("scores")
