"""Claude Code as it is published: what its model is told, what it is shown, and what a run with it leaves behind."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from sandbox_mcp.app.endpoint import ModelReply, Prompt, messages
from sandbox_mcp.app.endpoint.server import root
from sandbox_mcp.app.endpoint.wire import tokens
from sandbox_mcp.app.run import sessions as crew
from sandbox_mcp.engine.worlds import default
from tests.agents import kit
from tests.agents.kit import ASKED, ONCE, REFUSED, TALK, Played

AGENTS = pytest.mark.parametrize("agent", ["claude-code", "claude-sdk"])


def played(agent: str, out: Path, *scenarios: str, **more: Any) -> Played:
    kit.need(agent)
    return kit.played(agent, out, *scenarios, base=root, **more)


@pytest.fixture(scope="module", params=["claude-code", "claude-sdk"])
def talk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Three messages of the user."""
    return played(request.param, tmp_path_factory.mktemp("claude") / "run", TALK)


def test_its_model_is_offered_the_sessions_tools_and_no_others(talk: Played) -> None:
    listed = {f"mcp__sandbox__{tool.name}" for tool in talk.logs[TALK].started.tools}
    for request in talk.requests:
        assert {tool["name"] for tool in request["tools"]} == listed


def test_its_model_is_told_nothing_of_this_machine_or_its_date(talk: Played) -> None:
    for request in talk.requests:
        *head, told = [block["text"] for block in request["system"]]
        assert told == default().briefing
        assert [line.partition(" ")[0] for line in head] == ["x-anthropic-billing-header:", "You"]
        assert [message["role"] for message in request["messages"]] == ["user", "assistant"] * (
            len(request["messages"]) // 2
        ) + ["user"]
        assert "# Environment" not in json.dumps(request)


def test_a_conversation_goes_on_in_the_next_message(talk: Played) -> None:
    last = messages.read(talk.requests[5])
    assert [len(turn.steps) for turn in last.turns] == [2, 2, 1]


def test_tokens_are_those_of_each_message(talk: Played) -> None:
    read = sum(tokens(len(json.dumps(request))) for request in talk.requests)
    assert talk.summary["tokens"]["agent"]["prompt_tokens"] == read


def test_a_refusal_is_marked_as_one(tmp_path: Path) -> None:
    found = played("claude-code", tmp_path / "run", REFUSED)
    blocks = [block for asked in found.requests for said in asked["messages"] for block in as_blocks(said)]
    refused = [block for block in blocks if block["type"] == "tool_result" and "Confirmation" in block["content"]]
    assert refused
    assert all(block["is_error"] for block in refused)


def as_blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


SENT = """
steps:
- calls: [{tool: %s, arguments: %s}, {tool: %s, arguments: %s}]
- say: Done.
"""
READ, CHANGE = ("search_contacts", "{name: a}"), ("set_wifi_status", "{on: false}")


@AGENTS
@pytest.mark.parametrize(("scenario", "call", "batches"), [(ASKED, READ, 1), (ONCE, CHANGE, 2)])
def test_calls_of_one_answer_go_at_once_if_they_only_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str, scenario: str, call: tuple[str, str], batches: int
) -> None:
    monkeypatch.setattr(crew, "WINDOW", 1.0)
    found = played(agent, tmp_path / "run", scenario, brain=kit.script(SENT % (call * 2)))
    assert len({made.batch for made in found.calls(scenario)}) == batches


class Looking:
    """A model that looks at what everybody on its machine can see."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: list[str] = []
        self.arguments: list[str] = []

    async def decide(self, prompt: Prompt, tries: int) -> ModelReply:
        self.look()
        return await kit.script("steps: [{say: No.}]").decide(prompt, tries)

    def look(self) -> None:
        inside = [Path(place, name) for place, _, names in os.walk(self.folder) for name in names]
        self.files += [_read(file) for file in inside if "claude-" in str(file)]
        self.arguments += [_read(file) for file in Path("/proc").glob("[0-9]*/cmdline")]


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""


@AGENTS
def test_nothing_is_left_behind_and_no_secret_can_be_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "the-key-of-all")
    looking = Looking(tmp_path)
    played(agent, tmp_path / "run", ONCE, brain=looking)
    assert any("--bare" in line for line in looking.arguments)
    assert looking.files
    assert not any("the-key-of-all" in text or "Bearer " in text for text in looking.files + looking.arguments)
    assert not list(tmp_path.glob("claude-*"))


def test_what_the_users_own_claude_is_told_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_MODEL", "another")
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("CLAUDE_CODE_USE_BEDROCK", "1")
    found = played("claude-code", tmp_path / "run", ONCE)
    assert found.scores == {ONCE: 1.0}, found.reasons
    assert {request["model"] for request in found.requests} == {kit.MODEL}


@AGENTS
def test_sessions_at_the_same_time_do_not_meet(tmp_path: Path, agent: str) -> None:
    found = played(agent, tmp_path / "run", ONCE, ASKED, REFUSED, options=["--jobs", "3"])
    assert set(found.scores.values()) == {1.0}, found.reasons
