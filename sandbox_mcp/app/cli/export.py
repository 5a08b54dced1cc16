"""``sandbox-mcp export``: our logs in the form of other tools."""

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox_mcp.app.cli.logs import LogPlace, name_left_out, of_each_log
from sandbox_mcp.app.cli.options import PLACE, RealRange, scenario_files
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.whole_files import write_whole

if TYPE_CHECKING:
    from sandbox_mcp.engine.trajectory import Trajectory


TRAINING = "training"
PAIRS = "preferences"
MARGIN = 0.5
KEPT_APART = "a model that learns from them can no longer be measured by them"


@click.command()
@click.argument("format_name", metavar="FORMAT")
@click.argument("paths", nargs=-1, required=True, type=LogPlace())
@click.option("-o", "--out", type=PLACE, help="A folder, or with training a file; stdout without it.")
@click.option("--min-score", type=RealRange(0, 1), help="With training: leave out what scored less.")
@click.option(
    "--form",
    type=click.Choice(["chat", "mtu-instruct", PAIRS]),
    help="With training: the form to write; preferences are pairs of a better and a worse session of one scenario. "
    "[default: chat]",
)
@click.option(
    "--margin",
    type=RealRange(0, 1),
    help="With --form preferences: by how much less the worse one scored. [default: 0.5]",
)
@click.option("--metric", metavar="NAME", help="With training: the metric that scores. [default: toolsandbox.score]")
@scenario_files
def command(
    format_name: str, paths: tuple[Path, ...], out: Path | None, places: tuple[Path, ...], **training: Any
) -> None:
    """Write recorded sessions as FORMAT: atif or openai-chat. PATHS are logs, folders or packs of them.

    FORMAT log takes sessions out of packs as they were written, a file each; pack puts logs into one; training grades
    sessions and writes those of at least --min-score for fine-tuning, as JSON Lines, or pairs of which the better one
    has at least that. A log that cannot be read is named, and the others are written; the exit code is then 2.
    """
    if format_name == TRAINING:
        _train(paths, out, places, **training)
        return
    if given := [f"--{name.replace('_', '-')}" for name, value in training.items() if value is not None]:
        raise click.UsageError(f"{', '.join(given)} goes with the format {TRAINING}")
    if format_name in ("log", "pack"):
        _copy(paths, out, packed=format_name == "pack")
        return
    from sandbox_grader.errors import GraderError
    from sandbox_grader.exporters import EXPORTERS, exporter

    if format_name not in EXPORTERS:
        known = ", ".join((*sorted(EXPORTERS), "log", "pack", TRAINING))
        raise GraderError(f"unknown export format {format_name!r}; known: {known}")
    write = exporter(format_name)
    if out:
        out.mkdir(parents=True, exist_ok=True)
    taken, unusable = set[str](), list[Path]()
    for path, made in of_each_log(paths, write, unusable):
        text, name = json.dumps(made, ensure_ascii=False) + "\n", _name_of_its_own(path, taken)
        if out:
            write_whole(out / f"{name}.json", text)
        else:
            click.echo(text, nl=False)
    if out:
        click.echo(f"exported {counted(len(taken), 'session')} to {out}", err=True)
    if unusable:
        raise click.exceptions.Exit(2)


def _train(
    paths: tuple[Path, ...],
    out: Path | None,
    places: tuple[Path, ...],
    min_score: float | None,
    form: str | None,
    margin: float | None,
    metric: str | None,
) -> None:
    """Write the sessions that are good enough, or pairs with a good one, and say why the others are not there."""
    from sandbox_grader.exporters.training import material, unfit
    from sandbox_grader.grading.scores import SCORE
    from sandbox_grader.reporting.counting import check_metric
    from sandbox_grader.reporting.many import grade_many
    from sandbox_grader.reporting.scenario_of_log import SuiteFinder
    from sandbox_scenarios import Suite

    from sandbox_mcp.engine.trajectory import read_trajectory
    from sandbox_mcp.engine.trajectory.finding import find_logs

    if min_score is None:
        raise click.UsageError("export training needs --min-score, from 0 (whatever was scored) to 1")
    if margin is not None and form != PAIRS:
        raise click.UsageError(f"--margin goes with --form {PAIRS}")
    name = metric or SCORE
    report = grade_many(find_logs(paths), SuiteFinder(places), "strict", metric=name)
    unreadable = name_left_out(report)
    check_metric(name, report.sessions)
    left = Counter[str]()
    fit: dict[tuple[str, str], list[tuple[Trajectory, float]]] = {}
    for scores in report.ordered:
        value = scores.value(name)
        if value is None:
            left[scores.reason or "not scored"] += 1
        elif value < min_score and form != PAIRS:
            left[f"scored less than {min_score:g}"] += 1
        elif reason := unfit(trajectory := read_trajectory(Path(scores.path))):
            left[reason] += 1
        else:
            fit.setdefault((scores.scenario, scores.variant), []).append((trajectory, value))
    made = material(form or "chat", fit.values(), min_score, MARGIN if margin is None else margin)
    lines = [json.dumps(line, ensure_ascii=False) + "\n" for line in made]
    if out:
        write_whole(out, "".join(lines))
    else:
        click.echo("".join(lines), nl=False)
    for why, number in left.most_common():
        click.echo(f"left out {counted(number, 'session')}: {why}", err=True)
    played = counted(len(report.sessions), "session") if form == PAIRS else len(report.sessions)
    click.echo(f"wrote {counted(len(lines), 'pair' if form == PAIRS else 'session')} of {played}", err=True)
    if built_in := {scores.scenario for scores in report.sessions} & set(Suite().names("*")):
        click.echo(f"{counted(len(built_in), 'scenario')} of the built-in suite among them: {KEPT_APART}", err=True)
    if unreadable:
        raise click.exceptions.Exit(2)
    if not lines:
        raise click.exceptions.Exit(1)


def _copy(paths: tuple[Path, ...], out: Path | None, *, packed: bool) -> None:
    """Write logs again as they are, as files of their own or as a pack."""
    from contextlib import nullcontext

    from sandbox_mcp.engine.trajectory.log import all_lines, log_bytes
    from sandbox_mcp.engine.trajectory.packs import PackWriter, can_be_packed

    if out is None:
        raise click.UsageError(f"export {'pack' if packed else 'log'} writes into a folder; name it with -o")
    out.mkdir(parents=True, exist_ok=True)
    unusable, taken = list[Path](), set[str]()
    with PackWriter(out, "pack") if packed else nullcontext() as pack:

        def write(trajectory: "Trajectory") -> None:
            path = Path(trajectory.path)
            lines = log_bytes(path)
            name = _name_of_its_own(path, taken)
            if pack:
                pack.add(name, lines if can_be_packed(lines) else all_lines(trajectory))
            else:
                write_whole(out / f"{name}.jsonl", lines)

        done = sum(1 for _ in of_each_log(paths, write, unusable))
    click.echo(f"exported {counted(done, 'session')} to {out}", err=True)
    if unusable:
        raise click.exceptions.Exit(2)


def _name_of_its_own(path: Path, taken: set[str]) -> str:
    """Name of a log among those that were written, as two runs may have logs of the same name."""
    name, number = path.stem, 1
    while name in taken:
        number += 1
        name = f"{path.stem}-{number}"
    taken.add(name)
    return name
