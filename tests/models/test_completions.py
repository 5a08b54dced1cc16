"""Chat completions as endpoints of all kinds write them, read into one form."""

import json
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.server import running
from sandbox_mcp.engine.trajectory.usage import Usage
from sandbox_mcp.play.models.asking import EndpointError, EndpointSettings, FunctionCall, ModelAnswer
from sandbox_mcp.play.models.completions import Completions, as_message, read_answer
from tests.clients.sessions import scripted
from tests.each import each


def body(message: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"choices": [{"message": message, "finish_reason": "stop"}], **more}


def called(**call: Any) -> dict[str, Any]:
    return {"content": None, "tool_calls": [call]}


def test_text_with_usage() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
    assert read_answer(body({"content": "Hi."}, usage=usage)) == ModelAnswer("Hi.", (), Usage(7, 2, 1), "stop")


def test_text_in_parts() -> None:
    parts = [{"type": "text", "text": "H"}, {"type": "refusal", "refusal": "x"}, {"type": "text", "text": "i."}]
    assert read_answer(body({"content": parts})).text == "Hi."


def test_calls() -> None:
    answer = read_answer(
        body(called(id="a", type="function", function={"name": "wait", "arguments": '{"seconds": 1}'}))
    )
    assert answer.calls == (FunctionCall("a", "wait", '{"seconds": 1}'),)
    assert answer.text == ""


@each("arguments", ["", None])
def test_no_arguments_are_an_empty_object(arguments: str | None) -> None:
    (call,) = read_answer(body(called(id="a", function={"name": "wait", "arguments": arguments}))).calls
    assert call.arguments == "{}"


def test_arguments_as_an_object_and_calls_without_an_id() -> None:
    (odd,) = read_answer(body(called(id="\ud800", function={"name": "wait"}))).calls
    assert odd.id == "\ufffd"
    (call,) = read_answer(body(called(function={"name": "wait", "arguments": {"label": "Zoë"}}))).calls
    assert (call.id, json.loads(call.arguments)) == ("call_0", {"label": "Zoë"})


@each("usage", [None, {}, {"prompt_tokens": None}])
def test_usage_that_is_not_told_counts_the_request_alone(usage: Any) -> None:
    assert read_answer(body({"content": "Hi."}, usage=usage)).usage == Usage(0, 0, 1)


@each("broken", [[], {}, {"choices": []}, {"choices": [{}]}, {"choices": [{"message": {"tool_calls": [{"id": "a"}]}}]}])
def test_anything_else_is_no_answer(broken: Any) -> None:
    with pytest.raises((ValueError, LookupError, TypeError)):
        read_answer(broken)


def test_an_answer_goes_back_as_it_came() -> None:
    message = called(id="a", type="function", function={"name": "wait", "arguments": "{oops"})
    assert as_message(read_answer(body(message))) == {"role": "assistant", **message}
    assert as_message(read_answer(body({"content": ""}))) == {"role": "assistant", "content": ""}


def test_usages_add_up() -> None:
    assert (Usage(1, 2, 3) + Usage(10, 20, 30)).to_json() == {
        "prompt_tokens": 11,
        "completion_tokens": 22,
        "requests": 33,
    }


@each(
    ("given", "environment", "url"),
    [
        (None, None, "https://api.openai.com/v1"),
        (None, "http://models.example/v1", "http://models.example/v1"),
        ("http://mine.example/v1", "http://models.example/v1", "http://mine.example/v1"),
    ],
)
def test_where_the_endpoint_is(
    monkeypatch: pytest.MonkeyPatch, given: str | None, environment: str | None, url: str
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    if environment:
        monkeypatch.setenv("OPENAI_BASE_URL", environment)
    assert EndpointSettings(base_url=given).url == url


def test_a_connection_that_was_closed_is_opened_again() -> None:
    async def work() -> list[str]:
        endpoint = Completions(EndpointSettings("m", url))
        answers: list[str] = []
        for _ in range(2):
            answers.append((await endpoint.ask([{"role": "user", "content": "Hi"}], [])).text)
            await endpoint.aclose()
        return answers

    with running(Endpoint(scripted("steps: [{say: Hello.}]"))) as url:
        assert anyio.run(work) == ["Hello.", "Hello."]


def test_an_error_names_the_endpoint_and_not_its_credentials() -> None:
    async def work() -> None:
        settings = EndpointSettings("m", "http://user:word@127.0.0.1:1/v1", retries=0)
        endpoint = Completions(settings)
        try:
            await endpoint.ask([{"role": "user", "content": "Hi"}], [])
        finally:
            await endpoint.aclose()

    with pytest.raises(EndpointError) as caught:
        anyio.run(work)
    assert str(caught.value).startswith("model endpoint http://127.0.0.1:1/v1: connection failed: ")
    assert "word" not in str(caught.value)


def test_an_address_is_tried_as_often_as_asked_once_anybody_has_answered_there() -> None:
    with running(Endpoint(scripted("steps: [{say: Hello.}]"))) as url:
        endpoint = Completions(EndpointSettings("m", url, retries=6, pause=0))

    async def ask() -> None:
        await endpoint.ask([{"role": "user", "content": "Hi"}], [])

    with pytest.raises(EndpointError, match=r"\(3 tries\)"):
        anyio.run(ask)
    endpoint._answered = True
    with pytest.raises(EndpointError, match=r"\(7 tries\)"):
        anyio.run(ask)


class Hostile:
    """An endpoint that answers with whatever it was given."""

    def __init__(self, given: Callable[[], Response]) -> None:
        self.given = given

    def app(self) -> Starlette:
        return Starlette(routes=[Route("/v1/chat/completions", self.answer, methods=["POST"])])

    async def answer(self, _: Request) -> Response:
        return self.given()


def answered(given: Callable[[], Response], retries: int = 0) -> str:
    """The text of a hostile endpoint's answer."""

    async def ask(base_url: str) -> str:
        endpoint = Completions(EndpointSettings("m", base_url, retries=retries))
        try:
            return (await endpoint.ask([{"role": "user", "content": "Hi"}], [])).text
        finally:
            await endpoint.aclose()

    with running(Hostile(given)) as base:
        return anyio.run(ask, base)


@each(
    "said",
    [
        "[" * 100_000, "[]", "null", "", "<html>", '{"choices":null}', '{"choices":[1]}', '{"choices":{"a":1}}',
        '{"choices":[{"message":null}]}', '{"choices":[{"message":{"content":5}}]}',
        '{"choices":[{"message":{"content":[1]}}]}', '{"choices":[{"message":{"tool_calls":[null]}}]}',
        '{"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":1e999}}',
    ],
)  # fmt: skip
def test_an_answer_of_any_other_form_is_no_answer_in_one_line(said: str) -> None:
    with pytest.raises(EndpointError, match="the answer is not a chat completion") as caught:
        answered(lambda: Response(said, media_type="application/json"))
    assert len(str(caught.value).splitlines()) == 1


@each("status", [200, 400])
def test_a_longer_answer_than_any_model_writes_is_given_up_at_once(
    status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def long() -> Response:
        asked.append(status)
        return Response(b" " * 300_000, status, media_type="application/json")

    monkeypatch.setattr("sandbox_mcp.play.models.asking.LARGEST_ANSWER", 100_000)
    with pytest.raises(EndpointError, match="and that is not read"):
        answered(long, retries=3)
    assert asked == [status]


# reasoning and refusals

CALL: dict[str, Any] = {"id": "a", "type": "function", "function": {"name": "wait", "arguments": "{}"}}


@each(
    "thought",
    [
        {"reasoning_content": "I must wait."},
        {"reasoning": "I must wait.", "reasoning_details": [{"type": "reasoning.encrypted", "data": "ENC"}]},
        {"extra_content": {"google": {"thought_signature": "SIG"}}},
    ],
)
def test_reasoning_that_came_with_a_call_goes_back_with_it(thought: dict[str, Any]) -> None:
    message = {"content": None, "tool_calls": [CALL], **thought}
    assert as_message(read_answer(body(message))) == {"role": "assistant", **message}


def test_a_signature_of_a_single_call_goes_back_with_that_call() -> None:
    signed = {**CALL, "id": "b", "extra_content": {"google": {"thought_signature": "SIG"}}}
    sent = as_message(read_answer(body({"content": None, "tool_calls": [CALL, signed]})))
    assert sent["tool_calls"] == [CALL, signed]


def test_reasoning_in_words_stays_away_from_the_words_and_from_what_is_over() -> None:
    answer = read_answer(body({"content": "Off.", "reasoning_content": "They want it off.", "annotations": []}))
    assert (answer.text, answer.reasoning) == ("Off.", "They want it off.")
    assert as_message(answer) == {"role": "assistant", "content": "Off."}


@each(
    "message",
    [
        {"content": None, "refusal": "I cannot help with that."},
        {"content": [{"type": "refusal", "refusal": "I cannot help with that."}]},
    ],
)
def test_a_refusal_is_words(message: dict[str, Any]) -> None:
    assert read_answer(body(message)).text == "I cannot help with that."
