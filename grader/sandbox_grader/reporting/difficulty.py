"""Difficulty of scenarios by what agents did: the share of sessions that solved each, with its interval.

Policy: a session solves its scenario with a score of 1 in ``strict``. Sessions of a scenario that has changed since say
nothing of it as it is now, and sessions that were spoiled or could not be scored say nothing of an agent; they are
counted as left out. Instances count for the scenario that they are of.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

from sandbox_scenarios.instances import family_of
from sandbox_scenarios.tiers import tier_of

from sandbox_grader.grading.scores import SCORE, grade
from sandbox_grader.reporting.scenario_of_log import Find
from sandbox_grader.reporting.statistics import LEVEL_Z, PASS
from sandbox_mcp.engine.trajectory import read_trajectory


@dataclass(frozen=True, slots=True)
class Attempt:
    """One session that counts: who played which scenario in which tier, and whether it was solved."""

    scenario: str
    tier: str
    player: str
    solved: bool


def attempts(logs: Iterable[Path], find: Find, player: str = "") -> tuple[list[Attempt], int]:
    """The sessions of logs that count, and how many were left out; without a player's name, that of agent and model.

    Raises what reading and grading raise.
    """
    found, left_out = list[Attempt](), 0
    for path in logs:
        log = read_trajectory(path)
        scenario = find(log.started.scenario)
        if scenario is None or log.started.digest != scenario.digest:
            left_out += 1
            continue
        value = grade(log, scenario).value(SCORE)
        if value is None:
            left_out += 1
            continue
        agent = log.started.agent
        who = player or " ".join(str(part) for part in (agent.get("name"), agent.get("model")) if part)
        found.append(Attempt(family_of(scenario.name), tier_of(scenario), who, value >= PASS))
    return found, left_out


def wilson(solved: int, sessions: int) -> tuple[float, float]:
    """The 95 % interval of a share, also where it is 0 or 1.

    Source: Wilson 1927, Probable inference, the law of succession, and statistical inference.
    """
    share, square = solved / sessions, LEVEL_Z**2
    middle = (share + square / (2 * sessions)) / (1 + square / sessions)
    half = LEVEL_Z * sqrt(share * (1 - share) / sessions + square / (4 * sessions**2)) / (1 + square / sessions)
    return max(0.0, middle - half), min(1.0, middle + half)


def difficulty(found: Sequence[Attempt], left_out: int = 0) -> dict[str, Any]:
    """Sessions, players and solved share by tier and by scenario, as one JSON object."""
    tiers: dict[str, list[Attempt]] = {}
    scenarios: dict[str, list[Attempt]] = {}
    for one in found:
        tiers.setdefault(one.tier, []).append(one)
        scenarios.setdefault(one.scenario, []).append(one)
    return {
        "sessions": len(found),
        "left_out": left_out,
        "tiers": {name: _figures(items) for name, items in sorted(tiers.items())},
        "scenarios": {name: {"tier": items[0].tier, **_figures(items)} for name, items in sorted(scenarios.items())},
    }


def _figures(items: Sequence[Attempt]) -> Mapping[str, Any]:
    solved = sum(one.solved for one in items)
    low, high = wilson(solved, len(items))
    return {
        "sessions": len(items),
        "players": sorted({one.player for one in items}),
        "solved": round(solved / len(items), 3),
        "interval": [round(low, 3), round(high, 3)],
    }
