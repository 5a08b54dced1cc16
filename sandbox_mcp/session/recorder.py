"""The recorder: gives every event its place and its times, and passes it on to where logs go."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from sandbox_mcp.tools import Outcome
from sandbox_mcp.trajectory import CallError, Event, Role, Sink, ToolCall


class Recorder:
    """Counts and stamps events. ``wall`` is the real clock, the only one a session ever looks at."""

    __slots__ = ("_sink", "_wall", "seq")

    def __init__(self, sink: Sink, seq: int = 0, wall: Callable[[], float] = time.time) -> None:
        self._sink = sink
        self._wall = wall
        self.seq = seq

    def write(self, event: Event) -> None:
        """Keep one event and count it."""
        self._sink.write(event)
        self.seq += 1

    def call(
        self, name: str, outcome: Outcome, clock: float, batch: str, meta: Mapping[str, Any], caller: Role
    ) -> None:
        """Keep one call, under the name that the caller knows the tool by, and how it came out."""
        fault = outcome.fault
        self.write(
            ToolCall(
                seq=self.seq,
                clock=clock,
                call=f"c{self.seq}",
                batch=batch,
                caller=caller,
                name=name,
                tool=outcome.tool.name if outcome.tool else None,
                arguments=outcome.arguments,
                raw_arguments=outcome.raw_arguments,
                result=outcome.result,
                error=CallError(kind=fault.kind, type=fault.type, message=fault.message) if fault else None,
                changes=outcome.changes,
                meta=meta,
                wall=self.stamp(),
            )
        )

    def stamp(self, **more: float) -> Mapping[str, Any]:
        """The ``wall`` field of an event: seconds since the epoch, and what else was measured."""
        return {"time": round(self._wall(), 6), **more}
