"""``python -m bench.weakened [--every N] [--scenarios PATH] [WORLD...]``: how many weakened milestones lint finds.

Policy: a milestone is weakened by leaving something out of it, never by saying that something does not matter, which an
author may well mean: a column of a row, an argument of a call, or all of it. What counts is what lets a bad play of the
sound scenario get full marks; where the other milestones still see through every one, nothing was lost. A play that
leaves a look out and goes on with the id that only this look tells is not one that an agent can make, so it proves
nothing, nor does one whose calls at random have done the job. A scenario that lint already complains about tells
nothing and is left out. Worlds of your own are found by ``SANDBOX_MCP_WORLDS``, as everywhere.
"""

from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from sandbox_grader.errors import GraderError
from sandbox_grader.milestones.strict import evaluate
from sandbox_scenarios import Suite
from sandbox_scenarios.model import CallConstraint, Constraint, Milestone, Scenario, TableConstraint

from sandbox_mcp.app.authoring.deep_lint import has_luck, lint_scenario, log_of
from sandbox_mcp.app.authoring.mutants import case_of, mutants_of
from sandbox_mcp.app.authoring.mutants.calls import takes_luck
from sandbox_mcp.app.authoring.mutants.mutant import spots
from sandbox_mcp.engine.trajectory import Trajectory
from sandbox_mcp.engine.worlds import names
from sandbox_mcp.play.session.rehearsal import RehearsalStage

FULL_MARKS = 1 - 1e-6


@dataclass(frozen=True, slots=True)
class WeakenedShare:
    """Of the scenarios of one world that were weakened: how many, and in which of them lint found nothing."""

    world: str
    tried: int
    missed: tuple[str, ...]

    @property
    def found(self) -> float:
        """The share that lint complains about; 1 where nothing was tried."""
        return 1 - len(self.missed) / self.tried if self.tried else 1.0


class _Instead(Suite):
    """A suite in which one scenario is another."""

    def __init__(self, suite: Suite, scenario: Scenario) -> None:
        self.__dict__.update(suite.__dict__)
        self._instead = scenario

    def get(self, name: str) -> Scenario:
        """The scenario of that name, or the one that takes its place."""
        return self._instead if name == self._instead.name else super().get(name)


def weakened(scenario: Scenario) -> Iterator[tuple[str, Scenario]]:
    """The scenario with one milestone weakened, in every way there is, and what was left out."""
    every = scenario.milestones
    for place, milestone in enumerate(every):
        for about, changed in _weaker(milestone):
            yield about, replace(scenario, milestones=(*every[:place], changed, *every[place + 1 :]))
        if len(every) > 1:
            rest = (*every[:place], *every[place + 1 :])
            freed = (replace(item, after=tuple(name for name in item.after if name != milestone.id)) for item in rest)
            yield f"milestone {milestone.id!r}", replace(scenario, milestones=tuple(freed))


def _weaker(milestone: Milestone) -> Iterator[tuple[str, Milestone]]:
    for place, constraint in enumerate(milestone.constraints):
        before, after = milestone.constraints[:place], milestone.constraints[place + 1 :]
        for about, changed in _looser(constraint):
            told = f"{about} of milestone {milestone.id!r}"
            yield told, replace(milestone, constraints=(*before, changed, *after))


def _looser(constraint: Constraint) -> Iterator[tuple[str, Constraint]]:
    if isinstance(constraint, TableConstraint):
        for number, row in enumerate(constraint.rows):
            for name in row if len(row) > 1 else ():
                less = {column: cell for column, cell in row.items() if column != name}
                rows = (*constraint.rows[:number], less, *constraint.rows[number + 1 :])
                if row[name].measure != "any":
                    yield f"column {name!r}", replace(constraint, rows=rows)
    elif isinstance(constraint, CallConstraint):
        for number, pattern in enumerate(constraint.patterns):
            for name in pattern.arguments:
                less = {argument: cell for argument, cell in pattern.arguments.items() if argument != name}
                changed = replace(pattern, arguments=less)
                patterns = (*constraint.patterns[:number], changed, *constraint.patterns[number + 1 :])
                if pattern.arguments[name].measure != "any":
                    yield f"argument {name!r}", replace(constraint, patterns=patterns)


def _bad_plays(scenario: Scenario) -> list[Trajectory]:
    """The mutants that should not get full marks, and do not, and that an agent could play."""
    stage = RehearsalStage(scenario)
    lucky = _lucky(stage)
    bad = [mutant for mutant in mutants_of(stage) if mutant.span.high < 1 and mutant.id not in lucky]
    logs = [log_of(stage, mutant) for mutant in bad if not has_luck(stage, mutant)]
    return [log for log in logs if evaluate(scenario, log).score <= FULL_MARKS]


def _lucky(stage: RehearsalStage) -> set[str]:
    """The mutants that leave a look out and know what only it tells and cannot be guessed."""
    tools, found = stage.scenario.home.agent_tools, set[str]()
    for number in range(len(stage.scenario.solutions)):
        case = case_of(stage, number)
        looks = (spot for spot in spots(case.solution) if not tools[spot.call.tool].action)
        found |= {case.id("drop", spot.number + 1) for spot in looks if takes_luck(case, spot)}
    return found


def _lets_through(weaker: Scenario, bad: Iterable[Trajectory]) -> bool:
    """Whether a bad play gets full marks; never where another milestone needs what was left out."""
    try:
        return any(evaluate(weaker, log).score > FULL_MARKS for log in bad)
    except GraderError:
        return False


def share_of(suite: Suite, world: str, chosen: Iterable[str]) -> WeakenedShare:
    """Weaken these scenarios in every way and lint each.

    Raises:
        ScenarioError: a scenario cannot be used.
    """
    tried, missed = 0, list[str]()
    for name in chosen:
        scenario = suite.get(name)
        if lint_scenario(suite, name).complaints:
            continue
        bad = _bad_plays(scenario)
        for about, weaker in weakened(scenario):
            if not _lets_through(weaker, bad):
                continue
            tried += 1
            if not lint_scenario(_Instead(suite, weaker), name).complaints:
                missed.append(f"{name}: without {about}")
    return WeakenedShare(world, tried, tuple(missed))


def main() -> None:
    parser = ArgumentParser(
        "python -m bench.weakened", description="How many weakened milestones deep lint complains about."
    )
    parser.add_argument("worlds", nargs="*", metavar="WORLD", help="only these worlds")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every N-th scenario, as a sample")
    parser.add_argument("--scenarios", type=Path, action="append", default=[], help="a file or folder of your own")
    options = parser.parse_intermixed_args()
    suite = Suite(options.scenarios)
    for world in options.worlds or names():
        if not suite.names(world):
            known = ", ".join(filter(suite.names, names()))
            parser.error(f"no scenario is of world {world!r}; there are scenarios of {known}")
        share = share_of(suite, world, suite.names(world)[:: options.every])
        print(f"{world}: {share.found:.1%} of {share.tried}", flush=True)
        for missed in share.missed:
            print(f"    {missed}")


if __name__ == "__main__":
    main()
