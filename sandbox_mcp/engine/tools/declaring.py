"""A world as it is declared: its tables, its tools, its events and gates, and what its texts say.

Policy: everything that a session, a log, a grader or lint needs to know of a world follows from this one declaration.
Nothing is worked out before it is asked for, so that importing a world costs nothing. A world crosses to another
process by reference, never by value: whoever needs it loads the same code.
"""

import hashlib
import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from types import MappingProxyType
from typing import Any, TypeVar, overload

from sandbox_mcp.engine.own_code import others_code
from sandbox_mcp.engine.tools.declared import DeclaredTool, DueEvent, GateRule, OfSession, Sources, check_table_of
from sandbox_mcp.engine.tools.definition import Tool
from sandbox_mcp.engine.tools.hints import Hints
from sandbox_mcp.engine.tools.signatures import check_plain, check_takes
from sandbox_mcp.engine.tools.user_tools import ENGINE_TOOLS
from sandbox_mcp.engine.world.clock import Clock, IdStream
from sandbox_mcp.engine.world.effects import Effects, effects_of, listed, own_effects
from sandbox_mcp.engine.world.faults import WorldError
from sandbox_mcp.engine.world.fixed import FixedInstance
from sandbox_mcp.engine.world.schema import TableSchema
from sandbox_mcp.engine.world.state import Snapshot
from sandbox_mcp.engine.world.tables import Table, is_table, schema_of
from sandbox_mcp.engine.world.transaction import Transaction

F = TypeVar("F", bound=Callable[..., Any])
WHOEVER = "You are an assistant and act through the tools you are given."
RELY = "Rely on what the user and the tools tell you, and look up or ask for what you do not know."
"""What every agent is told, whatever world it is in, unless other instructions were chosen: nothing about the
scenario, and nothing about giving up, which would move the scores of what cannot be done."""
NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
"""What MCP wants the names of tools to be."""
JOINED = "+"
"""Stands between the names of worlds that lie side by side in one scenario."""


class World:
    """A world that scenarios are played in. See ``docs/worlds.md`` for one from beginning to end."""

    def __init__(
        self,
        name: str,
        *,
        tables: Iterable[type[Table]] = (),
        version: str = "1",
        policy: str = "",
        instructions: str = "",
        user: str = "",
        place: str = "",
        knowledge: Callable[[], object] | None = None,
        sources: Callable[[], Sources] | None = None,
        modules: Sequence[str] = (),
        hints: Callable[[], Hints] = Hints,
        situation: Callable[[Snapshot, Clock, str], str] | None = None,
    ) -> None:
        """Declare a world.

        ``policy`` and ``instructions`` are told to the agent, ``user`` to a model that plays the user, ``place`` says
        where all this is in texts such as "on the phone". ``knowledge`` makes what tools look things up in, outside the
        state, and ``sources`` says what may take its place; where neither is given, anything may. ``modules`` are
        imported before the tools are first asked for, and declare theirs. ``hints`` makes what those who try scenarios
        may want to know beside the declaration. ``situation`` words what the agent is told of the moment at which a
        session begins, from the state, the clock, and where the scenario says that it takes place.

        Raises:
            WorldError: the name cannot be written in a scenario.
        """
        if not NAME.fullmatch(name):
            raise WorldError(f"world {name!r}: expected lower-case letters, digits and _, a letter first")
        classes = listed("tables", tables, "tables", where=f"world {name!r}: ")
        if strange := [item for item in classes if not is_table(item)]:
            named = getattr(strange[0], "__name__", repr(strange[0]))
            raise WorldError(f"world {name!r} lists {named} as a table; expected classes derived from Table")
        if knowledge is not None and not callable(knowledge):
            raise WorldError(f"world {name!r}: knowledge is {knowledge!r}; expected a class or function that makes it")
        self.name = name
        self.version = version
        self.policy = policy
        self.instructions = instructions
        self.user = user
        self.place = place or f"in the world {name!r}"
        frame = inspect.currentframe()
        caller = frame.f_back if frame else None
        self.origin = str(caller.f_globals.get("__file__", "")) if caller else ""
        self._classes = classes
        self._knowledge = knowledge
        self._sources = sources
        self._modules = tuple(modules)
        self._hints = hints
        self._situation = situation
        self.ids: Callable[[str], IdStream] = IdStream
        self._declared: dict[str, DeclaredTool | Tool] = {}
        self._events: list[tuple[type[Table], str, Callable[..., Any], Effects | None]] = []
        self._gates: list[GateRule] = []

    def __reduce__(self) -> tuple[Any, ...]:
        return _found_again, (self.name, self.origin)

    def __repr__(self) -> str:
        return f"World({self.name!r})"

    def as_elsewhere(self, ids: Callable[[str], IdStream], knowledge: object) -> "World":
        """A copy of the world with ids drawn and things looked up as another implementation of it does.

        ``ids`` makes the stream of ids from a session's seed.
        """
        found = object.__new__(World)  # a copy in the usual way is found again by its name: it would be this world
        found.__dict__.update(self.__dict__)
        found.ids = ids
        found.__dict__["knowledge"] = knowledge
        return found

    # -- declaring ------------------------------------------------------------------------------------------------

    @overload
    def query(self, function: F, /) -> F: ...
    @overload
    def query(
        self, /, *, name: str | None = None, group: str = "", computes: bool = False, slow: bool = False
    ) -> Callable[[F], F]: ...
    def query(
        self, function: Any = None, /, *, name: str | None = None, group: str = "", computes: bool = False,
        slow: bool = False,
    ) -> Any:  # fmt: skip
        """Declare a function to be a tool that only looks. The function stays what it is.

        ``computes`` says that its result follows from its arguments alone, neither from the state nor from the time nor
        from ``knowledge`` that an agent could not have: an agent that works it out by itself is right, too. ``slow``
        says that an answer may take long, and none when the same is asked again: other clients do not wait for it.
        """
        more: Mapping[str, Any] = {"effects": Effects(), "computes": computes, "slow": slow}
        return self._declaring(function, lambda found: DeclaredTool(found, name or found.__name__, group, **more))

    @overload
    def action(self, function: F, /) -> F: ...
    @overload
    def action(
        self, /, *, destructive: bool | None = None, adds: Iterable[type[Table]] = (), updates: Iterable[object] = (),
        removes: Iterable[type[Table]] = (), reaches: str | None = None, said: Iterable[str] = (),
        name: str | None = None, group: str = "",
    ) -> Callable[[F], F]: ...  # fmt: skip
    def action(
        self, function: Any = None, /, *, destructive: bool | None = None, adds: Iterable[type[Table]] = (),
        updates: Iterable[object] = (), removes: Iterable[type[Table]] = (), reaches: str | None = None,
        said: Iterable[str] = (), name: str | None = None, group: str = "",
    ) -> Any:  # fmt: skip
        """Declare a function to be a tool that changes the world.

        ``adds`` and ``removes`` are tables, ``updates`` columns (``Order.status``) or whole tables: once one is named,
        the tool may write nothing else. ``destructive`` says that it can overwrite or remove what was there; by default
        that follows from what it updates and removes. ``reaches`` names the argument that says who is reached by it.
        ``said`` are words with which an agent tells that it has done it.
        """
        effects = effects_of(adds, updates, removes)
        if isinstance(said, str):
            raise WorldError(f"said is the text {said!r}; expected a list of words, such as [{said!r}]")
        more = (group, True, "agent", destructive, effects, reaches, tuple(said))
        return self._declaring(function, lambda found: DeclaredTool(found, name or found.__name__, *more))

    @overload
    def user_action(self, function: F, /) -> F: ...
    @overload
    def user_action(
        self, /, *, adds: Iterable[type[Table]] | None = None, updates: Iterable[object] | None = None,
        removes: Iterable[type[Table]] | None = None, name: str | None = None,
    ) -> Callable[[F], F]: ...  # fmt: skip
    def user_action(
        self, function: Any = None, /, *, adds: Iterable[type[Table]] | None = None,
        updates: Iterable[object] | None = None, removes: Iterable[type[Table]] | None = None, name: str | None = None,
    ) -> Any:  # fmt: skip
        """Declare a function to be something that the simulated user can do in the world.

        Once ``adds``, ``updates`` or ``removes`` is given, be it empty, the function may write nothing else.
        """
        effects = own_effects(adds, updates, removes)
        more = ("user", True, "user", None, effects)
        return self._declaring(function, lambda found: DeclaredTool(found, name or found.__name__, *more))

    def event(
        self, table: type[Table], *, at: str, adds: Iterable[type[Table]] | None = None,
        updates: Iterable[object] | None = None, removes: Iterable[type[Table]] | None = None,
    ) -> Callable[[F], F]:  # fmt: skip
        """Declare what happens to a row of a table once the moment in its column ``at`` has come.

        The function takes the transaction and the row, and returns what the agent is told, or None. Once ``adds``,
        ``updates`` or ``removes`` is given, be it empty, it may write nothing else.
        """
        effects = own_effects(adds, updates, removes)

        def declare(found: F) -> F:
            check_plain(found)
            where = f"event {found.__name__!r} of world {self.name!r}"
            check_takes(found, 2, where, "the transaction and the row, such as 'tx: Tx, order: Order'")
            if any(found.__name__ == event.__name__ for _, _, event, _ in self._events):
                raise WorldError(f"world {self.name!r} has two events of the name {found.__name__!r}")
            self._events.append((table, at, found, effects))
            self._forget()
            return found

        return declare

    def gate(self, name: str, *, opened_by: Callable[..., Any] | str) -> Callable[[F], F]:
        """Declare a condition under which tools work: a function that says whether it holds.

        Its docstring is what an agent is told while it does not, such as "nobody is signed in". ``opened_by`` is the
        tool that works nevertheless.
        """
        opener = opened_by if isinstance(opened_by, str) else getattr(opened_by, "__name__", None)
        if opener is None:
            raise WorldError(f"gate {name!r} is opened by {opened_by!r}; expected a tool's function or name")

        def declare(found: F) -> F:
            check_plain(found)
            check_takes(found, 1, f"gate {name!r} of world {self.name!r}", "the transaction, such as 'tx: Tx'")
            closed = (inspect.getdoc(found) or f"{name} is closed").splitlines()[0].rstrip(".")
            self._gates.append(GateRule(name, opener, closed, found))
            self._forget()
            return found

        return declare

    def include(self, *tools: Tool) -> None:
        """Declare tools that were made by hand, such as those of a server elsewhere.

        Raises:
            WorldError: there is one of that name already.
        """
        for tool in tools:
            self._take(tool)

    def _declaring(self, function: Any, made: Callable[[Any], DeclaredTool]) -> Any:
        """Declare a function to be the tool made of it, or give what declares the one that it decorates."""

        def declare(found: F) -> F:
            check_plain(found)
            declared = made(found)
            if not TOOL_NAME.fullmatch(declared.name):
                told = "cannot be a tool's name; expected letters, digits, _, - and ., at most 128"
                raise WorldError(f"world {self.name!r}: {declared.name!r} {told}")
            self._take(declared)
            return found

        return declare if function is None else declare(function)

    def _take(self, tool: DeclaredTool | Tool) -> None:
        name = tool.name
        if any(name == own.name for own in ENGINE_TOOLS):
            told = "is the name of a tool that users have in every world; expected another"
            raise WorldError(f"world {self.name!r}: {name!r} {told}")
        if name in self._declared:
            raise WorldError(f"world {self.name!r} has two tools of the name {name!r}")
        self._declared[name] = tool
        self._forget()

    def _forget(self) -> None:
        """Forget what was worked out from tools, events and gates, because one more of them was declared."""
        for name in ("tools", "agent_tools", "user_acts", "events", "gates", "digest"):
            self.__dict__.pop(name, None)

    # -- what follows ---------------------------------------------------------------------------------------------

    @cached_property
    def tables(self) -> Mapping[str, TableSchema]:
        """Every table by name, those with fixed rows included."""
        schemas = [schema_of(table) for table in self._classes]
        names = [schema.name for schema in schemas]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice:
            raise WorldError(f"world {self.name!r} has two tables of the name {twice!r}")
        for schema in schemas:
            for item in schema.columns:
                for role in (item.role, item.item_role):
                    check_table_of(role, names, self.name, f"table {schema.name!r}: column {item.name!r}")
        return MappingProxyType({schema.name: schema for schema in schemas})

    @cached_property
    def state_tables(self) -> Mapping[str, TableSchema]:
        """The tables that are part of the state."""
        return MappingProxyType({name: schema for name, schema in self.tables.items() if schema.fixed is None})

    @cached_property
    def switches(self) -> Mapping[str, tuple[str, ...]]:
        """Names that people give to switches, by column."""
        found: dict[str, tuple[str, ...]] = {}
        for item in (item for schema in self.state_tables.values() for item in schema.columns if item.called):
            found[item.name] = tuple(dict.fromkeys((*found.get(item.name, ()), *item.called)))
        return MappingProxyType(found)

    @cached_property
    def tools(self) -> Mapping[str, Tool]:
        """Every tool by name, in the order of ``modules`` and of declaration; what every user can do comes last."""
        self._load()
        places = {module: place for place, module in enumerate(self._modules)}
        declared = sorted(self._declared.values(), key=lambda item: places.get(item.function.__module__, -1))
        made = (item if isinstance(item, Tool) else item.tool(self.name, self.tables) for item in declared)
        return MappingProxyType({tool.name: tool for tool in (*made, *ENGINE_TOOLS)})

    @property
    def gated(self) -> frozenset[str]:
        """The tools that make no sense where no gate is closed: those that open one, and the others of their groups.

        A tool that was declared without a group is of none, though all such tools are presented as one.
        """
        openers = [self.tools[rule.opened_by] for rule in self.gates.values()]
        groups = {tool.domain for tool in openers} - {self.name}
        return frozenset(tool.name for tool in self.tools.values() if tool in openers or tool.domain in groups)

    @property
    def functions(self) -> Mapping[str, Callable[..., Any]]:
        """The author's function for every tool, event and gate, by its name."""
        self._load()
        return {
            **{name: item.function for name, item in self._declared.items()},
            **{event.__name__: event for _, _, event, _ in self._events},
            **{gate.name: gate.function for gate in self._gates},
        }

    @property
    def classes(self) -> tuple[type[Table], ...]:
        """The tables as they are declared."""
        return self._classes

    @cached_property
    def agent_tools(self) -> Mapping[str, Tool]:
        """Every tool that an agent may be offered."""
        return MappingProxyType({name: tool for name, tool in self.tools.items() if tool.caller == "agent"})

    @cached_property
    def user_acts(self) -> Mapping[str, Tool]:
        """Acts of the user in this world, beside confirming and leaving."""
        own = {tool.name for tool in ENGINE_TOOLS}
        return MappingProxyType(
            {name: tool for name, tool in self.tools.items() if tool.caller == "user" and name not in own}
        )

    @cached_property
    def events(self) -> tuple[DueEvent, ...]:
        """Events that fall due, in the order of declaration."""
        self._load()
        for table, _, function, effects in self._events:
            where = f"event {function.__name__!r} of world {self.name!r}"
            if table not in self._classes:
                raise WorldError(f"{where} is about table {schema_of(table).name!r}, which the world does not list")
            if effects is not None:
                effects.check_tables(self.tables, where)
        return tuple(DueEvent.of(self.name, *declared) for declared in self._events)

    @cached_property
    def gates(self) -> Mapping[str, GateRule]:
        """The gates that scenarios may demand, by name."""
        self._load()
        for rule in self._gates:
            if rule.opened_by not in self.tools:
                raise WorldError(f"gate {rule.name!r} is opened by unknown tool {rule.opened_by!r}")
        return MappingProxyType({rule.name: rule for rule in self._gates})

    @cached_property
    def knowledge(self) -> object:
        """Knowledge that tools look things up in where a session brings nothing else."""
        with others_code(f"the knowledge of world {self.name!r} cannot be made", WorldError):
            return self._knowledge() if self._knowledge else None

    @cached_property
    def sources(self) -> Sources | None:
        """Substitutes for the world's knowledge; None where the world declares none."""
        return self._sources() if self._sources else None

    def begin(self, transaction: Transaction) -> None:
        """Take up the state at a session's begin, beside the rows of its scenario: in most worlds nothing."""

    def retold(self, calls: Sequence[tuple[Any, ...]]) -> object | None:  # noqa: ARG002 - for worlds that ask others
        """What answers tools as a log says, where the world itself cannot; ``calls`` are the log's, in order.

        Each is a tool's name, its arguments, its result, the text of its error or None, and what the log says beside.
        """
        return None

    @property
    def free(self) -> frozenset[str]:
        """The tables whose changes nobody judges."""
        return frozenset()

    def fixed_in(self, label: str) -> FixedInstance | None:
        """The fixed tables as an instance has them; None where there are none, and without an instance."""
        fixed = [schema for schema in self.tables.values() if schema.fixed is not None] if label else []
        return FixedInstance(fixed, label) if fixed else None

    def looked_up(self, given: object, label: str = "") -> object:
        """Knowledge for a session that brings this: that, if it is for this world.

        Knowledge that has a method ``in_instance`` is asked for its own form in the instance of that label.
        """
        if isinstance(given, OfSession):
            given = given.servers.get(self.name, given.rest)
        if given is None:
            made = getattr(self.knowledge, "in_instance", None) if label else None
            return made(label) if made else self.knowledge
        takes = self._knowledge is None if self.sources is None else isinstance(given, self.sources.kind)
        return given if takes else self.knowledge

    @cached_property
    def hints(self) -> Hints:
        """Hints of the world for tools that try its scenarios."""
        return self._hints()

    @property
    def briefing(self) -> str:
        """Briefing of the agent before a conversation: the same in every session of this world."""
        told = f"{self.instructions or WHOEVER} {RELY}"
        return f"{told}\n{self.policy}" if self.policy else told

    def situation(self, state: Snapshot, clock: Clock, where: str) -> str:
        """What the agent is told of the moment at which a session begins; nothing unless the world words it.

        Raises:
            WorldError: the world's own code broke.
        """
        with others_code(f"the situation of world {self.name!r} cannot be worded", WorldError):
            return self._situation(state, clock, where) if self._situation else ""

    @cached_property
    def digest(self) -> str:
        """Changes with whatever the declaration says, and with the rows of fixed tables."""
        tables = [repr(_portable(schema)) for schema in self.tables.values()]
        tools = [
            [tool.name, tool.domain, tool.action, tool.caller, tool.description, tool.input_schema()]
            for tool in self.tools.values()
        ]
        rest = [[e.name, e.table.name, e.column] for e in self.events], [[g.name, g.opened_by] for g in self._gates]
        text = json.dumps([self.name, self.version, self.briefing, tables, tools, rest], sort_keys=True)
        whole = hashlib.sha256(text.encode())
        for schema in self.tables.values():
            if schema.fixed is not None:
                whole.update(schema.fixed.read_bytes())
        return whole.hexdigest()[:16]

    def told(self) -> Mapping[str, Mapping[str, str]]:
        """Description of the world in a session's log."""
        return {self.name: {"version": self.version, "digest": self.digest}}

    def check(self) -> None:
        """Work out all that follows from the declaration.

        Raises:
            WorldError: it cannot work; the message says why.
        """
        _ = self.tables, self.tools, self.events, self.gates

    def _load(self) -> None:
        for module in self._modules:
            import_module(module)


def _found_again(name: str, origin: str) -> World:
    """The world of that name in this process; what a pickled world becomes."""
    finding: Any = import_module("sandbox_mcp.engine.worlds")
    return finding.found_again(name, origin)


def _portable(schema: TableSchema) -> Any:
    """A schema without where its rows lie on this machine."""
    return [
        schema.name, schema.key, schema.single, schema.optional, schema.lasting,
        *([item.name, item.type, item.nullable, item.choices, item.hidden] for item in schema.columns),
    ]  # fmt: skip
