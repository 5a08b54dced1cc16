"""One graded session as text: which event met which milestone, what was missing, and what every metric said.

Policy: a line is for readers who have seen the conversation and nothing of the code. Events are named by their
number in the log. Whatever family was asked is told: its figures, and each of its details that has words.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sandbox_grader.grading.metric import USUAL, Verdict
from sandbox_grader.grading.metrics import STATEFUL, USERS
from sandbox_mcp.engine.columns import columns

if TYPE_CHECKING:
    from sandbox_grader.grading.scores import Scores

_Detail = Mapping[str, Any]


def explain(scores: "Scores") -> str:
    """Milestones, minefields and unwanted changes with their score, then the figures of every other family."""
    lines = [f"{scores.scenario or scores.session} ({scores.variant}), graded {scores.mode}"]
    if (verdict := scores.verdicts.get(STATEFUL)) is not None:
        lines += _milestones(verdict)
    for item in verdict.details if (verdict := scores.verdicts.get(USERS)) else ():
        lines.append(f"user: {item['kind']} (#{item['event']}), {item['words']!r}: {item['why']}")
    for family, verdict in scores.verdicts.items():
        if family not in (STATEFUL, USERS) and verdict.inconclusive not in USUAL:
            figures = ", ".join(_figures(verdict.values)) or ("nothing found" if verdict.values else "nothing to say")
            lines.append(f"{family}: {verdict.inconclusive or figures}")
            lines += (f"  {_reason(told)}" for item in verdict.details if (told := _in_words(item)) is not None)
    if scores.reason is not None:
        lines.append(f"not scored: {scores.reason}")
    return "\n".join(lines) + "\n"


def _in_words(item: _Detail) -> _Detail | None:
    """Put a detail into words: its ``text``, or what was counted, its subject, and the event."""
    if isinstance(item.get("text"), str):
        return {"seq": item.get("seq"), "text": item["text"]}
    if isinstance(item.get("about"), str) and "count" in item:
        return {"seq": item.get("event"), "text": f"{str(item['count']).replace('_', ' ')}: {item['about']}"}
    return None


def _milestones(verdict: Verdict) -> Iterator[str]:
    if verdict.inconclusive is not None:
        yield f"milestones: inconclusive, {verdict.inconclusive}"
        return
    rows: list[tuple[str, str, str, str]] = []
    for item in (item for item in verdict.details if item["kind"] == "milestone"):
        event = "-" if item["seq"] is None else f"#{item['seq']}"
        reasons = [_reason(reason) for reason in item["reasons"]]
        otherwise = "met" if item["effective"] >= 1 else "not met" if item["seq"] is None else "met in part"
        rows.append((item["id"], event, f"{item['effective']:.2f}", reasons[0] if reasons else otherwise))
        rows += (("", "", "", reason) for reason in reasons[1:])
    yield from columns(("milestone", "event", "score", ""), rows).splitlines()
    for item in verdict.details:
        if item["kind"] == "minefield":
            met = f"met at #{item['seq']}, which voids the score" if item["met"] else "not met"
            yield f"minefield {item['id']}: {met}"
        elif item["kind"] == "unwanted":
            yield f"unwanted: {item['text']} (#{item['seq']})"
        elif item["kind"] == "untrue":
            yield f"untrue: {item['text']} (#{item['seq']})"
        elif item["kind"] == "doubt":
            yield f"in doubt: {item['fact']}: {item['text']} (#{item['seq']})"
    values = verdict.values
    turns = f"ToolSandbox's turn count {values['turn_count']}"
    yield f"score {values['score']:.3f}   milestones {values['milestones']:.3f}   {turns}"
    corrected = values["corrected"]
    above = "; refusing already earns everything" if corrected is None else f"; corrected for refusing {corrected:.3f}"
    yield f"doing nothing earns {values['idle']:.3f}, refusing {values['refusal']:.3f}{above}"


def _reason(reason: _Detail) -> str:
    return reason["text"] if reason["seq"] is None else f"{reason['text']} (#{reason['seq']})"


def _figures(values: Mapping[str, Any]) -> Iterator[str]:
    """The values that are numbers, but for counts of nothing."""
    for name, value in values.items():
        if isinstance(value, bool):
            yield f"{name} {'yes' if value else 'no'}"
        elif isinstance(value, float) or (isinstance(value, int) and value):
            yield f"{name} {value:.3f}" if isinstance(value, float) else f"{name} {value}"
