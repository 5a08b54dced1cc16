"""Spans in OTLP's JSON form: what a collector's file exporter writes, whole or one export per line.

Policy: an event counts for its span, whether it was recorded on it or, as newer conventions have it, as a record of
logs that names the span.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sandbox_grader.importers.reading.json_values import JsonNode, Loaded, is_object, listed, loads

CONTENT = "gen_ai.client.inference.operation.details"
"""The event that tells what a span's attributes would, where content was recorded apart from spans."""

TOOL = "execute_tool"
PROTOCOL = "tools/call"
SENT = "MCP send "
"""How the client of MCP's SDK begins the names of its spans."""
OURS = "sandbox_mcp."
"""How the attributes begin in which our spans say what the conventions have no name for."""

SCALARS = ("stringValue", "boolValue", "doubleValue", "bytesValue")


@dataclass(frozen=True, slots=True)
class Span:
    """One span. Times are seconds since the epoch; ``events`` are its events' names and attributes."""

    node: JsonNode
    trace: str
    id: str
    parent: str | None
    name: str
    start: float
    end: float
    attributes: Mapping[str, Any]
    events: tuple[tuple[str, Mapping[str, Any]], ...]
    failed: bool
    status: str

    @property
    def key(self) -> tuple[str, str]:
        """Identity of the span: its trace and its id there."""
        return self.trace, self.id

    @property
    def operation(self) -> str:
        """Kind of GenAI operation; empty for other spans."""
        return self.text("gen_ai.operation.name")

    @property
    def is_tool(self) -> bool:
        """True if it tells of the call of a tool."""
        return self.operation == TOOL or self.text("mcp.method.name") == PROTOCOL

    @property
    def tool(self) -> str:
        """The tool that it tells of, by name."""
        named = self.name.removeprefix(SENT).removeprefix(TOOL).removeprefix(PROTOCOL).strip()
        return self.text("gen_ai.tool.name") or named or "tool"

    @property
    def has_messages(self) -> bool:
        """True if it tells what a model was told, or said."""
        return "gen_ai.input.messages" in self.attributes or "gen_ai.output.messages" in self.attributes

    def text(self, key: str) -> str:
        """An attribute's text; empty where it is absent or something else."""
        value = self.attributes.get(key)
        return value if isinstance(value, str) else ""

    def value(self, key: str) -> JsonNode | None:
        """An attribute as a value, parsed where it is JSON text; None where it is absent.

        Raises:
            ImportFormatError: it is text that should be JSON and is not.
        """
        value = self.attributes.get(key)
        if value is None:
            return None
        node = self.node.child(f"attributes.{key}", value)
        if not isinstance(value, str):
            return node
        try:
            return self.node.child(f"attributes.{key}", loads(value)[0])
        except ValueError as error:
            raise node.fail(f"is not JSON: {error}") from error


def spans_of(loaded: Loaded) -> list[Span]:
    """All spans of a file, by their start, each also with the events that records of logs tell of it.

    Raises:
        ImportFormatError: it holds something else than exports or bare spans, or a broken span.
    """
    spans = [_span(node) for top in loaded.nodes for node in _nodes(top)]
    logged: dict[tuple[str, str], list[tuple[str, Mapping[str, Any]]]] = defaultdict(list)
    exports = (item for top in loaded.nodes for item in top.each())
    resources = (resource for item in exports for resource in item.items_at("resourceLogs"))
    scopes = (scope for resource in resources for scope in resource.items_at("scopeLogs"))
    for record in (record for scope in scopes for record in scope.items_at("logRecords")):
        name, span = record.string_at("eventName"), record.label_at("spanId")
        if name and span:
            logged[record.label_at("traceId") or "", span].append((name, attributes_of(record)))
    whole = [_with_events(span, (*span.events, *logged.get((span.trace, span.id), ()))) for span in spans]
    return sorted(whole, key=lambda span: (span.start, -span.end))


def _with_events(span: Span, events: tuple[tuple[str, Mapping[str, Any]], ...]) -> Span:
    """The span with its events, and with the attributes that one of them tells in its place."""
    told = {key: value for name, attributes in events if name == CONTENT for key, value in attributes.items()}
    return replace(span, events=events, attributes={**told, **span.attributes})


def _nodes(top: JsonNode) -> Iterator[JsonNode]:
    if top.is_array:
        for item in top.items():
            yield from _nodes(item)
    elif top.get("resourceSpans") is not None:
        for resource in top.items_at("resourceSpans"):
            for scope in resource.items_at("scopeSpans"):
                yield from scope.items_at("spans")
    elif top.get("spanId") is not None:
        yield top
    elif not {"resourceMetrics", "resourceLogs"} & top.members().keys():
        raise top.fail("is neither an OTLP export ('resourceSpans') nor a span ('spanId')")


def _span(node: JsonNode) -> Span:
    status = node.members_at("status")
    message = status.get("message")
    return Span(
        node=node,
        trace=node.need("traceId").label(),
        id=node.need("spanId").label(),
        parent=node.label_at("parentSpanId") or None,
        name=node.string_at("name") or "",
        start=_nanoseconds(node.get("startTimeUnixNano")),
        end=_nanoseconds(node.get("endTimeUnixNano")),
        attributes=attributes_of(node),
        events=tuple((event.string_at("name") or "", attributes_of(event)) for event in node.items_at("events")),
        failed=status.get("code") in (2, "STATUS_CODE_ERROR"),
        status=message if isinstance(message, str) else "",
    )


def _nanoseconds(node: JsonNode | None) -> float:
    if node is None:
        return 0.0
    text = node.label()
    if not (text.isascii() and text.isdigit() and len(text) <= 20):
        raise node.fail(f"expected nanoseconds since the epoch, found {text[:40]!r}")
    return int(text) / 1e9


def attributes_of(holder: JsonNode) -> dict[str, Any]:
    """The attributes of a span or an event, as plain values."""
    return _pairs(holder.items_at("attributes"))


def _pairs(nodes: list[JsonNode]) -> dict[str, Any]:
    return {pair.need("key").string(): _plain(pair.get("value")) for pair in nodes}


def _plain(value: JsonNode | None) -> Any:
    """An OTLP ``AnyValue`` as a JSON value."""
    if value is None:
        return None
    members = {name: inner for name, inner in value.members().items() if inner is not None}
    scalar = next((members[key] for key in SCALARS if key in members), None)
    if scalar is not None or not members:
        return scalar
    if "intValue" in members:
        whole = value.need("intValue")
        try:
            return int(whole.label())
        except ValueError as error:
            raise whole.fail(f"expected a whole number, found {whole.label()[:40]!r}") from error
    inner = value.get("arrayValue")
    if inner is not None:
        return [_plain(item) for item in inner.items_at("values")]
    inner = value.get("kvlistValue")
    if inner is None or not is_object(inner.value):
        raise value.fail(f"is not an attribute value; it has {listed(members)}")
    return _pairs(inner.items_at("values"))
