"""Batches: calls that belong together, when everything known of them is when they arrived.

Policy: calls are a batch when the second arrived before the first one's result was sent, or when the client marks them
as one. A call that comes after a pause is held back for a moment, because its sender has been thinking and may have
decided on several; one that follows a result at once comes from a sender who waits for results, and is not held.
"""

import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import anyio

from sandbox_mcp.engine.tools.races import BATCH_KEY
from sandbox_mcp.play.session.agent_calls import AgentCall, CallResult

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
    """The mark in a call's ``_meta``; None where it has no mark, or one that makes no sense."""
    raw = cast("Mapping[str, Any]", meta).get(BATCH_KEY) if isinstance(meta, Mapping) else None
    if not isinstance(raw, Mapping):
        return None
    mark = cast("Mapping[str, Any]", raw)
    id_, index, size = mark.get("id"), mark.get("index"), mark.get("size")
    if not isinstance(id_, str) or type(index) is not int or type(size) is not int:  # a boolean is not an index
        return None
    return Mark(id_, index, size) if 1 <= size <= LARGEST and 0 <= index < size else None


class _Batch:
    """Calls that wait to be run together."""

    __slots__ = ("_marks", "broke", "calls", "done", "full", "results", "size")

    def __init__(self, size: int | None) -> None:
        self.size = size
        self.calls: list[AgentCall] = []
        self._marks: list[Mark | None] = []
        self.results: dict[int, CallResult] = {}
        self.broke: Exception | None = None
        self.full = anyio.Event() if size else None
        self.done: anyio.Event | None = None

    def add(self, call: AgentCall, mark: Mark | None) -> int:
        """Take a call in and give it its number."""
        self.calls.append(call)
        self._marks.append(mark)
        if self.full and self.size is not None and len(self.calls) >= self.size:
            self.full.set()
        return len(self.calls) - 1

    def order(self) -> list[int]:
        """The numbers of the calls in an order that does not depend on which arrived first."""
        return sorted(range(len(self.calls)), key=self._place) if len(self.calls) > 1 else [0]

    def _place(self, number: int) -> tuple[int, str, str]:
        mark, call = self._marks[number], self.calls[number]
        return mark.index if mark else 0, call.name, json.dumps(call.arguments, sort_keys=True, default=str)

    async def wait(self) -> None:
        """Wait until the batch has run."""
        if self.done is None:
            self.done = anyio.Event()
        await self.done.wait()


class Batcher:
    """Gathers the calls of one session. ``run`` executes a batch and has the session to itself while it does."""

    __slots__ = ("_last", "_open", "_run", "_window")

    def __init__(self, run: Run, window: float = WINDOW) -> None:
        self._run = run
        self._window = window
        self._open: dict[str | None, _Batch] = {}
        self._last = float("-inf")

    async def call(self, call: AgentCall, meta: object = None) -> CallResult:
        """Run a call with those it belongs to, and give its own result."""
        mark = mark_in(meta) if meta else None
        if self._is_alone(mark):
            result = (await self._run([call]))[0]
            self._last = time.monotonic()
            return result
        key = mark.id if mark else None
        batch = self._open.get(key)
        if batch is not None:
            number = batch.add(call, mark)
            await batch.wait()
        else:
            batch = self._open[key] = _Batch(mark.size if mark else None)
            number = batch.add(call, mark)
            await self._lead(key, batch)
        if batch.broke is not None:
            raise batch.broke
        return batch.results[number]

    def _is_alone(self, mark: Mark | None) -> bool:
        """True if nothing can belong to a call, so that there is nothing to wait for."""
        if mark is not None:
            return mark.size == 1 and mark.id not in self._open
        return not self._open and (self._window <= 0 or time.monotonic() - self._last < PAUSE)

    async def settle(self) -> None:
        """Wait until held-back calls have run."""
        for batch in list(self._open.values()):
            await batch.wait()

    async def _lead(self, key: str | None, batch: _Batch) -> None:
        """Wait for the others and run them all, even if the caller who came first has gone by then."""
        with anyio.CancelScope(shield=True):
            if batch.full is None:
                await anyio.sleep(self._window)
            else:
                with anyio.move_on_after(PATIENCE):
                    await batch.full.wait()
            del self._open[key]
            order = batch.order()
            try:
                results = await self._run([batch.calls[number] for number in order])
                batch.results = dict(zip(order, results, strict=True))
            except Exception as error:  # noqa: BLE001 - raised for every call of the batch
                batch.broke = error
            finally:
                self._last = time.monotonic()
                if batch.done is not None:
                    batch.done.set()
