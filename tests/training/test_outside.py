"""Unmodified clients of training frameworks, each in an environment of its own: ``make test-training``.

Skipped where SANDBOX_MCP_TRAINING does not name the folder of the environments.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from sandbox_mcp.play.server.app import base_url, listener_on
from sandbox_mcp.play.training import TrainingTask
from sandbox_mcp.play.training.rows import FORMS
from tests.suite import SUITE

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[2]
TOKEN = "for-training"
SOURCES = os.pathsep.join(str(ROOT / part) for part in (".", "scenarios", "grader", "clients"))


def python(name: str) -> Path:
    """The interpreter of a framework's environment; skips a test without one, so ask before starting a server."""
    folder = os.environ.get("SANDBOX_MCP_TRAINING")
    if not folder:
        pytest.skip("SANDBOX_MCP_TRAINING names no folder of environments; see 'make test-training'")
    found = Path(folder) / name / "bin" / "python"
    if not found.exists():
        pytest.skip(f"there is no environment for {name} on this machine")
    return found


def ran(name: str, *arguments: str, **more: str) -> dict[str, Any]:
    """What a script prints last, run in the environment of a framework."""
    own = {"PYTHONPATH": SOURCES} if name == "trl" else {}
    done = subprocess.run(
        [str(python(name)), *arguments], env={**os.environ, **own, **more}, cwd=ROOT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


def page_ran(name: str, page: str, base: str = "") -> str:
    """What the block of a page that imports a framework prints, run in the framework's environment."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8").replace("http://127.0.0.1:8930", base)
    package = {"trl": "skyrl_gym"}.get(name, name)
    [block] = [one for one in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if package in one]
    own = {"PYTHONPATH": SOURCES} if name == "trl" else {}
    environment = {**os.environ, **own, "SANDBOX_MCP_API_TOKEN": TOKEN}
    done = subprocess.run(
        [str(python(name)), "-c", block], env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    return done.stdout


@contextmanager
def serving(tmp_path: Path, *options: str) -> Iterator[str]:
    """A server as anybody starts it; gives its base URL."""
    listener = listener_on("127.0.0.1", 0)
    base = base_url(listener)
    listener.close()
    command = [sys.executable, "-m", "sandbox_mcp.app.cli", "serve", "--http", "--port", base.rpartition(":")[2]]
    kept = ["--log-dir", str(tmp_path / "logs"), "--rollouts", str(tmp_path / "rollouts")]
    environment = {**os.environ, "SANDBOX_MCP_API_TOKEN": TOKEN}
    with subprocess.Popen(
        [*command, *kept, *options], env=environment, cwd=ROOT, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            while not (process.stderr.readline() or "logs: ").startswith("logs: "):
                pass
            yield base
        finally:
            process.terminate()


def test_openenv(tmp_path: Path) -> None:
    python("openenv")
    with serving(tmp_path) as base:
        found = ran("openenv", str(HERE / "outside" / "openenv_client.py"), f"{base}/openenv/phone", TOKEN)
        shown = page_ran("openenv", "training-openenv.md", base)
    assert shown.splitlines()[-1] == "1.0 {'task': 1.0}"
    assert found == {"episodes": 50, "at_1": 50}


def test_openenv_validates_it(tmp_path: Path) -> None:
    program = python("openenv").with_name("openenv")
    with serving(tmp_path, "--as", "openenv") as base:
        done = subprocess.run(
            [str(program), "validate", "--url", base], capture_output=True, text=True,
            check=False,
        )  # fmt: skip
    assert "Verdict: PASS" in done.stdout, done.stdout + done.stderr


def test_nemo_gym(tmp_path: Path) -> None:
    python("nemo")
    row = json.dumps(FORMS["nemo-gym"](SUITE, TrainingTask("wifi_off"), 0, "all"))
    with serving(tmp_path, "--as", "nemo-gym") as base:
        found = ran("nemo", str(HERE / "outside" / "nemo_client.py"), base, row)
    assert found == {"episodes": 50, "at_1": 50, "mean": 1.0}


def test_openreward(tmp_path: Path) -> None:
    python("openreward")
    with serving(tmp_path, "--as", "openreward") as base:
        found = ran("openreward", str(HERE / "outside" / "openreward_client.py"), base, TOKEN)
        shown = page_ran("openreward", "training-others.md", base)
    assert shown.splitlines()[-1] == "1.0 True"
    assert found == {"episodes": 50, "at_1": 50}


def test_trl() -> None:
    found = ran("trl", str(HERE / "outside" / "trl_client.py"), "7")
    assert found["at_1"] == found["idle_at_0"] == found["episodes"] >= 50
    assert found["tools"] > 150


def test_a_tiny_model_learns_by_trls_trainer() -> None:
    """Three minutes of a quiet core; docs/training-trl.md has three seeds."""
    rewards = ran("trl", "-m", "bench.grpo", "0", OMP_NUM_THREADS="1")["rewards"]
    assert len(rewards) == 30
    assert fmean(rewards[-10:]) > fmean(rewards[:10])


def test_skyrl() -> None:
    assert page_ran("trl", "training-others.md").splitlines()[-1] == "1.0"
    found = ran("trl", str(HERE / "outside" / "skyrl_client.py"), "7")
    assert found["at_1"] == found["episodes"] >= 50


CONFIG = """
model = "scripted"
max_concurrent = 4
push = false
output_dir = "{out}"

[client]
base_url = "{endpoint}"
api_key_var = "OPENAI_API_KEY"

[env]
id = "sandbox_mcp_verifiers"

[env.taskset]
id = "sandbox_mcp_verifiers"
server = "{base}"
scenarios = ["wifi_off"]
seeds = 5

[env.agent]
runtime = {{ type = "subprocess" }}
harness = {{ id = "null" }}
"""


def test_verifiers(tmp_path: Path) -> None:
    """Its own evaluation, with a scripted endpoint in the place of a model."""
    bin_ = python("verifiers").parent
    with serving(tmp_path) as base:
        form, config, out = tmp_path / "form.toml", tmp_path / "eval.toml", tmp_path / "out"
        form.write_text(CONFIG.format(out=out, endpoint="ENDPOINT", base=base))
        filled = f'sed "s#ENDPOINT#$OPENAI_BASE_URL#" "{form}" > "{config}"'
        script = f'{filled} && "{bin_ / "vf-eval"}" @ "{config}"'
        home = {"HOME": str(tmp_path), "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}"}
        uv = {"UV_PYTHON": str(bin_ / "python"), "UV_NATIVE_TLS": "true"}
        environment = {**os.environ, **home, **uv, "SANDBOX_MCP_API_TOKEN": TOKEN}
        environment.pop("SSL_CERT_DIR", None)  # what our tests do without, uv needs
        endpoint = [sys.executable, "-m", "sandbox_mcp.app.cli", "endpoint", "--scenario", "wifi_off", "--"]
        done = subprocess.run(
            [*endpoint, "sh", "-c", script], env=environment, cwd=ROOT, capture_output=True, text=True, check=False
        )
    traces = [json.loads(line) for path in out.rglob("traces.jsonl") for line in path.read_text().splitlines()]
    assert traces, done.stdout[-2000:] + done.stderr[-2000:]
    assert [trace["errors"] for trace in traces] == [[]] * len(traces)
    assert done.stdout.count("reward=1.00"), done.stdout[-3000:]
