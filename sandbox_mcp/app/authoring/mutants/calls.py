"""Mutants that call less, or call wrongly.

Policy: which calls are needed is read off the solution. A call that acts is needed. A query is needed if a milestone
asks for it and no other call meets that milestone, if something later takes a value from it, or if it alone tells what
a reply is to say; a value that could as well be guessed does not count. Any other query may be left out. So may a call
that is refused, unless a milestone asks for the attempt. What a computing tool tells can as well be worked out, so such
a call is needed only as far as its result is.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sandbox_scenarios.checks import labels_in, references_in
from sandbox_scenarios.lint.effects import effects
from sandbox_scenarios.lint.texts import contains, spoken
from sandbox_scenarios.model import CallConstraint, Fact, MessageConstraint, Scenario, Solution, TableConstraint
from sandbox_scenarios.values import parse_path

from sandbox_mcp.app.authoring.drafting.flow import SMALL
from sandbox_mcp.app.authoring.drafting.story import leaves
from sandbox_mcp.app.authoring.drafting.words import snake
from sandbox_mcp.app.authoring.mutants.mutant import (
    LESS,
    NEXT_TO_NOTHING,
    ChangedCall,
    Mutant,
    RehearsedSolution,
    Spot,
    edited,
    no_more_than_idle,
    spots,
    uses,
    wanted,
    without,
)
from sandbox_mcp.app.authoring.mutants.wrong_values import is_meant, wrong_values
from sandbox_mcp.play.session.rehearsal import UNKNOWN

TRIES = "tries:"
"""Begins a tag that names a tool (``modify_event``): its calls only try something out, and any may be left out."""


def calls(case: RehearsedSolution) -> Iterator[Mutant]:
    """Leave a call out, change it, stop calling at some point, leave for good after some turn, claim and do nothing."""
    every, turns, path = spots(case.solution), case.solution.turns, ("reference", case.number)
    for spot in every:
        if f"{TRIES}{snake(spot.call.tool)}" not in case.scenario.tags:
            yield from _dropped(case, spot)
            yield from _changed(case, spot)
    for kept in range(1, len(every) - 1):
        left = every[kept:]
        if not all(is_look(case, spot) for spot in left):
            less = without(case.solution, *(spot.number for spot in left))
            about = f"stops after {_named(every[kept - 1])} and replies as if it had gone on"
            yield Mutant(case.id("stop", kept), about, less, LESS, path=path)
    for number in range(1, len(turns) if not case.lacks else 0):
        about = f"stops answering after turn {number} of {len(turns)}"
        yield Mutant(case.id("leave", number), about, Solution(turns[:number]), LESS, path=path)
    tools, user = case.scenario.home.agent_tools, case.scenario.user
    reckoned = any(turn.calls and all(tools[call.tool].computes for call in turn.calls) for turn in turns)
    if not case.lacks and every and not reckoned:  # what a tool computes can be right without it
        # Only what the user answers may count, and what it does: where its script has it act, words bring deeds about.
        asked = [
            {item.sender for item in mark.constraints if isinstance(item, MessageConstraint)}
            for mark in case.scenario.milestones
        ]
        little = max(NEXT_TO_NOTHING, sum("user" in senders for senders in asked) / max(1, len(asked)))
        limit = LESS if user.script.does else no_more_than_idle(case.scenario, little)
        about = "makes no call but says what the solution says, every value right"
        less = edited(case.solution, lambda _number, _call: None)
        yield Mutant(case.id("claim"), about, less, limit, known=case.run.results, path=("milestones",))


def depends(case: RehearsedSolution) -> bool:
    """True if some call fails once a deed before it is left out, although every value is known: state dependency."""
    usual = sum(done.error is not None for done in case.run.done)
    for spot in spots(case.solution):
        if case.scenario.home.agent_tools[spot.call.tool].action:
            run = case.stage.rehearse(without(case.solution, spot.number), known=case.run.results)
            if sum(done.error is not None for done in run.done) > usual:
                return True
    return False


def is_look(case: RehearsedSolution, spot: Spot) -> bool:
    """True if a call may be left out: a query that nothing rests on."""
    if _computes(case, spot):
        return not _passed_on(case, spot)
    needed = _demanded(case, spot) or _tells(case, spot) or uses(case.solution, spot.call.label)
    return not case.scenario.home.agent_tools[spot.call.tool].action and not needed


def _computes(case: RehearsedSolution, spot: Spot) -> bool:
    return case.scenario.home.agent_tools[spot.call.tool].computes


def _demanded(case: RehearsedSolution, spot: Spot) -> bool:
    """True if a milestone asks for the call and no other call of the solution meets it."""
    others = {other.call.tool for other in spots(case.solution) if other.number != spot.number}
    named = ({pattern.tool for pattern in item.patterns} for item in wanted(case.scenario, CallConstraint))
    return any(spot.call.tool in tools and not tools & others for tools in named)


def _tells_alone(case: RehearsedSolution, spot: Spot) -> bool:
    """True if the call returns a value that a reply has to state and nothing else tells, in every solution.

    The reply may take it from the result, or say it as it stands there. Where a tool is called several times and a
    milestone asks for it, the milestone says which of the calls matter.
    """
    named = (pattern.tool for item in wanted(case.scenario, CallConstraint) for pattern in item.patterns)
    mine = case.run.done[spot.number]
    if mine.error is not None or _others_do_without(case, spot) or (_times(case, spot) > 1 and spot.call.tool in named):
        return False
    others = [done for number, done in enumerate(case.run.done) if number != spot.number]
    told_again = any(done.value == mine.value for done in others)  # so that one of them may be left out
    if spot.call.label and not told_again and _said_with(case, spot.call.label):
        return True
    told = _leaves(mine.value)
    told_by_others = [_leaves(done.value) for done in others if not done.error]
    said = " ".join(text.text for text in spoken(case.scenario)).casefold()
    return any(
        _stands_in(value, told)
        and not any(_stands_in(value, leaves) for leaves in told_by_others)
        and str(value).casefold() not in said
        for value in _asked_for(case.scenario)
    )


def _tells(case: RehearsedSolution, spot: Spot) -> bool:
    """True if a call is there for what it tells.

    So is every look of a solution that only looks, unless something takes a value from it: what it tells may be a
    number that can be counted in the result. Of several calls of one tool some may only look around.
    """
    if _tells_alone(case, spot):
        return True
    if not only_looks(case) or _computes(case, spot) or case.run.done[spot.number].error is not None:
        return False
    once = _times(case, spot) == 1
    return once and not uses(case.solution, spot.call.label) and not _others_do_without(case, spot)


def _times(case: RehearsedSolution, spot: Spot) -> int:
    """Number of the solution's calls of the tool."""
    return sum(other.call.tool == spot.call.tool for other in spots(case.solution))


def only_looks(case: RehearsedSolution) -> bool:
    """True if the solution looks things up and changes nothing, so that only what it says counts."""
    tools = case.scenario.home.agent_tools
    return bool(spots(case.solution)) and not any(tools[spot.call.tool].action for spot in spots(case.solution))


def _others_do_without(case: RehearsedSolution, spot: Spot) -> bool:
    """True if another solution never calls the tool."""
    return any(
        all(call.tool != spot.call.tool for turn in solution.turns for call in turn.calls)
        for solution in case.scenario.solutions
    )


def _said_with(case: RehearsedSolution, label: str) -> bool:
    """True if a reply takes a value from a result that it has to state."""
    turns = case.solution.turns
    if not any(label in labels_in(turn.reply) for turn in turns):
        return False
    value = re.compile(rf"\$\{{{re.escape(label)}(?:\.[^}}]{{0,200}})?\}}")
    muted = tuple(replace(turn, reply=value.sub(UNKNOWN, turn.reply)) for turn in turns)
    return case.score(replace(case.solution, turns=muted)) < 1


def _asked_for(scenario: Scenario) -> Iterator[Any]:
    """The values that replies have to state, without those that are easily guessed."""
    for item in wanted(scenario, MessageConstraint):
        if item.sender == "agent":
            texts = (Fact("text", words) for words in item.content.value or ())
            for fact in item.content.claims or texts:
                if fact.type in _FOUND:
                    yield from (value for value in fact.value if not _guessable(_number_of(value)))


_FOUND = ("text", "name", "number", "count", "money", "quantity", "temperature", "percent", "phone", "duration")
"""Types of facts whose values stand in a result as they are told."""


def _number_of(value: Any) -> Any:
    """A number written as a text, as a number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


def _leaves(value: Any) -> list[Any]:
    """Every text and number in a result, in lower case."""
    return [leaf.casefold() if isinstance(leaf, str) else leaf for _, leaf in leaves(value)]


def _stands_in(value: Any, leaves: Sequence[Any]) -> bool:
    number, text = _number_of(value), str(value).casefold()
    if isinstance(number, float):  # a fall is told without its sign
        return any(abs(leaf) == abs(number) for leaf in leaves if not isinstance(leaf, bool | str | None))
    return any(contains(leaf, text) for leaf in leaves if isinstance(leaf, str))


def _dropped(case: RehearsedSolution, spot: Spot) -> Iterator[Mutant]:
    refused = case.run.done[spot.number].error is not None
    if is_look(case, spot) or (refused and not _demanded(case, spot)):  # an agent may as well ask beforehand
        return
    less, name, path = without(case.solution, spot.number), _named(spot), case.path(spot)
    plain = Mutant(case.id("drop", spot.number + 1), f"leaves out {name}", less, LESS, path=path)
    if _computes(case, spot):
        yield plain
        return
    tool = case.scenario.home.agent_tools[spot.call.tool]
    if tool.action or _demanded(case, spot) or (_tells_alone(case, spot) and not _guesses(case, spot)):
        about = f"leaves out {name} and happens to know all it would have told"
        yield replace(plain, about=about, known=case.run.results)
        return
    yield plain
    lucky = _guesses(case, spot)
    if lucky:
        about = f"leaves out {name} and guesses {', '.join(map(repr, lucky))}"
        yield replace(plain, id=case.id("guess", spot.number + 1), about=about, known=case.run.results)


def _guesses(case: RehearsedSolution, spot: Spot) -> list[Any]:
    """The values that an agent without the call would have to guess, if all are easily guessed; else none."""
    taken = [value for _, value in _taken(case.solution, spot, case.run.results) if not _told(case, spot, value)]
    return taken if all(map(_guessable, taken)) else []


def takes_luck(case: RehearsedSolution, spot: Spot) -> bool:
    """True if only a call tells what the solution goes on with, and it cannot be guessed: an id, a name.

    An agent that goes on without the call cannot be, unless another way led it there.
    """
    taken = _taken(case.solution, spot, case.run.results)
    return any(not _guessable(value) and not _told(case, spot, value) for _, value in taken)


def _ids_taken(case: RehearsedSolution, spot: Spot) -> tuple[tuple[str | int, ...], ...]:
    """Places in the call's result of the ids that the solution goes on with; nothing if it takes anything else."""
    ids = {key for rows in case.scenario.world.tables.values() for key in rows}
    taken = dict(_taken(case.solution, spot, case.run.results))
    return tuple(taken) if all(isinstance(value, str) and value in ids for value in taken.values()) else ()


def _taken(solution: Solution, spot: Spot, results: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """The values that later calls and replies take from the call, each with its place in the call's result."""
    label = spot.call.label
    values = [call.arguments for turn in solution.turns for call in turn.calls]
    texts = [turn.reply for turn in solution.turns]
    for reference in dict.fromkeys(references_in((values, texts))):
        name, _, path = reference.partition(".")
        if name == label and name in results:
            value = results[name]
            place = parse_path(path)
            for part in place:
                value = value[part]
            yield place, value


def _guessable(value: Any) -> bool:
    """True if an agent that never asked might well say the same."""
    if value is None or isinstance(value, bool):
        return True
    return isinstance(value, int | float) and float(value).is_integer() and abs(value) <= SMALL


def _told(case: RehearsedSolution, spot: Spot, value: Any) -> bool:
    """True if the user or an earlier call says a text, so that the call is not needed to know it."""
    said = [text.text for text in spoken(case.scenario)]
    earlier = [str(done.value) for done in case.run.done[: spot.number] if done.value is not None]
    return isinstance(value, str) and any(contains(text, value) for text in (*said, *earlier))


def _changed(case: RehearsedSolution, spot: Spot) -> Iterator[Mutant]:
    done = case.run.done[spot.number]
    if done.arguments is None or done.error is not None:
        return
    tool = case.stage.tools("base")[spot.call.tool]
    window = spot.call.tool in case.scenario.home.hints.windows
    vague = tool.tool.action or tool.tool.computes or window
    for name in _mattering(case, spot, done.arguments):
        value = done.arguments[name]
        group = "" if tool.tool.action else case.id("change", spot.number + 1, "" if window else name)
        for number, wrong in enumerate(wrong_values(case.scenario, tool, name, value), start=1):
            rule = "recipient" if tool.tool.action and is_meant(case.scenario, tool.tool, name) else "change"
            about = f"makes {_named(spot)} with {name} {wrong!r} instead of {value!r}"
            changed = replace(spot.call, arguments={**spot.call.arguments, name: wrong})
            yield Mutant(
                case.id(rule, spot.number + 1, name, number),
                about,
                edited(case.solution, lambda at, call, changed=changed: changed if at == spot.number else call),
                LESS,
                group=group,
                call=None if vague else ChangedCall(spot.number, done.value, _ids_taken(case, spot)),
                path=case.path(spot),
            )


def _mattering(case: RehearsedSolution, spot: Spot, arguments: Mapping[str, Any]) -> list[str]:
    """The arguments of a call that the scenario has to look at, in its milestones or in what the call changes."""
    if case.scenario.home.agent_tools[spot.call.tool].action:
        return [name for name in arguments if not _indifferent(case, spot.call.tool, name)]
    if _passed_on(case, spot):
        return list(arguments)
    if _computes(case, spot):
        return []
    named = _named_in_milestones(case, spot.call.tool)
    if not case.lacks and _tells(case, spot):
        parameters = case.scenario.home.agent_tools[spot.call.tool].parameters
        named = named | {item.name for item in parameters if item.required}
    return [name for name in arguments if name in named]


def _named_in_milestones(case: RehearsedSolution, tool: str) -> set[str]:
    """The arguments of a query that some milestone on it compares, and that no alternative does without."""
    return {
        name
        for constraint in wanted(case.scenario, CallConstraint)
        if [item.tool for item in constraint.patterns] == [tool]
        for name, expected in constraint.patterns[0].arguments.items()
        if expected.measure != "any"
    }


def _passed_on(case: RehearsedSolution, spot: Spot) -> bool:
    """True if the score depends on a value that a deed, a reply or another query that matters takes from the call."""
    label = spot.call.label
    if label is None:
        return False
    for later in spots(case.solution)[spot.number + 1 :]:
        names = {name for name, value in later.call.arguments.items() if label in labels_in(value)}
        if names and (
            case.scenario.home.agent_tools[later.call.tool].action
            or (names & _named_in_milestones(case, later.call.tool) and not _computes(case, later))
            or _passed_on(case, later)
        ):
            return True
    return _said_with(case, label)


def _indifferent(case: RehearsedSolution, tool: str, name: str) -> bool:
    """True if the scenario says in so many words that it does not care about the column."""
    for table in {effect.table for effect in effects(case.scenario.home, [tool])}:
        column = case.scenario.home.hints.ends_as.get((table, name), name)
        allowed = case.scenario.allows.get(table, ())
        measures = {
            row[column].measure
            for item in wanted(case.scenario, TableConstraint)
            if item.table == table
            for row in item.rows
            if column in row
        }
        if column in allowed or "*" in allowed or measures == {"any"}:
            return True
    return False


def _named(spot: Spot) -> str:
    return f"call {spot.number + 1} ({spot.call.tool})"
