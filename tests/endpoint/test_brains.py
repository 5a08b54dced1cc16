"""What decides an endpoint's answers: scripts, solutions and simulated users, each from the request alone."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from sandbox_scenarios import Scenario
from sandbox_scenarios.variants import VARIANTS, presented

from sandbox_mcp.app.endpoint.prompt import ModelStep, Offer, Prompt, PromptTurn
from sandbox_mcp.app.endpoint.reply import Brain, Failing, Move, PlannedFault, PlannedMove
from sandbox_mcp.app.endpoint.script import ScriptError, parse_script, read_script
from sandbox_mcp.app.endpoint.solver import LOST, Solver
from sandbox_mcp.app.endpoint.user import STRANGER, ScriptedUserModel
from sandbox_mcp.engine.worlds.phone import phone
from sandbox_mcp.play.models.asking import FunctionCall
from tests.clients.sessions import LOW_BATTERY, SUITE, WIFI_OFF, run, scripted, solver, write
from tests.each import each

TOOLS = tuple(phone.agent_tools)
ANYTHING = frozenset(parameter.name for tool in phone.agent_tools.values() for parameter in tool.parameters)
FRIENDS = SUITE.get("colleagues_to_friends")
FOUND_DMITRI = json.dumps({"result": [{"name": "Dmitri Voss", "phone_number": "+16305550129"}]})
FOUND = json.dumps({"result": [{"person_id": "p1", "name": "Tomas"}, {"person_id": "p2", "name": "Dmitri"}]})


def decided(brain: Brain, *turns: PromptTurn, tools: Any = TOOLS, system: str = "", tries: int = 0) -> Any:
    offered = tools if isinstance(tools, Mapping) else dict.fromkeys(tools, Offer("", ANYTHING))
    prompt = Prompt("m", system, turns, offered)
    return run(brain.decide, prompt, tries)


def step(*outputs: str | None, names: Sequence[str] = (), text: str = "") -> ModelStep:
    """An answer with calls, of which those with an output were carried out."""
    calls = tuple(FunctionCall(f"c{i}", (names or ["x"] * len(outputs))[i], "{}") for i in range(len(outputs)))
    return ModelStep(text, calls, {f"c{i}": output for i, output in enumerate(outputs) if output is not None})


def offers(scenario: Scenario, variant: str = "base") -> dict[str, Offer]:
    """The tools of a scenario as a request offers them."""
    tools = presented(scenario, variant)
    return {name: Offer(tool.description, frozenset(tool.names)) for name, tool in tools.items()}


# solutions


def test_the_solver_makes_the_first_calls() -> None:
    move = decided(solver(), PromptTurn(FRIENDS.user.opening))
    assert move == Move("", (PlannedMove("search_contacts", {"relationship": "colleague"}),))


def test_the_solver_goes_on_with_what_was_found() -> None:
    move = decided(solver(), PromptTurn(FRIENDS.user.opening, (step(FOUND),)))
    assert [call.arguments["person_id"] for call in move.calls] == ["p1", "p2"]


def test_the_solver_makes_the_rest_of_a_batch_if_the_client_made_only_part_of_it() -> None:
    move = decided(solver(), PromptTurn(FRIENDS.user.opening, (step(FOUND), step("null", None))))
    assert [call.arguments["person_id"] for call in move.calls] == ["p2"]


def test_the_solver_replies_when_all_is_done() -> None:
    move = decided(solver(), PromptTurn(FRIENDS.user.opening, (step(FOUND), step("null", "null"))))
    assert move == Move("Tomas and Dmitri are now listed as friends.")


def test_the_solver_knows_which_turn_it_is() -> None:
    first = PromptTurn(FRIENDS.user.opening, (step(FOUND), step("null", "null"), ModelStep("Done.")))
    assert decided(solver(), first, PromptTurn("And Dmitri?")).calls[0].arguments == {"name": "Dmitri"}


def test_the_solver_has_nothing_to_add_to_its_solution() -> None:
    done = PromptTurn(WIFI_OFF.user.opening, (step("null"), ModelStep("Wifi is now off.")))
    assert decided(solver(), done, PromptTurn("And now?")) == Move("I have nothing to add to that.")


def test_the_solver_does_not_make_up_what_a_refused_call_did_not_return() -> None:
    move = decided(solver(), PromptTurn(FRIENDS.user.opening, (step("ConnectionError: off"),)))
    assert move.text.startswith("I cannot go on: the solution needs 'found.0.person_id'")
    assert not move.calls


def test_the_solver_uses_the_names_that_the_client_gave_the_tools() -> None:
    tools = [f"mcp__sandbox__{name}" for name in TOOLS]
    assert (
        decided(solver(), PromptTurn(WIFI_OFF.user.opening), tools=tools).calls[0].name
        == "mcp__sandbox__set_wifi_status"
    )


@each("variant", VARIANTS)
def test_the_solver_uses_the_names_of_the_variant(variant: str) -> None:
    offered = presented(WIFI_OFF, variant)
    tools = offers(WIFI_OFF, variant)
    (call,) = decided(solver(), PromptTurn(WIFI_OFF.user.opening), tools=tools).calls
    assert offered[call.name].tool.name in ("set_wifi_status", "act")
    assert set(call.arguments) == set(offered[call.name].names)


def test_the_solver_does_not_know_every_conversation() -> None:
    assert decided(solver(), PromptTurn("What is the meaning of life?")) == Move(LOST)
    assert decided(solver()) == Move(LOST)


def test_the_solver_is_lost_without_the_tools() -> None:
    assert decided(solver(), PromptTurn(WIFI_OFF.user.opening), tools=["search_contacts"]) == Move(LOST)


def test_where_the_user_is_a_tool_the_solver_speaks_with_it() -> None:
    tools = (*TOOLS, "send_message_to_user")
    told = f"The user's first message to you was:\n{FRIENDS.user.opening}"
    steps = [step(FOUND), step("null", "null")]
    move = decided(solver(), PromptTurn("go", tuple(steps)), tools=tools, system=told)
    assert move.calls == (
        PlannedMove("send_message_to_user", {"content": "Tomas and Dmitri are now listed as friends."}),
    )
    answer = json.dumps({"reply": "And Dmitri?", "conversation_over": False})
    steps.append(step(answer, names=["send_message_to_user"]))
    assert decided(solver(), PromptTurn("go", tuple(steps)), tools=tools, system=told).calls[0].arguments == {
        "name": "Dmitri"
    }


def test_where_the_user_is_a_tool_the_solver_stops_once_the_user_has_left() -> None:
    over = json.dumps({"reply": None, "conversation_over": True})
    steps = (step("null"), step(over, names=["send_message_to_user"]))
    tools = (*TOOLS, "send_message_to_user")
    move = decided(solver(), PromptTurn(WIFI_OFF.user.opening, steps), tools=tools)
    assert (move.text, move.calls) == ("The user has left.", ())


# users

USERS = ScriptedUserModel(SUITE.all())
END = ("end_conversation",)


def test_the_user_opens() -> None:
    user = SUITE.get("new_neighbour").user
    assert decided(USERS, PromptTurn("start"), system=f"You want this: {user.goal}") == Move(user.opening)


def test_the_user_answers_from_its_script() -> None:
    opened = PromptTurn("start", (ModelStep(SUITE.get("new_neighbour").user.opening),))
    assert decided(USERS, opened, PromptTurn("What is her name?")) == Move("Her name is Ilse van der Merwe.")


def test_the_user_leaves_with_the_tool_for_it() -> None:
    opened = PromptTurn("start", (ModelStep(WIFI_OFF.user.opening),))
    assert decided(USERS, opened, PromptTurn("Wifi is off."), tools=END) == Move(
        "", (PlannedMove("end_conversation", {}),)
    )


def test_a_user_without_a_tool_to_leave_says_goodbye() -> None:
    opened = PromptTurn("start", (ModelStep(WIFI_OFF.user.opening),))
    assert decided(USERS, opened, PromptTurn("Wifi is off."), tools=()) == Move("Thanks, bye.")


def test_the_user_confirms_with_the_tool_for_it() -> None:
    opened = PromptTurn("start", (ModelStep(WIFI_OFF.user.opening),))
    move = decided(USERS, opened, PromptTurn("Shall I? OK-0A1B2C"), tools=("confirm_action",))
    assert move.calls == (PlannedMove("confirm_action", {"code": "OK-0A1B2C"}),)
    assert move.text


def test_a_user_nobody_knows_says_so() -> None:
    assert decided(USERS, PromptTurn("start"), system="You want the moon.") == Move(STRANGER)


# scripts


def test_a_script_goes_on_with_what_tools_returned() -> None:
    brain = scripted(
        """
        steps:
          - calls: [{tool: search_contacts, arguments: {name: Wren}, as: found}]
          - say: The number is ${found.0.number}.
        """
    )
    taken = step('{"result": [{"number": "+1"}]}')
    assert decided(brain, PromptTurn("Number?", (taken,))) == Move("The number is +1.")


def test_a_script_that_needs_what_is_not_there_says_so() -> None:
    brain = scripted("steps: [{calls: [{tool: a, as: x}]}, {say: '${x.name}'}]")
    assert decided(brain, PromptTurn("Hi", (step("[]"),))).text.startswith(
        "I cannot go on: the solution needs 'x.name'"
    )


def test_behind_its_last_step_a_script_has_nothing_to_add_or_repeats() -> None:
    taken = PromptTurn("Hi", (ModelStep("One."),))
    assert decided(scripted("steps: [{say: One.}]"), taken) == Move("I have nothing to add to that.")
    assert decided(scripted("{repeat: true, steps: [{say: One.}]}"), taken) == Move("One.")


def test_a_fault_strikes_as_often_as_it_says() -> None:
    brain = scripted("steps: [{say: Hi., fault: {status: 429, retry_after: 2, times: 2}}]")
    fault = PlannedFault("status", 429, 2.0, 2)
    assert [decided(brain, PromptTurn("Hi"), tries=tries) for tries in range(3)] == [fault, fault, Move("Hi.")]


def test_any_brain_can_be_made_to_fail_first() -> None:
    brain = Failing(solver(), PlannedFault("half", times=None))
    assert decided(brain, PromptTurn(WIFI_OFF.user.opening), tries=99) == PlannedFault("half", times=None)


@each(
    ("text", "says"),
    [
        ("", "is empty; expected 'steps'"),
        ("steps: []", "my.yaml:1: steps: List should have at least 1 item"),
        ("steps:\n  - say: Hi.\n  - shout: Hi.\n", "my.yaml:3: steps.1.shout: Extra inputs are not permitted"),
        ("steps: [{fault: {status: 200}}]", "steps.0.fault.status: Input should be greater than or equal to 400"),
        ("steps: [", "is not valid YAML: did not find expected node content"),
        ("[]", "the whole: Input should be a valid dictionary"),
    ],
)
def test_a_broken_script_is_told_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ScriptError) as caught:
        read_script(write(tmp_path / "my.yaml", text))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_script_that_is_not_there_or_no_text_is_told(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match="cannot be read: No such file"):
        read_script(tmp_path / "no.yaml")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(ScriptError, match="is not UTF-8 text"):
        read_script(tmp_path / "binary.yaml")


def test_an_argument_called_on_stays_what_it_is() -> None:
    script = parse_script("steps: [{calls: [{tool: set_wifi_status, arguments: {on: false}}]}]")
    assert script.steps[0].calls[0].arguments == {"on": False}


def test_the_solver_tells_twins_apart_by_what_the_user_says_later() -> None:
    """The user of one scenario declines what the user of the other confirms; all else is the same."""
    fixed, not_quite = (SUITE.get(name) for name in ("car_fixed", "car_not_quite_fixed"))
    tools = offers(fixed)
    assert tools == offers(not_quite)
    waiting = "ConfirmationRequiredError: the user must confirm this first, with the code OK-0A1B2C"
    first = PromptTurn(fixed.user.opening, (step(FOUND_DMITRI), step(waiting), ModelStep("Please confirm.")))
    approved = decided(solver(), first, PromptTurn(fixed.user.script.confirm), tools=tools)
    declined = decided(solver(), first, PromptTurn(not_quite.user.script.decline), tools=tools)
    assert [call.name for call in approved.calls] == ["send_message_with_phone_number"]
    assert declined == Move(not_quite.solutions[0].turns[1].reply)


def test_an_opening_inside_a_longer_one_is_not_meant() -> None:
    short = dataclasses.replace(FRIENDS, name="short", user=dataclasses.replace(FRIENDS.user, opening="turn off"))
    move = decided(Solver([short, WIFI_OFF]), PromptTurn(WIFI_OFF.user.opening))
    assert move.calls[0].name == "set_wifi_status"


def test_the_solver_begins_anew_where_a_tool_refuses_what_the_solution_expects_to_work() -> None:
    """All tools are offered, so only the phone's answer tells which of two scenarios it is."""
    hopeful, hindered = (SUITE.get(name) for name in ("pitch_flooded", "pitch_flooded_low_battery"))
    tools = offers(hopeful, "all_tools")
    assert tools == offers(hindered, "all_tools")
    solver = Solver([hopeful, hindered])
    found = step(json.dumps({"result": [{"phone_number": "+1", "name": "X"}]}))
    steps = [found] * len(hopeful.solutions[0].turns[0].calls[:-1])
    steps.append(step("ConnectionError: cellular service is off"))
    move = decided(solver, PromptTurn(hopeful.user.opening, tuple(steps)), tools=tools)
    assert move.calls[0].name == hindered.solutions[0].turns[0].calls[0].tool


# the lobby

LOBBY = (*TOOLS, "send_message_to_user", "list_scenarios", "start_scenario", "end_scenario")
BEGUN = json.dumps({"scenario": "wifi_off", "instructions": "...", "user_says": WIFI_OFF.user.opening})
STARTED = step(BEGUN, names=["start_scenario"])


def test_in_the_lobby_the_solver_starts_the_scenario_that_was_named() -> None:
    move = decided(solver(), PromptTurn("Please run the scenario late_for_dinner_low_battery."), tools=LOBBY)
    assert move.calls == (PlannedMove("start_scenario", {"name": "late_for_dinner_low_battery"}),)


def test_in_the_lobby_the_solver_is_lost_without_a_name() -> None:
    assert decided(solver(), PromptTurn("Hello!"), tools=LOBBY) == Move(LOST)


def test_in_the_lobby_the_solver_plays_what_was_started() -> None:
    assert decided(solver(), PromptTurn("Run wifi_off.", (STARTED,)), tools=LOBBY).calls[0].name == "set_wifi_status"
    spoken = decided(solver(), PromptTurn("Run wifi_off.", (STARTED, step("null"))), tools=LOBBY)
    assert spoken.calls == (PlannedMove("send_message_to_user", {"content": "Wifi is now off."}),)


def test_in_the_lobby_the_solver_tells_the_person_when_the_user_has_left() -> None:
    over = step(json.dumps({"reply": None, "conversation_over": True}), names=["send_message_to_user"])
    assert decided(solver(), PromptTurn("Run wifi_off.", (STARTED, step("null"), over)), tools=LOBBY) == Move(
        "The user has left."
    )


# what is the same in both


def test_the_solver_finds_the_scenario_among_those_that_start_alike() -> None:
    """Two scenarios may open with the same words; the tools then tell which one it is."""
    twin = SUITE.get("late_for_dinner_no_address_book")
    assert twin.user.opening == LOW_BATTERY.user.opening
    first: Mapping[str, Any] = presented(twin)
    move = decided(solver(), PromptTurn(twin.user.opening), tools=list(first))
    assert move == Move(twin.solutions[0].turns[0].reply)
