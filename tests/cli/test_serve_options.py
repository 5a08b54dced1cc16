"""What ``serve`` makes of its options before it serves anything."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from sandbox_mcp.app.cli import group, serve
from sandbox_mcp.app.cli.serve import command, default_log_dir
from sandbox_mcp.play.session.manager import UserFactory
from tests.each import each
from tests.suite import SUITE


def test_logs_go_to_the_folder_for_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert default_log_dir() == tmp_path / "sandbox-mcp" / "logs"


def test_without_one_they_go_below_the_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_log_dir() == tmp_path / ".local" / "state" / "sandbox-mcp" / "logs"


def test_help_names_every_credential_and_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_MCP_API_TOKEN", "very-secret")
    monkeypatch.setenv("SANDBOX_MCP_TOKEN", "also-secret")
    text = CliRunner().invoke(command, ["--help"]).output
    assert "SANDBOX_MCP_API_TOKEN" in text
    assert "SANDBOX_MCP_TOKEN" in text
    assert "secret" not in text


@each("args", [["--port", "70000"], ["--port", "x"], ["--user-channel", "x"], ["--seed", "x"], ["more"]])
def test_bad_usage_is_told(args: list[str]) -> None:
    assert CliRunner().invoke(command, args).exit_code == 2


def users_of(*args: str) -> Mapping[str, UserFactory]:
    return serve._users(command.make_context("serve", list(args)).params)


MODELLED = ("--user-model", "m", "--user-base-url", "http://127.0.0.1:1", "--user-api-key-env", "KEY")


@each(
    ("entry", "problem"),
    [
        ("extends: wifi_off\n    max_turnz: 3", "unknown key 'max_turnz'; did you mean 'max_turns'?"),
        ("world: nowhere\n    about: Ask.", "unknown world 'nowhere'; known: phone"),
    ],
)
@each("started", [["serve"], ["connect", "claude-desktop"]])
def test_scenarios_of_ones_own_that_cannot_be_used_are_told_before_anything_is_served(
    entry: str, problem: str, started: list[str], tmp_path: Path
) -> None:
    (tmp_path / "mine.yaml").write_text(f"family: mine\nscenarios:\n  - name: mine\n    {entry}\n")
    told = CliRunner().invoke(group, [*started, "--scenarios", str(tmp_path)])
    assert problem in str(told.exception)


def test_users_are_known_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "k")
    assert list(users_of()) == ["scripted"]
    assert list(users_of(*MODELLED)) == ["scripted", "llm"]
    assert list(users_of("--user", "human")) == ["scripted", "human"]


def test_the_llm_user_gets_the_tools_and_loses_the_parts_that_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "k")
    users = users_of(*MODELLED, "--user-tools", "check_goal", "--user-without", "knows")
    described = users["llm"](SUITE.get("wifi_off")).describe()
    assert (described["told"], described["tools"]) == (["demonstration", "does_not_know"], ["check_goal"])


@each(
    ("args", "problem"),
    [
        (["--user", "llm"], "name one with --user-model"),
        ([*MODELLED[:2], "--user-base-url", "here"], "cannot ask 'here'; --user-base-url must be an address"),
        (list(MODELLED), "in the variable 'KEY', which is not set; set it, name another variable with --user-api-key"),
        (["--user-without", "knows"], "--user-without is for a user that a model plays; name it with --user-model"),
        (["--user", "human", "--no-elicitation"], "leave out --no-elicitation"),
        (["--user", "human", "--scenario", "wifi_off"], "add --user-channel tool"),
        (["--user", "human", "--scenario", "wifi_off", "--user-channel", "harness"], "add --user-channel tool"),
    ],
)
def test_a_user_that_could_not_be_reached_is_told(args: list[str], problem: str) -> None:
    assert problem in str(CliRunner().invoke(command, args).exception)


def test_a_world_that_there_is_not_is_told_with_those_that_there_are() -> None:
    for arguments in (["connect", "cursor", "--world", "nowhere"], ["serve", "--world", "nowhere"]):
        result = CliRunner().invoke(group, arguments)
        assert "unknown world 'nowhere'; known: phone, office" in str(result.exception)
