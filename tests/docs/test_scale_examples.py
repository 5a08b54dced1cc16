"""The files for schedulers in examples/scale do what they say: every part is played, once."""

import os
import subprocess
from pathlib import Path
from typing import Any

import yaml

from sandbox_mcp.engine.trajectory.finding import find_logs
from tests.each import each
from tests.warm import program

PLACE = Path(__file__).resolve().parents[2] / "examples" / "scale"
SMALL = {"SELECTORS": "wifi_off landlord_number", "TRIALS": "3", "AGENT": "reference"}


def shell(script: list[str], **env: str) -> None:
    path = os.pathsep.join([str(Path(program()).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["/bin/sh", *script],
        env={**os.environ, **SMALL, **env, "PATH": path},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr


def check(out: Path) -> None:
    """All six sessions are there, none twice, in a pack per part, and each part has summed up its own."""
    logs = find_logs([out / "logs"])
    assert len({path.name for path in logs}) == len(logs) == 6
    assert {path.parent.name for path in logs} == {f"{part}-of-2-1.jsonl.zst" for part in (1, 2)}
    assert sorted(path.name for path in out.glob("summary*")) == ["summary-1-of-2.json", "summary-2-of-2.json"]


def test_the_tasks_of_a_slurm_array_share_a_run(tmp_path: Path) -> None:
    for task in ("7", "8"):
        shell(
            [str(PLACE / "slurm.sh")],
            SLURM_ARRAY_TASK_ID=task,
            SLURM_ARRAY_TASK_MIN="7",
            SLURM_ARRAY_TASK_MAX="8",
            SLURM_ARRAY_TASK_COUNT="2",
            OUT=str(tmp_path),
        )
    check(tmp_path)


def test_tasks_of_a_slurm_array_are_played_alone_as_the_parts_that_they_are(tmp_path: Path) -> None:
    array = {"SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_MAX": "3", "SLURM_ARRAY_TASK_COUNT": "2"}
    for task in ("1", "3"):
        shell([str(PLACE / "slurm.sh")], **array, SLURM_ARRAY_TASK_ID=task, PARTS="3", OUT=str(tmp_path))
    assert sorted(path.name for path in tmp_path.glob("summary*")) == ["summary-1-of-3.json", "summary-3-of-3.json"]


def test_a_slurm_array_with_gaps_plays_no_part_that_it_was_not_meant_to() -> None:
    array = {"SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_MIN": "1"}
    asked = {**os.environ, **array, "SLURM_ARRAY_TASK_MAX": "3", "SLURM_ARRAY_TASK_COUNT": "2"}
    done = subprocess.run(["/bin/sh", str(PLACE / "slurm.sh")], env=asked, capture_output=True, text=True, check=False)
    assert (done.returncode, "say in PARTS" in done.stderr) == (2, True)


def test_the_pods_of_a_kubernetes_job_share_a_run(tmp_path: Path) -> None:
    _, job = yaml.safe_load_all((PLACE / "kubernetes.yaml").read_text())
    spec = job["spec"]
    [container] = spec["template"]["spec"]["containers"]
    env: dict[str, Any] = {item["name"]: item["value"] for item in container["env"]}
    assert (spec["completionMode"], str(spec["completions"])) == ("Indexed", env["PARTS"])
    assert container["command"] == ["/bin/sh", "-c"]
    user = spec["template"]["spec"]["securityContext"]["fsGroup"]
    assert f"\nUSER {user}\n" in (PLACE.parents[1] / "Dockerfile").read_text()
    for index in ("0", "1"):
        asked = {**env, **SMALL, "PARTS": "2", "OUT": str(tmp_path), "JOB_COMPLETION_INDEX": index}
        shell(["-c", *container["args"]], **asked)
    check(tmp_path)


def test_a_submitted_job_keeps_its_run_where_it_was_told_to() -> None:
    asked = {**os.environ, "RAY_ADDRESS": "127.0.0.1:1"}
    done = subprocess.run(["/bin/sh", str(PLACE / "ray.sh")], env=asked, capture_output=True, text=True, check=False)
    assert (done.returncode, "say in OUT" in done.stderr) == (2, True)


@each("name", ["slurm.sh", "ray.sh"])
def test_a_script_is_one_that_a_shell_reads(name: str) -> None:
    subprocess.run(["/bin/sh", "-n", str(PLACE / name)], check=True)
