"""``sandbox-mcp`` as a process whose imports are done: a server that forks one for every command line.

Policy: a command gets its own process, folder, environment, streams, signals and room for files, as from a shell; only
what takes most of a short command's time, the importing of modules, the reading of the built-in suite and what is made
when something is first played, is done once, for all processes that run tests. It ends with the last of them. That a
cold process starts is tried in tests/cli and tests/packaging.
"""

import gc
import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from shutil import rmtree

ROOT = Path(__file__).resolve().parents[1]
OURS = ("sandbox_mcp", "sandbox_scenarios", "sandbox_grader", "sandbox_clients")
LAZY = (
    "mcp.client", "openai", "scipy.stats", "networkx", "pint", "holidays", "uvicorn", "rouge_score.tokenizers",
    "jsonschema", "rapidfuzz.process", "rapidfuzz.distance", "zstandard", "h11", "httpcore2",
)  # fmt: skip
"""What our modules import where they need it."""
APART = ("workers", "inspect_task", "skyrl", "__main__")
"""Modules for other interpreters, or that run what they are for when they are imported."""
FIRST = "SANDBOX_MCP_TESTS_FIRST"
"""The variable that names a function, ``module:name``, which is called in a command's process before the command."""
LEASE = b"0" * 8
CLIENT = """#!{python} -ISs
import json, os, resource, signal, socket, sys
passed_on = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

def pass_on(number, _):
    try:
        os.kill(child, number)
    except ProcessLookupError:
        pass  # it has ended meanwhile, and its exit code is on its way

signal.pthread_sigmask(signal.SIG_BLOCK, passed_on)  # the child may run before it is known here whom to pass them on to
with socket.socket(socket.AF_UNIX) as server:
    server.connect({place!r})
    room = resource.getrlimit(resource.RLIMIT_FSIZE)
    asked = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ), room]).encode()
    socket.send_fds(server, [b"%08d" % len(asked)], [0, 1, 2])
    server.sendall(asked)
    child = int(server.recv(8) or sys.exit("the server is gone"))
    for number in passed_on:
        signal.signal(number, pass_on)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, passed_on)
    code = int(server.recv(8) or 1)
if code < 0:
    if -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
sys.exit(code)
"""


def program() -> str:
    """The command ``sandbox-mcp``: warm where processes can be forked, else the one that is installed."""
    return f"{_joined()[0]}/sandbox-mcp" if hasattr(os, "fork") else str(Path(sys.executable).with_name("sandbox-mcp"))


@cache
def _joined() -> tuple[str, socket.socket]:
    """The server's folder, and the lease that keeps it alive; the first process of a test run starts it."""
    import fcntl

    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(os.getpid())
    folder = Path(tempfile.gettempdir(), f"warm-{run[:12]}")  # short, as a socket's address has to be
    folder.mkdir(mode=0o700, exist_ok=True)
    place = f"{folder}/socket"
    lease = socket.socket(socket.AF_UNIX)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            lease.connect(place)
        except OSError:
            _stand_in(folder, place)
            start = [sys.executable, "-m", "tests.warm", place]
            subprocess.run(start, cwd=ROOT, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, check=True)
            lease.connect(place)
    lease.sendall(LEASE)
    return str(folder), lease


def _stand_in(folder: Path, place: str) -> None:
    """Put a program into the folder that has the server at that place run its command lines."""
    client = folder / "sandbox-mcp"
    client.write_text(CLIENT.format(python=sys.executable, place=place), encoding="utf-8")
    client.chmod(0o755)


def import_everything() -> None:
    """Import all that command lines need, and read the built-in suite."""
    for root in OURS:
        for module in walk_packages(import_module(root).__path__, f"{root}."):
            if not any(part in module.name for part in APART):
                import_module(module.name)
    for name in LAZY:
        import_module(name)
    import_module("sandbox_scenarios").Suite().all("*")


def play_once() -> None:
    """Play and grade two scenarios, after which schemas and patterns are compiled and tables read that most need."""
    from sandbox_mcp.play import telemetry
    from tests.e2e.processes import run

    with tempfile.TemporaryDirectory() as folder:
        play = ("run", "wifi_off", "landlord_number", "--agent", "reference", "--transport", "http", "--out")
        for command in ((*play, f"{folder}/run"), ("grade", f"{folder}/run", "--json")):
            done = run(*command)
            if done.code not in (None, 0):
                raise SystemExit(done.err)
    for found in vars(telemetry).values():  # what it found in the variables of this process is not what a command has
        getattr(found, "cache_clear", lambda: None)()


def _main(place: str) -> None:
    """Import everything, and serve in the background, so that whoever started it goes on when it listens."""
    import_everything()
    play_once()
    gc.collect()
    gc.freeze()  # a command's collector would look at all that is here, and so copy it
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place)
        listener.listen(64)
        if os.fork() == 0:
            os.setsid()
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # a keeper that has ended is not waited for
            _serve(listener)
            rmtree(Path(place).parent)


def _serve(listener: socket.socket) -> None:
    """Fork a keeper for every command, until the last lease has ended."""
    leases: list[socket.socket] = []
    while True:
        ready, _, _ = select.select([listener, *leases], [], [])
        for ended in set(ready) & set(leases):
            leases.remove(ended)
            ended.close()
            if not leases:
                return
        if listener in ready:
            asking, _ = listener.accept()
            if asking.recv(len(LEASE), socket.MSG_PEEK) == LEASE:
                asking.recv(len(LEASE))
                leases.append(asking)
                continue
            if os.fork() == 0:
                for held in (listener, *leases):
                    held.close()
                _keep(asking)
            asking.close()


def _keep(asking: socket.socket) -> None:
    """Run one command in a child, tell its exit code, and kill it when its client was killed."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    head, streams, _, _ = socket.recv_fds(asking, 8, 3)
    asked = b""
    while len(asked) < int(head):
        asked += asking.recv(65536)
    child = os.fork()
    if child == 0:
        asking.close()
        _run(*json.loads(asked), streams)
    for stream in (*streams, 0, 1, 2):
        os.close(stream)
    with suppress(OSError):
        asking.sendall(b"%08d" % child)
    threading.Thread(target=_kill_without_client, args=(asking, child), daemon=True).start()
    _, status = os.waitpid(child, 0)
    with suppress(OSError):
        asking.sendall(b"%+08d" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def _kill_without_client(asking: socket.socket, child: int) -> None:
    with suppress(OSError):
        asking.recv(1)
    with suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)


def _run(arguments: list[str], folder: str, environment: dict[str, str], room: list[int], streams: list[int]) -> None:
    """The command, with what its client has: a folder, variables, room for files, streams."""
    import resource

    from sandbox_mcp.app.cli import main

    resource.setrlimit(resource.RLIMIT_FSIZE, (room[0], room[1]))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    random.seed()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["sandbox-mcp", *arguments]
    if first := environment.get(FIRST):
        module, _, name = first.partition(":")
        getattr(import_module(module), name)()
    code = 1
    try:
        main()
        code = 0
    except SystemExit as leave:
        code = leave.code if isinstance(leave.code, int) else int(leave.code is not None)
    finally:
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _main(sys.argv[1])
