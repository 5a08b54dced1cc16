"""Arguments as models really write them, and results as harnesses really file them: nothing is lost in silence."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.importers.reading.values import Given, arguments_of
from sandbox_grader.papers.toolscan.events import PATTERN

from tests.each import each
from tests.grader.importers.samples import calls, chat_call, lost, read_one

letters = st.characters(exclude_categories=["Cs"])
names = st.text(letters, max_size=5)
floats = st.floats(allow_nan=False, allow_infinity=False)
jsonable = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | floats | st.text(letters, max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=10,
)


def chat(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": "Cancel X1."}, *messages]


def asks(*made: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(made)}


def tau(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"task_id": 1, "reward": 0.0, "info": None, "traj": chat(*messages)}]


def responses(*items: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": "Cancel X1."}, *items]


@given(st.dictionaries(names, jsonable, max_size=4))
def test_a_python_literal_is_read_as_the_object_that_it_writes(value: dict[str, Any]) -> None:
    assert arguments_of(repr(value)) == Given(value)


@each(
    ("text", "value"),
    [
        ("{'a': True, 'b': None}", {"a": True, "b": None}),
        ("  {'a': (1, 2)}\n", {"a": [1, 2]}),
        ("{'path': 'C:\\\\dir \\d'}", {"path": "C:\\dir \\d"}),
        ("{'half': '\\ud800'}", {"half": "\ufffd"}),
    ],
)
def test_what_python_writes_otherwise_than_json(text: str, value: dict[str, Any]) -> None:
    assert arguments_of(text) == Given(value)


@each(
    "text",
    [
        "{number: X1", "{'a': 1", "{'a': f()}", "{'a': __import__('os').getcwd()}", "{'a': 1+1}", "{'a': x}",
        "{'a'}", "{1: 2}", "{'a': b'x'}", "{'a': {1, 2}}", "{'a': 1j}", "{'a': 1e999}", "{'a': nan}", "dict(a=1)",
        "['a']", "{**{'a': 1}}", "{'a': " + "[" * 5000 + "]" * 5000 + "}", "{'a': " + "9" * 6000 + "}",
        "{'a': 'x\x00'", "{'a': ..., }", "{'a': " + "-" * 20_000 + "1}", "{'a': '" + "x" * 200_000 + "'}",
    ],
)  # fmt: skip
def test_what_is_no_object_is_kept_as_it_was_written_and_never_evaluated(text: str) -> None:
    assert arguments_of(text) == Given({}, text)


@given(st.text("{}[]()'\":,.0123456789abcdefTruFalsNone_*+-\\ \n\x00", max_size=60))
def test_no_text_breaks_the_reading_of_arguments(text: str) -> None:
    found = arguments_of("{" + text)
    assert found.raw is None or found.arguments == {}


@each("result", ["done", "Error: what?"])
@each("text", ["{number: X1", "[1]", "cancel X1"])
@each("format_", ["tau-bench", "openai-chat", "openai-responses"])
def test_unreadable_arguments_are_a_format_error_and_a_loss_whatever_came_of_the_call(
    format_: str, text: str, result: str
) -> None:
    exchange = [asks(chat_call("cancel", text)), {"role": "tool", "tool_call_id": "c1", "content": result}]
    items = [
        {"type": "function_call", "call_id": "c1", "name": "cancel", "arguments": text},
        {"type": "function_call_output", "call_id": "c1", "output": result},
    ]
    value = {"tau-bench": tau(*exchange), "openai-chat": chat(*exchange), "openai-responses": responses(*items)}
    session = read_one(format_, value[format_])
    [call] = calls(session)
    assert call.error
    assert (call.raw_arguments, PATTERN[call.error.kind]) == (text, "ife")
    assert "the arguments of 'cancel' cannot be read as an object" in lost(session)


@each("blank", ["", " ", "\n", None])
def test_a_call_without_arguments_is_no_error(blank: str | None) -> None:
    made = {"id": "c1", "type": "function", "function": {"name": "list", "arguments": blank}}
    [call] = calls(read_one("openai-chat", chat(asks(made), {"role": "tool", "tool_call_id": "c1", "content": "[]"})))
    assert (call.arguments, call.error) == ({}, None)


@each("text", ["Error: no such flight", "done"])
@each("naming", [{}, {"tool_call_id": None}, {"tool_call_id": "", "name": ""}])
def test_a_result_that_names_nothing_is_that_of_the_only_call_before_it(text: str, naming: dict[str, Any]) -> None:
    session = read_one("openai-chat", chat(asks(chat_call("cancel", {})), {"role": "tool", "content": text, **naming}))
    [call] = calls(session)
    assert (call.error.message if call.error else call.result) == text
    assert "was dropped" not in lost(session)


def test_where_several_calls_are_open_it_is_nobodys() -> None:
    session = read_one(
        "openai-chat", chat(asks(chat_call("a", {}), chat_call("b", {}, "c2")), {"role": "tool", "content": "Error: x"})
    )
    assert "was dropped" in lost(session)


def test_nor_is_it_that_of_a_call_which_something_else_followed() -> None:
    session = read_one(
        "openai-chat",
        chat(asks(chat_call("a", {})), {"role": "user", "content": "Well?"}, {"role": "tool", "content": "Error: x"}),
    )
    assert "was dropped" in lost(session)
