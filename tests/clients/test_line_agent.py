"""Agents in processes of their own, over HTTP, as real processes."""

import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
from sandbox_clients.line_agent import LineAgent
from sandbox_clients.registry import agent_named
from sandbox_clients.settings import AgentSettings
from sandbox_grader import Trajectory, read_trajectory
from sandbox_scenarios import Suite

from sandbox_mcp import evaluate
from sandbox_mcp.app.run.batch import Batch
from sandbox_mcp.app.run.by_hand import PlayableSuite
from sandbox_mcp.app.run.folder import RunFolder
from sandbox_mcp.app.run.sessions import Crew, RunPlan
from sandbox_mcp.app.run.users import users_named
from sandbox_mcp.engine.trajectory import Message
from sandbox_mcp.play.models.asking import EndpointSettings
from tests.clients.sessions import SUITE
from tests.each import each

POLITE = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        print(json.dumps({"type": "ready"}), flush=True)
    elif message["type"] == "user":
        print(json.dumps({"type": "reply", "text": "I cannot.", "usage": {"prompt_tokens": 3}}), flush=True)
"""


def played(tmp_path: Path, script: str, *scenarios: str) -> tuple[dict[str, Any], list[Trajectory]]:
    """What a run with this script as agent came to."""
    file = tmp_path / "agent.py"
    file.write_text(script)
    agent = agent_named(f"command:{sys.executable} {file}", AgentSettings(EndpointSettings("m")))
    folder = RunFolder(tmp_path / "run")
    plan = RunPlan(scenarios, ("base",), transport="http", patience=20)
    batch = Batch(Crew(Suite(), agent, users_named("scripted", EndpointSettings()), folder), plan)
    summary = anyio.run(batch.run).summary()
    return summary, [read_trajectory(path) for path in sorted(folder.logs.glob("*.jsonl"))]


def test_a_command_gets_the_users_words_and_its_replies_are_the_agents_turns(tmp_path: Path) -> None:
    _, (log,) = played(tmp_path, POLITE, "wifi_off")
    said = [event.content for event in log.events if getattr(event, "sender", None) == "agent"]
    assert said == ["I cannot."]


def test_tokens_that_it_reports_are_counted(tmp_path: Path) -> None:
    summary, _ = played(tmp_path, POLITE, "wifi_off")
    assert summary["tokens"]["agent"]["prompt_tokens"] == 3


@each(
    ("script", "reason"),
    [
        ("import sys; print('no key', file=sys.stderr); sys.exit(3)", "ended with exit code 3; its last words: no key"),
        ("print('hello', flush=True); import time; time.sleep(30)", "'hello'; expected one JSON object a line"),
        ("print('[1]', flush=True); import time; time.sleep(30)", "'[1]'; expected one JSON object a line"),
        ("print('{}', flush=True); import time; time.sleep(30)", "expected an object with a type"),
        ('print(\'{"type": "error", "error": "no such model"}\', flush=True)', "no such model"),
        ('print(\'{"type": "reply", "text": ""}\', flush=True)', "began with 'reply'; expected 'ready'"),
        (POLITE.replace('"text"', '"words"'), "expected a reply with text"),
    ],
)
def test_a_process_that_breaks_is_no_score_and_says_why(tmp_path: Path, script: str, reason: str) -> None:
    summary, _ = played(tmp_path, script, "wifi_off")
    assert reason in json.dumps(summary["unscored"][0]["reason"]).replace("\\\\", "\\").replace('\\"', '"')


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    batch = Batch(
        Crew(
            Suite(),
            LineAgent("gone since", ("/no/such/program", "--now"), AgentSettings()),
            users_named("scripted", EndpointSettings()),
            folder,
        ),
        RunPlan(("wifi_off",), ("base",), transport="http"),
    )
    summary = anyio.run(batch.run).summary()
    assert "'/no/such/program' cannot be started" in summary["unscored"][0]["reason"]


REMEMBERS = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        heard = message.get("history")
        print(json.dumps({"type": "ready", "history": True, "lasting": True}), flush=True)
    elif message["type"] == "end":
        print(json.dumps({"type": "ended"}), flush=True)
    elif message["type"] == "user":
        print(json.dumps({"type": "reply", "text": json.dumps([heard, message["text"]])}), flush=True)
"""


def replayed(tmp_path: Path, script: str, scenario: str) -> Trajectory:
    """The log of a scenario whose every reply this script was asked for."""
    file = tmp_path / "agent.py"
    file.write_text(script)
    agent = agent_named(f"command:{sys.executable} {file}", AgentSettings(EndpointSettings("m")))
    options: dict[str, Any] = {"mode": "prefix", "transport": "http", "metric": "tooltalk.success", "jobs": 1}
    evaluate(agent, PlayableSuite().select(scenario), out=tmp_path / "run", **options)
    [log] = map(read_trajectory, (tmp_path / "run" / "logs").glob("*.jsonl"))
    return log


def test_a_program_that_takes_a_history_is_told_the_ground_truths_words_and_calls_before_each_prefix(
    tmp_path: Path,
) -> None:
    log = replayed(tmp_path, REMEMBERS, "office_tiles_late")
    told = [
        json.loads(event.content)
        for event in log.events
        if isinstance(event, Message) and (event.sender, event.recipient) == ("agent", "user")
    ]
    asked = [event.content for event in log.events if isinstance(event, Message) and event.sender == "user"]
    assert len(told) > 1
    assert [words for _, words in told] == asked
    assert told[0][0] is None  # nothing had been said before
    for earlier, (history, _) in pairwise(told[1:]):
        assert history[: len(earlier[0])] == earlier[0]  # each goes on from the one before
    solution = SUITE.get("office_tiles_late").solutions[0]
    spoken = [step["content"] for step in told[-1][0] if step["role"] == "user"]
    assert spoken == asked[:-1]
    made = [call["name"] for step in told[-1][0] for call in step.get("calls", ())]
    assert made == [call.tool for turn in solution.turns[: len(told) - 1] for call in turn.calls]
    assert not any(json.dumps(told[0]) in step["content"] for step in told[-1][0])  # what it said itself is forgotten


def test_a_program_that_does_not_say_that_it_takes_a_history_fails_where_there_is_one(tmp_path: Path) -> None:
    log = replayed(tmp_path, POLITE, "office_tiles_late")
    assert log.ended is not None
    assert log.ended.reason == "agent_failed"
    assert '{"type": "ready", "history": true}' in str(log.ended.detail)
    replies = [event for event in log.events if isinstance(event, Message) and event.sender == "agent"]
    assert [event.content for event in replies] == ["I cannot."]  # the first prefix has no history


def test_a_history_that_is_not_plainly_taken_is_not_taken(tmp_path: Path) -> None:
    unsure = POLITE.replace('{"type": "ready"}', '{"type": "ready", "history": "yes"}')
    log = replayed(tmp_path, unsure, "office_tiles_late")
    assert log.ended is not None
    assert log.ended.reason == "agent_failed"
