"""Batches: what is played, what is kept, what is played again, and that nothing depends on how it is done."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from sandbox_clients.base import Agent, AgentError, AgentTurn, Brief, Conversation
from sandbox_clients.reference import ReferenceAgent, RefuseAgent
from sandbox_clients.registry import agent_named
from sandbox_clients.settings import AgentSettings
from sandbox_grader.grading.scores import Scores
from sandbox_scenarios import Scenario, ScenarioError, Suite

from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.reply import Failing, PlannedFault
from sandbox_mcp.app.endpoint.server import running
from sandbox_mcp.app.endpoint.user import ScriptedUserModel
from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.app.run.evaluate import evaluate
from sandbox_mcp.app.run.options import RunOptions
from sandbox_mcp.app.run.sessions import Crew
from sandbox_mcp.app.run.unit import Shard
from sandbox_mcp.app.run.users import users_named
from sandbox_mcp.engine.trajectory import ToolCall, Trajectory, read_trajectory
from sandbox_mcp.play.models.asking import EndpointSettings
from sandbox_mcp.play.session.replay import differences
from tests.clients.sessions import SUITE, scripted, solver, write
from tests.each import each
from tests.run.runs import FEW, LOGS, SCRIPTED, aside, batch, logs, model, played


def test_the_reference_agent_gets_everything_and_refusing_next_to_nothing(tmp_path: Path) -> None:
    summary, _ = played(tmp_path, scenarios=SUITE.names()[::7])
    assert [row["scenario"] for row in summary["scenarios"] if row["score"] != 1.0] == []
    for row in summary["scenarios"]:
        assert row["refusal"] <= 0.1 or "insufficient_information" in row["categories"]


@each("transport", ["memory", "http"])
@each("jobs", [1, 3])
def test_logs_do_not_depend_on_transport_or_concurrency(tmp_path: Path, transport: str, jobs: int) -> None:
    played(tmp_path / "one")
    played(tmp_path / "other", transport=transport, jobs=jobs)
    assert logs(tmp_path / "one") == logs(tmp_path / "other")


@each(
    ("about", "problem"),
    [
        ({"f": object()}, "TypeError: Object of type object is not JSON serializable"),
        ({"f": float("nan")}, "ValueError: Out of range float values are not JSON compliant"),
        (None, "TypeError: 'NoneType' object is not a mapping"),
        ({"f": "\ud800"}, "UnicodeEncodeError: "),
    ],
)
def test_what_no_log_can_hold_of_those_who_play_is_told_before_anything_is_played(
    tmp_path: Path, about: Any, problem: str
) -> None:
    class Odd(RefuseAgent):
        def describe(self) -> Any:
            return about

    with pytest.raises(RunError, match=f"what agent 'refuse' says of itself cannot be kept in a log: {problem}"):
        played(tmp_path, Odd())
    with pytest.raises(RunError, match=f"the users of this run .* cannot be described in a log: {problem}"):
        played(tmp_path, users=replace(SCRIPTED, description=about))
    assert list(tmp_path.iterdir()) == []


def test_trials_and_variants_are_sessions_of_their_own(tmp_path: Path) -> None:
    summary, _ = played(tmp_path, scenarios=("wifi_off",), variants=("base", "all_tools"), trials=2, seed=3)
    assert sorted(logs(tmp_path)) == [
        "wifi_off-all_tools-s3-t0.jsonl",
        "wifi_off-all_tools-s3-t1.jsonl",
        "wifi_off-base-s3-t0.jsonl",
        "wifi_off-base-s3-t1.jsonl",
    ]
    assert summary["counts"]["scored"] == 4


def test_every_log_agrees_with_its_replay(tmp_path: Path) -> None:
    played(tmp_path, transport="memory")
    for path in (tmp_path / LOGS).iterdir():
        assert not list(differences(read_trajectory(path)))


def test_the_reference_agent_scores_1_under_every_variant(tmp_path: Path) -> None:
    from sandbox_scenarios.variants import VARIANTS

    summary, _ = played(tmp_path, variants=tuple(VARIANTS))
    assert {(row["variant"], row["score"]) for row in summary["scenarios"]} == {(name, 1.0) for name in VARIANTS}


# the folder


def test_a_folder_states_what_it_holds(tmp_path: Path) -> None:
    summary, _ = played(tmp_path, trials=2, seed=5)
    manifest = json.loads((tmp_path / "run.json").read_text())
    assert (manifest["agent"], manifest["user"]) == ({"name": "reference"}, {"kind": "scripted"})
    assert (manifest["seed"], manifest["trials"], sorted(manifest["scenarios"])) == (5, 2, sorted(FEW))
    assert set(manifest["versions"]) == {"sandbox_mcp", "python", "mcp"}
    assert json.loads((tmp_path / "summary.json").read_text()) == summary


def test_the_same_command_again_plays_nothing(tmp_path: Path) -> None:
    first, _ = played(tmp_path)
    before = {path: path.read_bytes() for path in (tmp_path / LOGS).iterdir()}
    again, seen = played(tmp_path)
    assert again == first
    assert not any(progress.played for progress in seen)
    assert {path: path.read_bytes() for path in (tmp_path / LOGS).iterdir()} == before


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sessions that were judged, by name."""
    seen: list[str] = []
    judge = Crew.judge

    def noting(crew: Crew, trajectory: Trajectory, scenario: Scenario) -> Scores:
        seen.append(trajectory.started.session)
        return judge(crew, trajectory, scenario)

    monkeypatch.setattr(Crew, "judge", noting)
    return seen


@pytest.mark.parametrize("packed", [False, True])
def test_the_same_command_again_judges_nothing_either(tmp_path: Path, judged: list[str], packed: bool) -> None:
    first, _ = played(tmp_path, trials=9, packed=packed)
    assert len(judged) == 9 * len(FEW)
    judged.clear()
    again, seen = played(tmp_path, trials=9, packed=packed)
    assert (again, judged) == (first, [])
    assert (len(seen), any(progress.played for progress in seen)) == (9 * len(FEW), False)


def test_without_details_sessions_are_brief_and_their_details_are_kept_all_the_same(
    tmp_path: Path, judged: list[str]
) -> None:
    def told(*, details: bool, refusing: bool = False) -> tuple[dict[str, Any], list[str]]:
        work = batch(tmp_path / str(refusing), RefuseAgent() if refusing else None, trials=9, jobs=1)
        work.details = details
        report = anyio.run(work.run)
        return report.summary(), [json.dumps(item.to_json()["details"]) for item in report.ordered]

    for refusing in (False, True):
        brief, nothing = told(details=False, refusing=refusing)
        judged.clear()
        assert told(details=False, refusing=refusing) == (brief, nothing)
        whole, everything = told(details=True, refusing=refusing)
        assert (whole, judged) == (brief, [])
        assert set(nothing) == {"{}"}
        assert all(len(item) > 2 for item in everything)


def test_only_what_has_changed_is_judged_again(tmp_path: Path, judged: list[str]) -> None:
    played(tmp_path, trials=9)
    log = tmp_path / LOGS / "wifi_off-base-s0-t4.jsonl"
    log.write_text(log.read_text().replace("Wifi is now off.", "Wifi is on as before."))
    judged.clear()
    summary, _ = played(tmp_path, trials=9)
    assert judged == ["wifi_off-base-s0-t4"]
    assert summary["score"] < 1


def test_scores_that_came_about_in_another_way_are_not_taken(tmp_path: Path, judged: list[str]) -> None:
    played(tmp_path, trials=9)
    judged.clear()
    work = batch(tmp_path, trials=9)
    work.crew = replace(work.crew, keep_spoiled=True)
    anyio.run(work.run)
    assert len(judged) == 9 * len(FEW)


def test_what_was_left_half_done_is_played_again_beside_kept_scores(tmp_path: Path, judged: list[str]) -> None:
    first, _ = played(tmp_path, trials=9)
    (tmp_path / "partial" / "wifi_off-base-s0-t4.jsonl.part").write_text("half")
    (tmp_path / LOGS / "wifi_off-base-s0-t5.jsonl").unlink()
    judged.clear()
    again, seen = played(tmp_path, trials=9)
    assert again == first
    assert sorted(judged) == ["wifi_off-base-s0-t4", "wifi_off-base-s0-t5"]
    assert [progress.score.session for progress in seen if progress.played] == ["wifi_off-base-s0-t5"]
    assert aside(tmp_path) == ["wifi_off-base-s0-t4.1.jsonl.aside"]


def test_only_what_is_missing_is_played(tmp_path: Path) -> None:
    played(tmp_path, trials=1)
    _, seen = played(tmp_path, trials=3)
    assert sorted({(progress.score.trial, progress.played) for progress in seen}) == [(0, False), (1, True), (2, True)]


def test_half_a_log_is_set_aside_and_its_session_played_again(tmp_path: Path) -> None:
    whole, _ = played(tmp_path)
    log = tmp_path / LOGS / "wifi_off-base-s0-t0.jsonl"
    lines = log.read_text().splitlines(keepends=True)
    for cut in ("".join(lines[:-1]), "".join(lines[:3]) + lines[3][:20], "", "not a log\n"):
        log.write_text(cut)
        assert played(tmp_path)[0] == whole
        assert log.read_text().count("\n") == len(lines)
    assert aside(tmp_path) == [f"wifi_off-base-s0-t0.{number}.jsonl.aside" for number in (1, 2, 3, 4)]


def test_what_a_killed_process_left_is_set_aside(tmp_path: Path) -> None:
    whole, _ = played(tmp_path)
    log = tmp_path / LOGS / "wifi_off-base-s0-t0.jsonl"
    log.rename(tmp_path / "partial" / f"{log.name}.part")
    again, seen = played(tmp_path)
    assert again == whole
    assert [progress.score.scenario for progress in seen if progress.played] == ["wifi_off"]
    assert aside(tmp_path) == ["wifi_off-base-s0-t0.1.jsonl.aside"]


def test_only_whole_logs_look_like_logs(tmp_path: Path) -> None:
    played(tmp_path)
    log = tmp_path / LOGS / "wifi_off-base-s0-t0.jsonl"
    log.write_text("cut")
    played(tmp_path)
    assert len(list(tmp_path.rglob("*.jsonl"))) == len(FEW)


def test_a_session_whose_scenario_has_changed_is_played_again(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    text = "family: own\nscenarios:\n  - {name: mine, extends: wifi_off, max_turns: %d}\n"
    for limit, expected in ((20, True), (20, False), (21, True)):
        suite = Suite([write(own, text % limit)])
        work = batch(tmp_path / "out", suite=suite, scenarios=("mine",))
        anyio.run(work.run)
        assert work.tally.played == expected


def test_a_folder_holds_one_agent_only(tmp_path: Path) -> None:
    played(tmp_path)
    with pytest.raises(RunError) as caught:
        played(tmp_path, RefuseAgent())
    assert 'holds a run with another agent: name is "reference" there and "refuse" here' in str(caught.value)


def test_a_server_on_this_machine_that_has_another_port_is_the_same(tmp_path: Path) -> None:
    for _ in range(2):
        with running(Endpoint(solver())) as url:
            played(tmp_path, model(url), scenarios=("wifi_off",))
    with pytest.raises(RunError, match='another agent: model is "m" there and "n" here; choose'):
        played(tmp_path, agent_named("openai", AgentSettings(EndpointSettings("n", "http://localhost:1/v1"))))


def test_a_folder_of_somebody_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path / "thesis.tex", "years of work")
    with pytest.raises(RunError, match=r"is not of a run: it holds 'thesis.tex'; name a new folder"):
        played(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_sessions_of_another_seed_in_the_same_folder_are_said(tmp_path: Path) -> None:
    assert played(tmp_path, scenarios=("wifi_off",))[0]["warnings"] == []
    (said,) = played(tmp_path, scenarios=("wifi_off",), seed=4)[0]["warnings"]
    assert "also holds sessions of seed 0; those of seed 4 are added" in said


def test_a_folder_that_is_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("hello")
    with pytest.raises(RunError, match="is not a manifest of a run"):
        played(tmp_path)


def test_a_place_that_cannot_be_a_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="cannot be made"):
        played(write(tmp_path / "file", "text"))


def test_an_unknown_variant_is_told_before_anything_is_played(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="unknown variant 'upside_down'"):
        played(tmp_path, variants=("upside_down",))


def test_shards_together_are_the_run(tmp_path: Path) -> None:
    whole, _ = played(tmp_path / "whole")
    first, seen = played(tmp_path / "parts", shard=Shard(1, 2))
    last, more = played(tmp_path / "parts", shard=Shard(2, 2))
    assert (len(seen), len(more)) == (2, 2)
    assert first["counts"]["played"] == 2
    assert last == whole
    assert logs(tmp_path / "whole") == logs(tmp_path / "parts")


def test_a_later_command_adds_to_the_run(tmp_path: Path) -> None:
    played(tmp_path, scenarios=FEW[:2])
    summary, _ = played(tmp_path, scenarios=FEW[2:])
    assert summary["counts"] == {"planned": 4, "played": 4, "scored": 4, "unscored": 0, "spoiled": 0}
    assert sorted(json.loads((tmp_path / "run.json").read_text())["scenarios"]) == sorted(FEW)


# faults


@dataclass
class Breaking(Agent):
    """An agent that breaks in the sessions of some scenarios, in ways of their own."""

    how: dict[str, Any]
    name: str = "breaking"
    marks_batches = True
    wants_solution = True
    closed: list[str] = field(default_factory=list[str])

    @asynccontextmanager
    async def converse(self, brief: Brief) -> AsyncGenerator[Conversation]:
        async with ReferenceAgent().converse(brief) as inner:
            yield _Breaking(self.how, inner)

    async def aclose(self) -> None:
        self.closed.append("closed")
        if "at the end" in self.how:
            raise self.how["at the end"]


@dataclass
class _Breaking:
    how: dict[str, Any]
    inner: Conversation

    async def turn(self, message: str) -> AgentTurn:
        for word, error in self.how.items():
            if word in message:
                raise error
        return await self.inner.turn(message)


@each("transport", ["direct", "memory"])
def test_an_agent_that_breaks_loses_its_own_session_only_and_is_not_scored(tmp_path: Path, transport: str) -> None:
    agent = Breaking({"wifi": AgentError("the endpoint is down"), "landlord": ZeroDivisionError("division by zero")})
    summary, _ = played(tmp_path, agent, transport=transport)
    assert summary["endings"] == {"agent_failed": 2, "user_ended": 2}
    assert summary["score"] == 1.0
    details = [failure["reason"] for failure in summary["unscored"]]
    assert "the agent raised ZeroDivisionError: division by zero" in details[0]
    assert "the endpoint is down" in details[1]
    assert agent.closed == ["closed"]


def test_an_agent_that_breaks_when_it_is_closed_takes_nothing_from_what_was_played(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    summary, _ = played(tmp_path, Breaking({"at the end": KeyError("socket")}))
    assert (summary["score"], summary["counts"]["scored"]) == (1.0, len(FEW))
    assert "agent 'breaking' could not be closed: KeyError: 'socket' (test_batch.py, line" in caplog.text


def test_the_same_command_plays_again_what_broke_and_counts_it_once(tmp_path: Path) -> None:
    agent = Breaking({"wifi": AgentError("down")})
    first, _ = played(tmp_path, agent)
    agent.how.clear()
    second, seen = played(tmp_path, agent)
    assert (first["counts"]["unscored"], second["counts"]["unscored"]) == (1, 0)
    assert [progress.score.scenario for progress in seen if progress.played] == ["wifi_off"]
    assert second["counts"]["played"] == len(FEW)


def test_an_agent_is_stopped_once_its_session_is_over(tmp_path: Path) -> None:
    """A model in an endless loop of calls costs no more than the session's limit allows."""
    limited = "family: own\nscenarios:\n  - {name: limited, extends: wifi_off, max_calls: 5}\n"
    suite = Suite([write(tmp_path / "own.yaml", limited)])
    asked: list[Any] = []
    script = "{repeat: true, steps: [{calls: [{tool: set_wifi_status, arguments: {on: true}}]}]}"
    with running(Endpoint(scripted(script), asked.append)) as url:
        agent = agent_named("openai", AgentSettings(EndpointSettings("m", url), max_steps=1000))
        work = batch(tmp_path / "out", agent, suite=suite, scenarios=("limited",), transport="memory")
        summary = anyio.run(work.run).summary()
    assert summary["endings"] == {"max_calls": 1}
    assert summary["counts"]["scored"] == 1
    assert len(asked) <= 7


# models


def test_a_model_that_knows_the_answers_scores_as_the_reference_agent_does(tmp_path: Path) -> None:
    with running(Endpoint(solver())) as url, running(Endpoint(ScriptedUserModel(SUITE.all()))) as user_url:
        agent = model(url)
        users = users_named("llm", EndpointSettings("u", user_url))
        summary, _ = played(tmp_path, agent, users, transport="memory", jobs=4)
    assert {row["score"] for row in summary["scenarios"]} == {1.0}
    assert summary["tokens"]["agent"]["requests"] > summary["tokens"]["user"]["requests"] >= len(FEW)


def test_two_runs_with_a_model_leave_the_same_logs(tmp_path: Path) -> None:
    with running(Endpoint(solver())) as url:
        for name in ("one", "other"):
            agent = model(url)
            played(tmp_path / name, agent, transport="memory", jobs=3)
    assert logs(tmp_path / "one") == logs(tmp_path / "other")


def test_an_endpoint_that_fails_is_never_scored(tmp_path: Path) -> None:
    broken = Failing(solver(), PlannedFault("status", 401, times=None))
    with running(Endpoint(broken)) as url:
        work = batch(tmp_path, model(url))
        work.tally.keep_going = True
        summary = anyio.run(work.run).summary()
    assert (summary["endings"], summary["score"]) == ({"agent_failed": len(FEW)}, None)
    assert all("; the key was read from OPENAI_API_KEY" in item["reason"] for item in summary["unscored"])


@each("executor", ["tasks", "processes"])
def test_an_endpoint_that_refuses_everything_ends_the_run_after_three_sessions(tmp_path: Path, executor: str) -> None:
    broken = Failing(solver(), PlannedFault("status", 401, times=None))
    with running(Endpoint(broken)) as url:
        given = {"model": "m", "base_url": url, "out": tmp_path, "transport": "direct", "executor": executor}
        options = RunOptions(selectors=("late*", "wifi*"), agent="openai", jobs=2, max_retries=0).but(given)
        report = evaluate("openai", options=options)
    assert report.stopped == "alike"
    assert len(report.sessions) <= (3 if executor == "tasks" else 4)  # a process is not broken off in a session
    assert "status 401" in str(report)


def test_a_user_that_fails_is_never_blamed_on_the_agent(tmp_path: Path) -> None:
    broken = Failing(ScriptedUserModel(SUITE.all()), PlannedFault("status", 401, times=None))
    with running(Endpoint(broken)) as url:
        summary, _ = played(tmp_path, users=users_named("llm", EndpointSettings("u", url)))
    assert (summary["endings"], summary["score"], summary["stopped"]) == ({"user_failed": 3}, None, "alike")


def test_what_a_model_wrote_is_in_the_log(tmp_path: Path) -> None:
    script = """
    steps:
      - calls: [{tool: set_wifi_status, arguments: "{on: no}"}, {tool: no_such_tool}]
      - say: I am sorry, that did not work.
    """
    with running(Endpoint(scripted(script))) as url:
        agent = model(url)
        played(tmp_path, agent, scenarios=("wifi_off",), transport="http")
    (log,) = (tmp_path / LOGS).iterdir()
    calls = [event for event in read_trajectory(log).events if isinstance(event, ToolCall) and event.caller == "agent"]
    assert sorted((call.name, call.error.kind if call.error else None) for call in calls) == [
        ("no_such_tool", "unknown_tool"),
        ("set_wifi_status", "invalid_format"),
    ]
