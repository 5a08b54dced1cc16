"""``sandbox-mcp agents``."""

import json
from pathlib import Path

import pytest
from sandbox_clients.frameworks import FRAMEWORKS, Framework
from sandbox_clients.registry import AGENTS

from tests.clients.test_environments import wheel
from tests.e2e.processes import run
from tests.each import each


@pytest.fixture(autouse=True)
def nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_MCP_AGENTS", str(tmp_path / "agents"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")


def frameworks(monkeypatch: pytest.MonkeyPatch, **requires: str) -> None:
    """Let these be all the frameworks there are."""
    rows = {name: Framework(name, "openai_agents.py", (needs,), "nobody") for name, needs in requires.items()}
    monkeypatch.setattr("sandbox_clients.frameworks.FRAMEWORKS", rows)


def test_every_agent_is_listed_with_how_to_get_it() -> None:
    said = run("agents").out
    assert all(f"\n{name} " in said for name in [*AGENTS, *FRAMEWORKS])
    assert "sandbox-mcp agents install langgraph" in said


def test_the_list_is_there_for_programs() -> None:
    rows = {row["agent"]: row for row in json.loads(run("agents", "--json").out)}
    assert rows["reference"]["ready"] is True
    assert rows["langgraph"]["ready"] is False
    assert rows["langgraph"]["versions"]["langgraph"] is None


def test_an_agent_whose_client_is_not_installed_is_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox_mcp.app.cli.agents.find_spec", lambda name: None if name == "anthropic" else name)
    rows = {row["agent"]: row["ready"] for row in json.loads(run("agents", "--json").out)}
    assert [rows[name] for name in ("reference", "openai", "responses", "anthropic")] == [True, True, True, False]
    [line] = [line for line in run("agents").out.splitlines() if line.startswith("anthropic ")]
    assert line.endswith("  pip install anthropic")


def test_one_that_fails_does_not_keep_the_others_from_being_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frameworks(monkeypatch, bad="no-such-framework", good=wheel(tmp_path / "new", "1.0"))
    monkeypatch.setattr(Framework, "distributions", ("tiny",))
    done = run("agents", "install", "--all")
    assert done.code == 2
    assert "1 of 2 environments could not be made: bad (pip failed with exit code 1: ERROR: No matching" in done.err
    assert f"good: in {tmp_path / 'agents' / 'good'} after " in done.err
    assert [row["ready"] for row in json.loads(run("agents", "--json").out)[-2:]] == [False, True]


def test_all_frameworks_and_a_checkout_are_made_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    told = "sandbox_clients.environments.install_all"
    monkeypatch.setattr(told, lambda wanted, *_: made.extend(item.name for item in wanted))
    frameworks(monkeypatch, one="one", other="other")
    checkout = ("toolsandbox-import", "--checkout", str(tmp_path))
    for asked in (checkout, ("other", *checkout), ("--all", *checkout)):
        assert run("agents", "install", *asked).code == 0
    assert made == ["toolsandbox-import", "other", "toolsandbox-import", "one", "other", "toolsandbox-import"]


@each(
    ("asked", "told"),
    [
        ((), "name frameworks, or give --all; known: "),
        (("--all", "langgraph"), "name frameworks, or give --all"),
        (("langraph",), "unknown framework 'langraph'; did you mean 'langgraph'?"),
    ],
)
def test_what_cannot_be_installed_is_said_before_anything_is(asked: tuple[str, ...], told: str) -> None:
    done = run("agents", "install", *asked)
    assert done.code == 2
    assert told in done.err
