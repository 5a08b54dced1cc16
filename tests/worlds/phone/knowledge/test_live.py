"""Live sources over a real HTTP server on this machine: every way to fail is told apart from "nothing found"."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from sandbox_mcp.engine.worlds.phone.knowledge import Knowledge, KnowledgeUnavailable
from sandbox_mcp.engine.worlds.phone.knowledge.live import MAX_BYTES, answering, get_json
from sandbox_mcp.engine.worlds.phone.knowledge.stocks import Quote
from tests.each import each


class Service(BaseHTTPRequestHandler):
    """Answers as the path asks: ``/status/429``, ``/text``, ``/slow``, ``/huge``, ``/quotes/ACME``."""

    protocol_version = "HTTP/1.0"
    released: ClassVar[threading.Event] = threading.Event()

    def do_GET(self) -> None:
        kind, _, rest = self.path.strip("/").partition("/")
        if kind == "slow":
            self.released.wait(30)
        if kind == "cut":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"{")
            return
        status = int(rest) if kind == "status" else 200
        bodies = {
            "text": b"<html>Sign in</html>",
            "huge": b" " * (MAX_BYTES + 10),
            "key": json.dumps(self.headers.get("X-Key")).encode(),
            "quotes": json.dumps({"quotes": [{"s": rest, "p": 12.5}] if rest == "ACME" else []}).encode(),
            "quota": json.dumps({"message": "You have exceeded the quota of your plan"}).encode(),
        }
        self.send_response(status)
        self.end_headers()
        self.wfile.write(bodies.get(kind, b"{}"))

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Keep the tests quiet."""


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    Service.released.set()
    server.shutdown()
    thread.join()
    server.server_close()


def failure(url: str, timeout: float = 5) -> KnowledgeUnavailable:
    with pytest.raises(KnowledgeUnavailable) as caught:
        get_json(url, source="Test service", timeout=timeout)
    assert caught.value.source == "Test service"
    return caught.value


def test_an_answer_is_read(service: str) -> None:
    assert get_json(f"{service}/quotes/ACME", source="Test service") == {"quotes": [{"s": "ACME", "p": 12.5}]}


def test_headers_are_sent(service: str) -> None:
    assert get_json(f"{service}/key", source="Test service", headers={"X-Key": "opensesame"}) == "opensesame"


@each(
    ("status", "reason"),
    [
        (400, "http"),
        (401, "denied"),
        (402, "quota"),
        (403, "denied"),
        (404, "http"),
        (408, "timeout"),
        (429, "quota"),
        (500, "http"),
        (503, "http"),
        (504, "timeout"),
    ],
)
def test_every_error_status_has_its_reason(service: str, status: int, reason: str) -> None:
    error = failure(f"{service}/status/{status}")
    assert error.reason == reason
    assert f"status {status}" in str(error)


def test_no_answer_in_time(service: str) -> None:
    error = failure(f"{service}/slow", timeout=0.05)
    assert (error.reason, error.detail) == ("timeout", "no answer in time")


def test_nobody_listens() -> None:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert failure(f"http://127.0.0.1:{port}/").reason == "network"


def test_a_page_instead_of_data(service: str) -> None:
    error = failure(f"{service}/text")
    assert error.reason == "malformed"
    assert "unexpected answer" in error.detail


def test_an_answer_that_stops_midway(service: str) -> None:
    assert failure(f"{service}/cut").reason in {"network", "malformed"}


def test_an_answer_without_end(service: str) -> None:
    assert "longer than 5,000,000 bytes" in str(failure(f"{service}/huge"))


@each("url", ["file:///etc/hostname", "ftp://localhost/x", "quotes.json", ""])
def test_only_web_addresses_are_opened(url: str) -> None:
    assert failure(url).reason == "network"


class LiveStocks:
    """A whole live source, as a user would write one."""

    def __init__(self, base: str) -> None:
        self.base = base

    def search(self, query: str, now: float) -> Quote | None:
        answer = get_json(f"{self.base}/{query}", source="Quote service")
        with answering("Quote service"):
            hits = answer["quotes"]
            return (
                Quote(hits[0]["s"], "Acme", "NYSE", "USD", hits[0]["p"], 12.0, 0.5, 4.17, "2024-05-17")
                if hits
                else None
            )


def test_a_live_source_answers_through_the_bundle(service: str) -> None:
    found = Knowledge(stocks=LiveStocks(f"{service}/quotes")).stocks.search("ACME", 0)
    assert found is not None
    assert (found.symbol, found.price) == ("ACME", 12.5)


def test_only_the_source_itself_says_that_there_is_nothing(service: str) -> None:
    assert Knowledge(stocks=LiveStocks(f"{service}/quotes")).stocks.search("NOPE", 0) is None


@each("path", ["quota", "text", "status/429", "status/500"])
def test_a_failure_is_never_nothing(service: str, path: str) -> None:
    """A body about quotas with status 200 lacks the expected key, which is a failure as well."""
    base = f"{service}/{path.split('/')[0]}"
    with pytest.raises(KnowledgeUnavailable, match="Quote service is unavailable"):
        Knowledge(stocks=LiveStocks(base)).stocks.search(path.split("/")[-1], 0)


@each(
    ("error", "reason"),
    [
        (TimeoutError("slow"), "timeout"),
        (ConnectionResetError("reset"), "network"),
        (OSError("no route"), "network"),
        (KeyError("rate"), "malformed"),
        (IndexError("list index out of range"), "malformed"),
        (TypeError("'NoneType' object is not subscriptable"), "malformed"),
        (ValueError("not a number"), "malformed"),
        (RecursionError("nested too deeply"), "malformed"),
    ],
)
def test_whatever_goes_wrong_while_asking_is_translated(error: Exception, reason: str) -> None:
    with pytest.raises(KnowledgeUnavailable) as caught, answering("Test service"):
        raise error
    assert caught.value.reason == reason
    assert caught.value.__cause__ is error


def test_a_programming_error_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError), answering("Test service"):
        raise ZeroDivisionError
