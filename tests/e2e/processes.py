"""The command line as a process, spoken to the way a host does."""

import io
import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.warm import program

ROOT = Path(__file__).resolve().parent.parent.parent
MODERN = "2026-07-28"
ERAS = ("legacy", MODERN)


@dataclass(frozen=True)
class Done:
    """What a command came to."""

    code: int | str | None
    out: str
    err: str


def run(*args: str) -> Done:
    """A command that ends by itself, in this process: what it costs to start one is tried elsewhere."""
    from sandbox_mcp.app.cli import main

    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), patch("sys.argv", ["sandbox-mcp", *args]):
        try:
            main()
        except SystemExit as leave:
            return Done(leave.code, out.getvalue(), err.getvalue())
    return Done(0, out.getvalue(), err.getvalue())


def run_in_turn(python: str | Path, commands: Sequence[Sequence[str]], cwd: Path, env: Mapping[str, str]) -> list[Done]:
    """Commands that end by themselves, one after the other in one process of an interpreter that finds these tests."""
    code = (
        "import dataclasses, json, sys; from tests.e2e.processes import run; "
        "print(json.dumps([dataclasses.astuple(run(*command)) for command in json.loads(sys.argv[1])]))"
    )
    options: dict[str, Any] = {"capture_output": True, "text": True, "check": False}
    done = subprocess.run([python, "-c", code, json.dumps(commands)], cwd=cwd, env=env, **options)
    assert done.returncode == 0, done.stderr
    return [Done(*each) for each in json.loads(done.stdout)]


class StdioProcess:
    """``serve`` over its pipes, in the older protocol, line by line."""

    def __init__(self, *args: str) -> None:
        self.process = subprocess.Popen(
            [program(), "serve", *args], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._number = 0
        self.ask(
            "initialize",
            {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "pipe", "version": "1"}},
        )
        self.line('{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        self.line(json.dumps({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}))
        return self.answer()

    def call(self, name: str, arguments: str = "{}") -> dict[str, Any]:
        """Call with arguments given as JSON text; the result."""
        self._number += 1
        params = f'{{"name": {json.dumps(name)}, "arguments": {arguments}}}'
        self.line(f'{{"jsonrpc": "2.0", "id": {self._number}, "method": "tools/call", "params": {params}}}')
        return self.answer()["result"]

    def line(self, text: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(text.encode("utf-8", "surrogatepass") + b"\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def close(self) -> str:
        """Close its stdin; what it said on stderr."""
        _, said = self.process.communicate(timeout=100)
        assert self.process.returncode == 0
        return said.decode()


@contextmanager
def http_process(*args: str, ends: signal.Signals = signal.SIGTERM, **env: str) -> Generator[dict[str, str]]:
    """``serve --http`` on a free port: what it printed, by what it is (``lobby``, ``control API``, ...)."""
    process = subprocess.Popen(
        [program(), "serve", "--http", "--port", "0", *args],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **env},
    )
    assert process.stderr
    said: dict[str, str] = {}
    for line in process.stderr:
        what, _, text = line.strip().partition(": ")
        said[what] = text
        if what == "logs":
            break
    rest: list[str] = []
    drain = threading.Thread(target=lambda: rest.append(process.stderr.read() if process.stderr else ""))
    drain.start()
    said["base"] = re.sub("/api.*", "", said.get("control API", ""))
    try:
        yield said
    finally:
        process.send_signal(ends)
        process.wait(20)
        drain.join()
        assert process.stdout
        said["stdout"] = process.stdout.read()
        said["rest"] = "".join(rest)
        said["code"] = str(process.returncode)
        process.stdout.close()
        process.stderr.close()
