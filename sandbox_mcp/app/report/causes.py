"""Reasons for which a session did not get everything, in words for people, and in groups that can be counted.

Policy: what voids a score comes before what was missed. A milestone that only rests on another is not named, because
the other one is. The group names the kind of fault and leaves out names and numbers, so that like faults meet.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sandbox_grader import Scores

from sandbox_mcp.engine.trajectory import Trajectory

State = Literal["passed", "part", "failed", "voided", "unscored", "spoiled"]
FULL = 1 - 1e-9

_Detail = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason: its kind, the event it is about, what happened, and the group it is counted in.

    ``undone`` is the event that took back what had been right before; ``voids`` says that the whole score is lost.
    """

    kind: str
    text: str
    group: str
    seq: int | None = None
    level: Literal["bad", "warn"] = "bad"
    undone: int | None = None
    voids: bool = False


def state_of(scores: Scores) -> State:
    """State of a session in one word."""
    if not scores.scored:
        return "spoiled" if scores.spoiled else "unscored"
    score = scores.score
    if score is None:
        return "unscored"
    if score >= FULL:
        return "passed"
    if any(cause.voids for cause in _harm(milestone_details(scores))):
        return "voided"
    return "part" if score > 0 else "failed"


def verdict_of(scores: Scores) -> str:
    """Verdict on a session in a few words."""
    found = milestone_details(scores)
    milestones = [item for item in found if item["kind"] == "milestone"]
    met = sum(item["effective"] >= FULL for item in milestones)
    state = state_of(scores)
    if state in ("unscored", "spoiled"):
        verdict = scores.verdicts.get("toolsandbox")
        why = scores.reason or (verdict and verdict.inconclusive) or "its milestones are not known"
        return f"not scored: {why}"
    if state == "voided":
        return f"voided: would be {scores.verdicts['toolsandbox'].values['milestones']:.2f}"
    return "every milestone met" if met == len(milestones) else f"{met} of {len(milestones)} milestones met"


def causes(scores: Scores, trajectory: Trajectory) -> list[Cause]:
    """Every reason why the session did not get everything, the most telling first."""
    if not scores.scored:
        kind = "spoiled" if scores.spoiled else "not scored"
        last = trajectory.events[-1].seq if trajectory.events else None
        return [Cause(kind, scores.reason or "", f"{kind}: {scores.reason}", last, "warn")]
    found = milestone_details(scores)
    return [*_harm(found), *_missed(found)]


def milestone_details(scores: Scores) -> Sequence[_Detail]:
    """Details of milestones, minefields and unwanted changes; nothing where the log does not allow it."""
    verdict = scores.verdicts.get("toolsandbox")
    return verdict.details if verdict else ()


def _harm(found: Sequence[_Detail]) -> Iterator[Cause]:
    for item in found:
        if item["kind"] == "minefield" and item["met"]:
            text = item["about"] or item["id"]
            yield Cause("minefield", f"{item['id']}: {text}", f"minefield: {item['id']}", item["seq"])
    for item in found:
        if item["kind"] == "untrue":
            yield Cause("untrue", item["text"], "untrue: what the agent left the user with", item["seq"])
    for item in found:
        if item["kind"] == "unwanted":
            voids = not item["remains"]
            group = f"unwanted change: {item['tool']} {item['change']} {item['table']}"
            yield Cause("unwanted", item["text"], group, item["seq"], "bad" if voids else "warn", voids=voids)


def _missed(found: Sequence[_Detail]) -> Iterator[Cause]:
    for item in found:
        if item["kind"] != "milestone" or item["effective"] >= FULL:
            continue
        undone_by = {each["constraint"]: each["undone_by"] for each in item["constraints"]}
        for reason in item["reasons"]:
            if reason["constraint"] == "after":
                continue
            seq = item["seq"] if reason["seq"] is None else reason["seq"]
            undone = undone_by.get(reason["constraint"])
            level = "warn" if item["effective"] > 0 else "bad"
            text, group = f"{item['id']}: {reason['text']}", f"milestone: {reason['constraint']}"
            yield Cause("milestone", text, group, seq, level, undone)
