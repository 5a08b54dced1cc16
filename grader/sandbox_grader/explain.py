"""One graded session as text: which event met which milestone, what was missing, and what it adds up to.

Policy: a line is read by somebody who has seen the conversation and nothing of the code. Events are named by their
number in the log.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sandbox_grader.scores import Scores

Detail = Mapping[str, Any]


def explain(scores: Scores) -> str:
    """A table of milestones, then minefields and unwanted changes, then the score and what it stands beside."""
    return "\n".join(_lines(scores)) + "\n"


def _lines(scores: Scores) -> Iterator[str]:
    yield f"{scores.scenario or scores.session} ({scores.variant}), graded {scores.mode}"
    verdict = scores.verdicts.get("toolsandbox")
    if verdict is None or verdict.inconclusive is not None:
        yield f"milestones: inconclusive, {verdict.inconclusive if verdict else 'not graded'}"
        return
    yield from _table(("milestone", "event", "score", ""), _rows(verdict.details))
    yield from _harm(verdict.details)
    yield from _summary(verdict.values)
    yield from _conduct_of_user(scores)
    if scores.spoiled:
        yield f"not scored: {scores.reason}"


def _rows(details: Iterable[Detail]) -> Iterator[tuple[str, str, str, str]]:
    for item in details:
        if item["kind"] == "milestone":
            event = "-" if item["seq"] is None else f"#{item['seq']}"
            reasons = [_reason(reason) for reason in item["reasons"]]
            otherwise = "met" if item["effective"] >= 1 else "not met" if item["seq"] is None else "met in part"
            yield item["id"], event, f"{item['effective']:.2f}", reasons[0] if reasons else otherwise
            yield from (("", "", "", reason) for reason in reasons[1:])


def _reason(reason: Detail) -> str:
    return reason["text"] if reason["seq"] is None else f"{reason['text']} (#{reason['seq']})"


def _harm(details: Iterable[Detail]) -> Iterator[str]:
    for item in details:
        if item["kind"] == "minefield":
            met = f"met at #{item['seq']}, which voids the score" if item["met"] else "not met"
            yield f"minefield {item['id']}: {met}"
        elif item["kind"] == "unwanted":
            yield f"unwanted: {item['text']} (#{item['seq']}), which voids the score"


def _conduct_of_user(scores: Scores) -> Iterator[str]:
    verdict = scores.verdicts.get("user_conduct")
    for item in verdict.details if verdict else ():
        yield f"user: {item['kind']} (#{item['event']}), {item['words']!r}: {item['why']}"


def _summary(values: Mapping[str, Any]) -> Iterator[str]:
    yield f"score {values['score']:.3f}   milestones {values['milestones']:.3f}   turns {values['turn_count']}"
    corrected = values["corrected"]
    above = "; refusing already earns everything" if corrected is None else f"; corrected for refusing {corrected:.3f}"
    yield f"doing nothing earns {values['idle']:.3f}, refusing {values['refusal']:.3f}{above}"
    if not values["scored"]:
        yield f"not scored: {values['reason']}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    for line in lines:
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
