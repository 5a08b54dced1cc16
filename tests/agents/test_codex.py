"""Codex CLI as it is published: what its model is offered, what it is shown, and what a run with it leaves behind."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from sandbox_mcp.app.endpoint import responses
from sandbox_mcp.app.endpoint.wire import tokens
from sandbox_mcp.app.run import sessions as crew
from sandbox_mcp.engine.worlds import default
from tests.agents import kit
from tests.agents.kit import ASKED, ONCE, TALK, TOGETHER, Played

AGENT = "codex"
RESOURCES = {"list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource"}


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Three messages of the user."""
    kit.need(AGENT)
    return kit.played(AGENT, tmp_path_factory.mktemp("codex") / "run", TALK)


def offered(request: Any) -> dict[str, set[str]]:
    """The names of functions by the namespace they are offered in."""
    found: dict[str, set[str]] = {}
    for tool in request["tools"]:
        inner = tool["tools"] if tool["type"] == "namespace" else [tool]
        found.setdefault(tool["name"] if tool["type"] == "namespace" else "", set()).update(
            one["name"] for one in inner
        )
    return found


def test_its_model_is_offered_the_sessions_tools_and_what_reads_resources(talk: Played) -> None:
    listed = {tool.name for tool in talk.logs[TALK].started.tools}
    for request in talk.requests:
        assert offered(request) == {"": RESOURCES, "mcp__sandbox": listed}


def test_its_model_is_told_the_sessions_instructions_and_nothing_else(talk: Played) -> None:
    for request in talk.requests:
        assert responses.read(request).system == default().briefing


def test_a_result_stands_under_the_time_it_took(talk: Played) -> None:
    assert all(text.startswith("Wall time: ") for _, text in kit.outputs(talk, responses.read))


def test_a_conversation_goes_on_in_the_next_message(talk: Played) -> None:
    last = responses.read(talk.requests[5])
    assert [len(turn.steps) for turn in last.turns] == [2, 2, 1]


def test_tokens_are_those_of_each_message(talk: Played) -> None:
    read = sum(tokens(len(json.dumps(request))) for request in talk.requests)
    assert talk.summary["tokens"]["agent"]["prompt_tokens"] == read


SENT = """
steps:
- calls: [{tool: %s, arguments: %s}, {tool: %s, arguments: %s}]
- say: Done.
"""
READ, CHANGE = ("search_contacts", "{name: a}"), ("set_wifi_status", "{on: false}")


@pytest.mark.parametrize(("scenario", "call", "batches"), [(ASKED, READ, 1), (ONCE, CHANGE, 2)])
def test_calls_of_one_answer_go_at_once_if_they_only_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scenario: str, call: tuple[str, str], batches: int
) -> None:
    kit.need(AGENT)
    monkeypatch.setattr(crew, "WINDOW", 1.0)
    found = kit.played(AGENT, tmp_path / "run", scenario, brain=kit.script(SENT % (call * 2)))
    assert len({made.batch for made in found.calls(scenario)}) == batches


def test_nothing_is_left_behind_and_no_secret_was_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kit.need(AGENT)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "the-key")
    found: list[str] = []

    class Looking:
        async def decide(self, prompt: Any, tries: int) -> Any:
            files = [Path(folder, name) for folder, _, names in os.walk(tmp_path) for name in names]
            found.extend(file.read_text("utf-8", "replace") for file in files if "codex-" in str(file))
            return await kit.script("steps: [{say: No.}]").decide(prompt, tries)

    kit.played(AGENT, tmp_path / "run", ONCE, brain=Looking())
    assert any("model_instructions_file" in text for text in found)
    assert not any("the-key" in text or "Bearer " in text for text in found)
    assert not list(tmp_path.glob("codex-*"))


def test_sessions_at_the_same_time_do_not_meet(tmp_path: Path) -> None:
    kit.need(AGENT)
    found = kit.played(AGENT, tmp_path / "run", ONCE, ASKED, TOGETHER, options=["--jobs", "3"])
    assert set(found.scores.values()) == {1.0}, found.reasons


def test_a_conversation_goes_on_behind_the_limit_of_steps(tmp_path: Path) -> None:
    kit.need(AGENT)
    found = kit.played(AGENT, tmp_path / "run", TALK, options=["--max-steps", "1"])
    assert found.finishes(TALK) == ["max_steps"] * 3
    read = sum(tokens(len(json.dumps(request))) for request in found.requests)
    assert found.summary["tokens"]["agent"]["prompt_tokens"] == read
