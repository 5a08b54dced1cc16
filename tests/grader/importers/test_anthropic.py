"""Anthropic messages: parallel results, failures, thinking, and tools that the provider runs."""

import pytest
from sandbox_grader.errors import ImportFormatError

from tests.each import each
from tests.grader.importers.samples import ANTHROPIC, calls, ending, lost, read, read_one, said, started

ASK = {"role": "user", "content": "Where is X1?"}


def agent(*blocks, **more):
    return {"role": "assistant", "content": list(blocks), **more}


def user(*blocks):
    return {"role": "user", "content": list(blocks)}


def text(words):
    return {"type": "text", "text": words}


def use(id_, kind="tool_use", **more):
    return {"type": kind, "id": id_, "name": "find", "input": {"id": id_}, **more}


def got(id_, content, **more):
    return {"type": "tool_result", "tool_use_id": id_, "content": content, **more}


def test_a_whole_conversation():
    session = read_one("anthropic", ANTHROPIC)
    assert said(session) == [
        ("system", "agent", "Be brief."),
        ("user", "agent", "Find X1 and X2."),
        ("agent", "agent", "Both."),
        ("agent", "agent", "On it."),
        ("agent", "user", "X1 is at gate 4."),
    ]
    assert ending(session) == "recorded"
    assert started(session).agent == {"model": "m-1"}
    assert started(session).tools[0].input_schema["required"] == ["number"]


def test_parallel_results_in_one_message_find_their_calls():
    first, second = calls(read_one("anthropic", ANTHROPIC))
    assert first.batch == second.batch
    assert (first.arguments, first.result) == ({"number": "X1"}, {"gate": 4})
    assert (second.error.kind, second.error.message) == ("execution", "no such flight")


def test_nothing_is_guessed_about_errors():
    session = read_one("anthropic", [ASK, agent(use("a")), user(got("a", "Error: that is what it printed"))])
    assert calls(session)[0].result == "Error: that is what it printed"
    assert "error flag" not in lost(session)


class TestText:
    def test_before_a_tool_use_it_is_a_note_even_between_two(self):
        session = read_one("anthropic", [ASK, agent(text("a"), use("1"), text("b"), use("2"))])
        assert said(session)[1:] == [("agent", "agent", "a"), ("agent", "agent", "b")]

    def test_split_by_citations_it_is_one_reply(self):
        assert said(read_one("anthropic", [ASK, agent(text("Gate "), text("4."))]))[1] == ("agent", "user", "Gate 4.")

    def test_of_the_user_follows_the_results_it_came_with(self):
        session = read_one("anthropic", [ASK, agent(use("a")), user(text("And X2?"), got("a", "4"), text("Now."))])
        assert calls(session)[0].result == 4
        assert said(session)[-1] == ("user", "agent", "And X2?\nNow.")

    def test_a_content_may_be_bare_text(self):
        assert said(read_one("anthropic", [ASK, {"role": "assistant", "content": "Gate 4."}]))[1][2] == "Gate 4."

    def test_a_system_message_among_the_others(self):
        assert said(read_one("anthropic", [{"role": "system", "content": "x"}, ASK]))[0] == ("system", "agent", "x")


class TestWhatIsNamed:
    def test_encrypted_thinking(self):
        session = read_one("anthropic", [ASK, agent({"type": "redacted_thinking", "data": "x"}, text("Hi"))])
        assert "messages" not in lost(session)
        assert "[1].content[0]: reasoning that the provider encrypted" in lost(session)

    def test_images_and_unknown_blocks(self):
        image = {"type": "image", "source": {}}
        session = read_one("anthropic", [user(text("Look"), image), agent({"type": "hologram"}, text("Nice."))])
        assert "content of type 'image' is not kept" in lost(session)
        assert "a content block of type 'hologram' is not kept" in lost(session)

    def test_an_image_inside_a_result_makes_it_partial(self):
        result = got("a", [text("4"), {"type": "image", "source": {}}])
        [call] = calls(read_one("anthropic", [ASK, agent(use("a")), user(result)]))
        assert (call.result, call.meta["result_partial"]) == (4, True)

    def test_a_message_cut_off_at_its_limit(self):
        session = read_one("anthropic", [ASK, agent(text("Gate"), stop_reason="max_tokens")])
        assert "cut off at its limit of tokens" in lost(session)

    def test_an_unknown_role(self):
        assert "the unknown role 'critic'" in lost(read_one("anthropic", [ASK, {"role": "critic", "content": "meh"}]))


class TestProviderTools:
    def test_a_server_of_the_mcp_connector(self):
        result = {"type": "mcp_tool_result", "tool_use_id": "a", "is_error": False, "content": [text('{"gate": 4}')]}
        session = read_one("anthropic", [ASK, agent(use("a", "mcp_tool_use", server_name="air"), result, text("4."))])
        [call] = calls(session)
        assert (call.result, call.meta) == ({"gate": 4}, {"server_name": "air"})
        assert said(session)[-1] == ("agent", "user", "4.")

    def test_its_failures(self):
        result = {"type": "mcp_tool_result", "tool_use_id": "a", "is_error": True, "content": [text("late")]}
        [call] = calls(read_one("anthropic", [ASK, agent(use("a", "mcp_tool_use"), result)]))
        assert call.error.message == "late"

    def test_a_search(self):
        result = {"type": "web_search_tool_result", "tool_use_id": "a", "content": [{"type": "web_search_result"}]}
        [call] = calls(read_one("anthropic", [ASK, agent(use("a", "server_tool_use"), result)]))
        assert call.result == [{"type": "web_search_result"}]

    def test_a_search_that_failed(self):
        content = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}
        result = {"type": "web_search_tool_result", "tool_use_id": "a", "content": content}
        [call] = calls(read_one("anthropic", [ASK, agent(use("a", "server_tool_use"), result)]))
        assert (call.error.type, call.error.message) == ("web_search_tool_result_error", "max_uses_exceeded")

    def test_they_were_offered_even_if_no_definition_says_so(self):
        result = {"type": "mcp_tool_result", "tool_use_id": "a", "is_error": True, "content": "late"}
        tools = [{"name": "other", "input_schema": {}}]
        session = read_one("anthropic", {"tools": tools, "messages": [ASK, agent(use("a", "mcp_tool_use"), result)]})
        assert (calls(session)[0].tool, calls(session)[0].error.kind) == ("find", "execution")


class TestContainers:
    @each(
        "document",
        [
            {"request": {"messages": [ASK], "system": "x"}, "response": agent(text("Hi"), model="m", id="msg_1")},
            {"messages": [ASK], "system": "x", "content": [text("Hi")], "role": "assistant", "model": "m"},
        ],
    )
    def test_a_request_with_its_response(self, document):
        session = read_one("anthropic", document)
        assert [words for _, _, words in said(session)] == ["x", "Where is X1?", "Hi"]
        assert started(session).agent == {"model": "m"}

    def test_several_conversations(self):
        assert len(read("anthropic", [[ASK], [ASK]])) == 2
        assert len(read("anthropic", [{"messages": [ASK]}, {"messages": [ASK]}], "log.jsonl")) == 2

    def test_no_messages(self):
        with pytest.raises(ImportFormatError, match="without messages"):
            read("anthropic", {"messages": []})

    def test_a_tool_use_without_name(self):
        with pytest.raises(ImportFormatError, match=r"log.json: \[1\].content\[0\]: lacks 'name'"):
            read("anthropic", [ASK, agent({"type": "tool_use", "id": "a"})])


@each(
    ("messages", "end"),
    [
        ([ASK, agent(text("4."))], "recorded"),
        ([ASK, agent(use("a"))], None),
        ([ASK, agent(use("a")), user(got("a", "4"))], None),
        ([ASK], None),
    ],
)
def test_how_it_ended(messages, end):
    assert ending(read_one("anthropic", messages)) == end
