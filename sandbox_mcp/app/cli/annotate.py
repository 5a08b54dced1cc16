"""``sandbox-mcp annotate``: a sheet on which people judge sessions by hand."""

import random
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sandbox_mcp.app.cli.logs import of_each_log
from sandbox_mcp.app.cli.options import PLACE, WRITTEN, scenario_files
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.whole_files import write_whole

if TYPE_CHECKING:
    from sandbox_grader.reporting.scenario_of_log import SuiteFinder


@click.command()
@click.argument("runs", nargs=-1, required=True, type=PLACE)
@click.option("-o", "--out", required=True, type=WRITTEN, help="The CSV to write.")
@click.option("--doubts", is_flag=True, help="Only the facts in doubt, one a row, for 'grade --verdicts'.")
@click.option("--sample", type=click.IntRange(1), help="Only so many sessions, drawn at random.")
@click.option("--ask", multiple=True, metavar="COLUMN", help="Ask for this instead of the usual. May be repeated.")
@click.option("--seed", type=int, default=0, help="Decides order and sample.")
@scenario_files
def command(
    runs: tuple[Path, ...],
    out: Path,
    doubts: bool,
    sample: int | None,
    ask: tuple[str, ...],
    seed: int,
    places: tuple[Path, ...],
) -> None:
    """Write a sheet with the sessions of RUNS for people to judge; who played is not on it.

    Give every person a copy, under a name of their own. Columns are filled with yes and no, or with numbers; what is
    left empty does not count. With --doubts the sheet has exactly the facts that the grader is in doubt about;
    filled with yes and no it settles them: 'grade --verdicts SHEET'. 'agreement' compares the sheets with each
    other and with what metrics say.
    """
    from sandbox_grader.reporting.annotation import KNOWN, QUESTIONS, sheet
    from sandbox_grader.reporting.scenario_of_log import SuiteFinder, placed

    if doubts:
        _write_doubts(runs, out, SuiteFinder(places))
        return

    if clash := [name for name in ask if name in KNOWN]:
        raise click.UsageError(f"{clash[0]!r} is a column that every sheet has; ask under another name")
    asked, unusable = tuple(dict.fromkeys(ask)) or tuple(QUESTIONS), list[Path]()
    sessions = [trajectory for _, trajectory in of_each_log(runs, lambda item: item, unusable)]
    if sample is not None and sample < len(sessions):
        sessions = random.Random(seed).sample(sessions, sample)  # noqa: S311 - a sample, not a secret
    find = SuiteFinder(places)
    rows = [(item, placed(item, find)[1]) for item in sessions]
    write_whole(out, sheet(rows, asked, seed))
    for column in asked:
        click.echo(f"{column}: {QUESTIONS.get(column, 'as you agree upon')}", err=True)
    click.echo(f"wrote {counted(len(sessions), 'session')} to {out}", err=True)
    if unusable:
        raise click.exceptions.Exit(2)


def _write_doubts(runs: tuple[Path, ...], out: Path, find: "SuiteFinder") -> None:
    from sandbox_grader.reporting.doubts import doubt_sheet, doubtful
    from sandbox_grader.reporting.many import grade_many

    from sandbox_mcp.engine.trajectory.finding import find_logs

    report = grade_many(find_logs(runs), find, details=False)
    sessions = doubtful(report, find)
    write_whole(out, doubt_sheet(sessions))
    facts = counted(sum(len(item.facts) for item in sessions), "doubt")
    click.echo(
        f"wrote {facts} of {counted(len(report.sessions), 'session')} to {out}: fill 'stated' with yes or no", err=True
    )
    if report.unreadable:
        raise click.exceptions.Exit(2)
