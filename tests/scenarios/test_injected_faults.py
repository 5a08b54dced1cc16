"""Faults of a scenario: they land, the log proves it, a replay agrees, and a call that acted counts as one."""

from pathlib import Path
from textwrap import dedent

import pytest
from sandbox_grader.milestones import strict
from sandbox_scenarios import Scenario, ScenarioFileError, Suite
from sandbox_scenarios.model import PlannedCall, PlannedTurn, Solution

from sandbox_mcp.engine.trajectory import ToolCall, Trajectory
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from sandbox_mcp.play.session.replay import differences

FILE = """
family: flaky
scenarios:
  - name: struck
    extends: lakeside
    categories: [single_tool_call]
    tools: [send_message_with_phone_number, search_contacts, search_messages]
    faults: [{tool: TOOL, kind: KIND}]
    user:
      goal: You want to text Tomas that you are late.
      opening: Text Tomas at +13125550178 that I'm late.
    reference:
      - turns:
          - calls: [{tool: send_message_with_phone_number, arguments: {phone_number: "+13125550178", content: Late.}}]
            reply: I texted Tomas that you're late.
    milestones:
      - {id: sent, table: messaging, adds: {recipient_phone_number: "+13125550178", content: {facts: [late]}}}
      - {id: told, after: [sent], message: {content: {facts: [{deed: send}]}}}
"""
SEND = PlannedCall("send_message_with_phone_number", {"phone_number": "+13125550178", "content": "I'm late."}, None)
LOOK = PlannedCall("search_contacts", {"relationship": "colleague"}, None)
SENT = PlannedCall("search_messages", {"recipient_phone_number": "+13125550178", "content": "late"}, None)
SAY = "I texted Tomas that you're late."


def scenario_of(folder: Path, kind: str, tool: str = "send_message_with_phone_number") -> Scenario:
    (folder / "flaky.yaml").write_text(dedent(FILE.replace("KIND", kind).replace("TOOL", tool)))
    return Suite([folder]).get("struck")


def played(scenario: Scenario, *calls: PlannedCall) -> Trajectory:
    solution = Solution((PlannedTurn(tuple((call,) for call in calls), SAY),))
    return RehearsalStage(scenario).rehearse(solution).log


def calls_in(log: Trajectory) -> list[ToolCall]:
    return [event for event in log.events if isinstance(event, ToolCall) and event.caller == "agent"]


@pytest.mark.parametrize("kind", ["before", "after", "slow", "rate_limit", "dropped"])
def test_a_fault_lands_once_and_its_replay_agrees(tmp_path: Path, kind: str) -> None:
    log = played(scenario_of(tmp_path, kind), SEND, SEND)
    first, second = calls_in(log)
    assert first.meta["injected"] == kind
    assert "injected" not in second.meta
    assert bool(first.error) == (kind != "slow")
    assert bool(first.changes) == (kind in ("after", "slow"))
    assert not list(differences(log))


def test_a_look_is_answered_in_part(tmp_path: Path) -> None:
    log = played(scenario_of(tmp_path, "partial", "search_contacts"), LOOK)
    (call,) = calls_in(log)
    assert call.meta["injected"] == "partial"
    assert [contact["name"] for contact in call.result] == ["Tomas Reyes"]
    assert not list(differences(log))


def test_a_look_tells_of_the_beginning(tmp_path: Path) -> None:
    log = played(scenario_of(tmp_path, "stale", "search_messages"), SEND, SENT, SENT)
    _, old, new = calls_in(log)
    assert old.meta["injected"] == "stale"
    assert (old.result, len(new.result)) == ([], 1)
    assert not list(differences(log))


def test_a_fault_that_makes_no_difference_has_not_landed(tmp_path: Path) -> None:
    log = played(scenario_of(tmp_path, "stale", "search_contacts"), LOOK)
    assert "injected" not in calls_in(log)[0].meta


def test_a_call_that_acted_and_failed_counts_as_done(tmp_path: Path) -> None:
    scenario = scenario_of(tmp_path, "after")
    assert strict.evaluate(scenario, played(scenario, SEND)).score == 1


def test_a_retry_after_a_call_that_had_acted_is_done_twice(tmp_path: Path) -> None:
    scenario = scenario_of(tmp_path, "after")
    assert strict.evaluate(scenario, played(scenario, SEND, SEND)).score < 1


def test_a_retry_after_a_call_that_had_not_acted_is_right(tmp_path: Path) -> None:
    scenario = scenario_of(tmp_path, "before")
    assert strict.evaluate(scenario, played(scenario, SEND, SEND)).score == 1
    assert strict.evaluate(scenario, played(scenario, SEND)).score < 1


def test_old_answers_strike_only_tools_that_look(tmp_path: Path) -> None:
    with pytest.raises(ScenarioFileError, match="strikes tools that only look"):
        scenario_of(tmp_path, "stale")
