"""``connect``: the block that is printed is what the host needs, and the command in it starts the server."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sandbox_mcp.cli import connect
from sandbox_mcp.cli.connect import HOSTS, command, server_command, shell_line


def printed(*args: str) -> str:
    done = CliRunner().invoke(command, args)
    assert done.exit_code == 0, done.output
    return done.output


def block(*args: str) -> dict[str, Any]:
    return json.loads(printed(*args, "--json"))


def test_claude_desktop_gets_the_lobby() -> None:
    server = block("claude-desktop")["mcpServers"]["sandbox"]
    assert server == {"command": server_command()[0], "args": [*server_command()[1:], "serve"]}


def test_the_command_works_from_anywhere() -> None:
    assert Path(server_command()[0]).is_absolute()


@pytest.mark.parametrize(
    ("host", "key"), [("claude-code", "mcpServers"), ("cursor", "mcpServers"), ("vscode", "servers")]
)
def test_other_hosts_have_forms_of_their_own(host: str, key: str) -> None:
    (server,) = block(host)[key].values()
    assert server["args"][-1] == "serve"
    assert server.get("type") == (None if host == "cursor" else "stdio")


def test_what_follows_is_for_the_server() -> None:
    args = block("cursor", "--scenario", "wifi_off", "--user-channel", "tool")["mcpServers"]["sandbox"]["args"]
    assert args[-5:] == ["serve", "--scenario", "wifi_off", "--user-channel", "tool"]


@pytest.mark.parametrize("host", HOSTS)
def test_where_it_goes_is_told(host: str) -> None:
    text = printed(host)
    assert all(place in text for place in HOSTS[host].places.values())
    assert HOSTS[host].title in text
    assert 'run the scenario "wifi_off"' in text


@pytest.mark.parametrize(("platform", "system"), [("linux", "linux"), ("darwin", "macos"), ("win32", "windows")])
def test_the_file_of_this_machine_is_marked(platform: str, system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", platform)
    assert f"{system} (this machine): " in printed("claude-desktop")


def test_without_a_script_the_module_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    assert server_command()[1:] == ["-m", "sandbox_mcp.cli"]


def test_a_path_with_a_space_survives_the_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shell_line(["/a b/c", "serve"]) == "'/a b/c' serve"
    monkeypatch.setattr(connect, "this_system", lambda: "windows")
    assert shell_line(["C:\\a b\\c", "serve"]) == '"C:\\a b\\c" serve'


def test_the_printed_command_starts_the_server() -> None:
    server = block("claude-desktop", "--scenario", "nope")["mcpServers"]["sandbox"]
    done = subprocess.run(
        [server["command"], *server["args"]], capture_output=True, text=True, check=False, cwd="/", timeout=60
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "unknown scenario 'nope'" in done.stderr


def test_an_unknown_host_is_bad_usage() -> None:
    done = CliRunner().invoke(command, ["notepad"])
    assert done.exit_code == 2
    assert "claude-desktop" in done.output
