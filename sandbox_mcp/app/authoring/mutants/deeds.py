"""Mutants that do more than was asked: look around, undo what was achieved, touch what they were not asked to touch.

Policy: they are offered all tools there are, but for those that the scenario withholds. What would not change anything
in this scenario's world is not tried.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from sandbox_grader.milestones.unwanted import GRADES, differing
from sandbox_scenarios.model import CallConstraint, CallPattern, PlannedCall, TableConstraint

from sandbox_mcp.app.authoring.mutants.mutant import (
    ALL,
    FULL,
    LESS,
    ZERO,
    Mutant,
    RehearsedSolution,
    ScoreSpan,
    finished,
    spots,
    started,
    wanted,
)
from sandbox_mcp.engine.tools import Bound, Parameter, bind, run
from sandbox_mcp.engine.tools.calling import attempt
from sandbox_mcp.engine.world import Change, IdStream, Row, Running
from sandbox_mcp.engine.world.effects import WHOLE

SWITCHED = ScoreSpan(0.0, GRADES["switched"], f"at most {GRADES['switched']}")
"""What is left where a switch was left different from how it was found."""
AT_ONCE = 2
"""How many looks are added at the start, and as many at the end: people look again, but not for ever."""


def deeds(case: RehearsedSolution) -> Iterator[Mutant]:
    """Look around, step on minefields, undo what was achieved, and at last do what was not asked for."""
    yield from _reads(case)
    yield from _mines(case)
    yield from _undone(case)
    number = 0
    for call in _meddling(case):
        changes = _changes(case, call)
        if changes is None or _takes_back(case, changes):
            continue
        switches = _switched(case, call, changes)
        if not (_open_to_all(case, changes) or (switches and switches <= _switches_in_milestones(case))):
            number += 1
            about = f"at last does what was not asked for: {call.tool} with {dict(call.arguments)!r}"
            solution = finished(case.solution, call)
            span = SWITCHED if switches else ZERO
            yield Mutant(case.id("unwanted", number), about, solution, span, variant=ALL, path=("allows",))


def _reads(case: RehearsedSolution) -> Iterator[Mutant]:
    scenario = case.scenario
    constraints = (item for minefield in scenario.minefields for item in minefield.constraints)
    mined = {pattern.tool for item in constraints if isinstance(item, CallConstraint) for pattern in item.patterns}
    avoid = {*scenario.confirm, *mined}
    offered, world = case.stage.tools(ALL), case.wide.world
    queries = [tool for tool in scenario.home.agent_tools.values() if not tool.action]
    looks = [PlannedCall(*look) for look in scenario.home.hints.looks]
    if not looks:  # queries with arguments that fit, where they find something and take no time
        for tool in (tool for tool in queries if tool.parameters and tool.name in offered):
            call = PlannedCall(tool.name, {item.name: _some(case, item) for item in tool.parameters if item.required})
            bound, tx = bind(offered, call.tool, call.arguments), world.begin()
            if isinstance(bound, Bound) and attempt(tx, bound).fault is None and tx.elapsed <= 0:
                looks.append(call)
    plain = [PlannedCall(tool.name, {}) for tool in queries if not tool.parameters]
    reads = [call for call in (*plain, *looks) if call.tool in offered and call.tool not in avoid]
    for number, place in enumerate(range(0, len(reads), AT_ONCE), start=1):
        few = reads[place : place + AT_ONCE]
        solution = finished(started(case.solution, *few), *few)
        about = f"also looks around with {' and '.join(look.tool for look in few)}, at the start and at the end"
        path = ("reference", case.number)
        yield Mutant(case.id("read", number), about, solution, FULL, variant=ALL, path=path)


def _mines(case: RehearsedSolution) -> Iterator[Mutant]:
    """Step on every minefield that forbids a single call."""
    for number, minefield in enumerate(case.scenario.minefields):
        constraint = minefield.constraints[0]
        if len(minefield.constraints) > 1 or minefield.after or not isinstance(constraint, CallConstraint):
            continue
        for place, pattern in enumerate(constraint.patterns, start=1):
            call = _stepping(case, pattern)
            if call is not None and (constraint.attempt or _changes(case, call) is not None):
                about = f"at last calls {call.tool} with {dict(call.arguments)!r}, minefield {minefield.id!r}"
                solution = finished(case.solution, call)
                path = ("minefields", number)
                yield Mutant(case.id("mine", minefield.id, place), about, solution, ZERO, variant=ALL, path=path)


def _stepping(case: RehearsedSolution, pattern: CallPattern) -> PlannedCall | None:
    tool = case.scenario.home.agent_tools[pattern.tool]
    arguments: dict[str, Any] = {}
    for parameter in tool.parameters:
        expected = pattern.arguments.get(parameter.name)
        if expected is not None and (expected.ref is not None or expected.measure == "facts"):
            return None
        if expected is not None and expected.measure != "any":
            value = expected.value[0] if expected.measure == "one_of" else expected.value
            if value is not None:
                arguments[parameter.name] = value
        elif parameter.required:
            arguments[parameter.name] = _some(case, parameter)
    return PlannedCall(pattern.tool, arguments)


def _some(case: RehearsedSolution, parameter: Parameter) -> Any:
    name, types, role = parameter.name, parameter.types, parameter.role
    if role is not None and role.kind == "id":
        return next(iter(case.wide.world.snapshot.table(role.table)), "none")
    if role is not None and role.kind == "moment":
        return case.scenario.clock.now + 86400
    if parameter.value.get("enum"):
        return parameter.value["enum"][0]
    own = case.scenario.home.hints.some
    known = own(case.wide.world.snapshot, name) if own else None
    if known is not None:
        return known
    if "timestamp" in name:
        return case.scenario.clock.now + 86400
    if case.scenario.home.hints.some is None and types == ("string",):
        rows = (row for table in case.wide.world.snapshot.tables.values() for row in table.values())
        same = next((row[name] for row in rows if isinstance(row.get(name), str)), None)
        if same is not None:
            return same
    plain: dict[str, Any] = {"boolean": True, "number": 1.0, "integer": 1, "array": [], "object": {}}
    return plain.get(next(iter(types), "string"), "Something")


def _changes(case: RehearsedSolution, call: PlannedCall) -> Sequence[Change] | None:
    """Changes that a call would make after the solution; None if it cannot be made there, or acts without effect."""
    tx = case.wide.world.begin()
    locked = any(not case.scenario.home.gates[name].is_open(tx) for name in case.scenario.gates)
    if locked or call.tool not in case.stage.tools(ALL) or call.tool in case.scenario.confirm:
        return None
    bound = bind(case.stage.tools(ALL), call.tool, call.arguments)
    world = case.wide.world
    outcome = (
        run(Running(world.snapshot, world.clock, IdStream("trial"), world.knowledge), bound)
        if isinstance(bound, Bound)
        else bound
    )
    idle = case.scenario.home.agent_tools[call.tool].action and not outcome.changes
    return None if outcome.fault is not None or idle else outcome.changes


def _undone(case: RehearsedSolution) -> Iterator[Mutant]:
    """Every way back from what the solution changed, where some milestone wants that to stay."""
    start, end = case.scenario.world, case.wide.world.snapshot
    number = 0
    for table in end.tables if spots(case.solution) else ():
        before, after = start.table(table), end.table(table)
        for key in (key for key in dict.fromkeys((*before, *after)) if before.get(key) != after.get(key)):
            for call in _back(case, table, key, before.get(key), after.get(key)):
                changes = _changes(case, call)
                if changes is not None and _is_to_last(case, table, call) and not _open_to_all(case, changes):
                    number += 1
                    about = f"in the end undoes what it achieved: {call.tool} with {dict(call.arguments)!r}"
                    solution = finished(case.solution, call)
                    yield Mutant(case.id("undo", number), about, solution, LESS, variant=ALL, path=("milestones",))


def _is_to_last(case: RehearsedSolution, table: str, call: PlannedCall) -> bool:
    """True if some milestone wants the table, and of a switch its column, to stay as it became."""
    switch = case.scenario.home.hints.switches.get(call.tool)
    return any(
        switch is None or any(switch in row for row in item.rows)
        for milestone in case.scenario.milestones
        for item in milestone.constraints
        if isinstance(item, TableConstraint) and item.table == table and not milestone.transient
        if item.kind != "unchanged"
    )


def _back(
    case: RehearsedSolution, table: str, key: str, before: Row | None, after: Row | None
) -> Iterator[PlannedCall]:
    """Calls that may undo a change of a row: the world's own choice, or by what tools declare to write."""
    home = case.scenario.home
    if home.hints.back:
        yield from (PlannedCall(*call) for call in home.hints.back(table, key, before, after))
        return
    schema = home.state_tables[table]
    changed = {name for name in after or () if before and after and before[name] != after[name]}
    for tool in home.agent_tools.values():
        effects = tool.effects
        if not tool.action or effects is None:
            continue
        removes = before is None and table in effects.removes
        adds = after is None and table in effects.adds
        written = effects.updates.get(table, frozenset())
        if not (removes or adds or (before and after and (WHOLE in written or changed & written))):
            continue
        arguments: dict[str, Any] = {}
        for item in tool.parameters:
            if item.role is not None and item.role.kind == "id" and item.role.table == table and not adds:
                arguments[item.name] = key
            elif before and item.name in before and schema.column(item.name) and before[item.name] is not None:
                arguments[item.name] = before[item.name]
            elif item.required and item.types == ("boolean",) and len(changed) == 1 and before:
                arguments[item.name] = before[next(iter(changed))]
        if all(item.name in arguments for item in tool.parameters if item.required):
            yield PlannedCall(tool.name, arguments)


def _switched(case: RehearsedSolution, call: PlannedCall, changes: Sequence[Change]) -> frozenset[str]:
    """The switches that a call sets differently, if it does nothing else."""
    own = case.scenario.home.hints.switches.get(call.tool)
    if own is not None:
        return frozenset({own})
    cells = [cell for change in changes for cell in differing(change).items()]
    only = all(isinstance(value, bool) for _, values in cells for value in values)
    return frozenset(name for name, _ in cells) if only else frozenset()


def _takes_back(case: RehearsedSolution, changes: Sequence[Change]) -> bool:
    """True if all that a call does is remove what the solution made, such as the session of a log-in."""
    start = case.scenario.world
    made = (change.after is None and change.key not in start.table(change.table) for change in changes)
    return bool(changes) and all(made)


def _meddling(case: RehearsedSolution) -> Iterator[PlannedCall]:
    """Deeds on what the solution left alone: the world's own choice, or one call per tool that acts.

    Ids are those of rows that the solution left alone, the other arguments some value that fits.
    """
    start, end, own = case.scenario.world, case.wide.world.snapshot, case.scenario.home.hints.meddling
    if own is not None:
        yield from (PlannedCall(*call) for call in own(start, end, case.scenario.clock.now))
        return
    for tool in case.scenario.home.agent_tools.values():
        arguments: dict[str, Any] = {}
        for parameter in tool.parameters:
            if parameter.role is not None and parameter.role.kind == "id":
                before, after = start.table(parameter.role.table), end.table(parameter.role.table)
                arguments[parameter.name] = next((key for key, row in before.items() if after.get(key) == row), None)
            elif parameter.required:
                arguments[parameter.name] = _some(case, parameter)
        if tool.action and None not in arguments.values():
            yield PlannedCall(tool.name, arguments)


def _switches_in_milestones(case: RehearsedSolution) -> set[str]:
    """The columns of single rows that some milestone is about, whatever it wants of them."""
    return {
        column
        for item in wanted(case.scenario, TableConstraint)
        if case.scenario.home.tables[item.table].single
        for row in item.rows
        for column in row
    }


def _open_to_all(case: RehearsedSolution, changes: Sequence[Change]) -> bool:
    """True if the scenario says that such changes do not matter."""
    changed = [(change.table, set(differing(change))) for change in changes]
    allows = case.scenario.allows
    return all("*" in allows.get(table, ()) or columns <= set(allows.get(table, ())) for table, columns in changed)
