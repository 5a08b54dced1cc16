"""From a validated file entry to a scenario: names checked, times, ids and values resolved.

Policy: whatever can be checked without playing the scenario is checked here, so that a scenario that loads can be
played; whether it is a good one is for lint to say.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, cast

from sandbox_mcp.tools import Tool, fits
from sandbox_mcp.world import Cell, Clock, Snapshot, TableSchema, snapshot_of, to_timestamp, zone_info
from sandbox_mcp.worlds.phone.registry import agent_tools
from sandbox_mcp.worlds.phone.tables import SCHEMAS
from sandbox_mcp.worlds.phone.tools.rules import check_timestamp
from sandbox_scenarios.checks import check_calls, check_order, labels_in
from sandbox_scenarios.means import with_means
from sandbox_scenarios.merge import RESERVED
from sandbox_scenarios.model import (
    START,
    Answer,
    CallConstraint,
    CallPattern,
    Constraint,
    Exchange,
    Expected,
    MessageConstraint,
    Milestone,
    PlannedCall,
    PlannedTurn,
    Scenario,
    Script,
    Solution,
    TableConstraint,
    UserSpec,
)  # fmt: skip
from sandbox_scenarios.models import modelled
from sandbox_scenarios.problem import ProblemError, at, closest
from sandbox_scenarios.schema import RawCall, RawConstraint, RawMilestone, RawScenario, RawTurn, RawUser
from sandbox_scenarios.values import Resolver, ValueProblemError, row_id

KINDS = ("is", "adds", "removes", "updates")
BELONGING: Mapping[str, tuple[str, ...]] = {
    "table": ("matches", "adds", "removes", "updates", "unchanged", "since"),
    "tool": ("arguments", "attempt"),
    "any_of": ("attempt",),
    "message": (),
}
"""What a constraint is on, and the keys that then say more."""
_COLUMNS = {name: frozenset(column.name for column in schema.columns) for name, schema in SCHEMAS.items()}
_TYPES: Mapping[str, type] = {"string": str, "boolean": bool}
SINGLE = "phone"
"""The label of the only row of a table that has one row."""
MAX_TURNS, MAX_CALLS = 30, 100


def build(raw: RawScenario, merged: Mapping[str, Any], path: str, line: int) -> Scenario:
    """Resolve one scenario; ``merged`` is the entry with all it inherits, ``raw`` the same after validation.

    Raises:
        ProblemError: something in it does not fit; its path says what.
    """
    clock = _clock(raw)
    labels = {table: frozenset(labels_of(table, rows)) for table, rows in raw.world.items()}
    resolver = Resolver(clock.zone, labels, {table: dict(_names(rows)) for table, rows in raw.world.items()})
    tools = _tools(raw.tools or [], ("tools",))
    user, listed = _user(raw.user), raw.milestones or []
    milestones = with_means(
        tuple(_milestones(listed, "milestones", resolver)), [item.transient for item in listed], user
    )
    minefields = tuple(_milestones(raw.minefields or [], "minefields", resolver))
    check_order(milestones, "milestones")
    check_order(minefields, "minefields")
    solutions = tuple(
        Solution(
            tuple(_turn(turn, resolver, ("reference", i, "turns", j)) for j, turn in enumerate(item.turns)), item.about
        )
        for i, item in enumerate(raw.reference or [])
    )
    check_calls(solutions, tools)
    return Scenario(
        name=raw.name,
        about=raw.about or "",
        categories=tuple(raw.categories or ()),
        world=_world(raw.world, resolver),
        clock=clock,
        tools=tools,
        without=_tools(raw.without or [], ("without",)),
        user=user,
        solutions=solutions,
        milestones=modelled(milestones, solutions),
        minefields=minefields,
        allows=_allows(raw.allows or {}),
        confirm=_tools(raw.confirm or [], ("confirm",)),
        sign_in=raw.sign_in,
        max_turns=raw.max_turns or MAX_TURNS,
        max_calls=raw.max_calls or MAX_CALLS,
        idle_score=raw.idle_score,
        digest=_digest(merged),
        path=path,
        line=line,
    )


def _digest(merged: Mapping[str, Any]) -> str:
    """Changes with whatever a session depends on; not with how that is written, nor where it was inherited from."""
    what = {key: value for key, value in merged.items() if key == "name" or key not in RESERVED}
    text = json.dumps(what, sort_keys=True, default=str, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _clock(raw: RawScenario) -> Clock:
    zone = raw.clock.zone or "UTC"
    with at("clock", "zone"):
        zone_info(zone)
    now = raw.clock.now
    if not isinstance(now, datetime):
        raise ProblemError(("clock", "now"), f"now must be a date and time such as 2025-03-14 09:26:00, not {now!r}")
    timestamp = to_timestamp(now, zone)
    with at("clock", "now"):
        check_timestamp("now", timestamp)
    return Clock(timestamp, zone, raw.clock.step or 1.0)


def _names(rows: Any) -> Iterable[tuple[str, str]]:
    """The names of a table's rows by label, where rows have names."""
    for label, row in cast("dict[Any, Any]", rows).items() if isinstance(rows, dict) else ():
        if isinstance(row, dict) and isinstance(cast("dict[str, Any]", row).get("name"), str):
            yield str(label), cast("dict[str, Any]", row)["name"]


def labels_of(table: str, rows: Any) -> Iterable[str]:
    """The labels of a table's rows, as a file writes the table."""
    schema = SCHEMAS.get(table)
    return (
        (SINGLE,)
        if schema and schema.single
        else map(str, cast(dict[str, Any], rows) if isinstance(rows, dict) else ())
    )


def _world(raw: Mapping[str, Any], resolver: Resolver) -> Snapshot:
    tables: dict[str, dict[str, dict[str, Cell]]] = {name: {} for name in SCHEMAS}
    for name, rows in raw.items():
        schema = _schema(name, ("world", name))
        labelled = {SINGLE: rows} if schema.single else rows
        if not isinstance(labelled, dict):
            raise ProblemError(("world", name), "expected a mapping of labels to rows")
        for label, row in cast("dict[str, Any]", labelled).items():
            where = ("world", name) if schema.single else ("world", name, str(label))
            key = row_id(name, str(label))
            tables[name][key] = _row(schema, key, row, resolver, where)
    for name, schema in SCHEMAS.items():
        if schema.single and not schema.optional and not tables[name]:
            raise ProblemError(("world",), f"the world has no row in table {name!r}; extend a base world, or add it")
    return snapshot_of(tables)


def _row(schema: TableSchema, key: str, row: Any, resolver: Resolver, where: tuple[str | int, ...]) -> dict[str, Cell]:
    if not isinstance(row, dict):
        raise ProblemError(where, f"expected a mapping of columns to values, not {row!r}")
    given = cast("dict[str, Any]", row)
    if schema.key in given:
        raise ProblemError((*where, schema.key), f"{schema.key} is made from the row's label; leave it out")
    for column in given if given.keys() - _COLUMNS[schema.name] else ():
        _column(schema, column, (*where, column))
    cells: dict[str, Cell] = {schema.key: key}
    for column in schema.columns[1:]:
        value = given.get(column.name)
        if value is not None:
            try:
                value = _cell(resolver.plain(value), column.type)
            except (ValueProblemError, ValueError) as error:
                raise ProblemError((*where, column.name), str(error)) from error
        elif not column.nullable:
            raise ProblemError(where, f"the row lacks {column.name!r} of table {schema.name!r}")
        cells[column.name] = value
    return cells


def _cell(value: Any, kind: str) -> Cell:
    """A value as a cell of that kind; ValueError where it is none."""
    if isinstance(value, _TYPES.get(kind, ())):
        return value
    if kind in ("number", "timestamp") and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise ValueError(f"{value!r} is no {kind}")


def _schema(table: str, where: tuple[str | int, ...]) -> TableSchema:
    schema = SCHEMAS.get(table)
    if schema is None:
        raise ProblemError(where, f"unknown table {table!r}; known: {', '.join(SCHEMAS)}")
    return schema


def _column(schema: TableSchema, column: str, where: tuple[str | int, ...]) -> None:
    if schema.column(column) is None:
        known = ", ".join(item.name for item in schema.columns)
        raise ProblemError(where, f"unknown column {column!r} of table {schema.name!r}; known: {known}")


def _tools(names: list[str], where: tuple[str | int, ...]) -> tuple[str, ...]:
    for index, name in enumerate(names):
        _tool(name, (*where, index))
    return tuple(dict.fromkeys(names))


def _tool(name: str, where: tuple[str | int, ...]) -> Tool:
    tool = agent_tools().get(name)
    if tool is None:
        raise ProblemError(where, f"unknown tool {name!r}; {closest(name, agent_tools())}")
    return tool


def _allows(raw: Mapping[str, list[str]]) -> Mapping[str, tuple[str, ...]]:
    for table, columns in raw.items():
        schema = _schema(table, ("allows", table))
        for index, column in enumerate(columns):
            if column != "*":
                _column(schema, column, ("allows", table, index))
    return {table: tuple(columns) for table, columns in raw.items()}


def _user(raw: RawUser) -> UserSpec:
    if not raw.goal or not raw.opening:
        raise ProblemError(("user",), "the user needs a goal and an opening, the first thing it says")
    script = raw.script
    default = Script()
    return UserSpec(
        goal=raw.goal,
        opening=raw.opening,
        knows=tuple(raw.knows),
        does_not_know=tuple(raw.does_not_know),
        wants_not=tuple(raw.wants_not),
        demonstration=tuple(Exchange(item.user, item.agent) for item in raw.demonstration),
        script=Script(
            answers=tuple(Answer(tuple(item.about), item.say) for item in script.answers),
            then=tuple(script.then),
            confirm=script.confirm or default.confirm,
            unknown=script.unknown or default.unknown,
            approves=script.approves,
            decline=script.decline or default.decline,
            patience=script.patience or default.patience,
        ),
    )


def _turn(raw: RawTurn, resolver: Resolver, where: tuple[str | int, ...]) -> PlannedTurn:
    batches = tuple(_batch(item, resolver, (*where, "calls", i)) for i, item in enumerate(raw.calls))
    return PlannedTurn(batches, raw.reply)


def _batch(raw: RawCall | list[RawCall], resolver: Resolver, where: tuple[str | int, ...]) -> tuple[PlannedCall, ...]:
    if isinstance(raw, list):
        return tuple(_call(call, resolver, (*where, i)) for i, call in enumerate(raw))
    return (_call(raw, resolver, where),)


def _call(raw: RawCall, resolver: Resolver, where: tuple[str | int, ...]) -> PlannedCall:
    tool = _tool(raw.tool, (*where, "tool"))
    _check_arguments(tool, raw.arguments, (*where, "arguments"))
    missing = [item.name for item in tool.parameters if item.required and item.name not in raw.arguments]
    if missing:
        raise ProblemError(where, f"{tool.name} also needs {', '.join(missing)}")
    arguments: dict[str, Any] = {}
    for name, value in raw.arguments.items():
        with at(*where, "arguments", name):
            arguments[name] = resolver.plain(value)
        if not any(labels_in(value)):
            _check_type(tool, name, arguments[name], (*where, "arguments", name))
    return PlannedCall(raw.tool, arguments, raw.label)


def _check_arguments(tool: Tool, arguments: Mapping[str, Any], where: tuple[str | int, ...]) -> None:
    known = [parameter.name for parameter in tool.parameters]
    for name in arguments:
        if name not in known:
            raise ProblemError(
                (*where, name), f"{tool.name} has no argument {name!r}; known: {', '.join(known) or 'none'}"
            )


def _check_type(tool: Tool, name: str, value: Any, where: tuple[str | int, ...]) -> None:
    types = next(parameter.types for parameter in tool.parameters if parameter.name == name)
    if not fits(value, types):
        raise ProblemError(where, f"{tool.name} takes {' or '.join(types)} as {name!r}, not {value!r}")


def _milestones(raws: list[RawMilestone], kind: str, resolver: Resolver) -> Iterable[Milestone]:
    for index, raw in enumerate(raws):
        where = (kind, index)
        if raw.id == START:
            raise ProblemError((*where, "id"), f"{START!r} is the moment before everything; call it something else")
        if raw.all_of is None:
            constraints: tuple[Constraint, ...] = (_constraint(raw, resolver, where),)
        elif _own_keys(raw):
            raise ProblemError(
                where, f"milestone {raw.id!r} has constraints both under 'all' and beside it; move them into 'all'"
            )
        else:
            constraints = tuple(_constraint(part, resolver, (*where, "all", i)) for i, part in enumerate(raw.all_of))
        yield Milestone(raw.id, constraints, tuple(raw.after), bool(raw.transient), raw.about)


def _own_keys(raw: RawConstraint) -> dict[str, str]:
    """The keys of a constraint that were written, by the names the schema has for them."""
    fields = RawConstraint.model_fields
    return {name: fields[name].alias or name for name in fields if name in raw.model_fields_set}


def _constraint(raw: RawConstraint, resolver: Resolver, where: tuple[str | int, ...]) -> Constraint:
    written = _own_keys(raw)
    named = [name for name in BELONGING if name in written]
    if len(named) != 1:
        raise ProblemError(where, f"expected exactly one of {', '.join(BELONGING)}; found {', '.join(named) or 'none'}")
    for name, shown in written.items():
        if name not in (named[0], *BELONGING[named[0]]):
            raise ProblemError((*where, shown), f"{shown!r} says nothing beside {named[0]!r}")
    if raw.message is not None:
        content = _expected(raw.message.content, resolver, (*where, "message", "content"))
        return MessageConstraint(content, raw.message.sender, raw.message.recipient)
    if raw.table is not None:
        return _table(raw, resolver, where)
    patterns = raw.any_of or []
    if raw.tool is not None:
        return CallConstraint((_pattern(raw.tool, raw.arguments or {}, resolver, where),), raw.attempt)
    return CallConstraint(
        tuple(_pattern(item.tool, item.arguments, resolver, (*where, "any_of", i)) for i, item in enumerate(patterns)),
        raw.attempt,
    )


def _pattern(name: str, arguments: Mapping[str, Any], resolver: Resolver, where: tuple[str | int, ...]) -> CallPattern:
    tool = _tool(name, (*where, "tool"))
    _check_arguments(tool, arguments, (*where, "arguments"))
    cells = {key: _expected(value, resolver, (*where, "arguments", key)) for key, value in arguments.items()}
    for key, expected in cells.items():
        for value in _literals(expected):
            if value is not None:
                _check_type(tool, key, value, (*where, "arguments", key))
    return CallPattern(name, cells)


def _table(raw: RawConstraint, resolver: Resolver, where: tuple[str | int, ...]) -> TableConstraint:
    schema = _schema(str(raw.table), (*where, "table"))
    given = {"is": raw.matches, "adds": raw.adds, "removes": raw.removes, "updates": raw.updates}
    stated = [kind for kind in KINDS if given[kind] is not None]
    if raw.unchanged and not stated:
        return TableConstraint(schema.name, "unchanged", since=raw.since or START)
    if len(stated) != 1 or raw.unchanged:
        raise ProblemError(where, f"expected exactly one of {', '.join(KINDS)} and unchanged for table {schema.name!r}")
    kind = stated[0]
    rows = given[kind]
    places = (
        [(item, (*where, kind, i)) for i, item in enumerate(rows)]
        if isinstance(rows, list)
        else [(rows, (*where, kind))]
    )
    cells = tuple(_cells(schema, row or {}, resolver, place) for row, place in places)
    if not cells and kind != "is":
        raise ProblemError((*where, kind), f"{kind} needs at least one row")
    return TableConstraint(schema.name, cast("Any", kind), cells, raw.since or START)


def _cells(
    schema: TableSchema, row: Mapping[str, Any], resolver: Resolver, where: tuple[str | int, ...]
) -> Mapping[str, Expected]:
    cells: dict[str, Expected] = {}
    for name, value in row.items():
        _column(schema, name, (*where, name))
        cells[name] = _expected(value, resolver, (*where, name))
        for literal in _literals(cells[name]):
            _check_cell(schema, name, literal, (*where, name))
    return cells


def _check_cell(schema: TableSchema, name: str, value: Any, where: tuple[str | int, ...]) -> None:
    column = schema.column(name)
    if column is None or (value is None and column.nullable):
        return
    if value is None:
        raise ProblemError(where, f"{name!r} of table {schema.name!r} is never null")
    with at(*where):
        _cell(value, column.type)


def _literals(expected: Expected) -> tuple[Any, ...]:
    """The values that something has to equal, as far as the file says them."""
    if expected.ref is not None or expected.measure not in (None, "exact", "one_of", "close"):
        return ()
    return tuple(expected.value) if expected.measure == "one_of" else (expected.value,)


def _expected(value: Any, resolver: Resolver, where: tuple[str | int, ...]) -> Expected:
    try:
        return resolver.expected(value)
    except ValueProblemError as error:
        raise ProblemError(where, str(error)) from error
