"""The examples run: the pytest file, the notebook's cells where a loop runs, and the commands of the workflow."""

import ast
import asyncio
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.warm import program

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_the_pytest_example_passes(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "test_wifi.py", tmp_path)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_wifi.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_the_readmes_agent_is_a_file_and_its_evaluation_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    readme = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    agent, evaluation = re.findall(r"^```python\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    (tmp_path / "mine.py").write_text(agent)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    exec(evaluation, {})
    monkeypatch.delitem(sys.modules, "mine")
    assert "was never called" in capsys.readouterr().out


def test_the_notebooks_cells_run_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pandas")
    notebook = json.loads((EXAMPLES / "notebook.ipynb").read_text(encoding="utf-8"))
    sources = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]

    async def kernel() -> None:
        names: dict[str, Any] = {}
        for source in sources:
            found = eval(compile(source, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
            if inspect.iscoroutine(found):
                await found

    asyncio.run(kernel())
    assert capsys.readouterr().out.endswith("1.0\n")


def test_the_workflow_keeps_a_baseline_and_fails_a_pull_request_that_is_worse(tmp_path: Path) -> None:
    """Steps run as the shell of a runner has them; what GitHub's actions carry from job to job is there already."""
    workflow = yaml.safe_load((EXAMPLES / "workflow.yml").read_text(encoding="utf-8"))
    jobs = workflow["jobs"]
    shards = jobs["play"]["strategy"]["matrix"]["shard"]
    assert len(shards) == int(workflow["env"]["SHARDS"])
    path = os.pathsep.join([str(Path(program()).parent), str(Path(sys.executable).parent), os.environ["PATH"]])

    def happens(event: str, agent: str) -> list[tuple[str, int]]:
        told = {"AGENT": agent, "TRIALS": "1", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
        env = {**os.environ, **workflow["env"], **told, "PATH": path}
        shutil.rmtree(tmp_path / "runs" / "new", ignore_errors=True)
        ended: list[tuple[str, int]] = []
        for job, shard in [*(("play", shard) for shard in shards), ("gate", 0)]:
            for step in jobs[job]["steps"]:
                if "run" not in step or step["name"] in ("Install", "Comment"):
                    continue
                if "event_name" in (said := str(step.get("if", ""))) and f"'{event}'" not in said:
                    continue
                script = step["run"].replace("${{ matrix.shard }}", str(shard))
                assert "${{" not in script
                done = subprocess.run(["/bin/bash", "-e", "-c", script], cwd=tmp_path, env=env, check=False)
                ended.append((step["name"], done.returncode))
        return ended

    assert {code for _, code in happens("push", "reference")} == {0}
    assert ("Compare", 1) in happens("pull_request", "refuse")
    assert "**worse by more than 0.02: the difference is -" in (tmp_path / "summary.md").read_text()
    assert (tmp_path / "scores.xml").exists()
