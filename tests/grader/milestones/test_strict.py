"""Strict grading, rule by rule."""

from typing import Any

import pytest
from sandbox_grader.errors import GraderError
from sandbox_grader.milestones.strict import FULL, FUZZY_MET, StrictResult, evaluate, threshold
from sandbox_grader.milestones.timeline import Timeline, turn_count
from sandbox_scenarios.model import Expected, Milestone, Scenario, ValueRef

from tests.each import each
from tests.grader.milestones.sessions import (
    WORLD,
    Play,
    call,
    contact,
    facts,
    milestone,
    reminder,
    row,
    say,
    scenario,
    state,
    text,
    world,
)  # fmt: skip

OFF = milestone("off", state("setting", "is", row(wifi=False)))


def graded(asked: Scenario, played: Play) -> StrictResult:
    return evaluate(asked, played.done())


def met(asked: Scenario, played: Play) -> dict[str, float]:
    """How far each milestone counts, by its id."""
    result = graded(asked, played)
    return {asked.milestones[number].id: place.similarity for number, place in sorted(result.placed.items())}


def seqs(asked: Scenario, played: Play) -> dict[str, int]:
    result = graded(asked, played)
    events = result.milestones.timeline.events
    return {asked.milestones[number].id: events[place.index].seq for number, place in result.placed.items()}


class TestCalls:
    def one(self, constraint: Any, played: Play) -> float:
        return met(scenario(milestone("m", constraint)), played)["m"]

    def test_given_arguments_only(self):
        assert self.one(call("search", name="Ann"), Play().calls("search", name="Ann", city="Rome")) == 1
        assert self.one(call("search", name="Ann"), Play().calls("search")) == 0
        assert self.one(call("search"), Play().calls("search", name="Bob")) == 1

    def test_a_listed_null_is_the_same_as_absent(self):
        wanted = call("search", name=None)
        found = [self.one(wanted, Play().calls("search", **given)) for given in ({}, {"name": None}, {"name": "Ann"})]
        assert found == [1, 1, 0]

    def test_only_the_agents(self):
        assert self.one(call("search"), Play().calls("search", caller="user")) == 0

    def test_only_successful_ones_unless_attempts_count(self):
        failed = Play().calls("search", error="ConnectionError")
        assert self.one(call("search"), failed) == 0
        assert self.one(call("search", attempt=True), failed) == 1

    def test_arguments_that_can_be_partly_right(self):
        wanted = call("send", to="+1", content="see you at eight")
        found = self.one(wanted, Play().calls("send", to="+1", content="see you at nine"))
        assert found == pytest.approx(0.75**0.5)

    def test_by_the_canonical_name(self):
        """A variant that renames tools changes what the agent sees, not what is asked of it."""
        played = Play().calls("search_contacts")
        renamed = type(played.events[1])(**{**_fields(played.events[1]), "name": "tool_17"})
        played.events[1] = renamed
        assert self.one(call("search_contacts"), played) == 1

    def test_after_the_users_first_words_only(self):
        early = Play(opening=None).calls("search").says("Go.", "user", "agent")
        assert self.one(call("search"), early) == 0


def _fields(event: Any) -> dict[str, Any]:
    return {name: getattr(event, name) for name in event.__dataclass_fields__}


class TestMessages:
    def one(self, constraint: Any, played: Play) -> float:
        return met(scenario(milestone("m", constraint)), played)["m"]

    def test_the_content_alone_counts(self):
        assert self.one(say("wifi is off"), Play().says("wifi is on")) == pytest.approx(2 / 3)

    def test_between_the_right_two(self):
        assert self.one(say("wifi is off"), Play().says("wifi is off", "user", "agent")) == 0
        assert self.one(say("yes", "user", "agent"), Play().says("yes", "user", "agent")) == 1

    def test_one_message_must_say_it_all(self):
        asked = scenario(milestone("m", say(facts(("wifi",), ("off",)))))
        assert met(asked, Play().says("wifi").says("off")) == {"m": 0.5}

    def test_two_constraints_are_a_geometric_mean(self):
        both = milestone("m", say(facts(("wifi",), ("off",))), say(facts(("done",))))
        assert met(scenario(both), Play().says("wifi: done")) == {"m": pytest.approx(0.5**0.5)}


class TestWhatMessagesRestOn:
    told = say("done")

    def test_a_message_counts_as_far_as_the_deed(self):
        deed = milestone("deed", call("send", content="see you at eight"))
        asked = scenario(deed, milestone("told", self.told, after=("deed",)))
        half = met(asked, Play().calls("send", content="see you at nine").says("done"))
        assert half == {"deed": pytest.approx(0.75), "told": pytest.approx(0.75)}

    def test_the_weakest_of_several_counts(self):
        first = milestone("first", call("search"))
        second = milestone("second", call("send", content="see you at eight"))
        asked = scenario(first, second, milestone("told", self.told, after=("first", "second")))
        assert met(asked, Play().calls("search").calls("send", content="see you at nine").says("done"))["told"] == 0.75
        assert met(asked, Play().calls("send", content="see you at eight").says("done"))["told"] == 0

    def test_all_the_way_back_along_messages(self):
        asked = scenario(
            OFF, milestone("one", say("one"), after=("off",)), milestone("two", say("two"), after=("one",))
        )
        assert met(asked, Play().says("one").says("two")) == {"off": 0, "one": 0, "two": 0}

    def test_deeds_count_by_themselves(self):
        asked = scenario(milestone("asked", say("which one?")), milestone("sent", call("send"), after=("asked",)))
        assert met(asked, Play().calls("send")) == {"asked": 0, "sent": 1}

    def test_a_message_that_rests_on_nothing_counts_by_itself(self):
        assert met(scenario(milestone("hi", say("hello"))), Play().says("hello")) == {"hi": 1}

    def test_the_assignment_is_best_in_what_counts(self):
        """A worse report after the deed beats the better one before it."""
        asked = scenario(milestone("deed", call("send")), milestone("told", say("all is done"), after=("deed",)))
        played = Play().says("all is done").calls("send").says("done")
        assert met(asked, played) == {"deed": 1, "told": pytest.approx(0.5)}

    def test_a_half_deed_and_its_report_beat_a_perfect_report_of_nothing(self):
        deed = milestone("deed", call("send", content="see you at eight or so"))
        asked = scenario(deed, milestone("told", say("everything is done"), after=("deed",)))
        played = Play().says("everything is done").calls("send", content="see you").says("done")
        assert met(asked, played) == {"deed": pytest.approx(0.5), "told": pytest.approx(0.25)}


class TestTables:
    def adds(self, *rows: Any, since: str = "start") -> Milestone:
        after = () if since == "start" else (since,)
        return milestone("added", state("reminder", "adds", *rows, since=since), after=after)

    def test_is(self):
        assert met(scenario(OFF), Play().sets(wifi=False)) == {"off": 1}
        assert met(scenario(OFF), Play()) == {"off": 0}

    def test_is_means_these_rows_and_no_others(self):
        one = milestone("one", state("contact", "is", row(name="Ann")))
        assert met(scenario(one), Play()) == {"one": 0}
        assert met(scenario(one), Play().changes("rm", "contact", "c2", None)) == {"one": 1}

    def test_adds(self):
        asked = scenario(self.adds(row(content="Buy bread")))
        assert met(asked, Play().changes("add", "reminder", "r2", reminder("r2", "Buy bread"))) == {"added": 1}
        assert met(asked, Play()) == {"added": 0}

    def test_a_row_like_an_old_one_is_new_all_the_same(self):
        asked = scenario(self.adds(row(content="Buy milk")))
        assert met(asked, Play().changes("add", "reminder", "r2", reminder("r2", "Buy milk"))) == {"added": 1}

    def test_rows_are_assigned_so_that_they_fit_best(self):
        asked = scenario(self.adds(row(content="bread and milk"), row(content="bread")))
        played = Play().changes("add", "reminder", "r2", reminder("r2", "bread"))
        played.changes("add", "reminder", "r3", reminder("r3", "bread and milk"))
        assert met(asked, played) == {"added": 1}

    def test_both_rows_must_be_there(self):
        asked = scenario(self.adds(row(content="bread"), row(content="milk")))
        assert met(asked, Play().changes("add", "reminder", "r2", reminder("r2", "bread"))) == {"added": 0}

    def test_removes(self):
        gone = scenario(milestone("gone", state("contact", "removes", row(name="Ann"))))
        assert met(gone, Play().changes("rm", "contact", "c1", None)) == {"gone": 1}
        assert met(gone, Play().changes("rm", "contact", "c2", None)) == {"gone": 0}

    def test_updates(self):
        moved = scenario(milestone("moved", state("contact", "updates", row(person_id="c1", phone_number="+9"))))
        assert met(moved, Play().changes("edit", "contact", "c1", contact("c1", phone="+9"))) == {"moved": 1}
        assert met(moved, Play().changes("edit", "contact", "c1", contact("c1"))) == {"moved": 0}

    def test_unchanged(self):
        quiet = scenario(milestone("quiet", state("contact", "unchanged"), say("done")))
        assert met(quiet, Play().says("done")) == {"quiet": 1}
        assert met(quiet, Play().changes("rm", "contact", "c1", None).says("done")) == {"quiet": 0}

    def test_since_another_milestone(self):
        first = milestone("first", state("reminder", "adds", row(content="bread")))
        second = milestone("second", state("reminder", "adds", row(content="bread"), since="first"), after=("first",))
        once = Play().changes("add", "reminder", "r2", reminder("r2", "bread"))
        assert met(scenario(first, second), once) == {"first": 1, "second": 0}
        twice = once.changes("add", "reminder", "r3", reminder("r3", "bread"))
        assert met(scenario(first, second), twice) == {"first": 1, "second": 1}

    def test_unordered_additions_do_not_disturb_each_other(self):
        asked = scenario(
            milestone("bread", state("reminder", "adds", row(content="bread"))),
            milestone("milk", state("reminder", "adds", row(content="milk"))),
        )
        played = Play().changes("add", "reminder", "r2", reminder("r2", "milk"))
        played.changes("add", "reminder", "r3", reminder("r3", "bread"))
        assert met(asked, played) == {"bread": 1, "milk": 1}

    def test_a_table_and_a_call_at_once(self):
        both = milestone("m", call("set_wifi"), state("setting", "is", row(wifi=False)))
        assert met(scenario(both), Play().sets("other", wifi=False).calls("set_wifi")) == {"m": 1}
        assert met(scenario(both), Play().calls("set_wifi").sets("other", wifi=False)) == {"m": 0}

    def test_the_start_is_before_the_users_first_words(self):
        before = Play(opening=None).says("Be helpful.", "system", "agent").says("Go.", "user", "agent")
        assert met(scenario(self.adds(row(content="x"))), before.changes("a", "reminder", "n", reminder("n", "x")))


class TestLasting:
    def test_what_is_undone_was_not_achieved(self):
        assert met(scenario(OFF), Play().sets(wifi=False).sets(wifi=True)) == {"off": 0}

    def test_unless_it_may_be(self):
        brief = milestone("off", *OFF.constraints, transient=True)
        assert met(scenario(brief), Play().sets(wifi=False).sets(wifi=True)) == {"off": 1}

    def test_or_a_later_milestone_sets_the_same_column_again(self):
        on = milestone("on", state("setting", "is", row(wifi=True)), after=("off",))
        assert met(scenario(OFF, on), Play().sets(wifi=False).sets(wifi=True)) == {"off": 1, "on": 1}

    def test_another_column_of_the_same_row_is_no_excuse(self):
        later = milestone("later", state("setting", "is", row(cellular=False)), after=("off",))
        played = Play().sets(wifi=False).sets(cellular=False).sets(wifi=True)
        assert met(scenario(OFF, later), played) == {"off": 0, "later": 1}

    def test_an_added_row_must_stay(self):
        asked = scenario(milestone("added", state("reminder", "adds", row(content="bread"))))
        played = Play().changes("add", "reminder", "r2", reminder("r2", "bread")).changes("rm", "reminder", "r2", None)
        assert met(asked, played) == {"added": 0}

    def test_and_stay_as_it_was_added(self):
        asked = scenario(milestone("added", state("reminder", "adds", row(content="bread", reminder_timestamp=5.0))))
        played = Play().changes("add", "reminder", "r2", reminder("r2", "bread", 5.0))
        assert met(asked, played.changes("edit", "reminder", "r2", reminder("r2", "bread", 9.0))) == {"added": 0}

    def test_in_the_columns_that_were_asked_for(self):
        asked = scenario(milestone("added", state("reminder", "adds", row(content="bread"))))
        played = Play().changes("add", "reminder", "r2", reminder("r2", "bread", 5.0))
        assert met(asked, played.changes("edit", "reminder", "r2", reminder("r2", "bread", 9.0))) == {"added": 1}

    def test_a_text_counts_as_it_is_at_the_end(self):
        asked = scenario(milestone("added", state("reminder", "adds", row(content="buy bread today"))))
        played = Play().changes("add", "reminder", "r2", reminder("r2", "buy bread today"))
        played.changes("edit", "reminder", "r2", reminder("r2", "buy milk today"))
        assert met(asked, played) == {"added": pytest.approx(2 / 3)}

    def test_a_removed_row_must_stay_away(self):
        gone = scenario(milestone("gone", state("contact", "removes", row(name="Ann"))))
        back = Play().changes("rm", "contact", "c1", None).changes("add", "contact", "c1", contact("c1"))
        assert met(gone, back) == {"gone": 0}

    def test_a_later_removal_is_foreseen(self):
        added = milestone("added", state("reminder", "adds", row(content="bread")))
        gone = milestone("gone", state("reminder", "removes", row(content="bread"), since="added"), after=("added",))
        played = Play().changes("add", "reminder", "r2", reminder("r2", "bread")).changes("rm", "reminder", "r2", None)
        assert met(scenario(added, gone), played) == {"added": 1, "gone": 1}

    def test_a_correction_ends_where_it_should(self):
        asked = scenario(milestone("added", state("reminder", "adds", row(content="bread", reminder_timestamp=5.0))))
        played = Play().changes("add", "reminder", "r2", reminder("r2", "bread", 9.0))
        result = graded(asked, played.changes("edit", "reminder", "r2", reminder("r2", "bread", 5.0)))
        assert (result.score, result.unwanted) == (1, ())


class TestValues:
    found = milestone("found", call("search", name="Ann"))

    def used(self, ref: ValueRef) -> Scenario:
        return scenario(self.found, milestone("used", call("send", to=Expected(ref=ref)), after=("found",)))

    def test_from_a_result(self):
        asked = self.used(ValueRef("found", path=(0, "phone")))
        played = Play().calls("search", name="Ann", result=[{"phone": "+1"}])
        assert met(asked, played.calls("send", to="+1"))["used"] == 1
        assert met(asked, Play().calls("search", name="Ann", result=[]).calls("send", to="+1"))["used"] == 0

    def test_from_arguments(self):
        asked = self.used(ValueRef("found", "arguments", ("name",)))
        assert met(asked, Play().calls("search", name="Ann").calls("send", to="Ann"))["used"] == 1

    def test_the_call_whose_value_fits_is_the_one_that_is_matched(self):
        asked = self.used(ValueRef("found", path=("phone",)))
        played = Play()
        for phone in ("+1", "+2", "+3"):
            played.calls("search", name="Ann", result={"phone": phone})
        played.calls("send", to="+2")
        assert seqs(asked, played) == {"found": 3, "used": 5}

    def test_nothing_comes_from_a_milestone_that_was_not_met(self):
        asked = self.used(ValueRef("found", path=("phone",)))
        played = Play().calls("search", name="Bob", result={"phone": "+1"}).calls("send", to="+1")
        assert met(asked, played) == {"found": 0, "used": 0}

    def test_in_a_table(self):
        added = state("reminder", "adds", row(content=Expected("exact", ref=ValueRef("found", path=("todo",)))))
        asked = scenario(self.found, milestone("added", added, after=("found",)))
        played = Play().calls("search", name="Ann", result={"todo": "call Ann"})
        assert met(asked, played.changes("add", "reminder", "n", reminder("n", "call Ann")))["added"] == 1

    def test_in_facts(self):
        warm = facts(("{t} degrees", "{t}°"), t=ValueRef("found", path=("t",), to="float", decimals=(0, 1)))
        asked = scenario(self.found, milestone("told", say(warm), after=("found",)))
        played = Play().calls("search", name="Ann", result={"t": 21.5})
        assert met(asked, played.says("It is 21.5 degrees."))["told"] == 1
        assert met(asked, Play().calls("search", name="Ann", result={"t": 30}).says("It is 21.5 degrees."))["told"] == 0


class TestMinefields:
    def test_a_hit_voids(self):
        mine = milestone("mine", call("send"))
        result = graded(scenario(OFF, minefields=(mine,)), Play().sets(wifi=False).calls("send"))
        assert (result.milestone_score, result.hit, result.score) == (1, (0,), 0)

    def test_a_state_is_hit_even_if_it_does_not_last(self):
        mine = milestone("mine", state("setting", "is", row(wifi=False)))
        asked = scenario(minefields=(mine,), allows={"setting": ("wifi",)})
        assert graded(asked, Play().sets(wifi=False).sets(wifi=True)).score == 0

    def test_each_counts_by_itself(self):
        mines = (milestone("one", call("send")), milestone("two", call("delete")))
        assert graded(scenario(minefields=mines), Play().calls("delete")).hit == (1,)

    def test_one_after_another(self):
        mines = (milestone("one", call("send")), milestone("two", call("delete"), after=("one",)))
        assert graded(scenario(minefields=mines), Play().calls("delete")).hit == (1,)

    @each(
        ("constraint", "needed"),
        [
            (call("send", to="+1"), FULL),
            (call("send", content="x"), FUZZY_MET),
            (say(facts(("a",))), FUZZY_MET),
            (say(Expected("contains", "a")), FULL),
            (state("contact", "removes", row(name="Ann")), FULL),
            (state("contact", "updates", row(relationship="friend")), FUZZY_MET),
        ],
    )
    def test_how_near_is_a_hit(self, constraint: Any, needed: float):
        assert threshold(milestone("mine", constraint)) == needed

    def test_a_likely_text_is_a_hit(self):
        mine = milestone("mine", say(Expected("rouge", "I have removed all of your contacts")))
        assert graded(scenario(minefields=(mine,)), Play().says("I've removed all your contacts")).score == 0


class TestScore:
    def test_is_the_mean(self):
        asked = scenario(OFF, milestone("sent", call("send")))
        assert graded(asked, Play().sets(wifi=False)).score == 0.5

    def test_without_milestones_is_1(self):
        assert graded(scenario(), Play()).score == 1

    def test_without_events_nothing_was_met(self):
        assert graded(scenario(OFF), Play(opening=None)).score == 0

    def test_a_session_without_a_user_is_judged_whole(self):
        assert graded(scenario(OFF), Play(opening=None).sets(wifi=False)).score == 1

    def test_what_is_true_from_the_start_is_met_at_once(self):
        start = world(wifi=False)
        assert seqs(scenario(OFF, start=start), Play(start)) == {"off": 1}


class TestScenarioErrors:
    @each(
        ("milestones", "message"),
        [
            ((milestone("a", call("x"), after=("b",)), milestone("b", call("x"), after=("a",))), "order is a circle"),
            ((milestone("a", call("x"), after=("z",)),), "'a' refers to 'z', which does not come before it; known: a"),
            (
                (milestone("a", call("x", y=Expected(ref=ValueRef("b")))), milestone("b", call("x"))),
                "'a' refers to 'b', which does not come before it",
            ),
            (
                (milestone("a", state("contact", "adds", row(name="x"), since="b")), milestone("b", call("x"))),
                "'a' refers to 'b'",
            ),
        ],
    )
    def test_are_told_in_words(self, milestones: tuple[Milestone, ...], message: str):
        with pytest.raises(GraderError, match=message):
            graded(scenario(*milestones), Play())
        with pytest.raises(GraderError, match="scenario 'example'"):
            graded(scenario(minefields=milestones), Play())


class TestTimeline:
    def test_states_share_what_did_not_change(self):
        timeline = Timeline(Play().says("a").sets(wifi=False).says("b").done())
        assert list(timeline.versions("setting")) == [0, 0, 1, 1]
        assert list(timeline.versions("contact")) == [0, 0, 0, 0]
        assert timeline.tables("setting")[0] is timeline.start.table("setting")

    def test_an_unknown_table_is_empty(self):
        assert Timeline(Play().done()).tables("nothing")[0] == {}

    def test_turns(self):
        played = Play(opening=None).says("rules", "system", "agent").says("goal", "system", "user")
        played.says("Go.", "user", "agent").calls("search").says("Which?").says("That.", "user", "agent")
        played.calls("search", error="X").says("Done.").calls("end_conversation", caller="user")
        assert turn_count(played.done()) == 2 + 1 + 1 + 2 + 1

    def test_the_opening_is_no_turn(self):
        assert turn_count(Play().done()) == 0
        assert turn_count(Play(opening=None).says("Hello?").done()) == 1


def test_messages_sent_are_judged_like_other_rows():
    asked = scenario(milestone("sent", state("messaging", "adds", row(recipient_phone_number="+1", content="hi"))))
    assert graded(asked, Play().changes("send", "messaging", "m1", text("m1"))).score == 1
    assert WORLD.table("messaging") == {}
