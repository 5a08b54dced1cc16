"""The Claude Agent SDK as it is published; what it has in common with Claude Code is tried in test_claude_code.py."""

from pathlib import Path

import pytest

from sandbox_mcp.app.endpoint.server import root
from tests.agents import kit
from tests.agents.kit import TALK


@pytest.mark.parametrize(("agent", "connections"), [("claude-sdk", 1), ("claude-code", 3)])
def test_the_sdk_keeps_one_process_for_a_conversation_and_claude_code_none(
    tmp_path: Path, agent: str, connections: int
) -> None:
    kit.need(agent)
    found = kit.played(agent, tmp_path / "run", TALK, base=root)
    assert found.scores == {TALK: 1.0}, found.reasons
    assert sum(asked.method == "server/discover" for asked in found.wire) == connections


def test_the_limit_of_steps_is_for_each_message(tmp_path: Path) -> None:
    kit.need("claude-sdk")
    found = kit.played("claude-sdk", tmp_path / "run", TALK, base=root, options=["--max-steps", "2"])
    assert found.scores == {TALK: 1.0}, found.reasons
    assert found.finishes(TALK) == [None, None, None]
