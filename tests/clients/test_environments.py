"""Environments of frameworks, made of packages so small that they are written here; nothing comes from the network."""

import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from sandbox_clients import environments
from sandbox_clients.environments import InstallError, bin_of, install, node_versions_in, python_of, versions_in


def wheel(place: Path, version: str) -> str:
    """A package named ``tiny`` with one module, as a requirement."""
    place.mkdir(exist_ok=True)
    file = place / f"tiny-{version}-py3-none-any.whl"
    about = f"tiny-{version}.dist-info"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("tiny.py", f"VERSION = {version!r}\n")
        archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: tiny\nVersion: {version}\n")
        archive.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{about}/RECORD", "")
    return str(file)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SANDBOX_MCP_AGENTS", str(tmp_path / "agents"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return tmp_path / "agents"


def test_an_environment_has_what_was_asked_for_and_is_brought_up_to_date(tmp_path: Path, home: Path) -> None:
    assert install("mine", [wheel(tmp_path / "old", "1.0")], []) == home / "mine"
    assert versions_in("mine", ["tiny", "huge"]) == {"tiny": "1.0", "huge": None}
    install("mine", [wheel(tmp_path / "new", "1.1")], [])
    said = subprocess.run(
        [str(python_of("mine")), "-c", "import tiny; print(tiny.VERSION)"], capture_output=True, text=True
    )
    assert said.stdout == "1.1\n", said.stderr


def test_what_pip_cannot_find_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(
        InstallError, match=r"^pip failed with exit code 1: ERROR: No matching distribution found for no"
    ):
        install("mine", ["no-such-framework>=3"], [])
    assert "Could not find a version" in capsys.readouterr().err
    assert versions_in("mine", ["no-such-framework"]) == {"no-such-framework": None}


def test_an_environment_whose_interpreter_is_gone_is_made_anew(home: Path) -> None:
    (home / "mine/venv/bin").mkdir(parents=True)
    (home / "mine/venv/bin/python").symlink_to("/no/such/python")
    assert python_of("mine") is None
    install("mine", [], [])
    assert python_of("mine") is not None


def test_a_place_that_cannot_hold_one_is_named(home: Path) -> None:
    home.parent.joinpath("agents").write_text("a file, not a folder")
    with pytest.raises(InstallError, match=r"cannot make an environment in '.*agents/mine/venv': "):
        install("mine", [], [])


def test_a_machine_without_npm_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InstallError, match="npm is needed and was not found on this machine"):
        install("mine", [], ["left-pad"])


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not on this machine")
def test_programs_from_npm_are_found_first(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "package.json").write_text(json.dumps({"name": "tiny", "version": "2.0.0", "bin": {"tiny": "run.js"}}))
    (package / "run.js").write_text("#!/usr/bin/env node\n")
    install("mine", [], [str(package)])
    assert node_versions_in("mine", ["tiny", "@a/huge"]) == {"tiny": "2.0.0", "@a/huge": None}
    assert shutil.which("tiny", path=bin_of("mine")) == str(environments.folder("mine") / "node_modules/.bin/tiny")


def test_environments_are_kept_with_the_users_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SANDBOX_MCP_AGENTS")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert environments.home() == tmp_path / "sandbox-mcp" / "agents"
