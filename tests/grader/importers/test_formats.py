"""Formats that are said as data: recognised by their marks, and refused by the importers of others."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from sandbox_grader.errors import ImportFormatError
from sandbox_grader.importers import Imported, importer, mapped
from sandbox_grader.importers.reading.json_values import JsonNode, load

from tests.each import each
from tests.grader.importers.samples import SAMPLES, calls, encoded, lost, read, read_one, said, started
from tests.grader.importers.test_any_conversation import WRITERS, Call, Turn, gemini_cli

TALK = [
    Turn("user", "Off, please."),
    Turn("agent", "", [Call("find", {"on": False}, None), Call("fly", {}, None, "Error: no")]),
    Turn("agent", "Done."),
]
OWN = sorted(mapped.formats().keys() & WRITERS.keys())


@each("format_", OWN)
def test_a_file_is_recognised(format_: str) -> None:
    assert mapped.recognised(JsonNode(WRITERS[format_](TALK), "f")) == format_


@each("format_", sorted(SAMPLES.keys() - {"toolsandbox-results"}))
def test_a_file_of_another_kind_is_recognised_too(format_: str, tmp_path: Path) -> None:
    name, value = SAMPLES[format_]
    (tmp_path / name).write_bytes(encoded(name, value))
    if format_ != "inspect" or not name.endswith(".eval"):
        assert mapped.recognised(load(tmp_path / name).nodes[0]) == format_


@each("format_", OWN)
@each("other", ["openai-chat", "anthropic", "openai-responses"])
def test_no_importer_of_messages_takes_it_for_empty_ones(format_: str, other: str, tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(WRITERS[format_](TALK)))
    with pytest.raises(ImportFormatError):
        list(importer(other)([path]))


DONE = {"type": "text", "text": "Done."}
THOUGHTS: list[tuple[str, Any]] = [
    ("gemini", {"contents": [{"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": "Done."}]}]}),
    (
        "converse",
        [
            {
                "role": "assistant",
                "content": [{"reasoningContent": {"reasoningText": {"text": "hm"}}}, {"text": "Done."}],
            }
        ],
    ),
    ("langchain", [{"type": "ai", "content": "Done.", "additional_kwargs": {"reasoning_content": "hm"}}]),
    ("langchain", [{"type": "ai", "content": [{"type": "thinking", "thinking": "hm"}, DONE]}]),
    (
        "pydantic-ai",
        [
            {
                "kind": "response",
                "parts": [{"part_kind": "thinking", "content": "hm"}, {"part_kind": "text", "content": "Done."}],
            }
        ],
    ),
    ("vercel", [{"role": "assistant", "parts": [{"type": "reasoning", "text": "hm"}, DONE]}]),
]


@each(("format_", "value"), THOUGHTS, ids=range(len(THOUGHTS)))
def test_thoughts_are_kept_apart(format_: str, value: Any) -> None:
    assert said(read_one(format_, value)) == [("agent", "agent", "hm"), ("agent", "user", "Done.")]


def test_the_events_of_adk_are_read_as_contents() -> None:
    def event(author: str, role: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {"author": author, "content": {"role": role, "parts": list(parts)}, "timestamp": 1.0, **more}

    used = {"prompt_token_count": 7, "candidates_token_count": 2}
    response = {"content": [{"type": "text", "text": '{"result":null}'}], "isError": False}
    session = {
        "id": "s",
        "events": [
            event("user", "user", {"text": "Off, please."}),
            event("phone", "model", {"text": "Lo"}, partial=True),
            event("phone", "model", {"function_call": {"id": "c", "name": "find", "args": {}}}, usage_metadata=used),
            event("phone", "user", {"function_response": {"id": "c", "name": "find", "response": response}}),
            event("phone", "model", {"text": "Done."}),
        ],
    }  # fmt: skip
    found = read_one("gemini", session)
    assert said(found) == [("user", "agent", "Off, please."), ("agent", "user", "Done.")]
    [call] = calls(found)
    assert call.result == response
    assert found.events[-2].meta["usage"] == {"prompt_tokens": 7, "completion_tokens": 2, "requests": 1}


@each("form", ["data", "kwargs"])
def test_messages_of_langchain_are_read_however_they_were_dumped(form: str) -> None:
    messages = WRITERS["langchain"](TALK)["messages"]
    inner = [{"type": item["type"] if form == "data" else "constructor", "lc": 1, form: item} for item in messages]
    found = read_one("langchain", inner)
    assert [call.name for call in calls(found)] == ["find", "fly"]


def test_tasks_in_one_file_are_not_trials_of_one(tmp_path: Path) -> None:
    rows = [WRITERS["nemo-gym"]([Turn("user", word), Turn("agent", "Done.")]) for word in ("a", "b", "a")]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps({**row, "reward": 0.5}) + "\n" for row in rows))
    found = [started(session) for session in importer("nemo-gym")([path])]
    assert [head.scenario for head in found] == ["log/1", "log/2", "log/1"]
    assert [head.origin["reward"] for head in found] == [0.5] * 3


NESTED = """
events: messages
user: {when: {type: human}, text: content}
agent: {when: {type: ai}, text: content}
call: {when: {type: ai}, each: tool_calls, name: name, arguments: args, id: id}
result: {when: {type: tool}, id: tool_call_id, result: content, failed: {status: error}}
"""


def test_a_users_mapping_can_say_nested_calls_and_errors_by_a_condition(tmp_path: Path) -> None:
    log, mapping = tmp_path / "log.json", tmp_path / "mapping.yaml"
    log.write_text(json.dumps(WRITERS["langchain"](TALK)))
    mapping.write_text(NESTED)
    [session] = mapped.read([log], mapped.mapping_in(mapping))
    first, failed = calls(session)
    assert (first.result, first.error, first.batch) == (None, None, failed.batch)
    assert failed.error is not None
    assert said(session) == [("user", "agent", "Off, please."), ("agent", "user", "Done.")]


def test_a_call_that_is_taken_out_of_several_by_number_is_a_fault(tmp_path: Path) -> None:
    log, mapping = tmp_path / "log.json", tmp_path / "mapping.yaml"
    log.write_text(json.dumps(WRITERS["langchain"](TALK)))
    mapping.write_text(NESTED.replace("each: tool_calls, name: name", "name: tool_calls.0.name"))
    with pytest.raises(ImportFormatError, match="takes element 0 of 2; say 'each: tool_calls'"):
        list(mapped.read([log], mapped.mapping_in(mapping)))


def test_a_part_that_no_rule_takes_is_a_loss() -> None:
    value = {"contents": [{"role": "user", "parts": [{"text": "Look."}, {"inlineData": {"data": "x"}}]}]}
    assert "content with inlineData is not kept: no rule of the mapping takes it" in lost(read_one("gemini", value))


def test_a_text_that_vercel_marks_as_json_stays_a_text() -> None:
    part = {"type": "tool-result", "toolCallId": "a", "toolName": "find", "output": {"type": "json", "value": "1"}}
    asked = {"type": "tool-call", "toolCallId": "a", "toolName": "find", "input": {}}
    messages = [{"role": "assistant", "content": [asked]}, {"role": "tool", "content": [part]}]
    session = read_one("vercel", {"messages": messages})
    assert [call.result for call in calls(session)] == ["1"]


@each(
    ("outcome", "failed"),
    [("success", False), ("failed", True), ("denied", True), ("interrupted", True), ("retried", True)],
)
def test_every_outcome_of_pydantic_ai_but_success_is_a_failure(outcome: str, failed: bool) -> None:
    asked = {"part_kind": "tool-call", "tool_name": "find", "args": "{}", "tool_call_id": "a"}
    told = {"part_kind": "tool-return", "tool_name": "find", "tool_call_id": "a", "outcome": outcome, "content": "x"}
    found = read_one("pydantic-ai", [{"kind": "response", "parts": [asked]}, {"kind": "request", "parts": [told]}])
    assert [call.error is not None for call in calls(found)] == [failed]


@each(
    "records",
    [
        [{"type": "restaurant", "name": "Nam"}],
        [{"id": 1, "text": "hi"}, {"id": 2, "text": "ho"}],
        [{"type": "file", "name": "a.txt"}],
        [{"type": "missing", "loc": ["on"], "msg": "Field required"}],
    ],
    ids=range(4),
)
def test_records_that_a_tool_gave_are_not_taken_for_parts_of_a_content(records: Any) -> None:
    asked: Any = {"type": "ai", "content": "", "tool_calls": [{"name": "find", "args": {}, "id": "a"}]}
    part = {"part_kind": "tool-call", "tool_name": "find", "args": "{}", "tool_call_id": "a"}
    told = {"part_kind": "tool-return", "tool_name": "find", "tool_call_id": "a", "content": records}
    pydantic: Any = [{"kind": "response", "parts": [part]}, {"kind": "request", "parts": [told]}]
    langchain: Any = [asked, {"type": "tool", "content": json.dumps(records), "tool_call_id": "a"}]
    for format_, value in (("pydantic-ai", pydantic), ("langchain", langchain)):
        assert [call.result for call in calls(read_one(format_, value))] == [records]


def test_the_error_of_a_whole_result_of_mcp_is_its_text_and_not_its_json() -> None:
    whole = {"content": [{"type": "text", "text": "ValueError: wifi is already on"}], "isError": True}
    asked: Any = {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "find", "args": {}}}]}
    told = {"role": "user", "parts": [{"functionResponse": {"id": "c", "name": "find", "response": whole}}]}
    [call] = calls(read_one("gemini", {"contents": [asked, told]}))
    assert call.error is not None
    assert (call.error.type, call.error.message) == ("ValueError", "wifi is already on")


def test_a_session_file_of_gemini_cli_is_read_whole() -> None:
    def called(id_: str, name: str, status: str, **response: Any) -> dict[str, Any]:
        result = [{"functionResponse": {"id": id_, "name": name, "response": response}}]
        return {"id": id_, "name": name, "args": {}, "status": status, "result": result}

    calling = {
        "type": "gemini",
        "content": "",
        "thoughts": [{"subject": "Wifi", "description": "hm"}],
        "toolCalls": [
            called("a", "find", "success", output='{"result":null}'),
            called("b", "fly", "error", error="no"),
        ],
        "tokens": {"input": 5, "output": 2, "thoughts": 1},
    }
    done = {"type": "gemini", "content": "Done.", "thoughts": [], "tokens": {"input": 6, "output": 1}}
    messages = [{"type": "user", "content": "Off, please."}, calling, done]
    found = read_one("gemini-cli", {"sessionId": "s", "projectHash": "h", "messages": messages})
    told = [("user", "agent", "Off, please."), ("agent", "agent", "hm"), ("agent", "user", "Done.")]
    assert said(found) == told
    first, failed = calls(found)
    assert (first.result, first.batch) == ({"result": None}, failed.batch)
    assert failed.error is not None
    assert failed.error.message == "no"
    usage: Any = found.events[-2]
    assert usage.meta["usage"] == {"prompt_tokens": 11, "completion_tokens": 4, "requests": 2}


SPOKEN = {"role": "assistant", "content": [{"text": "Done."}]}
ASKING = [{"role": "user", "content": [{"text": "Off, please."}]}]


@each(
    "value",
    [
        {"messages": ASKING, "output": {"message": SPOKEN}},
        {"messages": ASKING, "response": {"output": {"message": SPOKEN}}},
        {
            "input": {"inputBodyJson": {"messages": ASKING}},
            "output": {"outputBodyJson": {"output": {"message": SPOKEN}}},
        },
    ],
    ids=range(3),
)
def test_what_bedrock_answered_follows_what_it_was_asked_however_the_two_are_wrapped(value: Any) -> None:
    assert said(read_one("converse", value)) == [("user", "agent", "Off, please."), ("agent", "user", "Done.")]


def test_the_lines_of_gemini_cli_are_one_session_and_a_message_written_again_counts_once() -> None:
    (session,) = read("gemini-cli", gemini_cli(TALK))

    assert [(call.name, call.error is not None) for call in calls(session)] == [("find", False), ("fly", True)]
    assert [text[2] for text in said(session)] == ["Off, please.", "Done."]


def test_the_lines_of_qwen_code_are_read_as_contents() -> None:
    asked = {"functionCall": {"id": "1", "name": "find", "args": {"on": False}}}
    told = {"functionResponse": {"id": "1", "name": "find", "response": {"output": "none"}}}
    talk = [("user", {"text": "Off?"}), ("model", asked), ("user", told), ("model", {"text": "Off."})]
    lines = [
        {"uuid": str(n), "parentUuid": None, "sessionId": "s", "message": {"role": role, "parts": [part]}}
        for n, (role, part) in enumerate(talk)
    ]

    (session,) = read("gemini", lines)

    assert mapped.recognised(JsonNode(lines[0], "f")) == "gemini"
    assert [call.result for call in calls(session)] == ["none"]
    assert [text[2] for text in said(session)] == ["Off?", "Off."]


def test_the_events_of_openhands_are_read_with_what_they_caused() -> None:
    def act(number: int, action: str, **arguments: Any) -> dict[str, Any]:
        source = "user" if action == "message" else "agent"
        return {"id": number, "source": source, "action": action, "args": arguments}

    def observe(cause: int, observation: str, content: str) -> dict[str, Any]:
        return {"id": cause + 1, "source": "agent", "cause": cause, "observation": observation, "content": content}

    ran = {"tool_call_metadata": {"function_name": "execute_bash", "tool_call_id": "t"}}
    events = [
        act(1, "message", content="List it."),
        {**observe(1, "null", ""), "id": 2},
        {**act(3, "run", command="ls", thought="Looking."), **ran},
        observe(3, "run", "a.txt"),
        act(5, "read", path="b"),
        observe(5, "error", "no such file"),
        act(7, "finish", final_thought="It is a.txt."),
    ]

    (session,) = read("openhands", events)

    assert [(call.name, call.result, call.error is not None) for call in calls(session)] == [
        ("execute_bash", "a.txt", False),
        ("read", None, True),
    ]
    assert [text[2] for text in said(session)] == ["List it.", "Looking.", "It is a.txt."]


def test_a_request_to_gemini_that_forces_calls_is_no_request_to_converse() -> None:
    asked = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "toolConfig": {"functionCallingConfig": {}}}

    assert mapped.recognised(JsonNode(asked, "f")) == "gemini"


def read_any(value: Any, name: str) -> list[Imported]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(json.dumps(value))
        return list(importer("auto")([path]))


HI, HELLO = {"text": "Hi."}, {"text": "Hello."}
OF_TEXT = {"type": "text"}
WITHOUT_CALLS: list[tuple[str, Any]] = [
    ("openai-chat", [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]),
    (
        "openai-chat",
        [{"role": "user", "content": [OF_TEXT | HI]}, {"role": "assistant", "content": [OF_TEXT | HELLO]}],
    ),
    ("converse", [{"role": "user", "content": [HI]}, {"role": "assistant", "content": [HELLO]}]),
    ("gemini", [{"role": "user", "parts": [HI]}, {"role": "model", "parts": [HELLO]}]),
]


@each(("format_", "messages"), WITHOUT_CALLS)
@each("held", ["messages", None])
def test_a_conversation_without_calls_is_recognised_by_the_format_that_loses_nothing(
    format_: str, messages: Any, held: str | None
) -> None:
    [session] = read_any({held: messages} if held and format_ != "gemini" else messages, "log.json")
    assert [text[2] for text in said(session)] == ["Hi.", "Hello."]
    assert started(session).origin["format"] == format_


@each("format_", ["converse", "vercel", "gemini", "langchain", "pydantic-ai", "agentdojo", "opencode"])
def test_sessions_in_an_array_are_told_from_messages_in_one(format_: str, tmp_path: Path) -> None:
    written = WRITERS[format_](TALK)
    found = read_any([written, written], "log.json") if isinstance(written, dict) else []
    assert all(len(calls(session)) == 2 for session in found)
    assert len(found) == (2 if isinstance(written, dict) else 0)


@each("host", ["claude-code", "codex"])
def test_lines_of_a_host_may_stand_in_an_array(host: str) -> None:
    _, lines = SAMPLES[host]
    assert len(read_any(lines, "log.json")) == len(read_any({"lines": lines}, "log.json")) == len(read(host, lines))


@each("format_", OWN)
def test_a_record_that_no_rule_knows_is_never_left_out_in_silence(format_: str) -> None:
    written = WRITERS[format_](TALK)
    place = next((name for name in ("messages", "contents", "events", "history") if name in written), None)
    records = written[place] if place and isinstance(written, dict) else written
    if isinstance(records, list):
        records.insert(1, {"brand": "new", "payload": {"told": "something"}})
        try:
            [session] = read(format_, written)
        except ImportFormatError:
            return
        assert "no rule of the mapping takes" in lost(session)


def test_a_file_of_which_no_rule_takes_anything_is_refused() -> None:
    with pytest.raises(ImportFormatError, match="holds no message and no call"):
        read("langchain", {"messages": [{"type": "brand-new", "content": "x"}]})


@each("format_", ["converse", "pydantic-ai"])
def test_a_chat_of_another_format_is_refused_in_words(format_: str) -> None:
    with pytest.raises(ImportFormatError, match=r"expected an array|holds no message"):
        read(format_, [{"role": "user", "content": "Hi."}])


def test_a_message_that_says_its_type_is_none_of_langchain() -> None:
    asked = {"type": "message", "role": "user", "content": "Hi."}
    used = {"type": "tool_use", "id": "t", "name": "find", "input": {}}
    answers = [{"type": "message", "role": "assistant", "content": [used]}]
    assert mapped.recognised(JsonNode({"messages": [asked, *answers]}, "f")) == "anthropic"
