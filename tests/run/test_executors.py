"""Executors: the same logs whatever plays them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
from sandbox_clients.reference import ReferenceAgent
from sandbox_scenarios import Suite

from sandbox_mcp.models.asking import EndpointSettings
from sandbox_mcp.run.errors import RunError
from sandbox_mcp.run.executors import Processes
from sandbox_mcp.run.folder import RunFolder
from sandbox_mcp.run.sessions import Crew
from sandbox_mcp.run.unit import Shard
from sandbox_mcp.run.users import users_named
from tests.run.runs import FEW, batch, logs, played


@dataclass(frozen=True)
class Recipe:
    """A crew of the reference agent, which a worker process can make."""

    out: Path

    def __call__(self) -> Crew:
        users = users_named("scripted", EndpointSettings())
        return Crew(Suite(), ReferenceAgent(), users, RunFolder(self.out))


def test_processes_leave_the_logs_that_tasks_leave(tmp_path: Path) -> None:
    summary, _ = played(tmp_path / "tasks")
    work = batch(tmp_path / "processes", jobs=2)
    work.executor = Processes(Recipe(tmp_path / "processes"))
    assert anyio.run(work.run).summary()["scenarios"] == summary["scenarios"]
    assert logs(tmp_path / "processes") == logs(tmp_path / "tasks")
    assert work.tally.played == len(FEW)


def test_what_a_worker_raises_ends_the_run(tmp_path: Path) -> None:
    work = batch(tmp_path)
    work.executor = Processes(_broken)
    with pytest.raises(RunError, match="no crew"):
        anyio.run(work.run)


def _broken() -> Crew:
    raise RunError("no crew")


def test_one_command_at_a_time_plays_a_part(tmp_path: Path) -> None:
    inner: list[Callable[[], object]] = []
    folder = RunFolder(tmp_path)
    folder.prepare()
    with folder.claimed(Shard(1, 2)), folder.claimed(Shard(2, 2)):
        inner.append(batch(tmp_path, shard=Shard(1, 2)).run)
        with pytest.raises(RunError, match="another command is playing part 1/2"):
            anyio.run(inner[0])
    anyio.run(batch(tmp_path, shard=Shard(1, 2)).run)
