"""Clients that have no adapter here, each with a short script in ``others``, as published: what they make of our tools.

Their environments are made by ``make test-agents AGENTS=all``.
"""

from pathlib import Path

import pytest

from sandbox_mcp.app.endpoint import Brain
from tests.agents import kit
from tests.agents.kit import ASKED, FIVE, ONCE, REFUSED, TALK, Facts, Played
from tests.conftest import ROOT
from tests.e2e.processes import MODERN

HANDSHAKE = "2025-11-25"
SCRIPTS = {
    "agent-framework": "microsoft_agent_framework",
    "autogen": "autogen_assistant",
    "llama-index": "llama_index_function",
    "mcp-use": "mcp_use_agent",
    "smolagents": "smolagents_tool_calling",
    "strands": "strands_agents",
}
FACTS = {
    "agent-framework": Facts(MODERN, "none", together=True, result="text", refusal="text"),
    "autogen": Facts(HANDSHAKE, "one", together=True, result="text", refusal="text"),
    "llama-index": Facts(HANDSHAKE, "one a call", together=True, result="printed", refusal="printed"),
    "strands": Facts(MODERN, "none", together=True, result="text", refusal="text"),
}


@pytest.fixture(autouse=True)
def beside_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the scripts find what the workers share."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "clients" / "sandbox_clients" / "workers"))
    monkeypatch.setenv("MCP_USE_ANONYMIZED_TELEMETRY", "false")


def played(client: str, out: Path, *scenarios: str, brain: Brain | None = None) -> Played:
    kit.need(client)
    python = kit.python_of(client)
    script = ROOT / "tests" / "agents" / "others" / f"{SCRIPTS[client]}.py"
    return kit.played(f"command:{python} {script}", out / "run", *scenarios, brain=brain)


@pytest.mark.parametrize("client", FACTS)
def test_the_five_scenarios_get_their_full_score_and_the_facts_hold(tmp_path: Path, client: str) -> None:
    found = played(client, tmp_path, *FIVE)
    assert found.scores == dict.fromkeys(FIVE, 1.0), found.reasons
    assert kit.facts(found) == FACTS[client]
    kit.documented(client, FACTS[client], scores=found.scores)


SPOKEN = """
steps:
- calls: [{tool: set_low_battery_mode_status, arguments: {on: false}}]
- calls: [{tool: final_answer, arguments: {answer: To locate you I have to leave low battery mode with OK-58442C.}}]
- calls: [{tool: set_low_battery_mode_status, arguments: {on: false}}]
- calls: [{tool: set_location_service_status, arguments: {on: true}}]
- calls: [{tool: get_current_location, arguments: {}}]
- calls: [{tool: final_answer, arguments: {answer: You are at latitude 43.2951.}}]
"""


def test_smolagents_speaks_through_a_tool_and_shows_results_as_the_users_words(tmp_path: Path) -> None:
    found = played("smolagents", tmp_path, REFUSED, brain=kit.script(SPOKEN))
    assert found.scores == {REFUSED: 1.0}, found.reasons
    shown = [part["text"] for part in found.requests[-1]["messages"][-1]["content"]]
    assert found.requests[-1]["messages"][-1]["role"] == "user"
    assert shown == ['Observation:\n{"latitude":43.2951,"longitude":5.3742}']


def test_smolagents_makes_no_call_that_leaves_out_an_argument(tmp_path: Path) -> None:
    look = "steps: [{calls: [{tool: search_contacts, arguments: {relationship: landlord}}]}]\nrepeat: true"
    found = played("smolagents", tmp_path, ASKED, brain=kit.script(look))
    assert found.calls(ASKED) == []
    assert "Argument person_id is required" in str(found.requests[1]["messages"])


def test_mcp_use_finishes_what_needs_no_argument_left_out(tmp_path: Path) -> None:
    wanted = (ONCE, TALK, REFUSED)
    found = played("mcp-use", tmp_path, *wanted)
    assert found.scores == dict.fromkeys(wanted, 1.0), found.reasons


def test_mcp_use_sends_null_for_what_was_left_out(tmp_path: Path) -> None:
    (call,) = played("mcp-use", tmp_path, ASKED).calls(ASKED)
    assert call.arguments["relationship"] == "landlord"
    assert call.arguments["person_id"] is None
