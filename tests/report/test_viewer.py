"""The server behind ``view``: what it answers, to whom, and that it follows a run."""

import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest
from sandbox_scenarios.model import Scenario
from starlette.testclient import TestClient

from sandbox_mcp.app.report.viewer import PAUSE, Viewer, viewer_app
from tests.report.sessions import FEW, a_run, find


@pytest.fixture
def viewer(two_runs: Path) -> Iterator[Viewer]:
    viewer = Viewer([two_runs], find)
    viewer.start()
    wait_for(lambda: sum(run["counts"]["sessions"] for run in viewer.overview()["runs"]) == 3 * len(FEW))
    yield viewer
    viewer.stop()


@pytest.fixture
def client(viewer: Viewer) -> TestClient:
    return TestClient(viewer_app(viewer), base_url="http://127.0.0.1")


def wait_for(condition) -> None:
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_the_page_may_ask_this_server_and_nobody_else(client: TestClient) -> None:
    answer = client.get("/")
    assert "connect-src &#x27;self&#x27;" in answer.text
    assert answer.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80"])
def test_other_names_are_refused(client: TestClient, host: str) -> None:
    assert client.get("/api/overview", headers={"host": host}).status_code == 421


def test_the_overview_has_the_newest_run_first(client: TestClient) -> None:
    assert [run["key"] for run in client.get("/api/overview").json()["runs"]] == ["reference", "mediocre"]


def test_sessions_are_paged(client: TestClient) -> None:
    first = client.get("/api/sessions", params={"run": "mediocre", "limit": 3}).json()
    rest = client.get("/api/sessions", params={"run": "mediocre", "limit": 500, "offset": 3}).json()
    assert len(first["rows"]) == 3
    assert first["total"] == 3 + len(rest["rows"]) == 2 * len(FEW)


def test_a_bad_filter_says_why(client: TestClient) -> None:
    answer = client.get("/api/sessions", params={"run": "mediocre", "query": "score:<x"})
    assert (answer.status_code, "expected a number" in answer.json()["error"]) == (400, True)


def test_a_session_and_one_that_is_not_there(client: TestClient) -> None:
    assert client.get("/api/session", params={"id": "reference:wifi_off-base-s0-t0"}).json()["state"] == "passed"
    assert client.get("/api/session", params={"id": "../../etc/passwd"}).status_code == 404


def test_two_runs_are_compared_and_others_are_not_found(client: TestClient) -> None:
    assert len(client.get("/api/compare", params={"a": "mediocre", "b": "reference"}).json()["pairs"]) == 2 * len(FEW)
    assert client.get("/api/compare", params={"a": "mediocre", "b": "nobody"}).status_code == 404


def test_new_sessions_of_a_run_appear(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run", scenarios=("wifi_off",))
    viewer = Viewer([tmp_path], find)
    viewer.start()
    wait_for(lambda: viewer.overview()["runs"])
    a_run(run, scenarios=("wifi_off", "landlord_number"))
    wait_for(lambda: viewer.overview()["runs"][0]["counts"]["sessions"] == 2)
    viewer.stop()


def test_questions_are_answered_while_a_log_is_graded(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run", scenarios=("wifi_off",))
    asked, answered = Event(), Event()

    def slowly(name: str) -> Scenario | None:
        asked.set()
        assert answered.wait(60)
        return find(name)

    viewer = Viewer([run], slowly)
    viewer.start()
    assert asked.wait(60)
    assert viewer.overview()["runs"][0]["counts"]["sessions"] == 0
    answered.set()
    wait_for(lambda: viewer.overview()["runs"][0]["counts"]["sessions"] == 1)
    asked.clear()
    answered.clear()
    client, session = TestClient(viewer_app(viewer), base_url="http://127.0.0.1"), {"id": "run:wifi_off-base-s0-t0"}
    with ThreadPoolExecutor(1) as pool:  # of somebody who opens it
        opening = pool.submit(client.get, "/api/session", params=session)
        assert asked.wait(60)
        assert viewer.overview()["runs"][0]["counts"]["sessions"] == 1
        answered.set()
        assert opening.result().json()["state"] == "passed"
    viewer.stop()


def test_however_long_sessions_take_to_grade_the_next_are_looked_for_as_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_run(tmp_path / "run")
    now, rests = [0.0], list[float]()

    def slowly(name: str) -> Scenario | None:
        now[0] += 1000
        return find(name)

    monkeypatch.setattr("sandbox_mcp.app.report.viewer.time", SimpleNamespace(monotonic=lambda: now[0]))
    viewer = Viewer([tmp_path], slowly)
    monkeypatch.setattr(viewer._stopped, "wait", lambda seconds: (rests.append(seconds), viewer._stopped.set()))
    viewer.start()
    viewer._thread.join()
    assert (now[0] > 0, rests) == (True, [PAUSE])


def test_the_viewer_loads_no_mcp_and_so_starts_in_half_the_time(tmp_path: Path) -> None:
    code = """
import socket, sys
from sandbox_mcp.app.cli import main
taken = socket.create_server(("127.0.0.1", 0))
sys.argv[1:] = ["view", ".", "--port", str(taken.getsockname()[1])]
try:
    main()
except SystemExit as ended:
    print(ended.code, "uvicorn" in sys.modules, "mcp" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "2 True False\n", done.stderr
