"""Environments of their own for agent frameworks: where they are, and how they are made.

Policy: one folder per framework, under the folder that ``SANDBOX_MCP_AGENTS`` names, by default the user's data
folder: a virtual environment, and beside it ``node_modules`` for what comes from npm. Nothing is installed unless
somebody asks for it.
"""

import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

from sandbox_mcp.errors import SandboxError

VARIABLE = "SANDBOX_MCP_AGENTS"


class InstallError(SandboxError):
    """An environment could not be made."""


def home() -> Path:
    """The folder that holds the environments."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).absolute()
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "sandbox-mcp" / "agents"


def folder(name: str) -> Path:
    """The folder of one framework."""
    return home() / name


def python_of(name: str) -> Path | None:
    """The interpreter of a framework's environment, None if there is no such environment."""
    scripts = "Scripts/python.exe" if sys.platform == "win32" else "bin/python"
    found = folder(name) / "venv" / scripts
    return found if found.exists() else None


def bin_of(name: str) -> str:
    """The search path for programs with those from npm in front."""
    return os.pathsep.join([str(folder(name) / "node_modules" / ".bin"), os.environ.get("PATH", os.defpath)])


def install(name: str, requires: Sequence[str], node: Sequence[str]) -> Path:
    """Make a framework's environment, or bring it up to date; what pip and npm say goes to standard error.

    Raises:
        InstallError: pip or npm failed, or npm is not there.
    """
    target = folder(name)
    if python_of(name) is None:
        venv.create(target / "venv", with_pip=True)
    if requires:
        _run([str(python_of(name)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requires])
    if node:
        _run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(target), *node])
    return target


def _run(command: Sequence[str]) -> None:
    try:
        subprocess.run(command, check=True, stdout=sys.stderr)  # noqa: S603
    except FileNotFoundError as error:
        raise InstallError(f"{command[0]!r} is needed and was not found on this machine") from error
    except subprocess.CalledProcessError as error:
        raise InstallError(f"{command[0]!r} failed with exit code {error.returncode}; see above") from error
