"""The commands in the documentation run as they stand there, in order, each document in a folder of its own.

The folder holds packages of a user's own, with names that ours once had. Pages about the papers work on the papers' own
material, which is where variables such as ``MTU_BENCH`` say; they run where the tests find it.
"""

import os
import re
import shlex
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

import click
import pytest
from sandbox_clients.registry import AGENTS, FRAMEWORKS

from sandbox_mcp.app.cli import group
from sandbox_mcp.engine.worlds import FILES
from tests.warm import program

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^\$ sandbox-mcp ((?:.*\\\n)*.*)$", re.MULTILINE)
"""Commands that are shown and not executed, since they need a key, a server or more time."""
NEEDS_CHECKOUT = ("make ",)
MATERIAL = {"MTU_BENCH": "mtu_bench", "TOOLTALK": "tooltalk"}
"""Variables of the pages about papers, and where the tests' data has what they stand for."""


def documents() -> list[Path]:
    pages = (
        ROOT / "README.md",
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted((ROOT / "docs" / "papers").glob("*.md")),
    )
    return [path for path in pages if blocks(path)]


def blocks(path: Path) -> list[str]:
    found = BLOCK.findall(path.read_text(encoding="utf-8"))
    return [block for block in found if not block.startswith(NEEDS_CHECKOUT)]


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_every_command_of_a_document_runs(path: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    script = "set -eu\n" + "".join(blocks(path))
    needed = [name for name in MATERIAL if f"${name}" in script]
    data: Path | None = request.getfixturevalue("benchmark_data") if needed else None
    material = {name: str(data / MATERIAL[name]) for name in needed if data}
    for name in ("grader", "clients", "scenarios"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise AssertionError('this belongs to the user')\n")
    programs = [str(Path(program()).parent), str(Path(sys.executable).parent), os.environ["PATH"]]
    done = subprocess.run(
        ["/bin/sh", "-c", script],
        cwd=tmp_path,
        env={**os.environ, FILES: "", **material, "PATH": os.pathsep.join(programs)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"


def shown() -> list[str]:
    pages = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    return sorted({line for page in pages for line in SHOWN.findall(page.read_text(encoding="utf-8"))})


def problem(line: str) -> str | None:
    """What the command line would refuse of a command before it does anything."""
    words = shlex.split(line.replace("\\\n", " ").partition("2>")[0], comments=True)
    words = words[: next((place for place, word in enumerate(words) if word in ("--", "|", "&", ">")), None)]
    command: click.Command = group
    while isinstance(command, click.Group) and words:
        name = words.pop(0)
        inner = command.get_command(click.Context(command), name)
        if inner is None:
            return f"no command {name!r}"
        command = inner
    options = {name: param for param in command.params if isinstance(param, click.Option) for name in param.opts}
    options |= {name: param for param in command.params for name in param.secondary_opts}
    for word, value in zip_longest(words, words[1:], fillvalue=""):
        name, _, joined = word.partition("=")
        if name.startswith("-") and name not in options:
            return f"no option {name!r}"
        agent = joined or value
        if name == "--agent" and agent.isidentifier() and agent not in {*AGENTS, *FRAMEWORKS}:
            return f"no agent {agent!r}"
    return None


def test_commands_that_are_only_shown_name_what_there_is() -> None:
    assert len(shown()) > 20
    assert {line: said for line in shown() if (said := problem(line))} == {}
