"""The endpoint's two protocols, read by OpenAI's own client, and what a request's history is understood as."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai import APIStatusError, OpenAI

from sandbox_mcp.app.endpoint import chat, responses
from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.prompt import ModelStep, Offer, Prompt, PromptTurn
from sandbox_mcp.app.endpoint.reply import Move, PlannedMove
from sandbox_mcp.app.endpoint.server import running
from sandbox_mcp.app.endpoint.wire import BadRequestError, answer, pieces
from sandbox_mcp.play.models.asking import FunctionCall
from tests.clients.sessions import scripted
from tests.each import each

SCRIPT = """
steps:
  - say: Let me look, I will need both of them, so that takes a moment.
    calls:
      - {tool: look_up, arguments: {name: Zoë, deep: [1, {a: null}]}}
      - {tool: wait}
  - say: Found.
"""
TOOL = {"type": "function", "function": {"name": "look_up", "parameters": {"properties": {"name": {}}}}}
HELLO: list[Any] = [{"role": "user", "content": "Hello"}]


@pytest.fixture
def client() -> Iterator[OpenAI]:
    with running(Endpoint(scripted(SCRIPT))) as url, OpenAI(base_url=url, api_key="any", max_retries=0) as made:
        yield made


def test_chat_completions_whole(client: OpenAI) -> None:
    completion = client.chat.completions.create(model="m", messages=HELLO, tools=[TOOL])
    (choice,) = completion.choices
    assert (completion.model, choice.finish_reason) == ("m", "tool_calls")
    assert choice.message.content
    calls = choice.message.tool_calls or []
    assert [json.loads(call.function.arguments) for call in calls if call.type == "function"] == [
        {"name": "Zoë", "deep": [1, {"a": None}]},
        {},
    ]
    assert completion.usage
    assert completion.usage.total_tokens == completion.usage.prompt_tokens + completion.usage.completion_tokens


def test_chat_completions_streamed_say_the_same_as_whole(client: OpenAI) -> None:
    whole = client.chat.completions.create(model="m", messages=HELLO)
    with client.chat.completions.stream(model="m", messages=HELLO) as stream:
        for _ in stream:
            pass
        streamed = stream.get_final_completion()
    assert streamed.choices[0].finish_reason == whole.choices[0].finish_reason
    assert streamed.choices[0].message.content == whole.choices[0].message.content
    functions = [
        [
            (call.function.name, call.function.arguments)
            for call in item.choices[0].message.tool_calls or []
            if call.type == "function"
        ]
        for item in (whole, streamed)
    ]
    assert functions[0] == functions[1]


def test_usage_comes_with_a_stream_only_if_it_is_asked_for(client: OpenAI) -> None:
    plain = list(client.chat.completions.create(model="m", messages=HELLO, stream=True))
    counted = list(
        client.chat.completions.create(model="m", messages=HELLO, stream=True, stream_options={"include_usage": True})
    )
    assert [any(chunk.usage for chunk in chunks) for chunks in (plain, counted)] == [False, True]


def test_responses_whole(client: OpenAI) -> None:
    response = client.responses.create(model="m", input="Hello", instructions="Be kind.")
    assert response.output_text.startswith("Let me look")
    calls = [item for item in response.output if item.type == "function_call"]
    assert [(call.name, json.loads(call.arguments)) for call in calls][1] == ("wait", {})
    assert response.usage
    assert response.status == "completed"


def test_responses_streamed_say_the_same_as_whole(client: OpenAI) -> None:
    whole = client.responses.create(model="m", input="Hello")
    with client.responses.stream(model="m", input="Hello") as stream:
        kinds = [event.type for event in stream]
        streamed = stream.get_final_response()
    assert (kinds[0], kinds[-1]) == ("response.created", "response.completed")
    assert streamed.output_text == whole.output_text
    functions = [
        [(item.name, item.arguments) for item in response.output if item.type == "function_call"]
        for response in (whole, streamed)
    ]
    assert functions[0] == functions[1]


def test_the_same_request_gets_the_same_ids(client: OpenAI) -> None:
    first, second = (client.chat.completions.create(model="m", messages=HELLO) for _ in range(2))
    assert first == second


def test_models_are_listed_and_any_model_exists(client: OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["scripted"]
    assert client.models.retrieve("org/any-model").id == "org/any-model"


@pytest.mark.parametrize(
    ("path", "body", "says"),
    [
        ("chat/completions", "{", "the body is not JSON"),
        ("chat/completions", "[]", "the body must be a JSON object"),
        ("chat/completions", "{}", "messages must be a list with at least one message"),
        ("chat/completions", '{"messages": [{"role": "robot"}]}', "unknown role 'robot'"),
        ("chat/completions", '{"messages": ["hello"]}', "unexpected form"),
        ("chat/completions", '{"messages": [{"role": "user", "content": 5}]}', "content must be text or a list"),
        ("responses", '{"input": []}', "input must be text or a list with at least one item"),
        ("responses", '{"input": "x", "previous_response_id": "r"}', "nothing is stored here"),
        ("responses", '{"input": [{"type": "image_generation_call"}]}', "'image_generation_call' are not understood"),
    ],
)
def test_a_request_of_another_form_is_refused_with_the_reason(client: OpenAI, path: str, body: str, says: str) -> None:
    answered = httpx2.post(f"{client.base_url}{path}", content=body)
    assert answered.status_code == 400
    assert says in answered.json()["error"]["message"]


def test_a_request_nested_too_deeply_for_any_parser_is_refused_like_one_that_is_not_json(client: OpenAI) -> None:
    answered = httpx2.post(f"{client.base_url}chat/completions", content="[" * 100_000)
    assert answered.status_code == 400
    assert "the body is not JSON" in answered.json()["error"]["message"]


def test_a_refusal_is_of_the_form_that_clients_know(client: OpenAI) -> None:
    with pytest.raises(APIStatusError) as caught:
        client.chat.completions.create(model="m", messages=[])
    assert caught.value.type == "invalid_request_error"


# what a history is understood as


def chat_history(*messages: Mapping[str, Any]) -> Prompt:
    return chat.read({"model": "m", "messages": list(messages), "tools": [TOOL]})


def made(id_: str, name: str = "look_up") -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": "{}"}}


CHAT = chat_history(
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": [{"type": "text", "text": "Find "}, {"type": "text", "text": "Zoë"}]},
    {"role": "assistant", "content": None, "tool_calls": [made("a"), made("b")]},
    {"role": "tool", "tool_call_id": "a", "content": "1"},
    {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "2"}]},
    {"role": "assistant", "content": "Here."},
    {"role": "user", "content": "Thanks"},
)
RESPONSES = responses.read(
    {
        "model": "m",
        "instructions": "Be kind.",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "Find Zoë"}]},
            {"type": "reasoning", "summary": []},
            {"type": "function_call", "call_id": "a", "name": "look_up", "arguments": "{}"},
            {"type": "function_call", "call_id": "b", "name": "look_up", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": "1"},
            {"type": "function_call_output", "call_id": "b", "output": [{"type": "input_text", "text": "2"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Here."}]},
            {"type": "message", "role": "user", "content": "Thanks"},
        ],
        "tools": [{"type": "function", "name": "look_up", "parameters": {"properties": {"name": {}}}}],
    }
)


def test_both_protocols_tell_the_same_story() -> None:
    looked = ModelStep(
        "", (FunctionCall("a", "look_up", "{}"), FunctionCall("b", "look_up", "{}")), {"a": "1", "b": "2"}
    )
    turns = (PromptTurn("Find Zoë", (looked, ModelStep("Here."))), PromptTurn("Thanks"))
    assert CHAT == RESPONSES == Prompt("m", "Be kind.", turns, {"look_up": Offer("", frozenset({"name"}))})


NAMESPACE = {"type": "namespace", "name": "phone", "tools": [{"type": "function", "name": "look_up"}]}


def test_functions_in_a_namespace_are_offered_behind_it() -> None:
    prompt = responses.read({"input": "x", "tools": [NAMESPACE]})
    assert prompt.tools == {"phone::look_up": Offer()}
    assert prompt.offered("look_up") == "phone::look_up"


def test_calls_of_functions_in_a_namespace_name_both(client: OpenAI) -> None:
    response = client.responses.create(model="m", input="Hello", tools=cast("Any", [NAMESPACE]))
    calls: list[Any] = [item.to_dict() for item in response.output if item.type == "function_call"]
    assert [(call.get("namespace"), call["name"]) for call in calls] == [("phone", "look_up"), (None, "wait")]
    assert responses.read({"input": calls}).steps[0].calls[0].name == "phone::look_up"


def test_what_the_user_says_in_several_messages_is_one_turn() -> None:
    prompt = chat_history({"role": "user", "content": "One"}, {"role": "user", "content": "two"})
    assert prompt.turns == (PromptTurn("One\ntwo"),)


def test_what_the_assistant_says_first_opens_a_turn_without_the_user() -> None:
    prompt = chat_history({"role": "assistant", "content": "Hello"}, {"role": "user", "content": "Hi"})
    assert prompt.turns == (PromptTurn("", (ModelStep("Hello"),)), PromptTurn("Hi"))


@each("name", ["look_up", "mcp__phone__look_up", "phone_look_up", "phone-look_up", "phone.look_up"])
def test_a_tool_is_found_behind_a_prefix(name: str) -> None:
    assert Prompt("m", "", (), {"outlook_updates": Offer(), name: Offer()}).offered("look_up") == name


def test_a_name_that_only_ends_alike_is_another_tool() -> None:
    assert Prompt("m", "", (), {"relook_up": Offer()}).offered("look_up") is None


@given(st.text())
def test_pieces_make_the_whole(text: str) -> None:
    assert "".join(pieces(text)) == text


names = st.from_regex(r"[a-z_]{1,12}", fullmatch=True)
calls = st.builds(PlannedMove, names, st.dictionaries(names, st.integers() | st.text(max_size=40), max_size=3))


@given(st.builds(Move, st.text(max_size=80), st.lists(calls, max_size=3).map(tuple)))
def test_a_chat_stream_carries_exactly_what_the_whole_answer_says(move: Move) -> None:
    found = answer({"messages": []}, "m", move)
    message = chat.whole(found)["choices"][0]["message"]
    deltas = [json.loads(line[6:])["choices"][0]["delta"] for line in chat.stream(found, {}) if "[DONE]" not in line]
    assert "".join(delta.get("content") or "" for delta in deltas) == (message["content"] or "")
    arguments: dict[int, str] = {}
    for call in (call for delta in deltas for call in delta.get("tool_calls", ())):
        arguments[call["index"]] = arguments.get(call["index"], "") + call["function"]["arguments"]
    assert list(arguments.values()) == [call["function"]["arguments"] for call in message.get("tool_calls", ())]


def test_an_unknown_role_is_named() -> None:
    with pytest.raises(BadRequestError, match="unknown role 'robot'; expected one of system, developer, user"):
        chat_history({"role": "robot", "content": "x"})
