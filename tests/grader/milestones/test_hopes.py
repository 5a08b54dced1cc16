"""Sets of bits against the tables they stand for."""

from typing import Any

import pytest
from hypothesis import given, settings
from sandbox_grader.milestones.assignment import assign
from sandbox_grader.milestones.judges import Compare, TableJudge, fields_of
from sandbox_grader.milestones.timeline import Timeline
from sandbox_scenarios.model import TableConstraint

from tests.grader.milestones.plays import Steps, play, steps
from tests.grader.milestones.sessions import Play, reminder, row, state
from tests.laws import at_least

PLAIN = Compare(lambda _: ())
CONSTRAINTS = {
    "is": state("setting", "is", row(wifi=False)),
    "adds": state("reminder", "adds", row(content="milk")),
    "adds two": state("reminder", "adds", row(content="milk"), row(content="milk and bread")),
    "removes": state("contact", "removes", row(name="Ann")),
    "updates": state("contact", "updates", row(phone_number="+9")),
    "updates nothing": state("contact", "updates"),
}


def by_the_tables(constraint: TableConstraint, judge: TableJudge, timeline: Timeline, now: int, then: int) -> float:
    """The rule as it is stated, from the rows themselves."""
    rows = [row_ for _, row_ in judge.candidates(now, then)]
    if constraint.kind == "is" and len(timeline.tables(constraint.table)[now]) != len(constraint.rows):
        return 0.0
    if len(rows) < len(constraint.rows):
        return 0.0
    values = [[fields_of(target, row_, PLAIN) for row_ in rows] for target in constraint.rows]
    return assign(values)[0] if values else 1.0


def versions(timeline: Timeline, constraint: TableConstraint) -> range:
    return range(len(timeline.tables(constraint.table)))


@pytest.mark.parametrize("name", list(CONSTRAINTS))
@settings(max_examples=at_least(20), deadline=None)
@given(todo=steps())
def test_values_are_those_of_the_tables(name: str, todo: Steps):
    constraint, timeline = CONSTRAINTS[name], Timeline(play(todo).done())
    judge = TableJudge(constraint, timeline, None)
    for then in versions(timeline, constraint):
        found = judge.values(versions(timeline, constraint), then, PLAIN)
        for now, value in found.items():
            assert value == pytest.approx(by_the_tables(constraint, judge, timeline, now, then))
            assert judge.value(now, then, PLAIN, fleeting=True) == pytest.approx(value)


def test_only_the_best_few_of_many_rows_are_compared(monkeypatch: pytest.MonkeyPatch):
    """Two rows are wanted; the best two for each of them are enough, however many there are."""
    played = Play()
    for number in range(30):
        played.changes("add", "reminder", f"n{number}", reminder(f"n{number}", f"bread number {number}"))
    constraint = state("reminder", "adds", row(content="bread number 3"), row(content="bread number 4"))
    judge, widths = TableJudge(constraint, Timeline(played.done()), None), list[int]()

    def watched(values: Any) -> Any:
        widths.append(len(values[0]))
        return assign(values)

    monkeypatch.setattr("sandbox_grader.milestones.judges.assign", watched)
    assert judge.value(30, 0, PLAIN) == 1.0
    assert max(widths) <= 4
