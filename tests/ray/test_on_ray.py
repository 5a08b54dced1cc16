"""Runs on a real Ray of this machine: the same logs as without, whatever is killed meanwhile.

Every command is a process of its own with Ray of its own, as users have it. What is killed is found by a mark in its
environment.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox_mcp.engine.trajectory import read_trajectory
from sandbox_mcp.engine.trajectory.finding import find_logs, logs_at
from sandbox_mcp.engine.trajectory.log import log_bytes
from sandbox_mcp.engine.trajectory.packs import PACKED
from tests.run.runs import timeless

pytest.importorskip("ray", reason="Ray is not installed; make test-ray tries it in an environment of its own")
pytestmark = pytest.mark.timeout(240)
ROOT = Path(__file__).resolve().parents[2]
TRIALS = 60
Run = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Starts ``run`` in this folder; whatever it leaves behind is ended afterwards."""
    env = {**os.environ, "SANDBOX_TEST_MARK": str(tmp_path), "PYTHONPATH": str(ROOT)}
    env.pop("RAY_ADDRESS", None)
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str, out: str = "run", trials: int = TRIALS, **more: str) -> subprocess.Popen[str]:
        command = [
            sys.executable, "-m", "sandbox_mcp.app.cli", "run", "wifi_off", "--trials", str(trials), "--out", out,
            "--transport", "direct", "--no-bounds", "--json", *arguments,
        ]  # fmt: skip
        process = subprocess.Popen(
            command, cwd=tmp_path, env={**env, **more}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=at_a_keyboard,
        )  # fmt: skip
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
    for pid in marked(tmp_path):
        os.kill(pid, signal.SIGKILL)


def at_a_keyboard() -> None:
    """Heed interrupts, which whatever a shell starts in the background ignores."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def ray(agent: str, *arguments: str) -> tuple[str, ...]:
    return ("--executor", "ray", "--ray-actors", "2", "--jobs", "2", "--pack", "--agent", agent, *arguments)


def marked(folder: Path, title: bytes = b"") -> list[int]:
    """The processes that were started in a test's folder, by what they are called."""
    found: list[int] = []
    mark = f"SANDBOX_TEST_MARK={folder}\0".encode()
    for place in Path("/proc").iterdir():
        try:
            named = place.name.isdigit() and title in (place / "cmdline").read_bytes()
            if named and mark in (place / "environ").read_bytes():
                found.append(int(place.name))
        except OSError:
            continue
    return found


def ended(process: "subprocess.Popen[str]", code: int = 0) -> Any:
    out, told = process.communicate(timeout=200)
    assert process.returncode == code, told
    return json.loads(out) if code == 0 else told


def until(true: Callable[[], Any], process: "subprocess.Popen[str]") -> Any:
    for _ in range(1200):
        if found := true():
            return found
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    raise AssertionError("it never came to that")


def packed(folder: Path) -> int:
    return len(logs_at(folder / "run" / "logs"))


def packs_in(folder: Path) -> dict[Path, bytes]:
    """The packs of the run as they are; scores may be kept beside them."""
    return {path: path.read_bytes() for path in (folder / "run" / "logs").glob(f"*{PACKED}")}


def check_whole(folder: Path, summary: Any, trials: int = TRIALS) -> None:
    """Every session is there, whole, once."""
    found = [read_trajectory(path) for path in find_logs([folder / "run"])]
    assert sorted(item.started.trial for item in found) == list(range(trials))
    assert all(item.ended and item.ended.reason == "user_ended" for item in found)
    assert summary["counts"]["played"] == summary["counts"]["planned"] == summary["counts"]["scored"] == trials


def test_ray_leaves_the_logs_that_tasks_leave_and_the_same_command_plays_no_more(run: Run, tmp_path: Path) -> None:
    plain = ended(run("--agent", "reference", out="plain", trials=5))
    summary = ended(run(*ray("reference"), trials=5))
    assert summary["scenarios"] == plain["scenarios"]
    ours, theirs = (
        {path.name: timeless(log_bytes(path).decode()) for path in find_logs([tmp_path / name])}
        for name in ("run", "plain")
    )
    assert ours == theirs
    before = packs_in(tmp_path)
    again = run(*ray("reference"), trials=5)
    assert ended(again)["counts"] == summary["counts"]
    assert packs_in(tmp_path) == before


def test_what_ray_plays_on_this_machine_goes_to_object_storage(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("fsspec", reason="the extra 'storage' is not installed")
    url, copies = f"local://{tmp_path}/bucket", str(tmp_path / "copies")
    ended(run(*ray("reference"), out=url, trials=5, SANDBOX_MCP_STORAGE=copies))
    assert len(find_logs([tmp_path / "bucket"])) == 5
    before = {path: path.read_bytes() for path in tmp_path.glob(f"bucket/logs/*{PACKED}")}
    again = ended(run(*ray("reference"), out=url, trials=5, SANDBOX_MCP_STORAGE=str(tmp_path / "elsewhere")))
    assert again["counts"]["played"] == 5
    assert {path: path.read_bytes() for path in tmp_path.glob(f"bucket/logs/*{PACKED}")} == before


def test_an_actor_that_is_killed_loses_nothing(run: Run, tmp_path: Path) -> None:
    process = run(*ray("tests.ray.agents:slow"))
    until(lambda: packed(tmp_path) > 5, process)
    os.kill(until(lambda: marked(tmp_path, b"ray::RayActor"), process)[0], signal.SIGKILL)
    check_whole(tmp_path, ended(process))


def test_a_driver_that_is_killed_loses_nothing(run: Run, tmp_path: Path) -> None:
    process = run(*ray("tests.ray.agents:slow"))
    until(lambda: packed(tmp_path) > 5, process)
    process.kill()
    check_whole(tmp_path, ended(run(*ray("tests.ray.agents:slow"))))


def test_a_node_that_is_killed_loses_nothing(run: Run, tmp_path: Path) -> None:
    from ray.cluster_utils import Cluster

    mark = pytest.MonkeyPatch()
    mark.setenv("SANDBOX_TEST_MARK", str(tmp_path))
    mark.setenv("PYTHONPATH", str(ROOT))
    soon = {
        "health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_timeout_ms": 500,
        "health_check_failure_threshold": 4,
    }  # fmt: skip
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "_system_config": soon})
    try:
        second = cluster.add_node(num_cpus=1)
        process = run(*ray("tests.ray.agents:slow", "--ray-address", cluster.address), trials=2 * TRIALS)
        until(lambda: len(list((tmp_path / "run" / "logs").glob("*.zst"))) == 2 and packed(tmp_path) > 5, process)
        cluster.remove_node(second, allow_graceful=False)
        check_whole(tmp_path, ended(process), 2 * TRIALS)
    finally:
        mark.undo()
        cluster.shutdown()


def test_ctrl_c_stops_and_the_same_command_goes_on(run: Run, tmp_path: Path) -> None:
    process = run(*ray("tests.ray.agents:slow"))
    until(lambda: packed(tmp_path) > 5, process)
    process.send_signal(signal.SIGINT)
    assert "interrupted" in ended(process, 130)
    assert packed(tmp_path) < TRIALS
    check_whole(tmp_path, ended(run("--agent", "tests.ray.agents:slow", "--jobs", "8")))


def test_as_many_sessions_are_under_way_in_an_actor_as_were_asked_for(run: Run, tmp_path: Path) -> None:
    """More than the thousand calls that Ray lets an actor have by default."""
    many = 1050
    arguments = ("--executor", "ray", "--ray-actors", "1", "--jobs", str(many), "--agent", "tests.ray.agents:together")
    check_whole(tmp_path, ended(run(*arguments, trials=many, SANDBOX_TEST_TOGETHER=str(many))), many)


def test_an_agent_that_kills_every_process_is_told(run: Run) -> None:
    told = ended(run(*ray("tests.ray.agents:deadly")), 2)
    assert "workers on Ray die again and again without playing a session" in told
    assert len(told.splitlines()) == 1


def test_a_cluster_that_is_not_there_is_told(run: Run) -> None:
    told = ended(run(*ray("reference", "--ray-address", "127.0.0.1:1")), 2)
    assert "Ray cannot use cluster '127.0.0.1:1'" in told
