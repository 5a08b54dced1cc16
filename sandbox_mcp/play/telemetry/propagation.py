"""Whose work something is part of: W3C trace context in logs, in MCP's ``_meta`` and in headers.

Source: W3C Trace Context; SEP-414, which has its keys unprefixed in ``params._meta``.
"""

from collections.abc import Mapping
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.propagate import extract
from opentelemetry.trace import SpanContext, TraceFlags
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_W3C = TraceContextTextMapPropagator()


def header_of(context: SpanContext) -> str:
    """A span as the value of a ``traceparent``."""
    ids = f"{trace.format_trace_id(context.trace_id)}-{trace.format_span_id(context.span_id)}"
    return f"00-{ids}-{context.trace_flags & TraceFlags.SAMPLED:02x}"


def context_in(wall: Mapping[str, Any]) -> SpanContext | None:
    """The span that an event of a log names, None where it names none."""
    found = trace.get_current_span(_W3C.extract({"traceparent": str(wall.get("traceparent", ""))}, Context()))
    context = found.get_span_context()
    return context if context.is_valid else None


def parent_in(*carriers: Mapping[str, Any] | None) -> Context | None:
    """The caller's context, from the first of these that holds one; None where none does."""
    for carrier in carriers:
        if not carrier:
            continue
        texts = {key: value for key, value in carrier.items() if isinstance(value, str)}
        found = extract(texts, Context())
        if trace.get_current_span(found).get_span_context().is_valid:
            return found
    return None
