"""The examples run: the pytest file, the notebook's cells where a loop runs, and the commands of the workflow."""

import ast
import asyncio
import inspect
import json
import os
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


def test_the_workflows_commands_run(tmp_path: Path) -> None:
    workflow = yaml.safe_load((EXAMPLES / "workflow.yml").read_text(encoding="utf-8"))
    steps = [step["run"] for step in workflow["jobs"]["sandbox"]["steps"] if "run" in step]
    assert steps[0] == "pip install ./sandbox-mcp", "what is installed here is this package"
    path = os.pathsep.join([str(Path(program()).parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    script = "set -eu\n" + "\n".join(steps[1:])
    options: dict[str, Any] = {"capture_output": True, "text": True, "check": False}
    done = subprocess.run(["/bin/sh", "-c", script], cwd=tmp_path, env={**os.environ, "PATH": path}, **options)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "scores.xml").exists()
