"""The commands in the documentation run as they stand there, in order, each document in a folder of its own.

The folder holds packages of a user's own, with names that ours once had.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.warm import program

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDS_CHECKOUT = ("make ",)


def documents() -> list[Path]:
    return [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if blocks(path)]


def blocks(path: Path) -> list[str]:
    found = BLOCK.findall(path.read_text(encoding="utf-8"))
    return [block for block in found if not block.startswith(NEEDS_CHECKOUT)]


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_every_command_of_a_document_runs(path: Path, tmp_path: Path) -> None:
    for name in ("grader", "clients", "scenarios"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise AssertionError('this belongs to the user')\n")
    programs = [str(Path(program()).parent), str(Path(sys.executable).parent), os.environ["PATH"]]
    script = "set -eu\n" + "".join(blocks(path))
    done = subprocess.run(
        ["/bin/sh", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PATH": os.pathsep.join(programs)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
