"""Environments made by an interpreter that has no pip, as tools that manage packages themselves set them up."""

from pathlib import Path

import pytest
from sandbox_clients import environments
from sandbox_clients.environments import home, install, versions_in

from tests.clients.test_environments import wheel


def test_the_environment_then_gets_a_pip_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not home().is_dir():
        pytest.skip("making a pip takes seconds; 'make test-agents' does")
    monkeypatch.setenv("SANDBOX_MCP_AGENTS", str(tmp_path / "agents"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setattr(environments, "find_spec", lambda _: None)
    install("mine", [wheel(tmp_path / "new", "1.0")], [])
    found = versions_in("mine", ["tiny", "pip"])
    assert found["tiny"] == "1.0"
    assert found["pip"]
