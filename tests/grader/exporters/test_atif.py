"""The ATIF documents that we write: their form, and where what ATIF has no place for is kept."""

import pytest
from sandbox_grader.exporters.atif import write

from sandbox_mcp.engine.trajectory import CallError
from tests.each import each
from tests.grader.exporters.sessions import call, message, note, session

FAILED = CallError(kind="wrong_type", type="TypeError", message="a number, please")
AGENT_ONLY = {"reasoning_content", "tool_calls", "model_name", "metrics"}
STEP = AGENT_ONLY | {"step_id", "timestamp", "source", "message", "observation", "extra"}


def steps(*events, **more):
    return write(session(*events, **more))["steps"]


@pytest.fixture
def whole():
    return write(
        session(
            message("system", "agent", "Be brief."),
            message("user", "agent", "Where is X1?"),
            note("I look.", "reasoning"),
            note("Looking."),
            call("x7", {"number": "X1"}, result={"gate": 4}),
            call("fly", {}, error=FAILED),
            message("agent", "user", "Gate 4."),
        )
    )


def test_a_whole_document(whole):
    assert whole["schema_version"] == "ATIF-v1.8"
    assert whole["session_id"] == "s-1"
    assert whole["final_metrics"] == {"total_steps": 4}
    assert {key: whole["agent"][key] for key in ("name", "version", "model_name")} == {
        "name": "pilot",
        "version": "2",
        "model_name": "m-1",
    }
    assert [tool["function"]["name"] for tool in whole["agent"]["tool_definitions"]] == ["x7", "fly"]


def test_steps_are_numbered_from_one_and_have_no_members_of_our_own(whole):
    assert [step["step_id"] for step in whole["steps"]] == [1, 2, 3, 4]
    assert all(step.keys() <= STEP for step in whole["steps"])


def test_only_the_agent_s_steps_have_what_only_they_may_have(whole):
    for step in whole["steps"]:
        assert step["source"] == "agent" or not AGENT_ONLY & step.keys()


def test_thought_note_calls_and_results_are_one_step(whole):
    step = whole["steps"][2]
    assert (step["reasoning_content"], step["message"]) == ("I look.", "Looking.")
    assert [made["function_name"] for made in step["tool_calls"]] == ["x7", "fly"]
    ids = [made["tool_call_id"] for made in step["tool_calls"]]
    assert [result["source_call_id"] for result in step["observation"]["results"]] == ids


def test_results_are_texts_and_errors_stand_beside_them(whole):
    found, failed = whole["steps"][2]["observation"]["results"]
    assert (found["content"], found["extra"]) == ('{"gate": 4}', {"sandbox_mcp": {"error": None}})
    assert failed["content"] == "a number, please"
    assert failed["extra"]["sandbox_mcp"]["error"] == {
        "kind": "wrong_type",
        "type": "TypeError",
        "message": "a number, please",
    }


def test_a_usual_message_needs_no_extra(whole):
    assert all("extra" not in step for step in whole["steps"])


def test_an_unusual_message_says_who_and_to_whom():
    [step] = steps(message("environment", "user", "It rains."))
    assert step["source"] == "system"
    assert step["extra"]["sandbox_mcp"] == {
        "sender": "environment",
        "recipient": "user",
        "visible_to": ["environment", "user"],
        "content": "It rains.",
    }


def test_what_the_agent_never_saw_is_no_text_of_a_step():
    [step] = steps(message("system", "user", "You want wifi off. Do not say why."))
    assert (step["source"], step["message"]) == ("system", "")
    assert step["extra"]["sandbox_mcp"]["content"] == "You want wifi off. Do not say why."


def test_calls_of_the_user_are_kept_where_they_mislead_nobody():
    [step] = steps(call("x7", {"a": 1}, caller="user", result=1))
    assert (step["source"], step["message"]) == ("user", "")
    assert "tool_calls" not in step
    assert step["extra"]["sandbox_mcp"]["calls"][0]["caller"] == "user"


def test_a_call_without_result_has_no_observation():
    [step] = steps(call("x7", meta={"result_missing": True}))
    assert "observation" not in step


def test_a_result_of_null_is_one():
    [step] = steps(call("x7"))
    assert step["observation"]["results"][0]["content"] == "null"


def test_arguments_that_were_no_object_are_kept_beside_an_empty_one():
    [step] = steps(call("x7", raw_arguments="[1"))
    assert step["tool_calls"][0]["arguments"] == {}
    assert step["tool_calls"][0]["extra"] == {"sandbox_mcp": {"raw_arguments": "[1"}}


@each(
    ("start", "stamp"),
    [(0.0, None), (1767322799.0, "2026-01-02T03:00:00Z"), (1767322799.5, "2026-01-02T03:00:00.500000Z"), (1e15, None)],
)
def test_times_are_written_where_virtual_time_is_one(start, stamp):
    [step] = steps(message("user", "agent", "Hi"), start=start)
    assert step.get("timestamp") == stamp


def test_an_agent_that_nobody_described():
    from dataclasses import replace

    from sandbox_mcp.engine.trajectory import assemble

    head = replace(session().started, agent={}, tools=())
    assert write(assemble([head]))["agent"] == {"name": "unknown", "version": "unknown"}


@each("end", ["max_turns", None])
def test_the_end_is_kept(end):
    about = write(session(end=end))["extra"]["sandbox_mcp"]
    assert about["end"] == (None if end is None else {"reason": end, "detail": "x"})
