"""OpenAI Responses: items, responses that continue one another, and tools that run on servers."""

import pytest
from sandbox_grader.errors import ImportFormatError
from sandbox_grader.importers.openai_responses import ItemPlayer
from sandbox_grader.importers.reading.build import SessionBuilder
from sandbox_grader.importers.reading.json_values import JsonNode

from tests.each import each
from tests.grader.importers.samples import OPENAI_RESPONSES, calls, ending, lost, read, read_one, said, started

ASK = {"role": "user", "content": "Where is X1?"}


def use(id_, name="find", arguments="{}", **more):
    return {"type": "function_call", "call_id": id_, "name": name, "arguments": arguments, **more}


def got(id_, output="4"):
    return {"type": "function_call_output", "call_id": id_, "output": output}


def tell(text="Gate 4."):
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def mcp(**more):
    return {"type": "mcp_call", "id": "m", "name": "find", "server_label": "air", "arguments": "{}", **more}


def response(id_, *output, before=None, **more):
    return {"object": "response", "id": id_, "output": list(output), "previous_response_id": before, **more}


def test_a_whole_response():
    session = read_one("openai-responses", OPENAI_RESPONSES)
    assert said(session) == [
        ("system", "agent", "Be brief."),
        ("user", "agent", "Where is X1?"),
        ("agent", "agent", "I look."),
        ("agent", "user", "Gate 4."),
    ]
    find, weather, searched = calls(session)
    assert (searched.tool, searched.error) == ("web_search", None)
    assert (find.call, find.result) == ("call_1", {"gate": 4})
    assert (weather.tool, weather.error.message) == ("weather", "no such place")
    assert ending(session) == "recorded"


def test_the_key_of_a_call_is_call_id_and_not_id():
    items = [ASK, use("c", id="fc_9"), got("fc_9"), got("c", "5")]
    session = read_one("openai-responses", items)
    assert calls(session)[0].result == 5
    assert 'a result of "fc_9", of which no call is open' in lost(session)


def test_what_has_no_place_is_named():
    odd = {"type": "compaction", "encrypted_content": "x"}
    session = read_one("openai-responses", {"input": [ASK, odd], "output": [tell()]})
    assert "an item of type 'compaction' is not kept" in lost(session)


class TestToolsOfTheApi:
    @each(
        ("item", "name", "arguments", "result"),
        [
            (
                {"type": "web_search_call", "status": "completed", "id": "w",
                 "action": {"type": "search", "query": "gates", "sources": [{"type": "url", "url": "a.example"}]}},
                "web_search", {"type": "search", "query": "gates"}, [{"type": "url", "url": "a.example"}],
            ),
            ({"type": "web_search_call", "status": "completed", "id": "w"}, "web_search", {}, None),
            (
                {"type": "code_interpreter_call", "status": "completed", "id": "c", "container_id": "k", "code": "2+2",
                 "outputs": [{"type": "logs", "logs": "4"}]},
                "code_interpreter", {"container_id": "k", "code": "2+2"}, [{"type": "logs", "logs": "4"}],
            ),
            (
                {"type": "file_search_call", "status": "completed", "id": "f", "queries": ["gate"], "results": []},
                "file_search", {"queries": ["gate"]}, [],
            ),
            ({"type": "sky_call", "status": "completed", "id": "s", "where": "up"}, "sky", {"where": "up"}, None),
        ],
    )  # fmt: skip
    def test_run_inside_the_response_are_calls_with_their_outcome(self, item, name, arguments, result):
        session = read_one("openai-responses", [ASK, item, tell()])
        [call] = calls(session)
        assert (call.name, call.arguments, call.result, call.error) == (name, arguments, result, None)
        assert ending(session) == "recorded"

    def test_that_failed_are_failures(self):
        [call] = calls(read_one("openai-responses", [ASK, {"type": "web_search_call", "status": "failed", "id": "w"}]))
        assert call.error.message == "the call of web_search failed"

    def test_a_picture_is_named_as_a_loss(self):
        item = {"type": "image_generation_call", "status": "completed", "id": "i", "result": "aGk="}
        session = read_one("openai-responses", [ASK, item, tell()])
        assert calls(session)[0].result is None
        assert "a picture is not kept" in lost(session)
        assert "picture" not in lost(read_one("openai-responses", [ASK, item | {"result": None}, tell()]))

    @each(
        ("outcome", "error"),
        [({"type": "exit", "exit_code": 0}, None), ({"type": "exit", "exit_code": 2}, "no such file"),
         ({"type": "timeout"}, "no such file")],
    )  # fmt: skip
    def test_a_command_that_the_client_ran_has_its_outcome_from_its_own_item(self, outcome, error):
        ran = {"stdout": "", "stderr": "no such file", "outcome": outcome}
        items = [
            ASK, {"type": "shell_call", "call_id": "s", "action": {"commands": ["ls"]}, "status": "completed"},
            {"type": "shell_call_output", "call_id": "s", "output": [ran]}, tell(),
        ]  # fmt: skip
        [call] = calls(read_one("openai-responses", items))
        assert (call.arguments, call.error and call.error.message) == ({"commands": ["ls"]}, error)
        assert call.result == (None if error else [ran])

    def test_a_patch_that_did_not_apply_failed(self):
        items = [
            ASK, {"type": "apply_patch_call", "call_id": "p", "operation": {"type": "delete_file", "path": "a"}},
            {"type": "apply_patch_call_output", "call_id": "p", "status": "failed", "output": "no such file"},
        ]  # fmt: skip
        [call] = calls(read_one("openai-responses", items))
        assert call.error.message == "no such file"

    def test_a_search_of_tools_on_the_server_has_the_output_behind_it(self):
        found = [{"type": "function", "name": "find"}]
        items = [
            ASK, {"type": "tool_search_call", "execution": "server", "call_id": None, "arguments": {"paths": ["air"]},
                  "status": "completed"},
            {"type": "tool_search_output", "execution": "server", "call_id": None, "status": "completed",
             "tools": found},
            use("c"), got("c"), tell(),
        ]  # fmt: skip
        search, find = calls(read_one("openai-responses", items))
        assert (search.arguments, search.result) == ({"paths": ["air"]}, found)
        assert find.result == 4


class TestBatches:
    def test_calls_with_no_result_between_them_are_one_batch(self):
        first, second = calls(read_one("openai-responses", [ASK, use("a"), use("b"), got("a"), got("b")]))
        assert first.batch == second.batch

    def test_reasoning_between_them_does_not_part_them(self):
        items = [ASK, use("a"), {"type": "reasoning", "summary": []}, use("b")]
        first, second = calls(read_one("openai-responses", items))
        assert first.batch == second.batch

    def test_a_result_between_them_does(self):
        first, second = calls(read_one("openai-responses", [ASK, use("a"), got("a"), use("b"), got("b")]))
        assert first.batch != second.batch

    def test_calls_on_a_server_follow_one_another(self):
        first, second = calls(read_one("openai-responses", [ASK, mcp(output="1"), mcp(output="2")]))
        assert first.batch != second.batch
        assert [first.result, second.result] == [1, 2]


class TestServers:
    @each(
        ("error", "message"),
        [("late", "late"), ({"type": "mcp_tool_execution_error", "message": "late"}, "late"), ([1], "[1]")],
    )
    def test_errors(self, error, message):
        [call] = calls(read_one("openai-responses", [ASK, mcp(error=error, output=None)]))
        assert (call.error.kind, call.error.message, call.meta["server"]) == ("execution", message, "air")

    def test_no_output_yet(self):
        session = read_one("openai-responses", [ASK, mcp()])
        assert calls(session)[0].meta["result_missing"] is True

    def test_listed_tools_are_offered(self):
        tool = {"name": "find", "input_schema": {}, "annotations": {"readOnlyHint": True}}
        session = read_one(
            "openai-responses", [{"type": "mcp_list_tools", "server_label": "air", "tools": [tool]}, ASK]
        )
        assert [(tool.name, tool.action) for tool in started(session).tools] == [("find", False)]

    def test_a_call_that_was_not_approved_was_refused(self):
        items = [
            ASK,
            {"type": "mcp_approval_request", "id": "q", "name": "find", "server_label": "air", "arguments": '{"a": 1}'},
            {"type": "mcp_approval_response", "approval_request_id": "q", "approve": False, "reason": "no"},
        ]
        [call] = calls(read_one("openai-responses", items))
        assert (call.arguments, call.error.kind, call.error.message) == ({"a": 1}, "refused", "no")
        del items[-1]["reason"]
        [call] = calls(read_one("openai-responses", items))
        assert call.error.message == "the user did not approve the call"

    def test_an_approved_call_is_the_one_that_follows(self):
        items = [
            ASK,
            {"type": "mcp_approval_request", "id": "q", "name": "find", "arguments": "{}"},
            {"type": "mcp_approval_response", "approval_request_id": "q", "approve": True},
            mcp(output="1"),
        ]
        assert len(calls(read_one("openai-responses", items))) == 1


class TestMessages:
    def test_text_before_a_call_is_a_note_and_text_at_the_end_is_the_reply(self):
        session = read_one("openai-responses", [ASK, tell("Looking."), use("a"), got("a"), tell()])
        assert said(session)[1:] == [("agent", "agent", "Looking."), ("agent", "user", "Gate 4.")]

    @each("following", [mcp(output="1"), {"type": "mcp_approval_request", "id": "q", "name": "find"}])
    def test_calls_on_a_server_make_the_text_before_them_a_note_too(self, following):
        session = read_one("openai-responses", [ASK, tell("Looking."), {"type": "reasoning", "summary": []}, following])
        assert said(session)[1] == ("agent", "agent", "Looking.")

    def test_reasoning_is_a_note_and_named_where_it_is_encrypted(self):
        items = [
            ASK,
            {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]},
            {"type": "reasoning", "summary": [], "encrypted_content": "xyz"},
        ]
        session = read_one("openai-responses", items)
        assert said(session)[1] == ("agent", "agent", "Hm.")
        assert "reasoning that the provider encrypted" in lost(session)

    @each("role", ["system", "developer"])
    def test_the_system_s_messages(self, role):
        assert said(read_one("openai-responses", [{"role": role, "content": "x"}])) == [("system", "agent", "x")]

    def test_unknown_roles_are_named(self):
        session = read_one("openai-responses", [ASK, {"role": "critic", "content": "meh"}])
        assert "the unknown role 'critic'" in lost(session)

    def test_a_namespace_is_a_server_s_prefix(self):
        [call] = calls(read_one("openai-responses", [ASK, use("a", namespace="mcp__air")]))
        assert (call.name, call.tool) == ("mcp__air__find", "find")

    def test_custom_tools_take_text(self):
        item = {"type": "custom_tool_call", "call_id": "a", "name": "sql", "input": "select"}
        result = {"type": "custom_tool_call_output", "call_id": "a", "output": "rows"}
        [call] = calls(read_one("openai-responses", [ASK, item, result]))
        assert (call.raw_arguments, call.result) == ("select", "rows")

    def test_results_in_parts(self):
        parts = [{"type": "input_text", "text": "4"}, {"type": "input_image", "image_url": "x"}]
        [call] = calls(read_one("openai-responses", [ASK, use("a"), got("a", parts)]))
        assert (call.result, call.meta) == (4, {"result_partial": True})

    def test_a_call_cut_off_is_named(self):
        session = read_one("openai-responses", [ASK, use("a", arguments='{"x', status="incomplete")])
        assert calls(session)[0].raw_arguments == '{"x'
        assert "the call was cut off" in lost(session)


class TestChains:
    def test_responses_that_name_their_predecessor_are_one_session(self):
        lines = [
            {"request": {"input": "Hi", "instructions": "Be brief."}, "response": response("r1", tell("Hello."))},
            {"request": {"input": "Other"}, "response": response("x1", tell("Else."))},
            {
                "request": {"input": "Bye", "instructions": "Be brief.", "previous_response_id": "r1"},
                "response": response("r2", tell("Goodbye.")),
            },
        ]
        first, second = read("openai-responses", lines, "log.jsonl")
        assert [text for _, _, text in said(first)] == ["Be brief.", "Hi", "Hello.", "Bye", "Goodbye."]
        assert [text for _, _, text in said(second)] == ["Other", "Else."]

    def test_a_predecessor_that_is_not_in_the_file_starts_anew(self):
        assert len(read("openai-responses", [response("r2", tell(), before="r1")])) == 1


class TestEnds:
    @each(
        ("status", "end"),
        [
            ("completed", "recorded"),
            ("failed", "agent_failed"),
            ("incomplete", None),
            ("cancelled", None),
            ("queued", None),
        ],
    )
    def test_the_response_s_status_tells(self, status, end):
        error = {"code": "server_error", "message": "overloaded"} if status == "failed" else None
        session = read_one("openai-responses", response("r", tell(), status=status, error=error))
        assert ending(session) == end
        assert end != "agent_failed" or session.events[-1].detail == "overloaded"

    def test_items_alone_end_with_the_agent_s_words(self):
        assert ending(read_one("openai-responses", [ASK, tell()])) == "recorded"
        assert ending(read_one("openai-responses", [ASK, use("a"), got("a")])) is None


class TestContainers:
    @each("key", ["items", "data", "input"])
    def test_an_object_that_holds_items(self, key):
        assert len(said(read_one("openai-responses", {key: [ASK, tell()]}))) == 2

    def test_lines_of_items_are_one_conversation(self):
        assert len(said(read_one("openai-responses", [ASK, tell()], "log.jsonl"))) == 2

    def test_instructions_may_be_items(self):
        document = {"instructions": [{"role": "developer", "content": "x"}], "input": "Hi"}
        assert said(read_one("openai-responses", document))[0] == ("system", "agent", "x")

    def test_something_else(self):
        with pytest.raises(ImportFormatError, match="holds none of input, output, items, data"):
            read("openai-responses", {"steps": []})


class Watched(list[JsonNode]):
    """Items that count how many of them were looked up."""

    looked_up = 0

    def __getitem__(self, place):
        found = super().__getitem__(place)
        self.looked_up += len(found) if isinstance(place, slice) else 1
        return found


def test_what_follows_an_item_is_looked_up_no_further_than_it_matters():
    items = Watched(JsonNode([ASK, use("a"), got("a"), tell()] * 50, "log.json").items())
    ItemPlayer(SessionBuilder("openai-responses", "log.json", "log")).play(items)
    assert items.looked_up <= 2 * len(items)


def event(kind, **more):
    return {"type": f"response.{kind}", "sequence_number": 0, **more}


def test_of_a_stream_the_response_as_it_became_counts():
    begun = event("created", response={"id": "r1", "status": "in_progress", "output": []})
    pieces = [event("output_text.delta", delta="Ga", item_id="m"), event("output_item.done", item=tell())]
    done = event("completed", response=response("r1", tell()))
    session = read_one("openai-responses", [begun, *pieces, done], "log.jsonl")
    assert said(session) == [("agent", "user", "Gate 4.")]
    assert "what was asked does not stand in the events of a stream" in lost(session)
    with pytest.raises(ImportFormatError, match="a stream that did not come to its end"):
        read("openai-responses", [begun, *pieces], "log.jsonl")


def test_lists_of_items_that_go_on_with_each_other_are_one_conversation() -> None:
    asked = {"type": "message", "role": "user", "content": "Off, please."}
    call = {"type": "function_call", "call_id": "c", "name": "set", "arguments": "{}"}
    told = {"type": "function_call_output", "call_id": "c", "output": "null"}
    said = {"type": "message", "role": "assistant", "content": "Done."}
    rollout = {
        "responses_create_params": {"input": []},
        "response": {"output": [[asked, call, told], [asked, call, told, said]]},
    }
    [session] = read("nemo-gym", rollout)
    assert len(calls(session)) == 1
    with pytest.raises(ImportFormatError, match="does not begin with those of the list before"):
        read("nemo-gym", {**rollout, "response": {"output": [[asked], [call]]}})


def test_a_rollout_may_have_a_type_of_its_own() -> None:
    asked = {"input": [{"role": "user", "content": "Off, please."}]}
    answered = {"output": [{"type": "message", "role": "assistant", "content": "Done."}]}
    [session] = read("nemo-gym", {"type": "comparison", "responses_create_params": asked, "response": answered})
    assert len(said(session)) == 2


def test_a_result_before_its_call_is_its_result() -> None:
    session = read_one("openai-responses", [ASK, got("c"), use("c"), tell()])
    assert [call.result for call in calls(session)] == [4]
    assert "no call is open" not in lost(session)


def test_a_second_result_of_a_call_is_not_that_of_the_next_with_its_id() -> None:
    session = read_one("openai-responses", [ASK, use("c"), got("c"), got("c", "5"), use("c"), got("c", "6"), tell()])
    assert [call.result for call in calls(session)] == [4, 6]
    assert 'a result of "c", of which no call is open' in lost(session)
