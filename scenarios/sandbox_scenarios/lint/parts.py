"""Whether a scenario is complete, and whether its categories are what its solutions, user and world make of it.

Policy: a scenario with solutions of different length is judged by the shortest, because no more is needed.
"""

from collections.abc import Iterator

from sandbox_mcp.engine.plurals import counted
from sandbox_scenarios.lint.complaint import LintFinding
from sandbox_scenarios.lint.effects import blocked
from sandbox_scenarios.model import MessageConstraint, Milestone, Scenario

LACKS = "insufficient_information"
HARD = "tier:hard"
"""The tag of scenarios that offer a whole world."""


def parts(scenario: Scenario) -> Iterator[LintFinding]:
    """Rules ``missing`` and ``reply_rests_on_nothing``."""
    user = scenario.user
    without_milestone = "has no milestone, so doing nothing would score full marks"
    silent = "says nothing about what the user knows and what it does not"
    for there, path, problem, mend in (
        (scenario.about, (), "has no 'about'", "say in a sentence what makes it interesting"),
        (scenario.categories, (), "has no category", "list under 'categories' what it is about"),
        (scenario.solutions, (), "has no reference solution", "write one under 'reference'"),
        (scenario.milestones, (), without_milestone, "say under 'milestones' what should happen"),
        (user.knows or user.does_not_know, ("user",), silent, "fill 'knows' and 'does_not_know'"),
    ):
        if not there:
            yield LintFinding("missing", path, problem, mend)
    lonely = len(scenario.milestones) == 1 and LACKS in scenario.categories
    for number, milestone in enumerate(scenario.milestones):
        if says(milestone) and not milestone.after and not lonely:
            text = f"milestone {milestone.id!r} is a reply that rests on nothing, so claiming is enough"
            mend = "say under 'after' what must be met before it"
            yield LintFinding("reply_rests_on_nothing", ("milestones", number), text, mend)


def says(milestone: Milestone) -> bool:
    """True if a milestone is, among others, on something that the agent says."""
    return any(isinstance(item, MessageConstraint) and item.sender == "agent" for item in milestone.constraints)


def categories(scenario: Scenario) -> Iterator[LintFinding]:
    """Rule ``category``."""
    mine = set(scenario.categories)
    if not mine or not scenario.solutions:
        return
    if LACKS in mine:
        if len(scenario.categories) > 1:
            yield _wrong(f"{LACKS} stands beside other categories", "let it stand alone")
        if not any(map(says, scenario.milestones)):
            mend = "add a milestone on the message that says why"
            yield _wrong(f"{LACKS}, but no milestone asks for the reason", mend)
        return
    yield from _counted(scenario)
    off = [blocked(scenario, solution) for solution in scenario.solutions]
    if all(off) and "state_dependency" not in scenario.categories:
        switches = " and ".join(off[0])
        yield _wrong(f"needs {switches} to be changed first, but is not in state_dependency", "add the category")


def _wrong(problem: str, mend: str) -> LintFinding:
    return LintFinding("category", ("categories",), problem, mend)


def _counted(scenario: Scenario) -> Iterator[LintFinding]:
    mine = set(scenario.categories)
    calls = min(sum(len(turn.calls) for turn in solution.turns) for solution in scenario.solutions)
    follows = bool(scenario.user.script.then)
    turns = min(len(solution.turns) for solution in scenario.solutions)
    several = follows or turns > 1
    if not calls:
        yield _wrong("a solution makes no call", f"make it {LACKS}, or add the calls")
    made = f"the shortest solution makes {counted(calls, 'call')}"
    taken = f"the shortest solution takes {counted(turns, 'turn')}"
    if follows:
        taken = "the user wants more afterwards ('then')"
    for right, name, why in (
        (calls == 1, "single_tool_call", made),
        (calls > 1, "multiple_tool_call", made),
        (not several, "single_user_turn", taken),
        (several, "multiple_user_turn", taken),
    ):
        if calls and right is not (name in mine):
            mend = f"add {name}" if right else f"take {name} out"
            yield _wrong(f"is {'not ' if right else ''}in {name}, but {why}", mend)
