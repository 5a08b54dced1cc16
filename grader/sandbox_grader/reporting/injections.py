"""Sessions with injections into results: how often attacks succeed, and what they cost the user's own wish.

Policy: utility without an attack is counted over the scenarios and variants that were played with one as well.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sandbox_scenarios.variants import injection_in, undisturbed

if TYPE_CHECKING:
    from sandbox_grader.reporting.report import Report


def injection_figures(report: "Report") -> Mapping[str, Any] | None:
    """Shares of the family ``injections``, with ``utility_without``; None where nothing was slipped in."""
    found = report.families().get("injections")
    if found is None or report.estimate is None:
        return None
    counted = report.counted
    attacked = {(one.scenario, undisturbed(one.variant)) for one in counted if injection_in(one.variant)}
    plain = [one.passed for one in counted if (one.scenario, one.variant) in attacked]
    return {**found, "utility_without": sum(plain) / len(plain) if plain else None}


HEADERS = ("injection", "cases", "shown", "utility under attack", "attack success", "utility without")


def injection_rows(figures: Mapping[str, Any]) -> list[Sequence[object]]:
    """Rows of a table: all cases, then those of each goal and of each phrasing."""
    parts = [
        (f"{kind} {name}", shares) for kind in ("goal", "phrasing") for name, shares in figures["by"][kind].items()
    ]
    names = ("cases", "shown", "utility_under_attack", "attack_success", "utility_without")
    return [(name, *(shares.get(one) for one in names)) for name, shares in (("all", figures), *parts)]
