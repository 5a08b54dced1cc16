"""``sandbox-mcp table``: the tables of the papers, filled from runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox_mcp.app.cli import warn
from sandbox_mcp.app.cli.logs import name_left_out
from sandbox_mcp.app.cli.options import MODES, quiet_option, scenario_files
from sandbox_mcp.app.cli.printing import as_json, print_json
from sandbox_mcp.app.cli.progress import counting

if TYPE_CHECKING:
    from sandbox_grader.grading.metric import Mode
    from sandbox_grader.papers.shared.table import LabelledRun


@click.command()
@click.argument("paper", metavar="[PAPER[/TABLE]]", default="")
@click.argument("runs", nargs=-1, metavar="[[LABEL=]RUN]...")
@click.option("--list", "listing", is_flag=True, help="List the tables, and which runs each needs.")
@click.option(
    "--format", "form", type=click.Choice(["md", "csv", "html", "latex"]), default="md", help="How to write the tables."
)
@click.option("--mode", type=MODES, help="How to grade. [default: as each table says, mostly compat]")
@click.option(
    "--all", "everything", is_flag=True, help="Show every row, also the printed ones of models that no run played."
)
@quiet_option
@scenario_files
@as_json
def command(
    paper: str,
    runs: tuple[str, ...],
    listing: bool,
    form: str,
    mode: Any,
    everything: bool,
    quiet: bool,
    places: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Print the tables of PAPER in its own rows and columns, for any RUNS.

    RUNS are folders of logs, or files that 'grade --json' wrote; LABEL= names a row, which otherwise has the name of
    the model. Every figure comes with its 95 % interval and, where there is one, with the printed figure. Cells that
    the runs leave empty say which command fills them. Without RUNS the printed figures are shown. The tables of
    'breakdown' belong to no paper: runs of any kind by category, calls, turns, tools, world and variant, and what they
    missed and why.
    """
    from sandbox_grader.papers import PAPERS, paper_tables
    from sandbox_grader.papers.shared.forms import FORMS

    if not paper and not listing:
        raise click.UsageError(f"table takes the name of a paper: {', '.join(PAPERS)}; or --list")
    tables = [table for name in ([paper] if paper else PAPERS) for table in paper_tables(name)]
    if listing and as_json:
        told = ("asked", "title", "needs", "command", "mode")
        shown = ({name: getattr(table, name) for name in told} for table in tables)
        columns = ([column.name for column in table.columns] for table in tables)
        print_json([{**item, "columns": names} for item, names in zip(shown, columns, strict=True)])
        return
    if listing:
        for table in tables:
            click.echo(f"{table.asked}: {table.title}\n    needs {table.needs}\n    {table.command}")
        return
    if not runs and not any(table.printed for table in tables):
        raise click.UsageError(f"{paper!r} has no printed figures to show; name runs to fill it from")
    graded = _Grading(runs, places, quiet)
    filled = [table.filled(graded.by(mode or table.mode)) for table in tables]
    if as_json:
        print_json([table.to_json() for table in filled])
    else:
        click.echo(FORMS[form](filled, everything=everything), nl=False)
    # a file for a spreadsheet has no place for remarks, so they go beside it
    for table in filled if form == "csv" and not as_json else ():
        for missing in table.missing:
            warn(f"{table.table.asked}: {missing}")
    if graded.unreadable:
        raise click.exceptions.Exit(2)


class _Grading:
    """The runs that a command line names, graded once in each mode asked for."""

    def __init__(self, runs: Sequence[str], places: tuple[Path, ...], quiet: bool) -> None:
        from sandbox_grader.reporting.scenario_of_log import SuiteFinder

        self._find = SuiteFinder(places)
        self._quiet = quiet
        self._runs = [_labelled(run) for run in runs]
        self._graded: dict[Mode, list[LabelledRun]] = {}
        self.unreadable = False

    def by(self, mode: "Mode") -> "Sequence[LabelledRun]":
        """The runs, graded in a mode.

        Raises:
            TrajectoryError: a run has no log.
            GraderError: a file holds no scores.
        """
        if mode not in self._graded:
            self._graded[mode] = [self._grade(label, path, mode) for label, path in self._runs]
        return self._graded[mode]

    def _grade(self, label: str, path: Path, mode: "Mode") -> "LabelledRun":
        from sandbox_grader.papers.shared.table import LabelledRun
        from sandbox_grader.reporting.grade_logs import read_report
        from sandbox_grader.reporting.many import grade_many

        from sandbox_mcp.engine.trajectory.finding import find_logs

        if path.suffix == ".json":
            report = read_report(path, self._find, mode)
            if report.mode != mode:
                told = f"{path} was graded in mode {report.mode}, and is shown so where {mode} is asked for"
                warn(told)
        else:
            watch = counting("graded", quiet=self._quiet)
            report = grade_many(find_logs([path]), self._find, mode, name=str(path), watch=watch)
        if not self._graded:  # the same logs are missing in every mode
            self.unreadable |= name_left_out(report)
        return LabelledRun(report, label)


def _labelled(run: str) -> tuple[str, Path]:
    """The label and the place of ``LABEL=RUN``; if a file has that very name, it is meant."""
    label, equals, place = run.partition("=")
    if equals and label and not Path(run).exists():
        return label, Path(place)
    return "", Path(run)
