"""Sessions to draft from: logs of ours, and files of any format that can be imported, also mixed in one folder.

Policy: a session from elsewhere that was played in a scenario known here gets its state back by carrying its calls out
again, if they come to what was recorded. A file that holds no session is named and left out.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from sandbox_grader.errors import GraderError, ImportFormatError
from sandbox_grader.grading.rebuild import rebuilt
from sandbox_grader.importers import files_of, importer
from sandbox_scenarios import Suite, UnknownScenarioError

from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.engine.trajectory import Trajectory, TrajectoryError, read_trajectory
from sandbox_mcp.engine.trajectory.finding import find_logs
from sandbox_mcp.engine.trajectory.log import assemble
from sandbox_mcp.engine.trajectory.packs import SESSION_LINE
from sandbox_mcp.engine.worlds.recorded import TapeError, read_tape


def is_tape(path: Path) -> bool:
    """True if a file is a tape."""
    if path.is_file():
        with suppress(TapeError, OSError):
            with path.open("rb") as file:
                if b'"server"' not in file.readline(10_000):
                    return False
            read_tape(path)
            return True
    return False


def sessions_in(paths: Sequence[Path], format_name: str, suite: Suite, tell: Callable[..., None]) -> list[Trajectory]:
    """All sessions in these files and folders, in their order; what holds none is told.

    Raises:
        RunError: there is no session.
        GraderError: no format has that name.
    """
    found: list[Trajectory] = []
    read = importer(format_name)
    for path in _each(paths, format_name):
        try:
            if _is_ours(path):
                found.append(read_trajectory(path))
                continue
            found.extend(_with_state(assemble(item.events, item.name), suite) for item in read([path]))
        except (ImportFormatError, TrajectoryError) as error:
            tell(str(error))
    if not found:
        raise RunError(f"no session in {', '.join(map(str, paths))}; 'import --help' names the formats")
    return found


def to_import(paths: Sequence[Path], format_name: str) -> bool:
    """True if some of these files hold sessions from elsewhere, which are imported before they are graded."""
    return not all(map(_is_ours, _each(paths, format_name)))


def _each(paths: Sequence[Path], format_name: str) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            with suppress(TrajectoryError):
                logs = list(find_logs([path]))
                if logs and all(map(_is_ours, logs)):
                    yield from logs
                    continue
        yield from files_of(format_name, [path])


def _is_ours(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(SESSION_LINE)) == SESSION_LINE
    except OSError:
        return not path.exists()  # in a pack, which only ours come in


def _with_state(session: Trajectory, suite: Suite) -> Trajectory:
    if session.started.world is not None or not session.started.scenario:
        return session
    with suppress(UnknownScenarioError, GraderError):
        again = rebuilt(session, suite.get(session.started.scenario))
        return session if again.mismatches else again.trajectory
    return session
