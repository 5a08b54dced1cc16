"""The agents that ask a model themselves, over their real protocols: what they do, and what they make of faults."""

import json
from typing import Any

import pytest
from sandbox_clients.base import UnknownAgentError
from sandbox_clients.registry import agent_named
from sandbox_clients.settings import AgentSettings

from sandbox_mcp.play.models.asking import EndpointSettings
from tests.clients.chats import KINDS, Play, Played
from tests.clients.sessions import LOW_BATTERY, SUITE, WIFI_OFF, scripted, solver
from tests.each import each

EVERY = each("agent", KINDS)


def calling(**call: Any) -> Any:
    """A model that makes one call and then talks."""
    return scripted(json.dumps({"steps": [{"calls": [call]}, {"say": "Sorry."}]}))


@pytest.fixture(scope="module", params=KINDS)
def wifi(play: Play, request: pytest.FixtureRequest) -> Played:
    """What came of asking each of them to turn wifi off."""
    return play(request.param, solver(), WIFI_OFF.user.opening)


def test_it_calls_tools_until_it_has_an_answer(wifi: Played) -> None:
    assert wifi.said == ["Wifi is now off."]
    assert [(call.tool, call.arguments, call.error) for call in wifi.calls] == [
        ("set_wifi_status", {"on": False}, None)
    ]


def test_the_model_sees_instructions_tools_and_results(wifi: Played) -> None:
    first = wifi.prompts[0]
    assert first.system.startswith("You are the assistant on somebody's phone")
    assert [turn.user for turn in first.turns] == [WIFI_OFF.user.opening]
    assert first.tools["set_wifi_status"].arguments == {"on"}
    assert wifi.returned == ['{"result":null}']


def test_the_log_says_which_model_and_why_it_stopped(wifi: Played) -> None:
    (turn,) = wifi.turns
    assert turn.meta["model"] == "some-model"
    assert turn.meta["finish"] in {"stop", "completed", "end_turn"}


@EVERY
def test_it_remembers_the_turns_before_and_counts_what_each_took(play: Play, agent: str) -> None:
    scenario = SUITE.get("last_text_reply")
    came = play(agent, solver(), scenario.user.opening, "Write back.", scenario=scenario)
    assert came.calls[-1].tool == "send_message_with_phone_number"
    usages = [turn.meta["usage"] for turn in came.turns]
    assert [usage["requests"] for usage in usages] == [4, 2]
    assert min(number for usage in usages for number in usage.values()) > 0


@EVERY
def test_the_model_sees_the_text_of_an_error(play: Play, agent: str) -> None:
    came = play(agent, calling(tool="set_wifi_status", arguments={"on": True}), "Wifi on!")
    assert came.returned[0].startswith("ValueError: ")


@EVERY
def test_parameters_go_into_every_request_even_such_as_nobody_knows(play: Play, agent: str) -> None:
    parameters = {"temperature": 0, "max_tokens": 77, "top_secret": {"a": [1]}}
    came = play(agent, solver(), WIFI_OFF.user.opening, parameters=parameters)
    assert [{key: body[key] for key in parameters} for body in came.seen] == [parameters] * 2
    assert {body["model"] for body in came.seen} == {"some-model"}


@EVERY
def test_calls_of_one_answer_are_one_batch_in_their_order(play: Play, agent: str) -> None:
    script = """
    steps:
      - calls:
          - {tool: search_contacts, arguments: {name: Wren}}
          - {tool: get_cellular_service_status}
          - {tool: search_contacts, arguments: {name: Tomas}}
      - {say: Done.}
    """
    came = play(agent, scripted(script), "Go.", scenario=LOW_BATTERY)
    assert len({call.batch for call in came.calls}) == 1
    assert ["Wren" in came.returned[0], "Tomas" in came.returned[2]] == [True, True]


@EVERY
@each(
    ("call", "kind", "says"),
    [
        ({"tool": "turn_off_wifi"}, "unknown_tool", "UnknownToolError: "),
        ({"tool": "set_wifi_status", "arguments": '{"on": fal'}, "invalid_format", "ArgumentFormatError: "),
        ({"tool": "set_wifi_status", "arguments": "[false]"}, "invalid_format", "ArgumentFormatError: "),
        ({"tool": "set_wifi_status", "arguments": '{"on": "\\ud800"}'}, "invalid_format", "ArgumentFormatError: "),
        ({"tool": "set_wifi_status", "arguments": '{"on": NaN}'}, "invalid_format", "ArgumentFormatError: "),
        ({"tool": "set_wifi_status", "arguments": {"enabled": False}}, "unknown_argument", "ArgumentNameError: "),
    ],
    ids=["no such tool", "no JSON", "no object", "no Unicode", "no number", "no such argument"],
)
def test_what_the_model_does_wrong_is_told_to_it_and_recorded(
    play: Play, agent: str, call: Any, kind: str, says: str
) -> None:
    came = play(agent, calling(**call), "Off!")
    assert came.calls[0].error.kind == kind
    assert came.returned[0].startswith(says)
    assert came.said == ["Sorry."]


@each("kind", ["http", "direct"])
def test_what_is_no_unicode_gets_through_by_every_way_to_the_tools(play: Play, kind: Any) -> None:
    came = play("openai", calling(tool="set_wifi_status", arguments='{"on": "\\ud800"}'), "Off!", kind=kind)
    assert came.calls[0].error.kind == "invalid_format"


@EVERY
def test_a_model_that_never_stops_calling_is_stopped_and_can_be_spoken_to_again(play: Play, agent: str) -> None:
    script = "{repeat: true, steps: [{calls: [{tool: set_wifi_status, arguments: {on: true}}], say: Trying.}]}"
    came = play(agent, scripted(script), "On!", "Well?", max_steps=2)
    assert (came.failed, len(came.seen)) == ("", 4)
    assert (came.turns[0].text, came.turns[0].meta["finish"]) == ("Trying.", "max_steps")
    assert came.prompts[-1].turns[-1].user == "Well?"


@EVERY
def test_a_model_may_say_nothing(play: Play, agent: str) -> None:
    came = play(agent, scripted("{repeat: true, steps: [{say: ''}]}"), "Hello?", "Still there?")
    assert (came.failed, came.said) == ("", ["", ""])
    assert came.prompts[-1].turns[-1].user.endswith("Still there?")


# faults of the endpoint


def failing(fault: str) -> Any:
    return scripted(f"steps: [{{say: Hello., fault: {fault}}}]")


PASSING = {
    "too many requests": "{status: 429, retry_after: 3, times: 2}",
    "overloaded": "{status: 529, times: 1}",
    "half an answer": "{kind: half, times: 2}",
    "no JSON": "{kind: invalid_json, times: 2}",
    "nothing in it": "{kind: empty, times: 2}",
}


@EVERY
@each("fault", PASSING.values(), ids=PASSING)
def test_a_fault_that_passes_is_waited_for(play: Play, agent: str, fault: str) -> None:
    came = play(agent, failing(fault), "Hi.", kind="direct")
    assert came.said == ["Hello."]
    assert len(came.waited) == len(came.seen) - 1


@EVERY
def test_the_endpoint_says_how_long_to_wait_but_nobody_waits_longer_than_a_minute(play: Play, agent: str) -> None:
    assert play(agent, failing("{status: 429, retry_after: 3, times: 2}"), "Hi.", kind="direct").waited == [3.0, 3.0]
    assert play(agent, failing("{status: 429, retry_after: 86400}"), "Hi.", kind="direct").waited == [60.0]


@EVERY
def test_without_a_word_from_the_endpoint_pauses_double(play: Play, agent: str) -> None:
    assert play(agent, failing("{status: 500, times: 2}"), "Hi.", kind="direct", pause=0.5).waited == [0.5, 1.0]


LASTING = {
    "a server error": ("{status: 500, times: always}", "status 500: this failure"),
    "half an answer": ("{kind: half, times: always}", "connection failed"),
    "no JSON": ("{kind: invalid_json, times: always}", "the answer is not a "),
    "nothing in it": ("{kind: empty, times: always}", "the answer is not a "),
    "silence": ("{kind: hang, times: always}", "no answer in time"),
}


@EVERY
@each(("fault", "says"), LASTING.values(), ids=LASTING)
def test_a_fault_that_lasts_is_a_fault_of_the_endpoint(play: Play, agent: str, fault: str, says: str) -> None:
    patience = 0.2 if "hang" in fault else 100
    came = play(agent, failing(fault), "Hi.", kind="direct", timeout=patience, retries=1)
    assert says in came.failed
    assert came.failed.endswith("(2 tries)")


@EVERY
def test_a_fault_that_will_not_pass_is_told_at_once(play: Play, agent: str) -> None:
    for status in (401, 422):
        came = play(agent, failing(f"{{status: {status}, times: always}}"), "Hi.", kind="direct")
        assert f": status {status}: this failure with status {status} was asked for" in came.failed
        assert (len(came.seen), came.waited) == (1, [])


@EVERY
def test_an_endpoint_that_is_not_there_is_a_fault(play: Play, agent: str) -> None:
    came = play(agent, solver(), "Hi.", kind="direct", base_url="http://127.0.0.1:1/v1")
    assert "connection failed" in came.failed


# what is noticed before a run begins


@EVERY
def test_an_agent_without_a_model_says_what_to_do(agent: str) -> None:
    with pytest.raises(UnknownAgentError, match=f"the {agent} agent needs to know which model .* with --model"):
        agent_named(agent, AgentSettings(EndpointSettings("", "http://models.example/v1")))


@EVERY
@each("url", ["models.example/v1", "ftp://models.example", "http://", "http://x:port/v1"])
def test_an_address_that_is_none_is_told(agent: str, url: str) -> None:
    with pytest.raises(UnknownAgentError) as caught:
        agent_named(agent, AgentSettings(EndpointSettings("m", url)))
    assert f"cannot ask {url!r}; --base-url must be an address such as http://" in str(caught.value)


@EVERY
def test_an_address_in_the_environment_is_looked_at_as_well(agent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    variable = KINDS[agent].provider.url_variable
    monkeypatch.setenv(variable, "here")
    with pytest.raises(UnknownAgentError, match=f"cannot ask 'here'; {variable} must be an address"):
        agent_named(agent, AgentSettings(EndpointSettings("m")))


@EVERY
def test_a_provider_is_not_asked_without_a_key_but_others_are(agent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = KINDS[agent].provider
    monkeypatch.delenv(provider.url_variable, raising=False)
    monkeypatch.delenv(provider.key_variable, raising=False)
    with pytest.raises(UnknownAgentError, match=f"needs a key for .* in the variable '{provider.key_variable}'"):
        agent_named(agent, AgentSettings(EndpointSettings("m")))
    agent_named(agent, AgentSettings(EndpointSettings("m", "http://127.0.0.1:8099/v1")))
    monkeypatch.setenv(provider.key_variable, "secret")
    agent_named(agent, AgentSettings(EndpointSettings("m")))


@EVERY
def test_a_key_is_sent_without_the_blanks_around_it_and_one_that_no_header_can_hold_is_not_told(
    agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, problem in (("sk-mine \r\n", None), ("sk-\nmine", "not one line"), ("sk-\u201cmine", "not one line")):
        monkeypatch.setenv("MY_KEY", key)
        settings = EndpointSettings("m", "http://127.0.0.1:8099/v1", "MY_KEY", provider=KINDS[agent].provider)
        if problem is None:
            assert settings.key == "sk-mine"
            continue
        with pytest.raises(UnknownAgentError, match=problem) as caught:
            agent_named(agent, AgentSettings(settings))
        assert "mine" not in str(caught.value)


def test_a_variable_that_was_named_has_to_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(UnknownAgentError, match="in the variable 'MY_KEY', which is not set"):
        agent_named("openai", AgentSettings(EndpointSettings("m", "http://127.0.0.1:8099/v1", "MY_KEY")))


@each(("agent", "package"), [("openai", "openai"), ("responses", "openai"), ("anthropic", "anthropic")])
def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, agent: str, package: str) -> None:
    monkeypatch.setattr("sandbox_mcp.play.models.asking.find_spec", lambda _: None)
    with pytest.raises(UnknownAgentError) as caught:
        agent_named(agent, AgentSettings(EndpointSettings("m", "http://127.0.0.1:8099/v1")))
    assert f"pip install {package}" in str(caught.value)


@EVERY
def test_the_log_says_which_model_and_no_secret(agent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-very-secret")
    settings = EndpointSettings("m", "http://user:password@models.example:8000/v1?key=secret", "SOME_KEY")
    described = agent_named(agent, AgentSettings(settings)).describe()
    assert described["base_url"] == "http://models.example:8000/v1"
    assert "secret" not in str(described)
    assert "password" not in str(described)
