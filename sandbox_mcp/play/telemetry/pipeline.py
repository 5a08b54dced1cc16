"""The way out: providers of OpenTelemetry's SDK with the exporters that were asked for, in the background.

Policy: a collector that is slow or down costs spans, never a session's time. Queues are bounded, and threads of their
own do the sending. At the end it may take ``PATIENCE`` seconds, or ``GRACE`` once sending has failed. What the SDK
complains of is told once.
"""

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from opentelemetry import metrics, trace
from opentelemetry._logs import Logger, set_logger_provider
from opentelemetry.metrics import Meter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, ConsoleLogRecordExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import ConsoleMetricExporter, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Tracer, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator

from sandbox_mcp import __version__
from sandbox_mcp.engine.shown import neutral
from sandbox_mcp.play.telemetry.variables import PROTOCOLS, Signal, protocol, shows_content

logger = logging.getLogger("sandbox_mcp.play.telemetry")
SCOPE = "sandbox_mcp"
SERVICE = "sandbox-mcp"
PATIENCE = 10.0
"""Seconds that the last of what was recorded may take to be sent."""
GRACE = 1.0
"""Seconds for the last of what was recorded once sending has failed."""


class _ChosenIds(IdGenerator):
    """Ids for spans; the next one of this thread may be chosen beforehand.

    A log names the spans of its session and turns before they are over, so that another process can go on with them.
    """

    def __init__(self, usual: IdGenerator) -> None:
        self._usual = usual
        self._chosen = threading.local()

    def choose(self, context: trace.SpanContext) -> None:
        """Let the next span of this thread be the one of that context."""
        self._chosen.next = context

    def generate_trace_id(self) -> int:
        """The trace id of the chosen span, or a new one."""
        chosen: trace.SpanContext | None = getattr(self._chosen, "next", None)
        return self._usual.generate_trace_id() if chosen is None else chosen.trace_id

    def generate_span_id(self) -> int:
        """The id of the chosen span, which is used once, or a new one."""
        chosen: trace.SpanContext | None = getattr(self._chosen, "next", None)
        self._chosen.next = None
        return self._usual.generate_span_id() if chosen is None else chosen.span_id

    def is_trace_id_random(self) -> bool:
        """True if new trace ids are random; a chosen one was made in the same way."""
        return self._usual.is_trace_id_random()


class Exporting:
    """Tracer, meter and logger to write to; meter and logger may be none. ``content`` is let out only if it is true."""

    def __init__(
        self,
        provider: TracerProvider,
        meter: Meter | None,
        events: Logger | None,
        flushes: tuple[Callable[[], Any], ...],
    ) -> None:
        tracer = provider.get_tracer(SCOPE, __version__)
        self.ids = _ChosenIds(provider.id_generator)
        if isinstance(tracer, Tracer):  # one that the provider keeps for our name alone
            if isinstance(tracer.id_generator, _ChosenIds):
                self.ids = tracer.id_generator
            tracer.id_generator = self.ids
        self.tracer: trace.Tracer = tracer
        self.sampler = provider.sampler
        self.meter = meter
        self.events = events
        self.content = shows_content(os.environ)
        self._flushes = flushes
        self._failed = _failures().failed

    def flush(self) -> None:
        """Send waiting spans, and wait for that as long as it may take."""
        sent = threading.Event()

        def send() -> None:
            for flush in self._flushes:
                flush()
            sent.set()

        threading.Thread(target=send, name="telemetry-flush", daemon=True).start()
        until = time.monotonic() + PATIENCE
        while not sent.wait(0.05):
            if self._failed.is_set():
                until = min(until, time.monotonic() + GRACE)
                sent.wait(max(0.0, until - time.monotonic()))
                return
            if time.monotonic() > until:
                return


LONGEST_COMPLAINT = 300
"""Characters of a complaint that are shown."""


class _Failures(logging.Handler):
    """Hears what the SDK complains of. Where the process is ours it is told once, and shows nowhere else."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.failed = threading.Event()
        self.own = False
        self._told = False

    def emit(self, record: logging.LogRecord) -> None:
        """Take note of a complaint."""
        if record.name.startswith("opentelemetry.exporter"):
            self.failed.set()
        if self.own and not self._told:
            self._told = True
            complaint = neutral(record.getMessage())  # which may quote what a collector sent
            logger.warning(
                "sandbox-mcp: telemetry is not all exported, and everything else goes on: %s",
                complaint.replace("\n", " ")[:LONGEST_COMPLAINT],
            )


@cache
def _failures() -> _Failures:
    made = _Failures()
    logging.getLogger("opentelemetry").addHandler(made)
    return made


def begin(exporters: Mapping[Signal, tuple[str, ...]], *, own: bool) -> Exporting | None:
    """Set up the exporters that the variables ask for; with ``own``, all code in this process may use them.

    None where of all exporters none can be had.
    """
    failures = _failures()
    if own:
        failures.own = True
        logging.getLogger("opentelemetry").propagate = False
    found = {
        signal: [made for name in names if (made := _exporter(signal, name))] for signal, names in exporters.items()
    }
    if not any(found.values()):
        return None
    # What detectors and variables say of this process, without the name that the SDK makes up where none is given.
    made = Resource.create()
    named = "OTEL_SERVICE_NAME" in os.environ or "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    resource = Resource({"service.name": SERVICE, "service.version": __version__}).merge(
        made if named else Resource({key: value for key, value in made.attributes.items() if key != "service.name"})
    )
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    for exporter in found.get("traces", ()):
        provider.add_span_processor(BatchSpanProcessor(exporter))
    readers = [PeriodicExportingMetricReader(exporter) for exporter in found.get("metrics", ())]
    meters = MeterProvider(readers, resource, shutdown_on_exit=False) if readers else None
    loggers = LoggerProvider(resource, shutdown_on_exit=False) if found.get("logs") else None
    if loggers is not None:
        for exporter in found["logs"]:
            loggers.add_log_record_processor(BatchLogRecordProcessor(exporter))
    if own:
        trace.set_tracer_provider(provider)
        if meters is not None:
            metrics.set_meter_provider(meters)
        if loggers is not None:
            set_logger_provider(loggers)
    return Exporting(
        provider,
        meters and meters.get_meter(SCOPE, __version__),
        loggers and loggers.get_logger(SCOPE, __version__),
        tuple(each.force_flush for each in (provider, loggers, meters) if each is not None),
    )


def _exporter(signal: Signal, name: str) -> Any:
    """The exporter of that name; None, with a warning, where there is no such exporter."""
    console = {"traces": ConsoleSpanExporter, "metrics": ConsoleMetricExporter, "logs": ConsoleLogRecordExporter}
    if name == "console":
        return console[signal](out=sys.stderr)  # stdout is for results, and in 'serve' the wire
    asked, hint = name, ""
    if name == "otlp":
        spoken = protocol(signal, os.environ)
        asked = PROTOCOLS.get(spoken, spoken)
        hint = (
            "; install opentelemetry-exporter-otlp-proto-grpc" if spoken == "grpc" else "; known: http/protobuf, grpc"
        )
        name = f"otlp by {spoken}"
    for entry in entry_points(group=f"opentelemetry_{signal}_exporter", name=asked):
        try:
            return entry.load()()
        except Exception as error:  # noqa: BLE001 - whatever an exporter does not like about its variables
            hint = f": {error}"
    logger.warning("sandbox-mcp: %s are not exported, as there is no exporter %r%s", signal, name, hint)
    return None


def of_program() -> Exporting | None:
    """Provider that the program has set up for itself, if it is the SDK's."""
    provider = trace.get_tracer_provider()
    return _of_provider(provider) if isinstance(provider, TracerProvider) else None


@cache
def _of_provider(provider: TracerProvider) -> Exporting:
    from opentelemetry._logs import get_logger_provider

    loggers = get_logger_provider()
    return Exporting(
        provider,
        metrics.get_meter(SCOPE, __version__),
        loggers.get_logger(SCOPE, __version__) if isinstance(loggers, LoggerProvider) else None,
        (),  # when to send is the program's to say
    )
