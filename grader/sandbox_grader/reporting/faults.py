"""Sessions under faults beside those without: how good an agent still is where calls go wrong, and how it copes.

Policy: a session is under faults if its variant says so. Only scenarios and variants that were played both ways are
compared.
"""

from dataclasses import dataclass, replace
from typing import Any

from sandbox_scenarios.variants import is_under_faults, undisturbed

from sandbox_grader.reporting.statistics import Estimate, PassCounts, ScoredSession, mean_score, pass_figures

MEAN = "mean"


@dataclass(frozen=True, slots=True)
class FaultSides:
    """Figures of the same scenarios without and under faults: the mean, pass@k and pass^k by name."""

    without: dict[str, Estimate | None]
    under: dict[str, Estimate | None]

    def to_json(self) -> dict[str, Any]:
        """Both sides as one JSON object."""
        sides = {"without": self.without, "under": self.under}
        return {
            side: {name: found and found.to_json() for name, found in given.items()} for side, given in sides.items()
        }


def fault_sides(sessions: list[ScoredSession]) -> FaultSides | None:
    """Both sides of a run; None where no scenario and variant was played both ways."""
    under = [replace(item, variant=_plain(item.variant)) for item in sessions if is_under_faults(item.variant)]
    without = [item for item in sessions if not is_under_faults(item.variant)]
    both = {(item.scenario, item.variant) for item in under} & {(item.scenario, item.variant) for item in without}
    sides = ([item for item in side if (item.scenario, item.variant) in both] for side in (without, under))
    return FaultSides(*map(_figures, sides)) if both else None


def _figures(sessions: list[ScoredSession]) -> dict[str, Estimate | None]:
    return {MEAN: mean_score(sessions), **pass_figures(PassCounts.of(sessions))}


def _plain(variant: str) -> str:
    return undisturbed(variant)
