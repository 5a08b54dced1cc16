"""The wheel, installed in clean environments away from the checkout: what it holds is all that its users have."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.packaging.files import ROOT, packages, project

UNREACHABLE = re.compile(r"(?i)failed to fetch|error sending request|dns|connection|timed out|network|offline")
"""What an installer says when there is no index to ask."""
PLAY = ["run", "wifi_off", "--agent", "mine:agent", "--threshold", "1", "--out", "played"]
MINE = """
async def agent(asked):
    await asked.tools.call("set_wifi_status", {"on": False})
    return "Wifi is now off."
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that has our wheel, and what it depends on from the tests' own environment."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=os.name != "nt")
    paths = sysconfig.get_paths(vars={"base": str(folder), "platbase": str(folder)})
    with ZipFile(wheel) as archive:
        archive.extractall(paths["purelib"])
    Path(paths["purelib"], "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return Path(paths["scripts"], "python")


def ran(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def test_it_has_the_name_that_is_ours_on_the_index(wheel: Path) -> None:
    assert wheel.name == f"sandbox_mcp_eval-{project()['version']}-py3-none-any.whl"


def test_it_brings_four_packages_and_nothing_else(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist() if ".dist-info/" not in name}
    assert tops == {Path(package).name for package in packages()}


def test_every_package_is_imported_from_it(python: Path, tmp_path: Path) -> None:
    code = "import sandbox_grader, sandbox_scenarios, sandbox_clients, sandbox_mcp as last; print(last.__file__)"
    done = ran(tmp_path, python, "-c", code)
    assert done.stdout.startswith(str(python.parents[1])), done.stderr


def test_it_plays_and_grades_in_a_folder_with_packages_of_common_names(python: Path, tmp_path: Path) -> None:
    for name in ("grader", "clients", "scenarios", "tests"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise AssertionError('this belongs to the user')\n")
    (tmp_path / "mine.py").write_text(MINE)
    done = ran(tmp_path, python, "-m", "sandbox_mcp.app.cli", *PLAY)
    assert (done.returncode, "wifi_off" in done.stdout) == (0, True), done.stderr


@pytest.mark.parametrize("tool", ["uv", "pipx"])
def test_it_is_installed_as_a_tool(wheel: Path, tmp_path: Path, tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    installer = shutil.which(tool)
    if installer is None:
        pytest.skip(f"{tool} is not at hand")
    for name in ("UV_TOOL_DIR", "PIPX_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "tools"))
    for name in ("UV_TOOL_BIN_DIR", "PIPX_BIN_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "bin"))
    command = [installer, "tool", "install"] if tool == "uv" else [installer, "install"]
    done = ran(tmp_path, *command, "--python", sys.executable, wheel)
    if done.returncode and UNREACHABLE.search(done.stderr):
        pytest.skip(f"the index that has our dependencies cannot be reached: {done.stderr.splitlines()[0]}")
    assert done.returncode == 0, done.stderr
    shown = ran(tmp_path, tmp_path / "bin" / "sandbox-mcp", "scenarios", "show", "wifi_off")
    assert "Wifi is now off." in shown.stdout, shown.stderr


def test_a_default_installation_takes_at_most_250_megabytes() -> None:
    """Everything that the package asks for without an extra, as it is installed here; our own code is 14 MB more."""
    waiting, found = [Requirement(text) for text in project()["dependencies"]], dict[str, int]()
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        if name in found or not (wanted.marker is None or wanted.marker.evaluate({"extra": ""})):
            continue
        here = distribution(name)
        places = [Path(str(here.locate_file(file))) for file in here.files or ()]
        found[name] = sum(place.stat().st_size for place in places if place.is_file() and place.suffix != ".pyc")
        waiting += [Requirement(text) for text in here.requires or ()]
    assert not {"scipy", "numpy", "currencyconverter"} & found.keys()
    assert sum(found.values()) < 200_000_000, sorted(found.items(), key=lambda item: -item[1])[:8]
