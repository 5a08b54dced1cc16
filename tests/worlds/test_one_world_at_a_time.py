"""A session in one world loads neither code nor data of another, however many worlds are installed.

What reads tapes of real servers is part of every session and of every grading, and counts only where a tape is read.
"""

import json
import subprocess
import sys
from pathlib import Path

import sandbox_mcp.engine.worlds
from sandbox_mcp.engine.worlds import BUILT_IN
from tests.each import each

WORLDS = Path(sandbox_mcp.engine.worlds.__file__).parent
SHARED = "letters"
"""The module beside the worlds that belongs to none of them."""
RECORDED = Path(__file__).parent / "recorded"
PLAYED = """
import json, sys
from pathlib import Path
from sandbox_scenarios import Suite
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
suite = Suite([Path(sys.argv[2])]) if len(sys.argv) > 2 else Suite()
scenario = suite.get(suite.names(sys.argv[1])[0])
from sandbox_grader import grade
from sandbox_mcp.play.session.rehearsal import RehearsalStage
played = RehearsalStage(scenario).rehearse(scenario.solutions[0])
assert grade(played.log, scenario).score == 1
loaded = sorted(name for name in sys.modules if name.startswith("sandbox_mcp.engine.worlds."))
print(json.dumps([sorted(opened), loaded]))
"""


RUN = """
import json, sys
from click.testing import CliRunner
from sandbox_mcp.app.cli import group
done = CliRunner().invoke(group, ["run", *sys.argv[1:]])
assert done.exit_code == 0, done.output
print(json.dumps([[], sorted(name for name in sys.modules if name.startswith("sandbox_mcp.engine.worlds."))]))
"""


def loaded_with(*arguments: str, code: str = PLAYED) -> set[str]:
    """The files of worlds that were opened, and their modules, both as paths below the folder of worlds."""
    program = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(program, capture_output=True, text=True, check=True, cwd=Path("/"))
    opened, modules = json.loads(done.stdout)
    files = {Path(path).relative_to(WORLDS).as_posix() for path in opened if Path(path).is_relative_to(WORLDS)}
    parts = {name.removeprefix("sandbox_mcp.engine.worlds.").replace(".", "/") for name in modules}
    data = {path for path in files if "__pycache__" not in path and not path.endswith(".py")}
    return data | {part for part in parts if part.split("/")[0] != "recorded"}


def folder_of(world: str) -> str:
    return BUILT_IN[world].partition(":")[0].removeprefix("sandbox_mcp.engine.worlds.").replace(".", "/")


@each("world", ["phone", "office"])
def test_a_world_with_a_folder_stays_in_it(world: str) -> None:
    loaded = loaded_with(world)
    assert loaded
    assert [path for path in loaded if path.split("/")[0] not in (folder_of(world), SHARED)] == []


def test_a_lookup_world_reads_its_own_files_and_no_other() -> None:
    loaded = loaded_with("movies")
    modules = {path for path in loaded if not path.startswith("lookups/data/")}
    assert modules == {"lookups", "lookups/looking", "lookups/movies"}
    data = loaded - modules
    assert data
    assert [path for path in data if not path.startswith("lookups/data/movie")] == []


def test_a_run_in_one_world_loads_no_other(tmp_path: Path) -> None:
    loaded = loaded_with("sports_harbour_champions", "--agent", "reference", "--out", str(tmp_path / "out"), code=RUN)
    assert loaded == {"lookups", "lookups/looking", "lookups/sports"}


def test_a_recorded_world_loads_none_of_ours() -> None:
    assert loaded_with("*", str(RECORDED)) == set()
