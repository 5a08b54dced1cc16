"""The table of frameworks, and what becomes of a row."""

import sys
import tomllib
from pathlib import Path

import pytest
from sandbox_clients.base import UnknownAgentError
from sandbox_clients.frameworks import FRAMEWORKS, WORKERS, framework_agent, installed, versions
from sandbox_clients.settings import AgentSettings

from sandbox_mcp.play.models.asking import EndpointSettings
from tests.conftest import ROOT
from tests.each import each

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
ELSEWHERE = {"langgraph"}
"""Frameworks that cannot live beside mcp 2."""
NAMED = AgentSettings(EndpointSettings("m"))


@pytest.fixture(autouse=True)
def nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_MCP_AGENTS", str(tmp_path))


@each("name", FRAMEWORKS)
def test_an_extra_has_what_the_framework_requires(name: str) -> None:
    assert EXTRAS.get(name) == (None if name in ELSEWHERE else list(FRAMEWORKS[name].requires) or None)


@each("name", FRAMEWORKS)
def test_a_worker_is_there_and_hides_no_package(name: str) -> None:
    worker = WORKERS / FRAMEWORKS[name].worker
    assert worker.is_file()
    assert f"import {worker.stem}" not in worker.read_text()
    assert f"from {worker.stem}" not in worker.read_text()


@each(("name", "distributions"), [("langgraph", 4), ("pydantic-ai", 1), ("google-adk", 1)])
def test_distributions_are_named_without_versions_and_extras(name: str, distributions: int) -> None:
    found = FRAMEWORKS[name].distributions
    assert len(found) == distributions
    assert all(part.replace("-", "").isalpha() for part in found)


def test_a_framework_that_is_not_there_names_what_is_missing_and_how_to_get_it() -> None:
    with pytest.raises(UnknownAgentError) as caught:
        framework_agent("langgraph", NAMED)
    assert "needs langgraph, langchain, langchain-mcp-adapters, langchain-openai" in str(caught.value)
    assert "sandbox-mcp agents install langgraph" in str(caught.value)


def test_a_framework_needs_a_model() -> None:
    with pytest.raises(UnknownAgentError, match="name one with --model"):
        framework_agent("langgraph", AgentSettings())


def test_a_log_says_which_versions_played() -> None:
    agent = framework_agent("openai-agents", NAMED)
    assert agent.describe()["framework"] == installed("openai-agents")


def test_another_interpreter_is_asked_what_it_has() -> None:
    assert versions(Path(sys.executable), ("pytest", "no-such"))["pytest"] == pytest.__version__


def test_what_is_no_interpreter_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnknownAgentError, match="'/no/such/python' cannot be run as a Python"):
        versions(Path("/no/such/python"), ("pytest",))
