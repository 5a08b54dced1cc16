"""Executors: the same logs whatever plays them."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from sandbox_clients.base import AgentTurn
from sandbox_clients.function import Asked, FunctionAgent, Respond
from sandbox_clients.reference import ReferenceAgent
from sandbox_scenarios import Suite

from sandbox_mcp.app.run.cost import Budget
from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.app.run.executors import Processes
from sandbox_mcp.app.run.folder import RunFolder
from sandbox_mcp.app.run.sessions import Crew
from sandbox_mcp.app.run.unit import Shard
from sandbox_mcp.app.run.users import users_named
from sandbox_mcp.engine.trajectory.finding import find_logs
from sandbox_mcp.engine.trajectory.log import log_bytes
from sandbox_mcp.engine.trajectory.packs import PACKED
from sandbox_mcp.play.models.asking import EndpointSettings
from tests.each import each
from tests.run.runs import FEW, batch, logs, played, timeless


@dataclass(frozen=True)
class Recipe:
    """A crew of the reference agent, or of another, which a worker process can make."""

    out: Path
    respond: Respond | None = None

    def __call__(self) -> Crew:
        users = users_named("scripted", EndpointSettings())
        agent = FunctionAgent(self.respond, "dear") if self.respond else ReferenceAgent()
        return Crew(Suite(), agent, users, RunFolder(self.out))


def test_processes_leave_the_logs_that_tasks_leave(tmp_path: Path) -> None:
    summary, _ = played(tmp_path / "tasks")
    work = batch(tmp_path / "processes", jobs=2)
    work.executor = Processes(Recipe(tmp_path / "processes"))
    assert anyio.run(work.run).summary()["scenarios"] == summary["scenarios"]
    assert logs(tmp_path / "processes") == logs(tmp_path / "tasks")
    assert work.tally.played == len(FEW)


async def dear(_: Asked) -> AgentTurn:
    """Says something that took a hundred tokens."""
    return AgentTurn("Hm.", {"usage": {"prompt_tokens": 90, "completion_tokens": 10, "requests": 1}})


def test_no_more_than_one_session_of_a_process_begins_before_a_budget_knows_what_one_costs(tmp_path: Path) -> None:
    work = batch(tmp_path, agent=FunctionAgent(dear, "dear"), jobs=2, trials=20)
    work.tally.budget = Budget(tokens=1)
    work.executor = Processes(Recipe(tmp_path, dear))
    report = anyio.run(work.run)
    assert (report.stopped, len(report.sessions)) == ("budget", 2)


def test_packed_logs_are_those_that_are_not_whatever_plays_them(tmp_path: Path) -> None:
    summary, _ = played(tmp_path / "plain")
    for name, jobs in (("tasks", 1), ("processes", 2)):
        work = batch(tmp_path / name, packed=True, jobs=jobs)
        work.executor = Processes(Recipe(tmp_path / name)) if jobs > 1 else None
        assert anyio.run(work.run).summary()["scenarios"] == summary["scenarios"]
        assert all(path.name.endswith((PACKED, ".zst")) for path in (tmp_path / name / "logs").iterdir())
        packed = {path.name: timeless(log_bytes(path).decode()) for path in find_logs([tmp_path / name / "logs"])}
        assert packed == logs(tmp_path / "plain")
        assert batch(tmp_path / name, packed=True).crew.folder.kept()
        again, seen = played(tmp_path / name, packed=True)
        assert again["scenarios"] == summary["scenarios"]
        assert not any(progress.played for progress in seen)


def test_a_session_that_broke_stays_a_file_of_its_own_and_is_played_again(tmp_path: Path) -> None:
    async def broken(_: object) -> str:
        raise OSError("no model")

    work = batch(tmp_path, FunctionAgent(broken, "reference"), packed=True)
    work.tally.keep_going = True
    anyio.run(work.run)
    assert not list((tmp_path / "logs").glob(f"*{PACKED}"))
    assert len(logs(tmp_path)) == len(FEW)


def test_what_a_worker_raises_ends_the_run(tmp_path: Path) -> None:
    work = batch(tmp_path)
    work.executor = Processes(_broken)
    with pytest.raises(RunError, match="no crew"):
        anyio.run(work.run)


@pytest.mark.skipif(sys.platform == "win32", reason="kills as the system does where memory runs out")
def test_a_worker_that_is_killed_is_told_in_a_line_and_the_rest_is_played_later(tmp_path: Path) -> None:
    work = batch(tmp_path)
    work.executor = Processes(Killed(tmp_path))
    with pytest.raises(RunError, match="a process that was playing is gone"):
        anyio.run(work.run)
    assert played(tmp_path)[0]["counts"]["played"] == len(FEW)


@dataclass(frozen=True)
class Killed(Recipe):
    """A crew whose agent takes its process with it."""

    def __call__(self) -> Crew:
        async def deadly(_: object) -> str:
            os.kill(os.getpid(), signal.SIGKILL)
            return ""

        return replace(super().__call__(), agent=FunctionAgent(deadly, "reference"))


def _broken() -> Crew:
    raise RunError("no crew")


def test_one_command_at_a_time_plays_a_part(tmp_path: Path) -> None:
    first, second = batch(tmp_path, shard=Shard(1, 2)), batch(tmp_path, shard=Shard(1, 2))
    folder = first.crew.folder
    folder.prepare()
    shared, refused = first.plan.shared, pytest.raises(RunError, match="another command is playing part 1/2")
    with folder.claimed(Shard(1, 2), shared), folder.claimed(Shard(2, 2), shared), refused:
        anyio.run(first.run)
    anyio.run(second.run)


@each("other", [{"shard": Shard(1, 1)}, {"shard": Shard(2, 3)}, {"shard": Shard(2, 2), "trials": 3}])
def test_commands_that_share_a_run_out_in_different_ways_never_play_at_once(
    tmp_path: Path, other: dict[str, Any]
) -> None:
    """A session may be in a part of each, and both would play it."""
    first, second = batch(tmp_path, shard=Shard(1, 2)), batch(tmp_path, **other)
    first.crew.folder.prepare()
    refused = pytest.raises(RunError, match="give all the same sessions and the same N of --shard I/N")
    with first.crew.folder.claimed(Shard(1, 2), first.plan.shared), refused:
        anyio.run(second.run)
    assert anyio.run(second.run).sessions
    assert len(list((tmp_path / "partial").glob("shard-*.lock"))) == 1


def test_the_command_plays_in_processes_however_it_was_started(tmp_path: Path) -> None:
    command = [
        "-m",
        "sandbox_mcp.app.cli",
        "run",
        *FEW,
        "--agent",
        "reference",
        "--executor",
        "processes",
        "--jobs",
        "1",
    ]
    done = subprocess.run(
        [sys.executable, *command, "--no-bounds", "--out", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(logs(tmp_path)) == len(FEW)


AGENT = """
import os

async def agent(asked):
    return "Wifi is off now." if "PYTHONSAFEPATH" not in os.environ else "This process imports as no other does."
"""


def test_processes_play_where_folders_are_called_like_what_we_import(tmp_path: Path) -> None:
    for name in ("anyio", "click", "mcp", "yaml", "json"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise AssertionError('this belongs to the user')\n")
    (tmp_path / "mine.py").write_text(AGENT)
    command = "run wifi_off --agent mine:agent --executor processes --jobs 1 --no-bounds --out out"
    done = subprocess.run(
        [Path(sys.executable).with_name("sandbox-mcp"), *command.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    [log] = (tmp_path / "out" / "logs").glob("*.jsonl")
    assert "Wifi is off now." in log.read_text()
