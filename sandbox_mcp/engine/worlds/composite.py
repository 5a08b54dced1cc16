"""Several worlds in one scenario: their tables and tools side by side, under one clock.

Policy: a composite is named after its parts (``phone+office``), in the order in which they are listed. A table or tool
that several parts have gets its world's name in front (``office_reminder``) in each of them, so that no name depends on
the order. Each part's own code sees its own tables by their own names, and only what that part looks things up in.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from random import Random
from types import MappingProxyType
from typing import Any, cast

from sandbox_mcp.engine.tools.attacks import AttackGoal
from sandbox_mcp.engine.tools.declared import DueEvent, GateRule, Sources
from sandbox_mcp.engine.tools.declaring import JOINED, World
from sandbox_mcp.engine.tools.definition import Parameter, Tool
from sandbox_mcp.engine.tools.hints import Hints, TriedCall
from sandbox_mcp.engine.tools.user_tools import ENGINE_TOOLS
from sandbox_mcp.engine.world import Clock, Row, Snapshot
from sandbox_mcp.engine.world.effects import Effects
from sandbox_mcp.engine.world.faults import WorldError
from sandbox_mcp.engine.world.schema import CellRole, Column, TableSchema
from sandbox_mcp.engine.world.state import Cell
from sandbox_mcp.engine.world.tables import Table
from sandbox_mcp.engine.world.transaction import Transaction
from sandbox_mcp.engine.world.tx import Tx


def composite(*parts: World) -> World:
    """The world in which these are side by side; one alone is itself.

    Raises:
        WorldError: one is listed twice, or two have a gate of the same name.
    """
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, Composite) else (part,))]
    return flat[0] if len(flat) == 1 else _composite(tuple(flat))


@lru_cache(maxsize=64)
def _composite(parts: tuple[World, ...]) -> "Composite":
    return Composite(parts)


class Composite(World):
    """Several worlds as one. See :func:`composite`."""

    def __init__(self, parts: tuple[World, ...]) -> None:
        names = [part.name for part in parts]
        if twice := _in_several([[name] for name in names]):
            raise WorldError(f"the world {min(twice)!r} is listed twice; a scenario has each of its worlds once")
        super().__init__(
            "composite",
            version=JOINED.join(part.version for part in parts),
            policy=_each_once("\n", (part.policy for part in parts)),
            instructions=_each_once(" ", (part.instructions for part in parts)),
            user=_each_once(" ", (part.user for part in parts)),
            place=_each_once(" and ", (part.place for part in parts)),
        )
        self.name = JOINED.join(names)
        self.origin = ""
        self.parts = parts
        tables, tools = _in_several(part.tables for part in parts), _in_several(map(_own_tools, parts))
        self._rooms = tuple(
            Room(
                part,
                {name: f"{part.name}_{name}" for name in part.tables if name in tables},
                {name: f"{part.name}_{name}" for name in _own_tools(part) if name in tools},
            )
            for part in parts
        )
        if gates := _in_several(part.gates for part in parts):
            raise WorldError(f"of the worlds {', '.join(names)} several have a gate {min(gates)!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return composite, self.parts

    @cached_property
    def tables(self) -> Mapping[str, TableSchema]:
        """Every table by name, those of the first part first."""
        return MappingProxyType({schema.name: schema for room in self._rooms for schema in room.tables})

    @cached_property
    def tools(self) -> Mapping[str, Tool]:
        """Every tool by name; those that every user has come last."""
        found = [*(tool for room in self._rooms for tool in room.tools), *ENGINE_TOOLS]
        return MappingProxyType({tool.name: tool for tool in found})

    @cached_property
    def events(self) -> tuple[DueEvent, ...]:
        """What falls due in any part."""
        return tuple(event for room in self._rooms for event in room.events)

    @cached_property
    def gates(self) -> Mapping[str, GateRule]:
        """The gates of all parts, by name."""
        return MappingProxyType({rule.name: rule for room in self._rooms for rule in room.gates})

    @property
    def gated(self) -> frozenset[str]:
        """The tools that make no sense where no gate is closed."""
        return frozenset(room.tool(name) for room in self._rooms for name in room.part.gated)

    @property
    def functions(self) -> Mapping[str, Callable[..., Any]]:
        """The author's function for every tool, event and gate, by its name."""
        return {room.tool(name): found for room in self._rooms for name, found in room.part.functions.items()}

    @property
    def classes(self) -> tuple[type[Table], ...]:
        """The tables as the parts declare them."""
        return tuple(table for part in self.parts for table in part.classes)

    @cached_property
    def knowledge(self) -> object:
        """What tools look things up in, by the name of their part."""
        return {part.name: part.knowledge for part in self.parts}

    @cached_property
    def sources(self) -> Sources | None:
        """What may take the place of a part's knowledge, of the first part that says so."""
        return next((part.sources for part in self.parts if part.sources is not None), None)

    def looked_up(self, given: object, label: str = "") -> object:
        """What each part's tools look things up in where a session brings this, in the instance of that label."""
        return {part.name: part.looked_up(given, label) for part in self.parts}

    def situation(self, state: Snapshot, clock: Clock, where: str) -> str:
        """What each part tells the agent of the moment at which a session begins.

        Raises:
            WorldError: the own code of a part broke.
        """
        return _each_once(" ", (room.part.situation(room.state(state), clock, where) for room in self._rooms))

    def begin(self, transaction: Transaction) -> None:
        """Let each part take up its state at the start."""
        for room in self._rooms:
            room.part.begin(_PartTransaction(room, transaction))

    def retold(self, calls: Sequence[tuple[Any, ...]]) -> object | None:
        """What answers as a log says, by part."""
        own = {
            room.part.name: [(room.own_tool[name], *rest) for name, *rest in calls if name in room.own_tool]
            for room in self._rooms
        }
        found = {room.part.name: room.part.retold(own[room.part.name]) for room in self._rooms}
        if not any(found.values()):
            return None
        return {part.name: found[part.name] or part.knowledge for part in self.parts}

    @property
    def free(self) -> frozenset[str]:
        """The tables whose changes nobody judges."""
        return frozenset(room.table(name) for room in self._rooms for name in room.part.free)

    @cached_property
    def hints(self) -> Hints:
        """What the parts say for tools that try scenarios."""
        return _hints_of(self._rooms)


@dataclass(frozen=True)
class Room:
    """One part of a composite; ``tables_as`` and ``tools_as`` are what the composite calls its tables and tools."""

    part: World
    tables_as: Mapping[str, str]
    tools_as: Mapping[str, str]

    def table(self, name: str) -> str:
        """What the composite calls one of this part's tables."""
        return self.tables_as.get(name, name)

    def tool(self, name: str) -> str:
        """What the composite calls one of this part's tools."""
        return self.tools_as.get(name, name)

    @cached_property
    def own_tool(self) -> Mapping[str, str]:
        """The part's own name of each of its tools, by the composite's."""
        return {self.tool(name): name for name in _own_tools(self.part)}

    @cached_property
    def own_table(self) -> Mapping[str, str]:
        """The part's own name of each of its tables, by the composite's."""
        return {self.table(name): name for name in self.part.tables}

    @property
    def tables(self) -> Iterator[TableSchema]:
        """The part's tables under the composite's names."""
        return map(self._schema, self.part.tables.values())

    @property
    def tools(self) -> Iterator[Tool]:
        """The part's tools under the composite's names."""
        for name in _own_tools(self.part):
            tool = self.part.tools[name]
            yield replace(
                tool,
                name=self.tool(name),
                function=self._inside(tool.function),
                parameters=tuple(map(self._parameter, tool.parameters)),
                effects=self._effects(tool.effects),
            )

    @property
    def events(self) -> Iterator[DueEvent]:
        """What falls due in the part, in the composite's tables."""
        for event in self.part.events:

            def happen(tx: Tx, row: Any, event: DueEvent = event) -> str | None:
                own = _PartTransaction(self, tx.transaction)
                try:
                    return event.function(Tx(own, event.name, event.effects), row)
                finally:
                    tx.transaction.elapsed = own.elapsed

            yield replace(event, table=self._schema(event.table), function=happen, effects=self._effects(event.effects))

    @property
    def gates(self) -> Iterator[GateRule]:
        """The part's gates, opened by tools under the composite's names."""
        for rule in self.part.gates.values():

            def is_open(tx: Tx, rule: GateRule = rule) -> bool:
                return self._inside(rule.is_open)(tx.transaction)

            yield replace(rule, opened_by=self.tool(rule.opened_by), function=is_open)

    def state(self, snapshot: Snapshot) -> Snapshot:
        """The composite's state as this part knows it."""
        return Snapshot(MappingProxyType({name: snapshot.table(self.table(name)) for name in self.part.state_tables}))

    def _inside(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of a transaction under this part's names, as one of the composite's transaction."""

        def run(transaction: Transaction, /, **arguments: Any) -> Any:
            own = _PartTransaction(self, transaction)
            try:
                return function(own, **arguments)
            finally:
                transaction.elapsed = own.elapsed

        return run

    def _schema(self, schema: TableSchema) -> TableSchema:
        columns = tuple(map(self._column, schema.columns))
        return replace(schema, name=self.table(schema.name), columns=columns)

    def _column(self, item: Column) -> Column:
        return replace(item, role=self._role(item.role), item_role=self._role(item.item_role))

    def _parameter(self, item: Parameter) -> Parameter:
        inside = tuple((path, self._role(role) or role) for path, role in item.inside)
        return replace(item, role=self._role(item.role), inside=inside)

    def _role(self, role: CellRole | None) -> CellRole | None:
        return replace(role, table=self.table(role.table)) if role and role.table in self.tables_as else role

    def _effects(self, effects: Effects | None) -> Effects | None:
        if effects is None or not self.tables_as:
            return effects
        updates = {self.table(table): columns for table, columns in effects.updates.items()}
        adds, removes = map(self.table, effects.adds), map(self.table, effects.removes)
        return Effects(frozenset(adds), frozenset(removes), MappingProxyType(updates))


class _PartTransaction(Transaction):
    """The composite's transaction under the names, and with the knowledge, of one part."""

    __slots__ = ("_table",)

    def __init__(self, room: Room, outer: Transaction) -> None:
        known = cast("Mapping[str, object]", outer.knowledge or {})
        super().__init__(
            outer.base, outer.clock, outer.ids, outer.drawn, outer.changes, outer.reads, outer.writes, outer.elapsed,
            known.get(room.part.name), outer.fixed, outer.notes, outer.edited,
        )  # fmt: skip
        self._table = room.table

    def rows(self, table: str) -> list[Any]:
        """All rows of a table, oldest first."""
        return Transaction.rows(self, self._table(table))

    def row(self, table: str, key: str) -> Row | None:
        """One row, or None where the id is unknown."""
        return Transaction.row(self, self._table(table), key)

    def cell(self, table: str, key: str, column: str) -> Cell:
        """One value of one row; the row must exist."""
        return Transaction.cell(self, self._table(table), key, column)

    def reads_cell(self, table: str, key: str, column: str) -> None:
        """Note that a value is read."""
        Transaction.reads_cell(self, self._table(table), key, column)

    def seen(self, table: str) -> Mapping[str, Row]:
        """The rows of a table by id."""
        return Transaction.seen(self, self._table(table))

    def insert(self, table: str, key_column: str, values: Mapping[str, Cell]) -> str:
        """Add a row under a new id, and return the id."""
        return Transaction.insert(self, self._table(table), key_column, values)

    def update(self, table: str, key: str, values: Mapping[str, Cell]) -> None:
        """Set some columns of an existing row."""
        Transaction.update(self, self._table(table), key, values)

    def delete(self, table: str, key: str) -> None:
        """Remove an existing row."""
        Transaction.delete(self, self._table(table), key)

    def put(self, table: str, key: str, row: Row | None) -> None:
        """Make a row be as it is elsewhere."""
        Transaction.put(self, self._table(table), key, row)


def _own_tools(world: World) -> list[str]:
    """The names of a world's tools, without those that the engine gives to every user."""
    engine = {tool.name for tool in ENGINE_TOOLS}
    return [name for name in world.tools if name not in engine]


def _in_several(names: Iterable[Iterable[str]]) -> set[str]:
    """The names that occur in more than one of these."""
    return {name for name, times in Counter(name for group in names for name in set(group)).items() if times > 1}


def _each_once(between: str, texts: Iterable[str]) -> str:
    return between.join(dict.fromkeys(text for text in texts if text))


def _hints_of(rooms: tuple[Room, ...]) -> Hints:  # noqa: C901  (a line for each hint)
    """The hints of all parts: each tool or table has those of its part."""
    by_tool = {name: room for room in rooms for name in room.own_tool}
    by_table = {name: room for room in rooms for name in room.own_table}
    every = [(room, room.part.hints) for room in rooms]

    def wrong(state: Snapshot, tool: str, argument: str, value: Any) -> Iterable[Any]:
        room = by_tool.get(tool)
        found = room.part.hints.wrong if room else None
        return found(room.state(state), room.own_tool[tool], argument, value) if room and found else ()

    def some(state: Snapshot, argument: str) -> Any:
        asked = (hints.some(room.state(state), argument) for room, hints in every if hints.some)
        return next((value for value in asked if value is not None), None)

    def needs(tool: str, arguments: Mapping[str, Any]) -> frozenset[str]:
        room = by_tool.get(tool)
        found = room.part.hints.needs if room else None
        return found(room.own_tool[tool], arguments) if room and found else frozenset()

    def back(table: str, key: str, before: Row | None, after: Row | None) -> Iterator[TriedCall]:
        room = by_table.get(table)
        found = room.part.hints.back if room else None
        if room and found:
            for tool, arguments in found(room.own_table[table], key, before, after):
                yield room.tool(tool), arguments

    def meddling(before: Snapshot, after: Snapshot, now: float) -> Iterator[TriedCall]:
        for room, hints in every:
            if hints.meddling:
                for tool, arguments in hints.meddling(room.state(before), room.state(after), now):
                    yield room.tool(tool), arguments

    def attacks(state: Snapshot, now: float, draw: Random) -> Iterator[AttackGoal]:
        for room, hints in every:
            for goal in hints.attacks(room.state(state), now, draw) if hints.attacks else ():
                calls = tuple((room.tool(tool), arguments) for tool, arguments in goal.calls)
                yield replace(goal, calls=calls, table=room.table(goal.table))

    def has(what: str) -> bool:
        return any(getattr(hints, what) is not None for _, hints in every)

    return Hints(
        wrong=wrong if has("wrong") else None,
        read=next((hints.read for _, hints in every if hints.read), None),
        some=some if has("some") else None,
        meant=frozenset[str]().union(*(hints.meant for _, hints in every)),
        windows=frozenset(room.tool(name) for room, hints in every for name in hints.windows),
        ends_as={
            (room.table(table), argument): column
            for room, hints in every
            for (table, argument), column in hints.ends_as.items()
        },
        switches={room.tool(tool): column for room, hints in every for tool, column in hints.switches.items()},
        needs=needs if has("needs") else None,
        said={room.tool(tool): words for room, hints in every for tool, words in hints.said.items()},
        targets={argument: room.table(table) for room, hints in every for argument, table in hints.targets.items()},
        own=frozenset[str]().union(*(hints.own for _, hints in every)),
        reckons=frozenset(room.tool(name) for room, hints in every for name in hints.reckons),
        asked_in_many_ways=any(hints.asked_in_many_ways for _, hints in every),
        off_first=next((hints.off_first for _, hints in every if hints.off_first), ""),
        clock=next((room.tool(hints.clock) for room, hints in every if hints.clock), ""),
        units={room.tool(tool): argument for room, hints in every for tool, argument in hints.units.items()},
        looks=tuple((room.tool(tool), arguments) for room, hints in every for tool, arguments in hints.looks),
        back=back if has("back") else None,
        meddling=meddling if has("meddling") else None,
        attacks=attacks if has("attacks") else None,
    )
