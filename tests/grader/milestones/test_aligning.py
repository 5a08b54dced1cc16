"""What each constraint of a milestone was held against, in structure."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.milestones.aligning import LONG
from sandbox_scenarios.model import Expected, ValueRef

from tests.grader.milestones.sessions import Play, call, facts, milestone, reminder, row, say, state
from tests.grader.milestones.test_explaining import OFF, details


def aligned(played: Play, *milestones: Any) -> list[Any]:
    """The constraints of the last milestone."""
    return details(played, *milestones)[len(milestones) - 1]["constraints"]


def test_a_state_is_blamed_on_the_event_that_wrote_it_and_not_on_the_one_that_met_the_milestone():
    told = milestone("both", state("setting", "is", row(wifi=False)), say(facts(("off",))))
    wifi, words = aligned(Play().sets(wifi=False).says("Wifi is off."), told)
    assert (wifi["seq"], wifi["caused_by"], words["caused_by"]) == (3, 2, 3)
    assert wifi["found"]["rows"] == [{"wifi": False}]
    assert wifi["expected"]["rows"] == [{"wifi": {"measure": "exact", "value": False}}]


def test_what_was_undone_names_the_event_and_what_became_of_it():
    [found] = aligned(Play().sets(wifi=False).sets(cellular=False).sets(wifi=True), OFF)
    assert (found["similarity"], found["caused_by"], found["undone_by"]) == (0.0, 2, 4)
    assert (found["found"]["rows"], found["found"]["at_end"]) == ([{"wifi": False}], [{"wifi": True}])


def test_a_row_that_is_gone_is_null_in_the_end():
    added = milestone("added", state("reminder", "adds", row(content="bread")))
    played = Play().changes("add", "reminder", "n", reminder("n", "bread")).changes("rm", "reminder", "n", None)
    [found] = aligned(played, added)
    assert (found["undone_by"], found["found"]["at_end"]) == (3, [None])


def test_what_only_served_for_a_while_is_not_called_undone():
    means = milestone("means", state("setting", "is", row(wifi=False)), transient=True)
    [found] = aligned(Play().sets(wifi=False).sets(wifi=True), means)
    assert (found["similarity"], found["undone_by"]) == (1.0, None)


def test_an_unmet_row_shows_the_nearest_and_who_wrote_it():
    added = milestone("added", state("reminder", "adds", row(content="bread", reminder_timestamp=100.0)))
    played = Play().changes("add", "reminder", "a", reminder("a", "milk", 5.0))
    played.changes("add", "reminder", "b", reminder("b", "bread", 105.0))
    [found] = aligned(played, added)
    assert found["found"]["rows"] == [{"content": "bread", "reminder_timestamp": 105.0}]
    assert (found["seq"], found["caused_by"]) == (None, 3)


def test_what_must_stay_as_it_was_names_the_event_that_changed_it():
    kept = milestone("kept", state("contact", "unchanged"), say("bye"))
    changed, _ = aligned(Play().changes("rm", "contact", "c1", None).says("bye"), kept)
    assert (changed["similarity"], changed["undone_by"]) == (0.0, 2)


def test_a_call_with_its_arguments_and_where_they_were_to_come_from():
    sought = milestone("sought", call("search", name="Ann"))
    ref = Expected(ref=ValueRef("sought", "result", (0, "phone")))
    sent = milestone("sent", call("send", to=ref), after=("sought",))
    played = Play().calls("search", [{"phone": "+1"}], name="Ann").calls("send", to="+2")
    [found] = aligned(played, sought, sent)
    assert found["expected"] == {
        "tool": "send", "arguments": {"to": {"measure": "exact", "from": "sought", "any_of": ["+1"]}},
    }  # fmt: skip
    assert found["found"] == {"tool": "send", "arguments": {"to": "+2"}}
    assert (found["similarity"], found["seq"]) == (0.0, 3)


def test_a_call_that_failed_says_so():
    [found] = aligned(Play().calls("send", error="no signal", to="+1"), milestone("sent", call("send", to="+1")))
    assert found["found"]["error"].startswith("no signal: ")
    assert found["similarity"] == 0.0


def test_what_never_happened_is_null():
    [found] = aligned(Play(), milestone("sent", call("send", to="+1")))
    assert (found["found"], found["seq"], found["caused_by"]) == (None, None, None)


@given(st.recursive(st.text() | st.integers() | st.booleans() | st.none(), lambda inner: st.lists(inner), max_leaves=9))
def test_any_value_can_be_written_and_stays_short(value: Any):
    played = Play().calls("send", to=[value, "x" * 5000, 10**5000]).says("y" * 9000)
    for item in details(played, milestone("sent", call("send", to="+1")), milestone("told", say("y"))):
        assert len(json.dumps(item, ensure_ascii=False)) < 4 * LONG + 2000
