"""The viewer attacked: foreign names, files that are no logs, filters out of bounds, clients that never end."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from sandbox_mcp.app.report.viewer import Viewer, viewer_app
from tests.each import each
from tests.report.sessions import HOSTILE, find

ROOT = Path(__file__).resolve().parents[2]
PATHS = ("/", "/api/overview", "/api/sessions", "/api/grid", "/api/session", "/api/compare")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("hostile") / "<script>alert(1)<"
    place.mkdir()
    (place / "secret.txt").write_text("the secret")
    return place


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    viewer = Viewer([folder], find)
    viewer.start()
    yield TestClient(viewer_app(viewer), base_url="http://127.0.0.1", raise_server_exceptions=False)
    viewer.stop()


@each("path", PATHS)
@each(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "[::1].evil.example:80"}, 421),
        ({"host": "127.0.0.1@evil.example"}, 421),
        ({"host": ""}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1.evil.example"}, 403),
    ],
)
def test_nothing_is_told_under_other_names_or_to_other_pages(
    client: TestClient, path: str, headers: dict[str, str], status: int
) -> None:
    assert client.get(path, headers=headers).status_code == status


@each(
    "wanted",
    ["secret.txt", "../secret.txt", "{folder}/secret.txt", "..%2fsecret.txt", "file://{folder}/secret.txt", "\0"],
)
def test_no_file_is_shown_that_is_no_log_of_a_run(client: TestClient, folder: Path, wanted: str) -> None:
    asked = wanted.replace("{folder}", str(folder))
    for path, name in (("/api/session", "id"), ("/api/grid", "run"), ("/api/sessions", "run"), ("/api/compare", "a")):
        assert "the secret" not in client.get(path, params={name: asked}).text
    assert client.get(f"/{quote(asked)}").status_code == 404
    assert client.get("/api/session", params={"id": asked}).status_code == 404


@each("method", ["POST", "PUT", "PATCH", "DELETE"])
@each("path", PATHS)
def test_nothing_can_be_changed(client: TestClient, method: str, path: str) -> None:
    assert client.request(method, path, content=b"x").status_code == 405


def test_too_long_bodies_are_refused_before_they_are_read(client: TestClient) -> None:
    assert client.post("/", content=b"x", headers={"content-length": str(10**9)}).status_code == 413


def test_a_hostile_name_of_a_folder_is_text(client: TestClient) -> None:
    page = client.get("/")
    assert "<script>alert" not in page.text
    assert "&lt;script&gt;alert(1)&lt;" in page.text
    assert "default-src &#x27;none&#x27;" in page.text


@given(st.text(max_size=200), st.text(max_size=20), st.text(max_size=12), st.text(max_size=12))
def test_no_filter_breaks_the_server(client: TestClient, query: str, sort: str, offset: str, limit: str) -> None:
    asked = {"run": "x", "query": query, "sort": sort, "offset": offset, "limit": limit}
    clean = {name: value.encode("utf-8", "replace").decode() for name, value in asked.items()}
    assert client.get("/api/sessions", params=clean).status_code in (200, 400)


@each("query", ["a " * 999, "score:<1 " * 200, "is:" * 600, '"' * 1999, "tool:" + "%_\\" * 300, HOSTILE, "score:<nan"])
def test_a_filter_of_any_size_is_answered(client: TestClient, query: str) -> None:
    assert client.get("/api/sessions", params={"run": "x", "query": query}).status_code in (200, 400)


@pytest.mark.skipif(os.name != "posix", reason="limits how many files a process may open")
def test_clients_that_never_end_their_requests_shut_nobody_out(tmp_path: Path) -> None:
    import resource

    process = subprocess.Popen(
        [sys.executable, "-m", "sandbox_mcp.app.cli", "view", "--no-open", "--port", "0", str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)),
    )
    assert process.stdout
    slow: list[socket.socket] = []
    try:
        host, _, port = process.stdout.readline().strip().removeprefix("http://").rstrip("/").partition(":")
        for _ in range(80):
            slow.append(socket.create_connection((host, int(port)), timeout=30))
            slow[-1].sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        with socket.create_connection((host, int(port)), timeout=30) as honest:
            honest.sendall(b"GET /api/overview HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert honest.recv(65536).startswith(b"HTTP/1.1 200")
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()
        for each in slow:
            each.close()
