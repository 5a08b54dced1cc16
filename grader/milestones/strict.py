"""The verdict of strict grading on one session: ToolSandbox's idea without the holes of its evaluator.

Policy: the score is what the milestones earned, and nothing if a minefield was met or something was changed that nobody
asked for. What a scenario gives to a session that does nothing stands beside it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from grader.errors import GraderError
from grader.milestones.judges import comparing
from grader.milestones.matching import CycleError, Place, match
from grader.milestones.measures import is_fuzzy
from grader.milestones.strict_nodes import StrictNodes
from grader.milestones.timeline import Timeline
from grader.milestones.unwanted import WHOLE, Unwanted, Wanted, unwanted
from sandbox_mcp.trajectory import Trajectory
from scenarios.model import CallConstraint, MessageConstraint, Milestone, Scenario, TableConstraint

MET = 1 - 1e-9
"""A minefield whose values are compared exactly is met from this similarity on: rounding apart, at 1."""
FUZZY_MET = 0.7
"""A minefield with a value that can be partly right is met from this similarity on. A text that shares a third of its
words with a forbidden one is a different text; one that shares most of them says the same."""


@dataclass(frozen=True, slots=True)
class StrictResult:
    """What became of the milestones and minefields, by number, and of everything else on the phone."""

    milestones: StrictNodes
    placed: Mapping[int, Place]
    minefields: StrictNodes
    mines: Mapping[int, Place]
    hit: tuple[int, ...]
    unwanted: tuple[Unwanted, ...]
    milestone_score: float

    @property
    def score(self) -> float:
        """The score: that of the milestones, or 0 if the session did harm."""
        return 0.0 if self.hit or self.unwanted else self.milestone_score


def evaluate(scenario: Scenario, trajectory: Trajectory) -> StrictResult:
    """Grade one session.

    The milestones' score is the mean, over all of them, of the similarity under the assignment to events that makes the
    sum largest; 1 for a scenario without any. It is void if a minefield was met or a change is unexplained.

    Source: ToolSandbox, section 4, with the holes named in the README closed.

    Raises:
        GraderError: the scenario's milestones refer to each other in a circle or to unknown ones.
    """
    timeline = Timeline(trajectory)
    nodes, placed = _placed(scenario, scenario.milestones, timeline, mines=False)
    fields, mines = _placed(scenario, scenario.minefields, timeline, mines=True)
    hit = tuple(
        number for number, place in sorted(mines.items()) if place.similarity >= threshold(scenario.minefields[number])
    )
    wanted = _wanted(scenario, nodes, placed)
    changes = unwanted(trajectory, timeline.start, timeline.end, wanted)
    count = len(scenario.milestones)
    score = sum(place.similarity for place in placed.values()) / count if count else 1.0
    return StrictResult(nodes, placed, fields, mines, hit, changes, score)


def threshold(minefield: Milestone) -> float:
    """From which similarity on a minefield is met."""
    return FUZZY_MET if any(_fuzzy(constraint) for constraint in minefield.constraints) else MET


def _fuzzy(constraint: TableConstraint | CallConstraint | MessageConstraint) -> bool:
    if isinstance(constraint, MessageConstraint):
        return is_fuzzy(constraint.content, "content")
    groups = [p.arguments for p in constraint.patterns] if isinstance(constraint, CallConstraint) else constraint.rows
    return any(is_fuzzy(expected, name) for group in groups for name, expected in group.items())


def _placed(
    scenario: Scenario, milestones: tuple[Milestone, ...], timeline: Timeline, *, mines: bool
) -> tuple[StrictNodes, dict[int, Place]]:
    nodes = StrictNodes(milestones, timeline, mines=mines)
    if not milestones or not timeline.events:
        return nodes, {}
    try:
        return nodes, match(nodes, range(len(milestones)), nodes.edges)
    except CycleError as error:
        raise GraderError(f"scenario {scenario.name!r}: the order of milestones is a circle: {error}") from error


def _wanted(scenario: Scenario, nodes: StrictNodes, placed: Mapping[int, Place]) -> Wanted:
    wanted = Wanted(scenario.allows)
    for number, place in placed.items():
        view = nodes.view(number, placed)
        slots = view[: len(nodes.aspects[number])]
        if not nodes.raw(number, slots)[place.index]:
            continue
        for constraint in scenario.milestones[number].constraints:
            if isinstance(constraint, TableConstraint):
                _explain(constraint, nodes, number, place.index, slots, wanted)
    return wanted


def _explain(
    constraint: TableConstraint, nodes: StrictNodes, number: int, index: int, slots: tuple[int, ...], wanted: Wanted
) -> None:
    judge, table = nodes.judge(number, constraint), constraint.table
    state = nodes.timeline.versions(table)[index]
    since = nodes.since(number, constraint, slots)
    rows = judge.rows(state, since, comparing(nodes.lookup(number, slots)))
    for row, target in zip(rows, constraint.rows, strict=False):
        wanted.add(table, row, target if constraint.kind in ("is", "updates") else (WHOLE,))
    if constraint.kind == "is":
        now, then = nodes.timeline.table(table, state), nodes.timeline.table(table, since)
        for row in now.keys() ^ then.keys():
            wanted.add(table, row, (WHOLE,))
