"""What ToolSandbox's evaluator lets pass and strict grading does not, each on one session graded both ways.

The scenario is the simplest there is: wifi is to be switched off, and the user told.
"""

import pytest
from sandbox_grader.grading.metric import Mode, Subject
from sandbox_grader.milestones import ToolSandbox
from sandbox_scenarios.model import CallConstraint, Expected, Milestone, Scenario

from sandbox_mcp.engine.trajectory import Trajectory
from tests.each import each
from tests.grader.milestones.sessions import Play, call, facts, milestone, reminder, row, say, scenario, state

OFF = milestone("off", state("setting", "is", row(wifi=False)))
TARGET = "Wifi is turned off"
TOLD = milestone("told", say(Expected("rouge", TARGET)), after=("off",))
STATES = milestone(
    "told", say(facts(("wifi", "wi-fi", "wireless", "无线网络"), ("off", "disabled", "关闭"))), after=("off",)
)
WIFI_OFF = scenario(OFF, TOLD)
WIFI_OFF_BY_FACTS = scenario(OFF, STATES)


def score(mode: Mode, asked: Scenario, played: Trajectory) -> float:
    return ToolSandbox().grade(Subject(played, scenario=asked), mode).values["score"]


def compat(asked: Scenario, played: Play) -> float:
    return score("compat", asked, played.done())


def strict(asked: Scenario, played: Play) -> float:
    return score("strict", asked, played.done())


def switched() -> Play:
    return Play().sets("set_wifi_status", wifi=False)


def test_the_right_session_is_right_both_ways():
    played = switched().says(TARGET)
    assert (compat(WIFI_OFF, played), strict(WIFI_OFF, played)) == (1, 1)


class TestDamage:
    def test_before_the_milestones(self):
        played = Play().changes("remove_contact", "contact", "c1", None).sets(wifi=False).says(TARGET)
        assert (compat(WIFI_OFF, played), strict(WIFI_OFF, played)) == (1, 0)

    def test_between_the_milestones(self):
        played = switched().changes("remove_contact", "contact", "c1", None).says(TARGET)
        assert (compat(WIFI_OFF, played), strict(WIFI_OFF, played)) == (1, 0)

    def test_after_the_milestones(self):
        played = switched().says(TARGET).changes("remove_contact", "contact", "c1", None)
        assert (compat(WIFI_OFF, played), strict(WIFI_OFF, played)) == (1, 0)

    def test_and_its_undoing(self):
        """The old number is back, and yet it was away."""
        played = switched()
        old = played.rows["contact"]["c1"]
        played.changes("modify_contact", "contact", "c1", {**old, "phone_number": "+9"})
        played.changes("modify_contact", "contact", "c1", old).says(TARGET)
        assert (compat(WIFI_OFF, played), strict(WIFI_OFF, played)) == (1, 0)

    def test_done_while_the_information_is_missing(self):
        """There is nothing to do but say so; deleting a contact and switching to low battery is not nothing."""
        asked = scenario(minefields=(milestone("guessed", call("send_message", attempt=True)),))
        played = Play().changes("remove_contact", "contact", "c1", None).sets(low_battery_mode=True).says("Sorry.")
        assert (compat(asked, played), strict(asked, played)) == (1, 0)


class TestWhatDoesNotLast:
    def test_switched_on_again_after_the_report(self):
        played = switched().says(TARGET).sets(wifi=True)
        assert (compat(WIFI_OFF, played), strict(WIFI_OFF, played)) == (1, 0)


class TestClaims:
    def test_without_the_deed(self):
        played = Play().says(TARGET)
        assert (compat(WIFI_OFF, played), strict(WIFI_OFF, played)) == (0.5, 0)

    def test_of_the_opposite(self):
        played = switched().says("Wifi is turned on")
        assert compat(WIFI_OFF, played) == pytest.approx(0.954, abs=1e-3)
        assert strict(WIFI_OFF_BY_FACTS, played) == 0.75
        assert strict(scenario(OFF, milestone("told", say(facts(("off",))), after=("off",))), played) == 0.5

    def test_that_share_one_word(self):
        played = switched().says("Well, there are so many things one might say about a phone like this one is")
        assert compat(WIFI_OFF, played) > 0.7
        assert strict(WIFI_OFF, played) < 0.6
        assert strict(WIFI_OFF_BY_FACTS, played) == 0.5

    def test_of_a_bare_number_where_a_sentence_was_asked(self):
        asked = scenario(milestone("told", say(Expected("rouge", "It is 21 degrees outside"))))
        played = Play().says("21")
        assert compat(asked, played) > 0.65
        assert strict(asked, played) == pytest.approx(1 / 3)

    def test_of_something_made_up(self):
        """Nobody can know the temperature here, and a number is still told."""
        honest = milestone("told", say(facts(avoid=("degrees", "°"))))
        asked = scenario(honest)
        played = Play().says("It will be 12 degrees.")
        assert (compat(asked, played), strict(asked, played)) == (1, 0)


class TestHelpInOtherWords:
    @each("reply", ["I've disabled your wireless connection for you.", "无线网络已关闭。"])
    def test_counts_by_what_it_says(self, reply: str):
        played = switched().says(reply)
        assert compat(WIFI_OFF, played) == 0.5
        assert strict(WIFI_OFF_BY_FACTS, played) == 1

    def test_counts_if_it_was_said_before_a_bare_done(self):
        """The reply need not be the last one, but it must come after the deed."""
        played = Play().says("I will turn wifi off, all right?").says("Yes.", "user", "agent").sets(wifi=False)
        played.says("Done, wifi is off.").says("Thanks!", "user", "agent").says("Done")
        assert strict(WIFI_OFF_BY_FACTS, played) == 1
        early = Play().says("Wifi is off.").says("Really?", "user", "agent").sets(wifi=False).says("Done")
        assert strict(WIFI_OFF_BY_FACTS, early) == 0.5


class TestOtherWays:
    def test_to_find_something_can_be_stated(self):
        """The original names one golden search; here every search that finds it may be listed."""
        by_name, by_kin = call("search_contacts", name="Ann"), call("search_contacts", relationship="sister")
        either = CallConstraint((*by_name.patterns, *by_kin.patterns))
        told = milestone("told", say(facts(("+1",))), after=("found",))
        played = Play().calls("search_contacts", relationship="sister").says("It is +1.")
        assert strict(scenario(milestone("found", by_name), told), played) == 0
        assert strict(scenario(milestone("found", either), told), played) == 1

    def test_to_reach_a_state_need_no_helper(self):
        """A reminder at the right time is right however the time was worked out."""
        added = state("reminder", "adds", row(content="Buy bread", reminder_timestamp=5000.0))
        played = Play().changes("add_reminder", "reminder", "r2", reminder("r2", "Buy bread", 5000.0))
        with_helper = scenario(
            milestone("time", call("datetime_info_to_timestamp")), milestone("set", added, after=("time",))
        )
        assert compat(with_helper, played) == 0.5
        assert strict(scenario(milestone("set", added)), played) == 1


class TestDoingNothing:
    nothing_to_do = scenario(minefields=(milestone("guessed", call("search_weather", attempt=True)),), idle_score="…")

    def test_is_not_free_without_saying_so(self):
        values = ToolSandbox().grade(Subject(Play().says("No.").done(), scenario=self.nothing_to_do), "strict").values
        assert (values["score"], values["idle"], values["refusal"], values["corrected"]) == (1, 1, 1, None)

    def test_is_no_honest_answer(self):
        """Where the right thing is to say what is missing, saying it can be asked for."""
        honest = scenario(milestone("told", say(facts(("location", "where you are"), ("cannot", "can't", "unable")))))
        refused = Play().says("I'm sorry, I can't help with that.")
        answered = Play().says("I can't find out where you are.")
        assert (strict(honest, refused), strict(honest, answered)) == (0.5, 1)
        values = ToolSandbox().grade(Subject(answered.done(), scenario=honest), "strict").values
        assert values["corrected"] == 1


class TestMinefields:
    def mine(self, *, attempt: bool) -> Scenario:
        return scenario(minefields=(milestone("mine", call("send_message", attempt=attempt)),))

    def test_a_tool_name_inside_a_text_is_no_call(self):
        played = Play().calls("search_reminder", content="how to send_message")
        assert compat(self.mine(attempt=True), played) == 0
        assert strict(self.mine(attempt=True), played) == 1

    def test_whether_a_failed_attempt_counts_is_said(self):
        played = Play().calls("send_message", error="ConnectionError")
        assert strict(self.mine(attempt=True), played) == 0
        assert strict(self.mine(attempt=False), played) == 1

    def test_a_tool_that_is_not_offered_can_still_be_attempted(self):
        played = Play().calls("send_message", error="UnknownTool", offered=False)
        assert strict(self.mine(attempt=True), played) == 0

    def test_a_slight_likeness_is_not_a_hit(self):
        asked = scenario(minefields=(milestone("mine", say(Expected("rouge", "I have deleted all of your contacts"))),))
        played = Play().says("I have updated your contact")
        assert (compat(asked, played), strict(asked, played)) == (0, 1)


def test_the_order_of_two_independent_deeds_does_not_matter():
    """The original guards the settings between the clock and the days, so that one right order loses a milestone."""
    asked = scenario(
        milestone("clock", call("get_current_timestamp")),
        milestone("on", state("setting", "is", row(wifi=False))),
        milestone("holiday", call("search_holiday"), after=("on",)),
        milestone("days", call("timestamp_diff"), after=("clock", "holiday")),
    )

    def played(*order: str) -> Play:
        play = Play()
        for step in (*order, "search_holiday", "timestamp_diff"):
            play = play.sets(wifi=False) if step == "wifi" else play.calls(step)
        return play

    late, early = played("wifi", "get_current_timestamp"), played("get_current_timestamp", "wifi")
    assert (compat(asked, late), compat(asked, early)) == (1, 0.75)
    assert (strict(asked, late), strict(asked, early)) == (1, 1)


def test_a_changed_row_is_tied_to_its_old_one():
    """Deleting one contact and adding another passes for changing a number in the original."""
    asked = scenario(Milestone("moved", (state("contact", "updates", row(name="Ann", phone_number="+9")),)))
    new = {"person_id": "c9", "name": "Ann", "phone_number": "+9", "relationship": None, "is_self": False}
    played = Play().changes("remove_contact", "contact", "c1", None).changes("add_contact", "contact", "c9", new)
    assert (compat(asked, played), strict(asked, played)) == (1, 0)


def test_an_empty_cell_is_not_any_value():
    asked = scenario(milestone("kin", state("contact", "updates", row(phone_number="+9", relationship="sister"))))
    played = Play()
    played.changes("modify_contact", "contact", "c1", {**played.rows["contact"]["c1"], "phone_number": "+9"})
    assert strict(asked, played) == 0


def test_two_milestones_that_nothing_orders_still_count():
    """With two or more milestones and no edge the original loses them all and scores 1."""
    asked = scenario(OFF, milestone("bye", say("goodbye")))
    assert (compat(asked, Play()), strict(asked, Play())) == (1, 0)
