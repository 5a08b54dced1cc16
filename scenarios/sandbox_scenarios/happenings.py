"""Conditions on the state of a world, and what a scenario lets happen once one holds.

Policy: a condition compares cells for equality, so that it can be looked at after every call. Something that happens
does so once, when its condition has held, or its moment come, and the seconds after it have passed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox_mcp.engine.world import Change, Running, Snapshot
from sandbox_mcp.engine.world.state import Row, freeze


@dataclass(frozen=True, slots=True)
class WorldCondition:
    """True while a table has at least ``least`` rows with these cells; with ``lacks``, while it has fewer."""

    table: str
    cells: Mapping[str, Any]
    least: int = 1
    lacks: bool = False

    def holds(self, state: Snapshot) -> bool:
        """True if it holds in a state."""
        wanted, found = self.cells.items(), 0
        for row in state.table(self.table).values():
            found += all(row.get(name) == value for name, value in wanted)
            if found >= self.least:
                return not self.lacks
        return self.lacks


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that a scenario lets happen once: rows that come, cells that change, what the agent is told.

    It waits for its condition ``when`` and for the moment ``at``, in seconds since 1970, where it has these, and then
    for ``after`` seconds. ``adds`` maps tables to rows by their ids, ``updates`` tables to cells by the ids of rows.
    """

    id: str
    when: WorldCondition | None = None
    at: float | None = None
    after: float = 0.0
    adds: Mapping[str, Mapping[str, Row]] = field(default_factory=dict[str, Mapping[str, Row]])
    updates: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(
        default_factory=dict[str, Mapping[str, Mapping[str, Any]]]
    )
    notice: str | None = None

    @property
    def name(self) -> str:
        """Its name in a log."""
        return self.id

    @property
    def meta(self) -> Mapping[str, Any]:
        """What a log keeps with the notice of it."""
        return {HAPPENED: self.id}

    def begins(self, state: Snapshot, now: float) -> bool:
        """True if what it waits for is there."""
        return (self.at is None or now >= self.at) and (self.when is None or self.when.holds(state))

    def happen(self, world: Running) -> tuple[Change, ...]:
        """Make its changes; a row gone by now stays gone."""
        transaction = world.begin()
        for table, rows in self.adds.items():
            for key, row in rows.items():
                transaction.put(table, key, freeze(row))
                transaction.drawn[table] = transaction.drawn.get(table, 0) + 1  # as folding the change again does
        for table, changed in self.updates.items():
            for key, cells in changed.items():
                if transaction.row(table, key) is not None:
                    transaction.update(table, key, cells)
        return world.commit(transaction)


HAPPENED = "event"
"""Under this key of a notice's ``meta`` the log names what happened."""


class Happenings:
    """What is still to happen in one session, and since when each of it only waits for its time."""

    __slots__ = ("_begun", "_left")

    def __init__(self, all_of: Sequence[Happening]) -> None:
        self._left = {item.id: item for item in all_of}
        self._begun: dict[str, float] = {}

    def look(self, state: Snapshot, now: float) -> None:
        """Note what has begun to wait for its time alone."""
        for name, item in self._left.items():
            if name not in self._begun and item.begins(state, now):
                self._begun[name] = now

    def due(self, state: Snapshot, now: float) -> Iterator[Happening]:
        """Take whatever happens now, in the order of the scenario."""
        self.look(state, now)
        for name, item in tuple(self._left.items()):
            if name in self._begun and now >= self._begun[name] + item.after:
                yield self._left.pop(name)

    def happened(self, name: str) -> bool:
        """Note that a log has something as happened; False if nothing of that name was left."""
        return self._left.pop(name, None) is not None
