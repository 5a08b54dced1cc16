"""What a user finds out by acts of its own it knows, and what it says without them is a leak."""

import dataclasses
from pathlib import Path

import pytest
from sandbox_grader import grade
from sandbox_grader.users.secrets import secrets_of
from sandbox_scenarios import Suite

from sandbox_mcp.app.authoring.deep_lint import lint_scenario
from sandbox_mcp.engine.trajectory import ToolCall
from sandbox_mcp.engine.world import Clock, IdStream, Running, Snapshot
from sandbox_mcp.engine.world.tx import Tx
from sandbox_mcp.engine.worlds import FILES
from tests.scenarios.playing import solved

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def _found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FILES, str(HERE / "ward.py"))


@pytest.fixture
def suite() -> Suite:
    return Suite([HERE / "ward.yaml"])


def test_what_an_act_of_its_own_told_it_the_user_may_say(suite: Suite) -> None:
    move = suite.get("ward_move")
    scores = grade(solved(move), move)
    assert (scores.score, scores.reason) == (1, None)
    assert lint_scenario(suite, "ward_move").complaints == ()


def test_without_the_act_the_same_words_are_a_leak(suite: Suite) -> None:
    move = suite.get("ward_move")
    log = solved(move)
    unread = [event for event in log.events if not (isinstance(event, ToolCall) and event.caller == "user")]
    reason = grade(dataclasses.replace(log, events=tuple(unread)), move).reason or ""
    assert reason.startswith("spoiled_by_user: leak")


def test_a_day_that_a_milestone_expects_is_a_secret_whatever_its_column_is_called(suite: Suite) -> None:
    leave = suite.get("ward_leave")
    log = solved(leave)
    assert secrets_of(log, leave).values["date", "12-14"] == "what the scenario expects of leaves"


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf")])
def test_no_tool_lets_time_go_back_or_never_end(seconds: float) -> None:
    tx = Tx(Running(Snapshot({}), Clock(0.0, "UTC", 1.0), IdStream("any"), None).begin(), "wait", None)
    with pytest.raises(ValueError, match="waiting takes 0 seconds or more"):
        tx.wait(seconds)
