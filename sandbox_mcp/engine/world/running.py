"""The world: the current snapshot, the virtual clock and the ids, advanced by transactions."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager

from sandbox_mcp.engine.world.clock import Clock, IdStream
from sandbox_mcp.engine.world.fixed import FixedInstance
from sandbox_mcp.engine.world.state import Change, Snapshot, fold, replace_tables
from sandbox_mcp.engine.world.transaction import Transaction


class Running:
    """Mutable only here: which snapshot is current, what time it is, how many ids each table has handed out."""

    __slots__ = ("_drawn", "clock", "fixed", "ids", "knowledge", "snapshot")

    def __init__(
        self, snapshot: Snapshot, clock: Clock, ids: IdStream, knowledge: object = None,
        fixed: FixedInstance | None = None,
    ) -> None:  # fmt: skip
        """``knowledge`` and ``fixed`` are handed to every transaction unseen: what tools look things up in."""
        self.snapshot = snapshot
        self.clock = clock
        self.ids = ids
        self.knowledge = knowledge
        self.fixed = fixed
        self._drawn: dict[str, int] = {}

    @contextmanager
    def transaction(self) -> Generator[Transaction]:
        """A context whose writes are applied together when it ends and dropped when it raises."""
        transaction = self.begin()
        yield transaction
        self.commit(transaction)

    def begin(self) -> Transaction:
        """A transaction that :meth:`commit` applies, for callers that decide later."""
        drawn = dict(self._drawn)
        return Transaction(self.snapshot, self.clock, self.ids, drawn, knowledge=self.knowledge, fixed=self.fixed)

    def commit(self, transaction: Transaction) -> tuple[Change, ...]:
        """Apply a transaction begun on the current snapshot and return its changes.

        Raises:
            RuntimeError: another transaction was committed since this one began.
        """
        if transaction.base is not self.snapshot:
            raise RuntimeError("the world has moved on since this transaction began")
        self.snapshot = replace_tables(self.snapshot, transaction.edited)
        self._drawn = transaction.drawn
        if transaction.elapsed:
            self.tick(transaction.elapsed)
        return tuple(transaction.changes)

    def tick(self, seconds: float | None = None) -> float:
        """Let one step, or so many seconds, pass and return the new time."""
        self.clock = self.clock.advanced(seconds)
        return self.clock.now

    def replay(self, changes: Iterable[Change]) -> None:
        """Apply recorded changes, so that the next ids are those the recorded world would have handed out."""
        recorded = tuple(changes)
        self.snapshot = fold(self.snapshot, recorded)
        for change in recorded:
            if change.before is None:
                self._drawn[change.table] = self._drawn.get(change.table, 0) + 1
