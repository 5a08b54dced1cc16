"""Environments of their own for agent frameworks: where they are, their packages, and how they are made.

Policy: one folder per framework, under the folder that ``SANDBOX_MCP_AGENTS`` names, by default the user's data
folder: a virtual environment, and beside it ``node_modules`` for what comes from npm. Nothing is installed unasked.
What is in an environment is read from its files, without starting it.
"""

import os
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import Distribution
from importlib.util import find_spec
from pathlib import Path

from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.errors import SandboxError

VARIABLE = "SANDBOX_MCP_AGENTS"
WINDOWS = sys.platform == "win32"


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
    found = folder(name) / "venv" / ("Scripts/python.exe" if WINDOWS else "bin/python")
    return found if found.exists() else None


def bin_of(name: str) -> str:
    """The search path for programs with those from npm in front."""
    return os.pathsep.join([str(folder(name) / "node_modules" / ".bin"), os.environ.get("PATH", os.defpath)])


def versions_in(name: str, distributions: Iterable[str]) -> dict[str, str | None]:
    """Versions of the distributions in a framework's environment; None for those that it lacks."""
    places = folder(name).glob("venv/Lib/site-packages" if WINDOWS else "venv/lib/python*/site-packages")
    path = [str(place) for place in places]
    return {wanted: _version(wanted, path) for wanted in distributions}


def versions_here(distributions: Iterable[str]) -> dict[str, str | None]:
    """Versions of the distributions in this process; None for those that it lacks."""
    return {wanted: _version(wanted, sys.path) for wanted in distributions}


def _version(distribution: str, path: list[str]) -> str | None:
    found = next(iter(Distribution.discover(name=distribution, path=path)), None)
    return found.version if found else None


def node_versions_in(name: str, packages: Iterable[str]) -> dict[str, str | None]:
    """Versions of the npm packages beside a framework's environment; None for those that are not there."""
    found: dict[str, str | None] = {}
    for package in packages:
        about = folder(name) / "node_modules" / package / "package.json"
        try:
            found[package] = str(loads(about.read_text(encoding="utf-8"))["version"])
        except (OSError, ValueError, KeyError):
            found[package] = None
    return found


def install(name: str, requires: Sequence[str], node: Sequence[str]) -> Path:
    """Make a framework's environment, or bring its requirements up to date; gives its folder.

    Raises:
        InstallError: pip or npm failed, or npm is not there; what they said is on standard error.
    """
    target = folder(name)
    if python_of(name) is None:
        place = target / "venv"
        try:
            venv.create(place, clear=True)
        except OSError as error:
            raise InstallError(f"cannot make an environment in {str(place)!r}: {error.strerror or error}") from error
    if requires:
        _run("pip", [*_pip(name), "install", "--quiet", "--disable-pip-version-check", "--upgrade", *requires])
    if node:
        _run("npm", ["npm", "install", "--loglevel=error", "--no-audit", "--no-fund", "--prefix", str(target), *node])
    return target


@dataclass(frozen=True, slots=True)
class EnvironmentSpec:
    """An environment to be made: its name, and what pip and npm should bring."""

    name: str
    requires: tuple[str, ...]
    node: tuple[str, ...] = ()


def install_all(wanted: Sequence[EnvironmentSpec], jobs: int, tell: Callable[[str], None]) -> None:
    """Make several environments, ``jobs`` at a time, and ``tell`` how far it is, a line at a time.

    Raises:
        InstallError: some could not be made; all others were.
    """

    def problem_of(one: EnvironmentSpec) -> str | None:
        tell(f"{one.name}: installing {' '.join([*one.requires, *one.node])}")
        begun = time.monotonic()
        try:
            place = install(one.name, one.requires, one.node)
        except InstallError as error:
            tell(f"{one.name}: {error}")
            return str(error)
        tell(f"{one.name}: in {place} after {time.monotonic() - begun:.0f} s")
        return None

    with ThreadPoolExecutor(jobs) as pool:
        came = pool.map(problem_of, wanted)
        problems = [f"{one.name} ({problem})" for one, problem in zip(wanted, came, strict=True) if problem]
    if problems:
        raise InstallError(f"{len(problems)} of {len(wanted)} environments could not be made: {'; '.join(problems)}")


def _pip(name: str) -> list[str]:
    """The pip of this interpreter, which can work on others and is there at once; else the environment's own."""
    python = str(python_of(name))
    if find_spec("pip"):
        return [sys.executable, "-m", "pip", "--python", python]
    if versions_in(name, ["pip"])["pip"] is None:
        _run("ensurepip", [python, "-m", "ensurepip"])
    return [python, "-m", "pip"]


def _run(what: str, command: Sequence[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    except FileNotFoundError as error:
        raise InstallError(f"{what} is needed and was not found on this machine") from error
    if done.returncode:
        said = (done.stdout + done.stderr).strip()
        sys.stderr.write(said + "\n")
        lines = [line.strip() for line in said.splitlines() if line.strip()] or ["it gave no reason"]
        blamed = (line for line in reversed(lines) if line.lower().startswith(("error", "npm error code")))
        raise InstallError(f"{what} failed with exit code {done.returncode}: {next(blamed, lines[-1])}")
