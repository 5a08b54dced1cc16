"""From a validated file entry to a scenario: names checked, times, ids and values resolved.

Policy: whatever can be checked without playing the scenario is checked here, so that a scenario that loads can be
played; whether it is a good one is for lint to say.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, cast

from sandbox_mcp.tools import Tool, agent_tools
from sandbox_mcp.world import SCHEMAS, Cell, Clock, Snapshot, TableSchema, snapshot_of, to_timestamp, zone_info
from scenarios.checks import check_calls, check_order
from scenarios.model import (
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
from scenarios.problem import ProblemError, at, closest
from scenarios.schema import RawCall, RawConstraint, RawMilestone, RawScenario, RawTurn, RawUser
from scenarios.values import Resolver, ValueProblemError, row_id

KINDS = ("is", "adds", "removes", "updates")
SINGLE = "phone"
"""The label of the only row of a table that has one row."""
MAX_TURNS, MAX_CALLS = 30, 100


def build(raw: RawScenario, merged: Mapping[str, Any], path: str, line: int) -> Scenario:
    """Resolve one scenario; ``merged`` is the entry with all it inherits, ``raw`` the same after validation.

    Raises:
        ProblemError: something in it does not fit; its path says what.
    """
    clock = _clock(raw)
    resolver = Resolver(clock.zone, {table: frozenset(_labels(table, rows)) for table, rows in raw.world.items()})
    tools = _tools(raw.tools or [], ("tools",))
    milestones = tuple(_milestones(raw.milestones or [], "milestones", resolver))
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
        user=_user(raw.user),
        solutions=solutions,
        milestones=milestones,
        minefields=minefields,
        allows=_allows(raw.allows or {}),
        max_turns=raw.max_turns or MAX_TURNS,
        max_calls=raw.max_calls or MAX_CALLS,
        idle_score=raw.idle_score,
        digest=_digest(merged),
        path=path,
        line=line,
    )


def _digest(merged: Mapping[str, Any]) -> str:
    text = json.dumps(merged, sort_keys=True, default=str, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _clock(raw: RawScenario) -> Clock:
    zone = raw.clock.zone or "UTC"
    with at("clock", "zone"):
        zone_info(zone)
    now = raw.clock.now
    if not isinstance(now, datetime):
        raise ProblemError(("clock", "now"), f"now must be a date and time such as 2025-03-14 09:26:00, not {now!r}")
    return Clock(to_timestamp(now, zone), zone, raw.clock.step or 1.0)


def _labels(table: str, rows: Any) -> Iterable[str]:
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
        if schema.single and not tables[name]:
            raise ProblemError(("world",), f"the world has no row in table {name!r}; extend a base world, or add it")
    return snapshot_of(tables)


def _row(schema: TableSchema, key: str, row: Any, resolver: Resolver, where: tuple[str | int, ...]) -> dict[str, Cell]:
    given = cast("dict[str, Any]", row) if isinstance(row, dict) else {}
    if schema.key in given:
        raise ProblemError((*where, schema.key), f"{schema.key} is made from the row's label; leave it out")
    for column in given:
        _column(schema, column, (*where, column))
    cells: dict[str, Cell] = {}
    for column in schema.columns:
        with at(*where, column.name):
            value = key if column.name == schema.key else resolver.plain(given.get(column.name))
        if value is None and not column.nullable:
            raise ProblemError(where, f"the row lacks {column.name!r} of table {schema.name!r}")
        cells[column.name] = _cell(value, column.type, (*where, column.name))
    return cells


def _cell(value: Any, kind: str, where: tuple[str | int, ...]) -> Cell:
    if value is None:
        return None
    if kind in ("number", "timestamp") and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, {"string": str, "boolean": bool}.get(kind, ())):
        return value
    raise ProblemError(where, f"{value!r} is no {kind}")


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
        demonstration=tuple(Exchange(item.user, item.agent) for item in raw.demonstration),
        script=Script(
            answers=tuple(Answer(tuple(item.about), item.say) for item in script.answers),
            then=tuple(script.then),
            confirm=script.confirm or default.confirm,
            unknown=script.unknown or default.unknown,
            patience=script.patience or default.patience,
        ),
    )


def _turn(raw: RawTurn, resolver: Resolver, where: tuple[str | int, ...]) -> PlannedTurn:
    batches = tuple(
        tuple(_call(call, resolver, (*where, "calls", i)) for call in (item if isinstance(item, list) else [item]))
        for i, item in enumerate(raw.calls)
    )
    return PlannedTurn(batches, raw.reply)


def _call(raw: RawCall, resolver: Resolver, where: tuple[str | int, ...]) -> PlannedCall:
    tool = _tool(raw.tool, (*where, "tool"))
    _check_arguments(tool, raw.arguments, (*where, "arguments"))
    with at(*where, "arguments"):
        return PlannedCall(raw.tool, resolver.plain(raw.arguments), raw.label)


def _check_arguments(tool: Tool, arguments: Mapping[str, Any], where: tuple[str | int, ...]) -> None:
    known = [parameter.name for parameter in tool.parameters]
    for name in arguments:
        if name not in known:
            raise ProblemError(
                (*where, name), f"{tool.name} has no argument {name!r}; known: {', '.join(known) or 'none'}"
            )


def _milestones(raws: list[RawMilestone], kind: str, resolver: Resolver) -> Iterable[Milestone]:
    for index, raw in enumerate(raws):
        where = (kind, index)
        if raw.all_of is None:
            constraints: tuple[Constraint, ...] = (_constraint(raw, resolver, where),)
        elif any(_named(raw)):
            raise ProblemError(
                where, f"milestone {raw.id!r} has constraints both under 'all' and beside it; move them into 'all'"
            )
        else:
            constraints = tuple(_constraint(part, resolver, (*where, "all", i)) for i, part in enumerate(raw.all_of))
        yield Milestone(raw.id, constraints, tuple(raw.after), raw.transient, raw.about)


def _named(raw: RawConstraint) -> tuple[Any, ...]:
    return tuple(item for item in (raw.table, raw.tool, raw.any_of, raw.message) if item is not None)


def _constraint(raw: RawConstraint, resolver: Resolver, where: tuple[str | int, ...]) -> Constraint:
    if len(_named(raw)) != 1:
        raise ProblemError(where, "expected exactly one of table, tool, any_of and message")
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
    rows = given[kind] or {}
    listed = rows if isinstance(rows, list) else [rows]
    cells = tuple(_cells(schema, row, resolver, (*where, kind)) for row in listed)
    if not cells:
        raise ProblemError((*where, kind), f"{kind} needs at least one row")
    return TableConstraint(schema.name, cast("Any", kind), cells, raw.since or START)


def _cells(
    schema: TableSchema, row: Mapping[str, Any], resolver: Resolver, where: tuple[str | int, ...]
) -> Mapping[str, Expected]:
    for column in row:
        _column(schema, column, (*where, column))
    return {column: _expected(value, resolver, (*where, column)) for column, value in row.items()}


def _expected(value: Any, resolver: Resolver, where: tuple[str | int, ...]) -> Expected:
    try:
        return resolver.expected(value)
    except ValueProblemError as error:
        raise ProblemError(where, str(error)) from error
