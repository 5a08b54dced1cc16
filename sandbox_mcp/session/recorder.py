"""The recorder: gives every event its place and its times, and passes it on to where logs go."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from sandbox_mcp.trajectory import Event, Sink


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

    def stamp(self, **more: float) -> Mapping[str, Any]:
        """The ``wall`` field of an event: seconds since the epoch, and what else was measured."""
        return {"time": round(self._wall(), 6), **more}
