"""What came of a run, in one document: per scenario, by category, and overall.

Policy: means are over scored sessions only, first within a scenario and variant, then over those, so that a scenario
with more trials does not count more. Next to every mean stands what the refusing agent gets there.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sandbox_mcp.run.scores import MODE, Score, Tokens

DIGITS = 6


def summarise(scores: Sequence[Score], planned: int) -> dict[str, Any]:
    """The summary of a run of ``planned`` sessions, of which ``scores`` are done, in any order."""
    ordered = sorted(scores, key=lambda item: (item.scenario, item.variant, item.trial))
    rows = [_row(group) for group in _groups(ordered)]
    return {
        "mode": MODE,
        "sessions": {
            "planned": planned,
            "played": len(ordered),
            "scored": sum(item.similarity is not None for item in ordered),
            "unscored": sum(item.similarity is None for item in ordered),
        },
        "similarity": _mean(row["similarity"] for row in rows),
        "refusal": _mean(row["refusal"] for row in rows if row["scored"]),
        "endings": _endings(ordered),
        "tokens": {
            "agent": sum((item.agent_tokens for item in ordered), Tokens()).to_json(),
            "user": sum((item.user_tokens for item in ordered), Tokens()).to_json(),
        },
        "categories": _categories(rows),
        "scenarios": rows,
        "failures": [_failure(item) for item in ordered if item.similarity is None],
    }


def _groups(scores: Iterable[Score]) -> Iterable[Sequence[Score]]:
    groups: dict[tuple[str, str], list[Score]] = {}
    for item in scores:
        groups.setdefault((item.scenario, item.variant), []).append(item)
    return groups.values()


def _row(group: Sequence[Score]) -> dict[str, Any]:
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


def _failure(item: Score) -> dict[str, Any]:
    return {"scenario": item.scenario, "variant": item.variant, "trial": item.trial, "reason": item.reason}


def _endings(scores: Iterable[Score]) -> dict[str, int]:
    return dict(sorted(Counter(item.ending for item in scores).items()))


def _mean(numbers: Iterable[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return round(sum(known) / len(known), DIGITS) if known else None
