"""Logs of our tools that came back from other formats without state: it is rebuilt, checked, and graded."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sandbox_grader.exporters import exporter
from sandbox_grader.grading.rebuild import Mismatch, rebuilt
from sandbox_grader.grading.served import alike as compared
from sandbox_grader.importers import importer
from sandbox_grader.reporting.grade_logs import grade_logs, graded
from sandbox_scenarios import Suite
from sandbox_scenarios.model import Scenario
from sandbox_scenarios.variants import actions

from sandbox_mcp.engine.trajectory import CallError, Message, ToolCall, Trajectory, assemble, to_line
from sandbox_mcp.engine.world import fold, snapshot_of
from sandbox_mcp.engine.worlds import FILES
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from tests.each import each
from tests.suite import SUITE

SAMPLE = (
    "wifi_off", "bank_not_monday", "car_fixed", "late_for_dinner_low_battery", "colleagues_to_friends", "forget_number",
    "what_to_empty_tomorrow", "when_the_dough_is_done", "pharmacy_into_contacts_location_off",
)  # fmt: skip


@pytest.fixture(scope="module")
def suite() -> Suite:
    return SUITE


def played(scenario: Scenario, seed: int = 0) -> Trajectory:
    return RehearsalStage(scenario).rehearse(scenario.solutions[0], seed=seed).log


def returned(trajectory: Trajectory, form: str, folder: Path) -> Trajectory:
    """The session after it went out in another format and came back."""
    path = folder / "session.json"
    path.write_text(json.dumps(exporter(form)(trajectory)))
    [imported] = importer(form)([path])
    return assemble(imported.events, "session.jsonl")


def calls(trajectory: Trajectory) -> list[ToolCall]:
    return [event for event in trajectory.events if isinstance(event, ToolCall) and event.caller == "agent"]


def redone(log: Trajectory, scenario: Scenario) -> tuple[Trajectory, tuple[Mismatch, ...]]:
    again = rebuilt(log, scenario)
    return again.trajectory, again.mismatches


def end(trajectory: Trajectory) -> Any:
    return fold(snapshot_of(trajectory.started.world or {}), [c for call in calls(trajectory) for c in call.changes])


def edited(trajectory: Trajectory, which: str, **fields: Any) -> Trajectory:
    """The session with another outcome of one tool."""
    events = tuple(
        replace(event, **fields) if isinstance(event, ToolCall) and event.tool == which else event
        for event in trajectory.events
    )
    return replace(trajectory, events=events)


@each("form", ["atif", "openai-chat"])
@each("name", SAMPLE)
def test_a_session_that_went_abroad_scores_as_before(name: str, form: str, suite: Suite, tmp_path: Path):
    scenario = suite.get(name)
    for seed in (0, 3):
        before = played(scenario, seed)
        after = returned(before, form, tmp_path)
        assert after.started.world is None
        assert graded(after, scenario).scores.score == graded(before, scenario).scores.score == 1
        assert graded(after, scenario).warnings == ()


@each("form", ["atif", "openai-chat"])
def test_the_state_is_the_one_that_was_lost(form: str, suite: Suite, tmp_path: Path):
    before = played(suite.get("colleagues_to_friends"), seed=7)
    again, mismatches = redone(returned(before, form, tmp_path), suite.get("colleagues_to_friends"))
    assert mismatches == ()
    assert again.started.world == before.started.world
    assert [call.changes for call in calls(again)] == [call.changes for call in calls(before)]
    assert end(again) == end(before)


def test_a_bad_session_stays_bad(suite: Suite, tmp_path: Path):
    scenario = suite.get("wifi_off")
    log = returned(played(scenario), "openai-chat", tmp_path)
    talked = replace(log, events=tuple(event for event in log.events if isinstance(event, Message)))
    assert graded(talked, scenario).scores.score == 0


class TestDisagreement:
    def lying(self, suite: Suite, folder: Path) -> Trajectory:
        log = returned(played(suite.get("bank_not_monday")), "openai-chat", folder)
        return edited(log, "timestamp_to_datetime_info", result={"year": 1999})

    def test_is_told_with_both_outcomes(self, suite: Suite, tmp_path: Path):
        _, [mismatch] = redone(self.lying(suite, tmp_path), suite.get("bank_not_monday"))
        assert mismatch.tool == "timestamp_to_datetime_info"
        assert str(mismatch).startswith(f"#{mismatch.seq} timestamp_to_datetime_info gave ")
        assert '{"year": 1999}, and again {"year": 2025' in str(mismatch)

    def test_makes_the_milestones_inconclusive_and_warns(self, suite: Suite, tmp_path: Path):
        _, scores, warnings = graded(self.lying(suite, tmp_path), suite.get("bank_not_monday"))
        assert scores.score is None
        reason = scores.to_json()["metrics"]["toolsandbox"]["inconclusive"]
        assert "carried out again its calls give other results: #" in reason
        assert warnings == (f"session.jsonl: {reason}",)

    def test_a_success_that_cannot_have_been_one(self, suite: Suite, tmp_path: Path):
        scenario = suite.get("late_for_dinner_low_battery")
        log = returned(played(scenario), "atif", tmp_path)
        events = tuple(
            e for e in log.events if not (isinstance(e, ToolCall) and e.tool == "set_cellular_service_status")
        )
        again, mismatches = redone(replace(log, events=events), scenario)
        assert [item.tool for item in mismatches] == ["send_message_with_phone_number"]
        assert "ConnectionError: cellular service is off" in str(mismatches[0])
        assert end(again).table("messaging") == snapshot_of(scenario.world.tables).table("messaging")

    def test_a_failure_that_would_have_worked_changes_nothing(self, suite: Suite, tmp_path: Path):
        scenario = suite.get("wifi_off")
        failed = CallError(kind="execution", type="PermissionError", message="no")
        log = edited(returned(played(scenario), "atif", tmp_path), "set_wifi_status", error=failed)
        again, mismatches = redone(log, scenario)
        assert len(mismatches) == 1
        assert end(again) == scenario.world

    def test_arguments_that_our_tool_does_not_take(self, suite: Suite, tmp_path: Path):
        log = edited(returned(played(suite.get("wifi_off")), "atif", tmp_path), "set_wifi_status", arguments={"on": 3})
        _, [mismatch] = redone(log, suite.get("wifi_off"))
        assert mismatch.recorded == "null"


def test_a_refusal_of_the_session_is_no_outcome_of_a_tool(suite: Suite, tmp_path: Path):
    log = returned(played(suite.get("wifi_off")), "atif", tmp_path)
    refused = CallError(kind="execution", type="Error", message="ConfirmationRequiredError: the user must confirm")
    again, mismatches = redone(edited(log, "set_wifi_status", error=refused), suite.get("wifi_off"))
    assert (mismatches, calls(again)[0].changes) == ((), ())


def test_a_result_that_was_not_recorded_is_not_held_against_the_log(suite: Suite, tmp_path: Path):
    scenario = suite.get("colleagues_to_friends")
    log = returned(played(scenario), "atif", tmp_path)
    again, mismatches = redone(edited(log, "search_contacts", result=None, meta={"result_missing": True}), scenario)
    assert mismatches == ()
    assert end(again) == end(played(scenario))


class TestWhatIsLeftAsItIs:
    def test_a_log_with_state(self, suite: Suite):
        log = played(suite.get("wifi_off"))
        assert redone(log, suite.get("wifi_off")) == (log, ())

    def test_a_log_of_no_scenario_of_ours(self, suite: Suite, tmp_path: Path):
        log = returned(played(suite.get("wifi_off")), "atif", tmp_path)
        assert "no scenario" in str(graded(log, None).scores.verdicts["toolsandbox"].inconclusive)


class TestForeignTools:
    """Tools of the host cannot touch the world: their calls are left out, named and counted."""

    def test_they_do_not_take_the_score_away(self, suite: Suite, tmp_path: Path):
        scenario = suite.get("wifi_off")
        log = returned(played(scenario), "openai-chat", tmp_path)
        foreign = replace(calls(log)[0], call="x", batch="x", name="TodoWrite", tool="TodoWrite", arguments={})
        found = graded(replace(log, events=(log.events[0], foreign, foreign, *log.events[1:])), scenario)
        assert found.scores.score == 1
        assert found.warnings == ("session.jsonl: left out, as they are no tools of 'wifi_off': TodoWrite (2)",)
        assert [call.tool for call in calls(found.trajectory)] == ["set_wifi_status"]

    @each("form", [*(f"my-server{mark}{{}}" for mark in ("_", "-", "__", "___", ".", ":", "/", "#", " → ")),
        "{}_mcp_phone", "functions.{}:0", "phone_mcp_{}"])  # fmt: skip
    def test_what_a_host_adds_to_a_name_does_not_make_it_foreign(self, form: str, suite: Suite, tmp_path: Path):
        scenario = suite.get("wifi_off")
        log = returned(played(scenario), "openai-chat", tmp_path)
        name = form.format("set_wifi_status")
        assert graded(edited(log, "set_wifi_status", name=name, tool=name), scenario).scores.score == 1

    @each("name", ["setWifiStatus", "set-wifi-status", "SetWifiStatus", "mcp__my_server__setWifiStatus",
        "my-server.set-wifi-status", "set_wifi_status_0", "set_wifi_status-12", "set_wifi_status_9f3ac1",
        "setWifiStatus_k3Xq8aP"])  # fmt: skip
    def test_another_spelling_of_one_of_our_tools_does_not_make_it_foreign(
        self, name: str, suite: Suite, tmp_path: Path
    ):
        log = returned(played(suite.get("wifi_off")), "openai-chat", tmp_path)
        found = graded(edited(log, "set_wifi_status", name=name, tool=name), suite.get("wifi_off"))
        assert (found.scores.score, found.warnings) == (1, ())

    @each("name", ["resetWifiStatus", "set_wifi_status_decade", "setWifi", "set_wifi_statuses"])
    def test_a_name_that_is_no_spelling_of_one_of_our_tools_is_foreign(self, name: str, suite: Suite, tmp_path: Path):
        log = returned(played(suite.get("wifi_off")), "openai-chat", tmp_path)
        assert rebuilt(edited(log, "set_wifi_status", name=name, tool=name), suite.get("wifi_off")).foreign == {name: 1}

    @each(("host", "arguments"), [
        ("use_mcp_tool", {"server_name": "s", "tool_name": "set_wifi_status", "arguments": '{"on": false}'}),
        ("CallMcpTool", {"server": "s", "toolName": "set_wifi_status", "arguments": {"on": False}}),
        ("execute_tool", {"tool": "s__set_wifi_status", "input": {"on": False}}),
    ])  # fmt: skip
    def test_a_call_that_a_tool_of_the_host_passes_on_is_a_call_of_ours(
        self, host: str, arguments: dict[str, Any], suite: Suite, tmp_path: Path
    ):
        exported = exporter("openai-chat")(played(suite.get("wifi_off")))
        calling = next(message for message in exported["messages"] if message.get("tool_calls"))
        calling["tool_calls"][0]["function"] = {"name": host, "arguments": json.dumps(arguments)}
        (tmp_path / "log.json").write_text(json.dumps(exported))
        [session] = importer("openai-chat")([tmp_path / "log.json"])
        [call] = calls(log := assemble(session.events, "log"))
        assert (call.meta["through"], dict(call.arguments)) == (host, {"on": False})
        assert graded(log, suite.get("wifi_off")).scores.score == 1

    def test_a_tool_that_ends_like_one_of_ours_is_foreign_beside_it(self, suite: Suite, tmp_path: Path):
        log = returned(played(suite.get("wifi_off")), "openai-chat", tmp_path)
        other = replace(calls(log)[0], call="x", batch="x", name="router_set_wifi_status", tool=None)
        found = rebuilt(replace(log, events=(*log.events, other)), suite.get("wifi_off"))
        assert found.foreign == {"router_set_wifi_status": 1}


SERVED = ("landlord_number", "bank_not_monday", "colleagues_to_friends", "forget_number", "car_fixed", "oldest_text")


def plainly(value: Any) -> Any:
    """A result of a log as plain JSON values."""
    return json.loads(json.dumps(value, default=dict))


def whole(text: str, structured: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "structuredContent": structured, "isError": False}


KEPT: dict[str, Callable[[str, Any], Any]] = {
    "text": lambda text, _: text,
    "structured": lambda _, structured: structured,
    "blocks": lambda text, _: [{"type": "text", "text": text}],
    "whole": whole,
    "carried": lambda text, _: {"output": text},
    "python": lambda _, structured: repr(structured),
    "python parts": lambda text, _: f"[TextContent(type='text', text={text!r}, annotations=None)]",
    "python whole": lambda text, told: (
        f"meta=None content=[TextContent(type='text', text={text!r})] structured={told!r}"
    ),
    "below a line": lambda text, _: f"Wall time: 0.0400 seconds\nOutput:\n{text}",
    "below another": lambda text, _: f"[use_mcp_tool for 'sandbox'] Result:\n{text}",
    "above a reminder": lambda text, _: f"{text}\n\n<system-reminder>\nMind your todos [2].\n</system-reminder>",
    "fenced": lambda text, _: f"```json\n{text}\n```",
    "part as text": lambda text, _: json.dumps({"type": "text", "text": text, "annotations": None}),
    "snake": lambda _, structured: {"structured_content": structured},
    "bare": lambda _, structured: "" if structured == {"result": None} else structured,
}


@each("form", sorted(KEPT))
@each("name", SERVED)
def test_what_our_server_sent_is_recognised_in_the_forms_in_which_hosts_keep_it(
    name: str, form: str, suite: Suite, tmp_path: Path
):
    scenario = suite.get(name)
    before = played(scenario)
    shown = actions(scenario)

    def kept(call: ToolCall) -> Any:
        result = plainly(call.result)
        structured = {"result": result} if shown[call.name].tool.wrapped else result
        return KEPT[form](json.dumps(structured, ensure_ascii=False, separators=(",", ":")), structured)

    log = returned(before, "openai-chat", tmp_path)
    events = [replace(e, result=kept(e)) if isinstance(e, ToolCall) and not e.error else e for e in log.events]
    found = graded(replace(log, events=tuple(events)), scenario)
    assert (found.scores.score, found.warnings) == (1, ())
    assert [call.result for call in calls(found.trajectory)] == [call.result for call in calls(before)]


@each("other", ['{"result": 1}', "[use_mcp_tool] Result:\n{}", "null and void", "Output: [null, {}]"])
def test_what_our_server_did_not_send_is_told(other: str, suite: Suite, tmp_path: Path):
    log = edited(returned(played(suite.get("wifi_off")), "openai-chat", tmp_path), "set_wifi_status", result=other)
    assert len(redone(log, suite.get("wifi_off"))[1]) == 1


@each("text", ["PermissionError: {}", "Error executing tool: PermissionError: {}", '{{"error":"PermissionError: {}"}}'])
def test_our_own_error_is_one_though_the_host_kept_it_as_a_result(text: str, suite: Suite, tmp_path: Path):
    scenario = suite.get("late_for_dinner_low_battery")
    log = returned(played(scenario), "openai-chat", tmp_path)
    on = replace(calls(log)[0], call="x", batch="x", name="set_wifi_status", tool="set_wifi_status")
    said = text.format("wifi cannot be turned on in low battery mode")
    tried = replace(on, arguments={"on": True}, result=said, error=None)
    place = next(i for i, event in enumerate(log.events) if isinstance(event, ToolCall))
    found = graded(replace(log, events=(*log.events[:place], tried, *log.events[place:])), scenario)
    assert found.warnings == ()
    first = calls(found.trajectory)[0]
    assert (first.error and first.error.type, first.result) == ("PermissionError", None)


def test_calls_sent_together_are_carried_out_in_an_order_that_gives_what_was_recorded(suite: Suite, tmp_path: Path):
    scenario = suite.get("late_for_dinner_low_battery")
    log = returned(played(scenario), "openai-chat", tmp_path)
    together = [replace(e, batch="b") if isinstance(e, ToolCall) else e for e in log.events]
    assert graded(replace(log, events=tuple(together)), scenario).scores.score == 1


def test_folders_of_logs_are_rebuilt_as_they_are_graded(suite: Suite, tmp_path: Path):
    log = returned(played(suite.get("wifi_off")), "atif", tmp_path)
    path = tmp_path / "session.jsonl"
    path.write_text("".join(map(to_line, [event for event in (log.started, *log.events, log.ended) if event])))
    collection = grade_logs([path], suite.get)
    assert [scores.score for scores in collection.sessions] == [1]
    assert collection.families()["conduct"]["harmful_changes"] == {"known": 1, "total": 0, "rate": 0}


def test_the_refusal_of_a_closed_gate_is_no_outcome_of_a_tool_in_any_world(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = Path(__file__).parents[1] / "worlds" / "declared"
    monkeypatch.setenv(FILES, str(library / "library.py"))
    scenario = Suite([library / "library.yaml"]).get("lend_the_lamplighters")
    refused = CallError(kind="execution", type="Error", message="OpeningRequiredError: the library is closed")
    log = edited(returned(played(scenario), "atif", tmp_path), "lend", error=refused)
    again, mismatches = redone(log, scenario)
    assert (mismatches, calls(again)[-1].changes) == ((), ())


@each(("recorded", "again", "same"), [
    ("2026-08-06T07:10:06", "2026-08-06T07:10:07", True),
    ("2026-08-06T07:10:06", "2026-08-06T07:12:07", False),
    ("2026-08-06", "2026-08-07", False),
    ("07:10:06", "07:10:07", False),
])  # fmt: skip
def test_a_time_of_the_clock_may_be_some_seconds_off_also_as_a_text(recorded: str, again: str, same: bool):
    assert compared({"at": recorded}, {"at": again}) is same
