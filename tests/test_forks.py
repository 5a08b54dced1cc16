"""Tests in several processes, of which one may die: every test is reported once."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

SHARED = """
import pytest

@pytest.fixture(scope="session")
def made_once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    yield folder
    (folder / "unmade").touch()
"""
COUNTED = """
import pytest

@pytest.mark.parametrize("number", range(5))
def test_it(made_once, number, tmp_path):
    assert not (made_once / "unmade").exists()
"""
FAILING = """
import os, signal

def test_before():
    pass

def test_wrong():
    print("seen on the way")
    assert 1 == 2

def test_dying():
    os.kill(os.getpid(), signal.SIGKILL)

def test_after():
    pass
"""


def tried(folder: Path, *options: str) -> tuple[int, str]:
    """The exit code of pytest and what it says, without the plugins that this project's tests need."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "tests.forks",
        "-p",
        "no:cacheprovider",
        "-rA",
        *options,
        str(folder),
    ]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    run = subprocess.run(command, cwd=ROOT, env=alone, capture_output=True, text=True, check=False)
    return run.returncode, run.stdout + run.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in "abc":
        (tmp_path / f"test_{name}.py").write_text(COUNTED, encoding="utf-8")
    (tmp_path / "conftest.py").write_text(SHARED, encoding="utf-8")
    (tmp_path / "pytest.ini").touch()
    return tmp_path


def test_each_is_run_once_and_what_tests_share_is_kept_until_the_last(folder: Path) -> None:
    code, said = tried(folder, "--jobs", "2", f"--basetemp={folder / 'temp'}")
    assert code == 0, said
    assert "15 passed" in said
    places = [path.parent.parent.name for path in (folder / "temp").glob("*/made0/unmade")]
    assert sorted(places) == ["process-0", "process-1"]


def test_a_process_that_dies_fails_the_test_that_it_was_at(folder: Path) -> None:
    (folder / "test_failing.py").write_text(FAILING, encoding="utf-8")
    code, said = tried(folder, "--jobs", "2")
    assert code == 1
    assert "2 failed, 17 passed" in said
    assert "the process that ran it ended with -9" in said
    assert "seen on the way" in said


def test_the_first_failure_ends_it_where_that_is_asked_for(folder: Path) -> None:
    for name in "defghijk":
        (folder / f"test_{name}.py").write_text(FAILING, encoding="utf-8")
    code, said = tried(folder, "--jobs", "2", "-x")
    outcomes = Counter(line.split()[0] for line in said.splitlines() if line.startswith(("PASSED", "FAILED")))
    assert code == 1
    assert outcomes["FAILED"] == 1
