"""Anthropic's protocol, read by Anthropic's own client, and what its requests are understood as."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from sandbox_mcp.app.endpoint import messages
from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.prompt import ModelStep, Offer, Prompt, PromptTurn
from sandbox_mcp.app.endpoint.reply import Move
from sandbox_mcp.app.endpoint.server import root, running
from sandbox_mcp.app.endpoint.wire import BadRequestError
from sandbox_mcp.play.models.asking import FunctionCall
from tests.clients.sessions import WIFI_OFF, run, scripted, solver
from tests.each import each

if TYPE_CHECKING:  # it takes two seconds to import, which whoever runs other tests need not wait for
    from anthropic import Anthropic
    from anthropic.types import Message

SCRIPT = """
steps:
  - say: Let me look, I will need both of them, so that takes a moment.
    calls:
      - {tool: look_up, arguments: {name: Zoë, deep: [1, {a: null}]}}
      - {tool: wait}
  - say: Found.
"""
HELLO: list[Any] = [{"role": "user", "content": "Hello"}]
TOOL: Any = {"name": "look_up", "input_schema": {"type": "object", "properties": {"name": {}}}}
ASK: dict[str, Any] = {"model": "m", "max_tokens": 100, "messages": HELLO}


@pytest.fixture
def client() -> Iterator[Anthropic]:
    with running(Endpoint(scripted(SCRIPT))) as url, connected(url) as made:
        yield made


def connected(url: str) -> Anthropic:
    from anthropic import Anthropic

    return Anthropic(base_url=root(url), api_key="any", max_retries=0)


def test_whole(client: Anthropic) -> None:
    message = client.messages.create(**ASK, tools=[TOOL])
    assert (message.model, message.stop_reason) == ("m", "tool_use")
    said, *called = message.content
    assert said.type == "text"
    assert [(call.name, call.input) for call in called if call.type == "tool_use"] == [
        ("look_up", {"name": "Zoë", "deep": [1, {"a": None}]}),
        ("wait", {}),
    ]
    assert message.usage.output_tokens > 1


def test_streamed_says_the_same_as_whole(client: Anthropic) -> None:
    whole = client.messages.create(**ASK)
    with client.messages.stream(**ASK) as stream:
        kinds = [event.type for event in stream]
        streamed = stream.get_final_message()
    assert (kinds[0], kinds[-1]) == ("message_start", "message_stop")
    assert streamed.usage.output_tokens == whole.usage.output_tokens
    assert contents(streamed) == contents(whole)


def contents(message: Message) -> list[Any]:
    """What it says and calls, without ids, which are made from the request."""
    kept = ("type", "text", "name", "input")
    return [{key: value for key, value in block.to_dict().items() if key in kept} for block in message.content]


def test_an_answer_after_results(client: Anthropic) -> None:
    asked = client.messages.create(**ASK)
    results: Any = [
        {"type": "tool_result", "tool_use_id": block.id, "content": "1"}
        for block in asked.content
        if block.type == "tool_use"
    ]
    history: Any = [*HELLO, {"role": "assistant", "content": asked.content}, {"role": "user", "content": results}]
    said = client.messages.create(model="m", max_tokens=100, messages=history)
    assert [block.text for block in said.content if block.type == "text"] == ["Found."]
    assert said.stop_reason == "end_turn"


def test_tokens_are_counted_and_models_listed(client: Anthropic) -> None:
    assert client.messages.count_tokens(model="m", messages=HELLO).input_tokens > 1
    assert [model.id for model in client.models.list()] == ["scripted"]
    assert client.models.retrieve("any-model").display_name == "any-model"


@each(
    ("status", "kind", "raised"),
    [
        (401, "authentication_error", "APIStatusError"),
        (429, "rate_limit_error", "RateLimitError"),
        (500, "api_error", "InternalServerError"),
        (529, "overloaded_error", "InternalServerError"),
    ],
)
def test_a_status_comes_with_the_error_that_clients_know(status: int, kind: str, raised: str) -> None:
    import anthropic

    script = f"{{repeat: true, steps: [{{say: Hello., fault: {{status: {status}, retry_after: 2}}}}]}}"
    with (
        running(Endpoint(scripted(script))) as url,
        connected(url) as client,
        pytest.raises(getattr(anthropic, raised)) as caught,
    ):
        client.messages.create(**ASK)
    body: Any = caught.value.body
    assert (body["type"], body["error"]["type"]) == ("error", kind)
    assert caught.value.response.headers["retry-after"] == "2"


def test_arguments_that_are_no_json_are_sent_as_they_are() -> None:
    script = "steps: [{calls: [{tool: look_up, arguments: '{oops'}]}]"
    with running(Endpoint(scripted(script))) as url:
        whole = httpx2.post(f"{url}/messages", json=ASK).json()
        streamed = httpx2.post(f"{url}/messages", json={**ASK, "stream": True}).text
    assert whole["content"][0]["input"] == "{oops"
    assert '"partial_json": "{oops"' in streamed


# what a history is understood as


def history(*given: dict[str, Any], **more: Any) -> Prompt:
    return messages.read({"model": "m", "max_tokens": 9, "messages": list(given), **more})


def used(*ids: str) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": id_, "name": "look_up", "input": {}} for id_ in ids],
    }


def results(*ids: str) -> dict[str, Any]:
    return {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": id_, "content": "1"} for id_ in ids],
    }


USER = {"role": "user", "content": "Find Zoë"}


def test_it_tells_the_story_that_the_other_protocols_tell() -> None:
    told = history(
        {"role": "user", "content": [{"type": "text", "text": "Find Zoë", "cache_control": {"type": "ephemeral"}}]},
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "Hm.", "signature": "x"}, *used("a", "b")["content"]],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "1"},
                {
                    "type": "tool_result",
                    "tool_use_id": "b",
                    "content": [{"type": "text", "text": "2"}],
                    "is_error": True,
                },
            ],
        },
        {"role": "assistant", "content": "Here."},
        {"role": "user", "content": "Thanks"},
        system=[{"type": "text", "text": "Be"}, {"type": "text", "text": "kind."}],
        tools=[TOOL, {"type": "web_search_20250305", "name": "web_search"}],
    )
    looked = ModelStep(
        "", (FunctionCall("a", "look_up", "{}"), FunctionCall("b", "look_up", "{}")), {"a": "1", "b": "2"}
    )
    turns = (PromptTurn("Find Zoë", (looked, ModelStep("Here."))), PromptTurn("Thanks"))
    assert told == Prompt("m", "Be\nkind.", turns, {"look_up": Offer("", frozenset({"name"}))})


def test_a_result_without_content_is_empty() -> None:
    prompt = history(USER, used("a"), {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]})
    assert prompt.steps[0].outputs == {"a": ""}


def test_what_a_client_puts_in_is_not_what_the_user_said() -> None:
    aside = {"type": "text", "text": "<system-reminder>\nToday is Monday.\n</system-reminder>\n\n"}
    prompt = history(
        {"role": "user", "content": [aside, {"type": "text", "text": "Find Zoë"}]},
        {"role": "system", "content": "These agents are there."},
        used("a"),
        {"role": "user", "content": [*results("a")["content"], aside]},
    )
    assert [turn.user for turn in prompt.turns] == ["Find Zoë"]
    assert prompt.steps[0].outputs == {"a": "1"}
    assert "These agents are there." in prompt.system


@each(
    ("given", "says"),
    [
        ([], "at least one message"),
        ([{"role": "robot", "content": "x"}], "messages.0.role: unknown role 'robot'"),
        ([{"role": "user", "content": 5}], "content must be text or a list of blocks, not int"),
        ([{"role": "user", "content": ""}], "messages.0: content must not be empty"),
        ([USER, {"role": "assistant", "content": []}, USER], "messages.1: content must not be empty"),
        ([USER, used("a", "b"), results("a")], "messages.2: tool_result for a, but tool_use right before for a, b"),
        ([USER, used("a"), USER], "messages.2: tool_result for none, but tool_use right before for a"),
        ([USER, results("a")], "messages.1: tool_result for a, but tool_use right before for none"),
        ([{"role": "user", "content": [{"type": "hologram"}]}], "blocks of type 'hologram' are not understood"),
    ],
)
def test_what_the_real_one_refuses_is_refused(given: list[dict[str, Any]], says: str) -> None:
    with pytest.raises(BadRequestError, match=says):
        history(*given)


def test_a_request_without_a_limit_of_tokens_is_refused_in_anthropics_form(client: Anthropic) -> None:
    answered = httpx2.post(f"{client.base_url}/v1/messages", content=json.dumps({"model": "m", "messages": HELLO}))
    assert answered.status_code == 400
    assert answered.json()["error"] == {"type": "invalid_request_error", "message": "max_tokens: field required"}


def listing(*names: str) -> dict[str, Any]:
    return {"role": "system", "content": "\n".join(["These tools are deferred:", *names, "", "mcp__ is a prefix."])}


def test_tools_that_are_listed_and_not_offered_have_to_be_loaded() -> None:
    prompt = history(
        USER,
        listing("Bash", "mcp__phone__look_up", "mcp__phone__wait"),
        tools=[{**TOOL, "name": "mcp__phone__look_up"}],
    )
    assert prompt.deferred == ("mcp__phone__wait",)


SEARCH = {"name": "ToolSearch", "input_schema": {"type": "object", "properties": {"query": {}, "max_results": {}}}}
WIFI = {"name": "mcp__phone__set_wifi_status", "input_schema": {"type": "object", "properties": {"on": {}}}}


def test_the_solver_loads_deferred_tools_once_and_goes_on() -> None:
    asked: list[Any] = [{"role": "user", "content": WIFI_OFF.user.opening}, listing("mcp__phone__set_wifi_status")]
    (load,) = decided(history(*asked, tools=[SEARCH])).calls
    assert load.arguments == {"query": "select:mcp__phone__set_wifi_status", "max_results": 1}
    loaded = {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "tool_reference", "tool_name": "x"}]}
    made = {"type": "tool_use", "id": "a", "name": "ToolSearch", "input": load.arguments}
    asked += [
        {"role": "assistant", "content": [made]},
        {"role": "user", "content": [loaded, {"type": "text", "text": "Tool loaded."}]},
    ]
    assert [call.name for call in decided(history(*asked, tools=[SEARCH, WIFI])).calls] == [WIFI["name"]]
    assert decided(history(*asked, tools=[SEARCH])).calls == ()


def decided(prompt: Prompt) -> Move:
    move = run(solver().decide, prompt, 0)
    assert isinstance(move, Move)
    return move
