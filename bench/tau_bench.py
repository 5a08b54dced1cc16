"""How the metrics relate to the reward that tau-bench recorded: rank correlations over its real sessions.

Run as ``python -m bench.tau_bench [FILE...]``. Spearman's rho per metric, with a 95 % bootstrap interval that draws
tasks, because trials of one task are not independent. Seeded, so that the same files give the same numbers.
"""

import math
import os
import random
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from sandbox_grader.reporting.statistics import correlation as pearson

ROOT = Path(__file__).resolve().parent.parent
METRICS = (
    ("tooltalk", "precision"), ("tooltalk", "recall"), ("tooltalk", "soft_success"), ("tooltalk", "success"),
    ("toolscan", "iac"), ("toolscan", "iav"), ("toolscan", "ian"), ("toolscan", "iat"), ("toolscan", "rac"),
    ("toolscan", "ifn"), ("toolscan", "ife"), ("toolscan", "mean_of_seven"), ("toolscan", "success"),
    ("mtu_bench", "TS"), ("mtu_bench", "PS"), ("mtu_bench", "TN"), ("mtu_bench", "TO"), ("mtu_bench", "right"),
)  # fmt: skip
"""Family and value of what is set against the reward."""
DRAWS = 2000


@dataclass(frozen=True, slots=True)
class Point:
    """One session: its task, the reward it got, and the metrics that it has."""

    task: str
    reward: float
    values: Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True)
class Correlation:
    """Spearman's rho with its interval, of how many sessions; None where one side never varies."""

    rho: float | None
    low: float | None
    high: float | None
    sessions: int


def points(files: Sequence[Path]) -> list[Point]:
    """The sessions of tau-bench files as points; those without a reward are left out."""
    from sandbox_grader.grading.scores import grade
    from sandbox_grader.importers import importer

    from sandbox_mcp.engine.trajectory import assemble

    found: list[Point] = []
    for session in importer("tau-bench")(files):
        trajectory = assemble(session.events)
        reward = (trajectory.started.origin or {}).get("reward")
        if reward is not None:
            verdicts = grade(trajectory).verdicts
            values = {key: _number(verdicts[key[0]].values.get(key[1])) for key in METRICS}
            known = {key: value for key, value in values.items() if value is not None}
            found.append(Point(trajectory.started.scenario, float(reward), known))
    return found


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def spearman(pairs: Iterable[tuple[float, float]]) -> float | None:
    """Spearman's rho: Pearson's r of the ranks, where equal values share the mean of their ranks.

    None where there are fewer than three pairs, or one side is constant.
    """
    sides = list(zip(*pairs, strict=True))
    if not sides or len(sides[0]) < 3:
        return None
    one, two = (_ranks(side) for side in sides)
    return pearson(list(zip(one, two, strict=True)))[0]


def _ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value, from 1; equal values share the mean of their ranks."""
    ranks = [0.0] * len(values)
    below = 0
    for _, tied in groupby(sorted(range(len(values)), key=values.__getitem__), key=values.__getitem__):
        places = list(tied)
        for place in places:
            ranks[place] = below + (len(places) + 1) / 2
        below += len(places)
    return ranks


def correlation(found: Sequence[Point], metric: tuple[str, str], draws: int = DRAWS, seed: int = 0) -> Correlation:
    """One metric against the reward, with the percentile interval of a bootstrap over tasks."""
    tasks: dict[str, list[tuple[float, float]]] = {}
    for point in found:
        if metric in point.values:
            tasks.setdefault(point.task, []).append((point.values[metric], point.reward))
    groups = list(tasks.values())
    pairs = [pair for group in groups for pair in group]
    rho = spearman(pairs)
    if rho is None:
        return Correlation(None, None, None, len(pairs))
    source = random.Random(seed)
    drawn = (spearman(pair for group in source.choices(groups, k=len(groups)) for pair in group) for _ in range(draws))
    sample = sorted(value for value in drawn if value is not None)
    low, high = (sample[round(share * (len(sample) - 1))] for share in (0.025, 0.975))
    return Correlation(rho, low, high, len(pairs))


def report(found: Sequence[Point], draws: int = DRAWS) -> str:
    """The correlations as a Markdown table."""
    mean = math.fsum(point.reward for point in found) / len(found)
    lines = [
        f"{len(found)} sessions of {len({point.task for point in found})} tasks, mean reward {mean:.2f}",
        "",
        "| metric | rho | 95 % interval | sessions |",
        "|---|---|---|---|",
    ]
    for family, name in METRICS:
        result = correlation(found, (family, name), draws)
        if result.rho is None or result.low is None or result.high is None:
            lines.append(f"| {family} {name} | - | never varies | {result.sessions} |")
        else:
            interval = f"{result.low:+.2f} to {result.high:+.2f}"
            lines.append(f"| {family} {name} | {result.rho:+.2f} | {interval} | {result.sessions} |")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> None:
    """Print the table for the given files, or for all in the data folder."""
    data = Path(os.environ.get("SANDBOX_MCP_DATA") or ROOT.parent / "shared" / "data")
    files = [Path(name) for name in arguments] or sorted((data / "taubench").glob("*.json"))
    if not files:
        sys.exit(
            "no sessions of tau-bench; name files of 'historical_trajectories' in a checkout of "
            "https://github.com/sierra-research/tau-bench"
        )
    print(report(points(files)))


if __name__ == "__main__":
    main(sys.argv[1:])
