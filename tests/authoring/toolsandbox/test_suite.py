"""From a dump of ToolSandbox's scenarios to a suite that plays, on a made-up dump; the real one is for the oracles."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sandbox_grader.milestones import compat, strict
from sandbox_grader.milestones.case import Case
from sandbox_grader.milestones.translate import to_case
from sandbox_grader.papers.toolsandbox.names import split_name
from sandbox_scenarios import Suite
from sandbox_scenarios.model import PlannedCall, PlannedTurn, Solution
from sandbox_scenarios.variants import presented

from sandbox_mcp.app.benchmarks.toolsandbox import write_suite
from sandbox_mcp.app.cli import group
from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from sandbox_mcp.play.users.llm import prompt
from tests.each import each

TOOLS = ("add_reminder", "modify_reminder", "search_contacts", "set_wifi_status")
SENT = {"sender": {"name": "column_exact_match_similarity"}, "recipient": {"name": "column_exact_match_similarity"}}


def on(table: str, function: str, row: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A constraint as the dump has it."""
    measures = more.pop("measures", {name: {"name": "column_exact_match_similarity"} for name in row})
    reference = more.pop("reference", None)
    return {
        "table": table,
        "reference": reference,
        "rows": [row],
        "function": {"name": function, **more},
        "measures": measures,
    }


def called(tool: str, **arguments: Any) -> dict[str, Any]:
    row = {"sender": "EXECUTION_ENVIRONMENT", "recipient": "AGENT"}
    trace = json.dumps({"tool_name": tool, "arguments": arguments})
    measures = {**SENT, "tool_trace": {"name": "column_tool_trace_exact_match_similarity"}}
    return on("SANDBOX", "snapshot_similarity", {**row, "tool_trace": trace}, measures=measures)


def said(text: str) -> dict[str, Any]:
    row = {"sender": "AGENT", "recipient": "USER", "content": text}
    measures = {**SENT, "content": {"name": "column_rouge_l_similarity"}}
    return on("SANDBOX", "snapshot_similarity", row, measures=measures)


def message(sender: str, recipient: str, content: str, *, hidden: bool = False) -> dict[str, Any]:
    visible = ["USER"] if hidden else None
    return {"sender": sender, "recipient": recipient, "content": content, "visible_to": visible}


TASK = (
    "Be brief. Answer given the following task you (User A) want User B to complete: "
    "Remind me to water the figs at ten. You do not know more."
)
DUE = {"content": "Water the figs", "reminder_timestamp": 1741860000.0}
GUARDED = {
    "table": "CONTACT",
    "reference": 0,
    "rows": None,
    "function": {"name": "guardrail_similarity"},
    "measures": {},
}
SCENARIO: dict[str, Any] = {
    "categories": ["MULTIPLE_TOOL_CALL", "SINGLE_USER_TURN", "NO_DISTRACTION_TOOLS"],
    "tables": {
        "SETTING": [
            {
                "device_id": "d-1", "cellular": True, "wifi": False, "location_service": True,
                "low_battery_mode": False, "latitude": 43.3, "longitude": 5.4,
            }
        ],
        "CONTACT": [
            {
                "person_id": "p-1", "name": "Ana Ruiz", "phone_number": "+34911555010", "relationship": "self",
                "is_self": True,
            }
        ],
        "MESSAGING": [],
        "REMINDER": [],
    },
    "messages": [
        message("SYSTEM", "AGENT", "Ask when in doubt."),
        message("USER", "AGENT", "Wake me.", hidden=True),
        message("AGENT", "USER", "When?", hidden=True),
        message("SYSTEM", "USER", TASK),
        message("USER", "AGENT", "Remind p-1 of the figs at ten."),
    ],
    "allowed": list(TOOLS), "denied": ["search_stock"],
    "presented": {name: name for name in (*TOOLS, "end_conversation")},
    "max_messages": 30,
    "milestones": {
        "nodes": [
            [called("search_contacts", person_id="p-1")],
            [on("SETTING", "snapshot_similarity", {"wifi": True})],
            [on("REMINDER", "addition_similarity", DUE, reference=0), GUARDED],
            [said("I shall remind you of the figs.")],
        ],
        "edges": [[0, 2], [1, 2], [2, 3]],
    },
    "minefields": {"nodes": [], "edges": []},
}  # fmt: skip


def dumped() -> dict[str, Any]:
    scrambled = copy.deepcopy(SCENARIO)
    scrambled["presented"] = {f"misc_{number}": name for number, name in enumerate(TOOLS)}
    return {
        "now": "2025-03-12T09:30:00",
        "scenarios": {"figs": SCENARIO, "figs_3_distraction_tools_tool_name_scrambled": scrambled},
    }


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    assert write_suite(dumped(), "Europe/Paris", tmp_path) == 1
    return Suite([tmp_path])


def test_the_planned_answer_is_right_by_their_rules_and_ours(suite: Suite) -> None:
    scenario = suite.get("figs")
    log = RehearsalStage(scenario).rehearse(scenario.solutions[0]).log
    assert compat.evaluate(to_case(scenario, log).case).score == pytest.approx(1)
    assert strict.evaluate(scenario, log).score == pytest.approx(1)


def test_what_nobody_asked_for_is_seen_where_their_guardrails_look(suite: Suite) -> None:
    scenario = suite.get("figs")
    log = RehearsalStage(scenario).rehearse(scenario.solutions[0], known={}).log
    assert [node.constraints[-1].kind for node in to_case(scenario, log).case.milestones.nodes] == [
        "snapshot", "snapshot", "guardrail", "snapshot",
    ]  # fmt: skip


def case_of(suite: Suite, *batches: tuple[PlannedCall, ...]) -> Case:
    """What their evaluator would see of a session with these batches of calls."""
    scenario = suite.get("figs")
    log = RehearsalStage(scenario).rehearse(Solution((PlannedTurn(batches, "I shall remind you."),))).log
    return to_case(scenario, log).case


def test_calls_sent_together_are_asked_together_and_the_first_answer_shows_what_they_did(suite: Suite) -> None:
    on, due = PlannedCall("set_wifi_status", {"on": True}), PlannedCall("add_reminder", DUE)
    among = {"agent", "environment"}  # the user has a call of its own, by which it leaves
    calls = [item for item in case_of(suite, (on, due)).messages if {item.sender, item.recipient} == among]
    assert [item.sender for item in calls] == ["agent", "agent", "environment", "environment"]
    assert [len(item.changes) for item in calls] == [0, 0, 2, 0]


def test_calls_are_recorded_with_their_defaults(suite: Suite) -> None:
    [answer] = [item for item in case_of(suite, (PlannedCall("add_reminder", DUE),)).messages if item.calls]
    assert (answer.calls or ())[0].arguments == {**DUE, "latitude": None, "longitude": None}


def test_a_changed_row_moves_to_the_end_as_there(suite: Suite) -> None:
    first, second = (PlannedCall("add_reminder", DUE, label) for label in ("one", "two"))
    later = PlannedCall("modify_reminder", {"reminder_id": "$one", "content": "Water the olives"})
    case = case_of(suite, (first,), (second,), (later,))
    kinds = [(change.kind, change.position) for item in case.messages for change in item.changes]
    assert kinds == [("add", 0), ("add", 1), ("remove", 0), ("add", 1)]


def test_ids_in_texts_and_milestones_are_those_of_our_rows(suite: Suite) -> None:
    scenario = suite.get("figs")
    ana = next(iter(scenario.world.table("contact")))
    assert scenario.user.opening == f"Remind {ana} of the figs at ten."
    assert scenario.solutions[0].turns[0].calls[1].arguments == {"person_id": ana}


def test_the_user_is_told_what_it_is_told_there_unless_a_part_is_left_out(suite: Suite) -> None:
    user = suite.get("figs").user
    assert prompt(user) == TASK
    assert user.goal == "Remind me to water the figs at ten."
    assert user.does_not_know == ("You do not know more.",)
    assert "You do not know more" not in prompt(user, frozenset({"knows"}))
    assert [(pair.user, pair.agent) for pair in user.demonstration] == [("Wake me.", "When?")]


def test_a_variant_offers_what_it_offers_there_under_those_names(suite: Suite) -> None:
    shown = presented(suite.get("figs"), "tool_name_scrambled")
    assert {name: tool.tool.name for name, tool in shown.items()} == {f"misc_{n}": name for n, name in enumerate(TOOLS)}


def test_what_agents_are_told_first_lies_beside_the_suite(tmp_path: Path) -> None:
    write_suite(dumped(), "Europe/Paris", tmp_path)
    assert (tmp_path / "instructions.txt").read_text() == "Ask when in doubt.\n"


@each(
    ("name", "parts"),
    [
        ("wifi_off", ("wifi_off", "base")),
        ("wifi_off_all_tools", ("wifi_off", "all_tools")),
        ("wifi_off_3_distraction_tools_arg_type_scrambled", ("wifi_off", "argument_type_scrambled")),
    ],
)
def test_their_names_say_scenario_and_variant(name: str, parts: tuple[str, str]) -> None:
    assert split_name(name) == parts


def test_a_measure_that_is_unknown_is_named(tmp_path: Path) -> None:
    strange = dumped()
    strange["scenarios"]["figs"] = copy.deepcopy(SCENARIO)
    strange["scenarios"]["figs"]["milestones"]["nodes"][1][0]["function"]["name"] = "vibes_similarity"
    with pytest.raises(RunError, match="'vibes_similarity', which is unknown here"):
        write_suite(strange, "Europe/Paris", tmp_path)


def test_a_folder_without_a_checkout_is_named(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        group, ["import-suite", "toolsandbox", str(tmp_path), "-o", str(tmp_path / "out"), "--python", "/usr/bin/true"]
    )
    assert isinstance(done.exception, RunError)
    assert "is not a checkout of ToolSandbox" in str(done.exception)


def test_without_an_interpreter_it_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_MCP_AGENTS", str(tmp_path / "none"))
    done = CliRunner().invoke(group, ["import-suite", "toolsandbox", str(tmp_path), "-o", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert "agents install toolsandbox-import" in done.output


def test_an_environment_for_it_needs_a_checkout_and_nothing_else_does(tmp_path: Path) -> None:
    for arguments in (["toolsandbox-import"], ["langgraph", "--checkout", str(tmp_path)]):
        done = CliRunner().invoke(group, ["agents", "install", *arguments])
        assert done.exit_code == 2
        assert "toolsandbox-import and --checkout DIR go together" in done.output
