"""A gate between an agent in a program of its own and its model: counts answers, and closes at the step limit.

Policy: what passes is not changed, but for the parameters that a run adds to every request. Programs that have no limit
of their own get one here: behind the last answer that a turn may have, a request is refused in a way not tried
again. Standard library only, as for every worker.
"""

import json
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.error import HTTPError
from urllib.request import Request, urlopen

ASKED = ("/responses", "/messages", "/chat/completions")
"""How the paths end by which a model is asked."""
OWN = frozenset({"connection", "content-length", "expect", "host", "keep-alive", "te", "transfer-encoding", "upgrade"})
"""Headers that belong to one connection."""


@dataclass
class ModelGate:
    """Gate in front of the model behind ``upstream``.

    ``url`` is what stands in for it. ``limit`` is how many answers may pass before the gate closes, ``answers`` how
    many have; ``closed`` tells that a request was refused because there were enough.
    """

    upstream: str
    parameters: Mapping[str, Any]
    timeout: float
    url: str = ""
    limit: int = 0
    answers: int = 0
    closed: bool = False
    lock: Any = field(default_factory=threading.Lock)

    def open(self, limit: int) -> None:
        """Let so many answers pass from now on."""
        self.limit, self.answers, self.closed = limit, 0, False

    def refuses(self) -> bool:
        """True if there were enough answers."""
        with self.lock:
            self.closed = self.closed or self.answers >= self.limit
            return self.closed

    def count(self) -> None:
        """One more answer has passed."""
        with self.lock:
            self.answers += 1

    def ask(self, path: str, body: bytes | None, asks: bool, headers: Mapping[str, str]) -> Any:
        """The model's answer, whatever its status; every request is sent on with what the run adds to it."""
        if asks and body is not None and self.parameters:
            body = json.dumps({**json.loads(body), **self.parameters}).encode()
        kept = {name: value for name, value in headers.items() if name.lower() not in OWN}
        try:
            return urlopen(Request(self.upstream + path, body, kept), timeout=self.timeout)  # noqa: S310 - the run's own
        except HTTPError as error:
            return error


@contextmanager
def gate_to(upstream: str, parameters: Mapping[str, Any], timeout: float) -> Generator[ModelGate]:
    """A gate, for as long as the context lasts."""
    gate = ModelGate(upstream.rstrip("/"), parameters, timeout)
    with _Server(gate) as server:
        gate.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield gate
        finally:
            server.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, gate: ModelGate) -> None:
        self.gate = gate
        super().__init__(("127.0.0.1", 0), _Passing)


class _Passing(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    begun = False

    def do_GET(self) -> None:
        self._pass(None)

    def do_POST(self) -> None:
        self._pass(self.rfile.read(int(self.headers.get("content-length") or 0)))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - that is its name
        """Say nothing."""

    def _pass(self, body: bytes | None) -> None:
        gate = cast("_Server", self.server).gate
        self.close_connection = True
        asks = body is not None and self.path.partition("?")[0].endswith(ASKED)
        if asks and gate.refuses():
            self._say(400, "this message of the user has had as many answers of the model as it may")
            return
        try:
            with gate.ask(self.path, body, asks, dict(self.headers.items())) as answer:
                self.begun = True
                self.send_response_only(answer.status, answer.reason)
                for name, value in answer.getheaders():
                    if name.lower() not in OWN:
                        self.send_header(name, value)
                self.send_header("Transfer-Encoding", "chunked")
                self.send_header("Connection", "close")
                self.end_headers()
                while piece := answer.read1(65536):
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                if getattr(answer, "length", None):
                    raise HTTPException("the answer ended in the middle")
                if asks and answer.status < 300:
                    gate.count()  # before the client can know that this was all, and ask again
                self.wfile.write(b"0\r\n\r\n")
        except (HTTPException, OSError) as error:
            if not self.begun:  # an answer that ended in the middle is left as it came
                self._say(502, f"the model's endpoint cannot be reached: {error}")

    def _say(self, status: int, message: str) -> None:
        error = {"type": "invalid_request_error", "message": message}
        body = json.dumps({"type": "error", "error": error}).encode()
        self.send_response_only(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
