"""What is peculiar to Anthropic's Messages: blocks that go back as they came, and results all in one message."""

from typing import Any

import pytest
from sandbox_clients.anthropic_agent import read_message

from sandbox_mcp.engine.trajectory.usage import Usage
from sandbox_mcp.play.models.asking import EndpointSettings, FunctionCall
from tests.clients.chats import KINDS, Play
from tests.clients.sessions import LOW_BATTERY, WIFI_OFF, scripted, solver
from tests.each import each

THINKING = {"type": "thinking", "thinking": "Hm.", "signature": "abc"}
CALL = {"type": "tool_use", "id": "a", "name": "wait", "input": {"seconds": 1}}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def body(*content: Any, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 7, "output_tokens": 2}
    return {"content": list(content), "stop_reason": "end_turn", "usage": usage, **more}


def test_an_answer_in_blocks() -> None:
    answer = read_message(body(THINKING, text("One "), text("moment."), CALL, stop_reason="tool_use"))
    assert (answer.text, answer.calls) == ("One moment.", (FunctionCall("a", "wait", '{"seconds": 1}'),))
    assert (answer.usage, answer.finish) == (Usage(7, 2, 1), "tool_use")


def test_every_block_is_kept_as_it_came_thinking_included() -> None:
    assert read_message(body(THINKING, CALL)).parts == (THINKING, CALL)


def test_tokens_out_of_a_cache_and_into_it_are_tokens_read() -> None:
    usage = {"input_tokens": 1, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300, "output_tokens": 4}
    assert read_message(body(text("Hi."), usage=usage)).usage == Usage(321, 4, 1)


def test_what_is_no_unicode_is_kept_readable_but_called_as_it_was_written() -> None:
    answer = read_message(body(text("\ud800"), {**CALL, "id": "\ud800", "input": {"label": "\ud800"}}))
    assert (answer.text, answer.calls[0].arguments) == ("\ufffd", '{"label": "\\ud800"}')
    assert answer.parts[1]["input"] == {"label": "\ufffd"}
    assert answer.calls[0].id == answer.parts[1]["id"] == "\ufffd"


def test_a_model_that_ends_its_turn_without_a_word_has_answered() -> None:
    assert read_message(body()).text == ""


@each("broken", [[], {}, {"content": None}, body(stop_reason=None), body({"type": "tool_use"}), body({"type": "text"})])
def test_anything_else_is_no_answer(broken: Any) -> None:
    with pytest.raises((ValueError, LookupError, TypeError, AttributeError)):
        read_message(broken)


def test_the_history_is_blocks_and_refusals_are_marked(play: Play) -> None:
    script = """
    steps:
      - say: Let me see.
        calls:
          - {tool: search_contacts, arguments: {name: Wren}}
          - {tool: set_cellular_service_status, arguments: {on: true}}
      - {say: Done.}
    """
    first, second = play("anthropic", scripted(script), "Go.", scenario=LOW_BATTERY).seen
    assert (first["max_tokens"], first["system"][:21]) == (8192, "You are the assistant")
    assert first["tools"][0]["input_schema"]["type"] == "object"
    asked, answered, returned = second["messages"]
    assert asked == {"role": "user", "content": [text("Go.")]}
    assert [block["type"] for block in answered["content"]] == ["text", "tool_use", "tool_use"]
    assert [block["tool_use_id"] for block in returned["content"]] == [block["id"] for block in answered["content"][1:]]
    assert [block.get("is_error", False) for block in returned["content"]] == [False, True]


def test_what_is_said_after_results_goes_into_the_same_message(play: Play) -> None:
    script = "{repeat: true, steps: [{calls: [{tool: set_wifi_status, arguments: {on: true}}]}]}"
    came = play("anthropic", scripted(script), "On!", "Well?", max_steps=1)
    assert [block["type"] for block in came.seen[-1]["messages"][-1]["content"]] == ["tool_result", "text"]


@each("suffix", ["", "/", "/v1", "/v1/"])
def test_an_address_may_have_the_version_behind_it(play: Play, suffix: str) -> None:
    came = play("anthropic", solver(), WIFI_OFF.user.opening, base_url=play.url.removesuffix("/v1") + suffix)
    assert came.said == ["Wifi is now off."]


def test_its_variables_are_anthropics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://models.example")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    settings = EndpointSettings("m", provider=KINDS["anthropic"].provider)
    assert (settings.url, settings.key) == ("http://models.example", "secret")
