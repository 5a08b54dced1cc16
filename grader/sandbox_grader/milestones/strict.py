"""The verdict of strict grading on one session: ToolSandbox's idea without the holes of its evaluator.

Policy: the score is what the milestones earned, nothing if a minefield was met, and the share left after
everything that was changed without being asked for. What doing nothing earns stands beside it. Words alone void
nothing: a reply that is false loses the milestone that it is about, and is counted as a false claim beside the score.
Where a reply is in doubt the score is an interval, from all doubts lost to all doubts won, and its middle is the figure
that means are taken of.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter

from sandbox_scenarios.model import MessageConstraint, Milestone, Scenario, TableConstraint

from sandbox_grader.errors import GraderError
from sandbox_grader.milestones.links import links_of
from sandbox_grader.milestones.listening import NOTHING_SETTLED, Doubts, Settled
from sandbox_grader.milestones.matching import MatchedPlace, match
from sandbox_grader.milestones.measures import is_fuzzy
from sandbox_grader.milestones.referring import claims_of, compared, named
from sandbox_grader.milestones.strict_nodes import StrictNodes, hears
from sandbox_grader.milestones.timeline import Timeline
from sandbox_grader.milestones.unwanted import WHOLE, AllowedChanges, Unwanted, remaining, unwanted
from sandbox_grader.milestones.worked_out import as_far_as_used, with_results
from sandbox_mcp.engine.trajectory import Trajectory

FULL = 1 - 1e-9
"""The similarity from which on nothing is missing, and a minefield whose values are compared exactly is met."""
FUZZY_MET = 0.7
"""A minefield with a value that can be partly right is met from this similarity on. A text that shares a third of its
words with a forbidden one is a different text; one that shares most of them says the same."""


@dataclass(frozen=True, slots=True)
class Untruth:
    """A false message: its number in the log, and why."""

    seq: int
    text: str


@dataclass(frozen=True, slots=True)
class Doubt:
    """A fact that a message may state or not: the message's number in the log, and why this is uncertain."""

    seq: int
    milestone: str
    fact: str
    why: str


@dataclass(frozen=True, slots=True)
class StrictResult:
    """Outcome of the milestones and minefields, by number, and of everything else in the world."""

    milestones: StrictNodes
    placed: Mapping[int, MatchedPlace]
    minefields: StrictNodes
    mines: Mapping[int, MatchedPlace]
    hit: tuple[int, ...]
    unwanted: tuple[Unwanted, ...]
    milestone_score: float
    untruths: tuple[Untruth, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    lost: float | None = None
    whole: bool = False

    @property
    def high(self) -> float:
        """The score with all doubts won: that of the milestones, as far as the session did no harm.

        Of a ``whole`` one nothing is left where anything is missing, or changed without being asked for.
        """
        score = 0.0 if self.hit else self.milestone_score * remaining(self.unwanted)
        return score if score >= FULL or not self.whole else 0.0

    @property
    def low(self) -> float:
        """The score with all doubts lost."""
        high = self.high
        return high if self.lost is None else min(self.lost, high)

    @property
    def score(self) -> float:
        """The middle of the interval; the score itself where nothing is in doubt."""
        return self.high if self.lost is None else (self.low + self.high) / 2


def evaluate(scenario: Scenario, trajectory: Trajectory, settled: Settled = NOTHING_SETTLED) -> StrictResult:
    """Grade one session.

    The milestones' score is the mean, over all of them, of the similarity under the assignment to events that makes the
    sum largest; 1 for a scenario without any. A minefield that was met voids it; what unexplained changes leave of it
    is in :data:`sandbox_grader.milestones.unwanted.GRADES`. ``settled`` are doubts that a judge or people have settled.
    What the agent worked out without a computing tool counts as :mod:`sandbox_grader.milestones.worked_out` tells.
    Where several end states are right, the one that the session is nearest to counts. Of a scenario whose ``judge`` is
    ``state`` all counts or nothing.

    Source: ToolSandbox, section 4, with the holes named in the README closed.

    Raises:
        GraderError: the scenario's milestones refer to each other in a circle or to unknown ones.
    """
    if scenario.end_states:
        found = [evaluate(ending, trajectory, settled) for ending in endings(scenario)]
        return max(found, key=lambda result: (result.score, result.milestone_score))
    check(scenario)
    result = _best(scenario, trajectory, Doubts(settled))
    if result.doubts:
        lost = _best(scenario, trajectory, Doubts(settled, stated=False)).high
        result = replace(result, lost=lost, doubts=result.doubts if lost < result.high - TIE else ())
    return result


@lru_cache(maxsize=1024)
def endings(scenario: Scenario) -> tuple[Scenario, ...]:
    """The scenario once for each right end state, each with the milestones of that state alone."""
    return tuple(replace(scenario, milestones=end, end_states=()) for end in scenario.end_states) or (scenario,)


TIE = 1e-9


def _best(scenario: Scenario, trajectory: Trajectory, doubts: Doubts) -> StrictResult:
    result = _evaluated(scenario, trajectory, doubts)
    if result.milestone_score < FULL:
        for other in with_results(scenario, trajectory):
            found = _evaluated(scenario, other, doubts, put_in=True)
            if (found.score, found.milestone_score) > (result.score, result.milestone_score):
                result = found
    return result


def _evaluated(scenario: Scenario, trajectory: Trajectory, doubts: Doubts, *, put_in: bool = False) -> StrictResult:
    timeline = Timeline(trajectory, scenario.home)
    links, mined = links_of(scenario)
    nodes, fields = StrictNodes(links, timeline, doubts), StrictNodes(mined, timeline, doubts)
    if timeline.events:
        for number in range(len(links.milestones)):
            nodes.at_best(number)  # the search asks for all of them, deep inside it
    placed, mines = _placed(nodes), _placed(fields)
    if put_in:
        placed = as_far_as_used(placed, links.before, timeline.events)
    hit = [number for number, place in mines.items() if place.similarity >= threshold(scenario.minefields[number])]
    wanted = _wanted(scenario, nodes, placed)
    changes = unwanted(scenario, trajectory, timeline.initial, timeline.end, wanted)
    count = len(scenario.milestones)
    false, placed = _without_taken_back(nodes, placed)
    score = sum([place.similarity for place in placed.values()]) / count if count else 1.0
    told = untruths(nodes, placed, false)
    hit = tuple(sorted(hit))
    doubts_left, whole = tuple(_doubts(nodes, placed)), scenario.judge == "state"
    return StrictResult(nodes, placed, fields, mines, hit, changes, score, told, doubts_left, whole=whole)


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


def _placed(nodes: StrictNodes) -> dict[int, MatchedPlace]:
    if not nodes.milestones or not nodes.timeline.events:
        return {}
    return match(nodes, range(len(nodes.milestones)), nodes.links.edges)


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


# -- claims that are not so, and claims in doubt ----------------------------------------------------------------------


def untruths(
    nodes: StrictNodes, placed: Mapping[int, MatchedPlace], taken_back: Mapping[int, Untruth]
) -> tuple[Untruth, ...]:
    """The false claims of a session, one a message at most, in the order in which they were made."""
    found: dict[int, Untruth] = dict(taken_back)
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
    """The last word on a fact that a milestone asks for, if it is false although the rest was done."""
    if place.similarity >= FULL:
        return
    resting = [placed.get(before) for before in nodes.before[number]]
    if any(item is None or item.similarity < FULL for item in resting):
        return
    after = max((item.index for item in resting if item is not None), default=-1)
    lookup = nodes.lookup(number, nodes.slots(number, placed))
    false: tuple[int, Untruth] | None = None
    for index, message in nodes.timeline.messages("agent", "user"):
        account = nodes.listener.account(constraint.content, index, lookup) if index > after else None
        if account and account.share >= FULL:
            false = None
        elif account and account.false:
            false = (index, Untruth(message.seq, account.false))
    if false:
        yield false


def _without_taken_back(
    nodes: StrictNodes, placed: Mapping[int, MatchedPlace]
) -> tuple[dict[int, Untruth], dict[int, MatchedPlace]]:
    """The places without those of messages that a later one takes back or drowns in everything there is."""
    false, left = dict[int, Untruth](), dict(placed)
    for number, place in placed.items():
        for constraint in filter(hears, nodes.milestones[number].constraints):
            for index, message in nodes.timeline.messages("agent", "user"):
                later = index > place.index and place.similarity
                why = _taken_back(nodes, number, placed, index, constraint) if later else None
                if why:
                    false[index] = Untruth(message.seq, why)
                    left[number] = replace(place, similarity=0.0)
    return false, left


def _taken_back(
    nodes: StrictNodes, number: int, placed: Mapping[int, MatchedPlace], index: int, constraint: MessageConstraint
) -> str | None:
    if nodes.listener.withdraws(index):
        return "takes back what was said before"
    if any(fact.type in ("cannot", "undone") for fact in claims_of(constraint.content)):
        lookup = nodes.lookup(number, nodes.slots(number, placed))
        if claimed := nodes.listener.account(constraint.content, index, lookup).false:
            return claimed  # what could not be done is claimed to be done after all
    dumped = nodes.listener.dumps(constraint.content, index)
    return f"{dumped} behind the answer" if dumped else None


def _doubts(nodes: StrictNodes, placed: Mapping[int, MatchedPlace]) -> Iterator[Doubt]:
    """The doubts on which milestones hang as they were placed."""
    said = dict(nodes.timeline.messages("agent", "user"))
    for number, place in placed.items():
        message = said.get(place.index)
        for constraint in filter(hears, nodes.milestones[number].constraints):
            if message:
                lookup = nodes.lookup(number, nodes.slots(number, placed))
                for fact, why in nodes.listener.account(constraint.content, place.index, lookup).doubts:
                    yield Doubt(message.seq, nodes.milestones[number].id, fact, why)
