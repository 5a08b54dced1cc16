"""The grader as a library: two names and a log are enough, and importing it costs next to nothing."""

import json
import subprocess
import sys
from pathlib import Path

import anyio
from sandbox_grader import grade, read_trajectory

from sandbox_mcp.engine.trajectory import LogWriter
from sandbox_mcp.play.session import Session, SessionSpec
from sandbox_mcp.play.users import ScriptedUser
from tests.suite import SUITE


def test_a_log_and_a_scenario_give_scores_of_every_family(tmp_path: Path) -> None:
    scenario = SUITE.get("wifi_off")
    with LogWriter(tmp_path / "log.jsonl") as log:
        session = Session(SessionSpec(scenario), ScriptedUser(scenario.user.script), log)
        session.begin()
        session.call("set_wifi_status", {"on": False})
        anyio.run(session.say, "Wifi is now off.")
    scores = grade(read_trajectory(tmp_path / "log.jsonl"), scenario)
    assert scores.score == 1.0
    families = {"toolsandbox", "tooltalk", "toolscan", "mtu_bench", "conduct", "faults", "injections", "user_conduct"}
    assert set(scores.to_json()["metrics"]) == families
    json.dumps(scores.to_json())


def test_importing_loads_neither_the_heavy_nor_the_forbidden() -> None:
    heavy = "('mcp', 'openai', 'scipy', 'networkx', 'numpy', 'nltk', 'pydantic', 'yaml', 'starlette', 'anyio')"
    ours = "sandbox_grader, sandbox_mcp, sandbox_scenarios"
    code = f"import sys, {ours}; print([m for m in sys.modules if m.split('.')[0] in {heavy}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_grading_imports_no_server_and_no_model() -> None:
    banned = "('mcp', 'openai', 'starlette', 'uvicorn', 'clients')"
    code = (
        "import sys; from sandbox_grader.reporting.report import Report; from sandbox_grader import grade;"
        f"print([m for m in sys.modules if m.split('.')[0] in {banned}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
