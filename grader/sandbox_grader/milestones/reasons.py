"""Outcome of a session's milestones, minefields and everything else, one JSON object each.

Policy: the objects are for reports and viewers; ``text`` is for people, events are named by their number in the log.
"""

from collections.abc import Mapping
from typing import Any

from sandbox_scenarios.model import Milestone, Scenario

from sandbox_grader.milestones.compat import CompatResult
from sandbox_grader.milestones.explaining import Explainer
from sandbox_grader.milestones.matching import MatchedPlace
from sandbox_grader.milestones.phrases import shown
from sandbox_grader.milestones.strict import StrictResult, threshold
from sandbox_grader.milestones.translate import Translated
from sandbox_grader.milestones.unwanted import Unwanted, remaining

_Details = list[Mapping[str, Any]]


def details(scenario: Scenario, result: StrictResult) -> _Details:
    """The milestones of a strictly graded session, then its minefields, then the unwanted changes.

    A milestone has ``seq``, the event that met it; ``similarity``, how well; ``effective``, what of that counts; and
    ``reasons`` unless all of it does; ``constraints`` tell of each what was expected and what was found, see
    :func:`sandbox_grader.milestones.aligning.alignment`.
    """
    milestones = (Explainer(result.milestones, result.placed, n).milestone() for n in range(len(scenario.milestones)))
    events = result.minefields.timeline.events
    minefields: _Details = []
    for number, item in enumerate(scenario.minefields):
        place = result.mines.get(number)
        seq = events[place.index].seq if place and number in result.hit else None
        minefields.append(_mine(item, place.similarity if place else 0.0, threshold(item), seq))
    untrue = ({"kind": "untrue", "seq": item.seq, "text": item.text} for item in result.untruths)
    doubts = (
        {"kind": "doubt", "seq": item.seq, "id": item.milestone, "fact": item.fact, "text": item.why}
        for item in result.doubts
    )
    return [*milestones, *minefields, *map(_unwanted, result.unwanted), *untrue, *doubts]


def compat_details(scenario: Scenario, translated: Translated, result: CompatResult) -> _Details:
    """Details of each milestone and minefield in a session graded as ToolSandbox does, which gives no reasons."""

    def place(found: MatchedPlace | None) -> tuple[float, int | None]:
        met = found is not None and found.similarity > 0
        return (found.similarity, translated.seqs[found.index]) if found and met else (0.0, None)

    told: _Details = []
    for number, item in enumerate(scenario.milestones):
        similarity, seq = place(result.milestones.get(number))
        which = {"kind": "milestone", "id": item.id, "about": item.about, "seq": seq}
        met = {"similarity": round(similarity, 9), "effective": round(similarity, 9)}
        told.append({**which, **met, "reasons": [], "constraints": []})
    for number, item in enumerate(scenario.minefields):
        similarity, seq = place(result.minefields.get(number))
        told.append(_mine(item, similarity, 0.0, seq))
    return told


def _mine(item: Milestone, similarity: float, needed: float, seq: int | None) -> Mapping[str, Any]:
    return {
        "kind": "minefield",
        "id": item.id,
        "about": item.about,
        "met": seq is not None,
        "similarity": round(similarity, 9),
        "threshold": needed,
        "seq": seq,
    }


def _unwanted(item: Unwanted) -> Mapping[str, Any]:
    cells = [
        f"{name} from {shown(before)} to {shown(after)}" if item.kind == "changed" else f"{name} {shown(after)}"
        for name, (before, after) in item.columns.items()
    ]
    what = f"{item.tool} {item.kind} a row of {item.table} that was not asked for"
    remains = remaining((item,))
    cost = f"leaves {remains:.0%} of the score" if remains else "voids the score"
    return {
        "kind": "unwanted",
        "seq": item.seq,
        "tool": item.tool,
        "table": item.table,
        "row": item.row,
        "change": item.kind,
        "harm": item.harm,
        "remains": remains,
        "text": f"{': '.join((what, ', '.join(cells))) if cells else what}; this {cost}",
    }
