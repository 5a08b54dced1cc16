"""What the standard variables ask for, and that nothing is exported, imported or paid where they ask for nothing."""

import logging
import subprocess
import sys

import pytest

from sandbox_mcp.play.telemetry.pipeline import _Failures
from sandbox_mcp.play.telemetry.variables import SIGNALS, protocol, shows_content, wanted
from tests.each import each

ALL = dict.fromkeys(SIGNALS, ("otlp",))


@each(
    ("variables", "exporters"),
    [
        ({}, {}),
        ({"OTEL_SERVICE_NAME": "mine", "OTEL_EXPORTER_OTLP_HEADERS": "a=b"}, {}),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}, ALL),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": " "}, {}),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://collector/v1/traces"}, {"traces": ("otlp",)}),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, {"traces": ("otlp",)}),
        ({"OTEL_TRACES_EXPORTER": "console, otlp"}, {"traces": ("console", "otlp")}),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c"}, ALL | {"traces": ()}),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_SDK_DISABLED": "TRUE"}, {}),
    ],
)
def test_what_is_exported(variables: dict[str, str], exporters: dict[str, tuple[str, ...]]) -> None:
    assert wanted(variables) == {signal: names for signal, names in exporters.items() if names}


@each(
    ("variables", "spoken"),
    [
        ({}, "http/protobuf"),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "grpc"),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL": "http/protobuf"}, "http/protobuf"),
    ],
)
def test_in_which_protocol(variables: dict[str, str], spoken: str) -> None:
    assert protocol("logs", variables) == spoken


@each(
    ("given", "shows"),
    [("", False), ("false", False), ("True", True), ("SPAN_ONLY", True), ("EVENT_ONLY", False), ("NO_CONTENT", False)],
)
def test_content_stays_here_unless_it_is_let_out(given: str, *, shows: bool) -> None:
    assert shows_content({"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": given}) is shows


PLAYS = """
import sys
from sandbox_mcp import Suite, evaluate
print(evaluate("reference", Suite().select("wifi_off"), transport="memory").score)
print(sorted(name for name in sys.modules if name.startswith("opentelemetry.sdk") or ".telemetry." in name))
"""


def test_where_nothing_is_asked_for_nothing_of_it_is_imported() -> None:
    done = subprocess.run([sys.executable, "-c", PLAYS], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == [
        "1.0",
        "['sandbox_mcp.play.telemetry.requests', 'sandbox_mcp.play.telemetry.variables']",
    ]


def test_what_a_collector_answers_is_shown_in_a_line_without_control_characters(
    caplog: pytest.LogCaptureFixture,
) -> None:
    heard = _Failures()
    heard.own = True
    with caplog.at_level(logging.WARNING):
        heard.emit(
            logging.LogRecord("opentelemetry.exporter.x", logging.WARNING, "", 0, "\x00\x1b[2J\n" * 999, (), None)
        )
    [told] = caplog.messages
    assert len(told) < 500
    assert told.isprintable()
