"""Mutants that do more than was asked: look around, undo what was achieved, touch what is none of their business.

Policy: they are offered all tools there are, but for those that the scenario withholds. What would not change anything
on this phone is not tried.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sandbox_grader.milestones.unwanted import GRADES, differing
from sandbox_scenarios.lint.effects import EFFECTS
from sandbox_scenarios.model import CallConstraint, CallPattern, Expected, Milestone, PlannedCall, TableConstraint

from sandbox_mcp.authoring.mutants.mutant import (
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
)
from sandbox_mcp.tools import Bound, Outcome, Parameter, bind, run
from sandbox_mcp.world import IdStream, Row, Running
from sandbox_mcp.worlds import DEFAULT

SWITCHES: Mapping[str, str] = {
    "low_battery_mode": "set_low_battery_mode_status",
    "wifi": "set_wifi_status",
    "cellular": "set_cellular_service_status",
    "location_service": "set_location_service_status",
}
SWITCHED = ScoreSpan(0.0, GRADES["switched"], f"at most {GRADES['switched']}")
"""What is left where a switch was left different from how it was found."""
STRANGER = "+12025550199"
NEVER_READ = ("wait",)
"""Queries that do more than look."""
READS: Sequence[PlannedCall] = (
    PlannedCall("search_contacts", {"is_self": True}),
    PlannedCall("search_messages", {"content": "hello"}),
    PlannedCall("search_reminder", {"content": "appointment"}),
)
"""Looks that need arguments; those that need none come of themselves."""
AT_ONCE = 2
"""How many looks are added at the start, and as many at the end: people look again, but not for ever."""


def deeds(case: RehearsedSolution) -> Iterator[Mutant]:
    """All mutants of this module."""
    yield from _reads(case)
    yield from _mines(case)
    if spots(case.solution):
        yield from _undone(case)
    yield from _unwanted(case)


def _reads(case: RehearsedSolution) -> Iterator[Mutant]:
    scenario = case.scenario
    avoid = {*scenario.confirm, *NEVER_READ, *_tools_of(scenario.minefields)}
    plain = [
        PlannedCall(tool.name, {})
        for tool in case.scenario.home.agent_tools.values()
        if not tool.action and not tool.parameters
    ]
    reads = [call for call in (*plain, *READS) if call.tool in case.stage.tools(ALL) and call.tool not in avoid]
    for number, place in enumerate(range(0, len(reads), AT_ONCE), start=1):
        looks = reads[place : place + AT_ONCE]
        solution = finished(started(case.solution, *looks), *looks)
        about = f"also looks around with {' and '.join(look.tool for look in looks)}, at the start and at the end"
        path = ("reference", case.number)
        yield Mutant(case.id("read", number), about, solution, FULL, variant=ALL, path=path)


def _tools_of(milestones: Sequence[Milestone]) -> set[str]:
    constraints = (item for milestone in milestones for item in milestone.constraints)
    return {pattern.tool for item in constraints if isinstance(item, CallConstraint) for pattern in item.patterns}


def _mines(case: RehearsedSolution) -> Iterator[Mutant]:
    """Step on every minefield that is one call."""
    for number, minefield in enumerate(case.scenario.minefields):
        constraint = minefield.constraints[0]
        if len(minefield.constraints) > 1 or minefield.after or not isinstance(constraint, CallConstraint):
            continue
        for place, pattern in enumerate(constraint.patterns, start=1):
            call = _stepping(case, pattern)
            if call is not None and (constraint.attempt or _works(case, call)):
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
            value = _literal(expected)
            if value is not None:
                arguments[parameter.name] = value
        elif parameter.required:
            arguments[parameter.name] = _some(case, parameter)
    return PlannedCall(pattern.tool, arguments)


def _literal(expected: Expected) -> Any:
    return expected.value[0] if expected.measure == "one_of" else expected.value


def _some(case: RehearsedSolution, parameter: Parameter) -> Any:
    """A value of the right kind."""
    name, types, role = parameter.name, parameter.types, parameter.role
    if role is not None and role.kind == "id":
        return next(iter(case.wide.world.snapshot.table(role.table)), "none")
    if role is not None and role.kind == "moment":
        return case.scenario.clock.now + 86400
    if parameter.value.get("enum"):
        return parameter.value["enum"][0]
    columns = {"person_id": "contact", "reminder_id": "reminder", "timer_id": "timer"}
    if name in columns:
        return next(iter(case.wide.world.snapshot.table(columns[name])), "none")
    if name == "phone_number":
        return STRANGER
    if "timestamp" in name:
        return case.scenario.clock.now + 86400
    plain: dict[str, Any] = {"boolean": True, "number": 1.0, "integer": 1, "array": [], "object": {}}
    return plain.get(types[0], "Something")


def _works(case: RehearsedSolution, call: PlannedCall) -> bool:
    """Whether the call would change the phone as it is after the solution."""
    if call.tool not in case.stage.tools(ALL) or call.tool in case.scenario.confirm or _locked(case):
        return False
    outcome = _tried(case, call)
    return outcome.fault is None and bool(outcome.changes or not case.scenario.home.agent_tools[call.tool].action)


def _tried(case: RehearsedSolution, call: PlannedCall) -> Outcome:
    """What a call would come to after the solution."""
    bound = bind(case.stage.tools(ALL), call.tool, call.arguments)
    world = case.wide.world
    return run(Running(world.snapshot, world.clock, IdStream("trial")), bound) if isinstance(bound, Bound) else bound


def _locked(case: RehearsedSolution) -> bool:
    """Whether the phone answers nothing in the end, because nobody is signed in."""
    tx = case.wide.world.begin()
    return any(not case.scenario.home.gates[name].is_open(tx) for name in case.scenario.gates)


def _undone(case: RehearsedSolution) -> Iterator[Mutant]:
    number = 0
    for table, call, what in _undoing(case):
        if _works(case, call) and _lasting(case, table, call) and not _open_to_all(case, call):
            number += 1
            solution = finished(case.solution, call)
            about = f"in the end undoes what it achieved: {what}"
            yield Mutant(case.id("undo", number), about, solution, LESS, variant=ALL, path=("milestones",))


def _lasting(case: RehearsedSolution, table: str, call: PlannedCall) -> bool:
    """Whether some milestone wants the table, and of a setting that column, to stay as it became."""
    columns = {column for column, tool in SWITCHES.items() if tool == call.tool}
    for milestone in case.scenario.milestones:
        for item in milestone.constraints:
            if isinstance(item, TableConstraint) and item.table == table and not milestone.transient:
                named = {column for row in item.rows for column in row}
                if item.kind != "unchanged" and (table != "setting" or columns & named):
                    return True
    return False


def _undoing(case: RehearsedSolution) -> Iterator[tuple[str, PlannedCall, str]]:
    """Table, call and description of every way back."""
    start, end = case.scenario.world, case.wide.world.snapshot
    for table in end.tables:
        before, after = start.table(table), end.table(table)
        for key in [*before, *(key for key in after if key not in before)]:
            if before.get(key) != after.get(key):
                for call in _back(case, table, key, before.get(key), after.get(key)):
                    yield table, call, f"{call.tool} with {dict(call.arguments)!r}"


def _back(
    case: RehearsedSolution, table: str, key: str, before: Row | None, after: Row | None
) -> Iterator[PlannedCall]:
    if case.scenario.home.name != DEFAULT:
        if before is None:
            yield from _removed_again(case, table, key)
    elif table == "setting" and before and after:
        changed = (column for column in SWITCHES if before[column] != after[column])
        yield from (PlannedCall(SWITCHES[column], {"on": before[column]}) for column in changed)
    elif table == "account" and after and after["signed_in"]:
        yield PlannedCall("sign_out", {})
    elif before is None and table in _REMOVERS:
        yield PlannedCall(_REMOVERS[table], {_KEYS[table]: key})
    elif after is None and before and table in _ADDERS:
        yield PlannedCall(_ADDERS[table], _given(case, _ADDERS[table], before))
    elif before and after and table in _CHANGERS:
        changed = {column: before[column] for column in before if before[column] != after[column]}
        yield PlannedCall(_CHANGERS[table], {_KEYS[table]: key, **_given(case, _CHANGERS[table], changed)})


def _removed_again(case: RehearsedSolution, table: str, key: str) -> Iterator[PlannedCall]:
    """A new row removed with a tool that removes from its table and asks for nothing but its id."""
    for tool in case.scenario.home.agent_tools.values():
        required = [parameter for parameter in tool.parameters if parameter.required]
        removes = tool.effects is not None and table in tool.effects.removes
        if removes and len(required) == 1 and required[0].role and required[0].role.table == table:
            yield PlannedCall(tool.name, {required[0].name: key})


_REMOVERS = {"contact": "remove_contact", "reminder": "remove_reminder", "timer": "cancel_timer"}
_ADDERS = {"contact": "add_contact", "reminder": "add_reminder"}
_CHANGERS = {"contact": "modify_contact", "reminder": "modify_reminder"}
_KEYS = {"contact": "person_id", "reminder": "reminder_id", "timer": "timer_id"}


def _given(case: RehearsedSolution, tool: str, row: Row) -> dict[str, Any]:
    """The columns of a row that a tool takes, without what it cannot be told."""
    takes = {parameter.name: parameter.types for parameter in case.scenario.home.agent_tools[tool].parameters}
    return {name: row[name] for name in takes if name in row and (row[name] is not None or "null" in takes[name])}


def _unwanted(case: RehearsedSolution) -> Iterator[Mutant]:
    number = 0
    for call in _meddling(case):
        if _works(case, call) and not _allowed(case, call) and not _takes_back(case, call):
            number += 1
            about = f"at last does what nobody asked for: {call.tool} with {dict(call.arguments)!r}"
            solution, span = finished(case.solution, call), SWITCHED if call.tool in SWITCHES.values() else ZERO
            yield Mutant(case.id("unwanted", number), about, solution, span, variant=ALL, path=("allows",))


def _takes_back(case: RehearsedSolution, call: PlannedCall) -> bool:
    """Whether all that the call does is remove what the solution made, such as the session of a log-in."""
    changes = _tried(case, call).changes
    start = case.scenario.world
    return bool(changes) and all(
        change.after is None and change.key not in start.table(change.table) for change in changes
    )


def _meddling(case: RehearsedSolution) -> Iterator[PlannedCall]:
    """One deed per tool that acts, each on something the solution left alone."""
    if case.scenario.home.name != DEFAULT:
        yield from _meddling_anywhere(case)
        return
    for table, tools in (("contact", ("remove_contact", "modify_contact")), ("reminder", ("remove_reminder",))):
        key = _untouched(case, table)
        if key is not None:
            more = {"relationship": "astronaut"}
            for tool in tools:
                yield PlannedCall(tool, {_KEYS[table]: key, **(more if tool == "modify_contact" else {})})
    yield PlannedCall("add_contact", {"name": "Nobody Inparticular", "phone_number": STRANGER})
    due = case.scenario.clock.now + 86400
    yield PlannedCall("add_reminder", {"content": "Count the clouds", "reminder_timestamp": due})
    yield PlannedCall("send_message_with_phone_number", {"phone_number": STRANGER, "content": "Count the clouds"})
    settings = next(iter(case.wide.world.snapshot.table("setting").values()), None)
    for column, tool in SWITCHES.items():
        if settings and column != "low_battery_mode":
            yield PlannedCall(tool, {"on": not settings[column]})


def _meddling_anywhere(case: RehearsedSolution) -> Iterator[PlannedCall]:
    """One call per tool that acts: ids are of rows that the solution left alone, the rest is some value that fits."""
    for tool in case.scenario.home.agent_tools.values():
        arguments: dict[str, Any] = {}
        for parameter in tool.parameters:
            if parameter.role is not None and parameter.role.kind == "id":
                arguments[parameter.name] = _untouched(case, parameter.role.table)
            elif parameter.required:
                arguments[parameter.name] = _some(case, parameter)
        if tool.action and None not in arguments.values():
            yield PlannedCall(tool.name, arguments)


def _untouched(case: RehearsedSolution, table: str) -> str | None:
    start, end = case.scenario.world.table(table), case.wide.world.snapshot.table(table)
    left = (key for key, row in start.items() if end.get(key) == row and not row.get("is_self"))
    return next(left, None)


def _allowed(case: RehearsedSolution, call: PlannedCall) -> bool:
    """Whether the scenario lets anybody do that, or has a milestone about the same setting."""
    if case.scenario.home.name != DEFAULT:
        return _open_to_all(case, call)
    effect = EFFECTS[call.tool]
    named = {
        column
        for milestone in case.scenario.milestones
        for item in milestone.constraints
        if isinstance(item, TableConstraint) and item.table == effect.table == "setting"
        for row in item.rows
        for column in row
    }
    return _open_to_all(case, call) or bool(effect.columns & named)


def _open_to_all(case: RehearsedSolution, call: PlannedCall) -> bool:
    """Whether the scenario says that such a change is nobody's business."""
    if case.scenario.home.name != DEFAULT:
        changed = [(change.table, set(differing(change))) for change in _tried(case, call).changes]
        allows = case.scenario.allows
        return all("*" in allows.get(table, ()) or columns <= set(allows.get(table, ())) for table, columns in changed)
    effect = EFFECTS[call.tool]
    allowed = case.scenario.allows.get(effect.table, ())
    return "*" in allowed or bool(effect.columns & set(allowed))
