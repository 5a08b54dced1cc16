"""OpenAI chat: the shapes a conversation comes in, and what is taken from its messages."""

import copy

import pytest
from sandbox_grader.errors import ImportFormatError

from tests.each import each
from tests.grader.importers.samples import (
    OPENAI_CHAT,
    calls,
    chat_call,
    ending,
    function,
    lost,
    read,
    read_one,
    said,
    started,
)

ASK = {"role": "user", "content": "Where is X1?"}
USE = {"role": "assistant", "content": None, "tool_calls": [chat_call("find", {"number": "X1"}, "a")]}
GOT = {"role": "tool", "tool_call_id": "a", "content": "4"}
TELL = {"role": "assistant", "content": "Gate 4."}


def chat(*messages, **more):
    return {"messages": list(messages), **more}


def test_a_whole_conversation():
    session = read_one("openai-chat", OPENAI_CHAT)
    assert said(session) == [
        ("system", "agent", "Be brief."),
        ("user", "agent", "Cancel X1."),
        ("agent", "agent", "Two at once."),
        ("agent", "user", "Sorry."),
    ]
    assert started(session).agent == {"model": "m-1"}
    assert [tool.name for tool in started(session).tools] == ["find", "cancel"]


def test_parallel_calls_are_one_batch_whatever_the_order_of_their_results():
    find, cancel = calls(read_one("openai-chat", OPENAI_CHAT))
    assert find.batch == cancel.batch
    assert (find.result, find.error) == ([1, 2], None)
    assert (cancel.raw_arguments, cancel.error.kind) == ("not json", "invalid_format")


def test_what_is_not_text_is_named():
    assert "messages[1].content[1]: content of type 'image_url' is not kept" in lost(
        read_one("openai-chat", OPENAI_CHAT)
    )


class TestContainers:
    def test_a_bare_list(self):
        assert len(said(read_one("openai-chat", [ASK, TELL]))) == 2

    def test_a_list_of_lists(self):
        assert [session.name for session in read("openai-chat", [[ASK, TELL], [ASK]])] == ["log", "log-2"]

    def test_a_list_of_objects(self):
        first, second = read("openai-chat", [chat(ASK, id="one"), chat(ASK, id=2)])
        assert (first.name, second.name) == ("log-one", "log-2")

    def test_lines_of_objects(self):
        assert len(read("openai-chat", [chat(ASK, TELL), chat(ASK)], "log.jsonl")) == 2

    def test_lines_of_messages_are_one_conversation(self):
        assert len(said(read_one("openai-chat", [ASK, TELL], "log.jsonl"))) == 2

    @each(
        "document",
        [
            {
                "request": chat(ASK, tools=[function("find")]),
                "response": {"model": "m", "choices": [{"message": TELL}]},
            },
            chat(ASK, model="m", tools=[function("find")], choices=[{"message": TELL}]),
        ],
    )
    def test_a_request_with_its_response(self, document):
        session = read_one("openai-chat", document)
        assert said(session)[-1] == ("agent", "user", "Gate 4.")
        assert started(session).agent == {"model": "m"}
        assert len(started(session).tools) == 1

    def test_alternative_answers_are_named(self):
        session = read_one("openai-chat", chat(ASK, choices=[{"message": TELL}, {"message": TELL}]))
        assert len(said(session)) == 2
        assert "choices[1]: an alternative answer is not kept" in lost(session)

    def test_no_messages_at_all(self):
        with pytest.raises(ImportFormatError, match="holds a conversation without messages"):
            read("openai-chat", chat())

    def test_something_else(self):
        with pytest.raises(ImportFormatError, match="lacks 'messages'; it has \"steps\""):
            read("openai-chat", {"steps": []})


class TestShapes:
    def test_functions_before_there_were_tools(self):
        old = {"role": "assistant", "content": None, "function_call": {"name": "find", "arguments": '{"number": "X1"}'}}
        session = read_one("openai-chat", chat(ASK, old, {"role": "function", "name": "find", "content": "4"}))
        [call] = calls(session)
        assert (call.arguments, call.result) == ({"number": "X1"}, 4)

    def test_custom_tools_take_text(self):
        use = {
            "role": "assistant",
            "tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "sql", "input": "x"}}],
        }
        [call] = calls(read_one("openai-chat", [ASK, use]))
        assert (call.name, call.raw_arguments) == ("sql", "x")

    def test_a_refusal_is_what_the_agent_said(self):
        session = read_one("openai-chat", [ASK, {"role": "assistant", "content": None, "refusal": "I can't."}])
        assert said(session)[-1] == ("agent", "user", "I can't.")

    def test_text_in_parts(self):
        parts = [{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "b"}, {"type": "text", "text": None}]
        session = read_one("openai-chat", [ASK, {"role": "assistant", "content": parts}])
        assert said(session)[-1][2] == "a\nb\n"

    def test_text_beside_a_call_is_a_note(self):
        session = read_one("openai-chat", [ASK, USE | {"content": "Looking."}, GOT])
        assert said(session)[-1] == ("agent", "agent", "Looking.")

    def test_an_empty_answer_is_an_answer(self):
        assert said(read_one("openai-chat", [ASK, {"role": "assistant", "content": None}]))[-1] == ("agent", "user", "")

    def test_audio_and_unknown_roles_are_named(self):
        session = read_one("openai-chat", [ASK, TELL | {"audio": {"id": "x"}}, {"role": "critic", "content": "meh"}])
        assert "audio is not kept" in lost(session)
        assert "the unknown role 'critic'" in lost(session)

    def test_definitions_at_the_top_level_and_hosted_tools(self):
        tools = [{"name": "find", "parameters": {}}, {"type": "web_search"}]
        session = read_one("openai-chat", chat(ASK, tools=tools))
        assert [tool.name for tool in started(session).tools] == ["find"]
        assert "a tool of type 'web_search' has no name" in lost(session)


class TestFailures:
    @each(
        ("more", "failed"),
        [
            ({}, True),
            ({"error": None}, False),
            ({"error": False}, False),
            ({"error": True}, True),
            ({"status": "error"}, True),
            ({"status": "success"}, False),
        ],
    )
    def test_flags_beat_the_text(self, more, failed):
        session = read_one(
            "openai-chat", [ASK, USE, {"role": "tool", "tool_call_id": "a", "content": "Error: x"} | more]
        )
        assert (calls(session)[0].error is not None) is failed
        assert ("error flag" in lost(session)) is (more == {})

    def test_an_error_may_say_what_it_is(self):
        error = {"kind": "missing_argument", "type": "TypeError", "message": "no number"}
        session = read_one("openai-chat", [ASK, USE, GOT | {"error": error}])
        found = calls(session)[0].error
        assert (found.kind, found.type, found.message) == ("missing_argument", "TypeError", "no number")

    def test_a_kind_that_we_do_not_know_is_the_tool_s_own(self):
        session = read_one("openai-chat", [ASK, USE, GOT | {"error": {"kind": "cosmic", "message": "ray"}}])
        assert calls(session)[0].error.kind == "execution"


class TestEnds:
    @each(("messages", "end"), [([ASK, TELL], "recorded"), ([ASK], None), ([ASK, USE], None), ([ASK, USE, GOT], None)])
    def test_a_conversation_ends_where_the_agent_has_the_last_word(self, messages, end):
        assert ending(read_one("openai-chat", messages)) == end

    def test_a_file_cut_off_has_no_end(self, tmp_path):
        from sandbox_grader.importers import importer

        path = tmp_path / "log.jsonl"
        path.write_text('{"role": "user", "content": "a"}\n{"role": "assistant", "content": "b"}\n{"role": "us')
        [session] = importer("openai-chat")([path])
        assert ending(session) is None
        assert "line 3: the last line is cut off" in lost(session)


def test_sessions_are_read_one_by_one():
    from pathlib import Path

    from sandbox_grader.importers import importer

    sessions = importer("openai-chat")([Path("absent.json")])
    with pytest.raises(ImportFormatError):
        next(iter(sessions))


def test_a_sample_is_not_changed_by_reading_it():
    before = copy.deepcopy(OPENAI_CHAT)
    read_one("openai-chat", OPENAI_CHAT)
    assert before == OPENAI_CHAT


def test_which_of_several_agents_wrote_is_named_as_a_loss():
    two = [ASK, TELL | {"name": "planner"}, ASK, TELL | {"name": "worker"}]
    assert "planner, worker are one agent" in lost(read_one("openai-chat", two))
    assert "are one agent" not in lost(read_one("openai-chat", two[:2]))


def test_custom_tools_are_offered_by_their_name():
    tools = [{"type": "custom", "custom": {"name": "sh", "description": "Runs."}}]
    session = read_one("openai-chat", chat(ASK, TELL, tools=tools))
    assert [tool.name for tool in started(session).tools] == ["sh"]


@pytest.mark.parametrize("calls_made", [1, 2, 3])
def test_results_without_an_id_belong_to_calls_without_one_in_order(calls_made):
    made = [{"type": "function", "function": {"name": f"f{number}", "arguments": "{}"}} for number in range(calls_made)]
    given = [{"role": "tool", "content": str(number)} for number in range(calls_made)]
    session = read_one("openai-chat", [ASK, {"role": "assistant", "tool_calls": made}, *given, TELL])
    assert [call.result for call in calls(session)] == list(range(calls_made))


def test_a_result_that_says_nothing_of_its_call_is_dropped_where_several_are_named():
    made = [chat_call("f", {}, "a"), chat_call("g", {}, "b")]
    session = read_one(
        "openai-chat", [ASK, {"role": "assistant", "tool_calls": made}, {"role": "tool", "content": "1"}]
    )
    assert "a result that does not say of which call it is was dropped" in lost(session)


@each("part", [
    {"type": "tool_use", "id": "a", "name": "find", "input": {}},
    {"type": "tool-call", "toolCallId": "a", "toolName": "find", "input": {}},
    {"type": "tool_result", "tool_use_id": "a", "content": "4"},
])  # fmt: skip
def test_calls_in_the_form_of_another_format_are_refused(part):
    with pytest.raises(ImportFormatError, match="which no chat of this format has"):
        read("openai-chat", chat(ASK, {"role": "assistant", "content": [part]}, TELL))


@each(
    "written",
    [
        """{"id": "a", "type": "function", "function": {"name": "find", "arguments": "{\\"number\\": \\"X1\\"}"}}""",
        """{'id': 'a', 'type': 'function', 'function': {'name': 'find', 'arguments': '{"number": "X1"}'}}""",
        """ChatToolCall(id='a', function=Function(arguments='{"number": "X1"}', name='find'), index=None)""",
        """ToolCall(role=None, id='a', name='find', arguments='{"number": "X1"}')""",
    ],
)
def test_calls_that_were_written_as_texts_are_read(written: str):
    use = {"role": "assistant", "content": None, "tool_calls": [written]}
    [call] = calls(read_one("verifiers", {"prompt": [ASK], "completion": [use, GOT, TELL], "reward": 1.0}))
    assert (call.name, call.arguments, call.result) == ("find", {"number": "X1"}, 4)


@each(("tool", "failed"), [("find", True), ("cancel_order", False)])
def test_a_bare_cancelled_is_a_refusal_but_of_what_cancels(tool: str, failed: bool):
    use = {"role": "assistant", "content": None, "tool_calls": [chat_call(tool, {}, "a")]}
    [call] = calls(read_one("openai-chat", chat(ASK, use, {**GOT, "content": "Cancelled"}, TELL)))
    assert (call.error is not None, call.result) == (failed, None if failed else "Cancelled")


def test_rollouts_of_verifiers_tell_their_tools_and_tokens():
    rollout = {
        "prompt": [ASK],
        "completion": [USE, GOT, TELL],
        "reward": 1.0,
        "tool_defs": [function("find")["function"]],
    }
    session = read_one("verifiers", {**rollout, "token_usage": {"input_tokens": 7, "output_tokens": 2}})
    assert [tool.name for tool in started(session).tools] == ["find"]
    assert said(session)[-1] == ("agent", "user", "Gate 4.")
    assert session.events[-2].meta["usage"]["prompt_tokens"] == 7
