"""The agents that ask a model themselves, in runs over HTTP: with a model that knows the answers they all score 1."""

from pathlib import Path

import pytest
from sandbox_clients.registry import agent_named
from sandbox_clients.settings import AgentSettings

from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.server import running
from sandbox_mcp.app.endpoint.solver import Solver
from sandbox_mcp.play.models.asking import EndpointSettings
from tests.agents.kit import FIVE
from tests.clients.sessions import SUITE
from tests.run.runs import played

SOLVER = Solver([SUITE.get(name) for name in FIVE])


@pytest.mark.parametrize(
    ("agent", "react"), [("openai", False), ("openai", True), ("responses", False), ("anthropic", False)]
)
def test_the_five_scenarios_are_finished_over_http(tmp_path: Path, agent: str, react: bool) -> None:
    with running(Endpoint(SOLVER)) as url:
        made = agent_named(agent, AgentSettings(EndpointSettings("m", url), react=react))
        summary, _ = played(tmp_path, made, scenarios=FIVE, transport="http")
    assert {found["scenario"]: found["score"] for found in summary["scenarios"]} == dict.fromkeys(FIVE, 1.0)
    assert summary["tokens"]["agent"]["requests"] > len(FIVE)
