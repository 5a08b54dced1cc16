"""Drafting: what a recorded session becomes, part by part, and that the whole can be played."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from sandbox_scenarios import Suite
from sandbox_scenarios.lint import lint
from sandbox_scenarios.model import PlannedCall, PlannedTurn, Solution

from bench.drafts import SHOWN, compare, table
from sandbox_mcp.app.authoring.drafting import draft, prove
from sandbox_mcp.app.authoring.drafting.draft import Proof, file_of
from sandbox_mcp.app.authoring.drafting.flow import flow_of, says
from sandbox_mcp.app.authoring.drafting.setting import moment, setting_of
from sandbox_mcp.app.authoring.drafting.story import leaves, story_of
from sandbox_mcp.app.authoring.drafting.words import has, snake, words
from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.engine.trajectory import Trajectory
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from tests.each import each
from tests.scenarios.files import written
from tests.scenarios.playing import solved
from tests.suite import SUITE

OPEN = """\
family: mine
scenarios:
  - name: mine
{branch}    about: Whatever the agent does.
    tools: [{tools}]
    user:
      goal: You want something.
      opening: {opening}
      script: {script}
{more}"""


def session(
    folder: Path,
    *turns: tuple[Sequence[PlannedCall | tuple[PlannedCall, ...]], str],
    tools: str,
    opening: str = "Please do it.",
    script: str = "{}",
    more: str = "",
    base: str | None = "lakeside",
) -> Trajectory:
    """The log of a session in which the agent makes these calls and says this, turn by turn."""
    branch = f"    extends: {base}\n" if base else ""
    text = OPEN.format(tools=tools, opening=opening, script=script, more=more, branch=branch)
    stage = RehearsalStage(Suite([written(folder, text)]).get("mine"))
    planned = (
        PlannedTurn(tuple(call if isinstance(call, tuple) else (call,) for call in calls), reply)
        for calls, reply in turns
    )
    return stage.rehearse(Solution(tuple(planned))).log


def call(tool: str, label: str | None = None, **arguments: Any) -> PlannedCall:
    return PlannedCall(tool, arguments, label)


def entry_of(log: Trajectory) -> dict[str, Any]:
    """The only scenario of the draft, as the file has it."""
    return yaml.safe_load(draft(log, SUITE, "drafted").text)["scenarios"][0]


def milestones(log: Trajectory) -> dict[str, dict[str, Any]]:
    return {item["id"]: item for item in entry_of(log)["milestones"]}


def proof(folder: Path, log: Trajectory) -> Proof:
    return prove(written(folder, draft(log, SUITE, "drafted").text, "drafted.yaml"), "drafted")


def of_suite(name: str, number: int = 0) -> Trajectory:
    return solved(SUITE.get(name), number)


@each("name", SUITE.names()[::9])
def test_a_draft_loads_and_its_reference_scores_1(tmp_path: Path, name: str) -> None:
    assert proof(tmp_path, of_suite(name)) == Proof(1.0, ended=True)


# The solution and the flow of values.


def test_an_argument_that_equals_an_earlier_result_refers_to_it() -> None:
    calls = entry_of(of_suite("forget_number"))["reference"][0]["turns"][0]["calls"]
    assert calls[0]["as"] == "contacts"
    assert calls[1]["arguments"] == {"person_id": "$contacts.0.person_id"}


def test_what_the_user_said_is_not_taken_from_a_result() -> None:
    calls = entry_of(of_suite("colleagues_to_friends"))["reference"][0]["turns"][1]["calls"]
    assert calls[0]["arguments"] == {"name": "Dmitri"}


def test_calls_that_were_sent_together_stay_together() -> None:
    calls = entry_of(of_suite("colleagues_to_friends"))["reference"][0]["turns"][0]["calls"]
    assert isinstance(calls[1], list)
    assert len(calls[1]) == 2


def test_small_numbers_flow_only_under_the_same_name() -> None:
    calls = entry_of(of_suite("plumber_tomorrow_at_five"))["reference"][0]["turns"][0]["calls"]
    arguments = calls[3]["arguments"]
    assert arguments["month"] == "$info.month"
    assert arguments["hour"] == 17


def test_replies_refer_to_what_they_tell() -> None:
    reply = entry_of(of_suite("landlord_number"))["reference"][0]["turns"][0]["reply"]
    assert reply == "Your landlord, ${contacts.0.name}, has the number ${contacts.0.phone_number}."


def test_calls_that_failed_are_left_out_and_named(tmp_path: Path) -> None:
    log = session(
        tmp_path,
        ([call("set_wifi_status", on=True), call("set_wifi_status", on=False)], "Wifi is off."),
        tools="set_wifi_status",
        opening="Wifi off, please.",
    )
    text = draft(log, SUITE, "drafted").text
    assert "# - left out: set_wifi_status (ValueError)" in text
    assert len(entry_of(log)["reference"][0]["turns"][0]["calls"]) == 1
    assert proof(tmp_path, log).holds


def test_only_values_that_tell_are_the_same_by_more_than_chance() -> None:
    assert says("It costs 42 euros.", 42.0)
    assert says("Call Wren Okafor", "wren okafor")
    assert not says("Call Wrenna", "Wren")
    assert not says("true", True)


def test_leaves_are_found_at_any_depth() -> None:
    assert dict(leaves([{"a": 1, "b": [2]}])) == {(0, "a"): 1, (0, "b", 0): 2}
    assert dict(leaves("text")) == {(): "text"}


def test_rounded_numbers_are_recognised(tmp_path: Path) -> None:
    log = session(
        tmp_path,
        ([call("unit_conversion", amount=42, from_unit="kilometer", to_unit="mile")], "That is 26.10 miles."),
        tools="unit_conversion",
        opening="How many miles are 42 kilometers?",
    )
    told = flow_of(story_of(log)).told[0]
    assert [(item.written, item.decimals) for item in told] == [("26.10", 2)]
    content = milestones(log)["told"]["message"]["content"]
    assert content == {
        "facts": [["{value}"]],
        "values": {"value": {"from": "unit_conversion", "to": "text", "decimals": [2]}},
    }
    assert proof(tmp_path, log).holds


# Milestones.


def test_settings_are_asked_for_one_by_one_in_the_order_of_their_dependence() -> None:
    found = milestones(of_suite("late_for_dinner_low_battery"))
    assert found["low_battery_mode_off"] == {
        "id": "low_battery_mode_off",
        "table": "setting",
        "is": {"low_battery_mode": False},
    }
    assert found["cellular_on"]["after"] == ["low_battery_mode_off"]
    assert set(found["messaging_adds"]["after"]) == {"cellular_on", "search_contacts"}
    assert found["told"]["after"] == ["messaging_adds"]


def test_new_rows_are_asked_for_by_what_matters_in_them() -> None:
    row = milestones(of_suite("late_for_dinner_low_battery"))["messaging_adds"]["adds"]
    assert row["recipient_person_id"] == "@contact.wren"
    assert row["content"] == {"facts": [["twenty"], ["minutes"], ["late"], ["dinner"]]}
    assert set(row) == {"recipient_person_id", "recipient_phone_number", "content"}


def test_removed_rows_are_asked_for_by_their_label() -> None:
    found = milestones(of_suite("forget_number"))["contact_removes"]
    assert found["removes"] == {"person_id": "@contact.eszter"}


def test_changed_rows_are_asked_for_by_what_changed(tmp_path: Path) -> None:
    found = milestones(of_suite("colleagues_to_friends"))
    assert found["contact_updates"]["updates"] == {"person_id": "@contact.tomas", "relationship": "friend"}


def test_what_a_later_turn_changes_again_is_transient() -> None:
    found = milestones(of_suite("colleagues_to_friends"))
    assert found["contact_updates_for_now"]["transient"]
    assert "transient" not in found["contact_updates"]
    assert found["contact_updates_2"]["after"] == ["contact_updates_for_now"]


def test_what_was_switched_and_switched_back_is_asked_for_twice(tmp_path: Path) -> None:
    log = session(
        tmp_path,
        ([call("set_wifi_status", on=False), call("set_wifi_status", on=True)], "Wifi was off and is on again."),
        tools="set_wifi_status",
        opening="Turn wifi off and on again.",
    )
    found = milestones(log)
    assert found["wifi_off"]["transient"]
    assert found["wifi_on"]["after"] == ["wifi_off"]
    assert proof(tmp_path, log).holds


def test_reckoning_is_not_asked_for_but_the_clock_is() -> None:
    found = milestones(of_suite("plumber_tomorrow_at_five"))
    assert "get_current_timestamp" in found
    assert not {"shift_timestamp", "timestamp_to_datetime_info", "datetime_info_to_timestamp"} & set(found)
    assert found["reminder_adds"]["after"] == ["get_current_timestamp"]


def test_a_moment_that_was_reckoned_need_not_be_right_to_the_second() -> None:
    row = milestones(of_suite("plumber_tomorrow_at_five"))["reminder_adds"]["adds"]
    assert row["reminder_timestamp"]["within"] == 60


def test_questions_are_no_milestones() -> None:
    assert set(milestones(of_suite("new_neighbour"))) == {"contact_adds_2", "told"}


def test_an_answer_is_asked_for_after_the_look_it_rests_on(tmp_path: Path) -> None:
    log = session(
        tmp_path,
        ([call("get_wifi_status")], "Yes, your wifi is switched on."),
        tools="get_wifi_status",
        opening="Is my wifi working?",
    )
    found = milestones(log)
    assert found["told"]["after"] == ["get_wifi_status"]
    assert proof(tmp_path, log).holds


def test_a_row_the_session_made_and_used_is_not_named_by_its_id(tmp_path: Path) -> None:
    log = session(
        tmp_path,
        (
            [
                call("add_contact", name="Wilma", phone_number="+12025550101"),
                call("send_message_with_phone_number", phone_number="+12025550101", content="Welcome!"),
            ],
            "I added Wilma and texted her.",
        ),
        tools="add_contact, send_message_with_phone_number",
        opening="Save Wilma, +12025550101, and text her 'Welcome!'.",
    )
    assert "recipient_person_id" not in milestones(log)["messaging_adds"]["adds"]
    assert proof(tmp_path, log).holds


def test_what_came_and_went_is_not_asked_for(tmp_path: Path) -> None:
    made = call("set_timer", "timer", seconds=60.0)
    log = session(
        tmp_path,
        ([made, call("cancel_timer", timer_id="$timer")], "Nothing is running."),
        tools="set_timer, cancel_timer",
    )
    assert not any("timer" in name for name in milestones(log))


def test_a_refusal_is_asked_for_with_its_reason(tmp_path: Path) -> None:
    log = of_suite("forget_number_no_removal")
    entry = entry_of(log)
    assert entry["categories"] == ["insufficient_information"]
    assert len(milestones(log)["told"]["message"]["content"]["facts"]) == 3
    assert {item["tool"] for item in entry["minefields"]} == {"modify_contact"}
    assert all(item["attempt"] for item in entry["minefields"])


# The user, the gates and the minefields.


def test_answers_are_learnt_from_the_questions_before_them() -> None:
    script = entry_of(of_suite("new_neighbour", 1))["user"]["script"]
    assert script["answers"][0]["say"].startswith("Her name is Ilse")
    assert "name" in script["answers"][0]["about"]


def test_what_the_user_wants_next_follows_by_itself() -> None:
    user = entry_of(of_suite("colleagues_to_friends"))["user"]
    assert user["script"] == {"then": ["Come to think of it, Dmitri just moved in next door. Make him a neighbour."]}


def test_permission_becomes_the_scripts_confirmation() -> None:
    user = entry_of(of_suite("forget_number", 1))["user"]
    assert user["script"] == {"confirm": "Yes, please."}
    assert user["knows"] == [user["opening"]]


def test_what_had_to_be_confirmed_has_to_be_confirmed(tmp_path: Path) -> None:
    sending = call("send_message_with_phone_number", "asked", phone_number="+13125550178", content="Off at nine.")
    log = session(
        tmp_path,
        ([sending], "May I send it? The code is ${asked.code}."),
        ([replace(sending, label=None)], "I sent it."),
        tools="send_message_with_phone_number",
        opening="Text +13125550178 that I'm off at nine.",
        more="    confirm: [send_message_with_phone_number]\n",
    )
    entry = entry_of(log)
    assert entry["confirm"] == ["send_message_with_phone_number"]
    assert entry["reference"][0]["turns"][0]["reply"] == "May I send it? The code is ${number.code}."
    assert proof(tmp_path, log).holds


def test_signing_in_comes_first(tmp_path: Path) -> None:
    account = "{account: {username: wren, password: swan, signed_in: false}}"
    log = session(
        tmp_path,
        (
            [
                call("set_wifi_status", on=False),
                call("sign_in", username="wren", password="swan"),
                call("set_wifi_status", on=False),
            ],
            "You are signed in and wifi is off.",
        ),
        tools="sign_in, set_wifi_status",
        opening="Sign in as wren with swan and turn wifi off.",
        more=f"    sign_in: true\n    world: {account}\n",
    )
    assert entry_of(log)["gates"] == ["sign_in"]
    assert milestones(log)["wifi_off"]["after"] == ["signed_in_on"]
    assert proof(tmp_path, log).holds


def test_the_wrong_person_of_the_right_kind_is_a_minefield() -> None:
    log = of_suite("late_for_dinner_low_battery")
    assert "minefields" not in entry_of(log)
    mines = entry_of(of_suite("which_sean"))["minefields"]
    assert [item["tool"] for item in mines] == ["send_message_with_phone_number"]
    assert mines[0]["arguments"] == {"phone_number": "+17095550122"}


# The world.


def test_a_draft_branches_from_the_base_it_resembles_and_says_only_what_differs() -> None:
    entry = entry_of(of_suite("late_for_dinner_low_battery"))
    assert entry["extends"] == "lakeside"
    assert set(entry["world"]) == {"setting"}
    assert entry["world"]["setting"]["low_battery_mode"] is True
    assert "clock" not in entry


def test_a_phone_like_no_other_is_written_whole(tmp_path: Path) -> None:
    world = (
        "    clock: {now: 2026-03-01 10:00:00, zone: Asia/Tokyo}\n"
        "    world:\n"
        "      setting: {cellular: true, wifi: true, location_service: true, low_battery_mode: false,\n"
        "                latitude: 35.0, longitude: 139.0}\n"
        "      contact:\n"
        "        me: {name: Yui Mori, phone_number: +819012345678, relationship: self, is_self: true}\n"
        "        other: {name: Yui Sato, phone_number: +819012345679, is_self: false}\n"
        "      reminder:\n"
        "        r: {content: Water the plants, creation_timestamp: 2026-02-01 10:00:00,\n"
        "            reminder_timestamp: 2026-03-02 10:00:00}\n"
    )
    log = session(
        tmp_path,
        (
            [
                call("search_reminder", "found", content="plants"),
                call("remove_reminder", reminder_id="$found.0.reminder_id"),
            ],
            "That reminder is gone.",
        ),
        tools="search_reminder, remove_reminder",
        opening="The plants are dead. Drop that reminder.",
        more=world,
        base=None,
    )
    entry = entry_of(log)
    assert "extends" not in entry
    assert entry["clock"]["zone"] == "Asia/Tokyo"
    assert set(entry["world"]["contact"]) == {"yui", "yui_2"}
    assert milestones(log)["reminder_removes"]["removes"] == {"reminder_id": "@reminder.water_the"}
    assert proof(tmp_path, log).holds


def test_moments_are_written_as_dates_unless_that_would_mean_another_moment() -> None:
    summer = moment(1747391400.0, "America/Chicago")
    assert str(summer) == "2025-05-16 05:30:00"
    second_half_past_one = 1762068600.0
    assert moment(second_half_past_one, "America/Chicago") == second_half_past_one


def test_rows_have_the_labels_of_the_base() -> None:
    story = story_of(of_suite("forget_number"))
    assert "contact.eszter" in setting_of(story, SUITE).labels.values()


def test_a_new_row_never_takes_the_label_of_another() -> None:
    story = story_of(of_suite("forget_number"))
    table, known = story.start.table("contact"), SUITE.labels(SUITE.lineage("forget_number")[-1])
    [name, *_] = [row["name"] for key, row in table.items() if known[key] == "contact.eszter"]
    rows = {"new": {**next(iter(table.values())), "person_id": "new", "name": name}}
    twins = {**rows, **table, "newer": {**rows["new"], "person_id": "newer"}}
    world = {**story.start.tables, "contact": twins}
    labels = setting_of(replace(story, started=replace(story.started, world=world)), SUITE).labels
    assert (labels["new"], labels["newer"]) == ("contact.eszter_2", "contact.eszter_3")
    assert len(set(labels.values())) == len(labels)


@each(
    ("tool", "name"),
    [("SendMessage", "send_message"), ("get-user.v2", "get_user_v2"), ("2fa_on", "call_2fa_on"), ("_x", "call__x")],
)
def test_a_tool_gives_its_name_to_ids_whatever_it_is_called(tool: str, name: str) -> None:
    assert snake(tool) == name


def test_words_that_say_little_are_left_out() -> None:
    assert words("Please tell Wren that the 9 o'clock ferry is late, late!") == [
        "tell",
        "wren",
        "9",
        "o'clock",
        "ferry",
        "late",
    ]
    assert has("It's late.", "late")
    assert not has("lately", "late")


# What cannot be drafted, and what a draft is worth.


def test_a_log_without_state_cannot_be_drafted() -> None:
    log = of_suite("wifi_off")
    bare = replace(log, started=replace(log.started, world=None))
    with pytest.raises(RunError, match="recorded no state"):
        draft(bare, SUITE, "drafted")


def test_a_log_in_which_nobody_speaks_cannot_be_drafted() -> None:
    with pytest.raises(RunError, match="the user says nothing"):
        draft(replace(of_suite("wifi_off"), events=()), SUITE, "drafted")


def test_a_name_that_is_none_is_refused() -> None:
    with pytest.raises(RunError, match="'My Draft' cannot name a scenario"):
        draft(of_suite("wifi_off"), SUITE, "My Draft")


def test_a_session_that_stops_in_the_middle_of_a_turn_gets_a_reply(tmp_path: Path) -> None:
    log = of_suite("wifi_off")
    cut = replace(log, events=log.events[:4], ended=None)
    assert entry_of(cut)["reference"][0]["turns"][-1]["reply"] == "Done."


def test_a_draft_says_what_is_left_to_do() -> None:
    text = draft(of_suite("wifi_off"), SUITE, "drafted").text
    assert text.startswith("# Drafted from a session of 'wifi_off'. Left to do:\n# - goal:")


def test_a_draft_has_nothing_that_quick_lint_minds(tmp_path: Path) -> None:
    path = written(tmp_path, draft(of_suite("forget_number"), SUITE, "drafted").text, "drafted.yaml")
    assert [item.rule for item in lint(Suite([path]))] == []


def test_drafts_of_ten_scenarios_find_what_their_authors_wrote(tmp_path: Path) -> None:
    """Nine milestones of ten, and nine verdicts of ten on what scores full marks."""
    found = [compare(SUITE, name, tmp_path) for name in SHOWN]
    alike, by_hand = sum(item.alike for item in found), sum(len(item.only_by_hand) for item in found)
    assert len(found) == 10
    assert alike >= 9 * by_hand
    assert alike >= 9 * sum(len(item.only_drafted) for item in found)
    assert sum(item.agreed for item in found) >= 0.85 * sum(item.sessions for item in found)
    assert table(found).count("\n") == 13


def test_a_moment_in_a_draft_is_written_as_people_write_it() -> None:
    due = datetime(2026, 3, 2, 17, 30)  # noqa: DTZ001 - as files have it
    text = file_of("mine", {"milestones": [{"due": {"close": due, "within": 60}}]})
    assert "{close: 2026-03-02 17:30:00, within: 60}" in text
    assert yaml.safe_load(text)["scenarios"][0]["milestones"][0]["due"]["close"] == due
