"""The MCP hosts that are known, as a table, and how the server is started in them.

Policy: a host is where its configuration is, in what form, and what to do afterwards. The command is the one of this
very environment, since nothing else is sure to be there.
"""

import json
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, cast

from sandbox_mcp.engine.errors import SandboxError

NAME = "sandbox"
"""What the server is called in a host."""
System = Literal["macos", "windows", "linux"]


@dataclass(frozen=True, slots=True)
class Host:
    """An MCP host: the file each system keeps its configuration in, and the key that servers stand under.

    ``project`` says that the file lies in the project that the host works on. ``typed`` says that an entry names its
    transport. ``then`` is what to do afterwards. ``command`` is the host's own command, which takes the entry as JSON.
    ``beware`` warns of what goes wrong without any message.
    """

    title: str
    places: Mapping[System, str]
    key: str = "mcpServers"
    project: bool = False
    typed: bool = False
    then: str = "Restart it"
    command: tuple[str, ...] = ()
    beware: str = ""

    def entry(self, argv: list[str]) -> dict[str, Any]:
        """Entry of the server in the host's configuration."""
        return {**({"type": "stdio"} if self.typed else {}), "command": argv[0], "args": argv[1:]}

    def own_command(self, argv: list[str]) -> str:
        """Command that tells the host itself, as typed in this system's shell; empty where it has no such command."""
        name = {} if NAME in self.command else {"name": NAME}
        entry = json.dumps(name | self.entry(argv), ensure_ascii=False)
        return shell_line([*self.command, entry]) if self.command else ""

    def block(self, argv: list[str]) -> dict[str, Any]:
        """A whole configuration that has this server and no other."""
        return {self.key: {NAME: self.entry(argv)}}

    def file(self) -> Path:
        """The configuration file on this machine, or in the project that the working directory is.

        Raises:
            SandboxError: the place depends on a variable not set, or is not known.
        """
        if not self.places:
            raise SandboxError(f"where {self.title} keeps its configuration is not known; name the file with --config")
        place = os.path.expandvars(self.places[this_system()])
        if "%" in place:
            raise SandboxError(f"cannot tell where {place!r} is; name the file with --config")
        return Path(place).expanduser()


def _at(macos: str, windows: str = "", linux: str = "") -> Mapping[System, str]:
    """A file by system; where one is given, it is the same on all."""
    return {"macos": macos, "windows": windows or macos, "linux": linux or macos}


HOSTS: Mapping[str, Host] = MappingProxyType(
    {
        "claude-desktop": Host(
            "Claude Desktop",
            _at(
                "~/Library/Application Support/Claude/claude_desktop_config.json",
                "%APPDATA%\\Claude\\claude_desktop_config.json",
                "~/.config/Claude/claude_desktop_config.json",
            ),
            then="Quit Claude Desktop and start it again",
        ),
        "claude-code": Host(
            "Claude Code",
            _at(".mcp.json"),
            project=True,
            typed=True,
            then="Start claude in that project, and approve the server",
            command=("claude", "mcp", "add-json", NAME),
            beware="Headless, 'claude -p' begins before its servers are up: set MCP_CONNECTION_NONBLOCKING=0 for it.",
        ),
        "cursor": Host(
            "Cursor",
            _at("~/.cursor/mcp.json", windows="%USERPROFILE%\\.cursor\\mcp.json"),
            then="Switch the server on in Cursor's MCP settings",
            beware="Cursor starts a new server disabled, and its model sees no tools until you switch it on.",
        ),
        "vscode": Host(
            "Visual Studio Code",
            _at(".vscode/mcp.json"),
            key="servers",
            project=True,
            typed=True,
            then="Press Start above the server's name in that file",
            command=("code", "--add-mcp"),
        ),
        "other": Host(
            "another host",
            {},
            then="Restart it",
            beware='Most hosts read the block as it is; some have another key than "mcpServers", or a form to fill in.',
        ),
    }
)
"""Every host that is known."""


def server_command() -> list[str]:
    """Command that starts this environment's server, whatever the working directory and the path are."""
    script = shutil.which("sandbox-mcp", path=str(Path(sys.executable).parent))
    return [script] if script else [sys.executable, "-m", "sandbox_mcp.app.cli"]


def is_ours(entry: object) -> bool:
    """True if an entry starts this server, of whatever environment and with whatever options."""
    match cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}:
        case {"command": str(command), "args": [*args]}:
            program = command.replace("\\", "/").rsplit("/", 1)[-1].lower().removesuffix(".exe")
            return args[:3] == ["-m", "sandbox_mcp.app.cli", "serve"] or (program, args[:1]) == (
                "sandbox-mcp",
                ["serve"],
            )
        case _:
            return False


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
