"""What is peculiar to Responses: items that go back as they came, and answers that are read."""

from typing import Any

import pytest
from sandbox_clients.responses_agent import read_response

from sandbox_mcp.engine.trajectory.usage import Usage
from sandbox_mcp.play.models.asking import FunctionCall
from tests.clients.chats import Play
from tests.clients.sessions import WIFI_OFF, solver
from tests.each import each

REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "abc"}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "wait", "arguments": '{"seconds": 1}'}


def message(*texts: str) -> dict[str, Any]:
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text} for text in texts],
    }


def body(*output: Any, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 7, "output_tokens": 2}
    return {
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "output": list(output),
        "usage": usage,
        **more,
    }


def test_an_answer_in_items() -> None:
    answer = read_response(body(REASONING, message("One ", "moment."), CALL))
    assert (answer.text, answer.calls) == ("One moment.", (FunctionCall("a", "wait", '{"seconds": 1}'),))
    assert (answer.usage, answer.finish) == (Usage(7, 2, 1), "completed")


def test_every_item_is_kept_as_it_came_reasoning_included() -> None:
    assert read_response(body(REASONING, CALL)).parts == (REASONING, CALL)


def test_what_is_no_unicode_is_kept_readable_but_called_as_it_was_written() -> None:
    answer = read_response(body(message("\ud800"), {**CALL, "call_id": "\ud800", "arguments": '{"label": "\\ud800"}'}))
    assert (answer.text, answer.calls[0].arguments) == ("\ufffd", '{"label": "\\ud800"}')
    assert answer.calls[0].id == answer.parts[1]["call_id"] == "\ufffd"
    assert answer.parts[0]["content"][0]["text"] == "\ufffd"


def test_an_answer_that_was_cut_short_says_why_even_without_output() -> None:
    answer = read_response(body(incomplete_details={"reason": "max_output_tokens"}, status="incomplete"))
    assert (answer.text, answer.finish) == ("", "max_output_tokens")


@each(
    "broken",
    [[], {}, body(), body({"type": "message"}), body({"type": "function_call"}), body(error={"message": "Overloaded"})],
)
def test_anything_else_is_no_answer(broken: Any) -> None:
    with pytest.raises((ValueError, LookupError, TypeError, AttributeError)):
        read_response(broken)


def test_the_history_is_items_and_nothing_is_left_to_the_endpoints_memory(play: Play) -> None:
    first, second = play("responses", solver(), WIFI_OFF.user.opening).seen
    assert first["instructions"].startswith("You are the assistant on somebody's phone")
    assert first["tools"][0] | {"description": "", "parameters": {}} == {
        "type": "function",
        "name": "set_wifi_status",
        "description": "",
        "parameters": {},
        "strict": False,
    }
    said, called, returned = second["input"]
    assert said == {"role": "user", "content": WIFI_OFF.user.opening}
    assert (called["type"], called["status"]) == ("function_call", "completed")
    assert returned == {"type": "function_call_output", "call_id": called["call_id"], "output": '{"result":null}'}
    assert "previous_response_id" not in second


def test_a_refusal_is_words_and_reasoning_is_none() -> None:
    thought = {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Not allowed."}]}
    said = {"type": "message", "content": [{"type": "refusal", "refusal": "I cannot help with that."}]}
    answer = read_response(body(thought, said))
    assert (answer.text, answer.reasoning) == ("I cannot help with that.", "Not allowed.")
