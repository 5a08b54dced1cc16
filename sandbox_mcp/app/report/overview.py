"""A run at a glance: how good and how sure, what went wrong most, where, and at what cost.

Policy: figures are the grader's, with the grader's intervals over scenarios. A cause is counted once a session, the
first one, so that the counts add up to the sessions that did not get everything.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sandbox_grader.grading.scores import SCORE
from sandbox_grader.grading.spending import Prices, Spent
from sandbox_grader.papers.toolscan.scores import PATTERNS
from sandbox_grader.reporting.blind_replay import blind_replay
from sandbox_grader.reporting.faults import fault_sides
from sandbox_grader.reporting.statistics import (
    PASS,
    Estimate,
    ScoredSession,
    by_cell,
    compare,
    mean_score,
    pass_at,
    pass_hat,
)

from sandbox_mcp.app.report.index import Index
from sandbox_mcp.app.report.run_sources import RunSource
from sandbox_mcp.app.run.folder import SUMMARY
from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.plurals import counted

MOST = 8
"""How many causes, milestones and kinds of error are listed."""
FOOT = "Made by sandbox-mcp. This page holds whole conversations and loads nothing from anywhere."

_Rows = Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class _Missed:
    scenario: str
    name: str
    kind: str
    why: str
    session: str


def overview(index: Index, title: str) -> dict[str, Any]:
    """All runs of an index, as the page expects them."""
    runs = [
        {**index.kept(source, partial(run_overview, index, source)), "ceiling": _ceiling(source, index.reading.mode)}
        for source in reversed(index.runs())
    ]
    return {"title": title, "foot": FOOT, "runs": runs}


def run_overview(index: Index, source: RunSource) -> dict[str, Any]:
    """One run, as the page expects it."""
    rows = list(index.facts(source.key))
    manifest = source.manifest
    trials = int(manifest.get("trials") or 1 + max((row["trial"] or 0 for row, _ in rows), default=0))
    variants = list(manifest.get("variants") or sorted({row["variant"] or "base" for row, _ in rows}))
    outcomes = _outcomes(rows)
    ks = sorted({1, min(map(len, by_cell(outcomes).values()), default=1)})
    sides = fault_sides(outcomes)
    passes = [(f"pass^{k}", pass_hat(k, outcomes)) for k in ks] + [(f"pass@{k}", pass_at(k, outcomes)) for k in ks[1:]]
    if sides is not None:
        passes += [(f"pass^{k} without faults", sides.without.get(f"pass^{k}")) for k in ks]
        passes += [(f"pass^{k} under faults", sides.under.get(f"pass^{k}")) for k in ks]
    floors = [row["floor"] for row, _ in rows if row["score"] is not None and row["floor"] is not None]
    planned = len(manifest.get("scenarios") or ()) * len(variants) * trials
    spent = sum((Spent.from_json(facts.get("spent") or {}) for _, facts in rows), Spent())
    states = Counter(row["state"] for row, _ in rows)
    causes = Counter(row["cause_group"] for row, _ in rows if row["cause_group"])
    agent: Mapping[str, Any] = manifest.get("agent") or {}
    user: Mapping[str, Any] = manifest.get("user") or {}
    versions: Mapping[str, Any] = manifest.get("versions") or {}
    prices = Prices.from_json(manifest.get("prices"))
    return {
        "key": source.key,
        "name": source.key,
        "agent": str(agent.get("name", "")),
        "model": str(agent.get("model", "") or ""),
        "user": str(user.get("kind", "")),
        "date": _date(source),
        "versions": ", ".join(f"{name} {value}" for name, value in versions.items()),
        "mode": index.reading.mode,
        "variants": variants,
        "trials": trials,
        "score": _estimate(mean_score(outcomes)) if outcomes else None,
        "floor": sum(floors) / len(floors) if floors else None,
        "blind_replay": _blind_replay(index, rows),
        "pass": [{"name": name, "value": found.mean} for name, found in passes if found and outcomes],
        "counts": {
            "planned": max(planned, len(rows)),
            "sessions": len(rows),
            "scored": len(outcomes),
            "unscored": states["unscored"],
            "spoiled": states["spoiled"],
        },
        "cost": prices.of(spent)["total"] if prices.tell(spent) else None,
        "tokens": spent.tokens or None,
        "seconds": sum(facts.get("seconds") or 0.0 for _, facts in rows) or None,
        "running": planned > len(rows) and bool(rows),
        "causes": [{"group": group, "sessions": number} for group, number in causes.most_common(MOST)],
        "milestones": _milestones(rows),
        "heat": _heat(rows, variants),
        "errors": _errors(rows),
        "sample": None,
    }


def comparison(index: Index, a: str, b: str) -> dict[str, Any]:
    """Run B against run A: the paired difference, and every pair of sessions of one scenario, variant and trial."""
    both: list[dict[tuple[str, str, int], Mapping[str, Any]]] = [{}, {}]
    for rows, run in zip(both, (a, b), strict=True):
        for row in index.rows(run):
            rows[str(row["scenario"] or row["id"]), str(row["variant"] or ""), int(row["trial"] or 0)] = row
    outcomes = [_outcomes([(row, {}) for row in rows.values()]) for rows in both]
    pairs: list[dict[str, Any]] = []
    for place in sorted({**both[0], **both[1]}):
        sides = {side: rows.get(place, {}) for side, rows in zip("ab", both, strict=True)}
        scores = {side: row.get("score") for side, row in sides.items()}
        ids = {f"id_{side}": row.get("id") for side, row in sides.items()}
        pairs.append({**dict(zip(("scenario", "variant", "trial"), place, strict=True)), **scores, **ids})
    only = sum(pair["a"] is None or pair["b"] is None for pair in pairs)
    found: dict[str, Any] = {"a": a, "b": b, "difference": None, "mcnemar": None, "smallest": None, "pairs": pairs}
    found["left_out"] = f"{counted(only, 'session')} left out that the runs did not both score." if only else ""
    if any(pair["a"] is not None and pair["b"] is not None for pair in pairs):
        known = {(outcome.scenario, outcome.variant, outcome.trial): outcome for outcome in outcomes[1]}
        places = [(outcome, (outcome.scenario, outcome.variant, outcome.trial)) for outcome in outcomes[0]]
        result = compare([(outcome, known[place]) for outcome, place in places if place in known])
        found["difference"] = {"value": result.difference.mean, **_estimate(result.difference)}
        found["mcnemar"] = {"only_a": result.only_a, "only_b": result.only_b, "p": result.p_value}
        found["smallest"] = result.smallest
    return found


def _outcomes(rows: _Rows) -> list[ScoredSession]:
    return [
        ScoredSession(str(row["scenario"] or row["id"]), row["trial"] or 0, row["score"], str(row["variant"] or ""))
        for row, _ in rows
        if row["score"] is not None
    ]


def _estimate(found: Estimate) -> dict[str, Any]:
    low = found.mean if found.low is None else found.low
    high = found.mean if found.high is None else found.high
    return {**found.to_json(), "low": low, "high": high}


def _milestones(rows: _Rows) -> list[dict[str, Any]]:
    """Milestones that most sessions missed, with the most frequent reason and a session to look at.

    Where scenarios were played several times, these are milestones of single scenarios. Where each was played once,
    that would tell nothing, so like milestones of all scenarios are put together by what they ask for, such as a call
    of one tool; those that only rest on another are left out, because the other one is there.
    """
    missed: dict[tuple[str, str], list[_Missed]] = defaultdict(list)
    played: Counter[tuple[str, str]] = Counter()
    for row, facts in rows:
        if row["score"] is None:
            continue
        played.update((row["scenario"], name) for name in facts.get("milestones", ()))
        for name, why, kind in facts.get("missed", ()):
            missed[row["scenario"], name].append(_Missed(row["scenario"], name, kind, why, row["id"]))
    kinds: dict[str, list[_Missed]] = defaultdict(list)
    if max(played.values(), default=0) < 2:
        for item in (found for group in missed.values() for found in group if found.kind):
            kinds[item.kind].append(item)
        worst = sorted(kinds.values(), key=lambda found: (-len(found), found[0].kind))
    else:
        groups = sorted(missed.items(), key=lambda item: (-len(item[1]), -len(item[1]) / played[item[0]], item[0]))
        worst = [found for _, found in groups]
    return [
        {
            "kind": found[0].kind if kinds else None,
            "scenario": found[0].scenario,
            "id": found[0].name,
            "missed": len(found),
            "sessions": played[found[0].scenario, found[0].name],
            "why": Counter(item.why for item in found).most_common(1)[0][0][:300],
            "session": found[0].session,
        }
        for found in worst[:MOST]
    ]


def _heat(rows: _Rows, variants: Sequence[str]) -> dict[str, Any]:
    cells: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row, _ in rows:
        score: float | None = row["score"]
        if score is not None:
            for category in row["categories"]:
                cells[category, row["variant"]].append(score)
    categories = sorted({category for category, _ in cells})

    def cell(category: str, variant: str) -> dict[str, Any]:
        scores = cells.get((category, variant), [])
        return {"n": len(scores), "mean": sum(scores) / len(scores) if scores else None}

    grid = [[cell(category, variant) for variant in variants] for category in categories]
    return {"categories": categories, "variants": list(variants), "cells": grid}


def _errors(rows: _Rows) -> list[dict[str, Any]]:
    counts: Counter[tuple[str, str]] = Counter()
    for _, facts in rows:
        for family, errors in facts.get("errors", {}).items():
            counts.update({(family, name): number for name, number in errors.items() if name != "sum" and number})
    return [
        {"family": family.replace("_", " "), "name": PATTERNS.get(name, name).replace("_", " "), "count": number}
        for (family, name), number in counts.most_common(MOST)
    ]


def _blind_replay(index: Index, rows: _Rows) -> float | None:
    """Score of a blind replay on the scenarios that count, where it was measured on each."""
    own = index.reading.own_names() if index.reading.mode == "strict" else None
    scored = [str(row["scenario"]) for row, _ in rows if row["score"] is not None and row["scenario"]]
    return None if own is None else blind_replay(scored, own)


def _ceiling(source: RunSource, mode: str) -> float | None:
    """Score of the reference on the same scenarios, where ``run`` worked it out and it is not everything."""
    try:
        summary: Any = loads((source.path / SUMMARY).read_text(encoding="utf-8"))
        if (summary["mode"], summary["metric"]) != (mode, SCORE):
            return None
        ceiling = float(summary["bounds"]["ceiling"]["score"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return ceiling if ceiling < PASS else None


def _date(source: RunSource) -> str:
    """Time at which the run was last written to."""
    try:
        places = (source.path, source.path / "run.json", source.path / "logs")
        newest = max(path.stat().st_mtime for path in places if path.exists())
    except (OSError, ValueError):
        return ""
    return datetime.fromtimestamp(newest, UTC).strftime("%Y-%m-%d %H:%M")
