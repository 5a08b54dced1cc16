"""Logs as commands are given them: where they are, and notices about those that cannot be used."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sandbox_mcp.app.cli import warn
from sandbox_mcp.app.cli.options import LocalPath
from sandbox_mcp.app.cli.printing import FEW, SCREENFUL
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.plurals import counted

if TYPE_CHECKING:
    from sandbox_grader import Report
    from sandbox_grader.grading.scores import Scores

    from sandbox_mcp.engine.trajectory import Trajectory

T = TypeVar("T")
STORED = f"{__name__}.stored"
"""Where a command's context keeps the URL that it writes to, if it does."""


class LogPlace(LocalPath):
    """Logs, here or in object storage: there their copy on this machine is given on.

    With ``written`` it is a folder that a command writes, which is copied back when the command ends.
    """

    def __init__(self, *, written: bool = False) -> None:
        super().__init__(path_type=Path)
        self._written = written

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path, or that of the copy. Raises :class:`StorageError` where there can be none."""
        place = str(value)
        if place.lower().startswith("file://"):
            from urllib.parse import urlsplit
            from urllib.request import url2pathname  # brings HTTP and TLS along

            named = urlsplit(place)
            if named.netloc.lower() not in ("", "localhost") or not named.path:
                self.fail(f"{place!r} names no place on this machine; expected file:///FOLDER", param, ctx)
            place = url2pathname(named.path)
        if "://" not in place:
            return super().convert(place, param, ctx)
        from sandbox_mcp.engine.trajectory.storage import StoredCopy

        copy = StoredCopy.of(place, to_write=self._written)
        if self._written and ctx is not None:
            ctx.meta[STORED] = place
            ctx.call_on_close(lambda: click.echo(f"{copy.url}: {counted(copy.send(), 'file')} copied there", err=True))
        return copy.path


def of_each_log(
    paths: Sequence[Path], use: "Callable[[Trajectory], T]", unusable: list[Path]
) -> Iterator[tuple[Path, T]]:
    """Apply ``use`` to each log among ``paths``; one that cannot be read or used is named and noted instead.

    Raises:
        TrajectoryError: a path does not exist, or a folder holds no log.
    """
    from sandbox_mcp.engine.trajectory import read_trajectory
    from sandbox_mcp.engine.trajectory.finding import NOT_ALLOWED, find_logs

    logs = find_logs(paths)
    warn(*logs.cut)
    for folder in logs.closed:
        _leave_out(Path(folder), f"{folder}: {NOT_ALLOWED}", unusable)
    for path in logs:
        try:
            made = use(read_trajectory(path))
        except SandboxError as error:
            _leave_out(path, str(error) if str(path) in str(error) else f"{path}: {error}", unusable)
        except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError) as error:
            # Whoever wrote the log may have left out or changed anything in it.
            _leave_out(path, f"{path}: cannot be used: {type(error).__name__}: {error}", unusable)
        else:
            yield path, made


def _leave_out(path: Path, why: str, unusable: list[Path]) -> None:
    warn(why)
    unusable.append(path)


def name_left_out(report: "Report", *, warned: bool = False) -> bool:
    """Say what a report warns of, which logs cannot be read, and what to do about those whose scenario is not known.

    What it warns of is left out where a comparison says it: ``warned``. Whether some cannot be read is returned, since
    a command that printed the rest then ends with 2.
    """
    warnings = () if warned else report.warnings
    warn(*filter(None, (*warnings, *unreadable_lines(report), without_scenario(report))))
    return bool(report.unreadable)


def unreadable_lines(report: "Report") -> list[str]:
    """Faults of each log that cannot be graded; of many with the same fault the first are named."""
    alike: dict[str, list[str]] = {}
    for item in report.unreadable:
        alike.setdefault(item.reason.removeprefix(item.path), []).append(item.reason)
    lines: list[str] = []
    for fault, reasons in alike.items():
        if len(reasons) > 1 and fault == reasons[0]:  # what is wrong is wrong with the pack that they are in
            lines.append(f"{fault} ({counted(len(reasons), 'log')})")
            continue
        shown = reasons[:FEW] if len(reasons) > SCREENFUL else reasons
        lines += shown
        if more := len(reasons) - len(shown):
            lines.append(f"{counted(more, 'more log')}{fault}")
    return lines


def without_scenario(report: "Report") -> str:
    """Advice on sessions whose scenario is not known here; nothing if there are none.

    A log that brings its own solution, as those of MTU-Bench do, needs no scenario.
    """
    from sandbox_grader.milestones.metric import NO_SCENARIO

    def lacks(item: "Scores") -> bool:
        score, calls = item.verdicts.get("toolsandbox"), item.verdicts.get("tooltalk")
        return score is not None and score.inconclusive == NO_SCENARIO and not (calls and calls.inconclusive is None)

    lacking = [item.scenario for item in report.sessions if item.scenario and lacks(item)]
    if not lacking:
        return ""
    named = list(dict.fromkeys(lacking))
    names = ", ".join(map(repr, named[:3])) + (f" and {len(named) - 3} more" if len(named) > 3 else "")
    told = f"{counted(len(lacking), 'session')} of {names}, which is not known here"
    return f"{told}; name the file or folder with --scenarios PATH"
