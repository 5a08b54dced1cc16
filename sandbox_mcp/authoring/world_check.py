"""Whether a world keeps to the rules that make its sessions repeatable: what its code says, what it does when tried.

Policy: the code of every module that declares a tool is read, helpers included, for what reaches past the transaction.
Then every tool is called some times in worlds of rows made up from the tables, twice each, with the results held
against what their annotations say. Nothing is promised by silence: a tool may still be wrong in a way that neither
reading nor these trials show.
"""

import ast
import inspect
import json
import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, cast

from sandbox_mcp.authoring.mutants.wrong import some_value
from sandbox_mcp.tools import Bound, Outcome, Parameter, World, bind, present
from sandbox_mcp.tools.calling import BROKEN, EXPECTED, WorldFailedError, attempt, place_of
from sandbox_mcp.tools.declaring import DueEvent, GateRule
from sandbox_mcp.tools.user_tools import ENGINE_TOOLS
from sandbox_mcp.tools.value_schemas import misfits
from sandbox_mcp.world import Cell, Clock, Column, IdStream, Running, Snapshot, TableSchema, Transaction, snapshot_of
from sandbox_mcp.world.faults import WorldError
from sandbox_mcp.world.fixed import FixedRows
from sandbox_mcp.world.schema import CellRole
from sandbox_mcp.world.tables import Table, is_table

RULES: Mapping[str, str] = MappingProxyType(
    {
        "host_clock": "ask the transaction: tx.now, tx.local(moment)",
        "chance": "let nothing depend on chance; ids come from tx.add",
        "outside_io": "put data into a fixed table, and leave files, network and output alone",
        "module_state": "keep what changes in a table; whatever lies in a module is shared by all sessions",
        "mutable_default": "use None or a tuple, and make the list in the function",
        "set_order": "sort what comes out of a set before it is gone through",
        "past_the_transaction": "write with tx.add, tx.change and tx.remove only",
        "undeclared_table": "list the table in World(tables=[...])",
        "undeclared_effect": "name it in adds=, updates= or removes=, or do not write it",
        "secret": "leave it out of results and messages; only what the user does may tell it",
        "result": "return what the annotation says, or annotate what is returned",
        "not_repeatable": "let the result follow from the state and the arguments alone",
        "broken": "mend it, or raise ValueError, NoDataError or a ToolFault of your own with a message",
        "docstring": "say in a docstring what the tool does; an agent reads nothing else",
        "dangling": "mend the file, so that every id in it is that of a row",
        "declaration": "mend the declaration",
    }
)
"""Every rule, and how to mend what breaks it."""
CLOCKS = {
    "time": {"time", "time_ns", "monotonic", "perf_counter", "localtime", "gmtime", "ctime", "strftime", "sleep"},
    "datetime": {"now", "utcnow", "today"},
    "date": {"today"},
}
CHANCES = {"random", "secrets", "uuid", "numpy"}
OUTSIDE = {"requests", "httpx", "urllib", "socket", "subprocess", "shutil", "http", "sqlite3", "tempfile", "aiohttp"}
OUTSIDE_CALLS = {"open", "print", "input", "exec", "eval", "__import__"}
FILE_METHODS = {"read_text", "write_text", "read_bytes", "write_bytes", "unlink", "mkdir", "touch", "iterdir", "glob"}
CHANGING = {"append", "extend", "add", "update", "insert", "remove", "pop", "popitem", "clear", "setdefault", "discard"}
_TOLD = {"time", "datetime"}
"""Modules whose functions are known by name, whatever an import calls them."""
BYPASSING = {"transaction", "_cells", "_effects"}
TRIALS, MOST_TRIALS, ROWS = 12, 200, 4
"""How often a tool is tried, how often at most where it says no every time, and how many rows a table has."""


@dataclass(frozen=True, slots=True)
class WorldFinding:
    """One thing to mend in a world: where, which rule, and what."""

    world: str
    place: str
    rule: str
    problem: str

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}; {RULES[self.rule]} [{self.rule}]"

    def to_json(self) -> dict[str, str]:
        """The finding as a JSON object."""
        told = {"world": self.world, "place": self.place, "rule": self.rule, "problem": self.problem}
        return {**told, "mend": RULES[self.rule]}


def check_world(world: World, refused: dict[str, str] | None = None) -> tuple[WorldFinding, ...]:
    """Everything in a world's code and conduct that would make its sessions unrepeatable or unreadable.

    ``refused`` is filled with the tools that said no every time they were tried, and with what they said last: of what
    they do otherwise nothing is known.
    """
    try:
        world.check()
    except WorldError as error:
        return (WorldFinding(world.name, world.name, "declaration", str(error)),)
    silent = [tool.name for tool in world.tools.values() if not tool.description.strip() and tool not in ENGINE_TOOLS]
    undocumented = (WorldFinding(world.name, name, "docstring", f"tool {name!r} has no docstring") for name in silent)
    noes = {} if refused is None else refused
    found = (*undocumented, *_dangling(world), *_read(world), *_tried(world, noes), *_tried_by_itself(world, noes))
    return tuple(dict.fromkeys(found))


def _dangling(world: World) -> Iterator[WorldFinding]:
    """Ids in fixed rows that no row of the fixed table has which they point at."""
    fixed = {name: FixedRows.of(schema).rows for name, schema in world.tables.items() if schema.fixed}
    for name, rows in fixed.items():
        for item in world.tables[name].columns:
            role = item.item_role or item.role
            if role is None or role.kind != "id" or role.table not in fixed:
                continue
            for key, row in rows.items():
                cell = row[item.name]
                named = cell if isinstance(cell, tuple) else () if cell is None else (cell,)
                lost = [one for one in named if one not in fixed[role.table]]
                if lost:
                    told = f"row {key!r} of fixed table {name!r} has {lost[0]!r} as {item.name!r}"
                    yield WorldFinding(world.name, name, "dangling", f"{told}, which no row of {role.table!r} is")


# -- what the code says ---------------------------------------------------------------------------------------------


def _read(world: World) -> Iterator[WorldFinding]:
    """What stands in the modules that declare the world's tools."""
    names = {function.__module__ for function in world.functions.values()}
    for name in sorted(names):
        module = sys.modules.get(name)
        if module is None:
            continue
        try:
            source = inspect.getsource(module)
        except (OSError, TypeError):
            continue
        reader = _Reader(world, module, Path(str(module.__file__)).name)
        reader.visit(ast.parse(source))
        yield from reader.found


class _Reader(ast.NodeVisitor):
    """Goes through one module and notes what its functions must not do; what runs on import is left alone."""

    def __init__(self, world: World, module: ModuleType, file: str) -> None:
        self.found: list[WorldFinding] = []
        self._world = world
        self._module = module
        self._file = file
        self._inside: list[str] = []
        self._sets: set[str] = set()
        self._local: set[str] = set()
        self._tables = set(world.classes)

    def _note(self, node: ast.AST, rule: str, problem: str) -> None:
        place = f"{self._file}:{getattr(node, 'lineno', 0)} in {self._inside[-1] if self._inside else 'the module'}"
        self.found.append(WorldFinding(self._world.name, place, rule, problem))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """A function: its defaults, then its body."""
        self._inside.append(node.name)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None and (
                isinstance(default, ast.List | ast.Dict | ast.Set) or _called(default) in ("list", "dict", "set")
            ):
                self._note(default, "mutable_default", "a default that can change is shared by all calls")
        before = self._sets, self._local
        assigned = [item for item in ast.walk(node) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)]
        self._local = {item.id for item in assigned} | {item.arg for item in node.args.args}
        self._sets = {
            target.id
            for item in ast.walk(node)
            if isinstance(item, ast.Assign) and _is_set(item.value)
            for target in item.targets
            if isinstance(target, ast.Name)
        }
        for part in node.body:
            self.visit(part)
        self._sets, self._local = before
        self._inside.pop()

    def visit_Global(self, node: ast.Global) -> None:
        """A name of the module that a function sets."""
        self._note(node, "module_state", f"sets {', '.join(node.names)} of the module")

    def visit_Assign(self, node: ast.Assign) -> None:
        """Something that is put into a place."""
        for target in node.targets:
            self._stored(target)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Something that is added to a place."""
        self._stored(node.target)
        self.generic_visit(node)

    def _stored(self, target: ast.expr) -> None:
        if self._inside and isinstance(target, ast.Subscript | ast.Attribute) and self._is_shared(target.value):
            self._note(target, "module_state", f"writes to {ast.unparse(target.value)}, which lies in the module")

    def _is_shared(self, node: ast.expr) -> bool:
        """Whether an expression is a list, mapping or object that lies in the module and can change."""
        if not isinstance(node, ast.Name) or node.id in self._local:
            return False
        value = getattr(self._module, node.id, None)
        return isinstance(value, list | dict | set | bytearray) or (
            value is not None and not isinstance(value, type | World | ModuleType) and hasattr(value, "__dict__")
        )

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """A look past the transaction."""
        if (
            self._inside
            and node.attr in BYPASSING
            and isinstance(node.value, ast.Name)
            and node.value.id in self._local
        ):
            self._note(node, "past_the_transaction", f"reaches for {ast.unparse(node)}")
        elif self._inside and ast.unparse(node) == "os.environ":
            self._note(node, "outside_io", "reads the host's environment")
        self.generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        """A loop, which must not go through a set."""
        self._gone_through(node.iter)
        self.generic_visit(node)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        """A list that must not be made from a set as it comes."""
        for part in node.generators:
            self._gone_through(part.iter)
        self.generic_visit(node)

    def visit_Starred(self, node: ast.Starred) -> None:
        """What is laid out one by one."""
        self._gone_through(node.value)
        self.generic_visit(node)

    def _gone_through(self, node: ast.expr) -> None:
        if isinstance(node, ast.GeneratorExp):
            node = node.generators[0].iter
        if self._inside and (_is_set(node) or (isinstance(node, ast.Name) and node.id in self._sets)):
            self._note(
                node, "set_order", f"goes through the set {ast.unparse(node)}, whose order differs from run to run"
            )

    def visit_Call(self, node: ast.Call) -> None:
        """A call."""
        if self._inside:
            self._judge_call(node)
        self.generic_visit(node)

    def _judge_call(self, node: ast.Call) -> None:
        name = self._real(_called(node))
        root, _, last = name.rpartition(".")
        home = self._home_of(_called(node).partition(".")[0])
        if last in CLOCKS.get(root.rpartition(".")[2], ()) or (home == "time" and last in CLOCKS["time"]):
            self._note(node, "host_clock", f"{name}() tells the host's time")
        elif home in CHANCES or name == "os.urandom":
            self._note(node, "chance", f"{name}() gives something else each time")
        elif home in OUTSIDE or (not root and name in OUTSIDE_CALLS) or name.startswith(("os.", "sys.")):
            self._note(node, "outside_io", f"{name}() reaches outside the world")
        elif last in FILE_METHODS and root and not self._tables.intersection(_tables_in(node, self._module)):
            self._note(node, "outside_io", f"{name}() reads or writes files")
        elif (name in ("list", "tuple", "enumerate", "iter") or last in ("join", "fromkeys")) and node.args:
            self._gone_through(node.args[0])
        elif name in ("setattr", "object.__setattr__", "cells_of"):
            self._note(node, "past_the_transaction", f"{name}() goes past the transaction")
        elif name in ("hash", "id") and not root:
            self._note(node, "set_order", f"{name}() differs from run to run")
        elif last in CHANGING and isinstance(node.func, ast.Attribute) and self._is_shared(node.func.value):
            self._note(node, "module_state", f"{name}() changes what lies in the module")
        for table in _tables_in(node, self._module):
            if table not in self._tables and last in ("get", "find", "all", "one", "add"):
                self._note(node, "undeclared_table", f"uses table {table.__name__!r}, which the world does not have")

    def _real(self, name: str) -> str:
        """A dotted name with what an import called otherwise under its own name: ``dt.now`` as ``datetime.now``."""
        first, dot, rest = name.partition(".")
        value = None if first in self._local else getattr(self._module, first, None)
        own = str(getattr(value, "__name__", ""))
        return f"{own}{dot}{rest}" if own and self._home_of(first) in _TOLD else name

    def _home_of(self, name: str) -> str:
        """The top-level package that a name of the module comes from."""
        value = getattr(self._module, name, None)
        if value is None or name in self._local:
            return ""
        place = value.__name__ if isinstance(value, ModuleType) else str(getattr(value, "__module__", "") or "")
        return "random" if isinstance(value, random.Random) else place.partition(".")[0]


def _called(node: ast.AST | None) -> str:
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def _is_set(node: ast.expr) -> bool:
    return isinstance(node, ast.Set | ast.SetComp) or _called(node) in ("set", "frozenset")


def _tables_in(node: ast.Call, module: ModuleType) -> list[type[Table]]:
    """The tables that a call is given first, such as ``tx.all(Order)``."""
    first = node.args[0] if node.args else None
    value = getattr(module, first.id, None) if isinstance(first, ast.Name) else None
    return [cast("type[Table]", value)] if is_table(value) else []


# -- what it does when tried ----------------------------------------------------------------------------------------


def _tried(world: World, refused: dict[str, str]) -> Iterator[WorldFinding]:
    """What comes of calls with made-up arguments in made-up states."""
    for tool in world.tools.values():
        if tool in ENGINE_TOOLS:
            continue
        seen: set[str] = set()
        came_through = False
        for number in range(MOST_TRIALS):
            if number >= TRIALS and came_through:
                break
            dice = random.Random(f"{world.name}/{tool.name}/{number}")  # noqa: S311 - repeatable, not secret
            state = _state(world, dice)
            arguments = {
                item.name: _argument(world, item, state, dice)
                for item in tool.parameters
                if item.required or dice.random() < 0.5
            }
            bound = bind({tool.name: present(tool)}, tool.name, arguments)
            if isinstance(bound, Outcome):
                continue
            first, second = (_outcome(world, state, bound) for _ in range(2))
            if isinstance(first, Outcome) and first.fault is not None:
                refused[tool.name] = first.fault.text
            else:
                came_through = True
            for rule, problem in _judged(state, bound, first, second):
                if rule not in seen:
                    seen.add(rule)
                    yield WorldFinding(world.name, tool.name, rule, problem)
        if came_through:
            refused.pop(tool.name, None)


def _tried_by_itself(world: World, refused: dict[str, str]) -> Iterator[WorldFinding]:
    """What comes of events and gates in made-up states; those that say no to all of them are noted like tools."""
    for name, (title, trial) in _by_itself(world).items():
        seen: set[str] = set()
        came_through = False
        for number in range(TRIALS):
            dice = random.Random(f"{world.name}/{title}/{number}")  # noqa: S311 - repeatable, not secret
            state = _state(world, dice)
            try:
                first, second = (_come_to(world, state, title, trial) for _ in range(2))
            except EXPECTED as error:  # a made-up state may be one that the world never gets into
                refused[name] = f"{type(error).__name__}: {error}"
                continue
            came_through = True
            for rule, problem in _wrong_of_itself(state, name, first, second):
                if rule not in seen:
                    seen.add(rule)
                    yield WorldFinding(world.name, name, rule, problem)
        if came_through:
            refused.pop(name, None)


Trial = Callable[[Transaction], tuple[Any, Any]]
"""Something to try in a transaction: what it gives, and what that was expected to be, as the type of it."""


def _by_itself(world: World) -> dict[str, tuple[str, Trial]]:
    """Every event, on the first row of its table, and every gate: what each is called in messages, and its trial."""

    def happens(event: DueEvent, tx: Transaction) -> tuple[Any, Any]:
        row = next(iter(tx.rows(event.table.name)), None)
        return (event.happen(tx, row) if row is not None else None), str | None

    def opens(gate: GateRule, tx: Transaction) -> tuple[Any, Any]:
        return gate.is_open(tx), bool

    events = {event.name: (f"event {event.name!r}", partial(happens, event)) for event in world.events}
    return {**events, **{name: (f"gate {name!r}", partial(opens, gate)) for name, gate in world.gates.items()}}


def _come_to(world: World, state: Snapshot, title: str, trial: Trial) -> tuple[Any, Any, Any] | str:
    tx = Running(state, Clock(NOW, "UTC", 1.0), IdStream("check"), world.knowledge).begin()
    try:
        given, expected = trial(tx)
    except EXPECTED:
        raise
    except BROKEN as error:
        return str(WorldFailedError(title, place_of(error), error))
    return given, expected, tuple(tx.changes)


def _wrong_of_itself(
    state: Snapshot, name: str, first: tuple[Any, Any, Any] | str, second: tuple[Any, Any, Any] | str
) -> Iterator[tuple[str, str]]:
    if isinstance(first, str):
        yield _rule_of(first), first
        return
    if first != second:
        yield "not_repeatable", f"{name}() comes to something else when it is called again in the same state"
    given, expected, _ = first
    if not isinstance(given, expected):
        wanted = "true or false" if expected is bool else "a text or None"
        yield "result", f"{name}() must give {wanted}, not {given!r}"
    for where, told in _unspeakable(state):
        if told in str(given):
            yield "secret", f"{name}() tells the {where}, which no result may have"


def _rule_of(fault: str) -> str:
    """The rule that a fault of the world breaks."""
    if "for which JSON has nothing" in fault:
        return "result"
    undeclared = "which its declaration does not say" in fault or "are fixed" in fault
    return "undeclared_effect" if undeclared else "broken"


def _judged(state: Snapshot, bound: Bound, first: Outcome | str, second: Outcome | str) -> Iterator[tuple[str, str]]:
    """What is wrong with a call made twice: it breaks, differs, tells a secret, or gives what its annotation denies."""
    if isinstance(first, str):
        yield _rule_of(first), first
        return
    if isinstance(second, str) or (first.result, first.changes) != (second.result, second.changes):
        yield "not_repeatable", f"{bound.tool.name}() comes to something else when it is called again in the same state"
    said = json.dumps(first.result, default=str) if first.fault is None else first.fault.text
    given = json.dumps(bound.arguments)
    for where, told in _unspeakable(state) if bound.tool.caller == "agent" else ():
        if told in said and told not in given:
            yield "secret", f"{bound.tool.name}() tells the {where}, which no result may have"
    if first.fault is None:
        for misfit in misfits(first.result, bound.tool.result_schema, "result"):
            yield "result", f"{bound.tool.name}(): {misfit.path} must be {misfit.expected}, not {misfit.value!r}"


def _outcome(world: World, state: Snapshot, bound: Bound) -> Outcome | str:
    running = Running(state, Clock(NOW, "UTC", 1.0), IdStream("check"), world.knowledge)
    try:
        return attempt(running.begin(), bound)
    except WorldError as error:
        return str(error)


def _unspeakable(state: Snapshot) -> Iterator[tuple[str, str]]:
    """The cells of a made-up state that no agent may be told, and where they stand."""
    for table, rows in state.tables.items():
        for row in rows.values():
            for name, cell in row.items():
                if isinstance(cell, str) and cell.startswith(UNSPEAKABLE):
                    yield f"{name!r} of {table!r}", cell


UNSPEAKABLE = "Unspeakable "
"""How the made-up texts begin that are secret or hidden."""
NOW = 1_772_442_000.0
DAY = 86400.0


def _state(world: World, dice: random.Random) -> Snapshot:
    """A state with some rows in each table, whose ids point at each other's."""
    schemas = world.state_tables
    counts = {name: 1 if schema.single else ROWS for name, schema in schemas.items()}
    ids = {name: [f"{name}-{number}" for number in range(count)] for name, count in counts.items()}
    tables = {
        name: {key: {schema.key: key, **_row(world, schema, ids, dice)} for key in ids[name]}
        for name, schema in schemas.items()
    }
    for name, schema in schemas.items():
        owner = dice.choice(ids[name]) if schema.owner else ""
        for key, row in tables[name].items():
            row |= {schema.owner: key == owner} if owner else {}
    return snapshot_of(tables)


def _row(world: World, schema: TableSchema, ids: Mapping[str, list[str]], dice: random.Random) -> dict[str, Cell]:
    return {item.name: _cell(world, item, ids, dice) for item in schema.columns if item.name != schema.key}


def _cell(world: World, item: Column, ids: Mapping[str, list[str]], dice: random.Random) -> Cell:
    if item.nullable and dice.random() < 0.3:
        return None
    if item.role and item.role.kind == "id" and item.role.table:
        return _some_id(world, item.role.table, ids, dice)
    if item.type == "list":
        choices: Iterable[Any] = item.choices or ("alpha", "beta")
        return tuple(list(choices)[: dice.randrange(3)]) if item.items in (None, "string") else ()
    if item.choices:
        return dice.choice(item.choices)
    if item.type == "string" and not item.shown:
        return f"{UNSPEAKABLE}{dice.randrange(1000)}"
    made: Mapping[str, Callable[[], Cell]] = {
        "string": lambda: dice.choice(WORDS),
        "boolean": lambda: dice.random() < 0.5,
        "integer": lambda: dice.randrange(1, 20),
        "number": lambda: float(dice.randrange(1, 20)),
        "timestamp": lambda: NOW + dice.randrange(-5, 6) * DAY,
    }
    return made[item.type]()


WORDS = ("Alpha One", "beta", "Gamma Three", "delta@example.org")


def _examples(item: Parameter) -> list[str]:
    """The values that an argument's description gives as examples: what follows ``such as``."""
    found = re.findall(r"such as ([^,;]+?)(?:[.,;]?$|[,;] |\. )", item.description)
    return [part.strip("'\"`") for example in found for part in example.split(" or ")]


@lru_cache(maxsize=64)
def _looked_up(world: World) -> list[str]:
    """The texts in the first rows of fixed tables: what tools are likely to find."""
    tables = [FixedRows.of(schema) for schema in world.tables.values() if schema.fixed]
    rows = [row for table in tables for row in list(table.rows.values())[:20]]
    return [cell for row in rows for cell in row.values() if isinstance(cell, str)]


def _some_id(world: World, table: str, ids: Mapping[str, list[str]], dice: random.Random) -> str:
    schema = world.tables.get(table)
    known = list(FixedRows.of(schema).rows) if schema is not None and schema.fixed else ids.get(table, [])
    return dice.choice(known) if known else "none"


def _argument(world: World, item: Parameter, state: Snapshot, dice: random.Random) -> Any:
    """A value that fits: ids of rows, moments, a text that stands somewhere, or whatever the schema allows."""
    if item.types == ("string",) and not item.value.get("enum") and (item.role is None or item.role.kind == "text"):
        known = [*_examples(item), *_named_like(item.name, state)]
        return dice.choice([*WORDS, *known * 4, *_looked_up(world)[:: dice.randrange(1, 9)]])
    return item.with_roles(some_value(item.value, dice), partial(_by_role, world, state, dice))


def _by_role(world: World, state: Snapshot, dice: random.Random, role: CellRole, made: Any) -> Any:
    """A value for what has a role, in place of one that was made up without looking."""
    if role.kind == "id" and role.table and made is not None:
        return _some_id(world, role.table, {name: list(rows) for name, rows in state.tables.items()}, dice)
    if role.kind == "secret":
        return dice.choice([cell for _, cell in _unspeakable(state)] or WORDS)
    if role.kind == "moment":
        return NOW + dice.randrange(-5, 6) * DAY
    return dice.choice(WORDS) if role.kind == "text" else made


def _named_like(name: str, state: Snapshot) -> list[str]:
    """The texts in columns that are called what an argument is called."""
    rows = (row for rows in state.tables.values() for row in rows.values())
    return sorted({cell for row in rows if isinstance(cell := row.get(name), str)})
