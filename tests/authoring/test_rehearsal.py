"""Rehearsals: a solution played straight through a session leaves what the real agent would leave."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sandbox_clients.registry import agent_named
from sandbox_scenarios.model import PlannedCall, PlannedTurn, Solution

from sandbox_mcp.app.run.play import Arena, play
from sandbox_mcp.app.run.transports import DirectTarget
from sandbox_mcp.engine.trajectory import MemoryLog, Message, ToolCall, Trajectory, to_line
from sandbox_mcp.play.session import SessionSpec, settled
from sandbox_mcp.play.session.manager import SessionManager
from sandbox_mcp.play.session.rehearsal import UNKNOWN, RehearsalStage, filled_reply
from sandbox_mcp.play.users import ScriptedUser
from tests.authoring.samples import SWITCH, stage_of
from tests.each import each
from tests.scenarios.files import SOUND
from tests.suite import SUITE


def solution(*turns: tuple[list[PlannedCall], str]) -> Solution:
    return Solution(tuple(PlannedTurn(tuple((call,) for call in calls), reply) for calls, reply in turns))


def said(log: Trajectory) -> list[str]:
    return [item.content for item in log.events if isinstance(item, Message) and item.sender == "agent"]


def called(log: Trajectory) -> list[str | None]:
    return [item.tool for item in log.events if isinstance(item, ToolCall) and item.caller == "agent"]


def through_the_runner(name: str) -> Trajectory:
    """The log of the reference agent, played as a run plays it."""
    log = MemoryLog()
    scenario = SUITE.get(name)
    manager = SessionManager(SUITE, batch_window=0.0)
    user = ScriptedUser(scenario.user.script)
    anyio.run(play, Arena(manager, DirectTarget), SessionSpec(scenario), agent_named("reference"), user, log)
    return log.trajectory()


def without_wall(log: Trajectory) -> list[Any]:
    import json

    events = [json.loads(to_line(event)) for event in log.events]
    return [{name: value for name, value in event.items() if name != "wall"} for event in events]


@each("name", ["wifi_off", "colleagues_to_friends", "new_neighbour", "forget_number_no_removal"])
def test_a_rehearsal_leaves_the_log_of_the_reference_agent(name: str) -> None:
    scenario = SUITE.get(name)
    rehearsed = RehearsalStage(scenario).rehearse(scenario.solutions[0])
    assert without_wall(rehearsed.log) == without_wall(through_the_runner(name))


def test_a_rehearsal_tells_what_became_of_every_call(tmp_path: Path) -> None:
    run = stage_of(tmp_path, SOUND).rehearse(SUITE.get("wifi_off").solutions[0])
    assert [(item.call.tool, item.error is not None) for item in run.done] == [("set_wifi_status", True)]
    assert "UnknownToolError" in str(run.done[0].error)


def test_results_are_kept_by_their_labels() -> None:
    scenario = SUITE.get("landlord_number")
    run = RehearsalStage(scenario).rehearse(scenario.solutions[0])
    assert run.results["found"][0]["name"] == "Marguerite Lund"
    assert (run.ending, run.turns) == ("user_ended", 1)


def test_a_call_whose_value_is_not_there_is_left_out(tmp_path: Path) -> None:
    calls = [PlannedCall("send_message_with_phone_number", {"phone_number": "$found.0.phone_number", "content": "Hi"})]
    run = stage_of(tmp_path, SOUND).rehearse(solution((calls, "Sent.")))
    assert called(run.log) == []
    assert run.done[0].arguments is None


def test_what_the_agent_happens_to_know_need_not_be_asked(tmp_path: Path) -> None:
    calls = [PlannedCall("send_message_with_phone_number", {"phone_number": "$found.0.phone_number", "content": "Hi"})]
    known = {"found": [{"phone_number": "+13125550178"}]}
    run = stage_of(tmp_path, SOUND).rehearse(solution((calls, "Sent to ${found.0.phone_number}.")), known=known)
    assert called(run.log) == ["send_message_with_phone_number"]
    assert said(run.log) == ["Sent to +13125550178."]


def test_a_refused_call_leaves_its_message_and_its_code(tmp_path: Path) -> None:
    changes = {"    user: {goal": "    confirm: [set_wifi_status]\n    user: {goal"}
    calls = [PlannedCall("set_wifi_status", {"on": False}, "asked")]
    run = stage_of(tmp_path, SWITCH, changes).rehearse(solution((calls, "Please confirm ${asked.code}.")))
    assert "must confirm" in run.results["asked"]["error"]
    assert said(run.log) == [f"Please confirm {run.results['asked']['code']}."]


def test_nothing_is_said_once_the_session_is_over(tmp_path: Path) -> None:
    run = stage_of(tmp_path, SWITCH).rehearse(solution(([], "I can't do that."), ([], "One more thing.")))
    assert said(run.log) == ["I can't do that."]
    assert run.turns == 1


def test_limits_end_a_rehearsal_like_any_session(tmp_path: Path) -> None:
    changes = {"    reference:": "    max_calls: 1\n    reference:"}
    looks = [PlannedCall("get_wifi_status", {})] * 3
    run = stage_of(tmp_path, SWITCH, changes).rehearse(solution((looks, "Well.")))
    assert run.ending == "max_calls"
    assert run.turns == 0
    assert [item.error is None for item in run.done] == [True, False, False]


def test_calls_use_the_names_that_a_variant_presents() -> None:
    scenario = SUITE.get("landlord_number")
    run = RehearsalStage(scenario).rehearse(scenario.solutions[0], "tool_name_scrambled")
    names = [item.name for item in run.log.events if isinstance(item, ToolCall) and item.caller == "agent"]
    assert names == ["contact_3"]
    assert called(run.log) == ["search_contacts"]


def test_the_tools_of_a_variant_are_made_once() -> None:
    stage = RehearsalStage(SUITE.get("wifi_off"))
    assert stage.tools("all_tools") is stage.tools("all_tools")


def test_the_world_afterwards_is_that_of_the_session() -> None:
    scenario = SUITE.get("wifi_off")
    run = RehearsalStage(scenario).rehearse(scenario.solutions[0])
    assert next(iter(run.world.snapshot.table("setting").values()))["wifi"] is False


def test_a_session_nobody_ended_has_no_ending(tmp_path: Path) -> None:
    run = stage_of(tmp_path, SWITCH).rehearse(solution(([], "Which wifi do you mean?")))
    assert run.ending is None


@each(
    ("reply", "text"),
    [
        ("It is ${found.0.name}.", "It is Wren."),
        ("It is ${lost.0.name}.", f"It is {UNKNOWN}."),
        ("It is ${found.7.name}.", f"It is {UNKNOWN}."),
        ("${found.0.age} years, ${lost}", f"7 years, {UNKNOWN}"),
        ("No $found here.", "No $found here."),
    ],
)
def test_replies_say_what_is_known(reply: str, text: str) -> None:
    assert filled_reply(reply, {"found": [{"name": "Wren", "age": 7}]}) == text


@given(st.text().filter(lambda text: "${" not in text))
def test_a_reply_without_placeholders_stays_as_it_is(text: str) -> None:
    assert filled_reply(text, {}) == text


async def _answers() -> int:
    return 7


async def _fails() -> int:
    raise ValueError("no")


def test_a_coroutine_that_never_waits_gives_its_value() -> None:
    assert settled(_answers()) == 7


def test_what_a_coroutine_raises_is_raised() -> None:
    with pytest.raises(ValueError, match="no"):
        settled(_fails())
