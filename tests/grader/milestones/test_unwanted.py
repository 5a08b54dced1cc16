"""Which changes of the phone are somebody's wish."""

from typing import Any

from sandbox_grader.milestones.strict import evaluate
from sandbox_grader.milestones.unwanted import GRADES, WHOLE, AllowedChanges, Unwanted, differing
from sandbox_scenarios.model import Scenario

from sandbox_mcp.engine.world import Change
from tests.each import each
from tests.grader.milestones.sessions import (
    PHONE,
    Play,
    call,
    contact,
    milestone,
    reminder,
    row,
    say,
    scenario,
    state,
    text,
)  # fmt: skip

OFF = milestone("off", state("setting", "is", row(wifi=False)))
NOTHING = scenario(milestone("told", say("done")))


def unwanted(asked: Scenario, played: Play) -> list[tuple[str, str, str]]:
    return [(item.table, item.row, item.kind) for item in evaluate(asked, played.done()).unwanted]


class TestWithoutAWish:
    def test_a_row_that_was_there_must_stay(self):
        assert unwanted(NOTHING, Play().changes("rm", "contact", "c1", None)) == [("contact", "c1", "removed")]

    def test_and_stay_as_it_is(self):
        played = Play().changes("edit", "contact", "c1", contact("c1", phone="+9"))
        assert unwanted(NOTHING, played) == [("contact", "c1", "changed")]

    def test_even_if_it_is_changed_back(self):
        played = Play().changes("edit", "contact", "c1", contact("c1", phone="+9"))
        played.changes("edit", "contact", "c1", contact("c1"))
        assert unwanted(NOTHING, played) == [("contact", "c1", "changed")] * 2

    def test_a_new_row_is_unwanted_once_however_often_it_is_changed(self):
        played = Play().changes("add", "reminder", "n", reminder("n"))
        played.changes("edit", "reminder", "n", reminder("n", "other"))
        assert unwanted(NOTHING, played) == [("reminder", "n", "added")]

    def test_a_row_that_came_and_went_left_nothing(self):
        played = Play().changes("add", "reminder", "n", reminder("n"))
        played.changes("edit", "reminder", "n", reminder("n", "other")).changes("rm", "reminder", "n", None)
        assert unwanted(NOTHING, played) == []

    def test_except_a_message_which_was_sent(self):
        played = Play().changes("send", "messaging", "m", text("m")).changes("rm", "messaging", "m", None)
        assert unwanted(NOTHING, played) == [("messaging", "m", "added")]

    def test_a_change_that_changes_nothing_is_none(self):
        assert unwanted(NOTHING, Play().changes("edit", "contact", "c1", contact("c1"))) == []

    def test_before_the_users_first_words_too(self):
        early = Play(opening=None).changes("rm", "contact", "c1", None).says("Go.", "user", "agent")
        assert unwanted(NOTHING, early) == [("contact", "c1", "removed")]

    @each("caller", ["user", "environment"])
    def test_what_the_user_does_and_what_happens_is_not_the_agents(self, caller: str):
        played = Play().calls("rm", caller=caller, changes=(Change("contact", "c1", contact("c1"), None),))
        assert unwanted(NOTHING, played) == []

    @each("caller", ["user", "environment"])
    def test_but_what_they_brought_is_not_the_agents_to_take_away(self, caller: str):
        played = Play().calls("add", caller=caller, changes=(Change("contact", "c9", None, contact("c9")),))
        assert unwanted(NOTHING, played) == []
        assert unwanted(NOTHING, played.calls("rm", changes=(Change("contact", "c9", contact("c9"), None),))) == [
            ("contact", "c9", "removed")
        ]


class TestWithAWish:
    def test_the_columns_that_were_asked_for(self):
        assert unwanted(scenario(OFF), Play().sets(wifi=False)) == []
        assert unwanted(scenario(OFF), Play().sets(wifi=False, cellular=False)) == [("setting", PHONE, "changed")]

    def test_and_only_the_unasked_ones_are_told(self):
        (change,) = evaluate(scenario(OFF), Play().sets(wifi=False, cellular=False).done()).unwanted
        assert change.columns == {"cellular": (True, False)}

    def test_to_and_fro_on_the_way_to_the_wish(self):
        assert unwanted(scenario(OFF), Play().sets(wifi=False).sets(wifi=True).sets(wifi=False)) == []

    def test_what_did_not_last_was_still_asked_for(self):
        assert unwanted(scenario(OFF), Play().sets(wifi=False).sets(wifi=True)) == []

    def test_what_was_never_near_the_wish_was_not(self):
        on = milestone("on", state("contact", "updates", row(person_id="c1", phone_number="+9")))
        played = Play().changes("edit", "contact", "c1", contact("c1", phone="+8"))
        assert unwanted(scenario(on), played) == [("contact", "c1", "changed")]

    def test_transient_states(self):
        brief = milestone("off", *OFF.constraints, transient=True)
        assert unwanted(scenario(brief), Play().sets(wifi=False).sets(wifi=True)) == []

    def test_an_added_row_is_wanted_whole(self):
        asked = scenario(milestone("new", state("reminder", "adds", row(content="bread"))))
        played = Play().changes("add", "reminder", "n", reminder("n", "milk"))
        assert unwanted(asked, played.changes("edit", "reminder", "n", reminder("n", "bread", 7.0))) == []

    def test_a_second_one_is_not(self):
        asked = scenario(milestone("new", state("reminder", "adds", row(content="bread"))))
        played = Play().changes("add", "reminder", "n", reminder("n", "bread"))
        played.changes("add", "reminder", "n2", reminder("n2", "bread"))
        assert unwanted(asked, played) == [("reminder", "n2", "added")]

    def test_a_removed_row_may_have_been_changed_before(self):
        asked = scenario(milestone("gone", state("contact", "removes", row(person_id="c1"))))
        played = Play().changes("edit", "contact", "c1", contact("c1", phone="+9")).changes("rm", "contact", "c1", None)
        assert unwanted(asked, played) == []

    def test_the_wrong_row_removed_and_made_anew(self):
        asked = scenario(milestone("gone", state("contact", "removes", row(person_id="c1"))))
        played = Play().changes("rm", "contact", "c2", None).changes("add", "contact", "x", contact("x", "Bob", "+2"))
        played.changes("rm", "contact", "c1", None)
        assert unwanted(asked, played) == [("contact", "c2", "removed"), ("contact", "x", "added")]

    def test_a_table_that_must_have_certain_rows(self):
        asked = scenario(milestone("only", state("contact", "is", row(name="Cy"))))
        played = Play().changes("add", "contact", "x", contact("x", "Cy"))
        played.changes("rm", "contact", "c1", None).changes("rm", "contact", "c2", None)
        assert unwanted(asked, played) == []

    def test_a_milestone_with_a_call_beside_the_table(self):
        asked = scenario(milestone("off", call("set_wifi"), *OFF.constraints))
        assert unwanted(asked, Play().sets("set_wifi", wifi=False)) == []


class TestGrades:
    """What is left of the score."""

    asked = scenario(milestone("told", say("done")))

    def left(self, played: Play) -> float:
        return evaluate(self.asked, played.says("done").done()).score

    def test_a_switch_left_different_costs_a_share(self):
        assert self.left(Play().sets(wifi=False)) == GRADES["switched"]

    def test_two_switches_cost_two(self):
        assert self.left(Play().sets(wifi=False, cellular=False)) == GRADES["switched"] ** 2

    def test_a_switch_counts_once_however_often_it_is_turned(self):
        assert self.left(Play().sets(wifi=False).sets(wifi=True).sets(wifi=False)) == GRADES["switched"]

    def test_a_switch_put_back_costs_nothing(self):
        assert self.left(Play().sets(wifi=False).sets(wifi=True)) == 1

    def test_what_was_sent_voids_the_score(self):
        assert self.left(Play().changes("send", "messaging", "m", text("m"))) == 0

    def test_so_does_what_was_lost(self):
        assert self.left(Play().changes("rm", "contact", "c1", None)) == 0

    def test_and_what_was_written_over_even_if_it_is_put_back(self):
        played = Play().changes("edit", "contact", "c1", contact("c1", phone="+9"))
        assert self.left(played.changes("edit", "contact", "c1", contact("c1"))) == 0

    def test_and_something_new_which_may_be_a_second_guess(self):
        assert self.left(Play().changes("add", "reminder", "n", reminder("n"))) == 0


class TestAllowed:
    @each(
        ("allows", "expected"),
        [
            ({"setting": ("cellular", "location_service")}, []),
            ({"setting": ("cellular",)}, [("setting", PHONE, "changed")]),
            ({"setting": ("*",)}, []),
            ({"contact": ("*",)}, [("setting", PHONE, "changed")]),
        ],
    )
    def test_side_effects(self, allows: dict[str, Any], expected: list[Any]):
        asked = scenario(OFF, allows=allows)
        assert unwanted(asked, Play().sets(wifi=False, cellular=False, location_service=False)) == expected

    def test_columns_allow_no_new_rows(self):
        played = Play().changes("add", "reminder", "n", reminder("n"))
        assert unwanted(scenario(allows={"reminder": ("content",)}), played) == [("reminder", "n", "added")]
        assert unwanted(scenario(allows={"reminder": ("*",)}), played) == []


class TestBrokenLogs:
    def test_a_change_from_nothing_to_nothing(self):
        assert unwanted(NOTHING, Play().calls("x", changes=(Change("contact", "zz", None, None),))) == []

    def test_a_table_nobody_knows(self):
        played = Play().calls("x", changes=(Change("notes", "n", None, {"text": "hi"}),))
        assert unwanted(NOTHING, played) == [("notes", "n", "added")]

    def test_a_row_that_was_never_added(self):
        played = Play().calls("x", changes=(Change("contact", "zz", {"name": "Z"}, {"name": "Y"}),))
        assert unwanted(NOTHING, played) == []


def test_wanted_rows_and_columns():
    wanted = AllowedChanges({"a": ("x",), "b": (WHOLE,)})
    wanted.add("c", "1", ("y",))
    wanted.add("c", "1", ("z",))
    wanted.add("c", "2", (WHOLE,))
    assert [wanted.column("a", "1", name) for name in "xy"] == [True, False]
    assert wanted.whole("b", "7")
    assert [wanted.column("c", "1", name) for name in "xyz"] == [False, True, True]
    assert wanted.column("c", "2", "anything")
    assert not wanted.whole("c", "1")


def test_differences_of_a_change():
    assert differing(Change("t", "k", {"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4})) == {"b": (2, 3), "c": (None, 4)}


def test_an_unwanted_change_names_its_call():
    (found,) = evaluate(NOTHING, Play().says("hm").changes("rm_contact", "contact", "c1", None).done()).unwanted
    assert found == Unwanted("removed", 3, "rm_contact", "contact", "c1", "removed")
