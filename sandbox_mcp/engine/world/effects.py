"""Effects of a tool, an act of the user or an event: how they are declared, and that there are no others."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, cast

from sandbox_mcp.engine.world.faults import UndeclaredEffectError, WorldError
from sandbox_mcp.engine.world.tables import ColumnHandle, Table, is_table, schema_of

EffectKind = Literal["adds", "updates", "removes"]
WHOLE = "*"


@dataclass(frozen=True, slots=True)
class Effects:
    """Effects of a tool: tables it adds rows to and removes rows from, and columns it updates (``*``: any)."""

    adds: frozenset[str] = frozenset()
    removes: frozenset[str] = frozenset()
    updates: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    def check_tables(self, tables: Collection[str], where: str) -> None:
        """Refuse effects on tables that the world lacks; ``where`` names what has them.

        Raises:
            WorldError: one is on another table.
        """
        strange = sorted({*self.adds, *self.removes, *self.updates} - set(tables))
        if strange:
            raise WorldError(f"{where} writes to table {strange[0]!r}, which the world does not list")

    def check(self, tool: str, kind: EffectKind, table: str, columns: frozenset[str] = frozenset()) -> None:
        """Refuse what was not declared.

        Raises:
            UndeclaredEffectError: it was not.
        """
        if kind == "updates":
            allowed = self.updates.get(table, frozenset())
            undeclared = sorted(columns - allowed) if WHOLE not in allowed else []
            what = f"column {undeclared[0]!r} of table {table!r}" if undeclared else ""
        else:
            what = "" if table in (self.adds if kind == "adds" else self.removes) else f"table {table!r}"
        if what:
            raise UndeclaredEffectError(f"{tool} {kind} {what}, which its declaration does not say")


def listed(said: str, given: Iterable[Any], what: str, where: str = "") -> tuple[Any, ...]:
    """Names in a list of tables or columns.

    Raises:
        WorldError: it is one of them alone, and not a list.
    """
    if isinstance(given, str | type | ColumnHandle):
        named = given.__name__ if isinstance(given, type) else repr(given)
        raise WorldError(f"{where}{said} is {named}; expected a list of {what}, such as [{named}]")
    return tuple(given)


def effects_of(
    adds: Iterable[type[Table]], updates: Iterable[object], removes: Iterable[type[Table]]
) -> Effects | None:
    """Declared effects, or None where nothing was declared.

    Raises:
        WorldError: something else than tables and columns is named.
    """
    added, removed = listed("adds", adds, "tables"), listed("removes", removes, "tables")
    updated = listed("updates", updates, "columns and tables")
    for said, named in (("adds", added), ("removes", removed)):
        if strange := [item for item in named if not is_table(item)]:
            raise WorldError(f"{said} names {strange[0]!r}; expected tables")
    if not (added or updated or removed):
        return None
    columns: dict[str, set[str]] = {}
    for item in updated:
        if isinstance(item, ColumnHandle):
            columns.setdefault(schema_of(item.table).name, set()).add(item.name)
        elif is_table(item):
            columns.setdefault(schema_of(cast("type[Table]", item)).name, set()).add(WHOLE)
        else:
            raise WorldError(f"updates names {item!r}; expected columns such as Order.status, or tables")
    return Effects(
        frozenset(schema_of(table).name for table in added),
        frozenset(schema_of(table).name for table in removed),
        MappingProxyType({table: frozenset(named) for table, named in columns.items()}),
    )


def own_effects(
    adds: Iterable[type[Table]] | None, updates: Iterable[object] | None, removes: Iterable[type[Table]] | None
) -> Effects | None:
    """Declared effects, which may be none at all; None where they were left open."""
    if adds is None and updates is None and removes is None:
        return None
    return effects_of(adds or (), updates or (), removes or ()) or Effects()
