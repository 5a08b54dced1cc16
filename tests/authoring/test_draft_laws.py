"""Laws of drafting, held over sessions of many scenarios, and the parts a draft is made of."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from sandbox_scenarios import Suite
from sandbox_scenarios.filling import fill
from sandbox_scenarios.lint import lint

from bench.drafts import DraftComparison, compare, table
from sandbox_mcp.app.authoring.drafting import draft
from sandbox_mcp.app.authoring.drafting.flow import Ref, flow_of, says, telling
from sandbox_mcp.app.authoring.drafting.minefields import minefields_of
from sandbox_mcp.app.authoring.drafting.setting import moment, setting_of
from sandbox_mcp.app.authoring.drafting.story import DraftStory, StoryStep, leaves, story_of
from sandbox_mcp.app.authoring.drafting.user import question_in, user_of
from sandbox_mcp.app.authoring.drafting.words import COMMON, has, words
from sandbox_mcp.engine.trajectory import ToolCall, Trajectory
from sandbox_mcp.engine.world import to_timestamp
from sandbox_mcp.engine.worlds.phone import phone
from sandbox_mcp.play.session.rehearsal import RehearsalStage, filled_reply
from tests.each import each
from tests.scenarios.files import written
from tests.scenarios.playing import solved
from tests.suite import SUITE

NAMES = (
    "wifi_off",
    "landlord_number",
    "new_neighbour",
    "forget_number",
    "colleagues_to_friends",
    "late_for_dinner_low_battery",
    "last_text_reply",
    "plumber_tomorrow_at_five",
    "overdue_reminders",
    "ferry_countdown",
    "where_am_i_low_battery",
    "forget_number_no_removal",
)
ZONES = ("America/Chicago", "Europe/Paris", "Australia/Adelaide", "Asia/Kolkata", "UTC")


def session_of(name: str, number: int = 0) -> Trajectory:
    return solved(SUITE.get(name), number)


def story(name: str, number: int = 0) -> DraftStory:
    return story_of(session_of(name, number))


def results(told: DraftStory) -> dict[str, Any]:
    """What every labelled call of a story returned."""
    return {label: told.steps[number].result for number, label in flow_of(told).labels.items()}


def drafted(log: Trajectory) -> dict[str, Any]:
    return yaml.safe_load(draft(log, SUITE, "drafted").text)["scenarios"][0]


def calls(log: Trajectory) -> list[tuple[str | None, Mapping[str, Any]]]:
    """The calls that succeeded."""
    return [
        (item.tool, item.arguments)
        for item in log.events
        if isinstance(item, ToolCall) and item.caller == "agent" and item.error is None
    ]


# Laws.


@each("name", NAMES)
def test_a_reply_with_its_placeholders_filled_is_what_was_said(name: str) -> None:
    told = story(name)
    values = results(told)
    for turn, reply in zip(told.turns, flow_of(told).replies, strict=True):
        assert filled_reply(reply, values) == turn.reply


@each("name", NAMES)
def test_an_argument_that_refers_to_a_result_is_equal_to_it(name: str) -> None:
    told = story(name)
    flow, values = flow_of(told), results(told)
    for step in told.steps:
        for argument, ref in flow.arguments[step.number].items():
            assert fill(f"${flow.reference(ref)}", values) == step.event.arguments[argument]


@each("name", NAMES)
def test_values_flow_from_earlier_calls_only(name: str) -> None:
    told = story(name)
    flow = flow_of(told)
    for step in told.steps:
        assert all(source < step.number for source in flow.sources(step.number))


@each("name", NAMES)
def test_playing_a_draft_makes_the_calls_of_the_session(tmp_path: Path, name: str) -> None:
    log = session_of(name)
    path = written(tmp_path, draft(log, SUITE, "drafted").text, "drafted.yaml")
    scenario = Suite([path]).get("drafted")
    again = RehearsalStage(scenario).rehearse(scenario.solutions[0]).log
    assert [tool for tool, _ in calls(again)] == [tool for tool, _ in calls(log)]


@pytest.mark.parametrize("name", NAMES)
def test_a_draft_of_a_drafts_session_is_the_same_draft(tmp_path: Path, name: str) -> None:
    first = drafted(session_of(name))
    path = written(tmp_path, draft(session_of(name), SUITE, "drafted").text, "drafted.yaml")
    suite = Suite([path])
    scenario = suite.get("drafted")
    log = RehearsalStage(scenario).rehearse(scenario.solutions[0]).log
    second = yaml.safe_load(draft(log, suite, "drafted").text)["scenarios"][0]
    for part in ("tools", "reference", "milestones", "user"):
        assert second.get(part) == first.get(part), part


@each("name", NAMES)
def test_every_milestone_comes_after_milestones_that_there_are(name: str) -> None:
    found = drafted(session_of(name))["milestones"]
    ids = [item["id"] for item in found]
    assert len(ids) == len(set(ids))
    assert all(set(item.get("after", ())) <= set(ids) - {item["id"]} for item in found)


@each("name", NAMES)
def test_drafting_is_repeatable(name: str) -> None:
    assert draft(session_of(name), SUITE, "drafted") == draft(session_of(name), SUITE, "drafted")


@each("name", NAMES)
def test_quick_lint_minds_little_about_a_draft(tmp_path: Path, name: str) -> None:
    """Only what needs somebody who knows the scenario: its category, and what the user may know or refuses."""
    path = written(tmp_path, draft(session_of(name), SUITE, "drafted").text, "drafted.yaml")
    assert {item.rule for item in lint(Suite([path]))} <= {
        "category",
        "secret",
        "answer_given",
        "reply_rests_on_nothing",
        "unsaid_refusal",
    }


# Stories.


def test_a_story_has_a_turn_per_reply() -> None:
    told = story("colleagues_to_friends")
    assert [len(turn.steps) for turn in told.turns] == [3, 2]
    assert told.turns[1].said.startswith("Come to think of it")
    assert told.said_until(1).count("\n") == 1


def test_a_story_knows_the_phone_after_each_turn() -> None:
    told = story("colleagues_to_friends")
    friends = [
        sum(row["relationship"] == "friend" for row in turn.state.table("contact").values()) for turn in told.turns
    ]
    assert friends == [2, 1]
    assert told.end is told.turns[-1].state


def test_what_the_user_does_with_tools_is_no_step() -> None:
    assert {step.tool.name for step in story("wifi_off").steps} == {"set_wifi_status"}


def test_tools_that_are_not_ours_are_left_out() -> None:
    log = session_of("wifi_off")
    other = tuple(
        replace(item, tool="teleport", name="teleport")
        if isinstance(item, ToolCall) and item.caller == "agent"
        else item
        for item in log.events
    )
    told = story_of(replace(log, events=other))
    assert told.steps == ()
    assert [event.name for event in told.left_out] == ["teleport"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_the_path_of_a_leaf_leads_to_it(value: Any) -> None:
    for path, leaf in leaves(value):
        found = value
        for step in path:
            found = found[step]
        assert found == leaf


# The flow of values.


@each(
    ("value", "special"),
    [
        (True, False),
        (None, False),
        (7, False),
        (31, False),
        (32, True),
        (2.5, True),
        (-40, True),
        ("ab", False),
        ("abc", True),
    ],
)
def test_what_tells_is_not_alike_by_chance(value: Any, special: bool) -> None:
    assert telling(value) is special


@given(st.integers(-1000, 1000))
def test_a_number_is_found_as_a_word(number: int) -> None:
    assert says(f"It is {number}, I think.", number)
    assert not says(f"It is {number}5.", number)


def test_of_two_calls_that_returned_a_value_the_later_counts() -> None:
    flow = flow_of(story("colleagues_to_friends"))
    assert flow.arguments[4]["person_id"].step == 3


def test_labels_are_named_after_the_tools_and_numbered() -> None:
    assert dict(flow_of(story("last_text_reply")).labels) == {0: "contacts", 1: "messages", 2: "contacts_2"}


def test_labels_can_be_referred_to_and_differ_whatever_the_tools_are_called() -> None:
    told, names = story("last_text_reply"), {"search_contacts": "find_v2", "search_messages": "find_2.v2"}

    def renamed(step: StoryStep) -> StoryStep:
        return replace(step, tool=replace(step.tool, name=names.get(step.tool.name, step.tool.name)))

    turns = tuple(replace(turn, steps=tuple(map(renamed, turn.steps))) for turn in told.turns)
    assert dict(flow_of(replace(told, turns=turns)).labels) == {0: "v2", 1: "call_2_v2", 2: "v2_2"}


def test_a_reference_is_a_label_and_a_path() -> None:
    flow = flow_of(story("forget_number"))
    assert flow.reference(Ref(0, (0, "person_id"))) == "contacts.0.person_id"


# The user.


def test_answers_are_found_by_words_of_their_questions() -> None:
    user = user_of(story("new_neighbour", 1))
    for answer, turn in zip(user["script"]["answers"], story("new_neighbour", 1).turns, strict=False):
        question = question_in(turn.reply, SUITE.get("new_neighbour").user.opening)
        assert question is not None
        assert all(has(question, word) for word in answer["about"])


def test_the_user_knows_what_it_said() -> None:
    user = user_of(story("new_neighbour"))
    assert user["opening"] == SUITE.get("new_neighbour").user.opening
    assert any("491 570 737" in line for line in user["knows"])


# Minefields.


def test_nobody_who_was_meant_is_a_minefield() -> None:
    told = story("colleagues_to_friends")
    assert minefields_of(told, setting_of(told, SUITE)) == []


def test_minefields_are_stepped_on_by_the_tools_of_the_draft() -> None:
    for name in ("which_sean", "forget_number_no_removal", "late_for_dinner_no_address_book"):
        entry = drafted(session_of(name))
        assert {mine["tool"] for mine in entry["minefields"]} <= set(entry["tools"])


# The world.


@given(st.integers(1_500_000_000, 1_900_000_000), st.sampled_from(ZONES))
def test_a_moment_is_written_so_that_it_is_read_as_itself(timestamp: int, zone: str) -> None:
    written_as = moment(float(timestamp), zone)
    read = to_timestamp(written_as, zone) if not isinstance(written_as, float | int) else written_as
    assert read == timestamp


@each("name", NAMES)
def test_the_drafts_world_is_the_sessions(tmp_path: Path, name: str) -> None:
    """Ids included, where the base has them."""
    log = session_of(name)
    path = written(tmp_path, draft(log, SUITE, "drafted").text, "drafted.yaml")
    assert Suite([path]).get("drafted").world == story_of(log).start
    assert Suite([path]).get("drafted").clock == SUITE.get(name).clock


def test_a_session_of_an_unknown_scenario_finds_its_base(tmp_path: Path) -> None:
    log = session_of("forget_number")
    elsewhere = replace(log, started=replace(log.started, scenario="somewhere_else"))
    assert setting_of(story_of(elsewhere), SUITE).base == "calanque"


# Words.


@given(st.lists(st.sampled_from(["ferry", "THE", "with", "9", "Late", "late"]), max_size=8))
def test_words_come_once_in_order_and_matter(parts: list[str]) -> None:
    found = words(" ".join(parts))
    assert len(found) == len(set(found))
    assert not set(found) & COMMON
    assert set(found) <= {"ferry", "9", "late"}


def test_there_are_words_for_every_deed() -> None:
    deeds = {name for name, tool in phone.agent_tools.items() if tool.action and tool.domain != "setting"}
    assert deeds
    by_the_reply = {"modify_reminder"}  # told in any usual word for a change, so that a draft takes the reply's own
    assert {name for name in deeds if not phone.tools[name].said} == by_the_reply


# Comparing.


def test_a_scenario_is_alike_with_its_own_draft(tmp_path: Path) -> None:
    found = compare(SUITE, "wifi_off", tmp_path)
    assert (found.alike, found.only_by_hand, found.only_drafted) == (2, (), ())
    assert (found.edges, found.all_edges) == (1, 1)
    assert found.agreed == found.sessions > 20


def test_the_table_has_a_line_each_and_the_sums() -> None:
    one = DraftComparison("a", 2, ("x",), (), 1, 2, 10, 9, 0.25)
    other = DraftComparison("b", 1, (), ("y", "z"), 0, 0, 5, 5, 0.0)
    lines = table([one, other]).splitlines()
    assert lines[2] == "| `a` | 2 | `x` |  | 1/2 | 9/10 | 0.250 |"
    assert lines[3] == "| `b` | 1 |  | `y`, `z` |  | 5/5 | 0.000 |"
    assert lines[4] == "| all | 3 | of 4 | of 5 | | 14/15 | |"


def test_a_draft_is_text_that_json_could_hold() -> None:
    """No object of ours hides in it."""
    for name in NAMES:
        assert json.dumps(drafted(session_of(name)), default=str)
