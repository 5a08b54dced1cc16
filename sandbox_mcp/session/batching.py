"""Which calls belong together, when all that is known of them is when they arrived.

Policy: calls are a batch when the second arrived before the first one's result was sent, or when the client marks them
as one. A call that comes after a pause is held back for a moment, because its sender has been thinking and may have
decided on several; one that follows a result at once comes from a sender who waits for results, and is not held.
"""

import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import anyio

from sandbox_mcp.session.session import AgentCall, CallResult

BATCH_KEY = "io.github.sandbox-mcp/batch"
"""Key in a call's ``_meta``: ``{"id", "index", "size"}``. Calls with the same id are one batch of ``size`` calls."""
WINDOW = 0.01
"""Seconds for which the first call after a pause waits for others."""
PAUSE = 0.05
"""Seconds without a call that make a pause: less than any model needs to decide, more than a program does."""
PATIENCE = 5.0
"""Seconds to wait for the rest of a marked batch before running what there is of it."""
LARGEST = 128
"""How many calls a marked batch may have; a mark that claims more is ignored."""

Run = Callable[[Sequence[AgentCall]], Awaitable[list[CallResult]]]


@dataclass(frozen=True, slots=True)
class Mark:
    """A client's word that a call is one of several."""

    id: str
    index: int
    size: int


def mark_in(meta: object) -> Mark | None:
    """The mark in a call's ``_meta``; None where there is none, or none that makes sense."""
    raw = cast("Mapping[str, Any]", meta).get(BATCH_KEY) if isinstance(meta, Mapping) else None
    if not isinstance(raw, Mapping):
        return None
    mark = cast("Mapping[str, Any]", raw)
    id_, index, size = mark.get("id"), mark.get("index"), mark.get("size")
    if not isinstance(id_, str) or not isinstance(index, int) or not isinstance(size, int):
        return None
    return Mark(id_, index, size) if 1 < size <= LARGEST and 0 <= index < size else None


@dataclass(slots=True, eq=False)
class _Batch:
    """Calls that wait to be run together, by what sorts them."""

    size: int | None
    calls: dict[tuple[int, str, str, int], AgentCall] = field(
        default_factory=dict[tuple[int, str, str, int], AgentCall]
    )
    results: dict[tuple[int, str, str, int], CallResult] = field(
        default_factory=dict[tuple[int, str, str, int], CallResult]
    )
    full: anyio.Event = field(default_factory=anyio.Event)
    done: anyio.Event = field(default_factory=anyio.Event)

    def add(self, call: AgentCall, mark: Mark | None) -> tuple[int, str, str, int]:
        """Take a call in and give it its place, which does not depend on when it arrived."""
        text = json.dumps(call.arguments, sort_keys=True, default=str)
        place = (mark.index if mark else 0, call.name, text, len(self.calls))
        self.calls[place] = call
        if self.size is not None and len(self.calls) >= self.size:
            self.full.set()
        return place


class Batcher:
    """Gathers the calls of one session. ``run`` executes a batch and has the session to itself while it does."""

    __slots__ = ("_last", "_open", "_run", "_window")

    def __init__(self, run: Run, window: float = WINDOW) -> None:
        self._run = run
        self._window = window
        self._open: dict[str | None, _Batch] = {}
        self._last = float("-inf")

    async def call(self, call: AgentCall, meta: Mapping[str, Any] | None = None) -> CallResult:
        """Run a call with those it belongs to, and give its own result."""
        mark = mark_in(meta)
        if mark is None and None not in self._open and self._follows():
            result = (await self._run([call]))[0]
            self._last = time.monotonic()
            return result
        key = mark.id if mark else None
        batch = self._open.get(key)
        if batch is not None:
            place = batch.add(call, mark)
            await batch.done.wait()
        else:
            batch = self._open[key] = _Batch(mark.size if mark else None)
            place = batch.add(call, mark)
            await self._lead(key, batch, PATIENCE if mark else self._window)
        return batch.results[place]

    async def settle(self) -> None:
        """Wait until what is held back has run."""
        for batch in list(self._open.values()):
            await batch.done.wait()

    def _follows(self) -> bool:
        return self._window <= 0 or time.monotonic() - self._last < PAUSE

    async def _lead(self, key: str | None, batch: _Batch, patience: float) -> None:
        """Wait for the others and run them all, even if the caller who came first has gone by then."""
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(patience):
                await batch.full.wait()
            del self._open[key]
            places = sorted(batch.calls)
            try:
                results = await self._run([batch.calls[place] for place in places])
                batch.results = dict(zip(places, results, strict=True))
            finally:
                self._last = time.monotonic()
                batch.done.set()
