"""Mutants: which there are of a scenario, what each does, and the small parts they are made of."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.milestones.strict import evaluate
from sandbox_scenarios.model import PlannedCall, PlannedTurn, Solution
from sandbox_scenarios.variants import VARIANTS

from sandbox_mcp.app.authoring.mutants import Mutant, case_of, depends, mutants_of
from sandbox_mcp.app.authoring.mutants.calls import _guessable
from sandbox_mcp.app.authoring.mutants.mutant import (
    FULL,
    NEXT_TO_NOTHING,
    edited,
    finished,
    no_more_than_idle,
    preceded,
    spots,
    started,
    talk,
    uses,
    without,
)
from sandbox_mcp.app.authoring.mutants.talking import CLOSING, EMPTY, PERMISSION
from sandbox_mcp.app.authoring.mutants.wrong_values import wrong_values
from sandbox_mcp.engine.tools import present
from sandbox_mcp.engine.trajectory import ToolCall
from sandbox_mcp.engine.worlds.phone import phone
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from tests.authoring.samples import ADDS, QUESTION, REPLY, SWITCH, mutants, score, stage_of
from tests.each import each
from tests.scenarios.files import SOUND
from tests.suite import SUITE

LOOK = PlannedCall("get_current_timestamp", {})


def ids(stage: RehearsalStage, rule: str) -> list[str]:
    return [item.id for item in mutants_of(stage) if item.rule == rule]


def called(stage: RehearsalStage, mutant: Mutant) -> list[str | None]:
    log = stage.rehearse(mutant.solution, mutant.variant, mutant.known).log
    return [item.tool for item in log.events if isinstance(item, ToolCall) and item.caller == "agent"]


def of_suite(name: str) -> RehearsalStage:
    return RehearsalStage(SUITE.get(name))


def with_calls(*calls: str) -> dict[str, str]:
    """More calls before those of the message."""
    return {"          - calls:\n": "          - calls:\n" + "".join(f"              - {call}\n" for call in calls)}


# What is asked of every scenario.


def test_every_mutant_has_an_id_of_its_own() -> None:
    for name in ("colleagues_to_friends", "late_for_dinner_low_battery", "forget_number_no_removal"):
        found = [item.id for item in mutants_of(of_suite(name))]
        assert len(found) == len(set(found))


def test_mutants_are_the_same_each_time() -> None:
    assert list(mutants_of(of_suite("last_text_reply"))) == list(mutants_of(of_suite("last_text_reply")))


def test_mutants_point_to_where_an_author_should_look() -> None:
    for mutant in mutants_of(of_suite("colleagues_to_friends")):
        file, line = SUITE.place("colleagues_to_friends", mutant.path)
        assert file.endswith("contacts.yaml")
        assert line > 0


def test_mutants_describe_themselves() -> None:
    for mutant in mutants_of(of_suite("late_for_dinner_low_battery")):
        assert mutant.about[0].islower()
        assert not mutant.about.endswith(".")


@each(("id_", "rule", "of"), [("drop:2:7", "drop", 2), ("talk-3", "talk", None), ("idle", "idle", None)])
def test_an_id_tells_rule_and_solution(id_: str, rule: str, of: int | None) -> None:
    mutant = Mutant(id_, "", talk(), FULL)
    assert (mutant.rule, mutant.of) == (rule, of)


# Talking.


def test_every_scenario_is_refused_and_talked_at(tmp_path: Path) -> None:
    found = mutants(stage_of(tmp_path, SOUND))
    assert {"idle", "refuse", *(f"talk-{number}" for number in range(1, len(EMPTY) + 1))} <= found.keys()


def test_silence_needs_no_session(tmp_path: Path) -> None:
    assert mutants(stage_of(tmp_path, SOUND))["idle"].solution.turns == ()


def test_who_says_why_silence_scores_is_not_held_to_zero(tmp_path: Path) -> None:
    guard = {"      - {id: off,": "      - {id: intact, table: contact, unchanged: true}\n      - {id: off,"}
    excuse = {"    reference:": "    idle_score: Nothing may be touched.\n    reference:"}
    stage = stage_of(tmp_path, SWITCH, guard | excuse)
    assert "idle" not in mutants(stage)
    assert no_more_than_idle(stage.scenario, NEXT_TO_NOTHING).high == pytest.approx(1 / 3)
    assert mutants(stage)["claim:1"].span.high == pytest.approx(1 / 3)


def test_refusing_may_be_half_right_where_something_cannot_be_done() -> None:
    assert mutants(of_suite("forget_number_no_removal"))["refuse"].span.high == 0.5
    assert mutants(of_suite("forget_number"))["refuse"].span.high == 0.1


def test_random_calls_are_repeatable_and_of_the_tools_offered(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, SOUND)
    first, again = (mutants(stage)["random-1"] for _ in range(2))
    assert first == again
    assert {call.tool for turn in first.solution.turns for call in turn.calls} <= set(stage.scenario.tools)
    assert mutants(stage)["random-2"] != first


def test_random_calls_are_well_formed(tmp_path: Path) -> None:
    """They fail at the tool, if at all, never at the check of their arguments."""
    for name in ("plumber_tomorrow_at_five", "last_text_reply"):
        stage = of_suite(name)
        for id_ in ids(stage, "random"):
            mutant = mutants(stage)[id_]
            log = stage.rehearse(mutant.solution).log
            kinds = {item.error.kind for item in log.events if isinstance(item, ToolCall) and item.error}
            assert kinds <= {"execution"}


def test_solutions_are_played_in_every_variant_that_takes_calls(tmp_path: Path) -> None:
    found = set(ids(stage_of(tmp_path, SOUND), "reference"))
    assert found == {f"reference:1:{name}" for name, how in VARIANTS.items() if not how.free_text}


def test_questions_come_before_the_solution(tmp_path: Path) -> None:
    found = mutants(stage_of(tmp_path, SOUND))
    assert found["ask:1"].solution.turns[0].reply == PERMISSION
    assert found["ask:1"].solution.turns[1:] == found["reference:1:base"].solution.turns
    assert found["ask:1"].ends


def test_a_user_without_patience_is_not_asked_oddly(tmp_path: Path) -> None:
    hasty = {"      script:\n": "      script:\n        patience: 1\n"}
    assert ids(stage_of(tmp_path, SOUND, hasty), "odd") == []


def test_all_at_once_makes_every_call_before_the_last_reply() -> None:
    mutant = mutants(of_suite("forget_number"))["at_once:2"]
    assert [len(turn.calls) for turn in mutant.solution.turns] == [2, 0, 0]
    assert mutant.solution.turns[1].reply == CLOSING


@each("name", ["colleagues_to_friends", "wifi_off", "forget_number_no_removal"])
def test_what_cannot_be_done_at_once_is_not(name: str) -> None:
    """Because the user wants more later, because there is one turn only, or because nothing is to be done."""
    assert ids(of_suite(name), "at_once") == []


# Calling less.


def test_a_deed_is_dropped_with_everything_known(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, SOUND)
    mutant = mutants(stage)["drop:1:2"]
    assert called(stage, mutant) == ["search_contacts"]
    assert mutant.known["found"][0]["name"] == "Tomas Reyes"


def test_a_query_that_a_milestone_asks_for_is_dropped_with_everything_known(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, SOUND)
    mutant = mutants(stage)["drop:1:1"]
    assert called(stage, mutant) == ["send_message_with_phone_number"]
    assert score(stage, "drop:1:1") < 1


def test_a_query_that_no_milestone_asks_for_is_dropped_with_nothing_known(tmp_path: Path) -> None:
    stage = stage_of(
        tmp_path, SOUND, {"      - {id: found, tool: search_contacts}\n": "", "        after: [found]\n": ""}
    )
    mutant = mutants(stage)["drop:1:1"]
    assert called(stage, mutant) == []
    assert mutant.known == {}


def test_two_queries_that_meet_one_milestone_are_each_needed_for_their_values_only() -> None:
    stage = of_suite("colleagues_to_friends")
    assert mutants(stage)["drop:1:1"].known == {}
    assert mutants(stage)["drop:1:4"].known == {}


def test_what_nobody_uses_is_a_look_and_may_be_left_out(tmp_path: Path) -> None:
    more = with_calls("{tool: search_contacts, arguments: {is_self: true}}")
    found = mutants(stage_of(tmp_path, SOUND, more))
    assert "drop:1:1" not in found
    assert "drop:1:2" in found


@each(("value", "guessed"), [("true", True), ("7", True), ("32", False), ("2.5", False), ("null", True)])
def test_only_what_anybody_might_say_is_guessed(value: str, guessed: bool) -> None:
    """A result is a value; the user has not told it, and no earlier call has."""
    assert _guessable(json.loads(value)) is guessed


def test_texts_are_never_guessed() -> None:
    assert not _guessable("yes")


def test_stopping_leaves_out_the_rest_but_for_looks() -> None:
    stage = of_suite("plumber_tomorrow_at_five")
    kept = [called(stage, mutants(stage)[id_]) for id_ in ids(stage, "stop") if id_.startswith("stop:1")]
    assert [len(calls) for calls in kept] == [1, 2, 3]


def test_leaving_stops_after_a_turn() -> None:
    stage = of_suite("colleagues_to_friends")
    assert len(mutants(stage)["leave:1:1"].solution.turns) == 1
    assert score(stage, "leave:1:1") < 1


def test_where_nothing_can_be_done_leaving_after_the_reason_is_fine() -> None:
    assert ids(of_suite("forget_number_no_removal"), "leave") == []
    assert ids(of_suite("forget_number_no_removal"), "claim") == []


def test_claims_tell_every_value() -> None:
    stage = of_suite("nintendo_price")
    mutant = mutants(stage)["claim:1"]
    log = stage.rehearse(mutant.solution, known=mutant.known).log
    assert called(stage, mutant) == []
    assert any("2325.85" in getattr(event, "content", "") for event in log.events)
    assert score(stage, "claim:1") == 0


def test_a_computing_call_is_dropped_with_nothing_known_and_what_can_be_worked_out_is_no_claim(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, QUESTION)
    assert mutants(stage)["drop:1:1"].known == {}
    assert score(stage, "drop:1:1") == 0
    assert ids(stage, "claim") == []


def test_what_the_user_says_counts_even_for_claims(tmp_path: Path) -> None:
    asked = {
        "      - id: sent\n": (
            "      - id: said\n        message: {sender: user, recipient: agent, content: {facts: [match]}}\n"
            "      - id: sent\n"
        )
    }
    stage = stage_of(tmp_path, SOUND, asked)
    assert mutants(stage)["claim:1"].span.high == 0.25


# Calling wrongly.


def test_every_argument_of_a_deed_is_changed(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, SOUND)
    assert ids(stage, "recipient") == ["recipient:1:2:phone_number:1", "recipient:1:2:phone_number:2"]
    assert ids(stage, "change")[-1] == "change:1:2:content:1"


def test_each_wrong_value_of_a_deed_has_to_cost(tmp_path: Path) -> None:
    found = mutants(stage_of(tmp_path, SOUND))
    assert found["recipient:1:2:phone_number:1"].group == ""
    assert found["change:1:1:name:1"].group == found["change:1:1:name:2"].group != ""


def test_what_a_milestone_leaves_open_is_not_changed(tmp_path: Path) -> None:
    anything = {ADDS: 'adds: {recipient_person_id: "@contact.tomas", content: {any: true}}'}
    assert not any("content" in id_ for id_ in ids(stage_of(tmp_path, SOUND, anything), "change"))


def test_what_the_scenario_allows_is_not_changed(tmp_path: Path) -> None:
    allowed = {"    reference:": "    allows: {messaging: [content]}\n    reference:"}
    assert not any("content" in id_ for id_ in ids(stage_of(tmp_path, SOUND, allowed), "change"))


def test_a_query_that_ends_in_a_deed_is_changed(tmp_path: Path) -> None:
    assert "change:1:1:name:1" in ids(stage_of(tmp_path, SOUND), "change")


def test_a_query_whose_result_only_colours_a_reply_is_not_changed(tmp_path: Path) -> None:
    more = with_calls("{tool: search_contacts, arguments: {is_self: true}, as: me}")
    stage = stage_of(tmp_path, SOUND, more | {REPLY: "reply: I texted Tomas, ${me.0.name}."})
    assert not any(id_.startswith("change:1:1:") for id_ in ids(stage, "change"))


def test_a_query_whose_argument_a_milestone_names_is_changed(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, QUESTION)
    assert {"change:1:1:amount:1", "change:1:1:from_unit:1", "change:1:1:to_unit:1"} <= set(ids(stage, "change"))


def test_refused_calls_are_not_changed(tmp_path: Path) -> None:
    changes = {
        "    user: {goal": "    confirm: [set_wifi_status]\n    user: {goal",
        "calls: [{tool: set_wifi_status, arguments: {on: false}}]\n": (
            "calls: [{tool: set_wifi_status, arguments: {on: false}, as: asked}]\n"
            "            reply: May I? ${asked.code}\n"
            "          - calls: [{tool: set_wifi_status, arguments: {on: false}}]\n"
        ),
    }
    assert ids(stage_of(tmp_path, SWITCH, changes), "change") == ["change:1:2:on:1"]


# Doing more.


def test_looks_avoid_what_is_a_minefield_or_needs_confirmation(tmp_path: Path) -> None:
    mine = "    minefields:\n      - {id: peeked, tool: get_wifi_status}\n"
    stage = stage_of(tmp_path, SWITCH + mine)
    tools = {tool for id_ in ids(stage, "read") for tool in called(stage, mutants(stage)[id_])}
    assert "get_wifi_status" not in tools
    assert {"get_cellular_service_status", "search_contacts", "search_messages"} <= tools
    assert "wait" not in tools


def test_looks_come_first_and_last(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, SWITCH)
    tools = called(stage, mutants(stage)["read:1:1"])
    assert tools[:2] == tools[-2:]
    assert tools[2] == "set_wifi_status"


UNDONE = {
    "new_neighbour": ["remove_contact"],
    "forget_number": ["add_contact"],
    "colleagues_to_friends": ["modify_contact", "modify_contact"],
    "plumber_tomorrow_at_five": ["remove_reminder"],
    "where_am_i_low_battery": [],
    "wifi_off": ["set_wifi_status"],
    "last_text_reply": [],
}


@each(("name", "tools"), UNDONE.items(), ids=UNDONE)
def test_what_was_achieved_is_undone_by_the_tool_that_can(name: str, tools: list[str]) -> None:
    stage = of_suite(name)
    undone = [item for item in mutants_of(stage) if item.rule == "undo" and item.of == 1]
    assert sorted(str(called(stage, item)[-1]) for item in undone) == tools


def test_what_is_transient_is_not_undone(tmp_path: Path) -> None:
    fleeting = {"      - {id: off, table: setting, ": "      - {id: off, transient: true, table: setting, "}
    assert ids(stage_of(tmp_path, SWITCH, fleeting), "undo") == []


def test_meddling_leaves_alone_what_the_solution_touched() -> None:
    stage = of_suite("forget_number")
    gone = SUITE.get("forget_number").solutions[0]
    touched = {done.arguments["person_id"] for done in stage.rehearse(gone).done if done.call.tool == "remove_contact"}
    for mutant in mutants_of(stage):
        if mutant.rule == "unwanted":
            meddled = mutant.solution.turns[-1].batches[-1][0].arguments.get("person_id")
            assert meddled not in touched


def test_meddling_changes_something() -> None:
    stage = of_suite("forget_number")
    for mutant in (item for item in mutants_of(stage) if item.rule == "unwanted"):
        log = stage.rehearse(mutant.solution, mutant.variant).log
        last = [item for item in log.events if isinstance(item, ToolCall) and item.caller == "agent"][-1]
        assert last.changes, mutant.about
        assert evaluate(stage.scenario, log).unwanted


def test_what_is_withheld_is_not_used_for_mischief() -> None:
    stage = of_suite("forget_number_no_removal")
    for mutant in (item for item in mutants_of(stage) if item.rule == "unwanted"):
        assert "remove_contact" not in called(stage, mutant)


def test_a_minefield_with_a_value_is_stepped_on_with_that_value() -> None:
    mutant = mutants(of_suite("which_sean"))["mine:1:uncle_texted:1"]
    assert mutant.solution.turns[-1].batches[-1][0].arguments["phone_number"] == "+17095550122"


@each(
    "mine",
    [
        "{id: gone, table: contact, removes: {name: Wren}}",
        "{id: wrong, tool: send_message_with_phone_number, arguments: {content: {facts: [rude]}}}",
    ],
)
def test_minefields_that_are_not_one_plain_call_are_not_stepped_on(tmp_path: Path, mine: str) -> None:
    text = SOUND.replace("tools: [", "tools: [remove_contact, ") + f"    minefields:\n      - {mine}\n"
    assert ids(stage_of(tmp_path, text), "mine") == []


def test_dependence_is_seen_by_leaving_out_what_comes_first() -> None:
    assert depends(case_of(of_suite("where_am_i_low_battery"), 0))
    assert not depends(case_of(of_suite("colleagues_to_friends"), 0))


# Parts.

LABEL = st.sampled_from(["a", "b", None])
CALL = st.builds(lambda label, value: PlannedCall("wait", {"seconds": value}, label), LABEL, st.integers(1, 9))
TURN = st.builds(
    lambda batches, reply: PlannedTurn(tuple(map(tuple, batches)), reply),
    st.lists(st.lists(CALL, min_size=1, max_size=3), max_size=3),
    st.sampled_from(["", "Done.", "${a}", "${b.0}"]),
)
SOLUTION = st.builds(lambda turns: Solution(tuple(turns)), st.lists(TURN, min_size=1, max_size=3))


def calls_of(solution: Solution) -> Sequence[PlannedCall]:
    return [call for turn in solution.turns for call in turn.calls]


@given(SOLUTION)
def test_spots_are_the_calls_in_order(solution: Solution) -> None:
    assert [spot.call for spot in spots(solution)] == calls_of(solution)
    assert [spot.number for spot in spots(solution)] == list(range(len(calls_of(solution))))


@given(SOLUTION)
def test_a_solution_is_what_it_is_edited_into(solution: Solution) -> None:
    assert edited(solution, lambda _number, call: call) == solution
    assert calls_of(edited(solution, lambda _number, _call: None)) == []


@given(SOLUTION, st.integers(0, 5))
def test_leaving_out_a_call_leaves_the_others_in_their_order(solution: Solution, number: int) -> None:
    rest = [call for position, call in enumerate(calls_of(solution)) if position != number]
    less = without(solution, number)
    assert calls_of(less) == rest
    assert [turn.reply for turn in less.turns] == [turn.reply for turn in solution.turns]
    assert all(batch for turn in less.turns for batch in turn.batches)


@given(SOLUTION)
def test_more_calls_come_first_or_last_in_batches_of_their_own(solution: Solution) -> None:
    assert calls_of(started(solution, LOOK, LOOK)) == [LOOK, LOOK, *calls_of(solution)]
    assert calls_of(finished(solution, LOOK)) == [*calls_of(solution), LOOK]
    assert finished(solution, LOOK).turns[-1].batches[-1] == (LOOK,)


@given(SOLUTION)
def test_talk_comes_before_everything(solution: Solution) -> None:
    assert preceded(solution, "Hm?").turns == (PlannedTurn((), "Hm?"), *solution.turns)


@given(SOLUTION)
def test_a_label_is_used_where_it_stands(solution: Solution) -> None:
    assert uses(solution, "a") is any("${a}" in turn.reply for turn in solution.turns)
    assert not uses(solution, None)


@given(st.sampled_from(sorted(phone.agent_tools)), st.data())
def test_wrong_numbers_are_never_the_right_one(name: str, data: st.DataObject) -> None:
    tool = phone.agent_tools[name]
    scenario = SUITE.get("wifi_off")
    for parameter in tool.parameters:
        kind = parameter.types[0]
        strategy: Any = {"number": st.integers(0, 50).map(float), "integer": st.integers(0, 50)}.get(kind)
        if strategy is not None:
            value = data.draw(strategy)
            assert value not in wrong_values(scenario, present(tool), parameter.name, value)


def test_a_wrong_recipient_is_somebody_else_on_the_phone() -> None:
    scenario = SUITE.get("wifi_off")
    right = next(iter(scenario.world.table("contact")))
    wrong = wrong_values(scenario, present(phone.agent_tools["remove_contact"]), "person_id", right)
    assert len(wrong) == 2
    assert set(wrong) < set(scenario.world.table("contact")) - {right}


def test_on_an_empty_phone_the_wrong_recipient_is_a_stranger() -> None:
    scenario = SUITE.get("owner_entry")
    tool = present(phone.agent_tools["add_contact"])
    assert wrong_values(scenario, tool, "phone_number", "+46701740605") == ("+12025550199",)


def test_every_argument_that_names_somebody_is_known() -> None:
    named = {item.name for tool in phone.agent_tools.values() for item in tool.parameters}
    assert {name for name in named if name.endswith("_id")} <= SUITE.get("wifi_off").home.hints.meant


def test_windows_are_changed_far_enough() -> None:
    """A search between two moments finds nothing if one of them is wrong."""
    scenario = SUITE.get("wifi_off")
    tool = present(phone.agent_tools["search_messages"])
    low, high = (
        wrong_values(scenario, tool, f"creation_timestamp_{end}bound", scenario.clock.now)[0]
        for end in ("lower", "upper")
    )
    assert high < scenario.clock.now < low
