"""Traces, scores and figures for OpenTelemetry, off unless the standard variables name an exporter.

Policy: whatever keeps a log may have it traced, and spans say what the log says. Nothing of OpenTelemetry's SDK is
imported while it is off. A session never waits for a collector, and never fails because of one. What was said, given
and returned stays here unless ``OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`` lets it out.
Source: OpenTelemetry, semantic conventions for generative AI and for the Model Context Protocol; SEP-414.
"""

import logging
import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cache, cached_property
from typing import TYPE_CHECKING

from sandbox_mcp.play.telemetry.requests import CALL, RequestTrace
from sandbox_mcp.play.telemetry.variables import LACKING, wanted

if TYPE_CHECKING:
    from sandbox_mcp.engine.trajectory import SessionStarted, Sink, Trajectory
    from sandbox_mcp.play.telemetry.pipeline import Exporting

__all__ = ["RequestTrace", "ambient", "answering", "close", "exporting", "flush", "own_process", "scored", "traced"]

logger = logging.getLogger("sandbox_mcp.play.telemetry")


def answering(request: RequestTrace | None) -> None:
    """Say that a call is carried out from now on, and for which request; each call of a batch has its own."""
    CALL.set((request, time.time_ns()))


def exporting() -> "Exporting | None":
    """Destination of telemetry: where the variables say, or the provider of the program that this is part of."""
    found = _process().exporting
    if found is not None or "opentelemetry.sdk.trace" not in sys.modules:
        return found
    from sandbox_mcp.play.telemetry.pipeline import of_program

    return of_program()


def own_process() -> None:
    """Say that this process is ours alone, so that its global providers and its warnings are ours to set."""
    _process().own = True


def traced(sink: "Sink", earlier: "Trajectory | None" = None) -> "Sink":
    """The log, with spans made of it while it is written; ``earlier`` is what it holds already."""
    found = exporting()
    if found is None:
        return sink
    from sandbox_mcp.play.telemetry.spans import TracedSink

    return TracedSink(sink, found, earlier)


def ambient(sink: object) -> AbstractContextManager[None]:
    """While the context is open, whatever else is traced belongs to the current turn of a traced log."""
    if exporting() is None:
        return nullcontext()
    from sandbox_mcp.play.telemetry.spans import TracedSink

    return sink.ambient() if isinstance(sink, TracedSink) else nullcontext()


def scored(started: "SessionStarted", figures: Callable[[], Mapping[str, float | None]]) -> None:
    """Export a session's figures, by ``family.name``; None stands for one that does not count."""
    found = exporting()
    if found is not None:
        from sandbox_mcp.play.telemetry.spans import tell

        tell(found, started, figures())


def flush() -> None:
    """Send waiting spans, for some seconds at most."""
    found = exporting()
    if found is not None:
        found.flush()


def close() -> None:
    """Send waiting spans as the last thing that this process does."""
    found: Exporting | None = vars(_process()).get("exporting")
    if found is not None:
        found.flush()


class _Process:
    """Destination of this process, worked out on first use; ``own`` says that it runs nothing but our code."""

    own = False

    @cached_property
    def exporting(self) -> "Exporting | None":
        exporters = wanted(os.environ)
        if not exporters:
            return None
        try:
            from sandbox_mcp.play.telemetry.pipeline import begin
        except ImportError as error:
            if (error.name or "").partition(".")[0] != "opentelemetry":
                raise
            logger.warning(LACKING)
            return None
        return begin(exporters, own=self.own)


@cache
def _process() -> _Process:
    return _Process()
