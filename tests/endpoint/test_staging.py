"""Which scenario a conversation is about, and what conversations through a tool are read as."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from sandbox_scenarios import Scenario
from sandbox_scenarios.variants import VARIANTS, presented

from sandbox_mcp.app.endpoint.channel import talk_in
from sandbox_mcp.app.endpoint.prompt import ModelStep, Offer, Prompt, PromptTurn
from sandbox_mcp.app.endpoint.reply import Move, PlannedMove
from sandbox_mcp.app.endpoint.staging import StagingPosition, Stagings
from sandbox_mcp.play.models.asking import FunctionCall
from tests.clients.sessions import SUITE, WIFI_OFF
from tests.each import each

FRIENDS = SUITE.get("colleagues_to_friends")
ANY = Offer("", frozenset({"content", "name"}))
SEND, START = "send_message_to_user", "start_scenario"


def prompt(*turns: PromptTurn, tools: Mapping[str, Offer] | None = None, system: str = "") -> Prompt:
    return Prompt("m", system, turns, tools or {})


def offers(scenario: Scenario, variant: str = "base", prefix: str = "") -> dict[str, Offer]:
    tools = presented(scenario, variant)
    return {prefix + name: Offer(tool.description, frozenset(tool.names)) for name, tool in tools.items()}


def placed(
    scenarios: Sequence[Scenario], *turns: PromptTurn, tools: Mapping[str, Offer] | None = None, name: str | None = None
) -> StagingPosition | None:
    return Stagings(scenarios).place(prompt(*turns, tools=tools or offers(scenarios[0])), turns, name)


def called(*made: tuple[str, Any]) -> ModelStep:
    """An answer that makes calls, and what each returned; None for one that was not carried out."""
    calls = tuple(FunctionCall(f"c{number}", name, "{}") for number, (name, _) in enumerate(made))
    outputs = {
        f"c{number}": value if isinstance(value, str) else json.dumps(value)
        for number, (_, value) in enumerate(made)
        if value is not None
    }
    return ModelStep("", calls, outputs)


# through a tool


def test_without_the_tool_a_conversation_is_what_it_is() -> None:
    turns = (PromptTurn("Hi", (ModelStep("Hello."),)), PromptTurn("Bye"))
    talk = talk_in(prompt(*turns))
    assert (talk.turns, talk.speak("Yes.")) == (turns, Move("Yes."))


def test_what_the_tool_returns_is_what_the_user_says_next() -> None:
    worked = called(("set_wifi_status", {"result": None}))
    asked = called((SEND, {"reply": "Thanks, and now?", "conversation_over": False}))
    talk = talk_in(prompt(PromptTurn("go", (worked, asked, worked)), tools={SEND: ANY}))
    assert talk.turns == (PromptTurn("go", (worked,)), PromptTurn("Thanks, and now?", (worked,)))
    assert talk.speak("Done.") == Move("", (PlannedMove(SEND, {"content": "Done."}),))
    assert not talk.left


def test_the_tool_may_stand_behind_a_prefix() -> None:
    name = f"mcp__sandbox__{SEND}"
    talk = talk_in(prompt(PromptTurn("go", (called((name, {"reply": "More."})),)), tools={name: ANY}))
    assert [turn.user for turn in talk.turns] == ["go", "More."]
    assert talk.speak("x").calls[0].name == name


@each("over", [{"reply": None, "conversation_over": True}, "SessionOverError: it is over"])
def test_once_there_is_no_reply_the_user_has_left(over: Any) -> None:
    assert talk_in(prompt(PromptTurn("go", (called((SEND, over)),)), tools={SEND: ANY})).left


def test_a_message_that_is_still_on_its_way_is_a_step_like_any_other() -> None:
    waiting = called((SEND, None))
    talk = talk_in(prompt(PromptTurn("go", (waiting,)), tools={SEND: ANY}))
    assert talk.turns == (PromptTurn("go", (waiting,)),)
    assert not talk.left


def test_the_conversation_begins_where_a_scenario_was_started() -> None:
    begun = called((START, {"scenario": "wifi_off", "instructions": "...", "user_says": "Wifi off, please."}))
    worked = called(("set_wifi_status", {"result": None}))
    talk = talk_in(prompt(PromptTurn("Run wifi_off", (begun, worked)), tools={SEND: ANY, START: ANY}))
    assert (talk.turns, talk.started) == ((PromptTurn("Wifi off, please.", (worked,)),), "wifi_off")


def test_a_second_scenario_begins_afresh() -> None:
    first = called((START, {"scenario": "a", "user_says": "A?"}))
    over = called((SEND, {"reply": None, "conversation_over": True}))
    second = called((START, {"scenario": "b", "user_says": "B?"}))
    turns = (PromptTurn("Run a", (first, over, ModelStep("It is over."))), PromptTurn("Now b", (second,)))
    talk = talk_in(prompt(*turns, tools={SEND: ANY, START: ANY}))
    assert (talk.started, talk.left, talk.turns) == ("b", False, (PromptTurn("B?"),))


def test_a_start_that_failed_starts_nothing() -> None:
    failed = called((START, "UnknownScenarioError: there is no scenario 'x'"))
    assert talk_in(prompt(PromptTurn("Run x", (failed,)), tools={START: ANY})).started is None


# which scenario


@each("variant", VARIANTS)
@each("prefix", ["", "mcp__phone__"])
def test_a_scenario_is_known_by_its_opening_and_its_tools(variant: str, prefix: str) -> None:
    place = placed([FRIENDS, WIFI_OFF], PromptTurn(FRIENDS.user.opening), tools=offers(FRIENDS, variant, prefix))
    assert place is not None
    assert (place.staging.scenario.name, place.done, place.results) == (FRIENDS.name, 0, {})
    assert set(place.staging.tools) == set(presented(FRIENDS, variant))


def test_tools_of_the_client_itself_do_not_matter() -> None:
    tools = {**offers(WIFI_OFF), "Bash": Offer("Run a command.", frozenset({"command"}))}
    assert placed([WIFI_OFF], PromptTurn(WIFI_OFF.user.opening), tools=tools) is not None


def test_words_of_the_client_around_the_opening_do_not_matter() -> None:
    said = f"<reminder>Be brief.</reminder>\n{WIFI_OFF.user.opening}\n"
    assert placed([WIFI_OFF], PromptTurn(said)) is not None


@each(
    ("said", "tools"),
    [
        ("Something else.", offers(WIFI_OFF)),
        (WIFI_OFF.user.opening, offers(FRIENDS)),
        (WIFI_OFF.user.opening, {"x": ANY}),
    ],
)
def test_a_conversation_about_nothing_that_is_known_has_no_place(said: str, tools: Mapping[str, Offer]) -> None:
    assert placed([WIFI_OFF], PromptTurn(said), tools=tools) is None


def test_a_tool_without_its_arguments_is_another_tool() -> None:
    assert placed([WIFI_OFF], PromptTurn(WIFI_OFF.user.opening), tools={"set_wifi_status": Offer()}) is None


def test_a_scenario_without_a_solution_is_no_help() -> None:
    blank = dataclasses.replace(WIFI_OFF, solutions=())
    assert placed([blank], PromptTurn(WIFI_OFF.user.opening)) is None


def test_where_the_name_is_known_the_opening_does_not_matter() -> None:
    place = placed([WIFI_OFF], PromptTurn("Whatever."), name="wifi_off")
    assert place is not None
    assert placed([WIFI_OFF], PromptTurn(WIFI_OFF.user.opening), name="another") is None


# how far


def test_values_are_kept_by_label_from_turn_to_turn() -> None:
    people = [{"person_id": "p1", "name": "Tomas"}, {"person_id": "p2", "name": "Dmitri"}]
    changed = called(("modify_contact", {"result": None}), ("modify_contact", {"result": None}))
    first = PromptTurn(
        FRIENDS.user.opening, (called(("search_contacts", {"result": people})), changed, ModelStep("Done."))
    )
    again = PromptTurn("And Dmitri?", (called(("search_contacts", {"result": people[1:]})),))
    place = placed([FRIENDS], first, again)
    assert place is not None
    assert (place.done, place.results) == (1, {"found": people, "dmitri": people[1:]})


def test_a_refusal_that_can_be_confirmed_leaves_its_code() -> None:
    scenario = SUITE.get("car_fixed")
    refused = "ConfirmationRequiredError: the user must confirm this first, with the code OK-0A1B2C"
    found = called(("search_contacts", {"result": [{"name": "Dmitri", "phone_number": "+1"}]}))
    place = placed([scenario], PromptTurn(scenario.user.opening, (found, called(("send", refused)))))
    assert place is not None
    assert place.results["asked"] == {"error": refused, "code": "OK-0A1B2C"}


HOPEFUL, HINDERED = SUITE.get("pitch_flooded"), SUITE.get("pitch_flooded_low_battery")
ALL_TOOLS = offers(HOPEFUL, "all_tools")
FOUND = ("search_contacts", {"result": [{"name": "X", "phone_number": "+1"}]})
REFUSED = ("send_message_with_phone_number", "ConnectionError: cellular service is off")


def test_of_twins_the_first_is_played_until_a_tool_answers_as_in_the_other() -> None:
    opened = PromptTurn(HOPEFUL.user.opening, (called(FOUND),))
    place = placed([HOPEFUL, HINDERED], opened, tools=ALL_TOOLS)
    assert place is not None
    assert (place.staging.scenario.name, place.done) == (HOPEFUL.name, 1)


def test_the_other_twin_begins_afresh_and_goes_on_from_there() -> None:
    steps = [called(FOUND)] * (len(HOPEFUL.solutions[0].turns[0].calls) - 1) + [called(REFUSED)]
    before = placed([HOPEFUL, HINDERED], PromptTurn(HOPEFUL.user.opening, tuple(steps)), tools=ALL_TOOLS)
    after = placed([HOPEFUL, HINDERED], PromptTurn(HOPEFUL.user.opening, (*steps, called(FOUND))), tools=ALL_TOOLS)
    assert before is not None
    assert after is not None
    assert [(place.staging.scenario.name, place.done) for place in (before, after)] == [
        (HINDERED.name, 0),
        (HINDERED.name, 1),
    ]


def test_without_a_twin_a_refusal_changes_nothing() -> None:
    steps = [called(FOUND)] * (len(HOPEFUL.solutions[0].turns[0].calls) - 1) + [called(REFUSED)]
    place = placed([HOPEFUL], PromptTurn(HOPEFUL.user.opening, tuple(steps)), tools=ALL_TOOLS)
    assert place is not None
    assert place.done == len(steps)


def test_a_refusal_that_the_solution_meets_is_no_surprise() -> None:
    """One of twins is refused on purpose, to ask for confirmation; that is how it goes, not the other scenario."""
    scenario = SUITE.get("car_fixed")
    twin = dataclasses.replace(scenario, name="twin")
    refused = "ConfirmationRequiredError: confirm OK-0A1B2C first"
    found = called(("search_contacts", {"result": [{"name": "Dmitri", "phone_number": "+1"}]}))
    place = placed([scenario, twin], PromptTurn(scenario.user.opening, (found, called(("send", refused)))))
    assert place is not None
    assert (place.staging.scenario.name, place.done) == ("car_fixed", 2)
