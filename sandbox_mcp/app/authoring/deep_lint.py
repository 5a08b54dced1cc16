"""Deep lint: plays a scenario soundly and badly in many ways, and reports what scores where it should not.

Policy: real sessions, the real scripted user, strict grading; no MCP and no model, so that a whole suite takes minutes.
A complaint says what the mutant did, what it scored, and how to see it again.
"""

import re
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from sandbox_grader.milestones.baselines import idle
from sandbox_grader.milestones.reasons import details
from sandbox_grader.milestones.strict import evaluate
from sandbox_scenarios import Suite
from sandbox_scenarios.checks import references_in
from sandbox_scenarios.lint import Complaint
from sandbox_scenarios.variants import BASE

from sandbox_mcp.app.authoring.mutants import Mutant, case_of, depends, mutants_of
from sandbox_mcp.app.authoring.mutants.mutant import RehearsedSolution, untold
from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.processes import process_pool
from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.tools.calling import WorldFailedError
from sandbox_mcp.engine.trajectory import Trajectory
from sandbox_mcp.engine.world import Snapshot
from sandbox_mcp.play.session.rehearsal import RehearsalStage

RULES = MappingProxyType(
    {
        "reference": "the solution, the milestones or the user's script are at odds; --mutant shows what happened",
        "world": "mend the world's code, which 'worlds check' reads and tries",
        "ask": "let the script say yes and go on, and leave turns enough for a question ('max_turns')",
        "odd": "let the script say that it does not know and go on, and leave turns enough for a question",
        "at_once": "demand no order that a good assistant would not need ('after')",
        "idle": "let no milestone hold from the start, or say under 'idle_score' why one does",
        "idle_score": "take 'idle_score' out",
        "refuse": "ask in 'facts' for what only an agent that tried can say",
        "talk": "ask in 'facts' for more than pleasantries, and let replies come 'after' deeds",
        "random": "let milestones name the values that matter",
        "category": "take the category out, or let the world be in a state in which something has to be done first",
        "tie": "ask for a row that stands alone, or let the wish say what decides between those that are level",
        "drop": "add a milestone that needs the call, or leave the call out of the solution",
        "guess": "make the value one that cannot be guessed, or add a milestone on the call that tells it",
        "stop": "add milestones on what is left out",
        "leave": "add milestones on what the later turns do, or end the solution there",
        "claim": "let replies come 'after' the deeds they report",
        "change": "name the argument's value in a milestone, or say {any: true} there if it does not matter",
        "recipient": "name in a milestone whom it is about",
        "read": "looks must cost nothing: 'unchanged' and minefields should be on deeds, and the limits generous",
        "mine": "say in the minefield exactly what must not happen",
        "undo": "let the milestone ask for the state as it should stay, and not be 'transient'",
        "unwanted": "allow under 'allows' only what does no harm",
    }
)
"""Every rule, and how to mend what breaks it."""

_DATE = re.compile(r"\d{4}-\d\d")


@dataclass(frozen=True, slots=True)
class Tried:
    """A mutant as it was played: its score, why the session ended, and whether the call that it changes misled.

    ``lacks`` is what a solution takes from calls that have not told it; of other mutants not asked.
    """

    mutant: Mutant
    score: float
    ending: str | None
    turns: int
    misled: bool = False
    lacks: str | None = None

    @property
    def right(self) -> bool:
        """True if the score is what it should be, the end too where that matters, and nothing was lacking."""
        ended = not self.mutant.ends or self.ended_well
        return self.mutant.span.holds(self.score) and ended and self.lacks is None

    @property
    def ended_well(self) -> bool:
        """True if the user ended the conversation, and not before the last turn of the plan.

        The reports that follow calls made at once may be more than the user waits for.
        """
        least = 1 if self.mutant.rule == "at_once" else len(self.mutant.solution.turns)
        return self.ending == "user_ended" and self.turns >= least


@dataclass(frozen=True, slots=True)
class Linted:
    """Findings of deep lint on some scenarios, and the number of mutants it played."""

    complaints: tuple[Complaint, ...] = ()
    played: int = 0


_Watch = Callable[[int, int], None]
"""Is told how many scenarios are done, of how many."""


def deep_lint(
    places: tuple[Path, ...], names: Sequence[str], jobs: int = 1, watch: _Watch = lambda _done, _of: None
) -> Linted:
    """Play everything in these scenarios; complaints come in the order of the names, whatever the number of processes.

    Raises:
        ScenarioError: a scenario cannot be used; with several processes a :class:`RunError` says so.
    """
    complaints: list[Complaint] = []
    played = 0
    jobs = min(jobs, len(names))
    with ExitStack() as stack:
        if jobs > 1:
            pool = stack.enter_context(process_pool(jobs))
            found = pool.map(_in_process, [places] * len(names), names)
        else:
            found = map(partial(lint_scenario, Suite(places)), names)
        for done, linted in enumerate(found, start=1):
            if isinstance(linted, str):
                raise RunError(linted)
            complaints += linted.complaints
            played += linted.played
            watch(done, len(names))
    return Linted(tuple(complaints), played)


def _in_process(places: tuple[Path, ...], name: str) -> Linted | str:
    """Findings of a worker, or its error: our errors do not travel between processes."""
    try:
        return lint_scenario(_suite(places), name)
    except SandboxError as error:
        return str(error)


_suite = cache(Suite)
"""The suite of a worker process, loaded once."""


def lint_scenario(suite: Suite, name: str) -> Linted:
    """Everything that scores where it should not, in one scenario, and what it says of itself without need.

    Of a solution that fails as it is, only that is told. Of a group of mutants, the fault is the first that a
    misleading call led there, or its first if all are wrong.

    Raises:
        ScenarioError: the scenario cannot be used.
    """
    scenario = suite.get(name)
    stage = RehearsalStage(scenario)
    tried: list[Tried] = []
    try:
        tried += (attempt(stage, mutant) for mutant in mutants_of(stage))
    except SandboxError as error:
        rule = "world" if isinstance(error, WorldFailedError) else "reference"
        broken = _complaint(suite, name, rule, (), f"cannot be played: {error}")
        return Linted((broken,), len(tried))
    groups: dict[str, list[Tried]] = {}
    for item in tried:
        groups.setdefault(item.mutant.group or item.mutant.id, []).append(item)
    wrong: list[Tried] = []
    for items in groups.values():
        misled = [item for item in items if item.misled and not item.right]
        if misled or not any(item.right for item in items):
            first = (misled or items)[0]
            wrong += [] if has_luck(stage, first.mutant) else [first]
    broken = {item.mutant.of for item in wrong if item.mutant.id == f"reference:{item.mutant.of}:{BASE}"}
    telling = [item for item in wrong if item.mutant.of not in broken or item.mutant.id.endswith(f":{BASE}")]
    complaints = [_told(suite, stage, item) for item in telling]
    if scenario.idle_score is not None and evaluate(scenario, idle(scenario)).score == 0:
        problem = "says under 'idle_score' why doing nothing scores, but it scores 0"
        complaints.append(_complaint(suite, name, "idle_score", ("idle_score",), problem))
    cases = [case_of(stage, number) for number in range(len(scenario.solutions))]
    references = [turn.reply for one in scenario.solutions for turn in one.turns]
    references += [call.arguments for one in scenario.solutions for turn in one.turns for call in turn.calls]
    taken = {tuple(reference.split(".")[:2]) for reference in references_in(references)}
    ties = ((case.number, _tie(case, taken)) for case in cases)
    complaints += (_complaint(suite, name, "tie", ("reference", number), tie) for number, tie in ties if tie)
    if "state_dependency" in scenario.categories and not any(map(depends, cases)):
        problem = "is in state_dependency, but no call fails if another one before it is left out"
        complaints.append(_complaint(suite, name, "category", ("categories",), problem))
    return Linted(tuple(complaints), len(tried))


def attempt(stage: RehearsalStage, mutant: Mutant) -> Tried:
    """Play and grade one mutant."""
    if not mutant.solution.turns:
        return Tried(mutant, evaluate(stage.scenario, idle(stage.scenario)).score, None, 0)
    found = stage.rehearse(mutant.solution, mutant.variant, mutant.known)
    misled = mutant.call is not None and mutant.call.misleads(found.done)
    lacks = untold(mutant.solution, found) if mutant.rule == "reference" else None
    return Tried(mutant, evaluate(stage.scenario, found.log).score, found.ending, found.turns, misled, lacks)


def rehearse(suite: Suite, name: str, mutant: str) -> tuple[Mutant, Trajectory]:
    """Play one mutant again, by its id, and return it with its log.

    Raises:
        RunError: the scenario has no such mutant.
        ScenarioError: the scenario cannot be used.
    """
    stage = RehearsalStage(suite.get(name))
    found = {item.id: item for item in mutants_of(stage)}
    if mutant not in found:
        raise RunError(f"scenario {name!r} has no mutant {mutant!r}; known: {', '.join(found)}")
    return found[mutant], log_of(stage, found[mutant])


def log_of(stage: RehearsalStage, mutant: Mutant) -> Trajectory:
    """Log of a played mutant."""
    if not mutant.solution.turns:
        return idle(stage.scenario)
    return stage.rehearse(mutant.solution, mutant.variant, mutant.known).log


def has_luck(stage: RehearsalStage, mutant: Mutant) -> bool:
    """True if calls at random happen to change the world as a solution does, and thus have done the job."""
    if mutant.rule != "random":
        return False
    home = stage.scenario.home
    mine = _plain(home, stage.rehearse(mutant.solution).world.snapshot)
    solved = (_plain(home, stage.rehearse(solution).world.snapshot) for solution in stage.scenario.solutions)
    return mine != _plain(home, stage.scenario.world) and mine in solved


def _tie(case: RehearsedSolution, taken: Collection[tuple[str, ...]]) -> str | None:
    """Complaint on a solution that takes the first row of an ordered list whose second row is level with it.

    A list is ordered by each column of numbers or dates that only rises or only falls. A level second row leaves the
    user's "first" or "most" open, unless a solution takes that one too. ``taken`` are labels of results with the place
    that some solution takes from each.
    """
    for made in case.run.done:
        label = made.call.label
        value: Any = made.value
        if (label, "0") not in taken or (label, "1") in taken or not isinstance(value, list):
            continue
        rows = [cast("dict[str, Any]", row) for row in cast("list[Any]", value) if isinstance(row, dict)]
        ordering = [name for name in rows[0] if _orders([row.get(name) for row in rows])] if rows[1:] else []
        if ordering and all(rows[0][name] == rows[1][name] for name in ordering):
            level = ", ".join(f"{name} {rows[0][name]}" for name in ordering)
            return f"a solution takes the first row of {made.call.tool}, and the second is level with it: {level}"
    return None


def _orders(column: Sequence[Any]) -> bool:
    """True if a column of numbers or dates rises or falls, now and then level."""
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in column)
    dates = all(isinstance(value, str) and _DATE.match(value) for value in column)
    return (
        (numbers or dates) and len(set(column)) > 1 and list(column) in (sorted(column), sorted(column, reverse=True))
    )


def _plain(home: World, state: Snapshot) -> Any:
    """A state without ids and without what differs from run to run."""
    left_out = {
        name: {item.name for item in schema.columns if item.passing or (item.role and item.role.kind in ("key", "id"))}
        for name, schema in home.state_tables.items()
    }
    return {
        name: sorted(
            repr([value for column, value in row.items() if column not in left_out[name]]) for row in rows.values()
        )
        for name, rows in state.tables.items()
    }


def _told(suite: Suite, stage: RehearsalStage, tried: Tried) -> Complaint:
    mutant, name = tried.mutant, stage.scenario.name
    if mutant.span.holds(tried.score) and tried.lacks:
        problem = f"an agent that {mutant.about} gets its score, but not all of it can be done: {tried.lacks}"
    elif mutant.span.holds(tried.score):
        how = f"ended with {tried.ending!r}" if tried.ending else "was not ended by the user"
        problem = f"an agent that {mutant.about} gets its score, but the session {how}, after turn {tried.turns}"
    else:
        problem = f"an agent that {mutant.about} scores {tried.score:.3f}, expected {mutant.span.words}"
    if mutant.rule == "reference" and not mutant.span.holds(tried.score):
        # a limit that was reached, a call that failed, what a reply lacks, the first milestone that was not met, or
        # else a minefield or a change that nobody asked for
        found = stage.rehearse(mutant.solution, mutant.variant, mutant.known)
        if found.ending == "world_failed":
            why = found.log.ended.detail if found.log.ended else ""
            return _complaint(suite, name, "world", mutant.path, f"cannot be played: {why}", mutant.id)
        graded = details(stage.scenario, evaluate(stage.scenario, found.log))
        failed = ((made, "fails with" if made.arguments is not None else "cannot be called:") for made in found.done)
        calls = (f"{made.call.tool} {how} {made.error}" for made, how in failed if made.error)
        lacks = (f"a reply cannot be made: {missing}" for missing in (tried.lacks,) if missing)
        limit = (f"the session ended with {how!r}" for how in (found.ending,) if how in ("max_turns", "max_calls"))
        missed = (f"milestone {item['id']!r} {why['text']}" for item in graded for why in item.get("reasons", ()))
        mines = (f"minefield {item['id']!r} is met" for item in graded if item["kind"] == "minefield" and item["met"])
        changes = (item["text"] for item in graded if item["kind"] == "unwanted")
        reason = next(chain(limit, calls, lacks, missed, mines, changes), None)
        problem += f": {reason}" if reason else ""
    return _complaint(suite, name, mutant.rule, mutant.path, problem, mutant.id)


def _complaint(
    suite: Suite, name: str, rule: str, path: Sequence[str | int], problem: str, mutant: str = ""
) -> Complaint:
    file, line = suite.place(name, path)
    return Complaint(name, file, line, rule, problem, RULES[rule], mutant)
