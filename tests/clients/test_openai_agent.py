"""The openai agent against a real endpoint over HTTP: what it sends, what it does, and what it makes of faults."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from clients.base import Agent, AgentError, AgentTurn
from clients.endpoint.app import Endpoint
from clients.endpoint.reply import Brain
from clients.endpoint.server import running
from clients.openai_agent import OpenAIAgent
from sandbox_mcp.users.completions import Completions, EndpointSettings
from tests.clients.sessions import LOW_BATTERY, SUITE, WIFI_OFF, Opened, opened, run, scripted, solver

Seen = list[Mapping[str, Any]]


class Played:
    """What came of a conversation: what the agent said, what the session recorded, what the endpoint was asked."""

    def __init__(self) -> None:
        self.turns: list[AgentTurn] = []
        self.seen: Seen = []
        self.waited: list[float] = []
        self.session: Opened | None = None

    @property
    def said(self) -> list[str]:
        return [turn.text for turn in self.turns]

    @property
    def calls(self) -> Any:
        assert self.session is not None
        return self.session.calls


def played(
    brain: Brain,
    *messages: str,
    kind: Any = "memory",
    scenario: Any = WIFI_OFF,
    max_steps: int = 30,
    played: Played | None = None,
    **more: Any,
) -> Played:
    found = played or Played()

    async def pause(seconds: float) -> None:
        found.waited.append(seconds)

    async def work() -> None:
        settings = EndpointSettings("some-model", **{"base_url": url, "retries": 2, "timeout": 5.0, **more})
        agent: Agent = OpenAIAgent(Completions(settings, pause), max_steps)
        try:
            async with opened(scenario, kind) as found.session, agent.converse(found.session.brief) as conversation:
                for message in messages:
                    found.turns.append(await conversation.turn(message))
        finally:
            await agent.aclose()

    with running(Endpoint(brain, found.seen.append)) as url:
        try:
            run(work)
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
    return found


def test_it_calls_tools_until_it_has_an_answer() -> None:
    came = played(solver(), WIFI_OFF.user.opening)
    assert came.said == ["Wifi is now off."]
    assert [(call.tool, call.arguments, call.error) for call in came.calls] == [
        ("set_wifi_status", {"on": False}, None)
    ]


def test_it_remembers_the_turns_before() -> None:
    scenario = SUITE.get("last_text_reply")
    came = played(solver(), scenario.user.opening, "Write back.", scenario=scenario)
    assert came.calls[-1].tool == "send_message_with_phone_number"
    assert [turn.meta["usage"]["requests"] for turn in came.turns] == [4, 2]


def test_the_model_sees_instructions_tools_and_results_as_text() -> None:
    came = played(solver(), WIFI_OFF.user.opening)
    first, second = came.seen
    assert [message["role"] for message in first["messages"]] == ["system", "user"]
    assert first["messages"][0]["content"].startswith("You are the assistant on somebody's phone")
    (tool,) = first["tools"]
    assert tool["function"]["parameters"]["properties"]["on"]["type"] == "boolean"
    assert second["messages"][-1]["content"] == '{"result":null}'
    assert second["messages"][-2]["tool_calls"][0]["id"] == second["messages"][-1]["tool_call_id"]


def test_the_model_sees_the_text_of_an_error() -> None:
    script = "steps: [{calls: [{tool: set_wifi_status, arguments: {on: true}}]}, {say: It was on.}]"
    came = played(scripted(script), "Wifi on!")
    assert came.seen[1]["messages"][-1]["content"].startswith("ValueError: ")


def test_parameters_go_into_every_request() -> None:
    came = played(solver(), WIFI_OFF.user.opening, parameters={"temperature": 0, "seed": 7})
    assert {(body["model"], body["temperature"], body["seed"]) for body in came.seen} == {("some-model", 0, 7)}


def test_calls_of_one_answer_are_one_batch_in_their_order() -> None:
    script = """
    steps:
      - calls:
          - {tool: search_contacts, arguments: {name: Wren}}
          - {tool: get_cellular_service_status}
          - {tool: search_contacts, arguments: {name: Tomas}}
      - {say: Done.}
    """
    came = played(scripted(script), "Go.", scenario=LOW_BATTERY)
    assert len({call.batch for call in came.calls}) == 1
    results = [message for message in came.seen[1]["messages"] if message["role"] == "tool"]
    asked = came.seen[1]["messages"][-4]["tool_calls"]
    assert [item["tool_call_id"] for item in results] == [call["id"] for call in asked]
    assert ["Wren" in results[0]["content"], "Tomas" in results[2]["content"]] == [True, True]


def test_a_tool_that_does_not_exist_is_told_to_the_model_and_recorded() -> None:
    script = "steps: [{calls: [{tool: turn_off_wifi, arguments: {}}]}, {say: Sorry.}]"
    came = played(scripted(script), "Off!")
    assert came.seen[1]["messages"][-1]["content"].startswith("UnknownToolError: ")
    assert came.calls[0].error.kind == "unknown_tool"


@pytest.mark.parametrize("arguments", ['{"on": fal', "[false]", "off"])
def test_arguments_that_are_no_object_are_told_to_the_model_and_recorded(arguments: str) -> None:
    script = json.dumps(
        {"steps": [{"calls": [{"tool": "set_wifi_status", "arguments": arguments}]}, {"say": "Sorry."}]}
    )
    came = played(scripted(script), "Off!")
    assert came.seen[1]["messages"][-1]["content"].startswith("ArgumentFormatError: ")
    assert came.calls[0].error.kind == "invalid_format"


@pytest.mark.parametrize("kind", ["memory", "http", "direct"])
def test_what_is_no_unicode_is_told_to_the_model_and_recorded(kind: Any) -> None:
    half = '{"on": "\\ud800"}'
    calls = [{"tool": "set_wifi_status", "arguments": half}]
    came = played(scripted(json.dumps({"steps": [{"calls": calls}, {"say": "Sorry."}]})), "Off!", kind=kind)
    assert came.calls[0].error.kind == "invalid_format"
    assert came.said == ["Sorry."]


def test_arguments_that_do_not_exist_are_told_to_the_model_and_recorded() -> None:
    script = "steps: [{calls: [{tool: set_wifi_status, arguments: {enabled: false}}]}, {say: Sorry.}]"
    came = played(scripted(script), "Off!")
    assert "set_wifi_status has no argument" in came.seen[1]["messages"][-1]["content"]
    assert came.calls[0].error.kind == "unknown_argument"


def test_a_model_that_never_stops_calling_is_stopped() -> None:
    script = "{repeat: true, steps: [{calls: [{tool: set_wifi_status, arguments: {on: true}}], say: Trying.}]}"
    came = played(scripted(script), "On!", max_steps=4)
    assert len(came.seen) == 4
    assert (came.turns[0].text, came.turns[0].meta["finish"]) == ("Trying.", "max_steps")


def failing(fault: str) -> Callable[[], Any]:
    return lambda: scripted(f"steps: [{{say: Hello., fault: {fault}}}]")


PASSING = {
    "too many requests": "{status: 429, retry_after: 3, times: 2}",
    "a server error": "{status: 500, times: 2}",
    "an overloaded server": "{status: 503, times: 1}",
    "half an answer": "{kind: half, times: 2}",
    "no JSON": "{kind: invalid_json, times: 2}",
    "no choice": "{kind: empty, times: 2}",
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_a_fault_that_passes_is_waited_for(fault: str) -> None:
    came = played(failing(fault)(), "Hi.")
    assert came.said == ["Hello."]
    assert len(came.waited) == len(came.seen) - 1


def test_the_endpoint_says_how_long_to_wait() -> None:
    assert played(failing(PASSING["too many requests"])(), "Hi.").waited == [3.0, 3.0]


def test_without_a_word_from_the_endpoint_pauses_double() -> None:
    assert played(failing(PASSING["a server error"])(), "Hi.", pause=0.5).waited == [0.5, 1.0]


def test_nobody_waits_longer_than_a_minute() -> None:
    assert played(failing("{status: 429, retry_after: 86400}")(), "Hi.").waited == [60.0]


LASTING = {
    "too many requests": ("{status: 429, times: always}", "status 429: this failure"),
    "a server error": ("{status: 500, times: always}", "status 500"),
    "half an answer": ("{kind: half, times: always}", "connection failed"),
    "no JSON": ("{kind: invalid_json, times: always}", "the answer is no chat completion"),
    "no choice": ("{kind: empty, times: always}", "the answer is no chat completion"),
}


@pytest.mark.parametrize(("fault", "says"), LASTING.values(), ids=LASTING)
def test_a_fault_that_lasts_is_a_fault_of_the_endpoint(fault: str, says: str) -> None:
    with pytest.raises(AgentError) as caught:
        played(failing(fault)(), "Hi.")
    assert says in str(caught.value)
    assert str(caught.value).endswith("(3 tries)")


def test_an_endpoint_that_hangs_is_given_up() -> None:
    with pytest.raises(AgentError, match="no answer in time"):
        played(failing("{kind: hang, times: always}")(), "Hi.", timeout=0.2, retries=1)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_fault_that_will_not_pass_is_told_at_once(status: int) -> None:
    found = Played()
    with pytest.raises(AgentError, match=f"status {status}"):
        played(failing(f"{{status: {status}, times: always}}")(), "Hi.", played=found)
    assert (len(found.seen), found.waited) == (1, [])


def test_an_endpoint_that_is_not_there_is_a_fault() -> None:
    with pytest.raises(AgentError, match="connection failed"):
        played(failing("{status: 500}")(), "Hi.", base_url="http://127.0.0.1:1/v1")


def test_the_log_says_which_model_and_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-very-secret")
    settings = EndpointSettings("m", "http://user:password@models.example:8000/v1?key=secret", "SOME_KEY")
    described = OpenAIAgent(Completions(settings)).describe()
    assert described["base_url"] == "http://models.example:8000/v1"
    assert "secret" not in str(described)
    assert "password" not in str(described)
