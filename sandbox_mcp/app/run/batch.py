"""A batch: plays the missing units, several sessions at a time, and sums up all of them.

Policy: the order in which sessions finish is visible in the progress only.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandbox_grader.grading.metrics import check_figure, families
from sandbox_grader.grading.scores import KEPT_FROM, UNENDED, Scores
from sandbox_grader.grading.spending import Spent, spent_in
from sandbox_grader.reporting.counting import ALIKE
from sandbox_grader.reporting.report import Report, Unreadable
from sandbox_scenarios import UnknownScenarioError
from sandbox_scenarios.variants import variant_named

from sandbox_mcp import __version__
from sandbox_mcp.app.run.cost import Budget
from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.app.run.executors import Executor
from sandbox_mcp.app.run.progress import Progress, RunTally
from sandbox_mcp.app.run.sessions import Crew, RunPlan
from sandbox_mcp.app.run.unit import Unit
from sandbox_mcp.engine.own_code import others_code
from sandbox_mcp.engine.trajectory import INFRASTRUCTURE, TrajectoryError
from sandbox_mcp.engine.trajectory.model_text import json_bytes
from sandbox_mcp.play.session import SessionSpec

if TYPE_CHECKING:
    from sandbox_grader.reporting.kept import GradedLog, ScoreBook, SharedScores

MANIFEST_SCHEMA = 1
Watch = Callable[[Progress, RunTally], None]
"""Told of every session that is done, and of the run so far."""


class _Stopped(Exception):
    """The run is over, as its first sessions all failed alike."""


@dataclass(slots=True)
class Batch:
    """One command's share of a run. Without an executor its own crew plays, in this process.

    Without ``details`` the sessions have what summaries count, and no more: a few hundred bytes each. ``options`` are
    kept in the manifest as they are.
    """

    crew: Crew
    plan: RunPlan
    watch: Watch = lambda _progress, _tally: None
    tally: RunTally = field(default_factory=RunTally)
    executor: Executor | None = None
    details: bool = True
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    _to_keep: "dict[str, Scores | GradedLog]" = field(default_factory=dict[str, Any], init=False, repr=False)
    """What was played, as it will be kept beside the logs once all of them are settled."""
    _shared: "SharedScores | None" = field(default=None, init=False, repr=False)

    async def run(self) -> Report:
        """Play the missing units and return the report of everything there.

        Raises:
            RunError: the users cannot play this, no log can hold what agent or users say of themselves, the folder
                cannot be used, or another command is playing the same part of the run.
            ScenarioError: a scenario or variant cannot be used.
            GraderError: there is no such metric.
        """
        own, named = self.tally.own_metrics, families(names=self.crew.metrics)  # said before anything is played
        check_figure(self.tally.metric, (*own, *(one for one in named if one.name not in {item.name for item in own})))
        with others_code(f"what agent {self.crew.agent.name!r} says of itself cannot be kept in a log", RunError):
            json_bytes({**self.crew.agent.describe()})
        suite, folder = self.crew.suite, self.crew.folder
        scenarios = {name: suite.get(name) for name in self.plan.scenarios}
        for variant in self.plan.variants:
            variant_named(variant)
        mine = self.plan.shard.of(self.plan.units)
        specs = (SessionSpec(suite.get(unit.scenario), unit.variant, unit.seed, unit.trial) for unit in mine)
        self.crew.users.check(specs, self.plan.jobs, elsewhere=self.executor is not None)
        folder.prepare()
        with folder.claimed(self.plan.shard, self.plan.shared):
            crew, plan = self.crew, self.plan
            seeds = folder.state(
                {
                    "schema": MANIFEST_SCHEMA, "agent": crew.description, "user": dict(crew.users.description),
                    "variants": list(plan.variants), "seed": plan.seed, "trials": plan.trials,
                    "transport": plan.transport, "prices": self.tally.prices.to_json(), "versions": versions(),
                    "options": {**self.options},
                    "scenarios": {name: scenario.digest for name, scenario in scenarios.items()},
                }
            )  # fmt: skip
            await self._play(mine)
            report = self._report()
            report.warnings += [seeds] if seeds else []
            folder.summarise(report.summary(), self.plan.shard if self._alone else None)
        return report

    async def _play(self, mine: Sequence[Unit]) -> None:
        self.tally.total = len(mine)
        self.crew.folder.settle()
        with self._scores() as scores:
            begun = self.crew.folder.begun()
            missing = [unit for unit in mine if not self._found(unit, scores, begun)]
        self.tally.wasted = sum(map(spent_in, self.crew.folder.set_aside()), Spent())
        player = self.executor or self.crew
        if self.crew.agent.wants_solution:
            self.tally.stopping = INFRASTRUCTURE - {"agent_failed"}  # a missing solution is its scenario's
        plan = replace(self.plan, singly=self.tally.budget != Budget())
        with suppress(_Stopped):
            await player.play(missing, plan, self.tally.begin, self._played)
        self.crew.folder.settle()
        with self._scores() as scores:
            for unit in missing:
                found = self.tally.scores.get(unit.name)
                if found and found.ending not in (*INFRASTRUCTURE, UNENDED):
                    scores.add(unit.name, self._to_keep.pop(unit.name))

    def _scores(self) -> "_KnownScores":
        """The scores of the logs in the folder, as far as they are kept there."""
        logs = self.crew.folder.kept()
        return _KnownScores(logs, self.crew.scores_key() if len(logs) >= KEPT_FROM else None, details=self.details)

    def _found(self, unit: Unit, scores: "_KnownScores", begun: Mapping[str, Sequence[Path]]) -> bool:
        known = None if unit.name in begun else scores.known.get(unit.name)
        if known is None:
            scenario = self.crew.suite.get(unit.scenario)
            trajectory = self.crew.folder.finished(unit, scenario.digest, scores.logs, begun)
            judged = trajectory and self.crew.judge(trajectory, scenario)
            if judged:
                known, to_keep = self._brief(judged)
                scores.add(unit.name, to_keep)
        if known is not None:
            self.watch(self.tally.count(unit.name, known, played=False), self.tally)
        return known is not None

    def _played(self, unit: Unit, found: Scores) -> None:
        scores, self._to_keep[unit.name] = self._brief(found)
        self.watch(self.tally.count(unit.name, scores, played=True), self.tally)
        if self.tally.stopped == ALIKE:
            raise _Stopped

    def _brief(self, scores: Scores) -> "tuple[Scores, Scores | GradedLog]":
        """The scores of one session, without details where none are wanted, and what of them is kept in the folder."""
        if self.details:
            return scores, scores
        from sandbox_grader.reporting.kept import GradedLog, SharedScores

        self._shared = self._shared or SharedScores(details=False)
        graded = GradedLog.of(scores)
        return self._shared.scores(graded, scores.path) or scores, graded

    @property
    def _alone(self) -> bool:
        """True if only this command's part is summed up: of many sessions every part would have to grade all others."""
        return self.plan.packed and self.plan.shard.count > 1

    def _report(self) -> Report:
        """The report of everything in the folder, what other shards and earlier commands have played included."""
        folder, report = self.crew.folder, self.tally.report()
        report.name, report.planned = str(folder.root), self.tally.total
        report.warnings += folder.cut
        if self._alone:
            return report
        scores = dict(self.tally.scores)
        with self._scores() as kept:
            for name in sorted(kept.logs.keys() - scores.keys()):
                try:
                    found = self._peek(name, kept)
                except TrajectoryError as error:
                    report.unreadable.append(Unreadable(str(kept.logs[name]), str(error)))
                else:
                    scores |= {name: found} if found else {}
        report.planned = len(scores.keys() | {unit.name for unit in self.plan.units})
        report.sessions = list(scores.values())
        return report

    def _peek(self, name: str, kept: "_KnownScores") -> Scores | None:
        """The score of a session that this command did not play; None where its scenario is not the same any more.

        Raises:
            TrajectoryError: its log cannot be read.
        """
        if found := kept.known.get(name):
            return found
        trajectory = self.crew.folder.peek(name, kept.logs)
        try:
            scenario = self.crew.suite.get(trajectory.started.scenario) if trajectory else None
        except UnknownScenarioError:
            return None
        if not (trajectory and scenario and trajectory.started.digest == scenario.digest):
            return None
        found, to_keep = self._brief(self.crew.judge(trajectory, scenario))
        kept.add(name, to_keep)
        return found


class _KnownScores:
    """The scores of the whole ``logs`` of a run, by the names of their sessions, kept beside them under a key.

    ``known`` are those of logs that count, and were judged before in the same way. A context, after which what was
    added is written.
    """

    def __init__(self, logs: Mapping[str, Path], key: str | None, *, details: bool) -> None:
        self.logs = logs
        self.known: dict[str, Scores] = {}
        self._places = {name: place for place, name in enumerate(logs)}
        self._book: ScoreBook | None = None
        if key:
            from sandbox_grader.reporting import kept

            names, shared = list(logs), kept.SharedScores(details=details)
            self._book = kept.ScoreBook(list(logs.values()), key)
            for place, graded in self._book.read():
                if found := shared.scores(graded, str(logs[names[place]])):
                    self.known[names[place]] = found

    def add(self, name: str, scores: "Scores | GradedLog") -> None:
        """Keep the scores of a log that counts."""
        if self._book and name in self._places:
            from sandbox_grader.reporting.kept import GradedLog

            graded = GradedLog.of(scores) if isinstance(scores, Scores) else scores
            self._book.add(self._places[name], graded)

    def __enter__(self) -> "_KnownScores":
        return self

    def __exit__(self, *_: object) -> None:
        if self._book:
            self._book.close()


def versions() -> dict[str, str]:
    """Versions that the run ran on."""
    import platform
    from importlib.metadata import version

    return {"sandbox_mcp": __version__, "python": platform.python_version(), "mcp": version("mcp")}
