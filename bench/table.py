"""How measurements are taken and shown: CPU time of this process or of a child, medians, ratios within one run."""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """One budget: what was measured, the figure, the budget, and the ratio of the two (or to a baseline)."""

    what: str
    measured: str
    budget: str
    ratio: float

    @property
    def kept(self) -> bool:
        return self.ratio <= 1.0


def how_many(part: str, what: str, usual: int, arguments: Sequence[str]) -> int:
    """The number that a part of the benchmarks is given, ``usual`` if none; exits with 2 for anything else."""
    parser = argparse.ArgumentParser(prog=f"python -m bench {part}")
    parser.add_argument(what, nargs="?", type=int, default=usual)
    return int(getattr(parser.parse_args(arguments), what))


def median_cpu(work: Callable[[], object], repeats: int = 30, warm_up: int = 3) -> float:
    """Median CPU seconds of one call of ``work`` in this process."""
    for _ in range(warm_up):
        work()
    spent: list[float] = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return statistics.median(spent)


def child_cpu(arguments: list[str]) -> float:
    """Least CPU seconds (user and system) that a child process with these arguments takes, of five."""
    return min(_child_once(arguments) for _ in range(5))


def _child_once(arguments: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=dict(os.environ))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def show(title: str, rows: list[BudgetRow]) -> None:
    print(f"\n{title}")
    width = max(len(row.what) for row in rows)
    for row in rows:
        mark = "ok  " if row.kept else "OVER"
        print(f"  {mark} {row.what.ljust(width)}  {row.measured:>12}  budget {row.budget:<12} {row.ratio:6.2f} of it")
