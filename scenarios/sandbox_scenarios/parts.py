"""The parts of a scenario that name tools, acts, tables or columns of its world: user, calls, milestones.

Policy: every name and value is held against the world's declaration as it is read, and what does not fit is refused at
the place where the author wrote it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from sandbox_mcp.engine.tools import Parameter, Tool, World, misfits
from sandbox_mcp.engine.tools.injected import LOOKING, FaultRule
from sandbox_mcp.engine.world import TableSchema
from sandbox_mcp.engine.world.schema import CellRole
from sandbox_scenarios.checks import labels_in
from sandbox_scenarios.happenings import Happening, WorldCondition
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
    Persona,
    PlannedAct,
    PlannedCall,
    PlannedTurn,
    Script,
    Slip,
    TableConstraint,
    UserSpec,
)  # fmt: skip
from sandbox_scenarios.personas import NEEDS
from sandbox_scenarios.problem import PartPath, ProblemError, at, closest
from sandbox_scenarios.rows import ScenarioRows, cell_of
from sandbox_scenarios.schema import (
    RawAct,
    RawCall,
    RawCondition,
    RawConstraint,
    RawEvent,
    RawFault,
    RawLine,
    RawMilestone,
    RawScenario,
    RawTurn,
    RawUser,
)
from sandbox_scenarios.values import LABEL, Resolver, ValueProblemError

KINDS = ("is", "adds", "removes", "updates")
BELONGING: Mapping[str, tuple[str, ...]] = {
    "table": ("matches", "adds", "removes", "updates", "unchanged", "since"),
    "tool": ("arguments", "attempt"),
    "any_of": ("attempt",),
    "message": (),
}
"""What a constraint is on, and the keys that then say more."""

_STANDS_FOR = re.compile(r"\{(\w+)\}")
"""Where a line that does something says what came of it."""


class ScenarioParts:
    """Reads the parts of one scenario that name tables, columns or tools of its world."""

    def __init__(self, home: World, resolver: Resolver) -> None:
        self.home = home
        self._resolver = resolver
        self.rows = ScenarioRows(home, resolver)

    def readers(self, raw: RawScenario, rows: Mapping[str, Any], place: str) -> Iterator[Callable[[], object]]:
        """Readers of the parts of a scenario. Each can be tried even if another one fails."""
        for table, labelled in rows.items():
            yield partial(self.rows.of_table, table, labelled, place)
        for key, names in (("tools", raw.tools), ("without", raw.without), ("confirm", raw.confirm)):
            yield partial(self.tools, names or [], (key,))
        for kind, listed in (("milestones", raw.milestones or []), ("minefields", raw.minefields or [])):
            for index, item in enumerate(listed):
                yield partial(self._milestone, item, (kind, index))
        for number, end in enumerate(raw.end_states):
            for index, item in enumerate(end.milestones):
                yield partial(self._milestone, item, ("end_states", number, "milestones", index))
        for number, event in enumerate(raw.events):
            yield partial(self.event, event, ("events", number))
        for i, solution in enumerate(raw.reference or []):
            for j, turn in enumerate(solution.turns):
                yield partial(self.turn, turn, ("reference", i, "turns", j))
        yield partial(self.allows, raw.allows or {})

    def allows(self, raw: Mapping[str, list[str]]) -> Mapping[str, tuple[str, ...]]:
        """The tables and columns whose changes do not count."""
        for table, columns in raw.items():
            schema = self.rows.schema(table, ("allows", table))
            for index, column in enumerate(columns):
                if column != "*":
                    self.rows.column(schema, column, ("allows", table, index))
        return {table: tuple(columns) for table, columns in raw.items()}

    # -- the user -------------------------------------------------------------------------------------------------

    def user(self, raw: RawUser) -> UserSpec:
        """The user, whose acts are those that the world offers."""
        if not raw.goal or not raw.opening:
            raise ProblemError(("user",), "the user needs a goal and an opening, the first thing it says")
        script = raw.script
        default = Script()
        does: dict[str, PlannedAct] = {}
        when: dict[str, WorldCondition] = {}
        return UserSpec(
            goal=raw.goal,
            opening=raw.opening,
            knows=tuple(raw.knows),
            does_not_know=tuple(raw.does_not_know),
            wants_not=tuple(raw.wants_not),
            demonstration=tuple(Exchange(item.user, item.agent) for item in raw.demonstration),
            prompt=raw.prompt or "",
            personas=self._personas(raw),
            slips=tuple(Slip(item.says, item.means) for item in raw.slips),
            changes=tuple(raw.changes),
            script=Script(
                answers=tuple(
                    Answer(tuple(item.about), self._line(item, ("user", "script", "answers", i), does, when))
                    for i, item in enumerate(script.answers)
                ),
                then=tuple(
                    item if isinstance(item, str) else self._line(item, ("user", "script", "then", i), does, when)
                    for i, item in enumerate(script.then)
                ),
                confirm=script.confirm or default.confirm,
                unknown=script.unknown or default.unknown,
                approves=script.approves,
                decline=script.decline or default.decline,
                patience=script.patience or default.patience,
                does=does,
                when=when,
            ),
        )

    def _personas(self, raw: RawUser) -> tuple[Persona, ...]:
        """The personas of a brief, with what each of them needs."""
        named: list[Persona] = raw.persona if isinstance(raw.persona, list) else [raw.persona]
        for persona, needed in NEEDS.items():
            if persona in named and not getattr(raw, needed):
                raise ProblemError(("user", "persona"), f"a user who is {persona!r} needs {needed!r}, which say how")
        for index, slip in enumerate(raw.slips):
            if slip.means not in (raw.opening or ""):
                told = f"{slip.means!r} does not stand in the opening, so that nothing can be said in its place"
                raise ProblemError(("user", "slips", index, "means"), told)
        return tuple(dict.fromkeys(named))

    def _line(self, raw: RawLine, where: PartPath, does: dict[str, PlannedAct], when: dict[str, WorldCondition]) -> str:
        """Line of the user at this place; its act and its condition are noted under these words."""
        says = self._said(raw, where, does)
        if raw.when is not None:
            condition = self.condition(raw.when, (*where, "when"))
            if when.setdefault(says, condition) != condition:
                raise ProblemError(
                    (*where, "when"), f"another line also says {says!r}, when something else is so; word one otherwise"
                )
        return says

    def _said(self, raw: RawLine, where: PartPath, does: dict[str, PlannedAct]) -> str:
        """Words of a line; an act that comes before it is noted under them."""
        if raw.does is None:
            if not raw.say:
                raise ProblemError(where, "expected what the user says under 'say', or an act of its under 'does'")
            return raw.say
        act = RawAct(act=raw.does) if isinstance(raw.does, str) else raw.does
        tool = self.home.user_acts.get(act.act)
        if tool is None:
            known = ", ".join(self.home.user_acts) or "none"
            told = f"users of world {self.home.name!r} cannot do {act.act!r}; what they can do: {known}"
            raise ProblemError((*where, "does"), told)
        _check_complete(tool, act.arguments, (*where, "does"))
        schemas = {item.name: item.value for item in tool.parameters}
        for name, value in act.arguments.items():
            for misfit in misfits(value, schemas[name], name):
                raise ProblemError((*where, "does", "arguments", name), f"{tool.name}: {misfit.told()}")
        says = raw.say or f"{{{tool.name}}}"
        if lost := [found for found in _STANDS_FOR.findall(says) if found != tool.name]:
            told = f"nothing is called {lost[0]!r} there; what came of the act is {{{tool.name}}}"
            raise ProblemError((*where, "say"), told)
        planned = PlannedAct(tool.name, dict(act.arguments))
        number = 1
        while not raw.say and replace(does.get(says, planned), place="") != planned:  # the same act in another way
            number += 1
            says = f"{{{tool.name} {number}}}"
        planned = replace(planned, place=says if number > 1 else "")
        if does.setdefault(says, planned) != planned:
            told = f"another line also says {says!r}, and does something else; tell them apart under 'say'"
            raise ProblemError((*where, "does"), told)
        return says

    # -- what happens by itself -----------------------------------------------------------------------------------

    def condition(self, raw: RawCondition, where: PartPath) -> WorldCondition:
        """A condition on the state of the world."""
        schema = self.rows.schema(raw.table, (*where, "table"))
        if (raw.has is None) == (raw.lacks is None):
            raise ProblemError(where, "expected either 'has' or 'lacks', with cells of a row")
        key, written = ("has", raw.has) if raw.has is not None else ("lacks", raw.lacks or {})
        cells = self.rows.cells(schema, written, (*where, key))
        return WorldCondition(schema.name, cells, raw.least, lacks=raw.has is None)

    def events(self, raws: Sequence[RawEvent]) -> Iterator[Happening]:
        """What happens by itself in the course of a session."""
        names = {event.name for event in self.home.events}
        for index, raw in enumerate(raws):
            if raw.id in names:
                raise ProblemError(("events", index, "id"), f"there are two events of the name {raw.id!r}")
            names.add(raw.id)
            yield self.event(raw, ("events", index))

    def event(self, raw: RawEvent, where: PartPath) -> Happening:
        """Something that happens once by itself."""
        if raw.when is None and raw.at is None:
            raise ProblemError(where, f"event {raw.id!r} needs a condition under 'when', or a moment under 'at'")
        if not (raw.adds or raw.updates or raw.notice):
            raise ProblemError(where, f"event {raw.id!r} does nothing; say what under 'adds', 'updates' or 'notice'")
        return Happening(
            raw.id,
            self.condition(raw.when, (*where, "when")) if raw.when else None,
            None if raw.at is None else self._moment(raw.at, (*where, "at")),
            raw.after,
            {table: self.rows.of_table(table, rows, "adds", where) for table, rows in raw.adds.items()},
            {table: self._updates(table, rows, (*where, "updates", table)) for table, rows in raw.updates.items()},
            raw.notice,
        )

    def _moment(self, written: Any, where: PartPath) -> float:
        with at(*where):
            value = self._resolver.plain(written)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ProblemError(where, f"expected a date and time such as 2026-03-02 09:00:00, not {written!r}")
        return float(value)

    def _updates(self, table: str, rows: Mapping[str, Any], where: PartPath) -> Mapping[str, Mapping[str, Any]]:
        schema = self.rows.schema(table, where)
        labelled = {schema.label: rows} if schema.single else rows
        return {
            self._resolver.row_id(table, str(label)): self.rows.cells(schema, row, (*where, str(label)))
            for label, row in labelled.items()
        }

    # -- calls ----------------------------------------------------------------------------------------------------

    def tools(self, names: list[str], where: PartPath) -> tuple[str, ...]:
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

    def faults(self, raws: Sequence[RawFault]) -> Iterator[FaultRule]:
        """The faults that strike calls; some kinds strike only tools that look."""
        for index, raw in enumerate(raws):
            tool = self._tool(raw.tool, ("faults", index, "tool"))
            if tool.action and raw.kind in LOOKING:
                told = f"a fault {raw.kind!r} strikes tools that only look, and {raw.tool!r} acts"
                raise ProblemError(("faults", index, "kind"), told)
            bounds = raw.call if isinstance(raw.call, list) else [raw.call, raw.call]
            if len(bounds) != 2 or bounds[0] > bounds[1]:
                raise ProblemError(
                    ("faults", index, "call"), "expected the number of a call, or the least and the most"
                )
            yield FaultRule(raw.tool, raw.kind, *bounds)

    def _tool(self, name: str, where: PartPath) -> Tool:
        tool = self.home.agent_tools.get(name)
        if tool is None and name in self.home.user_acts:
            told = f"{name!r} is what users do and no tool of the agent's; the user's script has it under 'does'"
            raise ProblemError(where, told)
        if tool is None:
            raise ProblemError(where, f"unknown tool {name!r}; {closest(name, self.home.agent_tools)}")
        return tool

    def turn(self, raw: RawTurn, where: PartPath) -> PlannedTurn:
        """One turn of a reference solution."""
        batches: list[tuple[PlannedCall, ...]] = []
        for i, item in enumerate(raw.calls):
            place = (*where, "calls", i)
            if isinstance(item, list):
                batches.append(tuple(self._call(call, (*place, j)) for j, call in enumerate(item)))
            else:
                batches.append((self._call(item, place),))
        return PlannedTurn(tuple(batches), raw.reply)

    def _call(self, raw: RawCall, where: PartPath) -> PlannedCall:
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

    def _check_argument(self, tool: Tool, name: str, written: Any, value: Any, where: PartPath) -> None:
        """Refuse a value that does not fit; a value that an earlier call will return is not known yet, and passes."""
        parameter = _parameter(tool, name)
        found = misfits(value, parameter.value, name)
        wrong = next((item for item in found if item.needless or not any(labels_in(item.value))), None)
        if wrong is not None and wrong.path == name and wrong.kind == "type":
            raise ProblemError(where, f"{tool.name} takes {wrong.expected} as {name!r}, not {value!r}")
        if wrong is not None:
            raise ProblemError(where, f"{tool.name}: {wrong.told()}")

        def refers(role: CellRole, one: Any) -> None:
            if not any(labels_in(one)):
                self.rows.see_id(role, one, one)

        with at(*where):
            parameter.with_roles(written, refers)

    # -- milestones -----------------------------------------------------------------------------------------------

    def milestones(self, raws: list[RawMilestone], *where: str | int) -> Iterable[Milestone]:
        """Milestones or minefields that stand at this place."""
        return (self._milestone(raw, (*where, index)) for index, raw in enumerate(raws))

    def _milestone(self, raw: RawMilestone, where: PartPath) -> Milestone:
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

    def _constraint(self, raw: RawConstraint, where: PartPath) -> Constraint:
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

    def _pattern(self, name: str, arguments: Mapping[str, Any], where: PartPath) -> CallPattern:
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

    def _table(self, raw: RawConstraint, where: PartPath) -> TableConstraint:
        schema = self.rows.schema(str(raw.table), (*where, "table"))
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

    def _cells(self, schema: TableSchema, row: Mapping[str, Any], where: PartPath) -> Mapping[str, Expected]:
        cells: dict[str, Expected] = {}
        for name, written in row.items():
            place = (*where, name)
            column = self.rows.column(schema, name, place)
            expected = self._expected(written, place)
            for raw, literal in zip(_written_literals(written), _literals(expected), strict=False):
                if literal is None and not column.nullable:
                    raise ProblemError(place, f"{column.name!r} of table {schema.name!r} is never null")
                with at(*place):
                    if literal is not None:
                        cell_of(literal, column, raw)
                        self.rows.see_cell(column, raw, literal)
            cells[name] = _usual(expected, column.measure, column.within)
        return cells

    def _expected(self, value: Any, where: PartPath) -> Expected:
        try:
            return self._resolver.expected(value)
        except ValueProblemError as error:
            raise ProblemError(where, str(error)) from error


def _usual(expected: Expected, measure: Measure | None, within: float | None) -> Expected:
    """Default expectation, with its measure where the file names none."""
    return replace(expected, usual=measure, usual_within=within) if measure else expected


def _parameter(tool: Tool, name: str) -> Parameter:
    return next(parameter for parameter in tool.parameters if parameter.name == name)


def _check_known(tool: Tool, arguments: Mapping[str, Any], where: PartPath) -> None:
    known = [parameter.name for parameter in tool.parameters]
    for name in arguments:
        if name not in known:
            told = f"{tool.name} has no argument {name!r}; known: {', '.join(known) or 'none'}"
            raise ProblemError((*where, "arguments", name), told)


def _check_complete(tool: Tool, arguments: Mapping[str, Any], where: PartPath) -> None:
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
    """The literal values that are expected; none where the expectation is of another kind."""
    if expected.ref is not None or expected.measure not in (None, "exact", "one_of", "set", "close"):
        return ()
    return tuple(expected.value) if expected.measure == "one_of" else (expected.value,)
