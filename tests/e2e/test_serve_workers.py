"""``serve --http --workers N`` as processes: every worker serves every session, and none is missed when it dies."""

import asyncio
import contextlib
import http.client
import itertools
import json
import os
import re
import signal
import socket
import threading
import time
import urllib.error
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from anyio import to_thread
from mcp import Client

from sandbox_mcp.engine.trajectory import ToolCall, read_trajectory
from tests.e2e.processes import ERAS, http_process
from tests.e2e.test_serve_http import TOKEN, api
from tests.e2e.test_serve_restart import agent, ask
from tests.server.serving_kit import RawMcp

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not hasattr(os, "fork") or not hasattr(signal, "sigtimedwait"), reason="workers are forked"),
]
WORKERS = ("--workers", "3")
PLAY = {"scenario": "wifi_off", "variant": "all_tools"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def parent_of(process: int) -> int:
    found = re.search(r"PPid:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    assert found
    return int(found[1])


def workers_at(base: str) -> list[int]:
    """The processes that accept connections at an address: all that hold its socket, but the keeper."""
    port = int(base.rpartition(":")[2])
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    inode = next(line.split()[9] for line in lines if line.split()[1].endswith(f":{port:04X}") and " 0A " in line)
    holders: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):  # it may have ended by now, or be another user's
            if entry.name.isdigit() and f"socket:[{inode}]" in open_files(entry):
                holders[int(entry.name)] = parent_of(int(entry.name))
    return [process for process, parent in holders.items() if parent in holders]


def open_files(process: Path) -> list[str]:
    """What a process has open, but for what it closes at this moment."""
    found: list[str] = []
    for descriptor in (process / "fd").iterdir():
        with contextlib.suppress(OSError):
            found.append(str(descriptor.readlink()))
    return found


async def session_of_its_own(base: str, era: str, number: int) -> str:
    """Play a session, the control API and the agent each over connections of their own; the session's id."""
    new = await to_thread.run_sync(api, base, "POST", "/api/sessions", {**PLAY, "seed": number})
    async with Client(new["url"], mode=era) as client:
        for content in (f"{number} a", f"{number} b"):
            await ask(client, "add_reminder", content=content, reminder_timestamp=1800000000)
        seen = await ask(client, "search_reminder", content=f"{number} b")
    assert f"{number} b" in [reminder["content"] for reminder in seen["result"]]
    reply = await to_thread.run_sync(api, base, "POST", f"/api/sessions/{new['id']}/messages", {"text": "Hello?"})
    assert "reply" in reply
    return new["id"]


async def test_a_connection_is_kept_from_answer_to_answer_whoever_gives_it(tmp_path: Path) -> None:
    with http_process("--log-dir", str(tmp_path), *WORKERS, SANDBOX_MCP_API_TOKEN=TOKEN) as said:
        ids = [api(said["base"], "POST", "/api/sessions", {**PLAY, "seed": number})["id"] for number in range(6)]
        kept = http.client.HTTPConnection(said["base"].removeprefix("http://"), timeout=30)
        kept.connect()
        own = kept.sock
        for id_ in ids:
            kept.request("GET", f"/api/sessions/{id_}", headers={"Authorization": f"Bearer {TOKEN}"})
            assert json.load(kept.getresponse())["id"] == id_
            assert kept.sock is own
        kept.close()
    assert "Traceback" not in said["rest"]


async def test_a_request_is_answered_that_comes_with_the_end_of_one_answered_early() -> None:
    with http_process(*WORKERS, SANDBOX_MCP_API_TOKEN=TOKEN) as said:
        where = said["base"].removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(*where)
        writer.write(b"POST /s/nonsense/mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n")
        first = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(re.findall(rb"(?i)content-length: *(\d+)", first)[0]))
        writer.write(b"{}GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        async with asyncio.timeout(100):
            second = await reader.readuntil(b"\r\n")
        writer.close()
    assert (b" 404 " in first, b" 200 " in second) == (True, True)


@pytest.mark.parametrize("era", ERAS)
async def test_any_worker_serves_any_session(era: str, tmp_path: Path) -> None:
    with http_process(*WORKERS, "--log-dir", str(tmp_path), SANDBOX_MCP_API_TOKEN=TOKEN) as said:
        ids: list[str] = []

        async def play(number: int) -> None:
            ids.append(await session_of_its_own(said["base"], era, number))

        async with anyio.create_task_group() as together:
            for number in range(9):
                together.start_soon(play, number)
        assert len(workers_at(said["base"])) == 3
        # One connection that is kept open asks for all of them in turn, and goes from worker to worker.
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx2.AsyncClient(base_url=said["base"], headers=headers, timeout=60) as http:
            calls = [(await http.get(f"/api/sessions/{id_}")).json()["calls"] for _ in range(2) for id_ in ids]
            assert (await http.get("/api/sessions/nonsense")).status_code == 404
            assert (await http.post("/s/nonsense/mcp", content=b"{}")).status_code == 404
            scenarios = (await http.get("/api/scenarios")).json()["scenarios"]
    assert calls == [3] * 18
    assert len(scenarios) > 100
    logs = [read_trajectory(path) for path in tmp_path.glob("*.jsonl")]  # noqa: ASYNC240
    assert Counter(log.ended and log.ended.reason for log in logs) == {"abandoned": 9}
    assert said["code"] == "-15"
    assert said["rest"] == ""


@pytest.mark.parametrize("era", ERAS)
async def test_a_killed_worker_loses_no_call_and_its_sessions_go_on(era: str, tmp_path: Path) -> None:
    with http_process(
        *WORKERS, "--log-dir", str(tmp_path), "--token", "a", "--token", "b", SANDBOX_MCP_API_TOKEN=TOKEN
    ) as said:
        base = said["base"]
        new = [api(base, "POST", "/api/sessions", {**PLAY, "seed": number}) for number in range(6)]
        for each in new:
            async with Client(each["url"], mode=era) as client:
                await ask(client, "add_reminder", content="before", reminder_timestamp=1800000000)
        for seat in "ab":
            async with agent(said["lobby"], era, seat) as client:
                await ask(client, "start_scenario", name="wifi_off", seed=ord(seat))
                await ask(client, "set_wifi_status", on=False)
        before = workers_at(base)
        for process in before:
            os.kill(process, signal.SIGKILL)
        for each in new:
            async with Client(each["url"], mode=era) as client:
                await ask(client, "add_reminder", content="after", reminder_timestamp=1800000000)
        for seat in "ab":
            async with agent(said["lobby"], era, seat) as client:
                assert await ask(client, "get_wifi_status") == {"result": False}
        after = workers_at(base)
    assert len(before) == len(after) == 3
    assert not set(before) & set(after)
    assert said["rest"].count("was killed by signal 9; another goes on with its sessions") == 3
    logs = [read_trajectory(path) for path in tmp_path.glob("*.jsonl")]  # noqa: ASYNC240
    for log in logs:
        assert [event.seq for event in log.events] == list(range(1, len(log.events) + 1))
    told = [[call.arguments.get("content") for call in log.events if isinstance(call, ToolCall)] for log in logs]
    assert Counter(map(tuple, told)) == {("before", "after"): 6, (None, None): 2}


async def test_one_place_is_left_for_one_session_whichever_worker_is_asked(tmp_path: Path) -> None:
    options = (*WORKERS, "--max-sessions", "4", "--log-dir", str(tmp_path))
    with http_process(*options, SANDBOX_MCP_API_TOKEN=TOKEN) as said:
        opened: list[dict[str, Any]] = []
        refused: list[int] = []

        def begin() -> None:
            try:
                opened.append(api(said["base"], "POST", "/api/sessions", PLAY))
            except urllib.error.HTTPError as error:
                refused.append(error.code)

        for _ in range(6):
            begin()
        assert (len(opened), refused) == (4, [503, 503])
        api(said["base"], "POST", f"/api/sessions/{opened[0]['id']}/end", {"reason": "abandoned"})
        begin()
        begin()
        assert (len(opened), refused) == (5, [503] * 3)
        api(said["base"], "DELETE", f"/api/sessions/{opened[1]['id']}")
        begin()
        assert len(opened) == 6


@pytest.mark.parametrize("piece", [7, 1000, 100_000])
def test_one_connection_may_ask_for_all_without_waiting(piece: int, tmp_path: Path) -> None:
    with http_process(*WORKERS, "--log-dir", str(tmp_path), SANDBOX_MCP_API_TOKEN=TOKEN) as said:
        host, _, port = said["base"].removeprefix("http://").partition(":")
        new = [api(said["base"], "POST", "/api/sessions", {**PLAY, "seed": number})["id"] for number in range(5)]
        head = f"HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
        asked = "".join(
            f"GET /api/sessions/{id_} {head}\r\nPOST /api/sessions/{id_}/messages {head}Content-Length: 2\r\n\r\n{{}}"
            for id_ in new
        ).encode()
        got = b""
        with socket.create_connection((host, int(port)), timeout=60) as client:
            for start in range(0, len(asked), piece):
                client.sendall(asked[start : start + piece])
            while got.count(b"HTTP/1.1 ") < 10:
                got += client.recv(65536)
    assert re.findall(rb"HTTP/1.1 (\d+)", got) == [b"200", b"422"] * 5
    assert re.findall(rb'"id":"([^"]+)"', got) == [id_.encode() for id_ in new]


def test_what_follows_a_chunked_request_is_answered_by_its_own_worker_or_not_at_all(tmp_path: Path) -> None:
    with http_process(*WORKERS, "--log-dir", str(tmp_path), SANDBOX_MCP_API_TOKEN=TOKEN) as said:
        host, _, port = said["base"].removeprefix("http://").partition(":")
        new = [api(said["base"], "POST", "/api/sessions", {**PLAY, "seed": number})["id"] for number in range(6)]
        head = f"HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
        chunked = f"{head}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n"
        for first, second in pairwise(new):
            asked = f"POST /api/sessions/{first}/messages {chunked}GET /api/sessions/{second} {head}\r\n"
            with socket.create_connection((host, int(port)), timeout=60) as client:
                client.sendall(asked.encode())
                got = b""
                while piece := client.recv(65536):
                    got += piece
            assert re.findall(rb"HTTP/1.1 (\d+)", got) == [b"422"]


async def test_bodies_beyond_any_message_between_workers_reach_their_session(tmp_path: Path) -> None:
    with http_process("--workers", "2", "--log-dir", str(tmp_path), SANDBOX_MCP_API_TOKEN=TOKEN) as said:
        new = [api(said["base"], "POST", "/api/sessions", {**PLAY, "seed": number}) for number in range(4)]
        async with httpx2.AsyncClient(timeout=60) as http:
            for each in new:
                client = RawMcp(http, each["url"], "2026-07-28")
                long = json.dumps({"content": "x" * 700_000, "reminder_timestamp": 1800000000})
                assert "content" in (await client.call("add_reminder", long))["result"]
        calls = [api(said["base"], "GET", f"/api/sessions/{each['id']}")["calls"] for each in new]
    assert calls == [1] * 4


async def test_sessions_outlive_workers_and_server_together_with_a_state_folder(tmp_path: Path) -> None:
    options = ("--scenario", "wifi_off", "--variant", "all_tools", "--state-dir", str(tmp_path))
    with http_process(*options, *WORKERS, ends=signal.SIGINT, SANDBOX_MCP_API_TOKEN=TOKEN) as said:
        async with Client(said["agent"]) as client:
            await ask(client, "set_wifi_status", on=False)
        other = api(said["base"], "POST", "/api/sessions", PLAY)
    port = said["base"].rpartition(":")[2]
    with http_process(*options, "--port", port, "--workers", "2", SANDBOX_MCP_API_TOKEN=TOKEN) as later:
        async with Client(said["agent"]) as client:
            assert await ask(client, "get_wifi_status") == {"result": False}
        assert not api(later["base"], "GET", f"/api/sessions/{other['id']}")["over"]
    assert later["agent"] == said["agent"]
    assert said["code"] == "0"


def test_who_is_served_while_workers_stop_gets_an_answer_and_no_next_one(tmp_path: Path) -> None:
    met: Counter[int] = Counter()

    def ask_on(where: str, ids: list[str]) -> None:
        kept = http.client.HTTPConnection(where, timeout=30)
        with contextlib.suppress(OSError, http.client.HTTPException):
            for id_ in itertools.cycle(ids):
                kept.request("GET", f"/api/sessions/{id_}", headers={"Authorization": f"Bearer {TOKEN}"})
                answer = kept.getresponse()
                answer.read()
                met[answer.status] += 1
                if answer.will_close:
                    return

    with http_process(*WORKERS, "--log-dir", str(tmp_path), SANDBOX_MCP_API_TOKEN=TOKEN) as said:
        ids = [api(said["base"], "POST", "/api/sessions", PLAY)["id"] for _ in range(6)]
        where = said["base"].removeprefix("http://")
        clients = [threading.Thread(target=ask_on, args=(where, ids)) for _ in range(12)]
        for client in clients:
            client.start()
        time.sleep(1)
    for client in clients:
        client.join()
    assert set(met) == {200}
    assert "Cancel" not in said["rest"]


def test_workers_end_with_their_keeper_however_it_ends(tmp_path: Path) -> None:
    with http_process(*WORKERS, "--log-dir", str(tmp_path), SANDBOX_MCP_API_TOKEN=TOKEN) as said:
        new = api(said["base"], "POST", "/api/sessions", PLAY)
        (keeper,) = {parent_of(worker) for worker in workers_at(said["base"])}
        os.kill(keeper, signal.SIGKILL)
    log = read_trajectory(next(tmp_path.glob("*.jsonl")))
    assert new["session"] == log.started.session
    with pytest.raises(urllib.error.URLError):
        api(said["base"], "GET", f"/api/sessions/{new['id']}")
