"""Killed at any write, run and serve lose nothing: the same command goes on, every log is whole and graded right."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox_mcp import grade
from sandbox_mcp.engine.trajectory import ToolCall, parse_trajectory, read_trajectory
from sandbox_mcp.engine.trajectory.finding import find_logs
from sandbox_mcp.engine.trajectory.log import log_bytes
from tests.server.serving_kit import ENVELOPE
from tests.warm import FIRST, program

POINTS = int(os.environ.get("SANDBOX_MCP_CRASHES", "3"))
"""So many crashes of each command, spread over all of its writes; 0 tries every one."""
KILLED = -9
pytestmark = pytest.mark.timeout(0 if not POINTS else 600)
Trial = Callable[..., int]


@pytest.fixture(scope="module")
def crashing(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    """Runs commands in processes that have imported everything, and tells how each ended."""
    beside = tmp_path_factory.mktemp("beside")

    def trial(folder: Path, at: int, argv: list[str], stdin: Path | None = None, stdout: Path | None = None) -> int:
        said = stdout or beside / "said"
        asked = json.dumps({"folder": str(folder), "at": at, "said": str(said)})
        own = {FIRST: "tests.e2e.crashing:begin", "CRASH": asked, "SANDBOX_MCP_API_TOKEN": "control"}
        with (
            (stdin or Path(os.devnull)).open() as given,
            said.open("w") as output,
            Path(f"{said}.errors").open("w") as errors,
        ):
            return subprocess.run(
                [program(), *argv], stdin=given, stdout=output, stderr=errors, env={**os.environ, **own}, check=False
            ).returncode

    trial.__dict__["beside"] = beside
    return trial


def points(count: int) -> list[int]:
    """The writes at which to die: all, or some that are spread over them, the first and the last among them."""
    if not POINTS or count <= POINTS:
        return list(range(1, count + 1))
    return sorted({1 + round(number * (count - 1) / (POINTS - 1)) for number in range(POINTS)})


def counted(crashing: Trial) -> int:
    return int((crashing.__dict__["beside"] / "said.count").read_text())


def logs_of(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The logs of a run by name, from files and packs, without what a clock says."""
    logs = [(log.name, log_bytes(log).splitlines()) for log in find_logs([folder / "logs"])]
    assert len({name for name, _ in logs}) == len(logs), "a session counts twice"
    return {name: [{**json.loads(line), "wall": {}} for line in lines] for name, lines in logs}


@pytest.mark.parametrize("how", ["--no-pack", "--pack"])
def test_run_goes_on_wherever_it_was_killed(crashing: Trial, tmp_path: Path, how: str) -> None:
    def command(folder: Path) -> list[str]:
        return [
            "run",
            "wifi_off",
            "landlord_number",
            "--jobs",
            "1",
            "--agent",
            "reference",
            "--quiet",
            how,
            "--threshold",
            "1",
            "--out",
            str(folder),
        ]

    whole = tmp_path / "whole"
    assert crashing(whole, 0, command(whole)) == 0
    for at in points(counted(crashing)):
        folder = tmp_path / f"at{at}"
        assert crashing(folder, at, command(folder)) == KILLED, at
        assert crashing(folder, 0, command(folder)) == 0, (
            at,
            (crashing.__dict__["beside"] / "said.errors").read_text(),
        )
        assert logs_of(folder) == logs_of(whole), at


def calls(names: list[tuple[str, bool]]) -> str:
    return "".join(
        json.dumps(
            {"jsonrpc": "2.0", "id": id_, "method": "tools/call",
             "params": {"name": "set_wifi_status", "arguments": {"on": on}, "_meta": ENVELOPE}}
        ) + "\n"
        for id_, on in names
    )  # fmt: skip


def test_what_serve_answered_is_in_the_log_wherever_it_was_killed(crashing: Trial, tmp_path: Path) -> None:
    asked, answers = tmp_path / "asked", tmp_path / "said"
    asked.write_text(calls([(f"c{number}", bool(number % 2)) for number in range(6)]))

    def command(folder: Path) -> list[str]:
        return ["serve", "--scenario", "wifi_off", "--session", "mine", "--state-dir", str(folder)]

    def serve(folder: Path, at: int) -> int:
        return crashing(folder, at, command(folder), asked, answers)

    whole = tmp_path / "whole"
    assert serve(whole, 0) == 0, (tmp_path / "said.errors").read_text()
    count = int((tmp_path / "said.count").read_text())
    for at in points(count):
        folder = tmp_path / f"at{at}"
        ended = serve(folder, at)
        if ended == 0 and int((tmp_path / "said.count").read_text()) < at:
            continue  # it wrote in fewer pieces than before, and was done
        assert ended == KILLED, at
        answered = sum('"result"' in line for line in answers.read_text().splitlines())
        log = folder / "mine.jsonl"
        recorded = made(log.read_bytes()) if log.exists() and log.stat().st_size else 0
        assert recorded >= answered, at
        assert serve(folder, 0) == 0, (at, (tmp_path / "said.errors").read_text())
        again = read_trajectory(log)
        assert [event.seq for event in again.events] == sorted({event.seq for event in again.events}), at
        assert made(log.read_bytes()) >= recorded, at


def test_what_serve_answered_over_http_is_in_the_log_wherever_it_was_killed(crashing: Trial, tmp_path: Path) -> None:
    """The session is opened, played and ended, and the next server goes on with it at the same path."""

    def serve(folder: Path, at: int, said: Path) -> int:
        return crashing(folder, at, ["serve", "--http", "--port", "0", "--state-dir", str(folder)], None, said)

    whole = tmp_path / "whole"
    assert serve(whole, 0, tmp_path / "said") == 0, (tmp_path / "said.errors").read_text()
    [log] = whole.glob("*.jsonl")
    score = grade(read_trajectory(log)).score
    assert score == 1.0
    for at in points(int((tmp_path / "said.count").read_text())):
        folder, said = tmp_path / f"at{at}", tmp_path / f"said{at}"
        assert serve(folder, at, said) == KILLED, at
        answered = sum('"result"' in line for line in said.read_text().splitlines())
        before = {path: made(path.read_bytes()) for path in folder.glob("*.jsonl")}
        assert sum(before.values()) >= answered, at
        assert serve(folder, 0, said) == 0, (at, Path(f"{said}.errors").read_text())
        logs = list(map(read_trajectory, folder.glob("*.jsonl")))
        finished = [item for item in logs if item.ended]
        assert finished, at
        assert [grade(item).score for item in finished] == [score] * len(finished), at
        for item in logs:
            numbers = [event.seq for event in item.events]
            assert numbers == sorted(set(numbers)), at
        assert all(made(path.read_bytes()) >= count for path, count in before.items()), at


def made(data: bytes) -> int:
    """The calls that a log holds, the last line of which may be cut off."""
    try:
        return sum(isinstance(event, ToolCall) for event in parse_trajectory(data).events)
    except Exception:  # noqa: BLE001 - not even its first line is whole
        return 0
