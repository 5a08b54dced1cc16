"""The page on servers of one's own, followed to the letter: with its own server, and with others in its place."""

import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from shutil import which

import pytest
from click.testing import CliRunner

from sandbox_mcp.app.cli import group
from sandbox_mcp.engine.worlds import FILES

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs" / "your-server.md"
SERVER = "python lamp_server.py"
pytestmark = pytest.mark.skipif(
    which("mcp-server-time") is None, reason="takes ten minutes: make test-journeys installs the servers and runs it"
)


@dataclass(frozen=True, slots=True)
class Journey:
    """A server that takes the place of the page's own: its command, what ``draft`` is told besides, and its needs.

    ``checked`` is its command outside of a session, where there is no folder ``/sandbox``.
    """

    command: str
    options: str = ""
    needs: str = sys.executable
    checked: str = ""
    prepare: Callable[[Path], object] = lambda _folder: None


def page() -> str:
    return PAGE.read_text(encoding="utf-8").partition("\n## What do agents")[0]


def listing(folder: Path) -> None:
    [text] = re.findall(r"^```python\n(.*?)^```$", page(), re.MULTILINE | re.DOTALL)
    (folder / "lamp_server.py").write_text(text)


PYTHON = shlex.quote(sys.executable)
JOURNEYS = {
    "lamps": Journey(f"{PYTHON} lamp_server.py", prepare=listing),
    "repairs": Journey(f"{PYTHON} {shlex.quote(str(HERE / 'repairs_server.py'))} /sandbox"),
    "time": Journey("mcp-server-time", needs="mcp-server-time"),
    "git": Journey("mcp-server-git --repository /sandbox", "--reset 'git init -q'", "mcp-server-git", "mcp-server-git"),
    "memory": Journey("npx -y @modelcontextprotocol/server-memory", needs="npx"),
}


def marked(name: str, journey: Journey) -> object:
    """A journey as a parameter, left out on machines without the program that it starts."""
    lacks = pytest.mark.skipif(which(journey.needs) is None, reason=f"{journey.needs} is not installed")
    return pytest.param(journey, id=name, marks=lacks)


@pytest.mark.timeout(1800)  # each try and each session starts the server anew
@pytest.mark.parametrize("journey", [marked(*item) for item in JOURNEYS.items()])
def test_a_server_comes_to_graded_runs_by_the_commands_of_the_page(
    journey: Journey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(FILES, "")
    journey.prepare(tmp_path)
    for line in re.findall(r"^\$ sandbox-mcp (.*)$", page(), re.MULTILINE):
        words = [journey.command if word == SERVER else word for word in shlex.split(line)]
        if words[-2:] == SERVER.split():
            words = [*words[:-2], *shlex.split(journey.checked or journey.command)]
        if words[:2] == ["scenarios", "draft"]:
            words += ["--pairs", "2", *shlex.split(journey.options)]
        done = CliRunner().invoke(group, words)
        assert done.exit_code == 0, f"{line}\n{done.output}"
        if words[0] == "replay":
            assert re.search(r"agreeing with their replay: ([1-9]\d*) of \1\b", done.output)
        if words[0] == "compare":
            assert "lower in B (0): none" in done.output
