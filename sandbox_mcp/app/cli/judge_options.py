"""Options that name a model as a judge beside the grader, and what is printed of its opinion."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox_mcp.app.cli.options import FILE, together
from sandbox_mcp.app.cli.printing import print_table
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.shown import one_line

if TYPE_CHECKING:
    from sandbox_grader import Report
    from sandbox_grader.reporting.many import SuiteFinder

    from sandbox_mcp.app.run.judging import Judged

judge_options = together(
    click.option("--judge", metavar="MODEL", help="Also ask a model what replies state; it decides nothing."),
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
"""The options that :func:`chosen_judge` reads."""


def chosen_judge(options: Mapping[str, Any], logs: Sequence[Path], find: "SuiteFinder") -> "Judged | None":
    """What the judge that the options name says of every session with a scenario; None where they name none.

    Raises:
        RunError: it cannot be asked, gives no answer, or its answers cannot be kept.
    """
    if not options["judge"]:
        return None
    from anyio import run

    from sandbox_mcp.app.run.judging import judged
    from sandbox_mcp.engine.trajectory import TrajectoryError, read_trajectory
    from sandbox_mcp.play.models.asking import EndpointSettings

    sessions = list[tuple[str, Any, Any]]()
    for path in logs:
        try:
            trajectory = read_trajectory(path)
        except TrajectoryError:
            continue  # told already
        if (scenario := find(trajectory.started.scenario)) is not None and trajectory.started.world is not None:
            sessions.append((trajectory.started.session, scenario, trajectory))
    endpoint = EndpointSettings(options["judge"], options["judge_base_url"], options["judge_api_key_env"])
    return run(judged, sessions, endpoint, options["judge_answers"])


def print_judged(report: "Report", judged: "Judged") -> None:
    """Print the judge's column, its agreement with the grader, and where they differ."""
    shares = judged.shares()
    rows = [
        (item.session, item.number("toolsandbox.score"), shares[item.session])
        for item in report.sessions
        if item.session in shares
    ]
    click.echo()
    print_table(("session", "score", f"judge {judged.model}: facts stated"), rows)
    agreed = "unknown" if judged.agreement is None else f"{judged.agreement:.3f}"
    facts = counted(len(judged.opinions), "fact")
    click.echo(f"\n{facts}, {judged.asked} asked now, the others kept; agreement with the grader {agreed}")
    for item in judged.differences:
        heard, said = ("stated" if word else "not stated" for word in (item.told.stated, item.stated))
        click.echo(
            f"{item.session}, {item.told.milestone}, {item.told.fact}: grader {heard} ({item.told.why}), judge {said}"
            f" ({one_line(item.why)})"
        )
