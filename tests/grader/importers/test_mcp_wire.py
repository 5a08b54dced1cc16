"""MCP captures: directions, envelopes, calls that overlap, calls that are asked for input."""

import json

import pytest
from sandbox_grader.errors import ImportFormatError

from tests.each import each
from tests.grader.importers.samples import (
    MCP_WIRE,
    calls,
    ending,
    lost,
    read,
    read_one,
    request,
    response,
    said,
    started,
    text_content,
)


def call(id_, name="find", **arguments):
    return request(id_, "tools/call", name=name, arguments=arguments)


def got(id_, text="1", **more):
    return response(id_, content=text_content(text), **more)


def test_a_whole_capture():
    session = read_one("mcp-wire", MCP_WIRE)
    head = started(session)
    assert (head.agent, head.versions) == ({"name": "desk", "version": "1"}, {"air": "2"})
    assert [(tool.name, tool.action) for tool in head.tools] == [("find", False)]
    found, missed, unknown = calls(session)
    assert (found.arguments, found.result) == ({"number": "X1"}, {"gate": 4})
    assert missed.error.message == "no such flight"
    assert (unknown.tool, unknown.error.kind, unknown.error.type) == (None, "unknown_tool", "JSON-RPC -32602")


def test_members_that_are_null_are_absent():
    usual = {"id": None, "method": None, "params": None, "result": None, "error": None}
    session, other = read_one("mcp-wire", [usual | line for line in MCP_WIRE]), read_one("mcp-wire", MCP_WIRE)
    assert (session.events[1:], session.losses) == (other.events[1:], other.losses)


def test_what_was_said_is_unknown():
    session = read_one("mcp-wire", MCP_WIRE)
    assert said(session) == []
    assert ending(session) == "recorded"
    assert "what user and agent said is unknown" in lost(session)


def test_other_messages_are_counted_and_named():
    assert "messages of method 'notifications/initialized' (1)" in lost(read_one("mcp-wire", MCP_WIRE))


class TestBatches:
    def test_calls_that_overlap_are_one(self):
        first, second = calls(read_one("mcp-wire", [call(1), call(2), got(1), got(2)]))
        assert first.batch == second.batch

    def test_calls_that_follow_one_another_are_not(self):
        first, second = calls(read_one("mcp-wire", [call(1), got(1), call(2), got(2)]))
        assert first.batch != second.batch


class TestResults:
    @each(
        ("result", "value"),
        [
            ({"content": text_content("3")}, 3),
            ({"content": text_content("a") + text_content("b")}, "a\nb"),
            ({"content": [], "structuredContent": {"a": 1}}, {"a": 1}),
            ({"content": text_content("other"), "structuredContent": [1]}, [1]),
            ({"content": []}, ""),
            ({}, ""),
        ],
    )
    def test_structured_content_comes_first_and_else_the_text(self, result, value):
        [found] = calls(read_one("mcp-wire", [call(1), response(1, **result)]))
        assert found.result == value

    def test_images_are_named(self):
        content = [*text_content("a"), {"type": "image", "data": "", "mimeType": "image/png"}]
        session = read_one("mcp-wire", [call(1), response(1, content=content)])
        assert (calls(session)[0].result, calls(session)[0].meta["result_partial"]) == ("a", True)
        assert "content of type 'image'" in lost(session)

    @each(
        ("code", "message", "kind"),
        [
            (-32601, "Method not found", "unknown_tool"),
            (-32602, "Unknown tool: x", "unknown_tool"),
            (-32602, "Invalid params", "invalid_format"),
            (-32603, "Internal error", "execution"),
            (None, "", "execution"),
        ],
    )
    def test_errors_of_the_protocol(self, code, message, kind):
        error = {"message": message} | ({} if code is None else {"code": code})
        [found] = calls(read_one("mcp-wire", [call(1), {"jsonrpc": "2.0", "id": 1, "error": error}]))
        assert (found.error.kind, found.error.message) == (kind, message)

    def test_a_call_that_nobody_answered(self):
        session = read_one("mcp-wire", [call(1)])
        assert calls(session)[0].meta["result_missing"] is True

    def test_a_response_that_nobody_asked_for(self):
        session = read_one("mcp-wire", [call(1), got(1), got(1)])
        assert "line 3: a response to the id '1', to which no request was seen, was dropped" in lost(session)


class TestIds:
    def test_may_be_texts(self):
        assert calls(read_one("mcp-wire", [call("x"), got("x")]))[0].result == 1

    def test_are_used_again_by_a_new_connection(self):
        found = calls(read_one("mcp-wire", [call(1), got(1, "1"), call(1), got(1, "2")]))
        assert [item.result for item in found] == [1, 2]
        assert [item.call for item in found] == ["1", "1#2"]

    def test_used_twice_at_once_are_paired_in_order_and_named(self):
        session = read_one("mcp-wire", [call(1), call(1), got(1, "1"), got(1, "2")])
        assert [item.result for item in calls(session)] == [1, 2]
        assert "id '1' is used while another request with it waits" in lost(session)

    @each("key", ["direction", "sender", "from"])
    @each(
        ("client", "server"),
        [
            ("client", "server"),
            ("client-to-server", "server-to-client"),
            ("client_to_server", "server_to_client"),
            ("c2s", "s2c"),
        ],
    )
    def test_of_both_sides_do_not_mix(self, key, client, server):
        asked = request(1, "elicitation/create", message="Sure?")
        lines = [
            {key: client, "message": call(1)},
            {key: server, "message": asked},
            {key: client, "message": response(1, action="accept")},
            {key: server, "message": got(1, "7")},
        ]
        assert calls(read_one("mcp-wire", lines))[0].result == 7

    def test_of_both_sides_without_a_direction_a_tool_call_is_answered_first(self):
        lines = [call(1), request(1, "sampling/createMessage"), got(1, "7"), response(1, role="assistant")]
        session = read_one("mcp-wire", lines)
        assert calls(session)[0].result == 7
        assert "was dropped" not in lost(session)


class TestInput:
    def test_a_call_that_was_asked_for_input_and_sent_again_is_one_call(self):
        lines = [
            call(1),
            response(1, resultType="input_required", inputRequests={"a": {}}, requestState="s"),
            request(2, "tools/call", name="find", arguments={}, inputResponses={"a": {}}, requestState="s"),
            got(2, "7"),
        ]
        session = read_one("mcp-wire", lines)
        [found] = calls(session)
        assert found.result == 7
        assert "the call was sent again with input" in lost(session)

    def test_a_state_alone_asks_for_nothing(self):
        assert calls(read_one("mcp-wire", [call(1), got(1, "7", requestState="s")]))[0].result == 7

    def test_a_call_that_was_never_sent_again_has_no_result(self):
        lines = [call(1), response(1, resultType="input_required", inputRequests={"a": {}}, requestState="s")]
        assert calls(read_one("mcp-wire", lines))[0].meta["result_missing"] is True


class TestEnvelopes:
    def wrapped(self, message, **more):
        return {"timestamp": "2026-01-02T03:00:00Z", **more, "message": message}

    def test_times_are_kept(self):
        [found] = calls(read_one("mcp-wire", [self.wrapped(call(1)), self.wrapped(got(1))]))
        assert found.clock == 1767322800.0
        assert found.wall == {"time": "2026-01-02T03:00:00Z", "answered": "2026-01-02T03:00:00Z"}

    def test_sessions_are_kept_apart(self):
        lines = [self.wrapped(item, session=name) for name in ("a", "b") for item in (call(1), got(1))]
        assert [session.name for session in read("mcp-wire", lines)] == ["log-a", "log-b"]

    @each("key", ["payload", "data"])
    def test_the_message_may_be_text(self, key):
        lines = [{"ts": 1767322800, key: json.dumps(item)} for item in (call(1), got(1))]
        [found] = calls(read_one("mcp-wire", lines))
        assert (found.result, found.clock) == (1, 1767322800.0)

    def test_messages_may_come_in_batches(self):
        assert len(calls(read_one("mcp-wire", [[call(1), call(2)], [got(2), got(1)]]))) == 2

    def test_a_document_may_hold_them_all(self):
        assert len(calls(read_one("mcp-wire", [call(1), got(1)], "log.json"))) == 1


class TestFiles:
    @each("line", [{"a": 1}, {"message": {"a": 1}}, {"message": "{"}, 5, {"id": 1}])
    def test_something_else(self, line):
        with pytest.raises(ImportFormatError, match=r"log.jsonl:2: .*not a JSON-RPC message|log.jsonl:2: expected"):
            read("mcp-wire", [call(1), line])

    def test_a_call_without_params(self):
        with pytest.raises(ImportFormatError, match=r"log.jsonl:1: lacks 'params'"):
            read("mcp-wire", [{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}])

    def test_a_notification_of_a_call_is_none(self):
        session = read_one("mcp-wire", [call(1), {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "x"}}])
        assert len(calls(session)) == 1


class TestTasks:
    """Calls that became tasks end with what the task came to."""

    CALL = request(3, "tools/call", name="pay", arguments={}, task={"ttl": 1})

    def test_the_result_is_asked_for(self):
        wire = [
            self.CALL,
            response(3, task={"taskId": "k", "status": "working"}),
            request(4, "tasks/get", taskId="k"),
            response(4, taskId="k", status="failed"),
            request(5, "tasks/result", taskId="k"),
            response(5, content=text_content("no such account"), isError=True),
        ]
        [call] = calls(read_one("mcp-wire", wire))
        assert call.error.message == "no such account"

    def test_the_result_comes_with_the_state(self):
        done = {"content": text_content("sent"), "structuredContent": {"sent": True}}
        wire = [
            request(3, "tools/call", name="pay", arguments={}),
            response(3, resultType="task", taskId="k", status="working"),
            request(4, "tasks/get", taskId="k"),
            response(4, resultType="complete", taskId="k", status="completed", result=done),
        ]
        [call] = calls(read_one("mcp-wire", wire))
        assert (call.result, call.error) == ({"sent": True}, None)

    @each(("status", "kind"), [("cancelled", "refused"), ("failed", "execution")])
    def test_a_task_that_came_to_nothing_failed(self, status, kind):
        told = {"jsonrpc": "2.0", "method": "notifications/tasks/status", "params": {"taskId": "k", "status": status}}
        [call] = calls(read_one("mcp-wire", [self.CALL, response(3, task={"taskId": "k", "status": "working"}), told]))
        assert call.error.kind == kind

    def test_a_task_that_was_cancelled_by_request_failed(self):
        asked = [request(4, "tasks/cancel", taskId="k"), response(4, taskId="k", status="cancelled")]
        [call] = calls(
            read_one("mcp-wire", [self.CALL, response(3, task={"taskId": "k", "status": "working"}), *asked])
        )
        assert call.error.kind == "refused"

    def test_the_result_may_come_with_a_notification(self):
        done = {"taskId": "k", "status": "completed", "result": {"content": text_content("sent")}}
        told = {"jsonrpc": "2.0", "method": "notifications/tasks", "params": done}
        [call] = calls(read_one("mcp-wire", [self.CALL, response(3, taskId="k", status="working"), told]))
        assert (call.result, call.error) == ("sent", None)

    def test_a_task_that_goes_on_has_no_result(self):
        session = read_one("mcp-wire", [self.CALL, response(3, task={"taskId": "k", "status": "working"})])
        assert calls(session)[0].meta == {"result_missing": True}
        assert ending(session) is None
