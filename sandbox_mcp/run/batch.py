"""A batch: plays what is missing, several sessions at a time, and sums up what is there.

Policy: what a session does depends on its unit alone, never on what runs beside it or came before. The order in which
sessions finish is visible in the progress only.
"""

import math
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio

from clients.base import Agent
from clients.mcp_tools import leaves
from sandbox_mcp import __version__
from sandbox_mcp.run.folder import RunFolder
from sandbox_mcp.run.people import Users
from sandbox_mcp.run.play import Reach, play
from sandbox_mcp.run.scores import Score, score
from sandbox_mcp.run.summary import summarise
from sandbox_mcp.run.transports import Transport, transport
from sandbox_mcp.run.unit import Shard, Unit, plan
from sandbox_mcp.session import SessionSpec
from sandbox_mcp.session.batching import WINDOW
from sandbox_mcp.session.manager import SessionManager
from sandbox_mcp.trajectory import Event, LogWriter, MemoryLog
from scenarios import Scenario, Suite, UnknownScenarioError
from scenarios.variants import variant_named

MANIFEST_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Everything that decides what a run does.

    ``jobs`` is how many sessions are played at a time, ``patience`` how many seconds an agent may take for one answer.
    """

    scenarios: tuple[str, ...]
    variants: tuple[str, ...]
    seed: int = 0
    trials: int = 1
    jobs: int = 1
    shard: Shard = field(default_factory=Shard)
    transport: Transport = "memory"
    patience: float = math.inf

    @property
    def units(self) -> tuple[Unit, ...]:
        """All sessions asked for, of every shard."""
        return plan(self.scenarios, self.variants, self.seed, self.trials)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: ``done`` of ``total`` sessions, ``score`` being the one that came last."""

    done: int
    total: int
    score: Score
    played: bool
    """False for a session that an earlier command had already played."""


Watch = Callable[[Progress], None]


@dataclass(slots=True)
class Batch:
    """One command's share of a run."""

    suite: Suite
    agent: Agent
    users: Users
    folder: RunFolder
    plan: RunPlan
    watch: Watch = lambda _: None
    knowledge: object = None
    scores: dict[str, Score] = field(default_factory=dict[str, Score])
    total: int = 0

    async def run(self) -> dict[str, Any]:
        """Play what is missing and return the summary of all that is there.

        Raises:
            RunError: the folder cannot be used.
            ScenarioError: a scenario or variant cannot be used.
        """
        scenarios = {name: self.suite.get(name) for name in self.plan.scenarios}
        for variant in self.plan.variants:
            variant_named(variant)
        self.folder.prepare()
        self.folder.state(self._manifest(scenarios))
        mine = self.plan.shard.of(self.plan.units)
        self.total = len(mine)
        missing = [unit for unit in mine if not self._found(unit)]
        await self._play(missing)
        summary = self._summary()
        self.folder.summarise(summary)
        return summary

    def _found(self, unit: Unit) -> bool:
        scenario = self.suite.get(unit.scenario)
        trajectory = self.folder.finished(unit, scenario.digest)
        if trajectory is not None:
            self._count(unit, score(trajectory, scenario), played=False)
        return trajectory is not None

    async def _play(self, units: Sequence[Unit]) -> None:
        window = 0.0 if self.agent.marks_batches else WINDOW
        manager = SessionManager(
            self.suite, max_sessions=self.plan.jobs + 1, batch_window=window, knowledge=self.knowledge
        )
        waiting = iter(units)
        try:
            async with (
                _closing(self),
                transport(self.plan.transport, manager) as reach,
                anyio.create_task_group() as group,
            ):
                for _ in range(min(self.plan.jobs, len(units))):
                    group.start_soon(self._work, waiting, manager, reach)
        except ExceptionGroup as errors:
            raise leaves(errors)[0] from None

    async def _work(self, waiting: Iterator[Unit], manager: SessionManager, reach: Reach) -> None:
        for unit in waiting:
            await self._session(unit, manager, reach)

    async def _session(self, unit: Unit, manager: SessionManager, reach: Reach) -> None:
        scenario = self.suite.get(unit.scenario)
        spec = SessionSpec(
            scenario, unit.variant, unit.seed, unit.trial, agent={"name": self.agent.name, **self.agent.describe()}
        )
        with self.folder.writer(unit) as writer:
            log = _Both(writer)
            await play(manager, spec, self.agent, self.users.make(scenario), log, reach, self.plan.patience)
        self.folder.keep(unit)
        self._count(unit, score(log.memory.trajectory(), scenario), played=True)

    def _count(self, unit: Unit, found: Score, *, played: bool) -> None:
        self.scores[unit.name] = found
        self.watch(Progress(len(self.scores), self.total, found, played))

    def _summary(self) -> dict[str, Any]:
        """All that the folder holds: what other shards and earlier commands have played counts as well."""
        peeked = {name: self._peek(name) for name in self.folder.names() if name not in self.scores}
        scores = self.scores | {name: found for name, found in peeked.items() if found is not None}
        return summarise(list(scores.values()), planned=len(scores.keys() | {unit.name for unit in self.plan.units}))

    def _peek(self, name: str) -> Score | None:
        """The score of a session that this command did not play; None where its scenario is not the same any more."""
        trajectory = self.folder.peek(name)
        try:
            scenario = self.suite.get(trajectory.started.scenario) if trajectory else None
        except UnknownScenarioError:
            return None
        same = trajectory and scenario and trajectory.started.digest == scenario.digest
        return score(trajectory, scenario) if trajectory and scenario and same else None

    def _manifest(self, scenarios: Mapping[str, Scenario]) -> dict[str, Any]:
        return {
            "schema": MANIFEST_SCHEMA,
            "agent": {"name": self.agent.name, **self.agent.describe()},
            "user": dict(self.users.description),
            "variants": list(self.plan.variants),
            "seed": self.plan.seed,
            "trials": self.plan.trials,
            "transport": self.plan.transport,
            "versions": versions(),
            "scenarios": {name: scenario.digest for name, scenario in scenarios.items()},
        }


class _Both:
    """Keeps events in a file, and in memory for the grader."""

    __slots__ = ("memory", "writer")

    def __init__(self, writer: LogWriter) -> None:
        self.writer = writer
        self.memory = MemoryLog()

    def write(self, event: Event) -> None:
        self.writer.write(event)
        self.memory.write(event)


@asynccontextmanager
async def _closing(batch: Batch) -> AsyncGenerator[None]:
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await batch.agent.aclose()
            await batch.users.aclose()


def versions() -> dict[str, str]:
    """What the run ran on."""
    import platform
    from importlib.metadata import version

    return {"sandbox_mcp": __version__, "python": platform.python_version(), "mcp": version("mcp")}
