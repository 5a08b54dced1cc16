"""Agents that are prompted to reason and act in text: what they send, and what they make of what a model writes."""

import json
from typing import Any

from sandbox_clients.react_text import CORRECTION
from sandbox_clients.registry import agent_named
from sandbox_clients.settings import AgentSettings

from sandbox_mcp.app.endpoint.solver import in_calls
from sandbox_mcp.play.models.asking import EndpointSettings
from tests.clients.chats import KINDS, Play, Played
from tests.clients.sessions import SUITE, WIFI_OFF, scripted, solver
from tests.each import each

EVERY = each("agent", KINDS)


def writing(*texts: str) -> Any:
    """A model that writes one text after the other."""
    return scripted(json.dumps({"steps": [{"say": text} for text in texts]}))


def said_last(came: Played) -> str:
    return came.prompts[-1].turns[-1].user


@EVERY
def test_it_acts_in_text_until_it_has_an_answer(play: Play, agent: str) -> None:
    came = play(agent, solver(), WIFI_OFF.user.opening, react=True)
    assert came.said == ["Wifi is now off."]
    assert [(call.tool, call.arguments) for call in came.calls] == [("set_wifi_status", {"on": False})]
    assert said_last(came) == 'Observation: {"result":null}'
    assert all("tools" not in body for body in came.seen)


@EVERY
def test_several_turns_and_batches_come_out_as_with_calls(play: Play, agent: str) -> None:
    scenario = SUITE.get("last_text_reply")
    came = play(agent, solver(), scenario.user.opening, "Write back.", scenario=scenario, react=True)
    assert came.calls[-1].tool == "send_message_with_phone_number"
    assert [turn.meta["usage"]["requests"] for turn in came.turns] == [4, 2]


def test_the_tools_are_described_in_the_instructions(play: Play) -> None:
    came = play("openai", solver(), WIFI_OFF.user.opening, react=True)
    system = came.prompts[0].system
    assert system.startswith("You are the assistant on somebody's phone")
    assert '{"name": "set_wifi_status", "description": ' in system


@each(("agent", "key"), [("openai", "stop"), ("anthropic", "stop_sequences")])
def test_the_model_is_stopped_before_it_invents_an_observation(play: Play, agent: str, key: str) -> None:
    came = play(agent, solver(), WIFI_OFF.user.opening, react=True)
    assert [body[key] for body in came.seen] == [["\nObservation:"]] * 2


def test_an_endpoint_that_knows_no_stop_can_be_spared_it(play: Play) -> None:
    came = play("openai", solver(), WIFI_OFF.user.opening, react=True, parameters={"stop": None})
    assert [body["stop"] for body in came.seen] == [None] * 2


@EVERY
def test_what_a_model_invents_all_the_same_is_not_shown_to_it_again(play: Play, agent: str) -> None:
    invented = 'Action: set_wifi_status\nAction Input: {"on": false}\nObservation: It failed.\nFinal Answer: It failed.'
    came = play(agent, writing(invented, "Final Answer: Off."), "Off!", react=True)
    assert came.said == ["Off."]
    assert came.prompts[-1].steps[0].text == 'Action: set_wifi_status\nAction Input: {"on": false}'


@EVERY
def test_a_step_that_cannot_be_read_is_told_to_the_model_and_recorded(play: Play, agent: str) -> None:
    came = play(agent, writing("It is off, I guess.", "Final Answer: Off."), "Off!", react=True)
    assert said_last(came) == CORRECTION
    assert (came.failed, came.said, came.waited) == ("", ["Off."], [])
    assert came.turns[0].meta["malformed"] == ["It is off, I guess."]


def test_steps_that_cannot_be_read_count_as_steps(play: Play) -> None:
    came = play("openai", scripted("{repeat: true, steps: [{say: Hm.}]}"), "Off!", react=True, max_steps=3)
    assert (len(came.seen), came.turns[0].meta["finish"]) == (3, "max_steps")
    assert came.turns[0].meta["malformed"] == ["Hm."] * 3


@each(
    ("written", "says"),
    [
        ('Action: set_wifi_status\nAction Input: {"on": fal', "Observation: ArgumentFormatError: "),
        ("Action: turn_off_wifi\nAction Input: {}", "Observation: UnknownToolError: "),
        ('Action: set_wifi_status\nAction Input: {"on": true}', "Observation: ValueError: "),
    ],
    ids=["no JSON", "no such tool", "refused"],
)
def test_what_a_tool_refuses_is_an_observation(play: Play, written: str, says: str) -> None:
    came = play("openai", writing(written, "Final Answer: Sorry."), "Off!", react=True)
    assert said_last(came).startswith(says)
    assert came.calls[0].error is not None


def test_a_fault_of_the_endpoint_is_one_here_as_well(play: Play) -> None:
    came = play("openai", scripted("steps: [{say: x, fault: {status: 500, times: always}}]"), "Off!", react=True)
    assert "status 500" in came.failed


def test_a_log_tells_how_the_model_was_prompted() -> None:
    endpoint = EndpointSettings("m", "http://127.0.0.1:8099/v1")
    plain, react = (agent_named("openai", AgentSettings(endpoint, react=react)) for react in (False, True))
    assert {**plain.describe(), "prompting": "react"} == react.describe()


def test_the_endpoint_takes_requests_with_calls_for_what_they_are(play: Play) -> None:
    came = play("openai", solver(), WIFI_OFF.user.opening)
    assert [in_calls(prompt) for prompt in came.prompts] == [None, None]
