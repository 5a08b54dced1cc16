"""Options that several commands share, and what they do."""

import math
import signal
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from sandbox_mcp.app.cli import warn
from sandbox_mcp.engine.whole_files import check_writable

if TYPE_CHECKING:
    from sandbox_grader import Report
    from sandbox_grader.reporting.scenario_of_log import SuiteFinder
    from sandbox_scenarios import Scenario

    from sandbox_mcp.engine.trajectory import Trajectory

Command = Callable[..., Any]


class LocalPath(click.Path):
    """A path of this machine; a URL, which would otherwise be taken for a folder of that name, is refused.

    So is an empty name, as of a shell's variable not set, which would be taken for the working directory.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path."""
        if "://" in str(value):
            self.fail(f"{value!r} is a URL, and this is kept on this machine; expected a path", param, ctx)
        if not str(value):
            self.fail("the name is empty; '.' is the folder you are in", param, ctx)
        return super().convert(value, param, ctx)


class _WrittenFile(LocalPath):
    """A file that a command writes at its end; refused at once where that cannot be done."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, dir_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path."""
        path = super().convert(value, param, ctx)
        try:
            return check_writable(path)
        except OSError as error:
            self.fail(f"{str(path)!r} cannot be written: {error.strerror}", param, ctx)


PLACE = LocalPath(path_type=Path)
FILE, FOLDER = LocalPath(path_type=Path, dir_okay=False), LocalPath(path_type=Path, file_okay=False)
WRITTEN = _WrittenFile()
PLACE_HERE = LocalPath(path_type=Path, exists=True)
FILE_HERE = LocalPath(path_type=Path, dir_okay=False, exists=True)
FOLDER_HERE = LocalPath(path_type=Path, file_okay=False, exists=True)
"""Types of options that name a file or a folder; ``HERE`` where it has to exist."""
MODES = click.Choice(["strict", "paper", "compat"])
"""How sessions can be graded."""
mode_option: Callable[[Command], Command] = click.option(
    "--mode",
    type=MODES,
    default="strict",
    help="How to grade. strict: the papers' ideas, holes closed; paper: as the papers say; compat: as the authors' "
    "code does.",
)
quiet_option: Callable[[Command], Command] = click.option("-q", "--quiet", is_flag=True, help="Show no progress.")


class RealRange(click.FloatRange):
    """A number of a range; ``nan``, which click takes for one of any range, is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number."""
        figure = super().convert(value, param, ctx)
        if math.isnan(figure):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return figure


class OneValue(click.Option):
    """An option of one value that people may take for one of several, so that a second one is refused."""

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Have click collect everything given; by itself it would take the last and say nothing."""
        self.multiple = True
        try:
            super().add_to_parser(parser, ctx)
        finally:
            self.multiple = False

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> Any:
        """The value, if it is one."""
        found = opts.get(str(self.name))
        if isinstance(found, list):
            given = list(dict.fromkeys(cast("list[str]", found)))
            if len(given) > 1:
                told = " and ".join(map(repr, given))
                raise click.UsageError(
                    f"{self.opts[0]} takes one value, not {told}; give the command once for each", ctx
                )
            opts = {**opts, str(self.name): given[0]}
        return super().consume_value(ctx, opts)


def together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Several options as one decorator, in the order in which ``--help`` lists them."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


def use_worlds(context: click.Context, _: click.Parameter, paths: Sequence[Path]) -> Sequence[Path]:
    """Let the worlds in these files be found by name, here and in worker processes."""
    if paths:
        from sandbox_mcp.engine.worlds import use_file

        for path in paths:
            if path.suffix != ".py" and not path.exists():
                told = f"{str(path)!r} is not a file; worlds are found by name, and world:{path} selects scenarios"
                raise click.UsageError(told)
            found = use_file(path)
            names: list[str] = context.meta.setdefault(WORLDS_FOUND, [])
            names += (world.name for world in found)
            if path.suffix == ".jsonl":
                from sandbox_mcp.engine.worlds.recorded import is_live, live_world_on

                names += [live_world_on(path).name] if is_live(path) else []
    return paths


def worlds_in_files(context: click.Context) -> tuple[str, ...]:
    """The names of the worlds in the files that were given as --world."""
    return tuple(context.meta.get(WORLDS_FOUND, ()))


world_files: Callable[[Command], Command] = click.option(
    "--world",
    multiple=True,
    type=PLACE,
    callback=use_worlds,
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


WORLD_FILES = (".py", ".jsonl")
"""How the names of files end that have worlds: those that declare them, and tapes."""
WORLDS_FOUND = f"{__name__}.found"
"""Where a command's context keeps the names of the worlds in the files given as --world."""
WORLDS_GIVEN = f"{__name__}.worlds"
"""Where a command's context keeps what was given as --world."""


def _named_worlds(context: click.Context, parameter: click.Parameter, given: Sequence[str]) -> str:
    """Let the worlds in files be found by name; the one name or pattern that was given beside them, if any."""
    files = [Path(item) for item in given if item.endswith(WORLD_FILES)]
    named = [item for item in given if not item.endswith(WORLD_FILES)]
    use_worlds(context, parameter, files)
    if len(named) > 1:
        raise click.UsageError("--world takes one name; a pattern such as * stands for several")
    context.meta[WORLDS_GIVEN] = (*(path.absolute() for path in files), *named)
    if named or not files:
        return next(iter(named), "")
    found = worlds_in_files(context)  # a file stands for the world in it
    live = [name for name in found if name.startswith("live_")]
    if len(found) - len(live) > 1:
        told = f"the files given as --world have several worlds ({', '.join(found)})"
        raise click.UsageError(f"{told}; add --world NAME for the one that is meant")
    return (live or [*found])[0]


of_world: Callable[[Command], Command] = click.option(
    "--world",
    multiple=True,
    metavar="NAME|FILE",
    callback=_named_worlds,
    is_eager=True,
    help="Only scenarios of this world, or of worlds by a pattern; or a file of your own: Python that declares one, or "
    "a tape.",
)


def scenarios_of_world(command: Command) -> Command:
    """``--scenarios`` and ``--world`` for commands that list: a user's own scenarios, or those of one world."""
    return of_world(_scenario_files(command))


def scenario_files(command: Command) -> Command:
    """``--scenarios`` and ``--world``: where a user's own scenarios and worlds are."""
    return world_files(_scenario_files(command))


metric_option: Callable[[Command], Command] = click.option(
    "--metric",
    cls=OneValue,
    default="toolsandbox.score",
    metavar="FAMILY.NAME",
    help="What counts, such as tooltalk.success: in means, pass@k, pass^k, comparisons and the threshold.",
)


threshold_options = together(
    click.option(
        "--threshold",
        type=float,
        help="Exit with 1 below this, or if a session has no score.",
    ),
    click.option(
        "--threshold-by",
        type=click.Choice(["mean", "low"]),
        default="mean",
        help="Hold the threshold against the mean, or the lower end of its 95 % interval.",
    ),
)
"""The options that :func:`exit_if_missed` reads."""


def learn_servers(places: Sequence[Path]) -> None:
    """Start the live servers of scenario files that are still unknown, and keep what they say of themselves."""
    if places:
        from sandbox_mcp.app.authoring.learning import learn

        learn(places, lambda told: click.echo(told, err=True))


def check_threshold(threshold: float | None, threshold_by: str, metric: str) -> None:
    """See that a threshold can be reached and missed, before anything is played or graded.

    Raises:
        click.UsageError: it is not a number, or the metric is the score, and it is not a share; or there is none,
            and it is said what to hold it against.
    """
    if threshold is None and threshold_by != "mean":
        raise click.UsageError(f"--threshold-by {threshold_by} says how --threshold is held, which is missing")
    share = metric == "toolsandbox.score"
    if threshold is not None and (math.isnan(threshold) or (share and not 0 <= threshold <= 1)):
        told = f"{metric} is from 0 to 1" if share else "expected a number"
        raise click.UsageError(f"--threshold {threshold:g} cannot be used; {told}")


def exit_if_missed(reports: "Sequence[Report]", threshold: float | None, judged: Any) -> None:
    """Exit with 1 if a threshold was missed, and say in one line for each report by how much."""
    if threshold is None:
        return
    missed = [
        (report.name, told) for report in reports if report.sessions and (told := report.missed(threshold, judged))
    ]
    warn(*(f"{name}: {told}" if len(reports) > 1 else told for name, told in missed))
    if missed:
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


bounds_option: Callable[[Command], Command] = click.option(
    "--bounds/--no-bounds",
    default=True,
    help="Also show what a refusing agent (floor), a blind replay and the reference (ceiling) get there.",
)


def with_bounds(report: "Report", find: "SuiteFinder", *, keep: bool, starts: bool = False) -> None:
    """Give a report its floor, its blind replay and its ceiling; with ``keep`` they are kept for later reports.

    Live servers are started for the ceiling only with ``starts``, as where sessions were played just now.
    """
    from sandbox_grader.reporting.bounds import bounded, kept_bounds

    def solved(scenario: "Scenario") -> "Trajectory | None":
        from sandbox_mcp.play.session import rehearsal  # costs, and what is kept needs none

        return rehearsal.solved(scenario, starts=starts)

    bounded(report, find, solved, kept_bounds(report, find.places) if keep else None, find.own_names())
