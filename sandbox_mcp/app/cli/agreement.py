"""``sandbox-mcp agreement``: how far people agree with each other, and with our metrics."""

from collections.abc import Mapping
from dataclasses import asdict
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sandbox_mcp.app.cli.logs import name_left_out
from sandbox_mcp.app.cli.options import FILE_HERE, PLACE, scenario_files
from sandbox_mcp.app.cli.printing import as_json, print_json, print_table

if TYPE_CHECKING:
    from sandbox_grader.grading.scores import Scores


@click.command()
@click.argument("sheets", nargs=-1, required=True, type=FILE_HERE)
@click.option("--run", "runs", multiple=True, type=PLACE, help="The sessions judged. May be repeated.")
@click.option(
    "--metric", "metrics", multiple=True, metavar="[COLUMN=]NAME", help="Compare with this instead of the usual ones."
)
@scenario_files
@as_json
def command(
    sheets: tuple[Path, ...], runs: tuple[Path, ...], metrics: tuple[str, ...], places: tuple[Path, ...], as_json: bool
) -> None:
    """Compare SHEETS that people filled in: with each other, and with --run also with what metrics say of the sessions.

    Prints, for each column, the share of equal answers, Cohen's kappa, and Pearson's correlation with its 95 %
    interval. A sheet is called by the name of its file; 'everyone' is the mean of all.
    """
    from sandbox_grader.reporting.annotation import METRICS, agreements, read_sheet

    if metrics and not runs:
        raise click.UsageError("--metric compares with sessions; name them with --run")
    read = [read_sheet(path) for path in sheets]
    if len({item.rater for item in read}) < len(read):
        raise click.UsageError("two sheets have files of one name, by which their people cannot be told apart")
    columns = dict.fromkeys(column for item in read for column in item.answers)
    chosen = _chosen(metrics, tuple(columns)) if metrics else METRICS
    scores, unreadable = _scores(runs, places)
    found = list(agreements(read, scores, chosen if runs else {}))
    if as_json:
        print_json([asdict(item) for item in found])
    else:
        told = attrgetter("column", "one", "other", "n", "share", "kappa", "pearson", "low", "high")
        headers = ("column", "one", "other", "n", "equal", "kappa", "pearson", "low", "high")
        print_table(headers, list(map(told, found)))
    if not found:
        click.echo("nothing to compare: no two sheets fill the same column, and no --run is named", err=True)
        raise click.exceptions.Exit(1)
    if unreadable:
        raise click.exceptions.Exit(2)


def _chosen(metrics: tuple[str, ...], columns: tuple[str, ...]) -> Mapping[str, list[str]]:
    """The metrics for each column; one that names no column is for all."""
    chosen: dict[str, list[str]] = {}
    for item in metrics:
        column, named, metric = item.rpartition("=")
        if named and column not in columns:
            raise click.UsageError(f"no sheet has a column {column!r}; there are: {', '.join(columns) or 'none'}")
        for name in (column,) if named else columns:
            chosen.setdefault(name, []).append(metric)
    return chosen


def _scores(runs: tuple[Path, ...], places: tuple[Path, ...]) -> "tuple[dict[str, Scores], bool]":
    """Scores of each session, by its key on a sheet; and whether a log could not be read."""
    from sandbox_grader.reporting.annotation import session_key
    from sandbox_grader.reporting.many import grade_many
    from sandbox_grader.reporting.scenario_of_log import SuiteFinder

    from sandbox_mcp.engine.trajectory import read_trajectory
    from sandbox_mcp.engine.trajectory.finding import find_logs

    if not runs:
        return {}, False
    report = grade_many(find_logs(runs), SuiteFinder(places), "strict", keep_spoiled=True)
    unreadable = name_left_out(report)
    return {session_key(read_trajectory(Path(item.path))): item for item in report.sessions}, unreadable
