"""Thousands of open sessions in one server, with calls on all: memory, throughput, and how even the answers are.

Run as ``python -m bench sessions [--sessions N] [--rounds R] [--clients K] [--workers W]``. Every round calls each
session once, from ``K`` connections that are kept and that each have one call under way. The bare echo server gets as
many calls from as many connections, in turn with ours. Calls are marked as batches of one, so that none is held for
others.
"""

import argparse
import os
import selectors
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from bench.load import META, MODERN, ROOT, Http
from bench.server import API_TOKEN, SCENARIO, cpu_of, free_port, new_session, ours, rss_of, started_bare, wait_for
from bench.table import BudgetRow, show

BATCH = {**META, "io.github.sandbox-mcp/batch": {"id": "one", "index": 0, "size": 1}}
PER_SESSION, GROWTH, SPREAD, THROUGHPUT = 20, 1.05, 2.0, 1.2


def call(connection: Http, path: str, tool: str, arguments: dict[str, object]) -> None:
    """Send one call to a session, without waiting for what comes of it."""
    connection.path = path
    connection.number += 1
    params = {"name": tool, "arguments": arguments, "_meta": BATCH}
    connection._send(  # noqa: SLF001  (with a mark of its own)
        {"jsonrpc": "2.0", "id": connection.number, "method": "tools/call", "params": params}
    )


def latencies(base: str, paths: Sequence[str], clients: int, tool: str, arguments: dict[str, object]) -> list[float]:
    """Seconds that each call took, one to each path, ``clients`` of them under way at a time."""
    waiting = selectors.DefaultSelector()
    left = iter(paths)
    begun: dict[Http, float] = {}
    taken: list[float] = []

    def go_on(connection: Http) -> bool:
        path = next(left, None)
        if path is not None:
            begun[connection] = time.perf_counter()
            call(connection, path, tool, arguments)
        return path is not None

    connections = [Http(base + "/mcp", MODERN) for _ in range(clients)]
    running = 0
    for connection in connections:
        waiting.register(connection.socket, selectors.EVENT_READ, connection)
        running += go_on(connection)
    while running:
        for key, _ in waiting.select():
            connection = key.data
            connection.receive()
            taken.append(time.perf_counter() - begun[connection])
            running -= not go_on(connection)
    for connection in connections:
        connection.close()
    return taken


def tree(pid: int) -> list[int]:
    """A process and its children."""
    return [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]


def rows(sessions: int, rounds: int, clients: int, workers: int) -> Iterator[BudgetRow]:
    """Open the sessions, call them all in rounds, and compare."""
    with tempfile.TemporaryDirectory() as name, started_bare() as (_, bare_url):
        folder = Path(name)
        (folder / "bench.yaml").write_text(SCENARIO)
        port = free_port()
        options = ("--http", "--port", str(port), "--max-sessions", str(sessions), "--workers", str(workers))
        process = subprocess.Popen(
            ours(folder, *options), cwd=ROOT, stderr=subprocess.DEVNULL,
            env={**os.environ, "SANDBOX_MCP_API_TOKEN": API_TOKEN},
        )  # fmt: skip
        try:
            wait_for(port)
            base = f"http://127.0.0.1:{port}"
            few = max(20, sessions // 50)
            paths = [urlsplit(new_session(base)).path for _ in range(few)]
            before = sum(map(rss_of, tree(process.pid)))
            paths += [urlsplit(new_session(base)).path for _ in range(sessions - few)]
            opened = sum(map(rss_of, tree(process.pid)))
            memory: list[int] = []
            bare: list[float] = []
            mine: list[float] = []
            slower: list[float] = []
            spent = cpu = 0.0
            for number in range(rounds):  # in turn, so that whatever else the machine does hits both
                bare += (theirs := latencies(bare_url[:-4], ["/mcp"] * sessions, clients, "echo_1", {"text": "hello"}))
                busy, began = sum(map(cpu_of, tree(process.pid))), time.perf_counter()
                mine += (own := latencies(base, paths, clients, "set_wifi_status", {"on": number % 2 == 1}))
                spent += time.perf_counter() - began
                cpu += sum(map(cpu_of, tree(process.pid))) - busy
                slower.append(statistics.fmean(own) / statistics.fmean(theirs))
                memory.append(sum(map(rss_of, tree(process.pid))))
        finally:
            process.terminate()
            process.wait(60)
    each = (opened - before) / (sessions - few) / 1024
    yield BudgetRow(f"memory per open session of {sessions}", f"{each:.1f} KB", f"{PER_SESSION} KB", each / PER_SESSION)
    grown = memory[-1] / memory[0]
    yield BudgetRow(
        f"memory after {rounds} rounds against one ({memory[0] >> 20} MB)", f"{grown:.3f}x", f"{GROWTH}x",
        grown / GROWTH,
    )  # fmt: skip
    for who, times in (("bare", bare), ("ours", mine)):
        cuts = statistics.quantiles(times, n=100)
        spread = cuts[98] / cuts[49]
        told = f"p99 against p50, {who} ({cuts[49] * 1e3:.1f} ms and {cuts[98] * 1e3:.1f} ms, {clients} at a time)"
        yield BudgetRow(told, f"{spread:.2f}x", f"{SPREAD}x", spread / SPREAD if who == "ours" else 0.0)
    yield BudgetRow(f"processor time per call, {workers} worker(s)", f"{cpu / len(mine) * 1e6:.0f} us", "-", 0.0)
    ratio = statistics.median(slower)
    yield BudgetRow(
        f"time per call against bare ({len(mine) / spent:.0f} calls a second, {workers} worker(s))", f"{ratio:.2f}x",
        f"{THROUGHPUT}x", ratio / THROUGHPUT,
    )  # fmt: skip


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench sessions", description=__doc__)
    parser.add_argument("--sessions", type=int, default=5000, help="how many are open")
    parser.add_argument("--rounds", type=int, default=5, help="how often all of them are called")
    parser.add_argument("--clients", type=int, default=8, help="how many calls are under way at a time")
    parser.add_argument("--workers", type=int, default=1)
    show("Thousands of sessions", list(rows(**vars(parser.parse_args(arguments)))))
