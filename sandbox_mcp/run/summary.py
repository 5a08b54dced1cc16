"""What came of a run, in one document: per scenario, by category, and overall.

Policy: means are over scored sessions only, first within a scenario and variant, then over those, so that a scenario
with more trials does not count more. Next to every mean stands what the refusing agent gets there. Sessions that their
user spoiled are named and counted by themselves, because they say something of the user and little of the agent.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sandbox_mcp.run.cost import Prices
from sandbox_mcp.run.scores import MODE, SessionScore
from sandbox_mcp.run.tokens import Spent

DIGITS = 6


def summarise(
    scores: Sequence[SessionScore], planned: int, prices: Prices | None = None, wasted: Spent | None = None
) -> dict[str, Any]:
    """The summary of a run of ``planned`` sessions, of which ``scores`` are done, in any order.

    ``wasted`` is what sessions took that were set aside.
    """
    ordered = sorted(scores, key=lambda item: (item.scenario, item.variant, item.trial))
    rows = [_row(group) for group in _groups(ordered)]
    spent, lost = sum((item.spent for item in ordered), Spent()), wasted or Spent()
    return {
        "mode": MODE,
        "sessions": {
            "planned": planned,
            "played": len(ordered),
            "scored": sum(item.similarity is not None for item in ordered),
            "unscored": sum(item.similarity is None and not item.left_out for item in ordered),
            "spoiled": sum(item.left_out for item in ordered),
        },
        "similarity": _mean(row["similarity"] for row in rows),
        "interval": _interval(ordered),
        "refusal": _mean(row["refusal"] for row in rows if row["scored"]),
        "endings": _endings(ordered),
        "tokens": {**spent.to_json(), "set_aside": lost.to_json()},
        "cost": {**prices.of(spent), "set_aside": prices.of(lost)["total"]} if prices else None,
        "categories": _categories(rows),
        "scenarios": rows,
        "failures": [_failure(item) for item in ordered if item.similarity is None and not item.left_out],
        "user_conduct": _conduct(ordered),
        "spoiled_by_user": [{**_failure(item), "reason": item.spoiled} for item in ordered if item.spoiled],
    }


def _groups(scores: Iterable[SessionScore]) -> Iterable[Sequence[SessionScore]]:
    groups: dict[tuple[str, str], list[SessionScore]] = {}
    for item in scores:
        groups.setdefault((item.scenario, item.variant), []).append(item)
    return groups.values()


def _row(group: Sequence[SessionScore]) -> dict[str, Any]:
    scored = [item for item in group if item.similarity is not None]
    return {
        "scenario": group[0].scenario,
        "variant": group[0].variant,
        "categories": list(group[0].categories),
        "sessions": len(group),
        "scored": len(scored),
        "similarity": _mean(item.similarity for item in scored),
        "refusal": round(group[0].refusal, DIGITS),
        "turns": _mean(item.turns for item in scored),
        "endings": _endings(group),
    }


def _categories(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    names = sorted({name for row in rows for name in row["categories"]})
    return {name: _category([row for row in rows if name in row["categories"]]) for name in names}


def _category(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    counted = [row for row in rows if row["scored"]]
    return {
        "scenarios": len(rows),
        "scored": sum(row["scored"] for row in rows),
        "similarity": _mean(row["similarity"] for row in counted),
        "refusal": _mean(row["refusal"] for row in counted),
    }


def _failure(item: SessionScore) -> dict[str, Any]:
    return {"scenario": item.scenario, "variant": item.variant, "trial": item.trial, "reason": item.reason}


def _conduct(scores: Iterable[SessionScore]) -> dict[str, Any]:
    """How often users did each thing wrong: of how many sessions it is known, in how many, and the share."""
    from sandbox_grader.users.metric import rates

    return rates([item.conduct for item in scores if item.conduct])


def _endings(scores: Iterable[SessionScore]) -> dict[str, int]:
    return dict(sorted(Counter(item.ending for item in scores).items()))


def interval(scores: Iterable[SessionScore]) -> tuple[float | None, float | None, float | None]:
    """The mean as the summary has it, with its 95 % interval, which takes two scenarios; None where there is none.

    Scenarios are the clusters, and the variants of one are its members.
    """
    from sandbox_grader.statistics import clustered_mean

    clusters: dict[str, list[float]] = {}
    for group in _groups(scores):
        mean = _mean(item.similarity for item in group)
        if mean is not None:
            clusters.setdefault(group[0].scenario, []).append(mean)
    if not clusters:
        return None, None, None
    found = clustered_mean(clusters)
    if found.low is None or found.high is None:
        return found.mean, None, None
    return found.mean, max(0.0, found.low), min(1.0, found.high)


def _interval(scores: Sequence[SessionScore]) -> list[float] | None:
    _, low, high = interval(scores)
    return None if low is None or high is None else [round(low, DIGITS), round(high, DIGITS)]


def _mean(numbers: Iterable[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return round(sum(known) / len(known), DIGITS) if known else None
