"""``python -m bench scale [SESSIONS] [--ray PYTHON]``: many sessions played, recorded, packed and graded, end to end.

Every part is a command as a user gives it, in a process of its own: ``run`` by two processes and again where nothing is
missing, ``grade`` and again where nothing has changed. With a Python that has Ray, the same run on one actor and on
two, whose ratio counts. Memory is the peak of the largest process of each part.
"""

import argparse
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from sandbox_scenarios import Suite

from sandbox_mcp.engine.trajectory.packs import PACKED

SESSIONS = 100_000


@dataclass(frozen=True, slots=True)
class CommandCost:
    """What one command took: seconds by the clock, seconds of CPU of it and its children, and its peak memory."""

    seconds: float
    cpu: float
    megabytes: float


def part(python: str, *arguments: str) -> CommandCost:
    """Run one command to its end."""
    began = time.monotonic()
    process = subprocess.Popen(
        [python, "-m", "sandbox_mcp.app.cli", *arguments],
        stdout=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"'{' '.join(arguments)}' ended with {process.returncode}")
    return CommandCost(time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def show(what: str, taken: CommandCost, sessions: int) -> None:
    """One line of the table."""
    print(
        f"{what:<34} {taken.seconds:8.1f} s {sessions / taken.seconds:9.0f} sessions/s "
        f"{taken.cpu:8.1f} s CPU {taken.megabytes:8.0f} MB",
        flush=True,
    )


def main(arguments: list[str]) -> None:
    """Measure everything once, at the size that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench scale")
    parser.add_argument("sessions", nargs="?", type=int, default=SESSIONS)
    parser.add_argument("--ray", metavar="PYTHON", help="An interpreter that has Ray, such as .venv-ray/bin/python.")
    asked = parser.parse_args(arguments)
    trials = max(1, round(asked.sessions / len(Suite().names())))
    sessions = trials * len(Suite().names())
    with TemporaryDirectory() as place:
        out = Path(place) / "run"
        how = (
            "--agent",
            "reference",
            "--transport",
            "direct",
            "--trials",
            str(trials),
            "--pack",
            "--no-bounds",
            "--quiet",
        )

        def play(where: Path, *executor: str, python: str = sys.executable) -> CommandCost:
            return part(python, "run", *how, *executor, "--out", str(where))

        print(f"{sessions} sessions of the suite, {os.cpu_count()} cores")
        show("run, two processes", play(out, "--executor", "processes", "--jobs", "2"), sessions)
        packs = sum(path.stat().st_size for path in (out / "logs").glob(f"*{PACKED}"))
        print(f"{'packed':<34} {packs / sessions:8.0f} bytes a session")
        show("the same command again", play(out), sessions)
        show("grade", part(sys.executable, "grade", str(out), "--no-bounds", "--quiet"), sessions)
        show("grade again", part(sys.executable, "grade", str(out), "--no-bounds", "--quiet"), sessions)
        scores = (out / "logs" / ".scores.db").stat().st_size
        print(f"{'scores kept':<34} {scores / sessions:8.0f} bytes a session")
        if asked.ray:
            with_ray = [
                play(Path(place) / f"ray{count}", "--executor", "ray", "--ray-actors", str(count), "--jobs", "1",
                     python=asked.ray)
                for count in (1, 2)
            ]  # fmt: skip
            for count, taken in enumerate(with_ray, start=1):
                show(f"run, Ray, {count} actor{'s' * (count > 1)}", taken, sessions)
            print(f"{'two actors against one':<34} {with_ray[0].seconds / with_ray[1].seconds:8.2f}x")
