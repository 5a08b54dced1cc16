"""How steps in text are read: what models write, and what of it counts."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from sandbox_clients.base import ToolInfo
from sandbox_clients.react_text import WrittenStep, prompt, read_step, tools_in

from tests.each import each
from tests.laws import at_least

ACTION = 'Thought: Off.\nAction: set_wifi_status\nAction Input: {"on": false}'


def acted(text: str) -> tuple[str | None, str]:
    step = read_step(text)
    return step.action, step.arguments


@each(
    "text",
    [
        ACTION,
        'Action: set_wifi_status\nAction Input: {"on": false}',
        'thought: off\naction: set_wifi_status\naction input: {"on": false}',
        'THOUGHT: Off.\n\nACTION: set_wifi_status\n\nACTION_INPUT:\n{"on": false}\n',
        '**Thought:** Off.\n**Action:** `set_wifi_status`\n**Action Input:** `{"on": false}`',
        '- **Action**: "set_wifi_status"\n- **Action Input**: {"on": false}',
        'Action: set_wifi_status\nAction Input:\n```json\n{"on": false}\n```',
        'Action: set_wifi_status\nAction Input: {"on": false}\nThat should do it.',
        'Action: set_wifi_status({"on": false})',
        '<think>Action: wait\nAction Input: {}</think>\nAction: set_wifi_status\nAction Input: {"on": false}',
        f"{ACTION}\nObservation: It is off.\nThought: Done.\nFinal Answer: Wifi is off.",
        f"{ACTION}\n\n{ACTION.replace('false', 'true')}",
        f"{ACTION}\nFinal Answer: Wifi is off.",
    ],
)
def test_an_action_is_found_however_it_is_dressed(text: str) -> None:
    assert acted(text) == ("set_wifi_status", '{"on": false}')


def test_arguments_may_take_several_lines_and_hold_labels() -> None:
    given = json.dumps({"content": "Observation: it rains.\nAction: stay", "n": [1, {"a": None}]}, indent=2)
    assert acted(f"Action: send\nAction Input: {given}\nObservation: Sent.") == ("send", given)


@each("given", ['{"on": fal', "[false]", "off", "{'on': False}"])
def test_arguments_that_are_no_object_are_passed_on_as_they_are(given: str) -> None:
    assert acted(f"Action: set_wifi_status\nAction Input: {given}\nObservation: Off.") == ("set_wifi_status", given)


@each("text", ["Action: get_wifi_status", "Action: get_wifi_status\nAction Input:", "Action: get_wifi_status()"])
def test_an_action_may_go_without_arguments(text: str) -> None:
    assert acted(text) == ("get_wifi_status", "")


def test_what_comes_behind_an_action_is_cut_off() -> None:
    invented = f"{ACTION}\nObservation: It is off.\nFinal Answer: Off."
    assert read_step(invented).written == ACTION


@each(
    ("text", "answer"),
    [
        ("Thought: Done.\nFinal Answer: Wifi is off.", "Wifi is off."),
        ("Final Answer:\nIt is:\n- off\n- Action: none", "It is:\n- off\n- Action: none"),
        ("**Final Answer:** Off.\nObservation: The user is happy.", "Off."),
        ("Final Answer: Off.\nAction: wait\nAction Input: {}", "Off.\nAction: wait\nAction Input: {}"),
        ("final_answer: Off.", "Off."),
        ("Final Answer:", ""),
    ],
)
def test_a_final_answer_goes_on_to_the_end(text: str, answer: str) -> None:
    assert (read_step(text).answer, read_step(text).action) == (answer, None)


@each(
    "text",
    ["", "Wifi is off.", "Thought: Hm.", "Action:", "Action Input: {}", "I took action: set_wifi_status", ":"],
)
def test_anything_else_is_no_step(text: str) -> None:
    assert read_step(text) == WrittenStep(text)


def test_an_observation_in_front_of_everything_leaves_nothing() -> None:
    assert read_step(f"Thought: Hm.\nObservation: It is off.\n{ACTION}") == WrittenStep("Thought: Hm.")


@settings(max_examples=at_least(20))
@given(st.text())
def test_any_text_is_read_and_nothing_is_made_up(text: str) -> None:
    step = read_step(text)
    for part in (step.written, step.action or "", step.arguments, step.answer or ""):
        assert part in text


@settings(max_examples=at_least(20))
@given(st.dictionaries(st.text(), st.integers() | st.text() | st.none()))
def test_any_object_comes_through(arguments: dict[str, object]) -> None:
    written = json.dumps(arguments, ensure_ascii=False)
    assert acted(f"Thought: So.\nAction: do\nAction Input: {written}") == ("do", written)


def test_the_tools_in_a_prompt_are_found_again() -> None:
    tools = [
        ToolInfo("wait", 'Waits.\nArgs: "seconds"', {"type": "object", "properties": {"seconds": {}}}),
        ToolInfo("look", "", {"type": "object"}),
    ]
    found = tools_in(prompt("Be kind.", tools)) or []
    assert [(tool["name"], tool["description"], tool["arguments"]) for tool in found] == [
        (tool.name, tool.description, tool.input_schema) for tool in tools
    ]


@each("text", ["", "Be kind.", 'Your tools are wait and look. Write "Action:".'])
def test_other_instructions_list_no_tools_in_this_form(text: str) -> None:
    assert tools_in(text) is None
