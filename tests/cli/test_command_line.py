"""The real command, started as a user starts it: help, exit codes, one line for every mistake."""

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox_mcp.cli import COMMANDS


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sandbox_mcp.cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        timeout=60,
    )


def test_help_lists_every_command() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert all(name in done.stdout for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str) -> None:
    done = run(name, "--help")
    assert done.returncode == 0, done.stderr
    assert "Usage:" in done.stdout


def test_an_unknown_command_is_bad_usage() -> None:
    done = run("grad")
    assert done.returncode == 2
    assert "No such command 'grad'" in done.stderr


def test_an_unknown_scenario_gets_suggestions_and_one_line() -> None:
    done = run("scenarios", "show", "wifi_of")
    assert done.returncode == 2
    assert done.stderr.startswith("sandbox-mcp: unknown scenario 'wifi_of'; did you mean 'wifi_off'")
    assert done.stderr.count("\n") == 1


def test_broken_yaml_is_told_with_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("family: mine\nscenarios:\n  - name: x\n    tools: [a\n")
    done = run("scenarios", "list", "--scenarios", "mine.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("sandbox-mcp: mine.yaml:")
    assert done.stderr.count("\n") == 1


def test_results_go_to_stdout_and_talk_to_stderr() -> None:
    done = run("scenarios", "list")
    assert "wifi_off" in done.stdout
    assert done.stderr == ""


def test_the_version_is_the_packages() -> None:
    from sandbox_mcp import __version__

    assert run("--version").stdout == f"sandbox-mcp, version {__version__}\n"
