"""``sandbox-mcp connect HOST``: what an MCP host has to be told to start the server.

Policy: the hosts are a table: where their configuration is, and in what form. It is printed, never written, so that
nobody's configuration is touched behind their back. The command is the one of this very environment.
"""

import json
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import click

NAME = "sandbox"
"""What the server is called in a host."""
System = Literal["macos", "windows", "linux"]


@dataclass(frozen=True, slots=True)
class Host:
    """An MCP host: the file each system keeps its configuration in, and the key that servers stand under.

    ``typed`` says that an entry names its transport, ``then`` what to do afterwards, ``command`` the host's own command
    that takes a name and a command line.
    """

    title: str
    places: Mapping[System, str]
    key: str = "mcpServers"
    typed: bool = False
    then: str = "Restart it"
    command: str = ""

    def block(self, argv: list[str]) -> dict[str, Any]:
        """The configuration that starts the server."""
        kind = {"type": "stdio"} if self.typed else {}
        return {self.key: {NAME: {**kind, "command": argv[0], "args": argv[1:]}}}


def _anywhere(path: str) -> Mapping[System, str]:
    return {"macos": path, "windows": path, "linux": path}


HOSTS: Mapping[str, Host] = MappingProxyType(
    {
        "claude-desktop": Host(
            "Claude Desktop",
            {
                "macos": "~/Library/Application Support/Claude/claude_desktop_config.json",
                "windows": "%APPDATA%\\Claude\\claude_desktop_config.json",
                "linux": "~/.config/Claude/claude_desktop_config.json",
            },
            then="Quit Claude Desktop and start it again",
        ),
        "claude-code": Host(
            "Claude Code",
            _anywhere(".mcp.json in your project"),
            typed=True,
            then="Start claude in that project",
            command="claude mcp add",
        ),
        "cursor": Host(
            "Cursor",
            {
                "macos": "~/.cursor/mcp.json",
                "windows": "%USERPROFILE%\\.cursor\\mcp.json",
                "linux": "~/.cursor/mcp.json",
            },
            then="Switch the server on in Cursor's MCP settings",
        ),
        "vscode": Host(
            "Visual Studio Code",
            _anywhere(".vscode/mcp.json in your project"),
            key="servers",
            typed=True,
            then="Press Start above the server's name in that file",
        ),
    }
)
"""Every host that is known."""


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("host", type=click.Choice(list(HOSTS)))
@click.argument("serve_args", nargs=-1, type=click.UNPROCESSED)
@click.option("--json", "as_json", is_flag=True, help="Print the configuration block and nothing else.")
def command(host: str, serve_args: tuple[str, ...], as_json: bool) -> None:
    """Print what HOST needs to start this server.

    SERVE_ARGS are passed on to 'serve', such as --scenario wifi_off --user-channel tool. Without any, the host gets
    the lobby, where scenarios are started by name.
    """
    known = HOSTS[host]
    argv = [*server_command(), "serve", *serve_args]
    block = json.dumps(known.block(argv), indent=2, ensure_ascii=False)
    if as_json:
        click.echo(block)
        return
    click.echo(f"Put this into the configuration of {known.title}:\n\n{block}\n\n{_where(known)}")
    if known.command:
        click.echo(f"Or let it do so itself:\n  {known.command} {NAME} -- {shell_line(argv)}")
    type_this = "help your user" if "--scenario" in serve_args else 'run the scenario "wifi_off"'
    click.echo(f"{known.then}. Then type: {type_this}")


def server_command() -> list[str]:
    """How this environment's server is started, whatever the working directory and the path are."""
    script = shutil.which("sandbox-mcp", path=str(Path(sys.executable).parent))
    return [script] if script else [sys.executable, "-m", "sandbox_mcp.cli"]


def this_system() -> System:
    """The system that this runs on."""
    return "windows" if sys.platform == "win32" else "macos" if sys.platform == "darwin" else "linux"


def shell_line(argv: list[str]) -> str:
    """A command as it is typed in this system's shell."""
    if this_system() == "windows":
        from subprocess import list2cmdline

        return list2cmdline(argv)
    from shlex import join

    return join(argv)


def _where(host: Host) -> str:
    if len(set(host.places.values())) == 1:
        return f"It goes into {next(iter(host.places.values()))}."
    mine = this_system()
    lines = [f"  {system}{' (this machine)' if system == mine else ''}: {path}" for system, path in host.places.items()]
    return "It goes into this file; if the file has other servers, add this one beside them:\n" + "\n".join(lines)
