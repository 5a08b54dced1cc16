"""ToolSandbox's result folders: what is taken from them, on a made-up one; real ones are for ``tests/oracles``."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from sandbox_grader.errors import ImportFormatError
from sandbox_grader.papers.toolsandbox.importer import read as read_folders
from sandbox_scenarios.values import row_id

from tests.each import each
from tests.grader.importers.samples import TOOLSANDBOX, calls, checked, ending, lost, read, read_one, said, started

FORMAT = "toolsandbox-results"
PHONE = row_id("setting", "phone")
RUN = "agent_ACME_1_user_GPT_4_07_31_2024_09_05_00"


def folder(tmp_path: Path, context: Any = TOOLSANDBOX, summary: Any = None) -> Path:
    place = tmp_path / RUN / "trajectories" / "wifi_on_3_distraction_tools_tool_name_scrambled"
    place.mkdir(parents=True)
    (place / "execution_context.json").write_text(json.dumps(context))
    if summary is not None:
        (tmp_path / RUN / "result_summary.json").write_text(json.dumps(summary))
    return tmp_path / RUN


def test_the_conversation_begins_after_the_demonstrations() -> None:
    assert said(read_one(FORMAT, TOOLSANDBOX)) == [
        ("user", "agent", f"Turn {PHONE} online."),
        ("agent", "user", "You are online."),
    ]


def test_calls_have_their_real_names_and_what_came_of_them() -> None:
    on, where = calls(read_one(FORMAT, TOOLSANDBOX))
    assert (on.name, on.tool, on.arguments, on.error) == ("setting_8", "set_wifi_status", {"on": True}, None)
    assert where.error is not None
    assert (where.error.type, where.error.kind) == ("PermissionError", "execution")
    assert on.batch == where.batch


def test_what_a_batch_changed_stands_at_its_first_answer() -> None:
    on, where = calls(read_one(FORMAT, TOOLSANDBOX))
    [change] = on.changes
    assert (change.table, change.key, change.before["wifi"], change.after["wifi"]) == ("setting", PHONE, False, True)  # pyright: ignore[reportOptionalSubscript]
    assert where.changes == ()


def test_the_world_begins_as_it_did_with_ids_of_the_imported_suite() -> None:
    assert started(read_one(FORMAT, TOOLSANDBOX)).world == {
        "setting": {PHONE: {"device_id": PHONE, "cellular": True, "wifi": False}},
        "contact": {},
    }


def test_a_session_that_the_user_left_is_over() -> None:
    assert ending(read_one(FORMAT, TOOLSANDBOX)) == "recorded"


def test_the_folder_tells_scenario_variant_agent_and_user(tmp_path: Path) -> None:
    [session] = checked(FORMAT, list(read_folders([folder(tmp_path)])))
    head = started(session)
    assert (head.scenario, head.variant) == ("wifi_on", "tool_name_scrambled")
    assert (head.agent["model"], head.user["model"]) == ("ACME_1", "GPT_4")
    assert (head.origin or {})["began"] == "2024-07-31T09:05:00"


def test_the_summary_tells_what_its_evaluator_said(tmp_path: Path) -> None:
    name = "wifi_on_3_distraction_tools_tool_name_scrambled"
    told = {"name": name, "similarity": 0.0, "turn_count": 30, "exception_type": "KeyError"}
    [session] = read_folders([folder(tmp_path, summary={"per_scenario_results": [told]})])
    assert (started(session).origin or {})["reported"]["exception_type"] == "KeyError"
    assert "KeyError ended it there, which counted as 0" in lost(session)


def test_rows_that_share_an_id_stay_apart() -> None:
    twins = copy.deepcopy(TOOLSANDBOX)
    twins["_dbs"]["MESSAGING"] = [
        {"sandbox_message_index": 0, "message_id": "m", "content": text} for text in ("One.", "Two.")
    ]
    rows = (started(read_one(FORMAT, twins)).world or {})["messaging"]
    assert [row["content"] for row in rows.values()] == ["One.", "Two."]


def test_a_folder_without_a_session_is_named(tmp_path: Path) -> None:
    with pytest.raises(ImportFormatError, match=r"holds no execution_context\.json"):
        list(read_folders([tmp_path]))


@each("context", [{"_dbs": {"SANDBOX": []}}, {"_dbs": []}, {}, {"_dbs": {"SANDBOX": [{"sender": "NOBODY"}]}}])
def test_what_is_no_context_is_refused(context: Any) -> None:
    with pytest.raises(ImportFormatError):
        read(FORMAT, context)
