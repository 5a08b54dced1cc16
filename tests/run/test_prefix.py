"""Prefix replay: every reply on the ground truth's history, in any world, for every agent that can be given one."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sandbox_clients.base import Agent, PastCall
from sandbox_clients.function import Asked, FunctionAgent
from sandbox_clients.registry import agent_named
from sandbox_clients.settings import AgentSettings

from sandbox_mcp import evaluate
from sandbox_mcp.app.cli import group
from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.server import running
from sandbox_mcp.app.endpoint.solver import Solver
from sandbox_mcp.app.run.by_hand import PlayableSuite
from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.app.run.options import RunMode
from sandbox_mcp.engine.trajectory import Message, ToolCall, Trajectory, read_trajectory
from sandbox_mcp.play.models.asking import EndpointSettings
from sandbox_mcp.play.users import Line
from tests.clients.sessions import SUITE
from tests.run.runs import EXITING

TALKS = ("colleagues_to_friends", "car_fixed", "bread_is_out", "plumber_when_locked", "office_tiles_late")
"""Several turns each: a batch, something to confirm, news on the way, a gate, and another world."""


def replayed(agent: str | Agent, *names: str, mode: RunMode = "prefix", **options: Any) -> dict[str, Trajectory]:
    """The logs of a run, by scenario."""
    out: Path = options["out"]
    evaluate(agent, PlayableSuite().select(*names), mode=mode, jobs=1, **options)
    logs = map(read_trajectory, sorted((out / "logs").glob("*.jsonl")))
    return {log.started.scenario: log for log in logs}


def done(log: Trajectory) -> list[tuple[str, Any, Any]]:
    return [(call.name, call.arguments, call.result) for call in log.events if isinstance(call, ToolCall)]


def said(log: Trajectory) -> list[tuple[str, str]]:
    return [(m.sender, m.content) for m in log.events if isinstance(m, Message) and m.recipient in ("user", "agent")]


def command(*arguments: str) -> Result:
    return CliRunner().invoke(group, ["run", *arguments])


@pytest.mark.parametrize("variant", ["base", "tool_name_scrambled", "text_actions"])
def test_the_ground_truths_agent_does_in_every_prefix_what_it_does_on_policy(tmp_path: Path, variant: str) -> None:
    alone = replayed("reference", *TALKS, mode="on-policy", out=tmp_path / "a", variants=(variant,))
    again = replayed("reference", *TALKS, out=tmp_path / "b", variants=(variant,))
    for name in TALKS:
        agents = [call for call in done(alone[name]) if call[0] in {found for found, _, _ in done(again[name])}]
        assert done(again[name]) == agents
        assert [line for line in said(again[name]) if line[0] != "system"] == [
            line for line in said(alone[name]) if line[0] != "system"
        ]


@pytest.mark.parametrize(
    ("agent", "react"), [("openai", False), ("openai", True), ("responses", False), ("anthropic", False)]
)
def test_a_model_that_knows_the_answers_goes_on_from_every_history(agent: str, react: bool) -> None:
    with running(Endpoint(Solver([SUITE.get(name) for name in TALKS]))) as url:
        made = agent_named(agent, AgentSettings(EndpointSettings("m", url), react=react))
        report = evaluate(made, PlayableSuite().select(*TALKS), mode="prefix", metric="tooltalk.success")
    assert {item.scenario: item.number("tooltalk.success") for item in report.sessions} == dict.fromkeys(TALKS, 1.0)


def test_an_agent_that_exits_ends_its_own_session_alone() -> None:
    report = evaluate(EXITING, PlayableSuite().select("wifi_off"), mode="prefix")
    assert str(report.sessions[0].detail).startswith("the agent raised SystemExit: 3 (runs.py, line ")


def test_what_an_agent_does_is_forgotten_at_the_next_turn(tmp_path: Path) -> None:
    """It spoils what the ground truth goes on to do, and yet finds that done the next time it is asked."""
    histories: list[Asked] = []

    async def harm(asked: Asked) -> str:
        histories.append(asked)
        found = await asked.tools.call("search_contacts", {"relationship": "colleague"})
        for contact in found.value:
            changed = {"person_id": contact["person_id"], "relationship": "gone"}
            assert not (await asked.tools.call("modify_contact", changed)).is_error
        friends = await asked.tools.call("search_contacts", {"relationship": "friend"})
        return f"Gone: {len(found.value)}, friends: {len(friends.value)}."

    log = replayed(FunctionAgent(harm, "harm"), "colleagues_to_friends", out=tmp_path)["colleagues_to_friends"]
    replies = [text for sender, text in said(log) if sender == "agent"]
    assert len(replies) == len(histories) > 1
    assert [reply[:8] for reply in replies] == ["Gone: 2,", "Gone: 0,"]
    before, after = (int(reply.split()[-1].rstrip(".")) for reply in replies)
    assert after == before + 2
    assert not any("Gone" in line.text for asked in histories for line in asked.said)


def test_the_history_has_the_ground_truths_calls_with_what_they_showed(tmp_path: Path) -> None:
    asked_last: list[Asked] = []

    async def listen(asked: Asked) -> str:
        asked_last[:] = [asked]
        return "Hm."

    replayed(FunctionAgent(listen, "listen"), "colleagues_to_friends", out=tmp_path / "a")
    truth = replayed("reference", "colleagues_to_friends", mode="on-policy", out=tmp_path / "b")
    [asked] = asked_last
    calls = [call for step in asked.history if isinstance(step, tuple) for call in step]
    told = [(call.name, dict(call.arguments), json.loads(call.output.text).get("result")) for call in calls]
    assert told == done(truth["colleagues_to_friends"])[: len(told)] != []
    lines = [step for step in asked.history if isinstance(step, Line)]
    assert list(asked.said) == [*lines, asked.said[-1]]
    assert all(isinstance(step, Line | tuple) for step in asked.history)
    assert all(isinstance(call, PastCall) for call in calls)


def test_a_log_names_the_ground_truth_and_records_no_state(tmp_path: Path) -> None:
    log = replayed("refuse", "colleagues_to_friends", out=tmp_path)["colleagues_to_friends"]
    assert log.started.world is None
    assert (log.started.origin or {})["prefix_replay"] is True
    assert [call.tool for turn in log.started.reference[0] for call in turn.calls]
    assert log.ended is not None
    assert log.ended.reason == "user_ended"


def test_milestones_say_nothing_of_prefixes(tmp_path: Path) -> None:
    report = evaluate("reference", PlayableSuite().select("wifi_off"), mode="prefix", out=tmp_path)
    [session] = report.sessions
    assert report.metric == "tooltalk.success"
    assert session.score is None
    assert "prefix replay" in (session.unscored("toolsandbox") or "")


class Forgetful(Agent):
    """Knows only what it has heard itself."""

    name = "forgetful"

    def converse(self, brief: Any) -> Any:
        raise NotImplementedError


def test_an_agent_that_cannot_be_given_a_history_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="'forgetful' cannot be given a history"):
        evaluate(Forgetful(), PlayableSuite().select("wifi_off"), mode="prefix", out=tmp_path / "run")
    found = command("wifi_off", "--mode", "prefix", "--agent", "command-text:cat", "--out", str(tmp_path / "run"))
    assert "'command-text:cat' cannot be given a history" in str(found.exception)
    assert not (tmp_path / "run").exists()


def test_another_user_than_the_ground_truth_is_refused(tmp_path: Path) -> None:
    options = ("--mode", "prefix", "--agent", "refuse", "--user", "human", "--out", str(tmp_path))
    found = CliRunner().invoke(group, ["run", "wifi_off", *options], input="x\n")
    assert "leave out --user" in str(found.exception)


def test_the_same_command_again_plays_what_is_missing(tmp_path: Path) -> None:
    asked = ("colleagues_to_friends", "wifi_off", "--mode", "prefix", "--agent", "reference", "--out", str(tmp_path))
    first = json.loads(command(*asked, "--json").stdout)
    (tmp_path / "logs/wifi_off-base-s0-t0.jsonl").unlink()
    again = command(*asked, "--json", "--threshold", "1")
    assert again.exit_code == 0
    assert json.loads(again.stdout)["scenarios"] == first["scenarios"]
    assert "[2/2] wifi_off base t0" in again.stderr


def test_a_folder_holds_one_mode(tmp_path: Path) -> None:
    asked = ("wifi_off", "--agent", "reference", "--out", str(tmp_path))
    assert command(*asked).exit_code == 0
    found = command(*asked, "--mode", "prefix")
    assert "holds a run with another user" in str(found.exception)


def test_processes_replay_prefixes_as_tasks_do(tmp_path: Path) -> None:
    found = command(
        "colleagues_to_friends", "--mode", "prefix", "--agent", "reference", "--out", str(tmp_path), "--json",
        "--executor", "processes", "--jobs", "1",
    )  # fmt: skip
    assert json.loads(found.stdout)["scenarios"][0]["score"] == 1.0
