"""The chat messages that we write: the agent's view of a session."""

from sandbox_grader.exporters.openai_chat import write

from sandbox_mcp.engine.trajectory import CallError
from tests.grader.exporters.sessions import call, message, note, session

FAILED = CallError(kind="execution", type="ValueError", message="no such flight")


def messages(*events):
    return write(session(*events))["messages"]


def test_a_whole_conversation():
    document = write(
        session(
            message("system", "agent", "Be brief."),
            message("user", "agent", "Where is X1?"),
            note("I look.", "reasoning"),
            note("Looking."),
            call("x7", {"number": "X1"}, result={"gate": 4}),
            message("agent", "user", "Gate 4."),
        )
    )
    assert [item["role"] for item in document["messages"]] == ["system", "user", "assistant", "tool", "assistant"]
    assert document["model"] == "m-1"
    assert document["metadata"].items() >= {"session": "s-1", "scenario": "wifi_off"}.items()
    use, result = document["messages"][2:4]
    assert (use["content"], use["reasoning_content"]) == ("Looking.", "I look.")
    assert use["tool_calls"][0]["function"] == {"name": "x7", "arguments": '{"number": "X1"}'}
    assert result == {
        "role": "tool",
        "tool_call_id": use["tool_calls"][0]["id"],
        "content": '{"gate": 4}',
        "error": None,
    }


def test_tools_are_those_presented():
    first, _ = write(session())["tools"]
    assert first == {
        "type": "function",
        "function": {"name": "x7", "description": "Finds.", "parameters": {"type": "object"}},
    }


def test_a_batch_is_one_message_followed_by_its_results():
    shown = messages(call("x7", result=1), call("fly", error=FAILED), call("x7", batch="b2", result=2))
    assert [item["role"] for item in shown] == ["assistant", "tool", "tool", "assistant", "tool"]
    assert len(shown[0]["tool_calls"]) == 2
    assert (shown[2]["content"], shown[2]["error"]["type"]) == ("no such flight", "ValueError")


def test_what_the_agent_never_saw_is_left_out():
    shown = messages(
        message("system", "user", "You are a user."), message("user", "agent", "Hi"), call("fly", caller="user")
    )
    assert [item["content"] for item in shown] == ["Hi"]


def test_a_missing_result_has_no_message():
    assert [item["role"] for item in messages(call("x7", meta={"result_missing": True}))] == ["assistant"]


def test_a_message_to_somebody_unusual_says_so():
    shown = messages(message("environment", "agent", "It rains."), message("agent", "environment", "I see."))
    assert shown == [
        {"role": "system", "content": "It rains.", "name": "environment"},
        {"role": "assistant", "content": "I see.", "recipient": "environment"},
    ]


def test_arguments_that_were_no_object_are_written_as_they_came():
    assert messages(call("x7", raw_arguments="[1"))[0]["tool_calls"][0]["function"]["arguments"] == "[1"
