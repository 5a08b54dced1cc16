"""What the server costs: CPU per call and start-up against a bare echo server of the same SDK, memory per session.

The load comes from raw pipes and sockets, because the SDK's client costs more than what is measured. Rounds alternate
between the two servers, so that whatever else the machine does hits both; the median round counts.
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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TOOLS = 40
MODERN = "2026-07-28"
LEGACY = "2025-11-25"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
INITIALIZE = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
OUR_CALLS = [
    ("set_wifi_status", {"on": False}),
    ("get_wifi_status", {}),
    ("set_wifi_status", {"on": True}),
    ("search_contacts", {"relationship": "friend"}),
]
BARE_CALLS = [("echo_1", {"text": "hello"})]
SCENARIO = """\
family: bench
scenarios:
  - name: bench
    extends: wifi_off
    about: Wifi off, without end.
    max_turns: 1000000000
    max_calls: 1000000000
"""
TOKEN = "bench"


class Stdio:
    """A server behind two pipes."""

    def __init__(self, argv: list[str], era: str) -> None:
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT
        )
        self.era = era
        self.number = 0

    def open(self) -> None:
        if self.era == LEGACY:
            self.ask("initialize", INITIALIZE)
            self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.number += 1
        if self.era == MODERN:
            params = {**params, "_meta": META}
        self._send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        answer = json.loads(self.process.stdout.readline())
        assert "result" in answer, answer
        return answer["result"]

    def _send(self, message: dict[str, Any]) -> None:
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(10)


class Http:
    """One keep-alive connection to an MCP endpoint."""

    def __init__(self, url: str, era: str) -> None:
        host, port, self.path = re.fullmatch(r"http://([^:/]+):(\d+)(/.*)", url).groups()
        self.socket = socket.create_connection((host, int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")
        self.era = era
        self.session = ""
        self.number = 0
        self.host = f"{host}:{port}"

    def open(self) -> None:
        if self.era == LEGACY:
            self.ask("initialize", INITIALIZE)
            self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            self._read()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.send(method, params)
        return self.receive()

    def send(self, method: str, params: dict[str, Any]) -> None:
        self.number += 1
        if self.era == MODERN:
            params = {**params, "_meta": META}
        self._send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})

    def receive(self) -> dict[str, Any]:
        answer = json.loads(self._read())
        assert "result" in answer, answer
        return answer["result"]

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        lines = [
            f"POST {self.path} HTTP/1.1", f"Host: {self.host}", "Content-Type: application/json",
            "Accept: application/json, text/event-stream", f"Content-Length: {len(body)}",
            f"MCP-Protocol-Version: {self.era}",
        ]  # fmt: skip
        if self.session:
            lines.append(f"Mcp-Session-Id: {self.session}")
        if self.era == MODERN:
            lines.append(f"Mcp-Method: {message['method']}")
            if "name" in message.get("params", {}):
                lines.append(f"Mcp-Name: {message['params']['name']}")
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode() + body)

    def _read(self) -> bytes:
        status = self.file.readline()
        length = 0
        while (line := self.file.readline().strip()) != b"":
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
            if name.lower() == b"mcp-session-id":
                self.session = value.strip().decode()
        body = self.file.read(length)
        assert status.split()[1] in (b"200", b"202"), (status, body)
        return body

    def close(self) -> None:
        self.file.close()
        self.socket.close()


def cpu_of(pid: int) -> float:
    """Seconds on a processor so far, of all threads."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def rss_of(pid: int) -> int:
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) * 1024


def pump(connections: list[Any], calls: list[tuple[str, dict[str, Any]]], count: int) -> None:
    """Make ``count`` calls, one in flight on each connection."""
    for step in range(count // len(connections)):
        name, arguments = calls[step % len(calls)]
        if len(connections) == 1:
            connections[0].ask("tools/call", {"name": name, "arguments": arguments})
            continue
        for connection in connections:
            connection.send("tools/call", {"name": name, "arguments": arguments})
        for connection in connections:
            connection.receive()


def serve_args(folder: Path) -> list[str]:
    return ["serve", "--scenarios", str(folder / "bench.yaml"), "--log-dir", str(folder / "logs")]


def ours(folder: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "sandbox_mcp.cli", *serve_args(folder), *more]


def bare(*more: str) -> list[str]:
    return [sys.executable, str(ROOT / "bench" / "bare_server.py"), *more]


@contextmanager
def stdio_servers(folder: Path, era: str, tools: int) -> Iterator[dict[str, tuple[int, list[Any], Any]]]:
    servers = {
        "bare": (Stdio(bare("stdio", str(tools)), era), BARE_CALLS),
        "ours": (Stdio(ours(folder, "--scenario", "bench", "--variant", "all_tools"), era), OUR_CALLS),
    }
    for server, _ in servers.values():
        server.open()
    yield {name: (server.process.pid, [server], calls) for name, (server, calls) in servers.items()}
    for server, _ in servers.values():
        server.close()


@contextmanager
def http_servers(folder: Path, era: str, tools: int, connections: int) -> Iterator[Any]:
    with started_bare(tools) as (bare_pid, bare_url), started_ours(folder) as (our_pid, base):
        urls = [new_session(base) for _ in range(connections)]
        both = {
            "bare": (bare_pid, [Http(bare_url, era) for _ in range(connections)], BARE_CALLS),
            "ours": (our_pid, [Http(url, era) for url in urls], OUR_CALLS),
        }
        for _, clients, _ in both.values():
            for client in clients:
                client.open()
        yield both
        for _, clients, _ in both.values():
            for client in clients:
                client.close()


@contextmanager
def started_bare(tools: int) -> Iterator[tuple[int, str]]:
    port = free_port()
    process = subprocess.Popen(bare(str(port), str(tools)), cwd=ROOT)
    wait_for(port)
    yield process.pid, f"http://127.0.0.1:{port}/mcp"
    process.terminate()
    process.wait(10)


@contextmanager
def started_ours(folder: Path) -> Iterator[tuple[int, str]]:
    port = free_port()
    env = {**os.environ, "SANDBOX_MCP_API_TOKEN": TOKEN}
    process = subprocess.Popen(
        ours(folder, "--http", "--port", str(port)), cwd=ROOT, stderr=subprocess.DEVNULL, env=env
    )
    wait_for(port)
    yield process.pid, f"http://127.0.0.1:{port}"
    process.terminate()
    process.wait(20)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port: int) -> None:
    for _ in range(300):
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
        {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["url"]


def cpu_per_call(servers: dict[str, tuple[int, list[Any], Any]], rounds: int, count: int) -> tuple[float, float, float]:
    """CPU in microseconds per call, bare and ours, and the median of their ratios in adjacent rounds."""
    for _, clients, calls in servers.values():
        pump(clients, calls, max(100, len(clients)))
    taken: dict[str, list[float]] = {name: [] for name in servers}
    for _ in range(rounds):
        for name, (pid, clients, calls) in servers.items():
            before = cpu_of(pid)
            pump(clients, calls, count)
            taken[name].append((cpu_of(pid) - before) / count * 1e6)
    return _compared(taken["bare"], taken["ours"])


def start_up(folder: Path, era: str, tools: int, rounds: int) -> list[tuple[float, float, float]]:
    """From process start to the first answer to ``tools/list``: CPU, then wall time; ms bare, ms ours, ratio."""
    argv = {
        "bare": bare("stdio", str(tools)),
        "ours": ours(folder, "--scenario", "wifi_off", "--variant", "all_tools"),
    }
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in argv}
    for _ in range(rounds):
        for name, command in argv.items():
            begun = time.perf_counter()
            server = Stdio(command, era)
            server.open()
            server.ask("tools/list", {})
            taken[name].append((cpu_of(server.process.pid) * 1e3, (time.perf_counter() - begun) * 1e3))
            server.close()
    return [_compared([pair[i] for pair in taken["bare"]], [pair[i] for pair in taken["ours"]]) for i in (0, 1)]


def _compared(bare_values: list[float], our_values: list[float]) -> tuple[float, float, float]:
    ratios = [mine / theirs for mine, theirs in zip(our_values, bare_values, strict=True)]
    return statistics.median(bare_values), statistics.median(our_values), statistics.median(ratios)


def memory(folder: Path, sessions: int) -> float:
    """Kilobytes of resident memory for each open session."""
    with started_ours(folder) as (pid, base):
        for _ in range(20):
            new_session(base)
        before = rss_of(pid)
        for _ in range(sessions - 20):
            new_session(base)
        return (rss_of(pid) - before) / (sessions - 20) / 1024


def row(what: str, theirs: float | None, mine: float, ratio: float | None, budget: str, unit: str) -> None:
    baseline = "" if theirs is None else f"{theirs:.0f}"
    quotient = "" if ratio is None else f"{ratio:.2f}x"
    print(f"{what:44} {baseline:>10} {mine:10.0f} {unit:5} {quotient:>8}  {budget}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--calls", type=int, default=320, help="calls per round")
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--only", default="", help="a word that the rows to measure contain")
    options = parser.parse_args()
    wanted = [word for word in ("stdio", "http", "start", "memory") if options.only in word]
    print(f"{'':44} {'bare':>10} {'ours':>10} {'':5} {'ratio':>8}  budget")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bench.yaml").write_text(SCENARIO)
        for era in (LEGACY, MODERN):
            if "stdio" in wanted:
                with stdio_servers(folder, era, TOOLS) as servers:
                    row(f"call over stdio, {era}", *cpu_per_call(servers, options.rounds, options.calls), "1.2x", "us")
            for connections in (1, 16) if "http" in wanted else ():
                with http_servers(folder, era, TOOLS, connections) as servers:
                    found = cpu_per_call(servers, options.rounds, options.calls)
                    row(f"call over HTTP, {era}, {connections} open", *found, "1.2x", "us")
            if "start" in wanted:
                times = start_up(folder, era, TOOLS, options.rounds)
                row(f"start to tools/list, {era}, CPU", *times[0], "1.3x", "ms")
                row(f"start to tools/list, {era}, wall", *times[1], "1.3x", "ms")
        if "memory" in wanted:
            kilobytes = memory(folder, options.sessions)
            row(f"memory per session of {options.sessions}", None, kilobytes, None, "100", "KB")


if __name__ == "__main__":
    main()
