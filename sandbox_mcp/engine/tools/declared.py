"""Declarations of a world, piece by piece: its tools, due events, gates, and sources.

Policy: a declaration is kept as it was written, and checked against the rest of its world when the world is first used,
because a tool may name a table or another tool declared after it.
"""

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from sandbox_mcp.engine.tools.definition import Tool
from sandbox_mcp.engine.tools.results import plain_result
from sandbox_mcp.engine.tools.signatures import signature_of
from sandbox_mcp.engine.world.effects import Effects
from sandbox_mcp.engine.world.faults import NoJsonError, WorldError
from sandbox_mcp.engine.world.schema import CellRole, TableSchema
from sandbox_mcp.engine.world.state import Row, Snapshot
from sandbox_mcp.engine.world.tables import Table, row_of, schema_of
from sandbox_mcp.engine.world.transaction import Transaction
from sandbox_mcp.engine.world.tx import Tx


@dataclass(frozen=True, slots=True)
class DeclaredTool:
    """A function that was declared to be a tool; its fields are those of :class:`Tool`."""

    function: Callable[..., Any]
    name: str
    group: str = ""
    action: bool = False
    caller: Literal["agent", "user"] = "agent"
    destructive: bool | None = None
    effects: Effects | None = None
    reaches: str | None = None
    said: tuple[str, ...] = ()
    computes: bool = False
    slow: bool = False

    def tool(self, world: str, tables: Collection[str]) -> Tool:
        """The tool, in the world of that name with these tables.

        Raises:
            WorldError: its signature means nothing, or names what the world does not have.
        """
        where = f"tool {self.name!r} of world {world!r}"
        signed = signature_of(self.function, where)
        for item in signed.parameters:
            for role in (item.role, *(role for _, role in item.inside)):
                check_table_of(role, tables, world, f"{where}: {item.name!r}")
        if self.effects is not None:
            self.effects.check_tables(tables, where)
        if self.reaches is not None and self.reaches not in signed.names:
            known = ", ".join(signed.names) or "none"
            raise WorldError(f"{where}: reaches names {self.reaches!r}, not one of its arguments: {known}")
        overwrites = self.effects is None or bool(self.effects.updates or self.effects.removes)
        function, tool, effects, names = self.function, self.name, self.effects, signed.names

        def run(transaction: Transaction, /, **arguments: Any) -> Any:
            given = {names[name]: value for name, value in arguments.items()}
            returned = function(Tx(transaction, tool, effects), **given)
            try:
                return plain_result(returned)
            except NoJsonError as error:
                code = inspect.unwrap(function).__code__
                error.place = f"{Path(code.co_filename).name}:{code.co_firstlineno} in {code.co_name}"
                raise

        return Tool(
            name=self.name,
            domain=self.group or world,
            action=self.action,
            destructive=self.action and (overwrites if self.destructive is None else self.destructive),
            caller=self.caller,
            function=run,
            description=signed.description,
            parameters=signed.parameters,
            result_schema=signed.result,
            effects=self.effects,
            reaches=self.reaches,
            said=self.said,
            computes=self.computes,
            slow=self.slow,
        )


def check_table_of(role: CellRole | None, tables: Collection[str], world: str, what: str) -> None:
    """Refuse the ids of a table that the world does not have; ``what`` names the column or argument that has them."""
    if role is not None and role.kind == "id" and role.table and role.table not in tables:
        expected = "expected one of the tables that the world lists"
        raise WorldError(f"{what} holds ids of table {role.table!r}, which world {world!r} does not have; {expected}")


@dataclass(frozen=True, slots=True)
class DueEvent:
    """Event that happens by itself once the moment in a column of a row has come."""

    name: str
    table: TableSchema
    column: str
    function: Callable[[Tx, Any], str | None]
    kind: type[Table]
    effects: Effects | None = field(default=None, compare=False)

    @classmethod
    def of(
        cls, world: str, table: type[Table], column: str, function: Callable[..., Any], effects: Effects | None
    ) -> "DueEvent":
        """Events that were declared for the world of that name.

        Raises:
            WorldError: the column does not hold moments.
        """
        schema = schema_of(table)
        item = schema.column(column)
        if item is None or item.type != "timestamp":
            moments = ", ".join(item.name for item in schema.columns if item.type == "timestamp") or "none"
            known = f"expected a column of moments; there are: {moments}"
            raise WorldError(f"event {function.__name__!r} of world {world!r} is at {column!r}; {known}")
        return cls(function.__name__, schema, column, function, table, effects)

    def due(self, state: Snapshot, since: float, now: float) -> list[tuple[float, str]]:
        """The rows whose moment lies after ``since`` and not after ``now``: moment and id."""
        found: list[tuple[float, str]] = []
        for id_, row in state.table(self.table.name).items():
            moment = row[self.column]
            if isinstance(moment, int | float) and since < moment <= now:
                found.append((moment, id_))
        return found

    def happen(self, transaction: Transaction, cells: Row) -> str | None:
        """Let it happen to a row; what the agent is told, if anything."""
        return self.function(Tx(transaction, self.name, self.effects), row_of(self.kind, cells))


@dataclass(frozen=True, slots=True)
class GateRule:
    """A condition that scenarios may demand: while it is closed only the tool that opens it works."""

    name: str
    opened_by: str
    closed: str
    function: Callable[[Tx], bool]

    @property
    def error(self) -> str:
        """The class of the error that a call gets while the gate is closed."""
        return "".join(part.title() for part in self.name.split("_")) + "RequiredError"

    def is_open(self, tx: Transaction) -> bool:
        """True if calls may pass."""
        return self.function(Tx(tx, self.name, Effects()))


@dataclass(frozen=True, slots=True)
class Sources:
    """Substitutes for a world's own knowledge: asked live, or read from a recording.

    ``kind`` is its class, so that knowledge for one world never reaches another's tools. ``record`` gives the same
    knowledge, of which every answer is appended to a file, and ``replay`` knowledge that answers from such a file:
    only the world knows which questions are the same. Both raise a ``ToolFault`` where the file cannot be used.
    """

    kind: type[Any]
    record: Callable[[Any, Path], object] | None = None
    replay: Callable[[Path], object] | None = None


@dataclass(frozen=True, slots=True)
class OfSession:
    """What one session's tools look things up in: servers of its own, by the world's name, and else ``rest``."""

    servers: Mapping[str, object]
    rest: object = None
