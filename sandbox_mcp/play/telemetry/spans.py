"""Spans of a session, made from the events of its log: the session, each turn of its agent, each call.

Policy: the log comes first, and a span tells nothing that it does not. The spans of a session and of its turns are
named in the log when they begin and made when they end, so that an open one costs nothing and outlives its process. A
call is a child of whoever asked for it, where the request says so, else of its turn. What the user is told in secret is
in no span at all.

Scores are events in a span beside those of the session, one event a figure. Events are log records; where logs are not
exported they go with the span, because many who take traces take nothing else. What is not scored says so, and has no
figure that could be averaged by mistake.
Source: OpenTelemetry, semantic conventions for generative AI, event ``gen_ai.evaluation.result``.
"""

import json
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from opentelemetry import trace
from opentelemetry._logs import LogRecord
from opentelemetry.context import Context
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from sandbox_mcp.engine.trajectory import (
    INFRASTRUCTURE,
    Event,
    Message,
    SessionEnded,
    SessionStarted,
    Sink,
    ToolCall,
    ToolSpec,
    Trajectory,
)
from sandbox_mcp.engine.trajectory.log import plain
from sandbox_mcp.play.telemetry.pipeline import Exporting
from sandbox_mcp.play.telemetry.propagation import context_in, header_of
from sandbox_mcp.play.telemetry.requests import CALL

TRACE = "traceparent"
"""Where an event's ``wall`` names the span that it begins, in the form of the header of that name."""
PROVIDERS: Final = frozenset({"anthropic", "openai"})
"""Agents of ours that are called like the provider whose model they ask."""
NANO = 1_000_000_000
EVENT = "gen_ai.evaluation.result"
NOT_SCORED = "not_scored"


@dataclass(frozen=True, slots=True)
class _Turn:
    """A turn of the agent still going on: its span, since when, and its input."""

    context: SpanContext
    begun: int
    told: str


@dataclass(slots=True)
class _Session:
    """State of a session as long as it lasts."""

    started: SessionStarted
    context: SpanContext
    about: Mapping[str, Any]
    instructions: str = ""
    offered: tuple[ToolSpec, ...] = ()
    turn: _Turn | None = field(default=None)


class TracedSink:
    """Passes events on to a log, and makes spans of them."""

    __slots__ = ("_out", "_session", "sink")

    def __init__(self, sink: Sink, out: Exporting, earlier: Trajectory | None = None) -> None:
        self.sink = sink
        self._out = out
        self._session = self._resumed(earlier) if earlier is not None else None

    def write(self, event: Event) -> None:
        """Keep one event, then tell of it.

        Raises:
            OSError: the log cannot keep it; no span tells of it either.
        """
        if isinstance(event, SessionStarted):
            context = self._root(event)
            event = replace(event, wall=_naming(event, context))
            self.sink.write(event)
            self._session = self._begun(event, context)
            return
        session = self._session
        if session is not None and isinstance(event, Message) and (event.sender, event.recipient) == ("user", "agent"):
            turn = _Turn(self._within(session.context), _at(event), event.content)
            self.sink.write(replace(event, wall=_naming(event, turn.context)))
            session.turn = turn
            return
        self.sink.write(event)
        if session is None:
            return
        if isinstance(event, ToolCall):
            self._call(session, event)
        elif isinstance(event, SessionEnded):
            self._end(session, event)
        elif (event.sender, event.recipient) == ("system", "agent"):
            session.instructions = event.content
        elif (event.sender, event.recipient) == ("agent", "user"):
            self._turn(session, _at(event), said=event)

    def ambient(self) -> AbstractContextManager[Any]:
        """The current turn, or else the session, as the parent of anything else traced."""
        session = self._session
        context = trace.INVALID_SPAN_CONTEXT if session is None else (session.turn or session).context
        return trace.use_span(NonRecordingSpan(context))

    # -- beginnings -----------------------------------------------------------------------------------------------

    def _root(self, started: SessionStarted) -> SpanContext:
        """The span that a session will be, in a trace of its own."""
        ids = self._out.ids
        trace_id = ids.generate_trace_id()
        sampled = self._out.sampler.should_sample(None, trace_id, _title(started), SpanKind.INTERNAL, about(started))
        flags = TraceFlags(TraceFlags.SAMPLED if sampled.decision.is_sampled() else TraceFlags.DEFAULT)
        return SpanContext(trace_id, ids.generate_span_id(), is_remote=False, trace_flags=flags)

    def _within(self, outer: SpanContext) -> SpanContext:
        span = self._out.ids.generate_span_id()
        return SpanContext(outer.trace_id, span, is_remote=False, trace_flags=outer.trace_flags)

    def _begun(self, started: SessionStarted, context: SpanContext) -> _Session:
        light = replace(started, world=None, tools=(), reference=())
        offered = started.tools if self._out.content else ()
        return _Session(light, context, about(started), offered=offered)

    def _resumed(self, earlier: Trajectory) -> _Session:
        """A session that another process has begun, with the turn that it was in."""
        started = earlier.started
        session = self._begun(started, context_in(started.wall) or self._root(started))
        for event in earlier.events:
            if not isinstance(event, Message):
                continue
            if (event.sender, event.recipient) == ("user", "agent"):
                context = context_in(event.wall) or self._within(session.context)
                session.turn = _Turn(context, _at(event), event.content)
            elif event.sender == "agent" and event.recipient == "user":
                session.turn, session.offered = None, ()
            elif event.sender == "system" and event.recipient == "agent":
                session.instructions = event.content
        return session

    # -- what happened --------------------------------------------------------------------------------------------

    def _turn(
        self, session: _Session, at: int, *, said: Message | None = None, failed: SessionEnded | None = None
    ) -> None:
        """A finished turn of the agent: its input, and its reply."""
        turn, session.turn = session.turn, None
        if turn is None:
            return
        agent = session.started.agent
        name = str(agent.get("name") or "")
        told: dict[str, Any] = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": name if name in PROVIDERS else "sandbox_mcp",
            **session.about,
        }
        if agent.get("model"):
            told["gen_ai.request.model"] = str(agent["model"])
        given = said.meta.get("usage") if said is not None else None
        if isinstance(given, Mapping):
            usage = cast("Mapping[str, Any]", given)
            names = {"gen_ai.usage.input_tokens": "prompt_tokens", "gen_ai.usage.output_tokens": "completion_tokens"}
            told |= {key: value for key, name in names.items() if isinstance(value := usage.get(name), int)}
        if self._out.content:
            told |= self._words(session, turn, said)
        self._out.ids.choose(turn.context)
        span = self._out.tracer.start_span(
            f"invoke_agent {name}".rstrip(), _inside(session.context), SpanKind.INTERNAL, told, (), turn.begun
        )
        if failed is not None and failed.reason in INFRASTRUCTURE:
            self._spoil(span, failed.reason, failed.detail)
        span.end(max(at, turn.begun))

    def _words(self, session: _Session, turn: _Turn, said: Message | None) -> dict[str, str]:
        """Input and words of the agent; tools and instructions with the first turn."""
        told = {"gen_ai.input.messages": _json([_message("user", turn.told)])}
        if said is not None:
            told["gen_ai.output.messages"] = _json([_message("assistant", said.content) | {"finish_reason": "stop"}])
        if session.instructions:
            told["gen_ai.system_instructions"] = _json([{"type": "text", "content": session.instructions}])
        if session.offered:
            told["gen_ai.tool.definitions"] = _json(
                [
                    {
                        "type": "function",
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": tool.input_schema,
                    }
                    for tool in session.offered
                ]
            )
            session.offered = ()
        return told

    def _call(self, session: _Session, event: ToolCall) -> None:
        by_agent, at = event.caller == "agent", _at(event)
        request, begun = (CALL.get() if by_agent else None) or (None, at)
        told: dict[str, Any] = {**session.about, "sandbox_mcp.batch": event.batch}
        if event.tool is not None:
            told["sandbox_mcp.tool"] = event.tool
        if not by_agent:
            told["sandbox_mcp.caller"] = event.caller
            name = f"{event.caller} {event.name}"
        else:
            told |= {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": event.name,
                "gen_ai.tool.type": "function",
                "gen_ai.tool.call.id": event.call,
            }
            name = "execute_tool" if request is None else request.method
            name = f"{name} {event.name}" if event.tool is not None else name  # what was made up has no end
        if request is not None:
            told |= request.attributes
            request.told = True
        if self._out.content:
            given = event.arguments if event.raw_arguments is None else event.raw_arguments
            told["gen_ai.tool.call.arguments"] = given if isinstance(given, str) else _json(given)
            if event.error is None:
                told["gen_ai.tool.call.result"] = _json(event.result)
        around = (session.turn or session).context
        parent = _inside(around) if request is None or request.parent is None else request.parent
        apart = trace.get_current_span(parent).get_span_context().trace_id != around.trace_id
        kind = SpanKind.INTERNAL if request is None else SpanKind.SERVER
        links = [Link(around)] if apart else []
        span = self._out.tracer.start_span(name, parent, kind, told, links, min(begun, at))
        if event.error is not None:
            self._spoil(span, event.error.type if request is None else "tool_error", event.error.message)
            span.set_attribute("sandbox_mcp.error.kind", event.error.kind)
            span.set_attribute("sandbox_mcp.error.type", event.error.type)
        span.end(at)

    def _end(self, session: _Session, event: SessionEnded) -> None:
        at = _at(event)
        self._turn(session, at, failed=event)
        started = session.started
        told = {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.workflow.name": started.scenario,
            **session.about,
            # what decided the session, so that whoever has its spans can find its scenario
            "sandbox_mcp.session": started.session,
            "sandbox_mcp.scenario": started.scenario,
            "sandbox_mcp.digest": started.digest,
            "sandbox_mcp.variant": started.variant,
            "sandbox_mcp.seed": started.seed,
            "sandbox_mcp.trial": started.trial,
            "sandbox_mcp.user_channel": started.user_channel,
            "sandbox_mcp.user": str(started.user.get("kind") or ""),
            "sandbox_mcp.end": event.reason,
        }
        self._out.ids.choose(session.context)
        span = self._out.tracer.start_span(_title(started), Context(), SpanKind.INTERNAL, told, (), _at(started) or at)
        if event.reason in INFRASTRUCTURE:
            self._spoil(span, event.reason, event.detail)
        span.end(at)
        self._session = None

    def _spoil(self, span: trace.Span, kind: str, told: str | None) -> None:
        """Mark a span as failed, with the message where messages may be let out."""
        span.set_attribute("error.type", kind)
        span.set_status(Status(StatusCode.ERROR, told if self._out.content else None))


def tell(out: Exporting, started: SessionStarted, figures: Mapping[str, float | None]) -> None:
    """Export a session's scores, in its trace where its log names one."""
    session = context_in(started.wall)
    around = Context() if session is None else _inside(session)
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


def about(started: SessionStarted) -> dict[str, Any]:
    """Attributes of every span of a session. Names of sessions recur from run to run, so their time is added."""
    begun = started.wall.get("time")
    told: dict[str, Any] = {
        "gen_ai.conversation.id": f"{started.session}@{begun:.6f}" if isinstance(begun, float) else started.session
    }
    if started.agent.get("name"):
        told["gen_ai.agent.name"] = str(started.agent["name"])
    return told


def _title(started: SessionStarted) -> str:
    return f"invoke_workflow {started.scenario}"


def _inside(context: SpanContext) -> Context:
    return trace.set_span_in_context(NonRecordingSpan(context), Context())


def _naming(event: SessionStarted | Message, context: SpanContext) -> Mapping[str, Any]:
    """The ``wall`` of an event, with the span that begins with the event."""
    return {**event.wall, TRACE: header_of(context)}


def _at(event: Event) -> int:
    """Time of an event, in nanoseconds since 1970."""
    seconds = event.wall.get("time")
    return int(seconds * NANO) if isinstance(seconds, int | float) else 0


def _message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def _json(value: Any) -> str:
    return json.dumps(value, default=plain, ensure_ascii=False, separators=(",", ":"))
