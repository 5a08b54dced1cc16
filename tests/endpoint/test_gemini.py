"""Google's protocol: what its requests are understood as, and the form of its answers and errors."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox_mcp.app.endpoint import gemini
from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.prompt import ModelStep, Offer, Prompt, PromptTurn
from sandbox_mcp.app.endpoint.reply import Move, PlannedMove
from sandbox_mcp.app.endpoint.server import root, running
from sandbox_mcp.app.endpoint.wire import BadRequestError, answer
from sandbox_mcp.play.models.asking import FunctionCall
from tests.clients.sessions import scripted
from tests.each import each
from tests.laws import at_least

SCRIPT = """
steps:
  - say: Let me look, I will need both of them, so that takes a moment.
    calls:
      - {tool: look_up, arguments: {name: Zoë}}
      - {tool: wait}
"""
USER = {"role": "user", "parts": [{"text": "Find Zoë"}]}


@pytest.fixture
def http() -> Iterator[httpx2.Client]:
    with running(Endpoint(scripted(SCRIPT))) as url, httpx2.Client(base_url=root(url)) as made:
        yield made


@pytest.mark.parametrize("version", ["v1", "v1beta"])
def test_whole(http: httpx2.Client, version: str) -> None:
    found = http.post(f"/{version}/models/gemini-x:generateContent", json={"contents": [USER]}).json()
    (candidate,) = found["candidates"]
    said, *called = candidate["content"]["parts"]
    assert (found["modelVersion"], candidate["finishReason"]) == ("gemini-x", "STOP")
    assert said["text"].startswith("Let me look")
    assert [(part["functionCall"]["name"], part["functionCall"]["args"]) for part in called] == [
        ("look_up", {"name": "Zoë"}),
        ("wait", {}),
    ]
    usage = found["usageMetadata"]
    assert usage["totalTokenCount"] == usage["promptTokenCount"] + usage["candidatesTokenCount"]


def test_a_stream_ends_with_the_calls_and_the_reason(http: httpx2.Client) -> None:
    path = "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"
    text = http.post(path, json={"contents": [USER]}).text
    chunks = [json.loads(line[6:])["candidates"][0] for line in text.split("\n") if line]
    assert [chunk.get("finishReason") for chunk in chunks] == [*[None] * (len(chunks) - 1), "STOP"]
    assert [list(part) for part in chunks[-1]["content"]["parts"]] == [["functionCall"], ["functionCall"]]


def test_tokens_are_counted(http: httpx2.Client) -> None:
    assert http.post("/v1beta/models/m:countTokens", json={"contents": [USER]}).json()["totalTokens"] > 1


@each(
    ("status", "kind"),
    [(400, "INVALID_ARGUMENT"), (429, "RESOURCE_EXHAUSTED"), (500, "INTERNAL"), (503, "UNAVAILABLE")],
)
def test_a_status_comes_with_the_error_that_clients_know(status: int, kind: str) -> None:
    error = gemini.error(status, "No.")["error"]
    assert error == {"code": status, "message": "No.", "status": kind}


def test_a_request_of_another_form_is_refused_in_googles_form(http: httpx2.Client) -> None:
    answered = http.post("/v1beta/models/m:generateContent", json={})
    assert (answered.status_code, answered.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")


def test_calls_that_the_protocol_cannot_carry_are_told_as_malformed() -> None:
    found = gemini.whole(answer({}, "m", Move("", (PlannedMove("look_up", "{oops"), PlannedMove("wait", "[]")))))
    assert found["candidates"][0]["finishReason"] == "MALFORMED_FUNCTION_CALL"
    assert found["candidates"][0]["content"]["parts"] == []


@settings(max_examples=at_least(15))
@given(st.text(max_size=80))
def test_a_stream_says_what_the_whole_answer_says(text: str) -> None:
    found = answer({}, "m", Move(text, (PlannedMove("wait", {}),)))
    chunks = [json.loads(chunk[6:])["candidates"][0]["content"]["parts"] for chunk in gemini.stream(found)]
    said = [part for parts in chunks for part in parts]
    assert "".join(part.get("text", "") for part in said) == text
    assert said[-1] == gemini.whole(found)["candidates"][0]["content"]["parts"][-1]


# what a history is understood as


def history(*contents: dict[str, Any], **more: Any) -> Prompt:
    return gemini.read({"model": "m", "contents": list(contents), **more})


def called(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "model", "parts": [{"functionCall": {"name": "look_up", **call}} for call in calls]}


def returned(*responses: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "parts": [{"functionResponse": {"name": "look_up", **given}} for given in responses]}


def test_it_tells_the_story_that_the_other_protocols_tell() -> None:
    told = history(
        USER,
        {"role": "model", "parts": [{"text": "Hm.", "thought": True}, *called({"id": "a"}, {"id": "b"})["parts"]]},
        returned({"id": "b", "response": {"output": "2"}}, {"id": "a", "response": {"output": "1"}}),
        {"role": "model", "parts": [{"text": "Here."}]},
        {"parts": [{"text": "Thanks"}]},
        systemInstruction={"parts": [{"text": "Be"}, {"text": "kind."}]},
        tools=[{"functionDeclarations": [{"name": "look_up", "parameters": {"properties": {"name": {}}}}]}],
    )
    looked = ModelStep(
        "", (FunctionCall("a", "look_up", "{}"), FunctionCall("b", "look_up", "{}")), {"a": "1", "b": "2"}
    )
    turns = (PromptTurn("Find Zoë", (looked, ModelStep("Here."))), PromptTurn("Thanks"))
    assert told == Prompt("m", "Be\nkind.", turns, {"look_up": Offer("", frozenset({"name"}))})


def test_without_ids_outputs_belong_to_the_calls_of_their_tool_in_order() -> None:
    prompt = history(
        USER,
        called({"name": "wait"}, {}, {}),
        returned({"response": {"output": "1"}}, {"name": "wait", "response": {"output": "0"}}, {"response": {}}),
    )
    (step,) = prompt.steps
    assert [step.outputs[call.id] for call in step.calls] == ["0", "1", "{}"]


def test_names_are_understood_in_snake_case() -> None:
    declared = {"name": "look_up", "parameters_json_schema": {"properties": {"name": {}}}}
    prompt = history(
        USER, system_instruction={"parts": [{"text": "Go."}]}, tools=[{"function_declarations": [declared]}]
    )
    assert (prompt.system, prompt.tools) == ("Go.", {"look_up": Offer("", frozenset({"name"}))})


@each(
    ("response", "text"),
    [
        ({"output": "It rains."}, "It rains."),
        ({"error": "ValueError: no"}, "ValueError: no"),
        ({"result": '{"result":null}'}, '{"result":null}'),
        ({"result": "ValueError: no"}, "ValueError: no"),
        ({"result": "2f1c"}, '{"result": "2f1c"}'),
        ({"result": [1]}, '{"result": [1]}'),
        ({"content": [], "isError": False}, '{"content": [], "isError": false}'),
    ],
)
def test_what_a_tool_returned_as_text_is_text_again(response: dict[str, Any], text: str) -> None:
    prompt = history(USER, called({"id": "a"}), returned({"id": "a", "response": response}))
    assert prompt.steps[0].outputs == {"a": text}


@each(
    ("contents", "says"),
    [
        ([], "contents is not specified"),
        ([{"role": "robot", "parts": []}], "unknown role 'robot'"),
        ([USER, called({}, {}), returned({})], "2 function calls are followed by 1 function responses"),
        ([USER, called({}), USER], "1 function calls are followed by 0 function responses"),
        ([USER, called({}), returned({"name": "wait"})], "a function response for 'wait', which was not called"),
    ],
)
def test_what_the_real_one_refuses_is_refused(contents: list[dict[str, Any]], says: str) -> None:
    with pytest.raises(BadRequestError, match=says):
        history(*contents)
