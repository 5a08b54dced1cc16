"""How spans stand inside each other: which of them are one session, which tell the same call, which tell what was said.

Policy: the agent's side, the client of the protocol and its server may each record the same call; the outermost counts
unless one inside it tells more. An agent invoked by another is a session of its own.
"""

from collections.abc import Iterator, Mapping

from sandbox_grader.importers.reading.otlp import OURS, Span

MODEL = frozenset({"chat", "generate_content", "text_completion"})
AGENT = "invoke_agent"


def sessions_in(spans: list[Span]) -> dict[tuple[str, str], list[Span]]:
    """The spans of each session, by its conversation and the span of the agent that another one invoked in it."""
    by_key = {span.key: span for span in spans}
    repeated = _repeated(spans, by_key)
    named: dict[str, set[str]] = {}
    for span in spans:
        if id_ := span.text("gen_ai.conversation.id"):
            named.setdefault(span.trace, set()).add(id_)
    sessions: dict[tuple[str, str], list[Span]] = {}
    for span in spans:
        if not (span.operation or span.is_tool or span.has_messages) or span.key in repeated:
            continue
        of_trace = named.get(span.trace, ())
        only = next(iter(of_trace)) if len(of_trace) == 1 else span.trace
        conversation = span.text("gen_ai.conversation.id") or only
        agents = [at for at in (span, *_around(span, by_key)) if at.operation == AGENT]
        nested = agents[0].id if len(agents) > 1 else ""
        sessions.setdefault((conversation, nested), []).append(span)
    return sessions


def speaking(spans: list[Span]) -> list[Span]:
    """The spans that tell what was said: the model's; those of other operations as far as no span inside them does.

    An agent's own span counts where no other one tells anything.
    """
    telling = [span for span in spans if span.has_messages and not span.is_tool]
    by_key = {span.key: span for span in spans}
    around = {id(outer) for span in telling for outer in _around(span, by_key)}
    found = [span for span in telling if span.operation in MODEL or id(span) not in around]
    return [span for span in found if span.operation != AGENT] or found


def _around(span: Span, by_key: Mapping[tuple[str, str], Span]) -> Iterator[Span]:
    """The spans around a span, from the inside; a cycle ends where it closes."""
    seen = {span.id}
    at = by_key.get((span.trace, span.parent or ""))
    while at is not None and at.id not in seen:
        seen.add(at.id)
        yield at
        at = by_key.get((at.trace, at.parent or ""))


def _repeated(spans: list[Span], by_key: Mapping[tuple[str, str], Span]) -> set[tuple[str, str]]:
    """The spans that tell of a call which another one, inside or around them, tells more of."""
    found = set[tuple[str, str]]()
    for span in (span for span in spans if span.is_tool):
        same = [outer for outer in _around(span, by_key) if outer.is_tool and outer.tool == span.tool]
        if same and max(map(_told_of_call, same)) >= _told_of_call(span):
            found.add(span.key)
        else:
            found.update(outer.key for outer in same)
    return found


def _told_of_call(span: Span) -> int:
    """How much a span tells of its call."""
    return sum(key.startswith(("gen_ai.tool.call.", OURS)) for key in span.attributes)
