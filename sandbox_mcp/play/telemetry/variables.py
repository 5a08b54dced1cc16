"""Requests in the standard variables.

Policy: as OpenTelemetry's specification of environment variables has it, but that nothing is exported where no variable
asks for it: ``otlp`` is the default of a signal only where an endpoint is named.
Source: OpenTelemetry, environment variable specification; semantic conventions for generative AI, content of messages.
"""

from collections.abc import Mapping
from typing import Literal, get_args

Signal = Literal["traces", "metrics", "logs"]
SIGNALS: tuple[Signal, ...] = get_args(Signal)
CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
ON_SPANS = frozenset({"true", "1", "span_only", "span_and_event"})
"""Values of that variable which let content onto spans."""
LACKING = (
    "sandbox-mcp: variables ask for OpenTelemetry, which is not installed, so nothing is exported; "
    "install it with: pip install 'sandbox-mcp-eval[otel]', or set OTEL_SDK_DISABLED=true"
)
PROTOCOLS = {"http/protobuf": "otlp_proto_http", "grpc": "otlp_proto_grpc"}
"""What the exporters are called that speak a protocol of OTLP."""


def wanted(variables: Mapping[str, str]) -> dict[Signal, tuple[str, ...]]:
    """The names of the exporters of each signal to be exported."""
    found: dict[Signal, tuple[str, ...]] = {}
    if variables.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return found
    for signal in SIGNALS:
        given = variables.get(f"OTEL_{signal.upper()}_EXPORTER", "")
        names = [name for part in given.split(",") if (name := part.strip().lower())]
        ends = ("OTEL_EXPORTER_OTLP_ENDPOINT", f"OTEL_EXPORTER_OTLP_{signal.upper()}_ENDPOINT")
        if not names and any(variables.get(end, "").strip() for end in ends):
            names = ["otlp"]
        if kept := tuple(name for name in names if name != "none"):
            found[signal] = kept
    return found


def protocol(signal: Signal, variables: Mapping[str, str]) -> str:
    """The protocol in which a signal is to be exported by OTLP."""
    ways = (f"OTEL_EXPORTER_OTLP_{signal.upper()}_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
    return next((given for way in ways if (given := variables.get(way, "").strip().lower())), "http/protobuf")


def shows_content(variables: Mapping[str, str]) -> bool:
    """True if what was said, given and returned may be exported."""
    return variables.get(CONTENT, "").strip().lower() in ON_SPANS
