"""What a tape served as a mock costs: the server's CPU per call against the bare echo server that it was recorded from.

The method is that of :mod:`bench.server`: rounds alternate, and the median of the ratios counts. The crowd is 500
clients of both eras at one time, all of whose answers are compared with the tape.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.bare_server import ECHO_SCHEMA, RESULT_SCHEMA
from bench.load import LEGACY, MODERN, ROOT, Http, Stdio
from bench.server import BARE_CALLS, TOOLS, LoadedServer, Pair, bare, cpu_per_call, free_port, started_bare, wait_for

CROWD = 500
RESULT = {"content": [{"type": "text", "text": "hello"}], "structuredContent": {"result": "hello"}}
BUDGET = 1.2


def tape_of_echo(path: Path) -> None:
    """Write what the bare server lists and answers."""
    lines: list[object] = [{"kind": "server", "tape": 1, "name": "bare", "version": "", "redacted": []}]
    text = "Say back what was said, as often as is wanted, so that there is something to list."
    lines += (
        {"kind": "tool", "name": f"echo_{n}", "description": text, "inputSchema": ECHO_SCHEMA,
         "outputSchema": RESULT_SCHEMA, "annotations": {"readOnlyHint": True}}
        for n in range(TOOLS)
    )  # fmt: skip
    for name, arguments in BARE_CALLS:
        lines.append({"kind": "call", "tool": name, "arguments": arguments, "result": RESULT})
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def mock(tape: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "sandbox_mcp.app.cli", "serve", "--tape", str(tape), *more]


@contextmanager
def started_mock(tape: Path) -> Iterator[tuple[int, str]]:
    port = free_port()
    process = subprocess.Popen(mock(tape, "--http", "--port", str(port)), cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield process.pid, f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


@contextmanager
def http_pair(tape: Path, era: str, connections: int) -> Iterator[Pair]:
    with started_bare() as (bare_pid, bare_url), started_mock(tape) as (our_pid, base):
        theirs = [Http(bare_url, era) for _ in range(connections)]
        mine = [Http(f"{base}/mcp", era) for _ in range(connections)]
        for client in (*theirs, *mine):
            client.open()
        yield {"bare": LoadedServer(bare_pid, theirs, BARE_CALLS), "ours": LoadedServer(our_pid, mine, BARE_CALLS)}
        for client in (*theirs, *mine):
            client.close()


@contextmanager
def stdio_pair(tape: Path, era: str) -> Iterator[Pair]:
    mine, theirs = Stdio(mock(tape), era), Stdio(bare("stdio", str(TOOLS)), era)
    for server in (mine, theirs):
        server.open()
    yield {
        "bare": LoadedServer(theirs.process.pid, [theirs], BARE_CALLS),
        "ours": LoadedServer(mine.process.pid, [mine], BARE_CALLS),
    }
    for server in (mine, theirs):
        server.close()


def crowd(url: str) -> int:
    """How many of the crowd's clients got the recorded texts and values, all with a call under way at one time."""
    clients = [Http(url, LEGACY if number % 2 else MODERN) for number in range(CROWD)]
    for client in clients:
        client.open()
    for client in clients:
        client.send("tools/call", {"name": "echo_1", "arguments": {"text": "hello"}})
    answers = [client.receive() for client in clients]
    for client in clients:
        client.close()
    return sum(all(answer[name] == RESULT[name] for name in RESULT) for answer in answers)


def main(_: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tape = Path(folder) / "echo.jsonl"
        tape_of_echo(tape)
        for era in (MODERN, LEGACY):
            for name, pair in ((f"HTTP, {era}", http_pair(tape, era, 8)), (f"stdio, {era}", stdio_pair(tape, era))):
                with pair as loaded:
                    theirs, ours, ratio = cpu_per_call(loaded, 7, 400)
                print(f"{name}: {ours:.0f} us of CPU per call, bare {theirs:.0f}, ratio {ratio:.2f} (budget {BUDGET})")
        with started_mock(tape) as (_, base):
            right = crowd(f"{base}/mcp")
            print(f"clients of both eras at one time with the recorded answer: {right} of {CROWD}")


if __name__ == "__main__":
    main([])
