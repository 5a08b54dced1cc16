"""What a run remembers of a session, taken from its log and from nothing else."""

import dataclasses
import time
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from sandbox_grader.errors import GraderError
from sandbox_grader.grading.metric import Mode
from sandbox_grader.grading.metrics import families
from sandbox_grader.grading.scores import Scores, grade
from sandbox_grader.grading.spending import Spent
from sandbox_scenarios import Scenario

from sandbox_mcp import Suite
from sandbox_mcp.app.run.evaluate import evaluate
from sandbox_mcp.app.run.sessions import JUDGED
from sandbox_mcp.engine.trajectory import EndReason, MemoryLog, Trajectory
from sandbox_mcp.engine.trajectory.usage import Usage
from sandbox_mcp.play.session import Session, SessionSpec
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from sandbox_mcp.play.users import ScriptedUser
from tests.clients.sessions import SUITE, WIFI_OFF, run
from tests.each import each


def score(trajectory: Trajectory, scenario: Scenario) -> Scores:
    return grade(trajectory, scenario, metrics=JUDGED)


def played(*, does: bool = True, meta: Any = None, ends: EndReason | None = None, trial: int = 0) -> Trajectory:
    log = MemoryLog()
    session = Session(SessionSpec(WIFI_OFF, trial=trial), ScriptedUser(WIFI_OFF.user.script), log)
    session.begin()
    if does:
        session.call("set_wifi_status", {"on": False})
    if ends:
        session.end(ends, "the endpoint is down")
    else:
        run(session.say, "Wifi is now off.", meta)
    return log.trajectory()


def test_what_was_achieved_is_the_graders_score() -> None:
    found = score(played(), WIFI_OFF)
    assert (found.value(), found.number("toolsandbox.refusal"), found.ending, found.reason) == (
        1.0,
        0.0,
        "user_ended",
        None,
    )


def test_a_claim_without_the_deed_earns_nothing() -> None:
    assert score(played(does=False), WIFI_OFF).value() == 0.0


@each("ends", ["agent_failed", "user_failed", "abandoned"])
def test_what_broke_has_no_similarity_but_a_reason(ends: EndReason) -> None:
    found = score(played(ends=ends), WIFI_OFF)
    assert (found.value(), found.ending, found.detail) == (None, ends, "the endpoint is down")
    assert "the endpoint is down" in str(found.reason)


@each("ends", ["max_turns", "max_calls"])
def test_a_limit_is_an_end_like_any_other(ends: EndReason) -> None:
    assert score(played(ends=ends), WIFI_OFF).value() is not None


def test_a_log_that_stops_is_not_scored() -> None:
    whole = played()
    found = score(dataclasses.replace(whole, ended=None), WIFI_OFF)
    assert (found.value(), found.ending) == (None, "incomplete")


def test_turns_are_messages_on_the_bus() -> None:
    assert score(played(), WIFI_OFF).number("toolsandbox.turn_count") == 3, (
        "a call, its result, and what the agent says"
    )


def test_tokens_are_those_that_the_log_tells_of() -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "requests": 2}
    found = score(played(meta={"usage": usage}), WIFI_OFF)
    assert found.spent == Spent(Usage(100, 10, 2), Usage())


@each(
    ("usage", "prompt"),
    [
        ({}, 0),
        ({"prompt_tokens": 5, "completion_tokens": "many"}, 5),
        ({"prompt_tokens": [5]}, 0),
        ({"prompt_tokens": 10**400}, 0),
        (None, 0),
        ("5", 0),
    ],
)
def test_usage_that_is_incomplete_counts_as_far_as_it_goes(usage: Any, prompt: int) -> None:
    found = score(played(meta={"usage": usage}), WIFI_OFF)
    assert found.spent.agent == Usage(prompt, 0, 0)


def test_which_session_it_was() -> None:
    found = score(played(trial=2), WIFI_OFF)
    assert (found.scenario, found.variant, found.trial) == ("wifi_off", "base", 2)
    assert found.categories == WIFI_OFF.categories


@each("name", ["late_for_dinner_no_address_book", "forget_number_no_removal"])
def test_what_refusing_earns_is_told_where_it_earns_something(name: str) -> None:
    scenario: Scenario = SUITE.get(name)
    log = MemoryLog()
    session = Session(SessionSpec(scenario), ScriptedUser(scenario.user.script), log)
    session.begin()
    run(session.say, "I'm sorry, I can't help with that.")
    found = score(log.trajectory(), scenario)
    assert found.value() == found.number("toolsandbox.refusal")


@each("variant", ["base", "base+before1.0", "base+injection1"])
@each("mode", ["strict", "paper", "compat"])
def test_every_number_that_a_family_gives_is_among_its_figures(variant: str, mode: Mode) -> None:
    scenario = SUITE.get("unknown_number_says")
    log = RehearsalStage(scenario).rehearse(scenario.solutions[0], variant).log
    found = grade(log, scenario, mode).verdicts
    odd = {
        f"{family.name}.{name}"
        for family in families()
        for name, value in found[family.name].values.items()
        if isinstance(value, int | float) and name not in family.figures
    }
    assert not odd


def test_a_mistyped_figure_is_named_before_anything_is_played(tmp_path: Path) -> None:
    for mistyped in ("toolsandbox.scor", "conduct.wrong_recipent"):
        with pytest.raises(GraderError, match=rf"unknown metric '{mistyped}'; {mistyped.partition('.')[0]} has "):
            evaluate("reference", Suite().select("wifi_off"), metric=mistyped, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@each("moments", [(2e9, 1e9, 0.0), (0.0, 1e11, -5.0)])
def test_a_clock_that_jumps_costs_a_session_its_duration_and_nothing_else(
    moments: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    times = cycle(moments)
    monkeypatch.setattr(time, "time", lambda: next(times))
    report = evaluate("reference", Suite().select("wifi_off"))
    assert (report.score, report.sessions[0].reason) == (1.0, None)
    assert report.sessions[0].seconds is None or report.sessions[0].seconds >= 0
