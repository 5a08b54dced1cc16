"""Deep lint: a sound scenario stands every mutant, and each weakness is found by the mutant that profits from it."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from sandbox_grader.milestones.unwanted import GRADES
from sandbox_scenarios.model import PlannedCall

from sandbox_mcp.app.authoring.deep_lint import RULES, attempt, deep_lint, lint_scenario, rehearse
from sandbox_mcp.app.authoring.mutants.mutant import (
    FULL,
    LESS,
    at_most,
    edited,
    finished,
    spots,
    started,
    talk,
    uses,
    without,
)
from sandbox_mcp.app.authoring.mutants.wrong_values import wrong_values
from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.tools import fits, present
from sandbox_mcp.engine.trajectory import ToolCall
from sandbox_mcp.engine.worlds.phone import phone
from sandbox_mcp.play.session import settled
from tests.authoring.samples import (
    ADDS,
    ARGUMENTS,
    QUESTION,
    REPLY,
    SWITCH,
    complaints,
    mutants,
    score,
    stage_of,
    suite_of,
)
from tests.each import each
from tests.scenarios.files import SOUND, changed, written
from tests.suite import SUITE


@pytest.mark.parametrize("text", [SOUND, SWITCH, QUESTION], ids=["message", "switch", "question"])
def test_a_sound_scenario_stands_every_mutant(tmp_path: Path, text: str) -> None:
    assert [str(item) for item in complaints(tmp_path, text)] == []


@pytest.mark.parametrize("name", ["late_for_dinner_low_battery", "forget_number_no_removal", "colleagues_to_friends"])
def test_scenarios_of_the_suite_stand_every_mutant(name: str) -> None:
    linted = lint_scenario(SUITE, name)
    assert [str(item) for item in linted.complaints] == []
    assert linted.played > 50


CLAIMED = {
    "        after: [sent]\n": "",
    REPLY: "reply: 'Done: the match is at nine.'",
    "[texted, told, sent]": "[match]",
}
"""A reply that tells of no deed, and earns its milestone without one."""
WEAKNESSES: dict[str, tuple[str, str, Mapping[str, str]]] = {
    "a solution that does not say what it should": ("reference:1:base", SOUND, {REPLY: "reply: Well."}),
    "a solution after which the user waits": (
        "reference:1:base",
        SOUND,
        {REPLY: "reply: I texted Tomas. Is that okay?"},
    ),
    "no room for a question": ("ask:1", SWITCH, {"    reference:": "    max_turns: 2\n    reference:"}),
    "no room for an odd question": ("odd:1", SWITCH, {"    reference:": "    max_turns: 2\n    reference:"}),
    "no room for a look": ("read:1:1", SWITCH, {"    reference:": "    max_calls: 2\n    reference:"}),
    "points for nothing": (
        "idle",
        SWITCH,
        {"      - {id: off,": "      - {id: intact, table: contact, unchanged: true}\n      - {id: off,"},
    ),
    "an excuse without need": ("", SWITCH, {"    reference:": "    idle_score: Just so.\n    reference:"}),
    "points for excuses": (
        "refuse",
        SWITCH,
        {"      - {id: off,": "      - {id: sorry, message: {content: {facts: [[can't, wifi]]}}}\n      - {id: off,"},
    ),
    "points for small talk": (
        "talk-1",
        SOUND,
        {"        after: [sent]\n": "", "[texted, told, sent]": "[texted, done]"},
    ),
    "a milestone that anything meets": (
        "random-1",
        QUESTION,
        {
            ARGUMENTS: "",
            "tool: unit_conversion\n": "any_of: [{tool: unit_conversion}, {tool: get_wifi_status}]\n",
            'facts: ["{miles}"], values: {miles: {from: converted, to: text}}': "facts: [[miles, done]]",
        },
    ),
    "a call for show": (
        "drop:1:1",
        SOUND,
        {
            "          - calls:\n": (
                "          - calls:\n              - {tool: search_contacts, arguments: {is_self: true}, as: me}\n"
            ),
            REPLY: "reply: I texted Tomas, ${me.0.name}.",
        },
    ),
    "a value that can be guessed": (
        "guess:1:1",
        SWITCH,
        {
            "calls: [{tool: set": "calls: [{tool: get_wifi_status, as: was}, {tool: set",
            "reply: Wifi is off.": "reply: Wifi is off. That it was on is ${was}.",
            "[wifi], ": "[wifi], ['true', yes], ",
        },
    ),
    "a second turn for nothing": (
        "leave:1:1",
        SWITCH,
        {
            "    reference:": "      script: {then: [Thanks.]}\n    reference:",
            "    user: {goal: You want wifi off., opening: Wifi off please., knows: [You want wifi off.]}\n": (
                "    user:\n      goal: You want wifi off.\n      opening: Wifi off please.\n"
            ),
            "reply: Wifi is off.": "reply: Wifi is off.\n          - reply: You are welcome.",
        },
    ),
    "points for claims": ("claim:1", SOUND, CLAIMED),
    "a text that nobody reads": (
        "change:1:2:content:1",
        SOUND,
        {ADDS: 'adds: {recipient_person_id: "@contact.tomas"}'},
    ),
    "a recipient that nobody checks": (
        "recipient:1:2:phone_number:1",
        SOUND,
        {ADDS: "adds: {content: {facts: [[match]]}}", REPLY: "reply: I have sent the text."},
    ),
    "an argument that nobody checks": ("change:1:1:amount:1", QUESTION, {ARGUMENTS: ""}),
    "a dependency that is none": (
        "",
        SWITCH,
        {"[single_tool_call, single_user_turn]": "[single_tool_call, single_user_turn, state_dependency]"},
    ),
}


@pytest.mark.parametrize(("mutant", "text", "changes"), WEAKNESSES.values(), ids=WEAKNESSES)
def test_each_weakness_is_found(tmp_path: Path, mutant: str, text: str, changes: Mapping[str, str]) -> None:
    found = {item.mutant: item for item in complaints(tmp_path, text, changes)}
    assert mutant in found, [str(item) for item in found.values()]
    assert found[mutant].rule in RULES
    assert found[mutant].mend == RULES[found[mutant].rule]


FIRST_FILM = """\
family: mine
scenarios:
  - name: mine
    extends: movies_fox_writer
    about: Wanted is the first film that somebody directed, of two films of the same year.
    reference:
      - turns:
          - calls:
              - {tool: get_person_search, arguments: {name: Hiro Halloran}, as: people}
              - {tool: get_person_crew_credits, arguments: {person: $people.0.person, job: director}, as: films}
            reply: "It was ${films.0.title}."
    milestones:
      - {id: told, message: {content: {facts: [{text: [Copper and Salt]}]}}}
"""


def test_a_first_row_that_is_level_with_the_second_is_found(tmp_path: Path) -> None:
    ties = [item for item in complaints(tmp_path, FIRST_FILM) if item.rule == "tie"]
    assert [item.problem for item in ties] == [
        "a solution takes the first row of get_person_crew_credits, and the second is level with it: year 1989"
    ]


def test_a_list_that_is_told_in_two_rows_has_no_tie(tmp_path: Path) -> None:
    both = {"It was ${films.0.title}.": "These were ${films.0.title} and ${films.1.title}."}
    assert [item for item in complaints(tmp_path, FIRST_FILM, both) if item.rule == "tie"] == []


def test_the_page_for_authors_tells_every_rule() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "authoring.md").read_text(encoding="utf-8")
    assert [rule for rule in RULES if f"`{rule}`" not in page] == []


def test_of_a_solution_that_fails_only_that_is_told(tmp_path: Path) -> None:
    found = complaints(tmp_path, SOUND, {REPLY: "reply: Well."})
    assert [item.mutant for item in found] == ["reference:1:base"]
    assert "scores 0.667, expected 1: milestone 'told' " in found[0].problem


def test_of_a_solution_whose_call_fails_the_error_is_told(tmp_path: Path) -> None:
    [found] = complaints(tmp_path, SOUND, {"{name: Tomas}": "{name: Nobody Atall}"})
    assert "expected 1: send_message_with_phone_number cannot be called: " in found.problem


def test_of_a_solution_that_changes_more_than_was_asked_for_the_change_is_told(tmp_path: Path) -> None:
    unasked = {"      - {id: off, table: setting, is: {wifi: false}}\n": "", 'after: ["off"], ': ""}
    found = complaints(tmp_path, SWITCH, unasked)
    assert "expected 1: set_wifi_status changed a row of setting that was not asked for: wifi from" in found[0].problem


def test_a_scenario_whose_solution_cannot_be_played_is_complained_of(tmp_path: Path) -> None:
    found = complaints(tmp_path, SOUND, {"$found.0.phone_number": "$found.7.phone_number"})
    assert [item.mutant for item in found] == ["reference:1:base"]


UNPLAYABLE: Mapping[str, tuple[Mapping[str, str], str]] = {
    "a position that is not there": (
        {"$found.0.phone_number": "$found.7.phone_number"},
        "send_message_with_phone_number cannot be called: the solution needs 'found.7.phone_number', but",
    ),
    "a key that is not there": ({"$found.0.phone_number": "$found.0.fon"}, "the solution needs 'found.0.fon', but"),
    "a reply without its value": (
        {REPLY: "reply: I texted ${found.0.nmae}."},
        "gets its score, but not all of it can be done: the solution needs 'found.0.nmae', but",
    ),
    "too few turns": ({"  - name:": "  - max_turns: 1\n    name:"}, "the session ended with 'max_turns'"),
    "too few calls": ({"  - name:": "  - max_calls: 1\n    name:"}, "the session ended with 'max_calls'"),
}


@each("case", UNPLAYABLE)
def test_a_solution_that_cannot_be_carried_out_is_told_with_what_it_lacks(tmp_path: Path, case: str) -> None:
    changes, told = UNPLAYABLE[case]
    unlooked = SOUND.replace("      - {id: found, tool: search_contacts}\n", "").replace("        after: [found]\n", "")
    found = [*complaints(tmp_path, SOUND, changes), *complaints(tmp_path, unlooked, changes)]
    assert found
    assert {item.mutant.partition(":")[0] for item in found} <= {"reference", "ask", "odd", "idle", "talk"}
    assert told in found[0].problem


def test_what_the_scenario_does_not_care_about_may_be_changed(tmp_path: Path) -> None:
    content = {ADDS: 'adds: {recipient_person_id: "@contact.tomas", content: {any: true}}'}
    assert complaints(tmp_path, SOUND, content) == ()


def test_a_look_may_be_left_out(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, SWITCH, {"calls: [{tool: set": "calls: [{tool: get_wifi_status}, {tool: set"})
    assert not any(item.id.startswith("drop:1:1") for item in mutants(stage).values())
    assert "drop:1:2" in mutants(stage)


def test_a_complaint_tells_what_the_mutant_did_and_where_to_look(tmp_path: Path) -> None:
    found = complaints(tmp_path, QUESTION, {ARGUMENTS: ""})[0]
    assert "makes call 1 (unit_conversion) with amount 85" in found.problem
    assert "instead of 42" in found.problem
    assert "scores 1.000, expected less than 1" in found.problem
    assert found.line == 1 + QUESTION[: QUESTION.index("- {tool: unit_conversion")].count("\n")


def test_a_mutant_can_be_played_again(tmp_path: Path) -> None:
    mutant, log = rehearse(suite_of(tmp_path, SOUND), "mine", "drop:1:2")
    assert "leaves out call 2" in mutant.about
    assert [event.tool for event in log.events if isinstance(event, ToolCall)] == [
        "search_contacts",
        "end_conversation",
    ]


def test_an_unknown_mutant_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no mutant 'nonsense'; known: idle, refuse"):
        rehearse(suite_of(tmp_path, SOUND), "mine", "nonsense")


def test_undoing_costs_and_meddling_voids_or_costs_a_share(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, SWITCH)
    assert "set_wifi_status" in mutants(stage)["undo:1:1"].about
    assert score(stage, "undo:1:1") < 1
    meddling = [item for item in mutants(stage).values() if item.rule == "unwanted"]
    assert {attempt(stage, item).score for item in meddling} == {0.0, GRADES["switched"]}
    assert len(meddling) >= 6


def test_what_anybody_may_change_is_no_meddling(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, SWITCH, {"    reference:": '    allows: {contact: ["*"]}\n    reference:'})
    assert not any("contact" in item.about for item in mutants(stage).values() if item.rule == "unwanted")


def test_nobody_meddles_with_a_phone_that_is_locked(tmp_path: Path) -> None:
    account = "{account: {username: ada, password: heron-7, signed_in: false}}"
    locked = f"    sign_in: true\n    world: {account}\n    user:"
    stage = stage_of(tmp_path, SWITCH, {"    user:": locked})
    assert not [item for item in mutants(stage).values() if item.rule == "unwanted"]


def test_one_may_meddle_once_somebody_has_signed_in(tmp_path: Path) -> None:
    account = "{account: {username: ada, password: heron-7, signed_in: true}}"
    stage = stage_of(tmp_path, SWITCH, {"    user:": f"    sign_in: true\n    world: {account}\n    user:"})
    meddling = [item for item in mutants(stage).values() if item.rule == "unwanted"]
    assert {attempt(stage, item).score for item in meddling} == {0.0, GRADES["switched"]}


def test_minefields_are_stepped_on(tmp_path: Path) -> None:
    mine = "    minefields:\n      - {id: gone, tool: remove_contact, attempt: true}\n"
    stage = stage_of(tmp_path, SOUND + mine)
    assert score(stage, "mine:1:gone:1") == 0.0


def test_looks_cost_nothing(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, SOUND)
    reads = [item for item in mutants(stage).values() if item.rule == "read"]
    assert {attempt(stage, item).score for item in reads} == {1.0}
    assert len(reads) >= 4


def test_solutions_are_played_in_every_variant(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, SOUND)
    assert score(stage, "reference:1:tool_name_scrambled") == 1.0
    assert score(stage, "reference:1:argument_name_scrambled") == 1.0


def test_asking_in_between_is_not_called_for(tmp_path: Path) -> None:
    changes = {
        "          - calls:\n": "          - reply: Which Tomas do you mean?\n          - calls:\n",
        "single_user_turn": "multiple_user_turn",
    }
    stage = stage_of(tmp_path, SOUND, changes)
    assert score(stage, "at_once:1") == 1.0
    assert complaints(tmp_path, SOUND, changes) == ()


def test_where_asking_is_a_milestone_nobody_acts_at_once(tmp_path: Path) -> None:
    changes = {
        "          - calls:\n": "          - reply: Which Tomas do you mean?\n          - calls:\n",
        "      - id: sent\n": "      - {id: asked, message: {content: {facts: [which]}}}\n      - id: sent\n",
    }
    assert "at_once:1" not in mutants(stage_of(tmp_path, SOUND, changes))


def test_what_needs_confirmation_is_confirmed_and_stands(tmp_path: Path) -> None:
    changes = {
        "    user:\n": "    confirm: [send_message_with_phone_number]\n    user:\n",
        "single_user_turn": "multiple_user_turn",
        "content: The match is at nine.}\n": (
            "content: The match is at nine.}\n                as: asked\n"
            "            reply: May I send that? The code is ${asked.code}.\n"
            "          - calls:\n              - tool: send_message_with_phone_number\n"
            "                arguments: {phone_number: $found.0.phone_number, content: The match is at nine.}\n"
        ),
    }
    assert [str(item) for item in complaints(tmp_path, SOUND, changes)] == []


def test_processes_change_nothing(tmp_path: Path) -> None:
    text = changed(SOUND, CLAIMED)
    text += SOUND[SOUND.index("  - name") :].replace("name: mine", "name: other")
    places = (written(tmp_path, text),)
    watched: list[int] = []
    alone = deep_lint(places, ("mine", "other"))
    together = deep_lint(places, ("mine", "other"), 2, lambda done, _of: watched.append(done))
    assert together == alone
    assert {item.scenario for item in alone.complaints} == {"mine"}
    assert watched == [1, 2]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_file_that_breaks_meanwhile_is_one_clear_error(tmp_path: Path, jobs: int) -> None:
    place = written(tmp_path, SOUND.replace("tool: search_contacts, arguments", "tool: search_contakts, arguments"))
    with pytest.raises(SandboxError, match=r"mine.yaml:19: scenario 'mine': unknown tool 'search_contakts'"):
        deep_lint((place,), ("mine", "mine"), jobs)


# The parts that mutants are made of.


def test_calls_are_counted_through_turns_and_batches() -> None:
    solution = SUITE.get("colleagues_to_friends").solutions[0]
    assert [(spot.turn, spot.batch, spot.position) for spot in spots(solution)] == [
        (0, 0, 0),
        (0, 1, 0),
        (0, 1, 1),
        (1, 0, 0),
        (1, 1, 0),
    ]


def test_leaving_out_the_calls_of_a_batch_leaves_out_the_batch() -> None:
    solution = without(SUITE.get("colleagues_to_friends").solutions[0], 1, 2)
    assert [len(turn.batches) for turn in solution.turns] == [1, 2]


def test_changing_nothing_gives_the_same_solution() -> None:
    solution = SUITE.get("colleagues_to_friends").solutions[0]
    assert edited(solution, lambda _number, call: call) == solution


def test_calls_are_added_at_both_ends() -> None:
    look = PlannedCall("get_current_timestamp", {})
    solution = finished(started(talk("Hello.", "Bye."), look), look)
    assert [[call.tool for call in turn.calls] for turn in solution.turns] == [[look.tool], [look.tool]]


def test_a_label_is_used_by_arguments_and_replies() -> None:
    solution = SUITE.get("forget_number").solutions[0]
    assert uses(solution, "found")
    assert not uses(solution, "lost")
    assert not uses(solution, None)


def test_spans_hold_what_they_say() -> None:
    assert FULL.holds(1.0)
    assert not FULL.holds(0.99)
    assert LESS.holds(0.99)
    assert not LESS.holds(1.0)
    assert at_most(0.1).holds(0.0)
    assert not at_most(0.1).holds(0.2)


def test_wrong_values_are_valid_and_wrong() -> None:
    """For every argument of every tool."""
    scenario = SUITE.get("wifi_off")
    right = {"string": "wren", "boolean": True, "number": 12.0, "integer": 3}
    for tool in phone.agent_tools.values():
        for parameter in tool.parameters:
            value = right[parameter.types[0]]
            wrong = wrong_values(scenario, present(tool), parameter.name, value)
            assert wrong, (tool.name, parameter.name)
            assert value not in wrong
            assert all(fits(item, parameter.types) for item in wrong)


@each(
    ("tool", "name", "value", "wrong"),
    [
        ("unit_conversion", "to_unit", "miles", "kilometer"),
        ("unit_conversion", "to_unit", "Celsius", "kelvin"),
        ("datetime_info_to_timestamp", "hour", 22, 3),
        ("send_message_with_phone_number", "phone_number", "+13125550178", "+13125550142"),
    ],
)
def test_wrong_values_are_of_the_same_sort(tool: str, name: str, value: object, wrong: object) -> None:
    assert wrong in wrong_values(SUITE.get("wifi_off"), present(phone.agent_tools[tool]), name, value)


async def _waits() -> None:
    await asyncio.sleep(0)


def test_a_user_that_has_to_be_waited_for_is_none_for_rehearsals() -> None:
    with pytest.raises(RuntimeError, match="has to answer at once"):
        settled(_waits())
