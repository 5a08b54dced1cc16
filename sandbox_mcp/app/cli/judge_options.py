"""Options that settle doubts, by a model as a judge or by a sheet that people filled, and the lines printed of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox_mcp.app.cli.options import FILE, FILE_HERE, together
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.shown import one_line

if TYPE_CHECKING:
    from sandbox_grader import Report
    from sandbox_grader.reporting.scenario_of_log import SuiteFinder

    from sandbox_mcp.app.run.judging import Judged

judge_options = together(
    click.option(
        "--verdicts",
        type=FILE_HERE,
        multiple=True,
        metavar="SHEET",
        help="Settle doubts by a sheet that 'annotate --doubts' wrote and people filled. May be repeated.",
    ),
    click.option("--judge", metavar="MODEL", help="Ask a model about the facts in doubt, one question each."),
    click.option(
        "--judge-base-url", metavar="URL", help="Endpoint of that model. [default: OPENAI_BASE_URL, or OpenAI's]"
    ),
    click.option(
        "--judge-api-key-env",
        metavar="NAME",
        help="Variable that holds the key of that endpoint. [default: OPENAI_API_KEY]",
    ),
    click.option(
        "--judge-answers",
        type=FILE,
        default=Path("judge-answers.ndjson"),
        help="File of the judge's answers: nothing in it is asked again.",
    ),
)
"""The options that :func:`settled_by` reads."""


def settled_by(
    options: Mapping[str, Any], report: "Report", find: "SuiteFinder", *, keep_spoiled: bool
) -> "Judged | None":
    """Settle the doubts of a report as the options say; the judge's answers, None where they name no judge.

    Raises:
        GraderError: a sheet cannot be used.
        RunError: the judge cannot be asked, gives no answer, or its answers cannot be kept.
    """
    if not options["judge"] and not options["verdicts"]:
        return None
    from sandbox_grader.reporting.doubts import doubtful, read_verdicts, settle

    sheets = [read_verdicts(path) for path in options["verdicts"]]
    for sheet in sheets:
        settle(report, doubtful(report, find), sheet, keep_spoiled=keep_spoiled)
    if not options["judge"]:
        return None
    from anyio import run

    from sandbox_mcp.app.run.judging import judged
    from sandbox_mcp.play.models.asking import EndpointSettings

    sessions = doubtful(report, find)
    endpoint = EndpointSettings(options["judge"], options["judge_base_url"], options["judge_api_key_env"])
    found = run(judged, sessions, endpoint, options["judge_answers"])
    settle(report, sessions, found.answers, keep_spoiled=keep_spoiled)
    return found


def print_judged(judged: "Judged") -> None:
    """Print what a judge settled, and how."""
    doubts = counted(len(judged.opinions), "doubt")
    click.echo(f"\njudge {judged.model}: {doubts}, {judged.asked} asked now, the others kept")
    for item in judged.opinions:
        said = {True: "stated", False: "not stated", None: "no usable answer, stays in doubt"}[item.stated]
        click.echo(f"{item.session}, {item.doubt.milestone}, {item.doubt.fact}: {said} ({one_line(item.why)})")
