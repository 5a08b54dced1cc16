"""``sandbox-mcp`` as a process whose imports are done: a server that forks one for every command line.

Policy: a command gets its own process, folder, environment, streams, signals and room for files, as from a shell; only
what takes most of a short command's time, the importing of modules and the reading of the built-in suite, is done once,
for all processes that run tests. It ends with the last of them. That a cold process starts is tried in tests/cli and
tests/packaging. Beside it stands ``python`` for what tests and commands start to play or grade in processes, and for
scripts; whatever else it is asked to run, the interpreter itself runs.
"""

import io
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
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from shutil import rmtree
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
OURS = ("sandbox_mcp", "sandbox_scenarios", "sandbox_grader", "sandbox_clients")
LAZY = (
    "mcp.client", "openai", "scipy.stats", "networkx", "pint", "holidays", "uvicorn", "rouge_score.tokenizers",
    "jsonschema", "rapidfuzz.process", "rapidfuzz.distance", "zstandard", "h11", "httpcore2",
)  # fmt: skip
"""What our modules import where they need it."""
APART = ("workers", "inspect_task", "__main__", "toolsandbox.dump")
"""Modules for other interpreters, or that run what they are for when they are imported."""
RUN = "SANDBOX_MCP_TEST_RUN"
"""The variable that says which run of tests a process belongs to."""
LEASE = b"0" * 8
CLIENT = """#!{python} -ISs
import json, os, resource, signal, socket, sys
name, asked = os.path.basename(sys.argv[0]), sys.argv[1:]
kept = [0, 1, 2]
if name == "python":
    if asked[:3] != ["-u", "-m", "anyio.to_process"] and asked[-1:] != ["--multiprocessing-fork"]:
        if not asked or not asked[0].endswith(".py"):
            os.execv({python!r}, [{python!r}, *asked])
    for number in map(int, os.listdir("/dev/fd")):
        try:
            kept += [number] if number > 2 and os.get_inheritable(number) else []
        except OSError:
            pass  # the one that listed them
passed_on = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
signal.pthread_sigmask(signal.SIG_BLOCK, passed_on)  # the child may run before it is known here whom to pass them on to
with socket.socket(socket.AF_UNIX) as server:
    server.connect({place!r})
    room = resource.getrlimit(resource.RLIMIT_FSIZE)
    said = json.dumps([name, asked, os.getppid(), os.getcwd(), dict(os.environ), room, kept]).encode()
    socket.send_fds(server, [b"%08d" % len(said)], kept)
    server.sendall(said)
    child = int(server.recv(8) or sys.exit("the server is gone"))
    for number in passed_on:
        signal.signal(number, lambda number, _: os.kill(child, number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, passed_on)
    code = int(server.recv(8) or 1)
if code < 0:
    signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
sys.exit(code)
"""
Captured = dict[int, int]
"""Descriptors that stood for others when modules were imported, which may keep ``sys.stderr``: with those others."""
FREE = 512
"""File descriptors from here on are not in use where a command begins."""


def program() -> str:
    """The command ``sandbox-mcp``: warm where processes can be forked, else the one that is installed."""
    return f"{_joined()[0]}/sandbox-mcp" if hasattr(os, "fork") else str(Path(sys.executable).with_name("sandbox-mcp"))


def python() -> str:
    """The interpreter, for scripts: warm where processes can be forked."""
    return f"{_joined()[0]}/python" if hasattr(os, "fork") else sys.executable


def start_workers_warm(interpreter: str) -> None:
    """Have that interpreter run what plays or grades for this process, and for those that are forked from it."""
    from multiprocessing import spawn

    import anyio.to_process

    def open_process(command: list[str], **options: Any) -> Any:
        return anyio.open_process([interpreter, *command[1:]], **options)

    anyio.to_process.open_process = open_process  # type: ignore[attr-defined]
    spawn.set_executable(interpreter)


@cache
def _joined() -> tuple[str, socket.socket]:
    """The server's folder, and the lease that keeps it alive; the first process of a test run starts it."""
    import fcntl

    folder = _folder()
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


def fork_server(clean: Callable[[], Captured]) -> None:
    """Start the server as a child of this process, which imports everything. There, ``clean`` is called first."""
    folder = _folder()
    import_everything()
    _stand_in(folder, f"{folder}/socket")
    _start(f"{folder}/socket", clean)
    _joined()


def _folder() -> Path:
    run = os.environ.get(RUN) or str(os.getpid())
    folder = Path(tempfile.gettempdir(), f"warm-{run[:12]}")  # short, as a socket's address has to be
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _stand_in(folder: Path, place: str) -> None:
    """Put programs into the folder that have the server at that place run their command lines."""
    for name in ("sandbox-mcp", "python"):
        client = folder / name
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


def _start(place: str, clean: Callable[[], Captured] = dict) -> None:
    """Serve in the background, so that whoever started it goes on when it listens."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place)
        listener.listen(64)
        if os.fork() == 0:
            captured = clean()
            start_workers_warm(str(Path(place).with_name("python")))
            os.setsid()
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # a keeper that has ended is not waited for
            _serve(listener, captured)
            rmtree(Path(place).parent)
            os._exit(0)


def _serve(listener: socket.socket, captured: Captured) -> None:
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
                _keep(asking, captured)
            asking.close()


def _keep(asking: socket.socket, captured: Captured) -> None:
    """Run one command in a child, tell its exit code, and kill it when its client was killed."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    head, streams, _, _ = socket.recv_fds(asking, 8, 250)
    asked = b""
    while len(asked) < int(head):
        asked += asking.recv(65536)
    child = os.fork()
    if child == 0:
        asking.close()
        _run(captured, *json.loads(asked), streams)
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


def _run(
    captured: Captured,
    name: str,
    arguments: list[str],
    parent: int,
    folder: str,
    environment: dict[str, str],
    room: list[int],
    numbers: list[int],
    streams: list[int],
) -> None:
    """The command, with what its client has: a folder, variables, room for files, streams."""
    import resource
    from fcntl import F_DUPFD_CLOEXEC, fcntl

    resource.setrlimit(resource.RLIMIT_FSIZE, (room[0], room[1]))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    random.seed()
    aside = [fcntl(stream, F_DUPFD_CLOEXEC, FREE) for stream in streams]
    for stream in streams:
        os.close(stream)
    for number, stream in zip(numbers, aside, strict=True):
        os.dup2(stream, number)
        os.close(stream)
    for number, stream in captured.items() if name != "python" else ():
        os.dup2(stream, number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    os.getppid = lambda: parent if _lives(parent) else 1
    tempfile.tempdir = None
    code = 1
    try:
        _command(name, arguments)
        code = 0
    except SystemExit as leave:
        code = leave.code if isinstance(leave.code, int) else int(leave.code is not None)
    except BaseException:
        if name != "python":
            raise
        sys.excepthook(*sys.exc_info())
    finally:
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _lives(process: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


def _command(name: str, arguments: list[str]) -> None:
    """Run what a program of that name would run."""
    from runpy import run_path

    if name == "python":
        sys.path[:0] = os.environ.get("PYTHONPATH", "").split(os.pathsep) if os.environ.get("PYTHONPATH") else []
    if name != "python":
        from sandbox_mcp.cli import main

        sys.argv = ["sandbox-mcp", *arguments]
        main()
    elif arguments[-1] == "--multiprocessing-fork":
        sys.argv = ["-c", "--multiprocessing-fork"]
        exec(arguments[-2], {})
    elif arguments[:2] == ["-u", "-m"]:
        sys.stdout = io.TextIOWrapper(open(1, "wb", buffering=0), write_through=True)  # noqa: SIM115 - it stays open
        import_module(arguments[2]).process_worker()
    else:
        sys.argv = arguments
        sys.path.insert(0, str(Path(arguments[0]).resolve().parent))
        run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    import_everything()
    _start(sys.argv[1])
