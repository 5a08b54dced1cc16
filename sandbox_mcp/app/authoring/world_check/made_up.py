"""States and arguments that are made up from a world's declaration, to try its code with."""

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any, cast

from sandbox_mcp.app.authoring.mutants.wrong_values import some_value
from sandbox_mcp.engine.tools import Parameter, World
from sandbox_mcp.engine.tools.value_schemas import types_in
from sandbox_mcp.engine.world import Cell, Column, Snapshot, snapshot_of
from sandbox_mcp.engine.world.fixed import FixedRows
from sandbox_mcp.engine.world.schema import CellRole, TableSchema

ROWS = 4
"""How many rows a table has that may have several."""
UNSPEAKABLE = "Unspeakable "
"""How the made-up texts begin that are secret or hidden."""
UNSPEAKABLE_NUMBERS = range(683_000, 684_000)
"""Of which the made-up numbers are that are secret or hidden, half of the time: a price may have to be a small one."""
NOW = 1_772_442_000.0
DAY = 86400.0


FEW = {3: 1, 5: 0}
"""How many rows such a table has in the fourth and in the sixth of every six states."""


def made_state(world: World, number: int) -> Snapshot:
    """One of the states in which a world is tried, the same in every process."""
    dice = random.Random(f"{world.name}/{number}")  # noqa: S311 - repeatable, not secret
    schemas, rows = world.state_tables, FEW.get(number % 6, ROWS)
    always = set(_always_there(schemas))
    counts = {name: 1 if schema.single else max(rows, int(name in always)) for name, schema in schemas.items()}
    return _state_of(world, counts, dice)


def _always_there(schemas: Mapping[str, TableSchema]) -> Iterator[str]:
    """The tables that are never empty: of one row, with the user's own row, and what these rows point at."""
    waiting = [name for name, schema in schemas.items() if schema.single or schema.owner]
    for name in waiting:
        yield name
        roles = (item.role for item in schemas[name].columns if item.role and not item.nullable)
        aims = (role.table for role in roles if role.kind == "id" and role.table in schemas)
        waiting += [table for table in dict.fromkeys(aims) if table not in waiting]


def _state_of(world: World, counts: Mapping[str, int], dice: random.Random) -> Snapshot:
    """A state with so many rows in each table, whose ids point at each other's."""
    schemas = world.state_tables
    ids = {name: [f"{name}-{number}" for number in range(count)] for name, count in counts.items()}
    tables: dict[str, dict[str, dict[str, Cell]]] = {}
    for name, schema in schemas.items():
        columns = [item for item in schema.columns if item.name != schema.key]
        tables[name] = {
            key: {schema.key: key, **{item.name: _cell(world, item, ids, dice) for item in columns}}
            for key in ids[name]
        }
    for name, schema in schemas.items():
        owner = dice.choice(ids[name]) if schema.owner else ""
        for key, row in tables[name].items():
            row |= {schema.owner: key == owner} if owner else {}
    return snapshot_of(tables)


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
    if item.type in ("integer", "number") and not item.shown and dice.random() < 0.5:
        number = dice.choice(UNSPEAKABLE_NUMBERS)
        return number if item.type == "integer" else float(number)
    made: Mapping[str, Callable[[], Cell]] = {
        "string": lambda: dice.choice(WORDS),
        "boolean": lambda: dice.random() < 0.5,
        "integer": lambda: dice.randrange(1, 20),
        "number": lambda: float(dice.randrange(1, 20)),
        "timestamp": lambda: NOW + dice.randrange(-5, 6) * DAY,
    }
    return made[item.type]()


WORDS = ("Alpha One", "beta", "Gamma Three", "delta@example.org")


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


def argument(world: World, item: Parameter, state: Snapshot, dice: random.Random) -> Any:
    """A value that fits: ids of rows, moments, a text that stands somewhere, or whatever the schema allows."""
    if item.types == ("string",) and not item.value.get("enum") and (item.role is None or item.role.kind == "text"):
        rows = (row for rows in state.tables.values() for row in rows.values())
        named_like = sorted({cell for row in rows if isinstance(cell := row.get(item.name), str)})
        examples = re.findall(r"such as ([^,;]+?)(?:[.,;]?$|[,;] |\. )", item.description)
        parts = (part.strip("'\"`") for example in examples for part in example.split(" or "))
        known = [*parts, *named_like]
        return dice.choice([*WORDS, *known * 4, *_looked_up(world)[:: dice.randrange(1, 9)]])
    return item.with_roles(some_value(item.value, dice), partial(_by_role, world, state, dice))


LONG = "very long " * 1000
LATEST = 253_402_300_799.0
"""The last second that calendars of four-digit years know."""
_EDGES: Mapping[str, tuple[Any, ...]] = {
    "integer": (0, -1),
    "number": (0, -1, 0.5),
    "string": ("", LONG, "9999-12-31"),
    "boolean": (True, False),
    "null": (None,),
    "array": ([],),
    "object": ({},),
}
"""Of each JSON type the values at which code breaks that works for all others."""


def edges(schema: Mapping[str, Any], role: CellRole | None, made: Any) -> Iterator[Any]:
    """Values at the edge of what a schema allows, and ordinary values, like ``made``, with a part at its edge."""
    for kind in types_in(schema):
        yield from _EDGES[kind]
    yield from (schema[bound] for bound in ("minimum", "maximum") if bound in schema)
    if role and role.kind == "moment":
        yield LATEST
    for option in (schema, *schema.get("anyOf", ())):
        if isinstance(made, list) and option.get("items"):
            first = next(iter(cast("list[Any]", made)), None)
            yield from ([edge] for edge in edges(option["items"], None, first))
        if isinstance(made, dict):
            given = cast("dict[str, Any]", made)
            for name, inner in option.get("properties", {}).items():
                yield from ({**given, name: edge} for edge in edges(inner, None, given.get(name)))


def _by_role(world: World, state: Snapshot, dice: random.Random, role: CellRole, made: Any) -> Any:
    """A value that fits a role, in place of one that was made up without regard to it."""
    if role.kind == "id" and role.table and made is not None:
        return _some_id(world, role.table, {name: list(rows) for name, rows in state.tables.items()}, dice)
    if role.kind == "secret":
        return dice.choice([cell for _, cell in unspeakable(state) if cell.startswith(UNSPEAKABLE)] or WORDS)
    if role.kind == "moment":
        return NOW + dice.randrange(-5, 6) * DAY
    return dice.choice(WORDS) if role.kind == "text" else made


def unspeakable(state: Snapshot) -> Iterator[tuple[str, str]]:
    """The cells of a made-up state that no agent may be told, and where they stand."""
    for table, rows in state.tables.items():
        for row in rows.values():
            for name, cell in row.items():
                if isinstance(cell, str) and cell.startswith(UNSPEAKABLE):
                    yield f"{name!r} of {table!r}", cell
                elif isinstance(cell, int | float) and int(cell) in UNSPEAKABLE_NUMBERS:
                    yield f"{name!r} of {table!r}", str(int(cell))
