"""Executors: on what the sessions of a run are played.

Policy: ``tasks`` plays them in this process, which is what sessions that wait for a model want. ``processes`` plays
each in one of several worker processes, which is what sessions that compute want. ``ray``, in
:mod:`sandbox_mcp.run.on_ray`, plays them on the machines of a cluster. All leave the same logs. Other machines can do
without, because shards may share a folder.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, Protocol, get_args

import anyio
import anyio.to_process
from sandbox_clients.mcp_tools import leaves
from sandbox_grader.scores import Scores

from sandbox_mcp.run.folder import RunFolder
from sandbox_mcp.run.sessions import Allowed, Crew, RunPlan, Told
from sandbox_mcp.run.unit import Shard, Unit
from sandbox_mcp.trajectory.packs import PackWriter

ExecutorName = Literal["tasks", "processes", "ray"]
EXECUTORS: tuple[ExecutorName, ...] = get_args(ExecutorName)
CHUNK = 8
"""Units that a worker process gets at a time, at most: enough to pay for making its crew."""


class Executor(Protocol):
    """Plays units of a plan."""

    async def play(self, units: Sequence[Unit], plan: RunPlan, allowed: Allowed, told: Told) -> None:
        """Play them; asks before, and tells after, every session."""
        ...


@dataclass(frozen=True, slots=True)
class Processes:
    """Plays units in ``plan.jobs`` processes, one session at a time in each.

    ``recipe`` makes the crew in a worker, so it has to be something that pickle can send.
    """

    recipe: Callable[[], Crew]

    async def play(self, units: Sequence[Unit], plan: RunPlan, allowed: Allowed, told: Told) -> None:
        """Play these units, by chunks."""
        waiting = iter(units)
        size = max(1, min(CHUNK, len(units) // (4 * plan.jobs)))
        try:
            async with anyio.create_task_group() as group:
                for _ in range(min(plan.jobs, len(units))):
                    group.start_soon(self._work, waiting, size, plan, allowed, told)
        except ExceptionGroup as errors:
            raise leaves(errors)[0] from None

    async def _work(self, waiting: Iterator[Unit], size: int, plan: RunPlan, allowed: Allowed, told: Told) -> None:
        alone = replace(plan, jobs=1)
        limiter = anyio.CapacityLimiter(1)
        while chunk := _next(waiting, size, allowed):
            scores = await anyio.to_process.run_sync(
                _played, self.recipe, chunk, alone, cancellable=True, limiter=limiter
            )
            for unit, found in zip(chunk, scores, strict=True):
                told(unit, found)


def _next(waiting: Iterator[Unit], size: int, allowed: Allowed) -> tuple[Unit, ...]:
    chunk: list[Unit] = []
    while len(chunk) < size and (unit := next(waiting, None)) is not None:
        if not allowed():
            break
        chunk.append(unit)
    return tuple(chunk)


def _played(recipe: Callable[[], Crew], units: tuple[Unit, ...], plan: RunPlan) -> list[Scores]:
    """In a worker process: play the units, one after the other."""
    scores: dict[Unit, Scores] = {}
    crew = recipe()
    pack = _pack_of_this_process(crew.folder, plan.shard) if plan.packed else None
    anyio.run(crew.play, units, plan, lambda: True, scores.__setitem__, pack)
    if pack:
        pack.rest()
    return [scores[unit] for unit in units]


@cache
def _pack_of_this_process(folder: RunFolder, shard: Shard) -> PackWriter:
    return folder.pack(shard)
