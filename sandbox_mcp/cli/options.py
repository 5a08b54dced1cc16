"""Options that several commands share, and how they print."""

import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sandbox_mcp.columns import columns, is_numeric, shown
from sandbox_mcp.errors import SandboxError
from sandbox_mcp.plurals import counted
from sandbox_mcp.shown import behind, json_text, one_line

if TYPE_CHECKING:
    from sandbox_grader import Report
    from sandbox_grader.many import SuiteFinder

    from sandbox_mcp.trajectory import Trajectory

T = TypeVar("T")
SCREENFUL, FEW = 20, 10
"""Up to how many sessions all are listed, and how many of the worst where there are more."""
Command = Callable[..., Any]
PLACE = click.Path(path_type=Path)
FILE, FOLDER = click.Path(path_type=Path, dir_okay=False), click.Path(path_type=Path, file_okay=False)
PLACE_HERE = click.Path(path_type=Path, exists=True)
FILE_HERE = click.Path(path_type=Path, dir_okay=False, exists=True)
FOLDER_HERE = click.Path(path_type=Path, file_okay=False, exists=True)
"""Types of options that name a file or a folder; ``HERE`` where it has to exist."""
MODES = click.Choice(["strict", "paper", "compat"])
"""How sessions can be graded."""
quiet_option: Callable[[Command], Command] = click.option("--quiet", is_flag=True, help="Show no progress.")


class LogPlace(click.Path):
    """Logs, here or in object storage: there what is given on is their copy on this machine.

    With ``written`` it is a folder that a command writes, which is copied back when the command ends.
    """

    def __init__(self, *, exists: bool = False, written: bool = False) -> None:
        super().__init__(exists=exists, path_type=Path)
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
        from sandbox_mcp.trajectory.storage import StoredCopy

        copy = StoredCopy.of(place, to_write=self._written)
        if self._written and ctx is not None:
            ctx.meta[STORED] = place
            ctx.call_on_close(lambda: click.echo(f"{copy.url}: {counted(copy.send(), 'file')} copied there", err=True))
        return copy.path


def together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Several options as one decorator, in the order in which ``--help`` lists them."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


STORED = f"{__name__}.stored"
"""Where a command's context keeps the URL that it writes to, if it does."""


def _use_worlds(_: click.Context, __: click.Parameter, paths: Sequence[Path]) -> None:
    """Let the worlds in these files be found by name, here and in worker processes."""
    if paths:
        from sandbox_mcp.worlds import use_file

        for path in paths:
            if path.suffix != ".py" and not path.exists():
                told = f"{str(path)!r} is not a file; worlds are found by name, and world:{path} selects scenarios"
                raise click.UsageError(told)
            use_file(path)


world_files: Callable[[Command], Command] = click.option(
    "--world",
    multiple=True,
    type=PLACE,
    callback=_use_worlds,
    expose_value=False,
    is_eager=True,
    help="A Python file of your own that declares a world, or a tape of a server. May be repeated.",
)
_scenario_files: Callable[[Command], Command] = click.option(
    "--scenarios",
    "places",
    multiple=True,
    type=PLACE,
    help="A scenario file or folder of your own, used before the built-in suite. May be repeated.",
)


WORLDS_GIVEN = f"{__name__}.worlds"
"""Where a command's context keeps what was given as --world."""


def _named_worlds(context: click.Context, parameter: click.Parameter, given: Sequence[str]) -> str:
    """Let the worlds in files be found by name; the one name or pattern that was given beside them, if any."""
    files = [Path(item) for item in given if item.endswith(".py")]
    named = [item for item in given if not item.endswith(".py")]
    _use_worlds(context, parameter, files)
    if len(named) > 1:
        raise click.UsageError("--world takes one name; a pattern such as * stands for several")
    context.meta[WORLDS_GIVEN] = (*(path.absolute() for path in files), *named)
    return next(iter(named), "")


of_world: Callable[[Command], Command] = click.option(
    "--world",
    multiple=True,
    metavar="NAME|FILE",
    callback=_named_worlds,
    is_eager=True,
    help="Only scenarios of this world, or of worlds by a pattern; or a Python file of your own that declares one.",
)


def scenarios_of_world(command: Command) -> Command:
    """``--scenarios`` and ``--world`` for commands that list: which of a user's own, or of which world."""
    return of_world(_scenario_files(command))


def scenario_files(command: Command) -> Command:
    """``--scenarios`` and ``--world``: where a user's own scenarios and worlds are."""
    return world_files(_scenario_files(command))


as_json: Callable[[Command], Command] = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
metric_option: Callable[[Command], Command] = click.option(
    "--metric",
    default="toolsandbox.score",
    metavar="FAMILY.NAME",
    help="What counts, such as tooltalk.success: in means, pass@k, pass^k, comparisons and the threshold.",
)


threshold_options = together(
    click.option(
        "--threshold",
        type=float,
        help="Exit with 1 if the metric is below this, or a session could not be scored; in JUnit a session fails "
        "below it.  [default: none, and in JUnit 1]",
    ),
    click.option(
        "--threshold-by",
        type=click.Choice(["mean", "low"]),
        default="mean",
        help="Hold the threshold against the mean, or the lower end of its 95 % interval.",
    ),
)
"""The options that :func:`exit_if_missed` reads."""


@dataclass(frozen=True, slots=True)
class RowChoice:
    """Which sessions or scenarios a command shows, and in which order."""

    everything: bool
    failed: bool
    sort: str

    def of(
        self, items: Sequence[T], score: Callable[[T], float | None], turns: Callable[[T], float | None]
    ) -> tuple[list[T], str]:
        """Those to show, and what to say of the others; one without a score did not pass."""
        passes = 1 - 1e-9
        failed = [item for item in items if (score(item) or 0.0) < passes]
        many = len(items) > SCREENFUL and not self.everything and not self.failed
        chosen = failed if many or self.failed else list(items)
        order = self.sort or ("score" if many else "name")
        if order == "score":
            chosen.sort(key=lambda item: (score(item) is not None, score(item) or 0.0))
        elif order == "turns":
            chosen.sort(key=lambda item: -(turns(item) or 0.0))
        shown = chosen[:FEW] if many else chosen
        if len(shown) == len(items):
            return shown, ""
        if not failed:
            return shown, f"all {len(items)} passed; --all lists them"
        if len(failed) > len(shown):
            told = f"{len(shown)} of the {len(failed)} that did not pass, of {len(items)}"
            return shown, f"{told}; --failed lists them, --all every one"
        return shown, f"those that did not pass, {len(shown)} of {len(items)}; --all lists every one"


def row_options(command: Command) -> Command:
    """Give a command ``--all``, ``--failed`` and ``--sort``, as one argument ``rows``."""

    @wraps(command)
    def chosen(everything: bool, failed: bool, sort: str | None, **options: Any) -> Any:
        return command(rows=RowChoice(everything, failed, sort or ""), **options)

    orders = click.Choice(["name", "score", "turns"])
    told = f"List every one.  [default: of more than {SCREENFUL} the worst {FEW}]"
    return together(
        click.option("--sort", type=orders, help="The order of the list; scores from the lowest up."),
        click.option("--failed", is_flag=True, help="List only those that did not pass."),
        click.option("--all", "everything", is_flag=True, help=told),
    )(chosen)


def check_threshold(threshold: float | None, metric: str) -> None:
    """See that a threshold can be reached, before anything is played or graded.

    Raises:
        click.UsageError: the metric is the score, and the threshold is not a share.
    """
    if threshold is not None and metric == "toolsandbox.score" and not 0 <= threshold <= 1:
        raise click.UsageError(f"--threshold {threshold:g} cannot be; {metric} is from 0 to 1")


def exit_if_missed(report: "Report", threshold: float | None, judged: Any) -> None:
    """Exit with 1 if a threshold was missed, and say in one line by how much."""
    missed = report.missed(threshold, judged) if threshold is not None else None
    if missed:
        click.echo(f"sandbox-mcp: {missed}", err=True)
        raise click.exceptions.Exit(1)


@contextmanager
def terminated_as_interrupted() -> Generator[None]:
    """While the context is open, being asked to end, as schedulers do, is the same as Ctrl-C, which ends agents too."""

    def interrupt(*_: object) -> None:
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a shell
            signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.raise_signal(signal.SIGINT)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def of_each_log(
    paths: Sequence[Path], use: "Callable[[Trajectory], T]", unusable: list[Path]
) -> Iterator[tuple[Path, T]]:
    """What ``use`` makes of each log among ``paths``; one that cannot be read or used is named and noted instead.

    Raises:
        TrajectoryError: a path does not exist, or a folder holds no log.
    """
    from sandbox_mcp.trajectory import read_trajectory
    from sandbox_mcp.trajectory.finding import NOT_ALLOWED, find_logs

    logs = find_logs(paths)
    for told in logs.cut:
        click.echo(f"sandbox-mcp: {one_line(told)}", err=True)
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
    click.echo(f"sandbox-mcp: {one_line(why)}", err=True)
    unusable.append(path)


def print_json(value: object) -> None:
    """Print one JSON document."""
    click.echo(json_text(value))


bounds_option: Callable[[Command], Command] = click.option(
    "--bounds/--no-bounds",
    default=True,
    help="Also grade a refusing agent (floor) and the reference (ceiling) on the same scenarios.",
)


def with_bounds(report: "Report", find: "SuiteFinder", *, keep: bool) -> None:
    """Give a report its floor and its ceiling; with ``keep`` they are kept for later reports."""
    from sandbox_grader.bounds import bounded, kept_bounds

    from sandbox_mcp.authoring.rehearsal import RehearsalStage

    kept = kept_bounds(report, find.places) if keep else None
    bounded(report, find, lambda scenario: RehearsalStage(scenario).rehearse(scenario.solutions[0]).log, kept)


def print_table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows in columns, numbers right-aligned; a terminal gets a table that fits its width."""
    if not sys.stdout.isatty():
        click.echo(columns(headers, rows))
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for number, header in enumerate(headers):
        table.add_column(Text(header), justify="right" if is_numeric(rows, number) else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(shown(cell)) for cell in row))
    Console(file=behind(sys.stdout)).print(table)
