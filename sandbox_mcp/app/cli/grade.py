"""``sandbox-mcp grade``: scores for recorded sessions, whoever recorded them."""

import gc
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox_mcp.app.cli import warn
from sandbox_mcp.app.cli.judge_options import judge_options, print_judged, settled_by
from sandbox_mcp.app.cli.logs import LogPlace, unreadable_lines, without_scenario
from sandbox_mcp.app.cli.options import (
    WRITTEN,
    bounds_option,
    check_threshold,
    exit_if_missed,
    metric_option,
    mode_option,
    quiet_option,
    scenario_files,
    threshold_options,
    with_bounds,
)
from sandbox_mcp.app.cli.printing import RowChoice, as_json, print_json, print_table, row_options
from sandbox_mcp.app.cli.progress import counting
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.plurals import counted

if TYPE_CHECKING:
    from sandbox_grader import Report
    from sandbox_grader.reporting.scenario_of_log import SuiteFinder


@click.command()
@click.argument("paths", nargs=-1, required=True, type=LogPlace())
@mode_option
@metric_option
@threshold_options
@click.option("-o", "--out", type=WRITTEN, help="Also write scores to FILE.json, .csv, .xml or .parquet.")
@click.option("--keep-spoiled", is_flag=True, help="Also score sessions that their user spoiled, see docs/users.md.")
@click.option(
    "--similarity",
    default="rouge-l",
    metavar="NAME",
    help="What ToolTalk compares free text by: exact, rouge-l, embedding (an extra), or embedding:MODULE:FUNCTION.",
)
@click.option("--keep/--no-keep", default=True, help="Keep scores beside the logs of large folders.")
@click.option("--verify", is_flag=True, help="Score only sessions that replay as they were logged, see 'replay'.")
@click.option("--jobs", type=click.IntRange(1), help="Processes that grade.  [default: one per core]")
@row_options
@bounds_option
@quiet_option
@judge_options
@click.option("--gallery", is_flag=True, help="Also show the clearest example of every class of error.")
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
    gallery: bool,
    keep_spoiled: bool,
    similarity: str,
    keep: bool,
    verify: bool,
    jobs: int | None,
    listed: RowChoice,
    bounds: bool,
    quiet: bool,
    places: tuple[Path, ...],
    as_json: bool,
    **judge: Any,
) -> None:
    """Score recorded sessions: PATHS are logs, or folders of them.

    Needs no model, no server and no network. Of many sessions only the worst are listed. Logs that cannot be read are
    named, and the others graded; the exit code is then 2.
    """
    from sandbox_grader.grading.conversation import conversation
    from sandbox_grader.reporting.counting import check_metric, mixed
    from sandbox_grader.reporting.gallery import gallery as examples
    from sandbox_grader.reporting.kept import without_collection
    from sandbox_grader.reporting.many import grade_many
    from sandbox_grader.reporting.scenario_of_log import SuiteFinder
    from sandbox_grader.reporting.tables import EXPLAINING, check_form

    from sandbox_mcp.app.run.cost import with_costs
    from sandbox_mcp.engine.trajectory import read_trajectory
    from sandbox_mcp.engine.trajectory.finding import find_logs

    check_threshold(threshold, threshold_by, metric)
    if out:  # said before anything is graded
        check_form(out)
    with without_collection():
        logs = find_logs(paths)
    options: dict[str, Any] = {"metric": metric, "keep_spoiled": keep_spoiled, "similarity": similarity}
    find = SuiteFinder(places)
    details = as_json or explain or gallery or (out is not None and out.suffix in EXPLAINING)
    watch = counting("graded", quiet=quiet)
    with _new_scores_told(logs.folders, quiet=quiet):
        report = grade_many(logs, find, mode, **options, jobs=jobs, keep=keep, details=details, watch=watch)
    if verify:
        _verify(report, find)
    gc.freeze()  # what was read stays to the end, so that the collector need not look through it again and again
    judged = settled_by(judge, report, find, keep_spoiled=keep_spoiled)
    _tell_scores(report)
    report.warnings += mixed(report.sessions)
    with_costs(report, logs, paths)
    warn(*report.warnings, *unreadable_lines(report))
    if not as_json and (told := without_scenario(report)):
        warn(told)
    check_metric(metric, report.sessions)
    if bounds:
        with_bounds(report, find, keep=keep)
    if out:
        report.write(out, threshold)
    if as_json:
        errors = {"gallery": [item.to_json() for item in examples(report.sessions)]} if gallery else {}
        print_json({**report.to_json(), **({"judge": judged.to_json()} if judged else {}), **errors})
    elif explain:
        unreadable = {item.path for item in report.unreadable}
        graded = [path for path in logs if str(path) not in unreadable]
        for path, scores in zip(graded, report.sessions, strict=True):
            click.echo(conversation(read_trajectory(path)))
            click.echo(scores.explain())
    elif report.sessions:
        with without_collection():
            _print_scores(report, listed, gallery=gallery)
    if judged and not as_json:
        print_judged(judged)
    if report.unreadable:
        raise click.exceptions.Exit(2)
    exit_if_missed([report], threshold, threshold_by)


@contextmanager
def _new_scores_told(folders: Iterable[Path], *, quiet: bool) -> Generator[None]:
    """Say so where scores are kept in a folder that had none."""
    from sandbox_grader.reporting.kept import PLACE

    new = [place for folder in folders if not (place := folder / PLACE).exists()]
    yield
    if made := [str(place) for place in new if place.exists() and not quiet]:
        click.echo(f"scores are kept in {', '.join(made)}; --no-keep writes nothing there", err=True)


def _verify(report: "Report", find: "SuiteFinder") -> None:
    """Take sessions out of the scores whose log is not what their scenario and its tools make of them."""
    from dataclasses import replace

    from sandbox_mcp.app.cli.replay import LogReplays
    from sandbox_mcp.engine.trajectory import read_trajectory

    replays = LogReplays(find)
    for place, scores in enumerate(report.sessions):
        try:
            first = next(iter(replays.differences(read_trajectory(scores.path))), None)
        except SandboxError as error:
            report.sessions[place] = replace(scores, reason=f"not verified: {error}")
            continue
        if first is not None:
            told = f"not verified: event {first.seq}, {first.what}: recorded {first.recorded[:80]}"
            report.sessions[place] = replace(scores, reason=f"{told}, replayed {first.replayed[:80]}")


def _tell_scores(report: "Report") -> None:
    """Tell OpenTelemetry of every session that was graded, where scores are exported."""
    from sandbox_mcp.play.telemetry import exporting, scored

    if exporting() is None:
        return
    from sandbox_mcp.engine.trajectory.log import log_bytes, parse_trajectory

    for scores in report.sessions:
        first, _, _ = log_bytes(Path(scores.path)).partition(b"\n")
        scored(parse_trajectory(first + b"\n", scores.path).started, scores.figures)


def _print_scores(report: "Report", choice: RowChoice, *, gallery: bool) -> None:
    from sandbox_grader.reporting.wording import (
        alike,
        attacked,
        bounds_of,
        certainty,
        coping,
        family_lines,
        faulty,
        honesty,
        of_tapes,
    )

    metric = report.metric.removeprefix("toolsandbox.")
    _print_sessions(report, choice, metric)
    for table in (*certainty(report), *faulty(report), *attacked(report)):
        click.echo()
        print_table(table.headers, table.rows)
    summary = report.summary()
    counts, mean = summary["counts"], report.score
    if mean is None and counts["unscored"]:
        click.echo(f"\n0 of {counted(counts['unscored'], 'session')} scored, no {metric}, mode {report.mode}")
    if mean is not None:
        sides = ", ".join(
            f"{name} -" if side is None else f"{name} {side:.3f}" for name, side in bounds_of(report).items()
        )
        told = f" ({sides})" if sides else ""
        whole = counts["scored"] + counts["unscored"]
        scored = (
            f"{counts['scored']} of {counted(whole, 'session')} scored"
            if counts["unscored"]
            else counted(counts["scored"], "scored session")
        )
        click.echo(f"\n{scored}, mean {metric} {mean:.3f}{told}, mode {report.mode}")
    if spoiled := summary["counts"]["spoiled"]:
        click.echo(f"left out as spoiled by the user: {counted(spoiled, 'session')}; --keep-spoiled scores these too")
    for line in (*alike(report), *of_tapes(report), *coping(report), *honesty(report)):
        click.echo(line)
    for line in family_lines(report, summary["families"], full=choice.everything):
        click.echo(line)
    if report.floor and report.ceiling:
        click.echo("in brackets: from what an agent that refuses everything gets to what the reference gets")
    if gallery:
        from sandbox_grader.reporting.gallery import gallery as examples

        click.echo()
        found = [
            (item.error, item.sessions, item.session, item.tool, item.reason) for item in examples(report.sessions)
        ]
        print_table(("error", "sessions", "for example", "tool", "why"), found)


def _print_sessions(report: "Report", choice: RowChoice, metric: str) -> None:
    """A row for every session to be shown, and what was left out."""
    from sandbox_grader.reporting.counting import why_not

    shown, left = choice.of(report.sessions, lambda item: item.value(report.metric), lambda item: item.course.replies)
    rows = [
        (
            item.session, item.number(report.metric), item.course.replies, item.number("tooltalk.recall"),
            item.number("tooltalk.precision"), why_not(item, report.metric) or "",
        )
        for item in shown
    ]  # fmt: skip
    headers = ("session", metric, "turns", "recall", "precision", "not scored because")
    width = len(headers) - all(not reason for *_, reason in rows)  # a screen has no room for an empty column
    if rows:
        print_table(headers[:width], [row[:width] for row in rows])
    if left:
        click.echo(left)
