"""OpenTelemetry's GenAI spans: history that repeats, calls seen from several sides, content that was not recorded."""

import copy
import json

import pytest
from sandbox_grader.errors import ImportFormatError

from tests.each import each
from tests.grader.importers.samples import (
    OTEL,
    calls,
    ending,
    lost,
    otel_message,
    otel_text,
    otlp,
    read,
    read_one,
    said,
    span,
    started,
)

ASK = otel_message("user", otel_text("Where is X1?"))
TELL = otel_message("assistant", otel_text("Gate 4."))


def use(id_="t1", **more):
    return otel_message("assistant", {"type": "tool_call", "id": id_, "name": "find", "arguments": {"n": id_}, **more})


def got(response, id_="t1"):
    return otel_message("tool", {"type": "tool_call_response", "id": id_, "response": response})


def chat(id_, start, given, told, **more):
    return span(
        id_, more.pop("parent", None), "chat m", start, start + 1,
        gen_ai__operation__name="chat", gen_ai__input__messages=given, gen_ai__output__messages=told, **more,
    )  # fmt: skip


def tool(id_, start, name="find", parent=None, **more):
    attributes = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": name, **more}
    return span(id_, parent, f"execute_tool {name}", start, start + 1, **attributes)


def agent(id_, start, end, parent=None, **more):
    return span(id_, parent, "invoke_agent", start, end, gen_ai__operation__name="invoke_agent", **more)


def test_a_whole_conversation():
    session = read_one("otel", OTEL)
    head = started(session)
    assert (session.name, head.session) == ("log-conv-1", "conv-1")
    assert head.agent == {"name": "pilot", "model": "m-1"}
    assert [tool.name for tool in head.tools] == ["find"]
    assert said(session) == [
        ("system", "agent", "Be brief."),
        ("user", "agent", "Where is X1?"),
        ("agent", "user", "Gate 4."),
    ]
    [call] = calls(session)
    assert (call.call, call.arguments, call.result) == ("t1", {"number": "X1"}, {"gate": 4})
    assert ending(session) == "recorded"


def test_times_are_the_spans():
    assert [event.clock - 1767322800 for event in read_one("otel", OTEL).events[1:]] == [1, 1, 2, 6, 6]


def test_what_a_model_is_told_again_counts_once():
    spans = [chat("1", 0, [ASK], [TELL]), chat("2", 5, [ASK, TELL, ASK], [TELL])]
    assert [text for _, _, text in said(read_one("otel", otlp(*spans)))] == ["Where is X1?", "Gate 4."] * 2


def test_repeated_with_other_spelling_it_still_counts_once():
    thinking = otel_message("assistant", {"type": "reasoning", "content": "Hm."}, *use()["parts"])
    again = use(arguments='{"n": "t1"}')
    spans = [chat("1", 0, [ASK], [thinking]), chat("2", 5, [ASK, again, got("4")], [TELL])]
    session = read_one("otel", otlp(*spans))
    assert len(calls(session)) == 1
    assert said(session)[1] == ("agent", "agent", "Hm.")


def test_a_history_that_was_rewritten_is_named_and_what_is_new_in_it_counts():
    summary = otel_message("user", otel_text("So far: nothing."))
    session = read_one("otel", otlp(chat("1", 0, [ASK], [TELL]), chat("2", 5, [summary], [TELL])))
    assert [text for _, _, text in said(session)] == ["Where is X1?", "Gate 4.", "So far: nothing.", "Gate 4."]
    assert "the history a model was given is not the one before it" in lost(session)


class TestCalls:
    def test_without_a_tool_span_the_response_in_the_history_counts(self):
        session = read_one(
            "otel", otlp(chat("1", 0, [ASK], [use()]), chat("2", 5, [ASK, use(), got({"gate": 4})], [TELL]))
        )
        assert calls(session)[0].result == {"gate": 4}
        assert "the format has no error flag" in lost(session)

    def test_a_tool_span_says_it_first(self):
        ran = tool("2", 2, gen_ai__tool__call__id="t1", gen_ai__tool__call__result='"whole"')
        session = read_one(
            "otel", otlp(chat("1", 0, [ASK], [use()]), ran, chat("3", 5, [ASK, use(), got("part")], [TELL]))
        )
        assert [call.result for call in calls(session)] == ["whole"]
        assert "was dropped" not in lost(session)

    def test_a_tool_span_without_content_leaves_it_to_the_history(self):
        ran = tool("2", 2, gen_ai__tool__call__id="t1")
        session = read_one(
            "otel", otlp(chat("1", 0, [ASK], [use()]), ran, chat("3", 5, [ASK, use(), got("7")], [TELL]))
        )
        assert [call.result for call in calls(session)] == [7]

    def test_a_tool_span_without_id_is_found_by_name(self):
        ran = tool("2", 2, gen_ai__tool__call__result="7")
        assert [call.result for call in calls(read_one("otel", otlp(chat("1", 0, [ASK], [use()]), ran)))] == [7]

    def test_a_tool_span_of_another_id_is_another_call(self):
        ran = tool("2", 2, gen_ai__tool__call__id="zz", gen_ai__tool__call__result="7")
        session = read_one("otel", otlp(chat("1", 0, [ASK], [use()]), ran))
        assert [call.result for call in calls(session)] == [None, 7]

    @each("id_", ["t1", None])
    def test_the_protocol_s_span_of_the_same_call_counts_once(self, id_):
        more = {} if id_ is None else {"gen_ai__tool__call__id": id_}
        outer = tool("2", 2, gen_ai__tool__call__result="7", **more)
        inner = span("3", "2", "tools/call find", 2, 3, mcp__method__name="tools/call", gen_ai__tool__name="find")
        assert len(calls(read_one("otel", otlp(outer, inner)))) == 1

    def test_the_protocol_s_span_alone_is_a_call(self):
        ran = span("1", None, "tools/call find", 2, 3, mcp__method__name="tools/call", gen_ai__tool__call__result="7")
        [call] = calls(read_one("otel", otlp(ran)))
        assert (call.name, call.result) == ("find", 7)

    def test_parallel_calls_are_one_batch(self):
        both = otel_message("assistant", *use("a")["parts"], *use("b")["parts"])
        ran = [tool(i, 2, gen_ai__tool__call__id=i, gen_ai__tool__call__result=json.dumps(i)) for i in ("b", "a")]
        first, second = calls(read_one("otel", otlp(chat("1", 0, [ASK], [both]), *ran)))
        assert first.batch == second.batch
        assert [first.result, second.result] == ["a", "b"]

    @each(
        ("attributes", "status", "type_", "message"),
        [
            ({"error__type": "TimeoutError"}, {}, "TimeoutError", "TimeoutError"),
            ({"error__type": "tool_error", "gen_ai__tool__call__result": "late"}, {}, "tool_error", "late"),
            ({}, {"code": 2, "message": "ValueError: no"}, "ValueError", "no"),
            ({}, {"code": "STATUS_CODE_ERROR", "message": "no"}, "Error", "no"),
        ],
    )
    def test_errors(self, attributes, status, type_, message):
        ran = tool("1", 0, **attributes) | {"status": status}
        [call] = calls(read_one("otel", otlp(ran)))
        assert (call.error.kind, call.error.type, call.error.message) == ("execution", type_, message)


class TestAbsentContent:
    def test_arguments_and_results(self):
        session = read_one("otel", otlp(tool("1", 0)))
        [call] = calls(session)
        assert call.meta == {"call_id": None, "arguments_missing": True, "result_missing": True}
        assert "call of 'find': its arguments were not recorded" in lost(session)
        assert "messages: no span holds messages" in lost(session)

    def test_arguments_that_are_there_are_no_loss(self):
        [call] = calls(read_one("otel", otlp(tool("1", 0, gen_ai__tool__call__arguments="{}"))))
        assert "arguments_missing" not in call.meta

    def test_where_no_model_was_recorded_the_agent_s_messages_count(self):
        whole = agent("1", 0, 9, gen_ai__input__messages=[ASK], gen_ai__output__messages=[TELL])
        ran = tool("2", 2, parent="1", gen_ai__tool__call__result="7")
        session = read_one("otel", otlp(whole, ran))
        assert [text for _, _, text in said(session)] == ["Where is X1?", "Gate 4."]
        assert len(calls(session)) == 1

    def test_messages_of_older_conventions_are_named(self):
        ran = chat("1", 0, [ASK], [TELL]) | {"events": [{"name": "gen_ai.user.message"}, {"name": "gen_ai.choice"}]}
        assert "events 'gen_ai.user.message' (1): messages in the form of conventions before 1.37" in lost(
            read_one("otel", otlp(ran))
        )

    def test_parts_that_are_no_text_are_named(self):
        message = otel_message("user", {"type": "blob", "mime_type": "image/png", "content": ""}, otel_text("Hi"))
        session = read_one("otel", otlp(chat("1", 0, [message], [TELL])))
        assert said(session)[0][2] == "Hi"
        assert "content of type 'blob' is not kept" in lost(session)

    def test_alternative_answers_and_unknown_roles_are_named(self):
        session = read_one("otel", otlp(chat("1", 0, [ASK, otel_message("critic", otel_text("meh"))], [TELL, TELL])))
        assert [text for _, _, text in said(session)] == ["Where is X1?", "Gate 4."]
        assert "an alternative answer is not kept" in lost(session)
        assert "text of the role 'critic' was dropped" in lost(session)


SENT = {"mcp__method__name": "tools/call"}


class TestSeveralSidesOfACall:
    """The client of MCP's SDK and a server each record the call that they exchange."""

    def test_the_side_that_tells_more_counts(self):
        sent = span("1", None, "MCP send tools/call find", 2, 5, **SENT)
        served = span("2", "1", "tools/call find", 3, 4, **SENT, gen_ai__tool__name="find",
                      gen_ai__tool__call__arguments={"n": "X1"}, gen_ai__tool__call__result="7")  # fmt: skip
        [call] = calls(read_one("otel", otlp(sent, served)))
        assert (call.name, call.arguments, call.result) == ("find", {"n": "X1"}, 7)

    def test_where_both_tell_as_little_it_is_one_call(self):
        sent = span("1", None, "MCP send tools/call find", 2, 5, **SENT)
        [call] = calls(read_one("otel", otlp(sent, span("2", "1", "tools/call find", 3, 4, **SENT))))
        assert call.name == "find"


def test_an_agent_that_keeps_the_history_itself_is_given_what_is_new():
    again = otel_message("user", otel_text("And X2?"))
    spans = [
        agent("1", 0, 2, gen_ai__input__messages=[ASK], gen_ai__output__messages=[TELL]),
        agent("2", 3, 5, gen_ai__input__messages=[again], gen_ai__output__messages=[TELL]),
        agent("3", 6, 8, gen_ai__input__messages=[ASK], gen_ai__output__messages=[TELL]),
    ]
    session = read_one("otel", otlp(*spans))
    asked = [text for sender, _, text in said(session) if sender == "user"]
    assert asked == ["Where is X1?", "And X2?", "Where is X1?"]
    assert "the history a model was given" not in lost(session)


class TestSessions:
    def test_a_trace_is_one_where_no_conversation_is_named(self):
        first, second = (chat(str(n), n, [ASK], [TELL]) | {"traceId": f"trace{n}"} for n in (1, 2))
        assert [started(session).session for session in read("otel", otlp(first, second))] == ["trace1", "trace2"]

    def test_a_conversation_may_span_traces_and_take_its_tools_along(self):
        first = chat("1", 0, [ASK], [use()], gen_ai__conversation__id="c")
        ran = tool("2", 2, parent="1", gen_ai__tool__call__id="t1", gen_ai__tool__call__result="7")
        second = chat("3", 5, [ASK, use(), got("7")], [TELL], gen_ai__conversation__id="c") | {"traceId": "other"}
        session = read_one("otel", otlp(first, ran, second))
        assert (started(session).session, calls(session)[0].result) == ("c", 7)

    def test_an_agent_that_another_one_invoked_is_part_of_its_session(self):
        spans = [
            agent("1", 0, 9),
            chat("2", 1, [ASK], [TELL], parent="1"),
            agent("3", 3, 8, parent="1", gen_ai__agent__name="scout"),
            chat("4", 4, [otel_message("user", otel_text("Look!"))], [TELL], parent="3"),
        ]
        [main] = read("otel", otlp(*spans))
        assert [event[:2] for event in said(main)] == [
            ("user", "agent"),
            ("agent", "user"),
            ("agent", "agent"),
            ("agent", "agent"),
        ]
        assert "sub-agents (1)" in lost(main)

    def test_scores_are_in_the_origin(self):
        score = {
            "name": "gen_ai.evaluation.result",
            "attributes": [
                {"key": "gen_ai.evaluation.name", "value": {"stringValue": "correct"}},
                {"key": "gen_ai.evaluation.score.value", "value": {"doubleValue": 0.5}},
            ],
        }
        session = read_one("otel", otlp(chat("1", 0, [ASK], [TELL]) | {"events": [score]}))
        assert started(session).origin["scores"] == {"correct": 0.5}

    def test_scores_may_be_records_of_logs_that_name_the_span(self):
        score = {
            "eventName": "gen_ai.evaluation.result",
            "traceId": "t",
            "spanId": "1",
            "attributes": [
                {"key": "gen_ai.evaluation.name", "value": {"stringValue": "correct"}},
                {"key": "gen_ai.evaluation.score.value", "value": {"doubleValue": 0.5}},
            ],
        }
        other = score | {"spanId": "none"}
        logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [score, other, {"body": {"stringValue": "Hi."}}]}]}]}
        session = read_one("otel", [otlp(chat("1", 0, [ASK], [TELL])), logs], "log.jsonl")
        assert started(session).origin["scores"] == {"correct": 0.5}

    @each("beside", [False, True])
    def test_content_may_stand_in_an_event_of_the_span_or_in_a_record_of_logs(self, beside):
        bare, spans = [], []
        for id_, start, given, told in (("1", 0, [ASK], [use()]), ("2", 5, [ASK, use(), got("4")], [TELL])):
            whole = chat(id_, start, given, told)
            content = [item for item in whole["attributes"] if item["key"].endswith(".messages")]
            event = {"attributes": content}
            one = whole | {"attributes": [item for item in whole["attributes"] if item not in content]}
            name = "gen_ai.client.inference.operation.details"
            bare.append(event | {"eventName": name, "traceId": whole["traceId"], "spanId": id_})
            spans.append(one if beside else one | {"events": [event | {"name": name}]})
        logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": bare if beside else []}]}]}
        session = read_one("otel", [otlp(*spans), logs], "log.jsonl")
        assert said(session) == [("user", "agent", "Where is X1?"), ("agent", "user", "Gate 4.")]
        assert [call.result for call in calls(session)] == [4]
        assert "no span holds messages" not in lost(session)

    def test_messages_of_other_conventions_are_named(self):
        older = span("1", None, "chat", 0, 1, gen_ai__operation__name="chat", gen_ai__prompt__0__content="Hi.")
        assert "'gen_ai.prompt.*'" in lost(read_one("otel", otlp(older)))
        with pytest.raises(ImportFormatError, match=r"'llm.input_messages.\*' hold messages of OpenInference"):
            read("otel", otlp(span("1", None, "LLM", 0, 1, llm__input_messages__0__message__content="Hi.")))


class TestEnds:
    def test_an_agent_s_span_that_ended(self):
        assert ending(read_one("otel", OTEL)) == "recorded"

    def test_an_agent_s_span_that_failed(self):
        failed = agent("1", 0, 9) | {"status": {"code": 2, "message": "overloaded"}}
        session = read_one("otel", otlp(failed, chat("2", 1, [ASK], [TELL], parent="1")))
        assert (ending(session), session.events[-1].detail) == ("agent_failed", "overloaded")

    def test_a_model_that_failed_at_last(self):
        failed = chat("2", 5, [ASK], [], error__type="429")
        session = read_one("otel", otlp(chat("1", 0, [ASK], [use()]), failed))
        assert (ending(session), session.events[-1].detail) == ("agent_failed", "429")

    def test_without_one_the_agent_s_last_word(self):
        assert ending(read_one("otel", otlp(chat("1", 0, [ASK], [TELL])))) == "recorded"
        assert ending(read_one("otel", otlp(chat("1", 0, [ASK], [use()])))) is None


class TestFiles:
    def test_one_export_per_line(self):
        lines = [
            otlp(chat("1", 0, [ASK], [use()])),
            otlp(tool("2", 2, gen_ai__tool__call__id="t1")),
            {"resourceLogs": []},
        ]
        assert len(calls(read_one("otel", lines, "log.jsonl"))) == 1

    def test_one_span_per_line_in_any_order(self):
        lines = [
            tool("2", 2, gen_ai__tool__call__id="t1", gen_ai__tool__call__result="7"),
            chat("1", 0, [ASK], [use()]),
        ]
        assert calls(read_one("otel", lines, "log.jsonl"))[0].result == 7

    def test_attributes_of_every_kind(self):
        ran = tool("1", 0)
        given = {"kvlistValue": {"values": [
            {"key": "text", "value": {"stringValue": "x"}},
            {"key": "list", "value": {"arrayValue": {"values": [{"intValue": "5"}, {"doubleValue": 0.5}]}}},
            {"key": "truth", "value": {"boolValue": True}},
            {"key": "nothing", "value": {}},
            {"key": "null", "value": {"stringValue": None}},
        ]}}  # fmt: skip
        ran["attributes"].append({"key": "gen_ai.tool.call.arguments", "value": given})
        [call] = calls(read_one("otel", otlp(ran)))
        assert call.arguments == {"text": "x", "list": [5, 0.5], "truth": True, "nothing": None, "null": None}

    def test_system_instructions_as_plain_text(self):
        session = read_one("otel", otlp(chat("1", 0, [ASK], [TELL], gen_ai__system_instructions="Be brief.")))
        assert said(session)[0] == ("system", "agent", "Be brief.")

    def test_spans_without_times_happen_one_after_the_other(self):
        spans = [
            chat("1", 0, [ASK], [use()]),
            tool("2", 2, gen_ai__tool__call__result="7"),
            chat("3", 5, [ASK], [TELL]),
        ]
        for item in spans:
            del item["startTimeUnixNano"], item["endTimeUnixNano"]
        session = read_one("otel", otlp(*spans))
        assert [event.clock for event in session.events[1:4]] == [1.0, 2.0, 3.0]
        assert calls(session)[0].result == 7

    @each(
        ("document", "problem"),
        [
            ({"spans": []}, "neither an OTLP export"),
            (otlp(), "holds no span of a model"),
            (otlp(span("1", None, "GET /", 0, 1)), "holds no span of a model"),
            (otlp({"spanId": "1"}), "lacks 'traceId'"),
            (otlp(chat("1", 0, [ASK], [TELL]) | {"startTimeUnixNano": "soon"}), "expected nanoseconds"),
            (otlp(chat("1", 0, "no json", [TELL])), "attributes.gen_ai.input.messages: is not JSON"),
            (otlp(tool("1", 0) | {"attributes": [{"key": "a", "value": {"x": 1}}]}), "is not an attribute value"),
            (
                otlp(tool("1", 0) | {"attributes": [{"key": "a", "value": {"intValue": "x"}}]}),
                "expected a whole number",
            ),
        ],
    )
    def test_something_else(self, document, problem):
        with pytest.raises(ImportFormatError, match=problem):
            read("otel", document)

    def test_parents_in_a_circle(self):
        spans = copy.deepcopy([agent("1", 0, 9, parent="2"), agent("2", 0, 9, parent="1")])
        assert read("otel", otlp(*spans))


@each("operation", ["responses", "invoke_workflow", "converse", None])
def test_messages_are_read_whatever_the_operation_is_called(operation):
    named = {} if operation is None else {"gen_ai__operation__name": operation}
    talk = span("1", None, "asks", 0, 1, gen_ai__input__messages=[ASK], gen_ai__output__messages=[TELL], **named)
    session = read_one("otel", otlp(talk))
    assert [text for _, _, text in said(session)] == ["Where is X1?", "Gate 4."]
    assert not any("opt-in" in loss for loss in map(str, lost(session)))


def test_a_span_around_others_that_tell_the_same_is_not_heard_twice():
    messages = {"gen_ai__input__messages": [ASK], "gen_ai__output__messages": [TELL]}
    around = span("1", None, "flow", 0, 9, gen_ai__operation__name="invoke_workflow", **messages)
    within = [chat("2", 1, [ASK], [use()], parent="1"), chat("3", 5, [ASK, use(), got("4")], [TELL], parent="1")]
    assert [text for _, _, text in said(read_one("otel", otlp(around, *within)))] == ["Where is X1?", "Gate 4."]


def fallen(*, type_="app.errors.TimeoutError", message="no answer in 3 s", **more):
    made = tool("2", 2, gen_ai__tool__call__id="t1", **more)
    made["status"] = {"code": 2}
    told = {"exception.type": type_, "exception.message": message}
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in told.items()]
    made["events"] = [{"name": "exception", "attributes": attributes}]
    return made


def test_the_error_of_a_tool_is_what_its_exception_says():
    session = read_one("otel", otlp(chat("1", 0, [ASK], [use()]), fallen()))
    [call] = calls(session)
    assert (call.error.type, call.error.message) == ("TimeoutError", "no answer in 3 s")


@each(
    ("faults", "kind"),
    [
        (["missing"], "missing_argument"),
        (["missing", "extra_forbidden"], "unknown_argument"),
        (["int_parsing"], "wrong_type"),
    ],
)
def test_arguments_that_pydantic_refused_are_errors_of_their_kind(faults, kind):
    told = json.dumps([{"type": fault, "loc": ["n"], "msg": "No."} for fault in faults])
    broken = fallen(gen_ai__tool__call__result=told, pydantic_ai__tool__failure_stage="validation")
    [call] = calls(read_one("otel", otlp(chat("1", 0, [ASK], [use()]), broken)))
    assert call.error.kind == kind
