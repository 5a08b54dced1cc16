"""Code of the user's own is found in the working directory, and nothing else that lies there gets in the way."""

import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox_mcp.engine.own_code import OwnCodeError, own_code
from tests.each import each

OURS = ("sandbox_grader", "sandbox_scenarios", "sandbox_clients", "sandbox_mcp")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty working directory; what is imported from it is forgotten."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def test_a_module_of_the_working_directory_is_found(folder: Path) -> None:
    (folder / "mine.py").write_text("class Inner:\n    agent = 5\n")
    assert own_code("mine:Inner.agent") == 5


def test_it_is_the_same_module_by_whichever_link_it_was_imported_before(folder: Path) -> None:
    (folder / "mine.py").write_text("agent = object()\n")
    (folder / "link").symlink_to(folder)
    sys.path.insert(0, str(folder / "link"))
    assert own_code("mine:agent") is importlib.import_module("mine").agent
    del sys.modules["mine"]
    assert importlib.import_module("mine").agent is own_code("mine:agent")


def test_it_may_import_what_lies_beside_it(folder: Path) -> None:
    (folder / "mine.py").write_text("from grader import score as agent\n")
    (folder / "grader").mkdir()
    (folder / "grader" / "__init__.py").write_text("score = 7\n")
    assert own_code("mine:agent") == 7


def test_it_is_meant_before_an_installed_module_of_its_name(folder: Path) -> None:
    (folder / "this_is_installed").mkdir()
    (folder / "this_is_installed" / "colours.py").write_text("agent = 'installed'\n")
    sys.path.insert(0, str(folder / "this_is_installed"))
    (folder / "colours.py").write_text("agent = 'own'\n")
    assert own_code("colours:agent") == "own"


@pytest.mark.parametrize("name", ["json", "click", "statistics"])
def test_a_name_that_is_needed_for_another_module_is_refused(folder: Path, name: str) -> None:
    importlib.import_module(name)  # what ours use by now
    (folder / f"{name}.py").write_text("agent = 5\n")
    with pytest.raises(OwnCodeError, match=f"{name}.py has the name of another module"):
        own_code(f"{name}:agent")


def test_a_module_that_cannot_be_imported_is_not_left_half_loaded(folder: Path) -> None:
    (folder / "broken.py").write_text("import no_such_package\n")
    with pytest.raises(OwnCodeError, match="No module named 'no_such_package'"):
        own_code("broken:agent")
    assert "broken" not in sys.modules


@each(
    ("body", "told"),
    [
        ("\nx = unknown\n", "NameError: name 'unknown' is not defined (broken.py, line 2)"),
        ("raise ValueError('\\n  not here')", "ValueError: not here (broken.py, line 1)"),
        ("{}['a']\n", "KeyError: 'a' (broken.py, line 1)"),
        ("import sys\nsys.exit(0)\n", "SystemExit: 0 (broken.py, line 2)"),
        ("def f(:\n", "invalid syntax (broken.py, line 1)"),
        ("import json\njson.loads('{')\n", "(broken.py, line 2)"),
    ],
)
def test_whatever_a_module_breaks_on_is_one_line_that_says_where(folder: Path, body: str, told: str) -> None:
    (folder / "broken.py").write_text(body)
    with pytest.raises(OwnCodeError, match="^module 'broken' cannot be imported: [^\n]*" + re.escape(told) + "$"):
        own_code("broken:agent")


@each("place", [":agent", "mine:", "mine", ""])
def test_a_place_without_both_halves_is_refused(place: str) -> None:
    with pytest.raises(OwnCodeError, match=f"expected MODULE:ATTRIBUTE, got {place!r}"):
        own_code(place)


def test_nothing_else_in_the_folder_takes_the_place_of_what_the_program_imports(folder: Path) -> None:
    for name in ("grader", "clients", "scenarios", "scipy", "networkx", *OURS):
        (folder / f"{name}.py").write_text("raise AssertionError('this belongs to the user')\n")
    (folder / "mine.py").write_text("async def agent(asked):\n    return 'No.'\n")
    command = [Path(sys.executable).with_name("sandbox-mcp"), "run", "wifi_off", "--agent", "mine:agent", "--out", "o"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
