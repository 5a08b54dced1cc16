"""Trials of a world's tools, events and gates in made-up states.

Policy: every tool is called several times in worlds of rows made up from the tables, each call twice, and the results
are compared with what their annotations say. Events and gates are tried in the same way. Then one argument of a tool
after the other is set to the edges of what it allows, while the others stay as they were when the tool accepted them.
"""

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from typing import Any, cast, get_type_hints

from sandbox_mcp.app.authoring.world_check.findings import WorldFinding
from sandbox_mcp.app.authoring.world_check.made_up import NOW, argument, edges, made_state, unspeakable
from sandbox_mcp.app.authoring.world_check.module_state import KNOWLEDGE
from sandbox_mcp.engine.tools import Bound, Outcome, Tool, World, bind, present
from sandbox_mcp.engine.tools.calling import BROKEN, EXPECTED, WorldFailedError, attempt, place_of
from sandbox_mcp.engine.tools.declared import DueEvent, GateRule
from sandbox_mcp.engine.tools.user_tools import ENGINE_TOOLS
from sandbox_mcp.engine.tools.value_schemas import at_path, misfits, roles_inside
from sandbox_mcp.engine.world import Clock, IdStream, Running, Snapshot, Transaction
from sandbox_mcp.engine.world.faults import NoJsonError, UndeclaredEffectError, WorldError
from sandbox_mcp.engine.world.fixed import FixedRows
from sandbox_mcp.engine.world.schema import CellRole

TRIALS, MOST_TRIALS = 12, 200
"""How often something is tried, and how often at most a tool that says no every time."""


@dataclass(frozen=True, slots=True)
class _Tried:
    """Outcome of a trial: the faults by rule, and the refusal, if there was one."""

    problems: tuple[tuple[str, str], ...] = ()
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class _Came:
    """Outcome of a call: a result or a fault of the world, and the transaction."""

    outcome: Outcome | WorldError
    tx: Transaction


_Once = Callable[[Snapshot, random.Random], _Tried | None]
"""One trial in a state; None where nothing could be tried."""
_Happening = Callable[[Transaction], tuple[Any, Any] | None]
"""One trial in a transaction: what came of it, and the type that was expected; None if nothing was tried."""


def tried(
    world: World, refused: dict[str, str], lying: Callable[[], Mapping[tuple[str, str], object]]
) -> Iterator[WorldFinding]:
    """Faults of the tools, events and gates; ``refused`` gets the last message of those that always refuse.

    ``lying`` tells what lies in the world's modules, where nothing may change.
    """

    @cache
    def state(number: int) -> Snapshot:  # making one up takes longer than trying something in it
        return made_state(world, number)

    before = lying()

    def left(name: str) -> Iterator[WorldFinding]:
        nonlocal before
        after = lying()
        for (module, item), what in after.items():
            if (module, item) in before and before[module, item] != what:
                where = f"is kept in {item}" if item == KNOWLEDGE else f"lies in the module under {item!r}"
                problem = f"{name}() changes what {where}"
                yield WorldFinding(world.name, name, "module_state", problem)
        before = after

    for tool in world.tools.values():
        if tool not in ENGINE_TOOLS:
            right: list[tuple[Snapshot, Mapping[str, Any]]] = []
            called = partial(_called_twice, world, tool, right)
            found = list(_trials(world, tool.name, tool.name, called, MOST_TRIALS, refused, state))
            yield from found
            yield from _at_edges(world, tool, right, {finding.rule for finding in found})
            yield from left(tool.name)
    for name, (title, happening) in _by_itself(world).items():
        once = partial(_happens_twice, world, name, title, happening)
        yield from _trials(world, name, title, once, TRIALS, refused, state)
        yield from left(name)


def _trials(
    world: World,
    name: str,
    title: str,
    once: _Once,
    at_most: int,
    refused: dict[str, str],
    state: Callable[[int], Snapshot],
) -> Iterator[WorldFinding]:
    seen: set[str] = set()
    came_through = False
    for number in range(at_most):
        if number >= TRIALS and came_through:
            break
        dice = random.Random(f"{world.name}/{title}/{number}")  # noqa: S311 - repeatable, not secret
        outcome = once(state(number), dice)
        if outcome is None:
            continue
        if outcome.refusal is None:
            came_through = True
        else:
            refused[name] = outcome.refusal
        for rule, problem in outcome.problems:
            if rule not in seen:
                seen.add(rule)
                yield WorldFinding(world.name, name, rule, problem)
    if came_through:
        refused.pop(name, None)


def _called_twice(
    world: World, tool: Tool, right: list[tuple[Snapshot, Mapping[str, Any]]], state: Snapshot, dice: random.Random
) -> _Tried | None:
    arguments = _made_up(world, tool, state, dice)
    bound = bind({tool.name: present(tool)}, tool.name, arguments)
    if isinstance(bound, Outcome):
        return None
    first, second = (_attempted(world, state, bound) for _ in range(2))
    outcome = first.outcome
    refusal = outcome.fault.text if isinstance(outcome, Outcome) and outcome.fault is not None else None
    if refusal is None or not right:
        right[:] = [(state, arguments)]
    return _Tried(tuple(_judged(world, state, bound, first, second)), refusal)


def _made_up(world: World, tool: Tool, state: Snapshot, dice: random.Random) -> dict[str, Any]:
    chosen = (item for item in tool.parameters if item.required or dice.random() < 0.5)
    return {item.name: argument(world, item, state, dice) for item in chosen}


def came_to(world: World) -> dict[str, list[str]]:
    """Outcome of each tool in its first trials, in a form that can be compared with another process."""
    tools = [tool for tool in world.tools.values() if tool not in ENGINE_TOOLS]
    came: dict[str, list[str]] = {tool.name: [] for tool in tools}
    for number in range(TRIALS):
        state = made_state(world, number)
        for tool in tools:
            dice = random.Random(f"{world.name}/{tool.name}/{number}")  # noqa: S311 - repeatable, not secret
            bound = bind({tool.name: present(tool)}, tool.name, _made_up(world, tool, state, dice))
            if isinstance(bound, Bound):
                outcome = _attempted(world, state, bound).outcome
                failed = isinstance(outcome, WorldError)
                told = str(outcome) if failed else repr((outcome.result, outcome.fault, outcome.changes))
                came[tool.name].append(sha256(told.encode("utf-8", "replace")).hexdigest()[:16])
    return came


def _at_edges(
    world: World, tool: Tool, right: list[tuple[Snapshot, Mapping[str, Any]]], seen: set[str]
) -> Iterator[WorldFinding]:
    """Faults of a tool at the edges of what its arguments allow, without what was ``seen`` already."""
    offered = {tool.name: present(tool)}
    dice = random.Random(f"{world.name}/{tool.name}/edges")  # noqa: S311 - repeatable, not secret
    for state, arguments in right:
        for item in tool.parameters:
            made = arguments[item.name] if item.name in arguments else argument(world, item, state, dice)
            for edge in edges(item.value, item.role, made):
                bound = bind(offered, tool.name, {**arguments, item.name: edge})
                if isinstance(bound, Outcome):
                    continue
                came = _attempted(world, state, bound)
                for rule, problem in _judged(world, state, bound, came, came):
                    if rule not in seen:
                        seen.add(rule)
                        where = f" with {item.name} = {json.dumps(edge)[:40]}"
                        yield WorldFinding(world.name, tool.name, rule, f"{problem},{where}")


def _attempted(world: World, state: Snapshot, bound: Bound) -> _Came:
    tx = _begun(world, state)
    try:
        return _Came(attempt(tx, bound), tx)
    except WorldError as error:
        return _Came(error, tx)


def _begun(world: World, state: Snapshot) -> Transaction:
    return Running(state, Clock(NOW, "UTC", 1.0), IdStream("check"), world.knowledge).begin()


def _judged(world: World, state: Snapshot, bound: Bound, one: _Came, two: _Came) -> Iterator[tuple[str, str]]:
    """Fault of a call made twice: it breaks, differs, tells a secret, or gives what its annotation denies."""
    name, first, second = bound.tool.name, one.outcome, two.outcome
    yield from _strange_tables(world, name, one.tx)
    if isinstance(first, WorldError):
        yield _rule_of(first), str(first)
        return
    if isinstance(second, WorldError) or (first.result, first.changes) != (second.result, second.changes):
        yield _differs(name)
    said = json.dumps(first.result, default=str) if first.fault is None else first.fault.text
    if bound.tool.caller == "agent":
        yield from _told_secrets(state, name, said, but=json.dumps(bound.arguments))
    if first.fault is None:
        wrong = [*misfits(first.result, _closed(bound.tool.result_schema), "result")]
        yield from (("result", f"{name}(): {misfit.told()}") for misfit in wrong)
        yield from () if wrong else _strange_ids(world, bound, first.result, one.tx)


def _closed(schema: Any) -> Any:
    """A schema by which objects have no other keys than those it lists, as annotations are meant."""
    if isinstance(schema, list):
        return [_closed(part) for part in cast("list[Any]", schema)]
    if not isinstance(schema, Mapping):
        return schema
    given = cast("Mapping[str, Any]", schema)
    found = {word: part if word in ("enum", "required") else _closed(part) for word, part in given.items()}
    closes = given.get("type") == "object" and isinstance(given.get("properties"), Mapping)
    return {"additionalProperties": False, **found} if closes else found


def _strange_tables(world: World, name: str, tx: Transaction) -> Iterator[tuple[str, str]]:
    """Tables that something reads or writes and that the world does not have: nothing ever stands in them."""
    for table in sorted({table for table, *_ in tx.reads | tx.writes} - world.tables.keys()):
        yield "undeclared_table", f"{name}() uses table {table!r}, which the world does not have"


def _strange_ids(world: World, bound: Bound, result: Any, tx: Transaction) -> Iterator[tuple[str, str]]:
    """Ids in a result that no row of the table they refer to has, or had before the call."""
    found: list[tuple[str, Any]] = []

    def look(role: CellRole, value: Any) -> Any:
        schema = world.tables.get(role.table or "")
        if role.kind == "id" and schema is not None and isinstance(value, str):
            known = (
                FixedRows.of(schema).rows if schema.fixed else {**tx.base.table(schema.name), **tx.seen(schema.name)}
            )
            found.extend([] if value in known else [(schema.name, value)])
        return value

    function = world.functions.get(bound.tool.name)
    given = get_type_hints(function, include_extras=True).get("return") if function is not None else None
    for path, role in roles_inside(given):
        at_path(result, path, partial(look, role))
    for table, value in found[:1]:
        yield "result", f"{bound.tool.name}() gives {value!r}, which is no id of table {table!r}"


def _by_itself(world: World) -> dict[str, tuple[str, _Happening]]:
    """A trial of every event, on the first row of its table, and of every gate, with its name in messages."""

    def happens(event: DueEvent, tx: Transaction) -> tuple[Any, Any] | None:
        row = next(iter(tx.rows(event.table.name)), None)
        return None if row is None else (event.happen(tx, row), str | None)

    def opens(gate: GateRule, tx: Transaction) -> tuple[Any, Any]:
        return gate.is_open(tx), bool

    events = {event.name: (f"event {event.name!r}", partial(happens, event)) for event in world.events}
    return {**events, **{name: (f"gate {name!r}", partial(opens, gate)) for name, gate in world.gates.items()}}


def _happens_twice(
    world: World, name: str, title: str, happening: _Happening, state: Snapshot, _: random.Random
) -> _Tried | None:
    came: list[tuple[Any, Any, Any] | WorldFailedError] = []
    strange: dict[tuple[str, str], None] = {}
    for _time in range(2):
        tx = _begun(world, state)
        try:
            happened = happening(tx)
            if happened is None:
                return None
            came.append((*happened, tuple(tx.changes)))
        except EXPECTED as error:  # a made-up state may be one that the world never gets into
            return _Tried(refusal=f"{type(error).__name__}: {error}")
        except BROKEN as error:
            came.append(WorldFailedError(title, place_of(error), error))
        strange |= dict.fromkeys(_strange_tables(world, name, tx))
    return _Tried((*strange, *_wrong_of_itself(state, name, *came)))


def _wrong_of_itself(
    state: Snapshot,
    name: str,
    first: tuple[Any, Any, Any] | WorldFailedError,
    second: tuple[Any, Any, Any] | WorldFailedError,
) -> Iterator[tuple[str, str]]:
    if isinstance(first, WorldFailedError):
        yield _rule_of(first), str(first)
        return
    if first != second:
        yield _differs(name)
    given, expected, _ = first
    if not isinstance(given, expected):
        wanted = "true or false" if expected is bool else "a text or None"
        yield "result", f"{name}() must give {wanted}, not {given!r}"
    yield from _told_secrets(state, name, str(given))


def _differs(name: str) -> tuple[str, str]:
    return "not_repeatable", f"{name}() comes to something else when it is called again in the same state"


def _told_secrets(state: Snapshot, name: str, said: str, but: str = "") -> Iterator[tuple[str, str]]:
    said, but = (re.sub(r"(?<=\d)[,_ ](?=\d)", "", text).casefold() for text in (said, but))
    for where, told in unspeakable(state):
        whole = re.compile(rf"(?<!\d){re.escape(told.casefold())}(?!\d)")
        if whole.search(said) and not whole.search(but):
            yield "secret", f"{name}() tells the {where}, which no result may have"


def _rule_of(error: WorldError) -> str:
    """The rule that a fault of the world breaks."""
    cause = error.cause if isinstance(error, WorldFailedError) else error
    if isinstance(cause, NoJsonError):
        return "result"
    return "undeclared_effect" if isinstance(cause, UndeclaredEffectError) else "broken"
