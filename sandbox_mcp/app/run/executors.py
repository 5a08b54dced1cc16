"""Executors: where the sessions of a run are played.

Policy: ``tasks`` plays them in this process, which suits sessions that wait for a model. ``processes`` plays each in
one of several worker processes, which suits sessions that compute. ``ray``, in :mod:`sandbox_mcp.app.run.on_ray`, plays
them on the machines of a cluster. All leave the same logs. Several machines can also share a run without ``ray``,
because shards may share a folder.
"""

import os
import signal
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Protocol

import anyio
import anyio.lowlevel
import anyio.to_process
from sandbox_grader.grading.scores import Scores

from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.app.run.folder import RunFolder
from sandbox_mcp.app.run.sessions import FILES_OF_A_SESSION, Allowed, Crew, OnPlayed, RunPlan
from sandbox_mcp.app.run.unit import Shard, Unit
from sandbox_mcp.engine.errors import inner_errors
from sandbox_mcp.engine.processes import as_begun, begun_safely, room_for_files
from sandbox_mcp.engine.trajectory.packs import PackWriter
from sandbox_mcp.play.telemetry import flush, own_process

CHUNK = 8
"""Units that a worker process gets at a time, at most: enough to pay for making its crew."""
GRACE = 15.0
"""Seconds that worker processes have to end their agents when the run is stopped; then they are killed."""
GONE = "a process that was playing is gone, as happens where memory runs out; the same command plays what is missing"
LOOK = 0.25
"""Seconds between two looks of a worker process at whether the run was stopped."""


class Executor(Protocol):
    """Plays units of a plan."""

    async def play(self, units: Sequence[Unit], plan: RunPlan, allowed: Allowed, told: OnPlayed) -> None:
        """Play them; asks before, and tells after, every session."""
        ...


@dataclass(frozen=True, slots=True)
class Processes:
    """Plays units in ``plan.jobs`` processes, one session at a time in each.

    ``recipe`` makes the crew in a worker, so it has to be something that pickle can send.
    """

    recipe: Callable[[], Crew]

    async def play(self, units: Sequence[Unit], plan: RunPlan, allowed: Allowed, told: OnPlayed) -> None:
        """Play these units, by chunks.

        Raises:
            RunError: a worker process was killed.
        """
        if not units:
            return
        room_for_files(FILES_OF_A_SESSION * plan.jobs)
        waiting = iter(units)
        size = 1 if plan.singly else max(1, min(CHUNK, len(units) // (4 * plan.jobs)))
        with tempfile.TemporaryDirectory(prefix="sandbox-mcp-") as folder:
            lanes = min(plan.jobs, len(units))
            workers = _Workers(Path(folder) / "stopped", lanes)
            try:
                with begun_safely():
                    async with anyio.create_task_group() as group:
                        group.start_soon(workers.end_in_peace)
                        for _ in range(lanes):
                            group.start_soon(self._work, waiting, size, plan, allowed, told, workers)
            except ExceptionGroup as errors:
                raise inner_errors(errors)[0] from None

    async def _work(
        self, waiting: Iterator[Unit], size: int, plan: RunPlan, allowed: Allowed, told: OnPlayed, workers: "_Workers"
    ) -> None:
        alone = replace(plan, jobs=1)
        limiter = anyio.CapacityLimiter(1)
        begun = False
        while True:
            chunk: list[Unit] = []
            while len(chunk) < (size if begun else 1) and (unit := next(waiting, None)) is not None and allowed():
                chunk.append(unit)
            if not chunk:
                break
            begun = True  # the first session goes alone, so that a fault of all is seen at once
            scores: list[Scores] = []
            with workers.at_work() as scope, scope:
                try:
                    scores = await anyio.to_process.run_sync(
                        _played, self.recipe, tuple(chunk), alone, workers.stopped, cancellable=True, limiter=limiter
                    )
                except anyio.BrokenWorkerProcess as error:
                    raise RunError(GONE) from error
            for unit, found in zip(chunk, scores, strict=False):
                told(unit, found)
            await anyio.lowlevel.checkpoint()
        workers.one_is_done()


@dataclass(slots=True)
class _Workers:
    """The worker processes, which a stopped run tells to end: killed at once, they would leave their agents.

    ``stopped`` is the file that tells them.
    """

    stopped: Path
    lanes: int
    _scopes: set[anyio.CancelScope] = field(default_factory=set[anyio.CancelScope])
    _over: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    def one_is_done(self) -> None:
        """Note that one of them has nothing left to play."""
        self.lanes -= 1
        if not self.lanes:
            self._over.cancel()

    @contextmanager
    def at_work(self) -> Generator[anyio.CancelScope]:
        """While one plays a chunk, which the end of the run alone does not break off."""
        scope = anyio.CancelScope(shield=True)
        self._scopes.add(scope)
        try:
            yield scope
        finally:
            self._scopes.discard(scope)

    async def end_in_peace(self) -> None:
        """Wait until the run is over or stopped; then tell the workers to end, and cancel those that do not."""
        try:
            with self._over:
                await anyio.sleep_forever()
        finally:
            self.stopped.touch()
            with anyio.CancelScope(shield=True):
                with anyio.move_on_after(GRACE):
                    while self._scopes:  # noqa: ASYNC110 - they end one by one
                        await anyio.sleep(0.02)
                for scope in self._scopes:
                    scope.cancel()


def _played(recipe: Callable[[], Crew], units: tuple[Unit, ...], plan: RunPlan, stopped: Path) -> list[Scores]:
    """In a worker process: play the units, one after the other, until ``stopped`` is there; gives what was played."""

    def leave_it_to_whoever_started_us(*_: object) -> None:
        """Being interrupted or asked to end reaches the whole group; a handler, as agents inherit ignoring."""

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave_it_to_whoever_started_us)
    own_process()
    as_begun()
    scores: dict[Unit, Scores] = {}
    crew = recipe()
    pack = _pack_of_this_process(crew.folder, plan.shard) if plan.packed else None

    async def play() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(_break_off_at, stopped, group.cancel_scope)
            await crew.play(units, plan, lambda: True, scores.__setitem__, pack)
            group.cancel_scope.cancel()

    try:
        anyio.run(play)
    except ExceptionGroup as errors:
        raise inner_errors(errors)[0] from None
    if pack:
        pack.rest()
    flush()
    return [scores[unit] for unit in units if unit in scores]


async def _break_off_at(stopped: Path, scope: anyio.CancelScope) -> None:
    """Cancel the scope when the run was stopped, or was killed and with it the folder's owner."""
    parent = os.getppid()
    while os.getppid() == parent and not stopped.exists():  # noqa: ASYNC110, ASYNC240 - another process makes it
        await anyio.sleep(LOOK)
    scope.cancel()


@cache
def _pack_of_this_process(folder: RunFolder, shard: Shard) -> PackWriter:
    return folder.pack(shard)
