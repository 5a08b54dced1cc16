"""What the server costs: CPU per call and start-up against a bare echo server of the same SDK, memory per session.

Rounds alternate between the two servers, so that whatever else the machine does hits both; the median of the ratios of
adjacent rounds counts. Processor time is the kernel's own, in nanoseconds, of all threads.
"""

import argparse
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.load import LEGACY, MODERN, ROOT, Calls, Http, Stdio, pump
from bench.table import BudgetRow, show

TOOLS = 40
PER_CALL, START, MEMORY = 1.2, 1.2, 100
OUR_CALLS: Calls = [
    ("set_wifi_status", {"on": False}),
    ("get_wifi_status", {}),
    ("set_wifi_status", {"on": True}),
    ("search_contacts", {"relationship": "friend"}),
]
BARE_CALLS: Calls = [("echo_1", {"text": "hello"})]
SCENARIO = """\
family: bench
scenarios:
  - name: bench
    extends: wifi_off
    about: Wifi off, without end.
    max_turns: 1000000000
    max_calls: 1000000000
"""
API_TOKEN = "for-the-bench"


@dataclass(frozen=True, slots=True)
class LoadedServer:
    """A server under load: its process, connections to it, and what to call."""

    pid: int
    clients: list[Any]
    calls: Calls


Pair = Mapping[str, LoadedServer]
Compared = tuple[float, float, float]
"""Bare, ours, and the median of the ratios."""


def cpu_of(pid: int) -> float:
    """Seconds on a processor so far, of all threads."""
    return sum(map(_on_processor, Path(f"/proc/{pid}/task").iterdir())) / 1e9


def _on_processor(task: Path) -> int:
    """Nanoseconds of one thread so far; 0 where it has just ended."""
    try:
        return int((task / "schedstat").read_text().split()[0])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def rss_of(pid: int) -> int:
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) * 1024


def serve_args(folder: Path) -> list[str]:
    return ["serve", "--scenarios", str(folder / "bench.yaml"), "--log-dir", str(folder / "logs")]


def ours(folder: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "sandbox_mcp.app.cli", *serve_args(folder), *more]


def bare(*more: str) -> list[str]:
    return [sys.executable, str(ROOT / "bench" / "bare_server.py"), *more]


@contextmanager
def stdio_pair(folder: Path, era: str) -> Iterator[Pair]:
    mine = Stdio(ours(folder, "--scenario", "bench", "--variant", "all_tools"), era)
    theirs = Stdio(bare("stdio", str(TOOLS)), era)
    for server in (mine, theirs):
        server.open()
    yield {
        "bare": LoadedServer(theirs.process.pid, [theirs], BARE_CALLS),
        "ours": LoadedServer(mine.process.pid, [mine], OUR_CALLS),
    }
    for server in (mine, theirs):
        server.close()


@contextmanager
def http_pair(folder: Path, era: str, connections: int) -> Iterator[Pair]:
    """Each connection has a session of its own, so that no two calls are a batch."""
    with started_bare() as (bare_pid, bare_url), started_ours(folder) as (our_pid, base):
        theirs = [Http(bare_url, era) for _ in range(connections)]
        mine = [Http(new_session(base), era) for _ in range(connections)]
        for client in (*theirs, *mine):
            client.open()
        yield {"bare": LoadedServer(bare_pid, theirs, BARE_CALLS), "ours": LoadedServer(our_pid, mine, OUR_CALLS)}
        for client in (*theirs, *mine):
            client.close()


@contextmanager
def started_bare() -> Iterator[tuple[int, str]]:
    port = free_port()
    process = subprocess.Popen(bare(str(port), str(TOOLS)), cwd=ROOT)
    try:
        wait_for(port)
        yield process.pid, f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(10)


@contextmanager
def started_ours(folder: Path) -> Iterator[tuple[int, str]]:
    port = free_port()
    env = {**os.environ, "SANDBOX_MCP_API_TOKEN": API_TOKEN}
    process = subprocess.Popen(
        ours(folder, "--http", "--port", str(port)), cwd=ROOT, stderr=subprocess.DEVNULL, env=env
    )
    try:
        wait_for(port)
        yield process.pid, f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port: int) -> None:
    for _ in range(2400):  # two minutes, as on a machine with other work a start takes long
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"nothing listens on port {port}")


def new_session(base: str) -> str:
    body = json.dumps({"scenario": "bench", "variant": "all_tools"}).encode()
    request = urllib.request.Request(
        f"{base}/api/sessions",
        body,
        {"Authorization": f"Bearer {API_TOKEN}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["url"]


def cpu_per_call(pair: Pair, rounds: int, count: int) -> Compared:
    """Microseconds of the server's processor time per call."""
    for subject in pair.values():
        pump(subject.clients, subject.calls, max(100, len(subject.clients)))
    taken: dict[str, list[float]] = {name: [] for name in pair}
    for _ in range(rounds):
        for name, subject in pair.items():
            before = cpu_of(subject.pid)
            pump(subject.clients, subject.calls, count)
            taken[name].append((cpu_of(subject.pid) - before) / count * 1e6)
    return compared(taken)


def start_up(folder: Path, era: str, rounds: int) -> dict[str, Compared]:
    """Milliseconds from process start to the first answer to ``tools/list``, of processor and on the wall."""
    argv = {"bare": bare("stdio", str(TOOLS)), "ours": ours(folder, "--scenario", "wifi_off", "--variant", "all_tools")}
    cpu: dict[str, list[float]] = {name: [] for name in argv}
    wall: dict[str, list[float]] = {name: [] for name in argv}
    for _ in range(rounds):
        for name, command in argv.items():
            begun = time.perf_counter()
            server = Stdio(command, era)
            server.open()
            server.ask("tools/list", {})
            cpu[name].append(cpu_of(server.process.pid) * 1e3)
            wall[name].append((time.perf_counter() - begun) * 1e3)
            server.close()
    return {"CPU": compared(cpu), "wall": compared(wall)}


def compared(taken: Mapping[str, list[float]]) -> Compared:
    ratios = [mine / theirs for mine, theirs in zip(taken["ours"], taken["bare"], strict=True)]
    return statistics.median(taken["bare"]), statistics.median(taken["ours"]), statistics.median(ratios)


def memory(folder: Path, sessions: int) -> float:
    """Kilobytes of resident memory for each open session."""
    with started_ours(folder) as (pid, base):
        for _ in range(20):
            new_session(base)
        before = rss_of(pid)
        for _ in range(sessions - 20):
            new_session(base)
        return (rss_of(pid) - before) / (sessions - 20) / 1024


def row(what: str, found: Compared, budget: float, unit: str) -> BudgetRow:
    theirs, mine, ratio = found
    return BudgetRow(
        f"{what} ({theirs:.0f} {unit} bare, {mine:.0f} ours)", f"{ratio:.2f}x", f"{budget}x", ratio / budget
    )


def rows(rounds: int = 11, calls: int = 320, sessions: int = 1000, only: str = "") -> list[BudgetRow]:
    """Every figure; ``only`` takes those of which it is part of the name: stdio, http, start, memory."""
    found: list[BudgetRow] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bench.yaml").write_text(SCENARIO)
        for era in (LEGACY, MODERN):
            if only in "stdio":
                with stdio_pair(folder, era) as pair:
                    found.append(row(f"call over stdio, {era}", cpu_per_call(pair, rounds, calls), PER_CALL, "us"))
            for connections in (1, 16) if only in "http" else ():
                with http_pair(folder, era, connections) as pair:
                    what = f"call over HTTP, {era}, {connections} at a time"
                    found.append(row(what, cpu_per_call(pair, rounds, calls), PER_CALL, "us"))
            if only in "start":
                for kind, times in start_up(folder, era, rounds).items():
                    found.append(row(f"start to tools/list, {era}, {kind}", times, START, "ms"))
        if only in "memory":
            each = memory(folder, sessions)
            found.append(
                BudgetRow(f"memory per session of {sessions}", f"{each:.0f} KB", f"{MEMORY} KB", each / MEMORY)
            )
    return found


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--calls", type=int, default=320, help="calls per round")
    parser.add_argument("--sessions", type=int, default=1000, help="open sessions when memory is measured")
    parser.add_argument("--only", default="", choices=["", "stdio", "http", "start", "memory"])
    show("Server, against a bare echo server", rows(**vars(parser.parse_args(arguments))))


if __name__ == "__main__":
    main(sys.argv[1:])
