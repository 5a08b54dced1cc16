"""A crew plays sessions of a run, several at a time, and keeps their logs; it knows nothing of the rest of the run.

Policy: what a session does depends on its unit alone, never on what runs beside it or came before.
"""

import logging
import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from sandbox_clients.base import Agent
from sandbox_grader.grading.metric import Metric
from sandbox_grader.grading.scores import STATEFUL, USERS, Scores, grade
from sandbox_scenarios import Scenario, Suite
from sandbox_scenarios.variants import injection_in, is_under_faults

from sandbox_mcp.app.benchmarks.tooltalk.prefix import Truths, play_prefixes
from sandbox_mcp.app.run.blocking import loop_watched
from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.app.run.folder import RunFolder
from sandbox_mcp.app.run.options import RunOptions, Transport
from sandbox_mcp.app.run.play import Arena, play
from sandbox_mcp.app.run.progress import TRIED
from sandbox_mcp.app.run.transports import transport
from sandbox_mcp.app.run.unit import Shard, Unit, plan
from sandbox_mcp.app.run.users import Users
from sandbox_mcp.engine.errors import inner_errors
from sandbox_mcp.engine.own_code import told as told_of
from sandbox_mcp.engine.processes import room_for_files
from sandbox_mcp.engine.trajectory import INFRASTRUCTURE, Event, LogWriter, MemoryLog, Sink, Trajectory
from sandbox_mcp.engine.trajectory.packs import PackWriter
from sandbox_mcp.play.session import SessionSpec
from sandbox_mcp.play.session.batching import WINDOW
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.telemetry import scored, traced
from sandbox_mcp.play.users import User

logger = logging.getLogger(__name__)
FILES_OF_A_SESSION = 8
"""Files and connections that a session under way may hold open: its log, and the ways to its model and its tools."""
JUDGED = (STATEFUL, USERS)
"""The metrics that a run asks unless told otherwise: what was achieved, and how the user behaved."""
FAULTS = "faults"
"""The family that a run asks as well where calls go wrong."""
INJECTIONS = "injections"
"""The family that a run asks as well where texts are slipped into results."""


def judged_families(options: RunOptions) -> tuple[str, ...]:
    """The metrics that a run asks unless told otherwise."""
    faulty = options.faults or any(map(is_under_faults, options.variants))
    attacked = options.injections or any(map(injection_in, options.variants))
    return (*JUDGED, *((FAULTS,) if faulty else ()), *((INJECTIONS,) if attacked else ()))


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Everything that decides what a run does.

    ``jobs`` is how many sessions are played at a time. ``patience`` is how many seconds an agent may take for one
    answer. With ``packed`` the logs go into packs. With ``singly`` an executor hands out one session at a time, because
    a budget may run out after any of them. ``lacking`` are scenarios with variants that they do not have: results that
    carry no text, or fewer injections than were asked for.
    """

    scenarios: tuple[str, ...]
    variants: tuple[str, ...]
    seed: int = 0
    trials: int = 1
    jobs: int = 1
    shard: Shard = field(default_factory=Shard)
    transport: Transport = "memory"
    patience: float = math.inf
    packed: bool = False
    singly: bool = False
    lacking: frozenset[tuple[str, str]] = frozenset()

    @property
    def units(self) -> tuple[Unit, ...]:
        """All sessions asked for, of every shard."""
        every = plan(self.scenarios, self.variants, self.seed, self.trials)
        return (
            tuple(unit for unit in every if (unit.scenario, unit.variant) not in self.lacking)
            if self.lacking
            else every
        )

    @property
    def shared(self) -> str:
        """Text that is equal for runs which share the same sessions out among their shards."""
        return repr((self.scenarios, self.variants, self.seed, self.trials))


Allowed = Callable[[], bool]
"""Asked before every session whether it may begin."""
OnPlayed = Callable[[Unit, Scores], None]
"""Told of every session that was played."""
OneSession = Callable[[Unit], Awaitable[Scores]]
"""Plays one session and keeps its log."""


@dataclass(frozen=True, slots=True)
class Crew:
    """Players of a run: an agent and users, in scenarios of a suite, into a folder.

    ``metrics`` and ``keep_spoiled`` are for :meth:`judge`. ``instructions`` is what ``chosen_instructions`` gives; it
    is empty where the agent is told what every agent is told. With ``truths``, which find a session's ground truth, the
    agent's replies are asked for on prefixes of it. ``complete`` adds to the spec of a session what its material says.
    """

    suite: Suite
    agent: Agent
    users: Users
    folder: RunFolder
    knowledge: object = None
    keep_spoiled: bool = False
    metrics: tuple[str | Metric, ...] = JUDGED
    instructions: Mapping[str, Any] = field(default_factory=dict[str, Any])
    truths: Truths | None = None
    complete: Callable[[SessionSpec], SessionSpec] = lambda spec: spec

    @property
    def description(self) -> Mapping[str, Any]:
        """Description of the agent for logs and manifest, with the instructions that were chosen for it."""
        return {"name": self.agent.name, **self.agent.describe(), **self.instructions}

    def judge(self, trajectory: Trajectory, scenario: Scenario) -> Scores:
        """Grade a session; those that their user spoiled are scored only where they are to be kept.

        Raises:
            GraderError: the scenario's milestones or a metric cannot be used.
        """
        elsewhere = trajectory.started.origin and not scenario.milestones
        own = None if elsewhere else scenario  # it brings its own ground truth, and there is nothing else to say
        return grade(trajectory, own, metrics=self.metrics, keep_spoiled=self.keep_spoiled)

    def scores_key(self) -> str | None:
        """A key, equal where :meth:`judge` would say the same of the same log; None where that cannot be known."""
        from sandbox_grader.reporting.many import scores_key

        files = self.suite.own_files()
        if files is None or not all(isinstance(name, str) for name in self.metrics):
            return None
        return scores_key(files, "run", str(self.keep_spoiled), *map(str, self.metrics))

    async def play_session(self, arena: Arena, spec: SessionSpec, user: User, sink: Sink) -> None:
        """Play one session to its end, or its prefixes; everything about it is in what ``sink`` was given."""
        if self.truths is None:
            await play(arena, spec, self.agent, user, sink)
        else:
            await play_prefixes(arena, spec, await self.truths(arena.manager, spec), self.agent, sink)

    async def play(
        self, units: Sequence[Unit], plan: RunPlan, allowed: Allowed, told: OnPlayed, pack: PackWriter | None = None
    ) -> None:
        """Play these units, ``plan.jobs`` at a time; afterwards agent and users are closed.

        The logs of a plan that packs them go into ``pack``, which stays open, or into a new one.
        """
        if plan.packed and pack is None:
            with self.folder.pack(plan.shard) as pack:
                await self.play(units, plan, allowed, told, pack)
            return
        waiting, one_ended = iter(units), anyio.Condition()
        running = faults = 0
        came_through = False

        async def work(session: OneSession) -> None:
            nonlocal running, faults, came_through
            for unit in waiting:
                async with one_ended:  # where the first sessions fail, none begins beside those that decide
                    while 0 < faults < TRIED <= faults + running and not came_through:
                        await one_ended.wait()
                if not allowed():
                    return
                running += 1
                found = await session(unit)
                running -= 1
                came_through = came_through or found.ending not in INFRASTRUCTURE
                faults += not came_through
                told(unit, found)
                async with one_ended:
                    one_ended.notify_all()

        try:
            async with self.seated(plan, pack) as session, anyio.create_task_group() as group:
                for _ in range(min(plan.jobs, len(units))):
                    group.start_soon(work, session)
        except ExceptionGroup as errors:
            raise inner_errors(errors)[0] from None

    @asynccontextmanager
    async def seated(self, plan: RunPlan, pack: PackWriter | None) -> AsyncGenerator[OneSession]:
        """Open a player of a plan's sessions, up to ``plan.jobs`` at a time; afterwards agent and users are closed.

        Logs go into ``pack`` if there is one.
        """
        room_for_files(FILES_OF_A_SESSION * plan.jobs)
        window, seats = 0.0 if self.agent.marks_batches else WINDOW, plan.jobs + 1
        manager = SessionManager(self.suite, max_sessions=seats, batch_window=window, knowledge=self.knowledge)
        try:
            async with transport(plan.transport, manager) as reach:
                arena = Arena(manager, reach, plan.patience)
                with loop_watched(self.agent.name, plan.patience):
                    yield lambda unit: self._session(unit, arena, pack)
        finally:
            await self.aclose()

    async def aclose(self) -> None:
        """Close agent and users. A failure of the agent is reported then, but what was played still counts."""
        with anyio.CancelScope(shield=True):
            try:
                await self.agent.aclose()
            except Exception as error:  # noqa: BLE001 - foreign code
                logger.error("agent %r could not be closed: %s", self.agent.name, told_of(error))
            await self.users.aclose()

    async def _session(self, unit: Unit, arena: Arena, pack: PackWriter | None) -> Scores:
        scenario = self.suite.get(unit.scenario)
        spec = self.complete(SessionSpec(scenario, unit.variant, unit.seed, unit.trial, agent=self.description))
        with self.folder.writer(unit) as writer:
            log = _Both(writer)
            user = self.users.make(spec)
            try:
                await self.play_session(arena, spec, user, traced(log))
            except OSError:  # of a log that could not even begin
                if log.lost is None:
                    raise
        if log.lost is not None:
            raise RunError(f"the run cannot go on, as {str(writer.path)!r} cannot be written: {log.lost.strerror}")
        trajectory = log.memory.trajectory()
        broke = trajectory.ended is None or trajectory.ended.reason in INFRASTRUCTURE
        try:
            self.folder.keep(unit, writer.path, None if broke else pack)
        except OSError as error:
            told = f"the run cannot go on, as the log of {unit.name!r} cannot be kept: {error.strerror or error}"
            raise RunError(told) from error
        found = self.judge(trajectory, scenario)
        scored(trajectory.started, found.figures)
        return found


class _Both:
    """Keeps events in a file, and in memory for the grader."""

    __slots__ = ("lost", "memory", "writer")

    def __init__(self, writer: LogWriter) -> None:
        self.writer = writer
        self.memory = MemoryLog()
        self.lost: OSError | None = None

    def write(self, event: Event) -> None:
        try:
            self.writer.write(event)
        except OSError as error:
            self.lost = error
            raise
        self.memory.write(event)
