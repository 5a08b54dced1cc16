"""Mutants: ways to play a scenario, each with the score that it should get.

Policy: a mutant is data, so that it can be described, counted, played again by its id, and shown to an author.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from sandbox_grader.milestones.baselines import idle
from sandbox_grader.milestones.strict import evaluate
from sandbox_scenarios.checks import labels_in, references_in
from sandbox_scenarios.model import Constraint, PlannedCall, PlannedTurn, Scenario, Solution
from sandbox_scenarios.plan import PlanError, look_up
from sandbox_scenarios.variants import BASE

from sandbox_mcp.play.session.rehearsal import MadeCall, RehearsalStage, Rehearsed

NEXT_TO_NOTHING = 0.05
LACKS = "insufficient_information"
ALL = "all_tools"
C = TypeVar("C", bound=Constraint)


@dataclass(frozen=True, slots=True)
class ScoreSpan:
    """A range of scores that are right, both ends included, and its description in words."""

    low: float
    high: float
    words: str

    def holds(self, score: float) -> bool:
        """True if a score is right, rounding apart."""
        return self.low - 1e-9 <= score <= self.high + 1e-9


FULL = ScoreSpan(1.0, 1.0, "1")
LESS = ScoreSpan(0.0, 1.0 - 1e-6, "less than 1")
ZERO = ScoreSpan(0.0, 0.0, "0")


def at_most(high: float) -> ScoreSpan:
    """From 0 up to a limit."""
    return ScoreSpan(0.0, high, f"at most {high:g}")


def no_more_than_idle(scenario: Scenario, high: float) -> ScoreSpan:
    """From 0 up to a limit, or to what silence earns where the scenario says why it does."""
    still = 0.0 if scenario.idle_score is None else evaluate(scenario, idle(scenario)).score
    return at_most(max(high, still))


@dataclass(frozen=True, slots=True)
class ChangedCall:
    """The call in which a mutant changes an argument: its number, from 0, and what it tells when it is right.

    ``ids`` are the places in its result whose ids the solution goes on with, if it takes nothing but ids from it.
    """

    number: int
    told: Any
    ids: tuple[tuple[str | int, ...], ...] = ()

    def misleads(self, done: Sequence[MadeCall]) -> bool:
        """True if the call was carried out and did not tell as much, as when it was about another year.

        One that was refused, or told what it should and more, shows nothing of what a scenario looks at; nor does one
        that leads to the same rows, as when two lines are fed by the same transformer.
        """
        mine = done[self.number] if self.number < len(done) else None
        if mine is None or mine.error is not None or _tells(mine.value, self.told):
            return False
        return not self.ids or any(_at(mine.value, path) != _at(self.told, path) for path in self.ids)


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    """Value at a place in a result, or None."""
    for part in path:
        try:
            value = value[part]
        except (LookupError, TypeError):
            return None
    return value


def _tells(found: Any, asked: Any) -> bool:
    """True if a result holds another one: equal values, and lists with all items, wherever they stand."""
    if isinstance(found, Mapping) and isinstance(asked, Mapping):
        whole, part = cast("Mapping[str, Any]", found), cast("Mapping[str, Any]", asked)
        return all(name in whole and _tells(whole[name], value) for name, value in part.items())
    if isinstance(found, list) and isinstance(asked, list):
        items = cast("list[Any]", found)
        return all(any(_tells(item, one) for item in items) for one in cast("list[Any]", asked))
    return bool(found == asked)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One way to play a scenario.

    ``about`` describes it in words that follow "an agent that". ``path`` is where in the scenario an author should look
    if the score is wrong. Of the mutants of one ``group`` it is enough that one gets a right score, but for those whose
    changed ``call`` misleads: each of them has to. With ``ends`` the user has to be the one who ends the conversation,
    too.
    """

    id: str
    about: str
    solution: Solution
    span: ScoreSpan
    variant: str = BASE
    known: Mapping[str, Any] = field(default_factory=dict[str, Any])
    group: str = ""
    call: ChangedCall | None = None
    ends: bool = False
    path: tuple[str | int, ...] = ()

    @property
    def rule(self) -> str:
        """Kind of the mutant."""
        return self.id.partition(":")[0].partition("-")[0]

    @property
    def of(self) -> int | None:
        """The solution that it is made from, counted from 1; None if it is made from the scenario alone."""
        _, colon, rest = self.id.partition(":")
        return int(rest.partition(":")[0]) if colon else None


@dataclass(frozen=True, slots=True)
class Spot:
    """One call of a solution: its number, from 0, and where it stands."""

    number: int
    turn: int
    batch: int
    position: int
    call: PlannedCall


@dataclass(frozen=True, slots=True)
class RehearsedSolution:
    """One reference solution of a scenario, with what came of it: as it is, and with all tools there are."""

    stage: RehearsalStage
    number: int
    solution: Solution
    run: Rehearsed
    wide: Rehearsed

    @property
    def scenario(self) -> Scenario:
        """The scenario it solves."""
        return self.stage.scenario

    @property
    def lacks(self) -> bool:
        """True if the scenario cannot be solved, so that its solution is to say so."""
        return LACKS in self.scenario.categories

    @property
    def carried_out(self) -> bool:
        """True if every call was made and every value there that a call or a reply takes from another."""
        return len(self.run.done) == len(spots(self.solution)) and untold(self.solution, self.run) is None

    def score(self, solution: Solution) -> float:
        """Score of a changed solution."""
        return evaluate(self.scenario, self.stage.rehearse(solution).log).score

    def id(self, rule: str, *parts: object) -> str:
        """The id of a mutant of this solution."""
        return ":".join(str(part) for part in (rule, self.number + 1, *parts))

    def path(self, spot: Spot) -> tuple[str | int, ...]:
        """Place of a call in the file."""
        return ("reference", self.number, "turns", spot.turn, "calls", spot.batch)


def case_of(stage: RehearsalStage, number: int) -> RehearsedSolution:
    """Play a solution, from 0, as it is and with all tools."""
    solution = stage.scenario.solutions[number]
    return RehearsedSolution(stage, number, solution, stage.rehearse(solution), stage.rehearse(solution, ALL))


def untold(solution: Solution, run: Rehearsed) -> str | None:
    """The value missing to make a call or to fill in a reply; None if every value was returned."""
    unmade = next((made.error for made in run.done if made.arguments is None), None)
    if unmade is not None:
        return unmade
    for reference in references_in([turn.reply for turn in solution.turns]):
        try:
            look_up(reference, run.results)
        except PlanError as problem:
            return str(problem)
    return None


def wanted(scenario: Scenario, kind: type[C]) -> Iterator[C]:
    """The constraints of one kind in a scenario's milestones."""
    return (item for milestone in scenario.milestones for item in milestone.constraints if isinstance(item, kind))


def spots(solution: Solution) -> list[Spot]:
    """Every call of a solution, in the order of the plan."""
    places = (
        (turn, batch, position, call)
        for turn, planned in enumerate(solution.turns)
        for batch, calls in enumerate(planned.batches)
        for position, call in enumerate(calls)
    )
    return [Spot(number, *place) for number, place in enumerate(places)]


def edited(solution: Solution, change: Callable[[int, PlannedCall], PlannedCall | None]) -> Solution:
    """The solution with every call, by number, replaced by what ``change`` makes of it, or left out."""
    kept: dict[tuple[int, int], list[PlannedCall]] = {}
    for spot in spots(solution):
        call = change(spot.number, spot.call)
        kept.setdefault((spot.turn, spot.batch), []).extend([call] if call else [])
    return Solution(
        tuple(
            replace(turn, batches=tuple(tuple(kept[i, j]) for j in range(len(turn.batches)) if kept[i, j]))
            for i, turn in enumerate(solution.turns)
        ),
        solution.about,
    )


def without(solution: Solution, *numbers: int) -> Solution:
    """The solution without some of its calls."""
    return edited(solution, lambda number, call: None if number in numbers else call)


def preceded(solution: Solution, *replies: str) -> Solution:
    """The solution after some turns in which the agent only talks."""
    return Solution((*(PlannedTurn((), reply) for reply in replies), *solution.turns))


def started(solution: Solution, *calls: PlannedCall) -> Solution:
    """The solution with some calls before everything else."""
    first, *rest = solution.turns
    return Solution((replace(first, batches=(*((call,) for call in calls), *first.batches)), *rest))


def finished(solution: Solution, *calls: PlannedCall) -> Solution:
    """The solution with some calls before its last reply."""
    *rest, last = solution.turns
    return Solution((*rest, replace(last, batches=(*last.batches, *((call,) for call in calls)))))


def talk(*replies: str) -> Solution:
    """A solution that makes no call and says these replies."""
    return Solution(tuple(PlannedTurn((), reply) for reply in replies))


def uses(solution: Solution, label: str | None) -> bool:
    """True if anything later takes a value from the call with that label."""
    if label is None:
        return False
    later = [call.arguments for turn in solution.turns for call in turn.calls]
    return label in {name for value in (*later, *(turn.reply for turn in solution.turns)) for name in labels_in(value)}
