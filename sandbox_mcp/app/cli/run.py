"""``sandbox-mcp run``: play scenarios with an agent, keep the logs, and sum up.

Policy: everything it needs is loaded only after the command line was understood. Results go to stdout, progress to
stderr, and no secret to either: keys are read from the environment.
"""

import re
import shlex
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from sandbox_mcp.app.cli import warn
from sandbox_mcp.app.cli.compare import comparisons_as_json, print_comparisons
from sandbox_mcp.app.cli.logs import STORED
from sandbox_mcp.app.cli.options import (
    WORLDS_GIVEN,
    WRITTEN,
    bounds_option,
    check_threshold,
    exit_if_missed,
    learn_servers,
    quiet_option,
    terminated_as_interrupted,
    threshold_options,
    with_bounds,
    worlds_in_files,
)
from sandbox_mcp.app.cli.printing import RowChoice, as_json, print_json, print_table, row_options
from sandbox_mcp.app.cli.progress import Display
from sandbox_mcp.app.cli.run_options import (
    GroupedCommand,
    config_option,
    help_all,
    key_in_file,
    options_from,
    run_options,
)
from sandbox_mcp.app.run.options import OPTIONS, RunOptions
from sandbox_mcp.engine.plurals import counted

if TYPE_CHECKING:
    from sandbox_grader import Report

NAMED_APART = ("selectors", "agent", "model", "out", "price")
RESULT = "the result"
ALSO = {
    "models": "the agent", "print_config": "how", "quiet": "how*",
    "threshold": RESULT, "threshold_by": f"{RESULT}*", "scores": RESULT, "sort": f"{RESULT}*", "failed": RESULT,
    "everything": RESULT, "bounds": f"{RESULT}*", "as_json": RESULT,
}  # fmt: skip
"""Group of each option that says nothing of the run itself; ``*`` for those that few need."""


def _joined(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> str | None:
    return ",".join(given) or None


@click.command(cls=GroupedCommand, also=ALSO)
@click.argument("selectors", nargs=-1)
@run_options("agent", required=True)
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME",
    help="Model that it asks; repeatable, a run each.",
)
@run_options("out", required=True)
@run_options(*(name for name in OPTIONS if name not in NAMED_APART))
@run_options("price", multiple=True, callback=_joined)
@config_option
@click.option("--print-config", is_flag=True, help="Print all that was given as such a file; play nothing.")
@threshold_options
@click.option("--scores", type=WRITTEN, help="Also write scores to FILE.json, .csv, .xml (JUnit), .md or .parquet.")
@row_options
@bounds_option
@quiet_option
@as_json
@help_all
def command(
    as_json: bool,
    threshold: float | None,
    threshold_by: str,
    listed: RowChoice,
    bounds: bool,
    scores: Path | None,
    models: tuple[str, ...],
    quiet: bool,
    print_config: bool,
    **given: Any,
) -> None:
    """Play scenarios with an agent, record every session, and sum up.

    SELECTORS are names, patterns such as 'late_*', category:NAME, family:NAME, extends:NAME, world:NAME, tier:NAME,
    tags such as 'hard:*', @FILE, or - for standard input; without any, your own files, or else suite:default, a mixture
    that takes the reference 500 calls. The same command again plays only what is missing. Exits with 1 if --threshold
    is missed, nothing was scored, the budget was not enough, or the first sessions all failed alike.
    """
    from sandbox_grader.grading.scores import SCORE
    from sandbox_grader.reporting.tables import EXPLAINING, check_form
    from sandbox_grader.reporting.wording import remarks

    from sandbox_mcp.app.benchmarks.mtu_bench.play import ROWS_METRIC

    options = options_from(given)
    if print_config:
        _print_config(options, models)
        return
    options = _in_worlds_given(options)
    learn_servers(() if options.tooltalk else options.scenarios)  # refused together
    if options.rows:
        bounds = False  # neither a refusing agent nor the reference has been played on rows
        options = replace(options, metric=ROWS_METRIC if options.metric == SCORE else options.metric)
    check_threshold(threshold, threshold_by, options.metric)
    if scores:
        check_form(scores)
    runs = _runs(models, options)
    reports: list[Report] = []
    for one in runs:
        if len(runs) > 1 and not quiet:
            click.echo(f"model {one.model}", err=True)
        details = scores is not None and scores.suffix in EXPLAINING
        report = _evaluated(one, quiet=quiet, everything=listed.everything, bounds=bounds, details=details)
        if scores:
            beside = scores.with_stem(f"{scores.stem}-{Path(report.name).name}")
            report.write(beside if len(runs) > 1 else scores, threshold)
        reports.append(report)
    if len(runs) > 1:
        _print_models(models, reports, as_json=as_json)
    elif as_json:
        print_json(reports[0].summary())
    else:
        _print_report(reports[0], listed, families=bool(options.rows))
    for report in reports:
        for remark in remarks(report):
            click.echo(f"{report.name}: {remark}" if len(runs) > 1 else remark, err=True)
    _say_where_to_look(reports, options, quiet=quiet)
    exit_if_missed(reports, threshold, threshold_by)
    unscored = (report.score is None and len(report.filled) < len(report.sessions) for report in reports)
    if any(report.stopped for report in reports) or any(unscored):
        raise click.exceptions.Exit(1)


def _say_where_to_look(reports: "Sequence[Report]", options: RunOptions, *, quiet: bool) -> None:
    """Name the command that shows why sessions of these runs did not pass, where some did not."""
    folders = [report.name for report in reports if report.failures]
    if quiet or not folders or options.rows or options.tooltalk:
        return
    more: list[str] = []
    for place in options.scenarios:
        more += ["--scenarios", str(place)]
    for place in click.get_current_context().meta.get(WORLDS_GIVEN, ()):
        more += ["--world", str(place)] if isinstance(place, Path) else []
    line = shlex.join(["sandbox-mcp", "report", *folders, "-o", "why.html", *more])
    click.echo(f"why some did not pass, as a page: {line}", err=True)


def _in_worlds_given(options: RunOptions) -> RunOptions:
    """Options in which a file with a world means that world, where they select nothing else."""
    worlds = worlds_in_files(click.get_current_context())
    if not worlds or options.selectors or options.scenarios:
        return options
    return replace(options, selectors=tuple(f"world:{name}" for name in worlds))


def _print_config(options: RunOptions, models: Sequence[str]) -> None:
    """Print what was given, on the command line or in a run file, as a run file."""
    from sandbox_mcp.app.run.run_file import as_yaml

    context = click.get_current_context()
    more: dict[str, Any] = {"model": models[0] if len(models) == 1 else list(models)} if models else {}
    for param in context.command.params:
        source = context.get_parameter_source(str(param.name))
        value = context.params.get(str(param.name))
        if param.name in ALSO and param.name != "print_config" and source is not ParameterSource.DEFAULT:
            more[key_in_file(param)] = str(value) if isinstance(value, Path) else value
    click.echo(as_yaml(options, more), nl=False)


def _runs(models: Sequence[str], options: RunOptions) -> list[RunOptions]:
    """The options of each model's run."""
    prices = _prices(options.price, models)
    if len(models) < 2:
        return [replace(options, model=(model := "".join(models)), price=prices.get(model, options.price))]
    # several models are compared with each other by what they are asked, paid and compared with
    if len(set(models)) < len(models):
        raise click.UsageError("a model is named twice with --model; --trials plays a scenario several times")
    if options.user == "llm" and not options.user_model:
        raise click.UsageError("several --model need --user-model, so that all talk to the same user")
    if options.price and not prices:
        example = " ".join(f"--price {model}=IN/OUT" for model in models)
        raise click.UsageError(f"--price {options.price} is of one model; give each its own: {example}")
    for name in ("budget", "record"):
        if getattr(options, name) is not None:
            raise click.UsageError(f"--{name} is of one model; run the models one after the other")
    if "-" in options.selectors:
        raise click.UsageError(
            "standard input can be read once; name a file with @FILE where there are several --model"
        )
    folders: dict[str, str] = {}  # of each model, by what of its name a file system takes
    for model in models:
        name = re.sub(r"[^\w.-]+", "-", model).strip(".-") or "model"
        while name in folders:
            name += "~"
        folders[name] = model
    place = options.out or Path()
    return [replace(options, model=model, out=place / name, price=prices.get(model)) for name, model in folders.items()]


def _prices(given: str | None, models: Sequence[str]) -> dict[str, str]:
    """Prices by model, where they are given as ``MODEL=IN/OUT``; empty for one price without a name.

    Raises:
        click.UsageError: a model is not among those that are asked.
    """
    found: dict[str, str] = {}
    for part in (given or "").split(","):
        model, named, price = part.rpartition("=")
        if named and model not in models:
            raise click.UsageError(f"--price names model {model!r}; known: {', '.join(models) or 'none with --model'}")
        found |= {model: price} if named else {}
    return found


def _print_models(models: Sequence[str], reports: "Sequence[Report]", *, as_json: bool) -> None:
    """A row per model, and how each compares with the first."""
    from sandbox_grader.errors import GraderError
    from sandbox_grader.grading.spending import Spent

    try:
        found = [reports[0].compare(other) for other in reports[1:]]
    except GraderError as error:  # as where no session of one of them could be scored
        found = []
        warn(str(error))
    named = list(zip(models, reports, strict=True))
    if as_json:
        told = [{"model": model, "out": report.name, **report.summary()} for model, report in named]
        print_json({"runs": told, "comparisons": comparisons_as_json(found)})
        return
    rows: list[tuple[object, ...]] = []
    for model, report in named:
        low, high = report.interval or (None, None)
        spent = sum((item.spent for item in report.sessions), Spent())
        cost = report.prices.of(spent)["total"] if report.prices else None
        rows.append((model, len(report.counted), len(report.sessions), report.score, low, high, cost, report.name))
    print_table(("model", "scored", "sessions", "score", "low", "high", "cost", "in"), rows)
    if found:
        click.echo()
        print_comparisons(found)


def _print_report(report: "Report", listed: RowChoice, *, families: bool) -> None:
    """The tables of one run, and what its families of metrics say if wanted."""
    from sandbox_grader.reporting.wording import family_lines, tables_of

    chosen, left = listed.of(report.rows(), lambda row: row["score"], lambda row: row["turns"])
    for number, table in enumerate(tables_of(report, chosen)):
        click.echo("\n" * (number > 0), nl=False)
        if number or chosen:
            print_table(table.headers, table.rows)
        if not number and left:
            click.echo(left)
    for line in family_lines(report, report.families(), full=listed.everything) if families else ():
        click.echo(line)


@contextmanager
def _going_on(out: Path | None) -> Generator[None]:
    """Where the run is interrupted, say which sessions are kept, and how it goes on."""
    try:
        yield
    except KeyboardInterrupt:
        from sandbox_mcp.app.run.folder import RunFolder

        kept = len(RunFolder(out).kept()) if out else 0
        warn(f"{counted(kept, 'session')} kept in {str(out)!r}; the same command goes on from there")
        raise


def _evaluated(options: RunOptions, *, quiet: bool, everything: bool, bounds: bool, details: bool) -> "Report":
    """Play one run, with its floor and ceiling if they are wanted."""
    from sandbox_grader.grading.scores import KEPT_FROM
    from sandbox_grader.reporting.scenario_of_log import SuiteFinder

    from sandbox_mcp.app.authoring.over_tapes import unanswered
    from sandbox_mcp.app.run.by_hand import PlayableSuite
    from sandbox_mcp.app.run.evaluate import play_run
    from sandbox_mcp.app.run.folder import RunFolder
    from sandbox_mcp.app.run.from_options import agent_from, executor_from, jobs_from, picked, suite_from, users_from
    from sandbox_mcp.app.run.run_file import kept_options
    from sandbox_mcp.app.run.unit import Shard

    context = click.get_current_context(silent=True)
    # what a user's own agent prints is not a result; a person at a terminal needs stdout to edit lines
    aside = nullcontext() if options.user == "human" else redirect_stdout(sys.stderr)
    display = Display(quiet=quiet, every=everything)
    with terminated_as_interrupted(), _going_on(options.out), display.retries(), aside:
        executor = executor_from(options, stored=context is not None and STORED in context.meta)
        suite, agent, users = suite_from(options), agent_from(options), users_from(options)
        jobs_from(options, users)  # before the selectors, which may be read from where a person types
        chosen = picked(suite, options)
        if type(chosen) is PlayableSuite:
            warn(*map(str, unanswered(chosen, chosen.names())))
        display.begin(agent, len(chosen.names()))
        report = play_run(
            options,
            agent,
            chosen,
            users,
            stated=kept_options(options),
            executor=executor,
            details=details,
            watch=display.show,
        )
    if bounds:
        folder, part = RunFolder(Path(report.name)), Shard.parse(options.shard)
        with_bounds(report, SuiteFinder(options.scenarios), keep=len(report.sessions) >= KEPT_FROM, starts=True)
        folder.summarise(report.summary(), part if folder.summary(part).exists() else None)
    return report
