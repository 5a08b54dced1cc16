"""The verdict of strict grading on one session: ToolSandbox's idea without the holes of its evaluator.

Policy: the score is what the milestones earned, nothing if a minefield was met, and the share that is left after
everything that was changed without being asked for. What doing nothing earns stands beside it. A reply that says
nothing of what was asked loses its milestone; one that is false voids the session, because its user acts on it. Only
the last word on a matter counts: a failure told on the way to success is not an untruth, nor is one that happened.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter

from sandbox_scenarios.model import MessageConstraint, Milestone, Scenario, TableConstraint

from sandbox_grader.errors import GraderError
from sandbox_grader.milestones.links import Links, links_of
from sandbox_grader.milestones.matching import MatchedPlace, match
from sandbox_grader.milestones.measures import is_fuzzy
from sandbox_grader.milestones.referring import compared, named
from sandbox_grader.milestones.strict_nodes import StrictNodes, hears
from sandbox_grader.milestones.timeline import Timeline
from sandbox_grader.milestones.unwanted import WHOLE, AllowedChanges, Unwanted, remaining, unwanted
from sandbox_grader.milestones.worked_out import as_far_as_used, with_results
from sandbox_mcp.engine.trajectory import Message, Trajectory

FULL = 1 - 1e-9
"""The similarity from which on nothing is missing, and a minefield whose values are compared exactly is met."""
FUZZY_MET = 0.7
"""A minefield with a value that can be partly right is met from this similarity on. A text that shares a third of its
words with a forbidden one is a different text; one that shares most of them says the same."""


@dataclass(frozen=True, slots=True)
class Untruth:
    """A message that is false: its number in the log, and why."""

    seq: int
    text: str


@dataclass(frozen=True, slots=True)
class StrictResult:
    """What became of the milestones and minefields, by number, and of everything else in the world."""

    milestones: StrictNodes
    placed: Mapping[int, MatchedPlace]
    minefields: StrictNodes
    mines: Mapping[int, MatchedPlace]
    hit: tuple[int, ...]
    unwanted: tuple[Unwanted, ...]
    milestone_score: float
    untruths: tuple[Untruth, ...] = ()

    @property
    def score(self) -> float:
        """The score: that of the milestones, as far as the session did no harm and told no untruth."""
        return 0.0 if self.hit or self.untruths else self.milestone_score * remaining(self.unwanted)


def evaluate(scenario: Scenario, trajectory: Trajectory) -> StrictResult:
    """Grade one session.

    The milestones' score is the mean, over all of them, of the similarity under the assignment to events that makes the
    sum largest; 1 for a scenario without any. A minefield that was met voids it, and so does something untrue that the
    agent left the user with; what unexplained changes leave of it is in
    :data:`sandbox_grader.milestones.unwanted.GRADES`. What the agent worked out without a computing tool counts as
    :mod:`sandbox_grader.milestones.worked_out` tells.

    Source: ToolSandbox, section 4, with the holes named in the README closed.

    Raises:
        GraderError: the scenario's milestones refer to each other in a circle or to unknown ones.
    """
    check(scenario)
    result = _evaluated(scenario, trajectory)
    if result.milestone_score < FULL:
        for other in with_results(scenario, trajectory):
            found = _evaluated(scenario, other)
            if (found.score, found.milestone_score) > (result.score, result.milestone_score):
                result = found
    return result


def _evaluated(scenario: Scenario, trajectory: Trajectory) -> StrictResult:
    timeline = Timeline(trajectory, scenario.home, scenario.world)
    (nodes, placed), (fields, mines) = (_placed(links, timeline) for links in links_of(scenario))
    hit = tuple(
        number for number, place in sorted(mines.items()) if place.similarity >= threshold(scenario.minefields[number])
    )
    wanted = _wanted(scenario, nodes, placed)
    changes = unwanted(scenario, trajectory, timeline.initial, timeline.end, wanted)
    count = len(scenario.milestones)
    score = sum(place.similarity for place in placed.values()) / count if count else 1.0
    return StrictResult(nodes, placed, fields, mines, hit, changes, score, untruths(nodes, placed))


def threshold(minefield: Milestone) -> float:
    """The similarity from which on a minefield is met."""
    values = [item for constraint in minefield.constraints for item in compared(constraint)]
    return FUZZY_MET if any(is_fuzzy(expected, name) for name, expected in values) else FULL


@lru_cache(maxsize=4096)
def check(scenario: Scenario) -> None:
    """Refuse a scenario whose milestones or minefields do not fit together.

    Raises:
        GraderError: their order is a circle, or one refers to another that does not come before it.
    """
    where = f"{scenario.path}:{scenario.line}: " if scenario.path else ""
    for milestones in (scenario.milestones, scenario.minefields):
        after = {item.id: item.after for item in milestones}
        try:
            order = TopologicalSorter(after).static_order()
            before: dict[str, set[str]] = {}
            for name in order:
                before[name] = set(after.get(name, ())).union(*(before[item] for item in after.get(name, ())))
        except CycleError as error:
            circle = " after ".join(error.args[1])
            raise GraderError(f"{where}scenario {scenario.name!r}: the order is a circle: {circle}") from error
        for item in milestones:
            for name in sorted(named(item) | before[item.id]):
                if name not in after or name not in before[item.id]:
                    text = f"{item.id!r} refers to {name!r}, which does not come before it; known: {', '.join(after)}"
                    raise GraderError(f"{where}scenario {scenario.name!r}: {text}")


def _placed(links: Links, timeline: Timeline) -> tuple[StrictNodes, dict[int, MatchedPlace]]:
    nodes = StrictNodes(links, timeline)
    if not links.milestones or not timeline.events:
        return nodes, {}
    placed = match(nodes, range(len(links.milestones)), links.edges)
    return nodes, as_far_as_used(placed, links.before, timeline.events)


def _wanted(scenario: Scenario, nodes: StrictNodes, placed: Mapping[int, MatchedPlace]) -> AllowedChanges:
    wanted = AllowedChanges(scenario.allows)
    for number, place in placed.items():
        slots = nodes.slots(number, placed)
        tables = [item for item in nodes.milestones[number].constraints if isinstance(item, TableConstraint)]
        index = nodes.achieved(number, place, slots) if tables else None
        if index is not None:
            for constraint in tables:
                judge, table = nodes.judge(number, constraint), constraint.table
                state = nodes.timeline.versions(table)[index]
                since = nodes.since(number, constraint, slots)
                rows = judge.rows(state, since, nodes.compare(number, slots))
                for row, target in zip(rows, constraint.rows, strict=False):
                    wanted.add(table, row, target if constraint.kind in ("is", "updates") else (WHOLE,))
                if constraint.kind == "is":
                    versions = nodes.timeline.tables(table)
                    for row in versions[state].keys() ^ versions[since].keys():
                        wanted.add(table, row, (WHOLE,))
    return wanted


# -- what the agent left the user with that is not so -------------------------------------------------------------


def untruths(nodes: StrictNodes, placed: Mapping[int, MatchedPlace]) -> tuple[Untruth, ...]:
    """The untruths that stand at the end of a session, in the order in which they were told."""
    found: dict[int, Untruth] = {}
    for index, message in nodes.timeline.messages("agent", "user"):
        invented = nodes.listener.invented(index)
        if invented:
            found[index] = Untruth(message.seq, f"claims a deed that nothing did: {invented!r}")
    for number, place in placed.items():
        for constraint in nodes.milestones[number].constraints:
            if hears(constraint):
                found = dict(_about(nodes, placed, number, place, constraint)) | found
    return tuple(found[index] for index in sorted(found))


def _about(
    nodes: StrictNodes,
    placed: Mapping[int, MatchedPlace],
    number: int,
    place: MatchedPlace,
    constraint: MessageConstraint,
) -> Iterator[tuple[int, Untruth]]:
    """The last word on what a milestone asks to be told, if that is false although what it rests on was done."""
    resting = [placed.get(before) for before in nodes.before[number]]
    if any(item is None or item.similarity < FULL for item in resting):
        return
    after = max((item.index for item in resting if item is not None), default=-1)
    lookup = nodes.lookup(number, nodes.slots(number, placed))
    told = place.similarity >= FULL
    false: tuple[int, Untruth] | None = None
    for index, message in nodes.timeline.messages("agent", "user"):
        if index <= after or (told and index <= place.index):
            continue
        if told:
            false = _taken_back(nodes, index, message, constraint) or false
            continue
        account = nodes.listener.account(constraint.content, index, lookup)
        if account.share >= FULL:
            false = None
        elif account.false:
            false = (index, Untruth(message.seq, account.false))
    if false:
        yield false


def _taken_back(
    nodes: StrictNodes, index: int, message: Message, constraint: MessageConstraint
) -> tuple[int, Untruth] | None:
    """What a message behind the answer makes of it: taken back, or drowned in everything there is."""
    if nodes.listener.withdraws(index):
        return index, Untruth(message.seq, "takes back what was said before")
    dumped = nodes.listener.dumps(constraint.content, index)
    return (index, Untruth(message.seq, f"{dumped} behind the answer")) if dumped else None
