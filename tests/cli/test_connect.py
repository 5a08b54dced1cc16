"""``connect``: what is printed or written is what the host needs, and nothing else in its file changes."""

import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sandbox_mcp.app.cli.connect import command, hosts
from sandbox_mcp.app.cli.connect.hosts import HOSTS, is_ours, server_command, shell_line
from sandbox_mcp.app.cli.serve import default_log_dir
from sandbox_mcp.engine.errors import SandboxError
from tests.each import each


def printed(*args: str) -> str:
    done = CliRunner().invoke(command, args)
    assert done.exit_code == 0, done.output
    return done.output


def refused(*args: str) -> str:
    done = CliRunner().invoke(command, args)
    assert isinstance(done.exception, SandboxError), done.output
    assert "\n" not in str(done.exception)
    return str(done.exception)


def block(*args: str) -> dict[str, Any]:
    return json.loads(printed(*args, "--json"))


def test_claude_desktop_gets_the_lobby() -> None:
    server = block("claude-desktop")["mcpServers"]["sandbox"]
    assert server == {"command": server_command()[0], "args": [*server_command()[1:], "serve"]}


def test_the_command_works_from_anywhere() -> None:
    assert Path(server_command()[0]).is_absolute()


@each(("host", "key"), [("claude-code", "mcpServers"), ("cursor", "mcpServers"), ("vscode", "servers")])
def test_other_hosts_have_forms_of_their_own(host: str, key: str) -> None:
    (server,) = block(host)[key].values()
    assert server["args"][-1] == "serve"
    assert server.get("type") == (None if host == "cursor" else "stdio")


def test_what_follows_is_for_the_server() -> None:
    args = block("cursor", "--scenario", "wifi_off", "--user-channel", "tool")["mcpServers"]["sandbox"]["args"]
    assert args[-5:] == ["serve", "--scenario", "wifi_off", "--user-channel", "tool"]


@each("host", HOSTS)
def test_where_it_goes_is_told(host: str) -> None:
    text = printed(host)
    assert all(place in text for place in HOSTS[host].places.values())
    assert HOSTS[host].title in text
    assert 'run the scenario "wifi_off"' in text


def test_a_host_that_is_not_known_gets_the_block_and_the_command_in_one_line() -> None:
    assert shell_line([*server_command(), "serve"]) in printed("other")
    assert block("other") == block("claude-desktop")
    assert "name the file with --config" in refused("other", "--write")


def test_where_the_score_will_be_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert f"sandbox-mcp grade {shell_line([str(default_log_dir())])}" in printed("cursor")
    assert f"sandbox-mcp grade {tmp_path / 'mine'}" in printed("cursor", "--log-dir", str(tmp_path / "mine"))


@each(("platform", "system"), [("linux", "linux"), ("darwin", "macos"), ("win32", "windows")])
def test_the_file_of_this_machine_is_marked(platform: str, system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", platform)
    assert f"{system} (this machine): " in printed("claude-desktop")


def test_without_a_script_the_module_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    assert server_command()[1:] == ["-m", "sandbox_mcp.app.cli"]


def test_a_path_with_a_space_survives_the_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shell_line(["/a b/c", "serve"]) == "'/a b/c' serve"
    monkeypatch.setattr(hosts, "this_system", lambda: "windows")
    assert shell_line(["C:\\a b\\c", "serve"]) == '"C:\\a b\\c" serve'


def test_the_printed_command_starts_the_server(tmp_path: Path) -> None:
    server = block("claude-desktop", "--scenario", "wifi_off", "--log-dir", str(tmp_path))["mcpServers"]["sandbox"]
    done = subprocess.run(
        [server["command"], *server["args"]],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert "user: Please turn off the wifi" in done.stderr


def test_an_unknown_host_is_bad_usage() -> None:
    done = CliRunner().invoke(command, ["notepad"])
    assert done.exit_code == 2
    assert "claude-desktop" in done.output


def test_a_scenario_is_served_with_a_way_to_its_user() -> None:
    text = printed("cursor", "--scenario", "wifi_off")
    args = block("cursor", "--scenario", "wifi_off")["mcpServers"]["sandbox"]["args"]
    assert args == [*server_command()[1:], "serve", "--scenario", "wifi_off", "--user-channel", "tool"]
    assert "No harness drives a host" in text
    assert "help your user" in text


def test_a_channel_that_was_named_is_kept() -> None:
    args = block("cursor", "--scenario", "wifi_off", "--user-channel", "harness")["mcpServers"]["sandbox"]["args"]
    assert args[-2:] == ["--user-channel", "harness"]


def test_paths_are_made_absolute_since_hosts_start_servers_anywhere() -> None:
    given = ("--log-dir", "logs", "--no-elicitation", "--session", "s", "--state-dir", "kept", "--seed=3")
    args = block("cursor", *given)["mcpServers"]["sandbox"]["args"]
    here = Path.cwd()
    expected = [*given[:-1], "--seed", "3", str(here / "logs"), str(here / "kept")]
    assert sorted([*args[-9:], "logs", "kept"]) == sorted(expected)


def test_a_user_that_is_a_model_needs_its_key_in_the_host() -> None:
    assert "MY_KEY" in printed("cursor", "--user", "llm", "--user-model", "m", "--user-api-key-env", "MY_KEY")


@each(
    ("args", "says"),
    [
        (["--scenaro", "x"], "No such option '--scenaro'"),
        (["--seed", "one"], "--seed"),
        (["--http"], "leave out --http"),
        (["--workers", "2"], "--workers is for serving over HTTP"),
        (["--scenario", "wifi_of"], "unknown scenario 'wifi_of'; did you mean 'wifi_off'"),
        (["--scenario", "wifi_off", "--variant", "all_tool"], "unknown variant 'all_tool'"),
        (["--variant", "all_tools"], "the lobby has none of them"),
        (["--scenarios", "nowhere"], "nowhere: does not exist"),
        (["--world", "nowhere"], "unknown world 'nowhere'; known: phone"),
        (["--session", "mine"], "say which with --state-dir"),
        (["--user", "llm"], "name one with --user-model"),
        (["--user", "human", "--scenario", "wifi_off", "--user-channel", "harness"], "add --user-channel tool"),
    ],
)
def test_what_the_server_would_refuse_is_told_at_once(args: list[str], says: str) -> None:
    assert says in refused("cursor", *args)


# --- writing it


def written(file: Path, *args: str, host: str = "claude-desktop") -> dict[str, Any]:
    return json.loads(printed(host, "--write", "--config", str(file), "--json", *args))


def undone(file: Path, *, host: str = "claude-desktop") -> dict[str, Any]:
    return json.loads(printed(host, "--undo", "--config", str(file), "--json"))


OTHERS = '{\n\t"globalShortcut": "Alt",\n\t"mcpServers": {\n\t\t"files": {"command": "npx", "args": [1.0]}\n\t}\n}'
THEIRS = '{"mcpServers": {"sandbox": {"command": "docker", "args": ["run"]}}}'


@each("host", HOSTS)
def test_a_file_that_is_missing_is_made_with_its_folder_and_goes_again(host: str, tmp_path: Path) -> None:
    file = tmp_path / "new folder" / "config.json"
    done = written(file, host=host)
    assert done == {"host": host, "action": "written", "file": str(file), "backup": None}
    assert json.loads(file.read_text()) == block(host)
    assert undone(file, host=host)["action"] == "removed"
    assert list(file.parent.iterdir()) == []


def test_everything_else_in_the_file_stays_as_it_is(tmp_path: Path) -> None:
    (file := tmp_path / "config.json").write_text(OTHERS)
    written(file)
    expected = json.loads(OTHERS)
    expected["mcpServers"]["sandbox"] = block("claude-desktop")["mcpServers"]["sandbox"]
    assert file.read_text() == json.dumps(expected, indent="\t")


def test_the_file_as_it_was_lies_beside_it(tmp_path: Path) -> None:
    (file := tmp_path / "config.json").write_text(OTHERS)
    backup = Path(written(file)["backup"])
    assert backup.parent == tmp_path
    assert backup.read_text() == OTHERS


def test_writing_twice_changes_nothing_and_makes_no_backup(tmp_path: Path) -> None:
    (file := tmp_path / "config.json").write_text(OTHERS)
    written(file)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()}
    assert written(file) == {"host": "claude-desktop", "action": "unchanged", "file": str(file), "backup": None}
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()} == before


def test_what_somebody_added_to_our_entry_stays_when_it_is_brought_up_to_date(tmp_path: Path) -> None:
    written(file := tmp_path / "config.json")
    file.write_text(file.read_text().replace('"args"', '"env": {"KEY": "1"}, "args"'))
    written(file, "--scenario", "wifi_off")
    entry = json.loads(file.read_text())["mcpServers"]["sandbox"]
    assert (entry["env"], entry["args"][-1]) == ({"KEY": "1"}, "tool")


def test_undo_brings_back_the_very_file(tmp_path: Path) -> None:
    (file := tmp_path / "config.json").write_text(OTHERS)
    written(file)
    written(file, "--scenario", "wifi_off")
    assert undone(file)["action"] == "removed"
    assert file.read_text() == OTHERS
    assert undone(file)["action"] == "nothing"


def test_undo_leaves_what_has_changed_since(tmp_path: Path) -> None:
    (file := tmp_path / "config.json").write_text(OTHERS)
    written(file)
    file.write_text(file.read_text().replace('"Alt"', '"Ctrl"'))
    assert undone(file)["backup"]
    assert json.loads(file.read_text()) == json.loads(OTHERS.replace('"Alt"', '"Ctrl"'))


def test_undo_takes_back_the_key_that_it_had_to_add(tmp_path: Path) -> None:
    (file := tmp_path / "config.json").write_text('{"theme": "dark"}')
    written(file)
    file.write_text(file.read_text().replace("dark", "light"))
    undone(file)
    assert json.loads(file.read_text()) == {"theme": "light"}


def test_somebody_elses_server_of_that_name_is_replaced_by_force_only_and_comes_back(tmp_path: Path) -> None:
    (file := tmp_path / "config.json").write_text(THEIRS)
    assert "has a server 'sandbox' that is not this one" in refused(
        "claude-desktop", "--write", "--config", str(file), "--scenario", "wifi_off"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["config.json"]
    written(file, "--force")
    file.write_text('{"x": {},' + file.read_text()[1:])
    assert undone(file)["action"] == "restored"
    assert json.loads(file.read_text()) == {**json.loads(THEIRS), "x": {}}


def test_undo_leaves_somebody_elses_server_of_that_name(tmp_path: Path) -> None:
    (file := tmp_path / "config.json").write_text(THEIRS)
    assert undone(file)["action"] == "foreign"
    assert file.read_text() == THEIRS


@each(
    "text",
    [
        '// mine\n{"servers": {}}',
        '{"servers": {"a": {},}}',
        '{"servers": {}, "servers": {}}',
        '\ufeff{"servers": /**/ {}}',
        '{"servers": {}, "half": "\\ud83d"}',
        '{"servers": {}, "beyond": 1e999}',
    ],
    ids=["a remark", "a comma at the end", "a key twice", "a remark inside", "half a character", "no number"],
)
def test_what_would_lose_something_is_left_alone_and_the_block_is_printed_instead(text: str, tmp_path: Path) -> None:
    (file := tmp_path / "mcp.json").write_text(text, encoding="utf-8")
    done = CliRunner().invoke(command, ["vscode", "--write", "--config", str(file)])
    assert "so nothing was changed; edit it by hand" in str(done.exception)
    assert "Put this into the configuration of Visual Studio Code by hand:" in done.output
    assert f"It goes into {file}; if the file has other servers, add this one beside them." in done.output
    assert json.dumps(block("vscode"), indent=2) in done.output
    assert file.read_text(encoding="utf-8") == text


@each("text", ['\ufeff{"a": 1}', '{\r\n    "a": 1\r\n}\r\n'], ids=["a byte order mark", "Windows"])
def test_the_form_of_a_file_is_kept(text: str, tmp_path: Path) -> None:
    (file := tmp_path / "config.json").write_bytes(text.encode())
    written(file)
    assert (b'\r\n    "a": 1' in file.read_bytes()) == ("\r\n" in text)
    undone(file)
    assert file.read_bytes() == text.encode()


@each(
    ("host", "begins"),
    [("claude-code", "claude mcp add-json sandbox '{"), ("vscode", 'code --add-mcp \'{"name": "sandbox"')],
)
def test_a_host_s_own_command_gets_the_entry(host: str, begins: str) -> None:
    (line,) = [line.strip() for line in printed(host).splitlines() if line.strip().startswith(begins)]
    (*_, entry) = shlex.split(line)
    (own,) = block(host)[HOSTS[host].key].values()
    assert own.items() <= json.loads(entry).items()


@each(
    ("text", "says"),
    [
        ("{\n  // a remark\n}", ": not plain JSON (Expecting property name enclosed in double quotes: line 2"),
        ("[]", ": expected a JSON object"),
        ('{"mcpServers": []}', "expected a JSON object under 'mcpServers'"),
        ('{"mcpServers": {}', ": not plain JSON (Expecting ',' delimiter"),
    ],
)
@each("mode", ["--write", "--undo"])
def test_a_file_that_is_no_configuration_is_left_alone(mode: str, text: str, says: str, tmp_path: Path) -> None:
    (file := tmp_path / "config.json").write_text(text)
    problem = refused("claude-desktop", mode, "--config", str(file))
    assert problem.startswith(str(file))
    assert says in problem
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("config.json", text)]


def test_a_file_of_other_bytes_and_a_folder_are_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "latin.json").write_bytes(b'{"a": "\xfc"}')
    assert "not UTF-8 text" in refused("cursor", "--write", "--config", str(tmp_path / "latin.json"))
    assert "cannot read" in refused("cursor", "--write", "--config", str(tmp_path))


def test_an_empty_file_is_as_good_as_none_and_is_empty_again_after_undo(tmp_path: Path) -> None:
    (file := tmp_path / "config.json").write_text("")
    written(file)
    assert json.loads(file.read_text()) == block("claude-desktop")
    undone(file)
    assert file.read_text() == ""


def test_a_scenario_that_is_not_there_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    assert "unknown scenario 'nope'" in refused("cursor", "--write", "--config", str(file), "--scenario", "nope")
    assert not file.exists()


@pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX systems")
def test_what_excludes_each_other_is_refused(tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["cursor", "--write", "--undo", "--config", str(tmp_path / "config.json")])
    assert done.exit_code == 2
    assert "--print, --write and --undo exclude each other; give one of them" in done.output
    assert list(tmp_path.iterdir()) == []


def test_a_secret_file_stays_secret_and_a_link_stays_a_link(tmp_path: Path) -> None:
    (real := tmp_path / "real.json").write_text(OTHERS)
    real.chmod(0o600)
    (link := tmp_path / "config.json").symlink_to(real)
    backup = Path(written(link)["backup"])
    assert link.is_symlink()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (real, backup)] == [0o600, 0o600]
    assert is_ours(json.loads(real.read_text())["mcpServers"]["sandbox"])


def test_the_file_is_found_where_the_host_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    said = [printed(host, "--write") for host in ("claude-code", "vscode", "cursor")]
    made = [tmp_path / ".mcp.json", tmp_path / ".vscode" / "mcp.json", tmp_path / ".cursor" / "mcp.json"]
    assert [str(file) in text for file, text in zip(made, said, strict=True)] == [True] * 3
    assert [file.is_file() for file in made] == [True] * 3
    assert all("--undo" in text for text in said)


def test_a_place_that_needs_an_unset_variable_must_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.delenv("APPDATA", raising=False)
    assert "name the file with --config" in refused("claude-desktop", "--write")


@each(
    ("entry", "ours"),
    [
        ({"command": "/old/.venv/bin/sandbox-mcp", "args": ["serve"]}, True),
        ({"command": "C:\\v\\Scripts\\Sandbox-MCP.exe", "args": ["serve", "--scenario", "x"]}, True),
        ({"command": "python", "args": ["-m", "sandbox_mcp.app.cli", "serve"]}, True),
        ({"command": "sandbox-mcp", "args": ["grade"]}, False),
        ({"command": "my-sandbox-mcp", "args": ["serve"]}, False),
        ({"url": "http://127.0.0.1:8930/mcp"}, False),
        (None, False),
    ],
)
def test_an_entry_is_ours_if_it_starts_this_server_from_anywhere(entry: Any, ours: bool) -> None:
    assert is_ours(entry) == ours


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_regular_file_is_neither_read_nor_replaced(kind: str, tmp_path: Path) -> None:
    place = tmp_path / "config.json"
    os.mkfifo(place) if kind == "pipe" else place.symlink_to("/dev/null")
    said = refused("cursor", "--write", "--config", str(place))
    assert "is no regular file" in said
    assert not place.is_file()
