"""The parts of a scenario that name tables, columns, tools or acts of its world: rows, user, calls, milestones.

Policy: every name and value is held against the world's declaration as it is read, and what does not fit is refused at
the place where the author wrote it.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from typing import Any, cast

from sandbox_mcp.tools import Parameter, Tool, World, misfits
from sandbox_mcp.world import Cell, Column, Snapshot, TableSchema, snapshot_of
from sandbox_mcp.world.fixed import FixedRows
from sandbox_mcp.world.schema import REQUIRED, CellRole
from sandbox_scenarios.checks import labels_in
from sandbox_scenarios.model import (
    START,
    Answer,
    CallConstraint,
    CallPattern,
    Constraint,
    Exchange,
    Expected,
    Measure,
    MessageConstraint,
    Milestone,
    PlannedAct,
    PlannedCall,
    PlannedTurn,
    Script,
    TableConstraint,
    UserSpec,
)  # fmt: skip
from sandbox_scenarios.problem import ProblemError, at, closest
from sandbox_scenarios.schema import (
    RawAct,
    RawCall,
    RawConstraint,
    RawLine,
    RawMilestone,
    RawScenario,
    RawTurn,
    RawUser,
)
from sandbox_scenarios.values import LABEL, Resolver, ValueProblemError, row_id

KINDS = ("is", "adds", "removes", "updates")
BELONGING: Mapping[str, tuple[str, ...]] = {
    "table": ("matches", "adds", "removes", "updates", "unchanged", "since"),
    "tool": ("arguments", "attempt"),
    "any_of": ("attempt",),
    "message": (),
}
"""What a constraint is on, and the keys that then say more."""
Where = tuple[str | int, ...]


def labels_of(home: World, table: str, rows: Any) -> Iterable[str]:
    """The labels of a table's rows, as a file writes the table."""
    schema = home.tables.get(table)
    if schema and schema.single:
        return (schema.label,)
    return map(str, cast("dict[str, Any]", rows)) if isinstance(rows, dict) else ()


class ScenarioParts:
    """Reads the parts of one scenario that name tables, columns or tools of its world."""

    def __init__(self, home: World, resolver: Resolver) -> None:
        self._home = home
        self._resolver = resolver

    def readers(self, raw: RawScenario, rows: Mapping[str, Any], place: str) -> Iterator[Callable[[], object]]:
        """Readers of the parts of a scenario, each of which can be tried though another one fails."""
        for table, labelled in rows.items():
            yield partial(self._rows, table, labelled, place)
        for key, names in (("tools", raw.tools), ("without", raw.without), ("confirm", raw.confirm)):
            yield partial(self.tools, names or [], (key,))
        for kind, listed in (("milestones", raw.milestones or []), ("minefields", raw.minefields or [])):
            for number, item in enumerate(listed):
                yield partial(self._milestone, item, (kind, number))
        for i, solution in enumerate(raw.reference or []):
            for j, turn in enumerate(solution.turns):
                yield partial(self.turn, turn, ("reference", i, "turns", j))
        yield partial(self.allows, raw.allows or {})

    # -- rows -----------------------------------------------------------------------------------------------------

    def state(self, raw: Mapping[str, Any], place: str) -> Snapshot:
        """The rows that a scenario begins with; ``place`` is the key they stand under."""
        schemas = self._home.state_tables
        tables: dict[str, dict[str, dict[str, Cell]]] = {name: {} for name in schemas}
        for name, rows in raw.items():
            tables[name] = self._rows(name, rows, place)
        for name, schema in schemas.items():
            if schema.single and not schema.optional and not tables[name]:
                told = f"the world has no row in table {name!r}; extend a base world, or add it"
                raise ProblemError((place,), told)
        return snapshot_of(tables)

    def _rows(self, name: str, rows: Any, place: str) -> dict[str, dict[str, Cell]]:
        schema = self._schema(name, (place, name))
        if schema.fixed is not None:
            raise ProblemError((place, name), f"the rows of table {name!r} are fixed; a scenario cannot set them")
        labelled = {schema.label: rows} if schema.single else rows
        if not isinstance(labelled, dict):
            raise ProblemError((place, name), "expected a mapping of labels to rows")
        found: dict[str, dict[str, Cell]] = {}
        for label, row in cast("dict[str, Any]", labelled).items():
            where = (place, name) if schema.single else (place, name, str(label))
            key = row_id(name, str(label))
            found[key] = self._row(schema, key, row, where)
        return found

    def _row(self, schema: TableSchema, key: str, row: Any, where: Where) -> dict[str, Cell]:
        if not isinstance(row, dict):
            raise ProblemError(where, f"expected a mapping of columns to values, not {row!r}")
        given = cast("dict[str, Any]", row)
        if schema.key in given:
            raise ProblemError((*where, schema.key), f"{schema.key} is made from the row's label; leave it out")
        for column in given:
            self._column(schema, column, (*where, column))
        cells: dict[str, Cell] = {schema.key: key}
        for column in schema.columns[1:]:
            written = given.get(column.name)
            if written is None and column.default is not REQUIRED:
                cells[column.name] = column.default
            elif written is None and not column.nullable:
                raise ProblemError(where, f"the row lacks {column.name!r} of table {schema.name!r}")
            else:
                cells[column.name] = self._written(column, written, (*where, column.name))
        return cells

    def _written(self, column: Column, written: Any, where: Where) -> Cell:
        if written is None:
            return None
        try:
            value = self._resolver.plain(written)
            self._cell_refers(column, written, value)
            return _cell(value, column, written)
        except (ValueProblemError, ValueError) as error:
            raise ProblemError(where, str(error)) from error

    def _cell_refers(self, column: Column, written: Any, value: Any) -> None:
        """Refuse an id of a row of another table, in a cell or in its list."""
        self._refers(column.role, written, value)
        if isinstance(written, list):
            for item, one in zip(cast("list[Any]", written), cast("list[Any]", value), strict=True):
                self._refers(column.item_role, item, one)

    def _refers(self, role: CellRole | None, written: Any, value: Any) -> None:
        """Refuse an id of a row of another table, or of none; ValueError says which was expected."""
        if role is None or role.kind not in ("id", "key") or not role.table or not isinstance(written, str):
            return
        if written.startswith("@"):
            table = written[1:].partition(".")[0]
            if table != role.table:
                raise ValueError(f"{written!r} is a row of table {table!r}; expected one of {role.table!r}")
            return
        schema = self._home.tables.get(role.table)
        if schema is not None and schema.fixed is not None and value not in FixedRows.of(schema).rows:
            near = get_close_matches(written, FixedRows.of(schema).rows, n=3, cutoff=0.5)
            hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise ValueError(f"table {role.table!r} has no row with the id {written!r}{hint}")

    def _schema(self, table: str, where: Where) -> TableSchema:
        schema = self._home.tables.get(table)
        if schema is None:
            raise ProblemError(where, f"unknown table {table!r}; known: {', '.join(self._home.tables) or 'none'}")
        return schema

    @staticmethod
    def _column(schema: TableSchema, column: str, where: Where) -> Column:
        found = schema.column(column)
        if found is None:
            known = ", ".join(item.name for item in schema.columns)
            told = f"unknown column {column!r} of table {schema.name!r}; known: {known}"
            alone = "; the only row of a table is written without a label" if schema.single else ""
            raise ProblemError(where, f"{told}{alone}")
        return found

    def allows(self, raw: Mapping[str, list[str]]) -> Mapping[str, tuple[str, ...]]:
        """The tables and columns whose changes do not count."""
        for table, columns in raw.items():
            schema = self._schema(table, ("allows", table))
            for index, column in enumerate(columns):
                if column != "*":
                    self._column(schema, column, ("allows", table, index))
        return {table: tuple(columns) for table, columns in raw.items()}

    # -- the user -------------------------------------------------------------------------------------------------

    def user(self, raw: RawUser) -> UserSpec:
        """The user, whose acts are those that the world offers."""
        if not raw.goal or not raw.opening:
            raise ProblemError(("user",), "the user needs a goal and an opening, the first thing it says")
        script = raw.script
        default = Script()
        does: dict[str, PlannedAct] = {}
        return UserSpec(
            goal=raw.goal,
            opening=raw.opening,
            knows=tuple(raw.knows),
            does_not_know=tuple(raw.does_not_know),
            wants_not=tuple(raw.wants_not),
            demonstration=tuple(Exchange(item.user, item.agent) for item in raw.demonstration),
            prompt=raw.prompt or "",
            script=Script(
                answers=tuple(
                    Answer(tuple(item.about), self._line(item, ("user", "script", "answers", i), does))
                    for i, item in enumerate(script.answers)
                ),
                then=tuple(
                    item if isinstance(item, str) else self._line(item, ("user", "script", "then", i), does)
                    for i, item in enumerate(script.then)
                ),
                confirm=script.confirm or default.confirm,
                unknown=script.unknown or default.unknown,
                approves=script.approves,
                decline=script.decline or default.decline,
                patience=script.patience or default.patience,
                does=does,
            ),
        )

    def _line(self, raw: RawLine, where: Where, does: dict[str, PlannedAct]) -> str:
        """What the user says there; what it does first is kept with it."""
        if raw.does is None:
            if not raw.say:
                raise ProblemError(where, "expected what the user says under 'say', or an act of its under 'does'")
            return raw.say
        act = RawAct(act=raw.does) if isinstance(raw.does, str) else raw.does
        tool = self._home.user_acts.get(act.act)
        if tool is None:
            known = ", ".join(self._home.user_acts) or "none"
            told = f"users of world {self._home.name!r} cannot do {act.act!r}; what they can do: {known}"
            raise ProblemError((*where, "does"), told)
        _check_complete(tool, act.arguments, (*where, "does"))
        schemas = {item.name: item.value for item in tool.parameters}
        for name, value in act.arguments.items():
            for misfit in misfits(value, schemas[name], name):
                raise ProblemError((*where, "does", "arguments", name), f"{tool.name}: {misfit.told()}")
        says = raw.say or f"{{{tool.name}}}"
        planned = PlannedAct(tool.name, dict(act.arguments))
        if does.setdefault(says, planned) != planned:
            told = f"another line also says {says!r}, and does something else; tell them apart under 'say'"
            raise ProblemError((*where, "does"), told)
        return says

    # -- calls ----------------------------------------------------------------------------------------------------

    def tools(self, names: list[str], where: Where) -> tuple[str, ...]:
        """Names of tools, each once."""
        for index, name in enumerate(names):
            self._tool(name, (*where, index))
        return tuple(dict.fromkeys(names))

    def offered(self, raw: Mapping[str, Mapping[str, str]]) -> Mapping[str, Mapping[str, str]]:
        """The tools of each variant, presented name to tool; what variants there are is seen when one is played."""
        for variant, shown in raw.items():
            for name, tool in shown.items():
                self._tool(tool, ("offered", variant, name))
        return raw

    def _tool(self, name: str, where: Where) -> Tool:
        tool = self._home.agent_tools.get(name)
        if tool is None and name in self._home.user_acts:
            told = f"{name!r} is what users do and no tool of the agent's; the user's script has it under 'does'"
            raise ProblemError(where, told)
        if tool is None:
            raise ProblemError(where, f"unknown tool {name!r}; {closest(name, self._home.agent_tools)}")
        return tool

    def turn(self, raw: RawTurn, where: Where) -> PlannedTurn:
        """One turn of a reference solution."""
        batches: list[tuple[PlannedCall, ...]] = []
        for i, item in enumerate(raw.calls):
            place = (*where, "calls", i)
            if isinstance(item, list):
                batches.append(tuple(self._call(call, (*place, j)) for j, call in enumerate(item)))
            else:
                batches.append((self._call(item, place),))
        return PlannedTurn(tuple(batches), raw.reply)

    def _call(self, raw: RawCall, where: Where) -> PlannedCall:
        tool = self._tool(raw.tool, (*where, "tool"))
        if raw.label is not None and not LABEL.fullmatch(raw.label):
            told = f"{raw.label!r} cannot be referred to; expected letters, digits, _ and -, a letter first"
            raise ProblemError((*where, "as"), told)
        _check_complete(tool, raw.arguments, where)
        arguments: dict[str, Any] = {}
        for name, value in raw.arguments.items():
            place = (*where, "arguments", name)
            with at(*place):
                arguments[name] = self._resolver.plain(value)
            self._check_argument(tool, name, value, arguments[name], place)
        return PlannedCall(raw.tool, arguments, raw.label)

    def _check_argument(self, tool: Tool, name: str, written: Any, value: Any, where: Where) -> None:
        """Refuse a value that does not fit; of what an earlier call will have returned nothing is known yet."""
        parameter = _parameter(tool, name)
        found = misfits(value, parameter.value, name)
        wrong = next((item for item in found if item.needless or not any(labels_in(item.value))), None)
        if wrong is not None and wrong.path == name and wrong.kind == "type":
            raise ProblemError(where, f"{tool.name} takes {wrong.expected} as {name!r}, not {value!r}")
        if wrong is not None:
            raise ProblemError(where, f"{tool.name}: {wrong.told()}")

        def refers(role: CellRole, one: Any) -> None:
            if not any(labels_in(one)):
                self._refers(role, one, one)

        with at(*where):
            parameter.with_roles(written, refers)

    # -- milestones -----------------------------------------------------------------------------------------------

    def milestones(self, raws: list[RawMilestone], kind: str) -> Iterable[Milestone]:
        """Milestones or minefields."""
        return (self._milestone(raw, (kind, index)) for index, raw in enumerate(raws))

    def _milestone(self, raw: RawMilestone, where: Where) -> Milestone:
        if raw.id == START:
            told = f"{START!r} is the moment before everything; call it something else"
            raise ProblemError((*where, "id"), told)
        if raw.all_of is None:
            constraints: tuple[Constraint, ...] = (self._constraint(raw, where),)
        elif _own_keys(raw):
            told = f"milestone {raw.id!r} has constraints both under 'all' and beside it; move them into 'all'"
            raise ProblemError(where, told)
        else:
            constraints = tuple(self._constraint(part, (*where, "all", i)) for i, part in enumerate(raw.all_of))
        return Milestone(raw.id, constraints, tuple(raw.after), bool(raw.transient), raw.about)

    def _constraint(self, raw: RawConstraint, where: Where) -> Constraint:
        written = _own_keys(raw)
        named = [name for name in BELONGING if name in written]
        if len(named) != 1:
            found = ", ".join(named) or "none"
            raise ProblemError(where, f"expected exactly one of {', '.join(BELONGING)}; found {found}")
        for name, shown in written.items():
            if name not in (named[0], *BELONGING[named[0]]):
                raise ProblemError((*where, shown), f"{shown!r} says nothing beside {named[0]!r}")
        if raw.message is not None:
            content = self._expected(raw.message.content, (*where, "message", "content"))
            return MessageConstraint(content, raw.message.sender, raw.message.recipient)
        if raw.table is not None:
            return self._table(raw, where)
        if raw.tool is not None:
            return CallConstraint((self._pattern(raw.tool, raw.arguments or {}, where),), raw.attempt)
        numbered = enumerate(raw.any_of or [])
        patterns = (self._pattern(item.tool, item.arguments, (*where, "any_of", i)) for i, item in numbered)
        return CallConstraint(tuple(patterns), raw.attempt)

    def _pattern(self, name: str, arguments: Mapping[str, Any], where: Where) -> CallPattern:
        tool = self._tool(name, (*where, "tool"))
        _check_known(tool, arguments, where)
        cells: dict[str, Expected] = {}
        for key, written in arguments.items():
            place, parameter = (*where, "arguments", key), _parameter(tool, key)
            expected = self._expected(written, place)
            for raw, value in zip(_written_literals(written), _literals(expected), strict=False):
                if value is not None:
                    self._check_argument(tool, key, raw, value, place)
            cells[key] = _usual(expected, parameter.measure, parameter.within)
        return CallPattern(name, cells)

    def _table(self, raw: RawConstraint, where: Where) -> TableConstraint:
        schema = self._schema(str(raw.table), (*where, "table"))
        given = {"is": raw.matches, "adds": raw.adds, "removes": raw.removes, "updates": raw.updates}
        stated = [kind for kind in KINDS if given[kind] is not None]
        if raw.unchanged and not stated:
            return TableConstraint(schema.name, "unchanged", since=raw.since or START)
        if len(stated) != 1 or raw.unchanged:
            told = f"expected exactly one of {', '.join(KINDS)} and unchanged for table {schema.name!r}"
            raise ProblemError(where, told)
        kind = stated[0]
        rows = given[kind]
        if isinstance(rows, list):
            cells = tuple(self._cells(schema, row, (*where, kind, i)) for i, row in enumerate(rows))
        else:
            cells = (self._cells(schema, rows or {}, (*where, kind)),)
        if not cells and kind != "is":
            raise ProblemError((*where, kind), f"{kind} needs at least one row")
        return TableConstraint(schema.name, cast("Any", kind), cells, raw.since or START)

    def _cells(self, schema: TableSchema, row: Mapping[str, Any], where: Where) -> Mapping[str, Expected]:
        cells: dict[str, Expected] = {}
        for name, written in row.items():
            place = (*where, name)
            column = self._column(schema, name, place)
            expected = self._expected(written, place)
            for raw, literal in zip(_written_literals(written), _literals(expected), strict=False):
                if literal is None and not column.nullable:
                    raise ProblemError(place, f"{column.name!r} of table {schema.name!r} is never null")
                with at(*place):
                    if literal is not None:
                        _cell(literal, column, raw)
                        self._cell_refers(column, raw, literal)
            cells[name] = _usual(expected, column.measure, column.within)
        return cells

    def _expected(self, value: Any, where: Where) -> Expected:
        try:
            return self._resolver.expected(value)
        except ValueProblemError as error:
            raise ProblemError(where, str(error)) from error


def _usual(expected: Expected, measure: Measure | None, within: float | None) -> Expected:
    """What is expected, with how it is compared where the file does not say."""
    return replace(expected, usual=measure, usual_within=within) if measure else expected


_WRITTEN: Mapping[str, str] = {
    "timestamp": "; expected a date and time such as 2026-03-02 09:00:00",
    "string": "; write text that looks like something else in quotes",
    "boolean": "; expected true or false",
}
"""How a file has values of a type, where that is easily mistaken."""


def _parameter(tool: Tool, name: str) -> Parameter:
    return next(parameter for parameter in tool.parameters if parameter.name == name)


def _cell(value: Any, column: Column, written: Any) -> Cell:
    """A value as a cell of that column; ValueError, with what the file has, where it does not fit."""
    if column.type == "list":
        if not isinstance(value, list | tuple):
            raise ValueError(
                f"column {column.name!r} holds a list; write [{json.dumps(written, default=str)}] for a list of one"
            )
        inside = Column(column.name, column.items or "string", choices=column.choices)
        items = cast("list[Any]", value)
        parts = cast("list[Any]", written) if isinstance(written, list | tuple) else items
        return tuple(cast("str", _cell(*one)) for one in zip(items, [inside] * len(items), parts, strict=True))
    if column.choices and value not in column.choices:
        raise ValueError(f"column {column.name!r}: {value!r} is not one of {', '.join(map(str, column.choices))}")
    if column.type in ("number", "timestamp") and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, _TYPES.get(column.type, ())) and isinstance(value, bool) == (column.type == "boolean"):
        return cast(Cell, value)
    raise ValueError(f"column {column.name!r}: {value!r} is not of type {column.type}{_WRITTEN.get(column.type, '')}")


_TYPES: Mapping[str, type] = {"string": str, "boolean": bool, "integer": int}


def _check_known(tool: Tool, arguments: Mapping[str, Any], where: Where) -> None:
    known = [parameter.name for parameter in tool.parameters]
    for name in arguments:
        if name not in known:
            told = f"{tool.name} has no argument {name!r}; known: {', '.join(known) or 'none'}"
            raise ProblemError((*where, "arguments", name), told)


def _check_complete(tool: Tool, arguments: Mapping[str, Any], where: Where) -> None:
    _check_known(tool, arguments, where)
    missing = [item.name for item in tool.parameters if item.required and item.name not in arguments]
    if missing:
        raise ProblemError(where, f"{tool.name} also needs {', '.join(missing)}")


def _own_keys(raw: RawConstraint) -> dict[str, str]:
    """The keys of a constraint that were written, by the names the schema has for them."""
    fields = RawConstraint.model_fields
    return {name: fields[name].alias or name for name in fields if name in raw.model_fields_set}


def _written_literals(written: Any) -> tuple[Any, ...]:
    """The values that something has to equal, as the file writes them; in the order of :func:`_literals`."""
    if not isinstance(written, dict):
        return (written,)
    parts = cast("dict[str, Any]", written)
    if "one_of" in parts:
        return tuple(parts["one_of"])
    return (next((parts[name] for name in ("exact", "close", "set") if name in parts), None),)


def _literals(expected: Expected) -> tuple[Any, ...]:
    """The values that something has to equal, as far as the file says them."""
    if expected.ref is not None or expected.measure not in (None, "exact", "one_of", "set", "close"):
        return ()
    return tuple(expected.value) if expected.measure == "one_of" else (expected.value,)
