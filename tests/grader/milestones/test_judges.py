"""Single constraints against single events and states."""

from itertools import pairwise
from typing import Any

import pytest
from sandbox_grader.milestones.judges import (
    FAVOURABLE,
    Compare,
    Lasting,
    TableJudge,
    fields_of,
    is_candidate,
    judge_event,
    judge_pattern,
)  # fmt: skip
from sandbox_grader.milestones.timeline import Timeline
from sandbox_scenarios.model import CallConstraint, CallPattern, Expected, ValueRef

from tests.each import each
from tests.grader.milestones.sessions import PHONE, Play, call, contact, reminder, row, say, state

PLAIN = Compare(lambda _: ())
REF = Expected(ref=ValueRef("other"))


def judge(constraint: Any, played: Play, lasting: Lasting | None = None) -> TableJudge:
    return TableJudge(constraint, Timeline(played.done()), lasting)


def last(played: Play) -> Any:
    return played.events[-1]


class TestFields:
    def test_the_geometric_mean_of_the_named_ones(self):
        wanted = row(name="Ann", content="one two three four")
        assert fields_of(wanted, {"name": "Ann", "content": "one two three five"}, PLAIN) == pytest.approx(0.75**0.5)

    def test_one_that_is_wrong_makes_it_nothing(self):
        assert fields_of(row(name="Ann", phone="+1"), {"name": "Ann", "phone": "+2"}, PLAIN) == 0

    def test_an_absent_one_is_null(self):
        assert fields_of(row(name=None), {}, PLAIN) == 1
        assert fields_of(row(name="Ann"), {}, PLAIN) == 0

    def test_nothing_named_is_met(self):
        assert fields_of({}, {"name": "Ann"}, PLAIN) == 1


class TestCompare:
    def test_values_from_elsewhere_are_looked_up(self):
        assert Compare(lambda _: (1, 2))(REF, "x", 2) == 1
        assert Compare(lambda _: ())(REF, "x", 2) == 0

    def test_or_taken_for_right(self):
        assert FAVOURABLE(REF, "x", 2) == 1
        assert FAVOURABLE(Expected(value=1), "x", 2) == 0

    def test_the_favourable_one_still_sees_what_needs_no_value(self):
        assert FAVOURABLE(Expected("facts", (("off",),), avoid=("on",)), "content", "it is on") == 0


class TestEvents:
    def test_by_kind(self):
        message, called = last(Play().says("hi")), last(Play().calls("search"))
        found = [judge_event(item, event, PLAIN) for item in (say("hi"), call("search")) for event in (message, called)]
        assert found == [1, 0, 0, 1]

    def test_messages_by_their_two_ends(self):
        event = last(Play().says("hi"))
        ends = [("agent", "user"), ("user", "agent"), ("agent", "agent")]
        assert [judge_event(say("hi", *pair), event, PLAIN) for pair in ends] == [1, 0, 0]

    def test_calls_by_the_best_pattern(self):
        either = CallConstraint((CallPattern("send", row(content="x")), CallPattern("send", row(content="see you"))))
        assert judge_event(either, last(Play().calls("send", content="see you")), PLAIN) == 1

    def test_a_constraint_without_patterns_is_never_met(self):
        assert judge_event(CallConstraint(()), last(Play().calls("send")), PLAIN) == 0

    def test_candidates(self):
        events = [last(Play().calls("x", **how)) for how in ({}, {"error": "E"}, {"caller": "user"})]
        assert [is_candidate(call("x"), event) for event in events] == [True, False, False]
        assert [is_candidate(call("x", attempt=True), event) for event in events] == [True, True, False]

    def test_the_tool_must_be_the_one(self):
        event = last(Play().calls("search_contacts"))
        assert judge_pattern(CallPattern("search", {}), event, PLAIN) == 0


class TestStates:
    added = state("reminder", "adds", row(content="milk", reminder_timestamp=5.0))

    def played(self) -> Play:
        return Play().changes("add", "reminder", "a", reminder("a", "milk", 5.0))

    def test_versions_in_and_a_number_out(self):
        found = judge(self.added, self.played())
        assert [found.value(state_, 0, PLAIN) for state_ in (0, 1)] == [0, 1]
        assert found.value(1, 1, PLAIN) == 0

    def test_which_rows_they_are(self):
        found = judge(self.added, self.played())
        assert found.rows(1, 0, PLAIN) == ("a",)
        assert found.rows(0, 0, PLAIN) == ()
        assert [key for key, _ in found.candidates(1, 0)] == ["a"]

    def test_a_guardrail_is_about_no_row(self):
        quiet = judge(state("contact", "unchanged"), Play())
        assert quiet.value(0, 0, PLAIN) == quiet.value(0, None, PLAIN) == 1
        assert quiet.rows(0, 0, PLAIN) == ()

    def test_ceilings_ask_only_what_is_there(self):
        found = judge(self.added, self.played())
        assert [found.value(state_, None, FAVOURABLE) for state_ in (0, 1)] == [0, 1]
        gone = judge(state("contact", "removes", row(name="Ann")), Play().changes("rm", "contact", "c1", None))
        assert [gone.value(state_, None, FAVOURABLE) for state_ in (0, 1)] == [0, 1]

    @each(
        ("kind", "wanted", "told"),
        [
            ("adds", row(content="milk"), [True, True]),
            ("adds", row(content="bread"), [False, False]),
            ("removes", row(content="milk"), [True, True]),
            ("updates", row(content="milk"), [False, False]),
        ],
    )
    def test_references_are_told_apart_by_rows_that_could_matter(self, kind: str, wanted: Any, told: list[bool]):
        played = Play().changes("add", "reminder", "a", reminder("a", "milk"))
        played.changes("add", "reminder", "b", reminder("b", "milk shake"))
        found = [judge(state("reminder", kind, wanted), played).eligible(version) for version in range(3)]
        assert [before != after for before, after in pairwise(found)] == told

    def test_rows_without_expectations(self):
        assert judge(state("contact", "is"), Play()).value(0, 0, PLAIN) == 0
        empty = judge(state("messaging", "is"), Play())
        assert empty.value(0, 0, PLAIN) == 1


class TestLasting:
    def test_nothing_need_last_without_it(self):
        gone = Play().changes("add", "reminder", "a", reminder("a", "milk")).changes("rm", "reminder", "a", None)
        wanted = state("reminder", "adds", row(content="milk"))
        assert judge(wanted, gone).value(1, 0, PLAIN) == 1
        assert judge(wanted, gone, Lasting()).value(1, 0, PLAIN) == 0
        assert judge(wanted, gone, Lasting()).value(1, 0, PLAIN, fleeting=True) == 1
        assert judge(wanted, gone, Lasting(rows=False)).value(1, 0, PLAIN) == 1

    def test_columns_that_are_set_again(self):
        to_and_fro = Play().sets(wifi=False).sets(wifi=True)
        wanted = state("setting", "is", row(wifi=False))
        assert judge(wanted, to_and_fro, Lasting()).value(1, 0, PLAIN) == 0
        assert judge(wanted, to_and_fro, Lasting(frozenset({"wifi"}))).value(1, 0, PLAIN) == 1

    def test_cells_at_the_end(self):
        found = judge(state("setting", "is", row(wifi=False)), Play().sets(wifi=False).sets(wifi=True), Lasting())
        assert found.at_end(PHONE, "wifi", False) is True
        assert found.at_end("elsewhere", "wifi", False) is False

    def test_removed_rows_stay_away_whatever_else_is_removed(self):
        back = Play().changes("rm", "contact", "c1", None).changes("add", "contact", "c1", contact("c1"))
        assert not judge(state("contact", "removes", row(name="Ann")), back, Lasting(rows=False)).lasts("c1")
