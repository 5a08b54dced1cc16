"""Whether the tools offered can do what milestones and minefields are about, and the agent can learn what to write.

Policy: judged with the tools of the base variant, and with what the user does by its script and what happens by
itself; a minefield is the agent's to hit, with any tool that some variant may offer. A call that counts as an attempt
can always be made, because agents also call tools that they were never offered. What the agent has to come to know are
names and phone numbers only, because everything else may be put into another form on the way; what a search of the
outside world may find is not judged here.
"""

import re
from collections.abc import Iterator
from typing import Any

from sandbox_mcp.engine.tools import World
from sandbox_mcp.engine.world.schema import CellRole
from sandbox_scenarios.checks import labels_in
from sandbox_scenarios.lint.complaint import LintFinding
from sandbox_scenarios.lint.effects import Effect, effects, effects_of_others
from sandbox_scenarios.lint.parts import HARD, LACKS
from sandbox_scenarios.lint.texts import contains, has_ending, has_number, is_number, spoken
from sandbox_scenarios.model import CallConstraint, Constraint, Milestone, PlannedCall, Scenario, TableConstraint


def reach(scenario: Scenario) -> Iterator[LintFinding]:
    """Rules ``unreachable``, ``harmless_minefield``, ``spare_tool`` and ``copied_id``."""
    for number, milestone in enumerate(scenario.milestones):
        for reason in _hindrances(scenario, milestone):
            text = f"milestone {milestone.id!r} cannot be reached: {reason}"
            mend = "offer the tool under 'tools', or ask for something else"
            yield LintFinding("unreachable", ("milestones", number), text, mend)
    for number, minefield in enumerate(scenario.minefields):
        for reason in _hindrances(scenario, minefield, mine=True):
            text = f"minefield {minefield.id!r} cannot be hit: {reason}"
            mend = "leave it out, or let trying count with 'attempt: true' where that alone does harm"
            yield LintFinding("harmless_minefield", ("minefields", number), text, mend)
    yield from _spare(scenario)
    yield from _copied(scenario)


def _hindrances(scenario: Scenario, milestone: Milestone, *, mine: bool = False) -> Iterator[str]:
    at_hand = scenario.home.agent_tools if mine else scenario.tools  # a variant may offer what the task does not need
    offered = [name for name in at_hand if name not in scenario.without]
    possible = (*effects(scenario.home, offered), *(() if mine else effects_of_others(scenario)))
    for constraint in milestone.constraints:
        if isinstance(constraint, CallConstraint):
            named = [pattern.tool for pattern in constraint.patterns]
            if not (mine and constraint.attempt) and not set(named) & set(offered):
                yield f"{' or '.join(dict.fromkeys(named))} is not offered"
        elif isinstance(constraint, TableConstraint):
            yield from _table(scenario, constraint, possible)


def _table(scenario: Scenario, constraint: TableConstraint, possible: tuple[Effect, ...]) -> Iterator[str]:
    mine = [effect for effect in possible if effect.table == constraint.table]
    kinds = {effect.kind for effect in mine}
    if constraint.kind in ("adds", "removes", "updates") and constraint.kind not in kinds:
        yield f"no tool offered {constraint.kind} rows of {constraint.table!r}"
    elif constraint.kind in ("is", "updates") and not kinds & {"adds", "removes"}:
        settable = {column for effect in mine for column in effect.columns}
        rows = scenario.world.table(constraint.table).values()
        for column, expected in (cell for wanted in constraint.rows for cell in wanted.items()):
            literal = expected.ref is None and expected.measure in (None, "exact")
            if literal and column not in settable and not any(row[column] == expected.value for row in rows):
                yield f"no tool offered sets {column!r} of {constraint.table!r}"


def _spare(scenario: Scenario) -> Iterator[LintFinding]:
    if LACKS in scenario.categories or HARD in scenario.tags:
        return  # there the tools at hand may be of no use: that is the point
    called = {call.tool for solution in scenario.solutions for turn in solution.turns for call in turn.calls}
    mined = {
        tool
        for minefield in scenario.minefields
        for item in minefield.constraints
        for tool in _named(scenario.home, item)
    }
    for number, name in enumerate(scenario.tools):
        if scenario.home.agent_tools[name].action and name not in called | mined:
            text = f"offers {name!r}, which no solution uses and no minefield names"
            mend = "leave it out, since variants bring distraction, or say under 'minefields' that it must not be used"
            yield LintFinding("spare_tool", ("tools", number), text, mend)


def _named(home: World, constraint: Constraint) -> tuple[str, ...]:
    """The tools that a constraint is on, directly or by what it says of a table."""
    if isinstance(constraint, CallConstraint):
        return tuple(pattern.tool for pattern in constraint.patterns)
    table = constraint.table if isinstance(constraint, TableConstraint) else None
    return tuple(name for name in home.agent_tools if any(item.table == table for item in effects(home, [name])))


def _copied(scenario: Scenario) -> Iterator[LintFinding]:
    for i, solution in enumerate(scenario.solutions):
        for j, turn in enumerate(solution.turns):
            for k, batch in enumerate(turn.batches):
                for call in batch:
                    for name in _literal_ids(scenario, call):
                        text = f"solution {i + 1} calls {call.tool} with an id as {name!r} that no call has returned"
                        mend = "look it up first and refer to the result, as an agent would have to"
                        yield LintFinding("copied_id", ("reference", i, "turns", j, "calls", k), text, mend)


def _literal_ids(scenario: Scenario, call: PlannedCall) -> Iterator[str]:
    """The arguments that hold an id which no call has returned, as roles tell, or else the columns that hold ids."""
    state = scenario.home.state_tables
    columns = (column for schema in state.values() for column in schema.columns)
    ids = {item.name for item in columns if item.role and item.role.kind in ("key", "id")}
    written: list[Any] = []

    def note_id(role: CellRole, value: Any) -> None:
        if role.kind == "id" and role.table in state and value is not None:
            written.append(value)

    for item in scenario.home.agent_tools[call.tool].parameters:
        written.clear()
        if item.role or item.inside:
            item.with_roles(call.arguments.get(item.name), note_id)
        elif item.name in ids and item.name in call.arguments:
            written.append(call.arguments[item.name])
        if any(not any(labels_in(one)) for one in written):
            yield item.name


NAMES = ("name",)
"""Columns that are a name whatever a world says of them."""


def flow(scenario: Scenario) -> Iterator[LintFinding]:
    """Rule ``unknowable``."""
    if any(scenario.home.agent_tools[name].domain == "search" for name in scenario.tools):
        return
    tables = [*scenario.world.tables.values(), *(rows for event in scenario.events for rows in event.adds.values())]
    cells = (cell for rows in tables for row in rows.values() for cell in row.values())
    told = "\n".join((*(text.text for text in spoken(scenario)), *(cell for cell in cells if isinstance(cell, str))))
    for number, milestone in enumerate(scenario.milestones):
        for constraint in milestone.constraints:
            if isinstance(constraint, TableConstraint):
                for column, value in _written(scenario, constraint):
                    if is_number(value):
                        known = has_number(told, value) or has_ending(told, value)
                    else:
                        known = all(contains(told, word) for word in re.findall(r"[^\W_]+", value))
                    if not known:
                        problem = f"milestone {milestone.id!r} wants {column} {value!r}, which is never told"
                        mend = "let the scripted user say it when asked ('answers')"
                        yield LintFinding("unknowable", ("milestones", number), problem, mend)


def _written(scenario: Scenario, constraint: TableConstraint) -> Iterator[tuple[str, str]]:
    schema = scenario.home.state_tables.get(constraint.table)
    if constraint.kind not in ("adds", "updates") or schema is None:
        return
    names = {item.name for item in schema.columns if item.person or item.name in NAMES}
    numbers = {item.name for item in schema.columns if item.unsaid}
    for column, expected in (cell for row in constraint.rows for cell in row.items()):
        value = expected.value
        literal = expected.ref is None and isinstance(value, str) and expected.measure in (None, "exact")
        if literal and (column in names or (column in numbers and is_number(value))):
            yield column, str(value)
