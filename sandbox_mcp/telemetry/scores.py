"""Scores as the events that the conventions have for evaluations, in a span beside those of the session.

Policy: one event a figure. Events are log records; where logs are not exported they go with the span, because many who
take traces take nothing else. What is not scored says so, and has no figure that could be averaged by mistake.
Source: OpenTelemetry, semantic conventions for generative AI, event ``gen_ai.evaluation.result``.
"""

import time
from collections.abc import Mapping

from opentelemetry import trace
from opentelemetry._logs import LogRecord
from opentelemetry.context import Context
from opentelemetry.trace import NonRecordingSpan, SpanKind

from sandbox_mcp.telemetry.pipeline import Exporting
from sandbox_mcp.telemetry.propagation import context_in
from sandbox_mcp.telemetry.spans import about
from sandbox_mcp.trajectory import SessionStarted

EVENT = "gen_ai.evaluation.result"
NOT_SCORED = "not_scored"


def tell(out: Exporting, started: SessionStarted, figures: Mapping[str, float | None]) -> None:
    """Tell what a session came to, in its trace where its log names one."""
    session = context_in(started.wall)
    around = Context() if session is None else trace.set_span_in_context(NonRecordingSpan(session), Context())
    named = {"gen_ai.operation.name": "evaluate", **about(started), "sandbox_mcp.scenario": started.scenario}
    span = out.tracer.start_span(f"evaluate {started.scenario}", around, SpanKind.INTERNAL, named)
    for name, value in figures.items():
        attributes: dict[str, str | float] = {"gen_ai.evaluation.name": name}
        if value is None:
            attributes["gen_ai.evaluation.score.label"] = NOT_SCORED
        else:
            attributes["gen_ai.evaluation.score.value"] = float(value)
        if out.events is None:
            span.add_event(EVENT, attributes)
        else:
            within = trace.set_span_in_context(span, around)
            told = {**attributes, **about(started)}
            out.events.emit(LogRecord(timestamp=time.time_ns(), context=within, event_name=EVENT, attributes=told))
    span.end()
