"""Variants: what each one offers, what each one hides, and that nothing hidden leaks."""

import json
import re
from dataclasses import replace

import pytest
from sandbox_scenarios import Scenario, ScenarioError
from sandbox_scenarios.stage import Stage
from sandbox_scenarios.variants import VARIANTS, distractors, presented

from sandbox_mcp.engine.tools import PresentedTool, World, call
from sandbox_mcp.engine.trajectory import MemoryLog
from sandbox_mcp.engine.worlds import default
from sandbox_mcp.engine.worlds.phone import phone
from sandbox_mcp.play.session import Session, SessionSpec
from sandbox_mcp.play.session.agent_calls import AgentCalls, Due
from sandbox_mcp.play.users import ScriptedUser
from tests.each import each
from tests.suite import SUITE

WIFI_OFF = SUITE.get("wifi_off")
EVERYTHING = {tool.tool.name: tool for tool in presented(WIFI_OFF, "all_tools").values()}


def under(variant: str) -> list[PresentedTool]:
    """Every tool there is, as this variant presents it."""
    return [VARIANTS[variant].change(tool, default()) for tool in EVERYTHING.values()]


def texts(tool: PresentedTool) -> str:
    """Everything an agent reads about a tool before it calls it."""
    return json.dumps([tool.name, tool.description, tool.schema])


def session(variant: str, scenario: Scenario = WIFI_OFF) -> Session:
    opened = Session(SessionSpec(scenario, variant=variant), ScriptedUser(scenario.user.script), MemoryLog())
    opened.begin()
    return opened


@pytest.mark.parametrize(("variant", "extra"), [("base", 0), ("3_distraction_tools", 3), ("10_distraction_tools", 10)])
def test_as_many_distraction_tools_as_the_name_says(variant: str, extra: int) -> None:
    for scenario in SUITE.all():
        needed = set(scenario.tools) - set(scenario.without)
        assert len(presented(scenario, variant)) == len(needed) + extra, scenario.name


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_variant_offers_what_the_scenario_withholds(variant: str) -> None:
    for scenario in SUITE.all():
        offered = {tool.tool.name for tool in presented(scenario, variant).values()}
        assert not offered & set(scenario.without), scenario.name


def test_all_tools_are_all_tools() -> None:
    usual = [name for name, tool in phone.agent_tools.items() if tool.domain != "account"]
    assert list(presented(WIFI_OFF, "all_tools")) == usual


def test_suite_tools_are_all_tools_of_the_groups_that_are_used() -> None:
    alarm = SUITE.get("office_add_alarm")
    assert list(presented(alarm, "suite_tools")) == ["AddAlarm", "DeleteAlarm", "FindAlarms"]


def test_the_nearest_distractions_come_first() -> None:
    first = [tool.name for tool in distractors(WIFI_OFF)[:3]]
    assert all(phone.agent_tools[name].domain == "setting" for name in first)


def test_an_unknown_variant_names_the_known_ones() -> None:
    with pytest.raises(ScenarioError, match=r"unknown variant 'scrambled'; known: base, 3_distraction_tools"):
        presented(WIFI_OFF, "scrambled")


@each("tool", under("tool_name_scrambled"), ids=lambda tool: tool.tool.name)
def test_a_scrambled_tool_name_appears_nowhere(tool: PresentedTool) -> None:
    assert re.fullmatch(r"[a-z]+_\d+", tool.name)
    everything = " ".join(texts(other) for other in under("tool_name_scrambled"))
    assert not re.search(rf"\b{tool.tool.name}\b", everything)


def test_a_scrambled_tool_name_is_one_whatever_the_group_is_called() -> None:
    home = World("library")
    for name in ("lend", "find"):
        home.include(replace(default().tools["get_wifi_status"], name=name, domain="Bücher & more"))
    scenario = replace(WIFI_OFF, home=home, tools=("find", "lend"))
    assert {name: tool.tool.name for name, tool in presented(scenario, "tool_name_scrambled").items()} == {
        "B_cher_more_0": "find",
        "B_cher_more_1": "lend",
    }


def test_scrambled_tool_names_are_distinct() -> None:
    names = [tool.name for tool in under("tool_name_scrambled")]
    assert len(set(names)) == len(names)


@each("tool", under("tool_description_scrambled"), ids=lambda tool: tool.tool.name)
def test_of_a_scrambled_tool_description_only_what_it_returns_and_how_it_fails_is_left(tool: PresentedTool) -> None:
    whole = tool.tool.description.splitlines()
    outcomes = [line for line in whole if line.startswith(("Returns ", "Fails with "))]
    assert tool.description.splitlines() == outcomes
    assert outcomes != whole


@each("variant", ["argument_description_scrambled", "no_documentation"])
def test_scrambled_argument_descriptions_are_gone_for_every_argument(variant: str) -> None:
    for tool in under(variant):
        assert all("description" not in argument for argument in tool.schema["properties"].values())


def test_without_documentation_names_and_types_are_left() -> None:
    for tool in under("no_documentation"):
        assert tool.description == ""
        assert all(argument["type"] for argument in tool.schema["properties"].values())


@each("tool", under("argument_type_scrambled"), ids=lambda tool: tool.tool.name)
def test_scrambled_argument_types_are_gone_but_still_checked(tool: PresentedTool) -> None:
    assert all("type" not in argument for argument in tool.schema["properties"].values())
    assert tool.schema["required"] == [parameter.name for parameter in tool.tool.parameters if parameter.required]


@each("tool", under("argument_name_scrambled"), ids=lambda tool: tool.tool.name)
def test_scrambled_argument_names_appear_nowhere(tool: PresentedTool) -> None:
    for parameter in tool.tool.parameters:
        assert parameter.name not in tool.schema["properties"]
        assert f"`{parameter.name}`" not in texts(tool)
        if "_" in parameter.name:  # 'name' and 'on' are words of the language as well
            assert not re.search(rf"\b{parameter.name}\b", texts(tool))


@each("tool", under("argument_name_scrambled"), ids=lambda tool: tool.tool.name)
def test_errors_speak_the_presented_argument_names(tool: PresentedTool) -> None:
    offered = {tool.name: tool}
    stage = Stage.of(WIFI_OFF)
    calls = AgentCalls(SessionSpec(WIFI_OFF, "argument_name_scrambled"), offered, stage)
    canonical = [parameter.name for parameter in tool.tool.parameters if "_" in parameter.name]
    bad: list[object] = [{}, {"nonsense": 1}, "no object", [1], dict.fromkeys(tool.names, None)]
    for arguments in bad:
        told = calls.carry_out(Due(0, tool.name, call(stage.running, offered, tool.name, arguments)))[0].fault
        message = told.message if told else ""
        assert not any(re.search(rf"\b{name}\b", message) for name in canonical), message


def test_a_scrambled_call_does_the_same() -> None:
    opened = session("argument_name_scrambled")
    assert opened.call("set_wifi_status", {"argument_0": False}).error is None
    assert opened.call("set_wifi_status", {"on": True}).error == (
        'ArgumentNameError: set_wifi_status has no argument "on"; it takes argument_0'
    )


def test_an_error_from_inside_a_tool_names_its_arguments_as_presented() -> None:
    opened = session("argument_name_scrambled", SUITE.get("photo_coordinates"))
    error = opened.call("search_lat_lon", {"argument_0": 100, "argument_1": 0}).error or ""
    assert error == "ValueError: `argument_0` 100.0 is out of range; expected degrees from -90.0 to 90.0"


def test_a_tool_whose_calls_need_the_users_word_says_so() -> None:
    scenario = SUITE.get("spring_cleaning")
    assert scenario.confirm
    for variant in ("base", "tool_description_scrambled", "all_tools"):
        tools = presented(scenario, variant).values()
        told = {tool.tool.name for tool in tools if "ConfirmationRequiredError" in tool.description}
        assert told == set(scenario.confirm)
    assert all(not tool.description for tool in presented(scenario, "no_documentation").values())


def test_terse_errors_say_what_kind_and_no_more() -> None:
    opened = session("terse_errors")
    assert opened.call("set_wifi_status", {"off": True}).error == "ArgumentNameError: the call failed"
    assert opened.call("set_wifi", {}).error == "UnknownToolError: the call failed"


@each(
    ("variant", "checked", "said"),
    [("no_feedback", False, True), ("terse_errors", False, False), ("base", True, True)],
)
def test_what_the_checker_says_can_be_hidden_without_what_a_tool_says(variant: str, checked: bool, said: bool) -> None:
    opened = session(variant, SUITE.get("photo_coordinates"))
    faults = [
        opened.call("search_lat_lon", {"latitude": "here", "longitude": 0}).error or "",
        opened.call("search_lat_lon", {"latitude": 0}).error or "",
        opened.call("act", {}).error or "",
    ]
    assert [item.endswith(": the call failed") for item in faults] == [not checked] * 3
    refused = opened.call("search_lat_lon", {"latitude": 100, "longitude": 0}).error or ""
    assert ("out of range" in refused) is said
