"""Imports OpenTelemetry's GenAI spans, in OTLP JSON: sessions by conversation id, or by trace where there is none.

Policy: messages come from the model's spans, each of which repeats the history, so only what is new in it counts; a
span that holds messages is a model's whatever its operation is called, unless spans inside it hold them, too. Tool
spans say what came of the calls. Content is opt-in and often absent: a call without its arguments says so in ``meta``,
and nothing is made up. What our own spans say beyond the conventions, under ``sandbox_mcp``, is believed: which
scenario it was, and which tool a name stood for. The agent's side, the client of the protocol and its server may each
record the same call; the outermost span counts unless one inside it tells more. An agent invoked by another is part of
its session: its calls are the session's, what is said between the two are notes.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, cast

from sandbox_grader.errors import NothingToImportError
from sandbox_grader.importers.base import Faults, Imported, Loss
from sandbox_grader.importers.reading import chats
from sandbox_grader.importers.reading.build import CallOutcome, Ending, Names, OpenCall, SessionBuilder, stem
from sandbox_grader.importers.reading.content import TEXTS, joined
from sandbox_grader.importers.reading.json_values import JsonNode, is_array, load
from sandbox_grader.importers.reading.otlp import OURS, Span, spans_of
from sandbox_grader.importers.reading.values import Given, arguments_of, decode, encode, failure, stated
from sandbox_grader.ours import KINDS, REASONS
from sandbox_mcp.engine.trajectory import CallError, EndReason, ErrorKind

MODEL = frozenset({"chat", "generate_content", "text_completion"})
AGENT = "invoke_agent"

SPOKE, RAN, HEARD = range(3)
"""What a span tells of, in the order in which things of the same moment happened."""

REFUSED: Final = MappingProxyType[str, ErrorKind](
    {"extra_forbidden": "unknown_argument", "missing": "missing_argument"}
)
"""What pydantic calls a fault of arguments, in the order in which a call is checked here."""

OTHERS: Final = MappingProxyType(
    {
        "gen_ai.prompt.": "of conventions before 1.37",
        "gen_ai.completion.": "of conventions before 1.37",
        "llm.input_messages.": "of OpenInference",
        "llm.output_messages.": "of OpenInference",
    }
)
"""How the attributes begin in which other conventions keep messages, and which conventions these are."""

PARTS = MappingProxyType({**TEXTS, "text": "content", "reasoning": "content"})
"""Type of a part of a message to the member that holds its text."""


def read(paths: Sequence[Path]) -> Iterator[Imported]:
    """Read the given files.

    Raises:
        ImportFormatError: a file is not OTLP JSON, or holds no GenAI span.
    """
    names = Names()
    for path in paths:
        loaded = load(path)
        exported = spans_of(loaded)
        spans = list({encode(span.node.value): span for span in exported}.values())
        twice, losses = len(exported) - len(spans), list(loaded.losses)
        losses += [Loss(f"spans ({twice})", "exported twice; they count once")] if twice else []
        sessions = sessions_in(spans)
        if not sessions:
            others = [f"; its attributes {name!r} {why}" for name, why in _unread(spans).items()]
            problem = "holds no span of a model, an agent or a tool, and no messages"
            raise NothingToImportError(str(path), None, problem + "".join(others[:1]))
        faults = Faults()
        for conversation, agents in sessions.items():
            with faults.aside():
                builder = SessionBuilder("otel", str(path), stem(path), losses)
                yield _session(conversation, agents, builder, names)
        faults.tell()


def _session(conversation: str, agents: dict[str, list[Span]], builder: SessionBuilder, names: Names) -> Imported:
    main = next(iter(agents))
    spans = agents[main]
    keys = {"name": "gen_ai.agent.name", "model": "gen_ai.request.model"}
    found = {name: next((text for span in spans if (text := span.text(key))), "") for name, key in keys.items()}
    builder.head = replace(builder.head, session=conversation, agent=stated(**found))
    told_of_itself = next((span for span in spans if span.text(f"{OURS}session")), None)
    if told_of_itself is not None:  # a session of ours, whose scenario is found again
        texts = {name: told_of_itself.text(f"{OURS}{name}") for name in ("session", "scenario", "digest", "variant")}
        numbers = {name: told_of_itself.attributes.get(f"{OURS}{name}") for name in ("seed", "trial")}
        whole = {name: value for name, value in numbers.items() if isinstance(value, int)}
        builder.head = replace(builder.head, **texts, **whole)
    if len(agents) > 1:
        told = "their calls are part of the session, what was said between them and the main agent are notes"
        builder.lose(f"sub-agents ({len(agents) - 1})", told)
    scores = {
        str(told.get("gen_ai.evaluation.name", "score")): told.get(
            "gen_ai.evaluation.score.value", told.get("gen_ai.evaluation.score.label")
        )
        for span in spans
        for event, told in span.events
        if event == "gen_ai.evaluation.result"
    }
    if scores:
        builder.origin["scores"] = scores
    players = {agent: _Player(builder) for agent in agents}
    for agent, group in agents.items():
        players[agent].begin(group)
    told_by = [(step, agent) for agent, group in agents.items() for step in _steps(group, speaking(group))]
    steps = [(at, kind, agent, span) for (at, kind, span), agent in told_by]
    for _, kind, agent, span in sorted(steps, key=lambda step: step[:2]):
        with builder.aside(really=agent != main):
            players[agent].step(kind, span)
    for span in (span for group in agents.values() for span in group if span.operation in MODEL):
        builder.spend(span.node.child("attributes", usage_of(span)))
    for attribute, why in _unread(spans).items():
        builder.lose(f"attributes {attribute!r}", why)
    told = (name for span in spans for name, _ in span.events if name.endswith((".message", ".choice")))
    for name, times in sorted(Counter(name for name in told if "gen_ai." in name).items()):
        builder.lose(f"events {name!r} ({times})", "messages in the form of conventions before 1.37 are not read")
    name = names.unique(stem(builder.origin["file"]), conversation)
    return builder.finish(name, *_end(spans, builder))


def _unread(spans: list[Span]) -> dict[str, str]:
    """The attributes with messages of other conventions, and why these are not read."""
    keys = {key for span in spans for key in span.attributes}
    return {
        f"{start}*": f"hold messages {whose}, which are not read; record by the GenAI conventions since 1.37"
        for start, whose in OTHERS.items()
        if any(key.startswith(start) for key in keys)
    }


def _end(spans: list[Span], builder: SessionBuilder) -> Ending:
    told = next((text for span in spans if (text := span.text(f"{OURS}end"))), "")
    if told in REASONS:
        return cast("EndReason", told), next((s.status for s in spans if s.text(f"{OURS}end")), "") or None
    agents = [span for span in spans if span.operation == AGENT]
    acting = agents or [span for span in spans if span.operation in MODEL] or speaking(spans)
    last = acting[-1] if acting else None
    if last is not None and (last.failed or last.text("error.type")):
        kind, message = _exception(last)
        return "agent_failed", last.status or message or last.text("error.type") or kind or "the last span failed"
    return ("recorded" if (builder.settled if agents else builder.whole) else None), None


class _Player:
    """Adds what spans tell to a session, in the order of time."""

    __slots__ = ("_builder", "_called", "_heard", "_instructions")

    def __init__(self, builder: SessionBuilder) -> None:
        self._builder = builder
        self._heard: list[str] = []
        self._called: set[str | None] = set()
        self._instructions = ""

    def begin(self, spans: list[Span]) -> None:
        """Add the tools that an agent was offered."""
        if not speaking(spans) and not _unread(spans):
            self._builder.lose("messages", "no span holds messages; recording their content is opt-in")
        for span in spans:
            definitions = span.value("gen_ai.tool.definitions")
            if definitions is not None:
                chats.offer_tools(self._builder, definitions.items())

    def step(self, kind: int, span: Span) -> None:
        """Add a span: what a model was told when it started, what it said when it ended, or what a tool did."""
        if kind == RAN:
            self._tool(span)
        elif kind == HEARD:
            self._instruct(span)
            self._hear(span, span.start)
        else:
            messages = _messages(span, "gen_ai.output.messages")
            for message in messages[:1]:
                self._message(message, span.end)
                self._heard.append(_canonical(message))
            for message in messages[1:]:
                self._builder.lose(message, "an alternative answer is not kept")

    def _instruct(self, span: Span) -> None:
        given = span.attributes.get("gen_ai.system_instructions")
        node = (
            span.value("gen_ai.system_instructions")
            if not isinstance(given, str) or given.lstrip().startswith(("[", "{"))
            else span.node.child("instructions", given)
        )
        if node is None or node.value is None:
            return
        text = joined(node, self._builder, texts=PARTS)
        if text and text != self._instructions:
            self._builder.say("system", "agent", text, stamp=span.start or None)
        self._instructions = text

    def _hear(self, span: Span, at: float) -> None:
        messages = _messages(span, "gen_ai.input.messages")
        history = [_canonical(message) for message in messages]
        pairs = enumerate(zip(history, self._heard, strict=False))
        same = next((i for i, (a, b) in pairs if a != b), min(len(history), len(self._heard)))
        if same < len(self._heard) and span.operation == AGENT:
            self._heard, same = [], 0  # an agent that keeps the history itself is given what is new
        if same < len(self._heard):
            self._builder.lose(
                span.node, "the history a model was given is not the one before it; only what is new counts"
            )
        known = Counter(self._heard[same:])
        for message, canonical in list(zip(messages, history, strict=True))[same:]:
            if known[canonical] > 0:
                known[canonical] -= 1
            else:
                self._message(message, at)
        self._heard = history

    def _message(self, message: JsonNode, at: float) -> None:
        role, stamp = message.string_at("role") or "assistant", at or None
        parts = message.items_at("parts")
        for part in parts:
            if part.members().get("type") == "tool_call_response":
                id_, value = part.label_at("id"), part.get("response") or part.get("result")
                if self._builder.find(id_) is not None or id_ not in self._called:  # else its own span has told it
                    self._builder.settle(part, id_, self._builder.judge(_text(value and value.value), None))
        text = joined(_only(message, parts, "text"), self._builder, texts=PARTS)
        calls = [part for part in parts if part.members().get("type") == "tool_call"]
        for part in parts:
            kind = part.members().get("type")
            if kind not in ("text", "reasoning", "tool_call", "tool_call_response"):
                self._builder.lose(part, f"content of type {kind!r} is not kept")
        if role == "assistant":
            thought = joined(_only(message, parts, "reasoning"), self._builder, texts=PARTS)
            self._builder.note(thought, "reasoning", stamp=stamp)
            self._builder.write(text, calls=bool(calls), stamp=stamp)
            batch = self._builder.batch() if calls else ""
            for call in calls:
                given, id_ = call.get("arguments"), call.label_at("id")
                self._called.add(id_)
                self._open(call.need("name").string(), given, batch, id_, stamp)
        elif role in {"user", "system"} and (text or not parts):
            self._builder.say("user" if role == "user" else "system", "agent", text, stamp=stamp)
        elif text:
            self._builder.lose(message, f"text of the role {role!r} was dropped")

    def _open(self, name: str, given: JsonNode | None, batch: str, id_: str | None, stamp: float | None) -> OpenCall:
        arguments = Given({}) if given is None else arguments_of(given.value)
        meta: dict[str, Any] = {"arguments_missing": True} if given is None else {}
        opened = self._builder.call(name, arguments, batch=batch, id_=id_, stamp=stamp, **meta)
        if given is None:
            self._builder.lose(f"call of {name!r}", "its arguments were not recorded")
        return opened

    def _tool(self, span: Span) -> None:
        name, id_ = span.tool, span.text("gen_ai.tool.call.id") or None
        opened = self._builder.find(id_) if id_ is not None else None
        if opened is None:  # it may be the open call of that name, where one of the two has no id
            named = self._builder.find(None, name)
            opened = named if named is not None and (id_ is None or named.id is None) else None
        if opened is None:
            given = span.attributes.get("gen_ai.tool.call.arguments")
            node = None if given is None else span.node.child("arguments", given)
            batch = span.text(f"{OURS}batch") or self._builder.batch()
            opened = self._open(name, node, batch, id_, span.start or None)
            self._called.add(id_)
        if span.text(f"{OURS}tool"):
            self._builder.identify(name, tool=span.text(f"{OURS}tool"))
        result, error_type = span.attributes.get("gen_ai.tool.call.result"), span.text("error.type")
        wall = {"answered": span.end} if span.end else {}
        text = None if result is None else _text(result)
        if span.failed or error_type:
            type_, message = _exception(span)
            told = span.status or text or message or error_type or type_
            error, ours = failure(told, _kind(span), error_type or type_ or None), span.text(f"{OURS}error.type")
            error = CallError(kind=error.kind, type=ours, message=told) if ours else error
            self._builder.answer(opened, CallOutcome(error=error, wall=wall))
        elif text is not None:
            self._builder.answer(opened, CallOutcome(decode(text), wall=wall))


def _steps(spans: list[Span], speakers: list[Span]) -> Iterator[tuple[float, int, Span]]:
    """Order things by their time. Where times are missing, spans happened one after the other."""
    timed = all(span.start and span.end for span in spans)
    spoke = set(map(id, speakers))
    for index, span in enumerate(spans):
        start, end = (span.start, span.end) if timed else (index, index + 0.5)
        if span.is_tool:
            yield start, RAN, span
        elif id(span) in spoke:
            yield start, HEARD, span
            yield end, SPOKE, span


def usage_of(span: Span) -> dict[str, Any]:
    """The tokens that a span tells of, by the names that the conventions give them."""
    start = "gen_ai.usage."
    return {key.removeprefix(start): value for key, value in span.attributes.items() if key.startswith(start)}


def _messages(span: Span, key: str) -> list[JsonNode]:
    found = span.value(key)
    return [] if found is None else found.items()


def _canonical(message: JsonNode) -> str:
    """A message as a text that is the same wherever, and by whatever instrumentation, the message is repeated."""
    parts: list[Any] = []
    for part in message.items_at("parts"):
        members = part.members()
        if members.get("type") == "tool_call":
            given = arguments_of(members.get("arguments"))
            parts.append([members.get("name"), given.arguments, given.raw])
        elif members.get("type") != "reasoning":
            parts.append(part.value)
    return encode([message.members().get("role") or "assistant", parts])


def _only(message: JsonNode, parts: list[JsonNode], kind: str) -> JsonNode:
    return message.child("parts", [part.value for part in parts if part.members().get("type") == kind])


def _text(value: Any) -> str:
    """Output of a tool as text."""
    return value if isinstance(value, str) else encode(value)


def _exception(span: Span) -> tuple[str, str]:
    """Class and text of the exception that a span recorded last, both empty if it recorded none."""
    found = [attributes for name, attributes in span.events if name == "exception"]
    if not found:
        return "", ""
    type_, message = (found[-1].get(f"exception.{key}") for key in ("type", "message"))
    return str(type_ or "").rpartition(".")[2], str(message or "")


def _kind(span: Span) -> ErrorKind:
    """The kind of a failure: pydantic-ai says whether arguments were refused, and its result says which and why."""
    ours = span.text(f"{OURS}error.kind")
    if ours in KINDS:
        return cast("ErrorKind", ours)
    if span.text("pydantic_ai.tool.failure_stage") != "validation":
        return "execution"
    told = span.value("gen_ai.tool.call.result")
    faults = {item.members().get("type") for item in told.items()} if told and is_array(told.value) else set[Any]()
    refused: list[ErrorKind] = [kind for fault, kind in REFUSED.items() if fault in faults]
    return refused[0] if refused else "wrong_type"


# -- how spans stand inside each other ----------------------------------------------------------------------------


def sessions_in(spans: list[Span]) -> dict[str, dict[str, list[Span]]]:
    """The spans of each session by its conversation, and there by agent: the main one first, called by no other."""
    by_key = {span.key: span for span in spans}
    repeated = _repeated(spans, by_key)
    named: dict[str, set[str]] = {}
    for span in spans:
        if id_ := span.text("gen_ai.conversation.id"):
            named.setdefault(span.trace, set()).add(id_)
    sessions: dict[str, dict[str, list[Span]]] = {}
    for span in spans:
        if not (span.operation or span.is_tool or span.has_messages) or span.key in repeated:
            continue
        agents = [at for at in (span, *_around(span, by_key)) if at.operation == AGENT]
        outermost = agents[-1] if agents else span
        of_trace = named.get(span.trace, ())
        only = next(iter(of_trace)) if len(of_trace) == 1 else span.trace
        conversation = outermost.text("gen_ai.conversation.id") or span.text("gen_ai.conversation.id") or only
        nested = agents[0].id if len(agents) > 1 else ""
        sessions.setdefault(conversation, {}).setdefault(nested, []).append(span)
    for conversation, agents_ in sessions.items():
        sessions[conversation] = dict(sorted(agents_.items(), key=lambda item: bool(item[0])))
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
    """Amount of detail that a span has of its call."""
    return sum(key.startswith(("gen_ai.tool.call.", OURS)) for key in span.attributes)
