"""Mutants that talk: those that do nothing, those that call at random, and sound ones that ask before they act.

Policy: a solution with a few questions before it is still a solution, and the scripted user has to see it through.
"""

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sandbox_grader.milestones.baselines import REFUSAL
from sandbox_grader.milestones.strict import evaluate
from sandbox_scenarios.model import (
    CallConstraint,
    MessageConstraint,
    Milestone,
    PlannedCall,
    PlannedTurn,
    Scenario,
    Solution,
    TableConstraint,
)
from sandbox_scenarios.variants import BASE, VARIANTS

from sandbox_mcp.app.authoring.mutants.calls import only_looks
from sandbox_mcp.app.authoring.mutants.mutant import (
    FULL,
    LACKS,
    LESS,
    NEXT_TO_NOTHING,
    Mutant,
    RehearsedSolution,
    at_most,
    no_more_than_idle,
    preceded,
    spots,
    started,
    talk,
)
from sandbox_mcp.app.authoring.mutants.wrong_values import some_value
from sandbox_mcp.engine.tools import Parameter
from sandbox_mcp.engine.trajectory import Message

LITTLE, HALF = 0.1, 0.5
OFTEN = 12
"""How often a mutant repeats itself before it gives up."""
PERMISSION = "Shall I go ahead and take care of that?"
ODD = "What is your blood type?"
EMPTY = ("Done! Anything else?", "All right, I took care of that.", "Hm, what do you mean?", "")
CLOSING = "All of that is done."
RANDOM_RUNS, RANDOM_CALLS = 3, 6


def baselines(scenario: Scenario) -> Iterator[Mutant]:
    """Mutants of the scenario as a whole: silence, refusal, empty talk, calls at random."""
    path = ("milestones",)
    if scenario.idle_score is None:
        yield Mutant("idle", "says nothing at all", Solution(()), at_most(NEXT_TO_NOTHING), path=path)
    limit = no_more_than_idle(scenario, HALF if LACKS in scenario.categories else LITTLE)
    yield Mutant("refuse", f"says {REFUSAL!r} to everything", talk(*(REFUSAL,) * OFTEN), limit, path=path)
    limit = no_more_than_idle(scenario, LITTLE)
    for number, text in enumerate(EMPTY, start=1):
        yield Mutant(f"talk-{number}", f"says {text!r} to everything", talk(*(text,) * OFTEN), limit, path=path)
    for run in range(1, RANDOM_RUNS + 1):
        dice = random.Random(f"{scenario.name}/{run}")  # noqa: S311 - repeatable, not secret
        calls: list[PlannedCall] = []
        for _ in range(RANDOM_CALLS if scenario.tools else 0):
            tool = scenario.home.agent_tools[dice.choice(scenario.tools)]
            given = [item for item in tool.parameters if item.required or dice.random() < 0.3]
            calls.append(PlannedCall(tool.name, {item.name: _random_value(scenario, item, dice) for item in given}))
        solution = started(talk(*(CLOSING,) * OFTEN), *calls)
        about = f"makes {len(calls)} calls at random and says {CLOSING!r}"
        yield Mutant(f"random-{run}", about, solution, LESS, path=("milestones",))


def _random_value(scenario: Scenario, parameter: Parameter, dice: random.Random) -> Any:
    """Something from the world for texts, something small or the present for numbers."""
    kind = dice.choice(parameter.types or ("string",))
    if kind == "null":
        return None
    if kind in ("array", "object") or parameter.value.get("enum"):
        return some_value(parameter.value, dice)
    if kind == "boolean":
        return dice.random() < 0.5
    if kind in ("number", "integer"):
        now = scenario.clock.now + dice.randrange(-100000, 100000)
        return now if "timestamp" in parameter.name else dice.randrange(0, 60)
    cells = [
        (name, value)
        for rows in scenario.world.tables.values()
        for row in rows.values()
        for name, value in row.items()
        if isinstance(value, str)
    ]
    same = [value for name, value in cells if name == parameter.name]
    return dice.choice(same or [value for _, value in cells] or ["something"])


def disturbances(case: RehearsedSolution) -> Iterator[Mutant]:
    """The solution as it is in every variant that takes calls, and with questions or all at once in the base."""
    path = ("reference", case.number)
    for variant in (name for name, how in VARIANTS.items() if not how.free_text):
        about = "plays the solution" + ("" if variant == BASE else f" in variant {variant}")
        yield Mutant(case.id("reference", variant), about, case.solution, FULL, variant=variant, ends=True, path=path)
    script = ("user", "script")
    asking = preceded(case.solution, PERMISSION)
    yield Mutant(case.id("ask"), f"first asks {PERMISSION!r}", asking, FULL, ends=True, path=script)
    if case.scenario.user.script.patience > 1:
        odd = preceded(case.solution, ODD)
        yield Mutant(case.id("odd"), f"first asks {ODD!r}", odd, FULL, ends=True, path=script)
    if only_looks(case):
        mute = Solution(tuple(replace(turn, reply=CLOSING) for turn in case.solution.turns))
        about = f"makes all calls and says nothing but {CLOSING!r}"
        yield Mutant(case.id("talk"), about, mute, LESS, path=("milestones",))
    if _can_be_done_at_once(case):
        about = "makes all calls before it says anything, then only reports"
        turns = case.solution.turns
        first = PlannedTurn(tuple(batch for turn in turns for batch in turn.batches), turns[-1].reply)
        at_once = Solution((first, *talk(CLOSING, CLOSING).turns))
        yield Mutant(case.id("at_once"), about, at_once, FULL, ends=True, path=path)


def _can_be_done_at_once(case: RehearsedSolution) -> bool:
    """True if nothing in the scenario depends on words said before everything is done."""
    scenario, script = case.scenario, case.scenario.user.script
    if len(case.solution.turns) < 2 or not spots(case.solution) or scenario.confirm or script.then or script.does:
        return False
    marks = (*scenario.milestones, *scenario.minefields)
    if any(message.sender == "user" for mark in marks for message in _messages(mark)):
        return False
    spoken = {mark.id for mark in marks if _messages(mark)}
    for mark in marks:  # a deed that has to follow words
        deed = any(isinstance(item, CallConstraint | TableConstraint) for item in mark.constraints)
        if deed and spoken & set(mark.after):
            return False
    return not _said_before_the_end(case)


def _said_before_the_end(case: RehearsedSolution) -> bool:
    """True if a milestone is met by something other than the last reply."""
    result = evaluate(case.scenario, case.run.log)
    events = result.milestones.timeline.events
    spoken = (event for event in reversed(events) if isinstance(event, Message) and event.sender == "agent")
    last = next(spoken, None)
    return any(
        events[place.index] is not last
        for number, place in result.placed.items()
        if _messages(case.scenario.milestones[number])
    )


def _messages(milestone: Milestone) -> list[MessageConstraint]:
    return [item for item in milestone.constraints if isinstance(item, MessageConstraint)]
