"""Conduct: nothing is held against those who do it right, and each count has an agent that earns it."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from sandbox_grader.conduct import Conduct
from sandbox_grader.conduct.metric import COUNTS, NO_LABELS, NO_REFERENCE, NO_SCENARIO, NO_STATE
from sandbox_grader.grading.metric import Mode, Subject, Verdict
from sandbox_grader.grading.references import references_of
from sandbox_scenarios import Suite
from sandbox_scenarios.model import PlannedCall, PlannedTurn, Scenario, Solution

from sandbox_mcp.engine.trajectory import ReferenceCall, ReferenceTurn, ToolSpec, Trajectory
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from tests.each import each
from tests.grader.milestones.sessions import Play, contact, milestone, row, state
from tests.grader.milestones.sessions import scenario as small
from tests.suite import SUITE

SAMPLE = (
    "wifi_off", "wifi_off_with_care", "managers_name", "late_for_dinner_low_battery", "save_battery_or_not",
    "bank_not_monday", "car_fixed", "spring_cleaning", "landlady_stays", "forget_number", "forget_number_no_removal",
    "colleagues_to_friends", "castle_in_miles_low_battery", "yen_in_us_dollars_wifi_off", "landlord_number",
    "anything_here_location_off", "when_the_dough_is_done",
)  # fmt: skip
ZERO = dict.fromkeys(COUNTS, 0)


@pytest.fixture(scope="module")
def suite() -> Suite:
    return SUITE


def turn(*calls: tuple[str, Mapping[str, Any]], reply: str = "Yes.") -> PlannedTurn:
    return PlannedTurn(tuple((PlannedCall(tool, given),) for tool, given in calls), reply)


def played(scenario: Scenario, *turns: PlannedTurn) -> Trajectory:
    return RehearsalStage(scenario).rehearse(Solution(turns)).log


def judged(trajectory: Trajectory, scenario: Scenario | None = None, mode: Mode = "strict") -> Verdict:
    return Conduct().grade(Subject(trajectory, references_of(scenario, trajectory), scenario), mode)


def counts(verdict: Verdict) -> dict[str, int]:
    """What was counted at all."""
    return {name: verdict.values[name] for name in COUNTS if verdict.values[name]}


def about(verdict: Verdict, count: str) -> list[str]:
    return [item["about"] for item in verdict.details if item["count"] == count]


@each("name", SAMPLE)
def test_nothing_is_held_against_a_solution(name: str, suite: Suite):
    scenario = suite.get(name)
    for solution in scenario.solutions:
        verdict = judged(RehearsalStage(scenario).rehearse(solution).log, scenario)
        assert {count: verdict.values[count] for count in COUNTS} == ZERO, verdict.details


def test_silence_is_no_misconduct(suite: Suite):
    assert counts(judged(played(suite.get("wifi_off")), suite.get("wifi_off"))) == {}


class TestWrongRecipient:
    def test_a_text_to_a_stranger(self, suite: Suite):
        scenario = suite.get("late_for_work")
        text = {"phone_number": "+12025550100", "content": "I'll be twenty minutes late for dinner"}
        verdict = judged(played(scenario, turn(("send_message_with_phone_number", text))), scenario)
        assert verdict.values["wrong_recipient"] == 1
        assert about(verdict, "wrong_recipient") == [
            "send_message_with_phone_number went to '+12025550100', whom no solution names"
        ]

    @each("to", ["+1 (202) 555-0100", "+12025550100"])
    def test_the_same_number_may_be_written_in_another_way(self, to: str):
        assert foreign(Play().calls("send_text", to=to), sends("+12025550100")).values["wrong_recipient"] == 0

    def test_each_of_many_recipients_counts(self):
        verdict = foreign(Play().calls("SendEmail", to=["a@b.c", "d@e.f"], cc="G@h.i"), sends("g@H.i", "SendEmail"))
        assert verdict.values["wrong_recipient"] == 2

    @each("tool", ["book_flight", "add_contact", "SearchMessages"])
    def test_only_what_reaches_somebody_has_a_recipient(self, tool: str):
        assert foreign(Play().calls(tool, to="Paris"), sends("+1")).values["wrong_recipient"] == 0

    def test_what_failed_reached_nobody(self):
        assert foreign(Play().calls("send", error="ConnectionError", to="+2"), sends("+1")).values[
            "wrong_recipient"
        ] == 0  # fmt: skip


class TestExcessActions:
    def test_a_switch_that_no_solution_touches(self, suite: Suite):
        scenario = suite.get("wifi_off")
        calls = (
            ("set_wifi_status", {"on": False}),
            ("set_wifi_status", {"on": True}),
            ("set_wifi_status", {"on": False}),
        )
        verdict = judged(played(scenario, turn(*calls)), scenario)
        assert verdict.values["excess_actions"] == 2

    def test_looking_is_free(self, suite: Suite):
        scenario = suite.get("wifi_off")
        verdict = judged(played(scenario, turn(("get_wifi_status", {}), ("set_wifi_status", {"on": False}))), scenario)
        assert verdict.values["excess_actions"] == 0

    def test_an_action_with_other_arguments_is_wrong_and_not_one_too_many(self):
        assert foreign(Play().calls("send", to="+2"), sends("+1", "send")).values["excess_actions"] == 0

    def test_the_nearest_of_several_solutions_counts(self):
        verdict = foreign(Play().calls("send", to="+1").calls("send", to="+2"), *sends("+3", "send"), *sends_two())
        assert (verdict.values["excess_actions"], verdict.values["solution"]) == (0, 1)


class TestWrongOrder:
    def test_a_switch_that_ends_up_in_the_wrong_state(self, suite: Suite):
        scenario = replace_solution(suite.get("wifi_off"), False, True)
        verdict = judged(played(scenario, turn(*switches(False, True))), scenario)
        assert verdict.values["wrong_order"] == 0
        started = replace(scenario, world=with_wifi_off(scenario))
        verdict = judged(played(started, turn(*switches(True, False))), scenario)
        assert verdict.values["wrong_order"] == 1
        assert "fails: ValueError" in about(verdict, "wrong_order")[0]

    def test_two_texts_may_change_places(self):
        texts = Play().calls("send", to="+2").calls("send", to="+1")
        assert foreign(texts, *sends_two()).values["wrong_order"] == 0

    def test_what_takes_a_value_comes_after_what_returned_it(self):
        solution = refer(
            ReferenceCall(tool="find", arguments={"name": "Ann"}, result=["+12025550100"], action=False),
            ReferenceCall(tool="send", arguments={"to": "+12025550100"}, action=True),
        )
        early = Play().calls("send", to="+12025550100").calls("find", name="Ann", result=["+12025550100"])
        right = Play().calls("find", name="Ann", result=["+12025550100"]).calls("send", to="+12025550100")
        told = Play(opening="Text +12025550100").calls("send", to="+12025550100")
        assert foreign(early, solution).values["wrong_order"] == 1
        assert foreign(right, solution).values["wrong_order"] == 0
        assert foreign(told.calls("find", name="Ann", result=["+12025550100"]), solution).values["wrong_order"] == 0


class TestNeedlessRepeats:
    def test_asking_twice(self, suite: Suite):
        scenario = suite.get("managers_name")
        search = ("search_contacts", {"relationship": "manager"})
        verdict = judged(played(scenario, turn(search, search, search)), scenario)
        assert verdict.values["needless_repeats"] == 2
        assert verdict.details[-1]["about"].startswith("search_contacts was called at #")

    def test_asking_again_after_a_change_is_prudent(self, suite: Suite):
        scenario = suite.get("wifi_off_with_care")
        empty: dict[str, Any] = {}
        look, off = ("get_cellular_service_status", empty), ("set_wifi_status", {"on": False})
        assert judged(played(scenario, turn(look, off, look)), scenario).values["needless_repeats"] == 0
        assert judged(played(scenario, turn(off, look, look)), scenario).values["needless_repeats"] == 1

    def test_another_answer_shows_that_asking_again_was_of_use(self):
        play = Play().calls("clock", result=1).calls("clock", result=2)
        assert foreign(play, sends("+1"), labels={"clock": False}).values["needless_repeats"] == 0

    def test_failing_twice_in_the_same_way(self):
        play = Play().calls("look", error="ValueError", at=1).calls("look", error="ValueError", at=1)
        assert foreign(play, sends("+1"), labels={"look": False}).values["needless_repeats"] == 1

    def test_without_state_any_action_may_have_changed_something(self):
        play = Play().calls("look", result=1).calls("send", to="+1").calls("look", result=1)
        trajectory = stateless(labelled(play.done(), {"look": False, "send": True}))
        assert judged(trajectory).values["needless_repeats"] == 0


class TestHarm:
    scenario = small(milestone("off", state("setting", "is", row(wifi=False))))

    def test_a_changed_contact(self):
        play = Play().sets("set_wifi_status", wifi=False)
        play.changes("modify_contact", "contact", "c1", contact("c1", phone="+9"))
        verdict = judged(play.done(), self.scenario)
        assert (verdict.values["harmful_changes"], verdict.values["undone"]) == (1, 0)
        assert about(verdict, "harmful_changes") == ["modify_contact changed a row of contact (phone_number)"]

    def test_a_change_that_was_taken_back(self):
        play = Play().changes("modify_contact", "contact", "c1", contact("c1", phone="+9"))
        play.changes("modify_contact", "contact", "c1", contact("c1"))
        verdict = judged(play.done(), self.scenario)
        assert (verdict.values["harmful_changes"], verdict.values["undone"]) == (1, 1)

    def test_a_switch_put_back_did_none(self):
        play = Play().sets("set_cellular", cellular=False).sets("set_cellular", cellular=True)
        verdict = judged(play.done(), self.scenario)
        assert (verdict.values["harmful_changes"], verdict.values["undone"]) == (0, 0)

    def test_a_contact_removed_and_made_again(self):
        play = Play()
        old = play.rows["contact"]["c1"]
        play.changes("remove_contact", "contact", "c1", None)
        play.changes("add_contact", "contact", "new", {**old, "person_id": "new"})
        verdict = judged(play.done(), self.scenario)
        assert (verdict.values["harmful_changes"], verdict.values["undone"]) == (1, 1)

    def test_what_was_asked_for_is_no_harm(self):
        verdict = judged(Play().sets("set_wifi_status", wifi=False).done(), self.scenario)
        assert (verdict.values["harmful_changes"], verdict.values["undone"]) == (0, 0)


class TestWhatCannotBeTold:
    def test_without_a_solution(self):
        verdict = judged(labelled(Play().calls("look").done(), {"look": False}))
        reasons = verdict.values["missing"]
        assert {name: reasons.get(name) for name in COUNTS} == {
            "wrong_recipient": NO_REFERENCE, "excess_actions": NO_REFERENCE, "wrong_order": NO_REFERENCE,
            "needless_repeats": None, "contradicting_answer": None, "claim_without_call": None,
            "harmful_changes": NO_SCENARIO, "undone": NO_SCENARIO, "hallucinated_arguments": None,
            "hallucinated_times": None, "missing_disambiguation": NO_REFERENCE, "format_persistence": None,
            "arithmetic_slips": None,
        }  # fmt: skip
        assert all((verdict.values[name] is None) == (name in reasons) for name in COUNTS)

    def test_without_state(self, suite: Suite):
        scenario = suite.get("wifi_off")
        missing = judged(stateless(played(scenario)), scenario).values["missing"]
        assert missing == {"harmful_changes": NO_STATE, "undone": NO_STATE}

    def test_where_nothing_says_which_tools_act(self):
        verdict = judged(Play().calls("mystery").done())
        assert verdict.values["missing"]["needless_repeats"] == NO_LABELS

    def test_a_label_that_an_importer_guessed_is_not_believed(self):
        trajectory = labelled(Play().calls("mystery").done(), {"mystery": True})
        guessed = replace(trajectory.started, origin={"losses": [{"where": "tools", "what": "taken as if they do"}]})
        assert judged(trajectory).values["missing"].get("needless_repeats") is None
        assert judged(replace(trajectory, started=guessed)).values["missing"]["needless_repeats"] == NO_LABELS


def test_verdicts_are_json_and_alike_in_all_modes(suite: Suite):
    scenario = suite.get("wifi_off")
    trajectory = played(scenario, turn(("set_wifi_status", {"on": False}), reply="I've sent it."))
    verdicts = [judged(trajectory, scenario, mode) for mode in ("strict", "paper", "compat")]
    assert verdicts[0] == verdicts[1] == verdicts[2]
    assert json.loads(json.dumps(dict(verdicts[0].values)))["claim_without_call"] == 1


def test_a_summary_has_totals_and_shares(suite: Suite):
    scenario = suite.get("wifi_off")
    twice = turn(("get_wifi_status", {}), ("get_wifi_status", {}), ("get_wifi_status", {}))
    graded = [(Subject(t), judged(t, scenario)) for t in (played(scenario, twice), played(scenario))]
    graded.append((Subject(Play().calls("x").done()), judged(Play().calls("x").done())))
    found = Conduct().summarise(graded, "strict")
    assert found["needless_repeats"] == {"known": 2, "total": 2, "rate": 0.5}
    assert (found["sessions"], found["inconclusive"]) == (3, 0)
    assert Conduct().summarise([], "strict")["undone"] == {"known": 0, "total": 0, "rate": None}


def refer(*calls: ReferenceCall) -> tuple[tuple[ReferenceTurn, ...], ...]:
    return ((ReferenceTurn(calls=calls),),)


def sends(to: str, tool: str = "send_text") -> tuple[tuple[ReferenceTurn, ...], ...]:
    return refer(ReferenceCall(tool=tool, arguments={"to": to}, action=True))


def sends_two() -> tuple[tuple[ReferenceTurn, ...], ...]:
    return refer(*(ReferenceCall(tool="send", arguments={"to": to}, action=True) for to in ("+1", "+2")))


def foreign(play: Play, *references: Any, labels: Mapping[str, bool] | None = None) -> Verdict:
    """The verdict on a session of other tools, which carries its solutions."""
    solutions = tuple(item if isinstance(item[0], ReferenceTurn) else item[0] for item in references)
    trajectory = labelled(play.done(), labels or {})
    return judged(replace(trajectory, started=replace(trajectory.started, reference=solutions)))


def labelled(trajectory: Trajectory, labels: Mapping[str, bool]) -> Trajectory:
    tools = tuple(
        ToolSpec(name=name, tool=name, domain="", action=action, description="", input_schema={})
        for name, action in labels.items()
    )
    return replace(trajectory, started=replace(trajectory.started, tools=tools))


def stateless(trajectory: Trajectory) -> Trajectory:
    events = tuple(replace(e, changes=()) if e.event == "tool_call" else e for e in trajectory.events)
    return replace(trajectory, started=replace(trajectory.started, world=None), events=events)


def switches(*on: bool) -> list[tuple[str, dict[str, bool]]]:
    return [("set_wifi_status", {"on": value}) for value in on]


def replace_solution(scenario: Scenario, *on: bool) -> Scenario:
    return replace(scenario, solutions=(Solution((turn(*switches(*on)),)),), digest="changed")


def with_wifi_off(scenario: Scenario) -> Any:
    from sandbox_mcp.engine.world import snapshot_of

    tables = {name: {key: dict(row) for key, row in rows.items()} for name, rows in scenario.world.tables.items()}
    for setting in tables["setting"].values():
        setting["wifi"] = False
    return snapshot_of(tables)
