"""Record of a session: its events, numbered and stamped, one after the other.

Policy: the number of an event is its place in the log; calls and batches are named after it. ``wall`` is the time of
the real clock, which a session looks at for nothing else. An event that could not be kept is not counted.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from sandbox_mcp.engine.tools import Outcome
from sandbox_mcp.engine.trajectory import EndReason, Event, Message, Role, SessionEnded, Sink, ToolCall, Trajectory

Back = Callable[[Callable[[], None]], None]
"""Does something in the thread that it belongs to, and comes back once it is done, or raises what it raised."""


class Recorder:
    """Counts and stamps the events of one session; ``ended`` tells whether its end is among them.

    ``back`` has something done in the thread that the sink belongs to, where events come about in another.
    """

    __slots__ = ("_sink", "back", "ended", "lost", "seq")

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.seq = 0
        self.ended = False
        self.lost: OSError | None = None
        self.back: Back | None = None

    def go_on(self, trajectory: Trajectory) -> None:
        """Count on from where a log stops."""
        self.ended = trajectory.ended is not None
        self.seq = 1 + len(trajectory.events) + self.ended

    def write(self, event: Event) -> None:
        """Keep one event and count it.

        Raises:
            OSError: it cannot be kept, as ``lost`` tells from now on.
        """
        try:
            if self.back is None:
                self._sink.write(event)
            else:
                self.back(partial(self._sink.write, event))
        except OSError as error:
            self.lost = error
            raise
        self.seq += 1

    def message(
        self, sender: Role, recipient: Role, content: str, clock: float, meta: Mapping[str, Any] | None = None
    ) -> None:
        """Keep what one says to another. Raises like :meth:`write`."""
        self.write(
            Message(
                seq=self.seq,
                clock=clock,
                sender=sender,
                recipient=recipient,
                content=content,
                visible_to=(sender, recipient),
                meta=meta or {},
                wall=self.stamp(),
            )
        )

    def call(
        self,
        name: str,
        outcome: Outcome,
        clock: float,
        meta: Mapping[str, Any],
        caller: Role,
        batch: str | None = None,
    ) -> None:
        """Keep one call, under the name that the caller knows the tool by, and how it came out.

        It is a batch of its own unless one is named. Raises like :meth:`write`.
        """
        self.write(
            ToolCall(
                seq=self.seq,
                clock=clock,
                call=f"c{self.seq}",
                batch=batch or f"b{self.seq}",
                caller=caller,
                name=name,
                tool=outcome.tool.name if outcome.tool else None,
                arguments=outcome.arguments,
                raw_arguments=outcome.raw_arguments,
                result=outcome.result,
                error=outcome.fault,
                changes=outcome.changes,
                meta=meta,
                wall=self.stamp(),
            )
        )

    def end(self, reason: EndReason, detail: str | None, clock: float) -> None:
        """Keep why and when the session ended. Raises like :meth:`write`."""
        self.write(SessionEnded(seq=self.seq, clock=clock, reason=reason, detail=detail, wall=self.stamp()))
        self.ended = True

    def end_lost(self, clock: float) -> None:
        """Keep, if possible once more, that the session ended because of what ``lost`` tells."""
        error = self.lost
        with suppress(OSError):
            self.end("log_failed", error.strerror if error else None, clock)
        self.lost = error

    def stamp(self) -> Mapping[str, Any]:
        """The ``wall`` field of an event: seconds since the epoch."""
        return {"time": round(time.time(), 6)}
