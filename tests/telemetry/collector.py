"""A collector: takes OTLP over HTTP as real ones do, and writes it down in the JSON form of their file exporters."""

import gzip
import json
import threading
from base64 import b64decode
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

SIGNALS = {
    "/v1/traces": (ExportTraceServiceRequest, ExportTraceServiceResponse),
    "/v1/metrics": (ExportMetricsServiceRequest, ExportMetricsServiceResponse),
    "/v1/logs": (ExportLogsServiceRequest, ExportLogsServiceResponse),
}
IDS = frozenset({"traceId", "spanId", "parentSpanId"})


@dataclass
class Collector:
    """What has come, in order."""

    url: str
    exports: list[dict[str, Any]] = field(default_factory=list)
    refused: int = 0

    @property
    def variables(self) -> dict[str, str]:
        """What a program is told so that it exports to here."""
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": self.url}

    def spans(self) -> list[dict[str, Any]]:
        """Every span, its attributes as plain values."""
        return [
            {**span, "attributes": attributes(span)} for span in self._inner("resourceSpans", "scopeSpans", "spans")
        ]

    def events(self) -> list[dict[str, Any]]:
        """Every record of logs, its attributes as plain values."""
        records = self._inner("resourceLogs", "scopeLogs", "logRecords")
        return [{**record, "attributes": attributes(record)} for record in records]

    def metrics(self) -> dict[str, list[dict[str, Any]]]:
        """The last data points of every metric by its name."""
        found: dict[str, list[dict[str, Any]]] = {}
        for metric in self._inner("resourceMetrics", "scopeMetrics", "metrics"):
            data = next(value for key, value in metric.items() if isinstance(value, dict) and "dataPoints" in value)
            found[metric["name"]] = [{**point, "attributes": attributes(point)} for point in data["dataPoints"]]
        return found

    def resources(self) -> list[dict[str, Any]]:
        """Who has sent spans."""
        return [attributes(item["resource"]) for export in self.exports for item in export.get("resourceSpans", [])]

    def write(self, path: Path) -> Path:
        """All that has come, one export per line."""
        path.write_text("".join(f"{json.dumps(export)}\n" for export in self.exports), encoding="utf-8")
        return path

    def _inner(self, *keys: str) -> list[dict[str, Any]]:
        found = self.exports
        for key in keys:
            found = [inner for outer in found for inner in outer.get(key, [])]
        return found


def attributes(holder: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a span, record, point or resource."""
    return {pair["key"]: _plain(pair["value"]) for pair in holder.get("attributes", [])}


def _plain(value: Mapping[str, Any]) -> Any:
    ((kind, given),) = value.items()
    return int(given) if kind == "intValue" else given


@contextmanager
def collecting() -> Generator[Collector]:
    """A collector on loopback for as long as the context is open."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            asked, answered = SIGNALS[self.path]
            assert self.headers["Content-Type"] == "application/x-protobuf"
            collector.exports.append(_with_hex_ids(MessageToDict(asked.FromString(body))))
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.end_headers()
            self.wfile.write(answered().SerializeToString())

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector = Collector(f"http://127.0.0.1:{server.server_port}")
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    serving.start()
    try:
        yield collector
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


def _with_hex_ids(value: Any) -> Any:
    """Ids as OTLP's JSON has them, which is not how JSON has bytes elsewhere."""
    if isinstance(value, dict):
        return {
            key: b64decode(inner).hex() if key in IDS and isinstance(inner, str) else _with_hex_ids(inner)
            for key, inner in value.items()
        }
    return [_with_hex_ids(item) for item in value] if isinstance(value, list) else value
