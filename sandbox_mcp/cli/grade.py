"""``sandbox-mcp grade``: scores for recorded sessions, whoever recorded them."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox_mcp.cli.options import (
    as_json,
    check_threshold,
    exit_if_missed,
    metric_option,
    print_json,
    print_table,
    scenario_files,
    threshold_options,
)
from sandbox_mcp.plurals import counted

DETAILS = ("counts", "failures", "errors", "kinds")

if TYPE_CHECKING:
    from sandbox_grader import Report
    from sandbox_grader.grading import Find


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--mode",
    type=click.Choice(["strict", "paper", "compat"]),
    default="strict",
    show_default=True,
    help="strict: holes closed; paper: as the papers say; compat: as the authors' code does.",
)
@metric_option
@threshold_options
@click.option("--out", type=click.Path(path_type=Path), help="Also write scores to FILE.json, .csv, .xml or .parquet.")
@click.option("--keep-spoiled", is_flag=True, help="Also score sessions that their user spoiled, see docs/users.md.")
@click.option(
    "--similarity",
    default="rouge-l",
    show_default=True,
    metavar="NAME",
    help="What ToolTalk compares free text by: exact, rouge-l, embedding (an extra), or embedding:MODULE:FUNCTION.",
)
@click.option("--explain", is_flag=True, help="Print each conversation with its milestones and the reasons.")
@scenario_files
@as_json
def command(
    paths: tuple[Path, ...],
    mode: Any,
    metric: str,
    threshold: float | None,
    threshold_by: str,
    out: Path | None,
    explain: bool,
    keep_spoiled: bool,
    similarity: str,
    places: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Score recorded sessions: PATHS are logs, or folders of them.

    Needs no model, no server and no network. Logs that cannot be read are named, and the others graded; the exit code
    is then 2.
    """
    from sandbox_grader.conversation import conversation
    from sandbox_grader.grading import grade_logs
    from sandbox_grader.report import check_metric

    from sandbox_mcp.trajectory import read_trajectory
    from sandbox_mcp.trajectory.log import find_logs

    check_threshold(threshold, metric)
    logs = find_logs(paths)
    options: dict[str, Any] = {"metric": metric, "keep_spoiled": keep_spoiled, "similarity": similarity}
    report = grade_logs(logs, finder(places), mode, skip_unreadable=True, **options)
    for told in (*report.warnings, *(item.reason for item in report.unreadable)):
        click.echo(f"sandbox-mcp: {told}", err=True)
    check_metric(metric, report.sessions)
    if out:
        report.write(out, threshold)
    if as_json:
        print_json(report.to_json())
    elif explain:
        unreadable = {item.path for item in report.unreadable}
        graded = [path for path in logs if str(path) not in unreadable]
        for path, scores in zip(graded, report.sessions, strict=True):
            click.echo(conversation(read_trajectory(path)))
            click.echo(scores.explain())
    elif report.sessions:
        _print_scores(report)
    if report.unreadable:
        raise click.exceptions.Exit(2)
    exit_if_missed(report, threshold if report.sessions else None, threshold_by)


def finder(places: tuple[Path, ...]) -> "Find":
    """A look-up that gives None for scenarios that this installation does not have."""
    from sandbox_scenarios import Suite, UnknownScenarioError

    suite = Suite(places)

    def find(name: str) -> Any:
        try:
            return suite.get(name)
        except UnknownScenarioError:
            return None

    return find


def _print_scores(report: "Report") -> None:
    from sandbox_grader.report import why_not
    from sandbox_grader.wording import certainty

    measured = (report.metric, "toolsandbox.turn_count", "tooltalk.recall", "tooltalk.precision")
    headers = [report.metric.removeprefix("toolsandbox."), "turns", "recall", "precision"]
    rows = [(item.session, *map(item.number, measured), why_not(item, report.metric) or "") for item in report.sessions]
    print_table(("session", *headers, "not scored because"), rows)
    for table in certainty(report):
        click.echo()
        print_table(table.headers, table.rows)
    summary = report.summary()
    if (mean := report.score) is not None:
        floor = summary["refusal"] if report.metric == "toolsandbox.score" else None
        refusing = "" if floor is None else f"; an agent that refuses everything would get {floor:.3f}"
        click.echo(
            f"\n{counted(summary['counts']['scored'], 'scored session')}, mean {headers[0]} {mean:.3f}"
            f"{refusing} (mode {report.mode})"
        )
    if spoiled := summary["counts"]["spoiled"]:
        click.echo(f"left out as spoiled by the user: {counted(spoiled, 'session')}; --keep-spoiled scores these too")
    for family, values in summary["families"].items():
        if family != "toolsandbox":
            by = f" (text by {report.similarity})" if family == "tooltalk" else ""
            click.echo(f"{family}{by}: {', '.join(_figures(values))}")


def _figures(values: Any, name: str = "") -> Iterator[str]:
    """The main figures of a summary as ``name value``; counts and error classes are for --json."""
    for key, value in values.items():
        full = f"{name} {key}".strip()
        if isinstance(value, dict) and key not in DETAILS:
            yield from _figures(value, full)
        elif isinstance(value, float):
            yield f"{full} {value:.3f}"
