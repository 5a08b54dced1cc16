"""The OpenAI Agents SDK, where it is beside this package, and with its other protocol."""

from pathlib import Path

from sandbox_mcp.app.endpoint import responses
from tests.agents import kit
from tests.agents.kit import FIVE, REFUSED


def test_it_finishes_a_scenario_from_beside_this_package(tmp_path: Path) -> None:
    kit.need("openai-agents", own=False)
    found = kit.played("openai-agents", tmp_path / "run", REFUSED)
    assert found.scores == {REFUSED: 1.0}, found.reasons


def test_it_asks_responses_as_well(tmp_path: Path) -> None:
    kit.need("openai-agents")
    options = ["--param", "api=responses", "--param", "temperature=0"]
    found = kit.played("openai-agents", tmp_path / "run", *FIVE, options=options)
    assert found.scores == dict.fromkeys(FIVE, 1.0), found.reasons
    assert all(request["temperature"] == 0 for request in found.requests)
    assert kit.facts(found, responses.read).result == "text"
