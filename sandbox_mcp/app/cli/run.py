"""``sandbox-mcp run``: play scenarios with an agent, keep the logs, and sum up.

Policy: everything it needs is loaded only after the command line was understood. Results go to stdout, progress to
stderr, and no secret to either: keys are read from the environment.
"""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from sandbox_mcp.app.cli import warn
from sandbox_mcp.app.cli.agent_options import agent_options, chosen_agent
from sandbox_mcp.app.cli.compare import comparisons_as_json, print_comparisons
from sandbox_mcp.app.cli.knowledge import chosen_knowledge, knowledge_options
from sandbox_mcp.app.cli.logs import STORED, LogPlace
from sandbox_mcp.app.cli.options import (
    FILE,
    FOLDER_HERE,
    PLACE_HERE,
    OneValue,
    RealRange,
    bounds_option,
    check_threshold,
    exit_if_missed,
    learn_servers,
    metric_option,
    quiet_option,
    scenario_files,
    terminated_as_interrupted,
    threshold_options,
    together,
    with_bounds,
    worlds_in_files,
)
from sandbox_mcp.app.cli.printing import RowChoice, as_json, print_json, print_table, row_options
from sandbox_mcp.app.cli.progress import Display
from sandbox_mcp.app.cli.user_options import chosen_users, jobs_for, user_options

if TYPE_CHECKING:
    from sandbox_grader import Report
    from sandbox_grader.grading.spending import Prices

    from sandbox_mcp.app.run.by_hand import PlayableSuite
    from sandbox_mcp.app.run.cost import Budget
    from sandbox_mcp.app.run.executors import Executor
    from sandbox_mcp.app.run.sessions import Crew

cost_options = together(
    click.option("--price", metavar="IN/OUT", help="What a million tokens of the agent's model cost, such as 2.5/10."),
    click.option(
        "--user-price",
        metavar="IN/OUT",
        help="What a million tokens of the llm user's model cost. [default: --price, same model]",
    ),
    click.option(
        "--budget",
        type=RealRange(0, min_open=True),
        help="Begin no session that would take the folder's cost beyond this.",
    ),
    click.option(
        "--token-budget",
        type=click.IntRange(1),
        help="Begin no session that would take the folder's tokens beyond this.",
    ),
)
"""The options that :func:`chosen_costs` reads."""


@click.command()
@click.argument("selectors", nargs=-1)
@agent_options
@user_options
@cost_options
@click.option("-o", "--out", required=True, type=LogPlace(written=True), help="Folder for logs, manifest and summary.")
@click.option(
    "--variant",
    "variants",
    multiple=True,
    metavar="NAME",
    default=("base",),
    help="How tools are presented, such as all_tools or terse_errors. May be repeated.",
)
@click.option("--trials", type=click.IntRange(1), default=1, help="Sessions per scenario and variant.")
@click.option("--seed", cls=OneValue, type=int, default=0, help="Decides the world's ids.")
@click.option(
    "--instances",
    type=click.IntRange(1),
    metavar="N",
    help="Play N instances of every scenario, with other names, days and numbers in each, in place of it as written.",
)
@click.option(
    "--instance-seed",
    metavar="SECRET",
    help="Draw the instances by this secret: nobody can have trained on them.",
)
@click.option("--jobs", type=click.IntRange(1), default=4, help="Sessions played at a time.")
@click.option(
    "--executor",
    type=click.Choice(["tasks", "processes", "ray"]),
    default="tasks",
    help="Play the jobs as tasks of this process, each in a process, or so many in each actor of a Ray cluster.",
)
@click.option("--ray-address", metavar="ADDRESS", help="The cluster.  [default: RAY_ADDRESS, or one for this run]")
@click.option("--ray-actors", type=click.IntRange(1), help="Actors to play on.  [default: one per core of the cluster]")
@click.option("--pack/--no-pack", default=None, help="Put many logs into one file.  [default: from 2000 sessions on]")
@click.option("--shard", default="1/1", show_default=False, metavar="I/N", help="Play only the I-th of N equal parts.")
@click.option(
    "--transport",
    type=click.Choice(["memory", "http", "direct"]),
    help="How the agent reaches its tools. [default: memory, or http where the agent needs a URL]",
)
@click.option(
    "--max-turn-seconds",
    type=RealRange(0, min_open=True),
    default=1800.0,
    help="Seconds an agent may take to answer one message of the user.",
)
@metric_option
@threshold_options
@click.option(
    "--mode",
    type=click.Choice(["on-policy", "prefix"]),
    default="on-policy",
    help="Let the agent go on from what it did itself, or ask for every reply on the reference's history.",
)
@click.option(
    "--tooltalk", type=FOLDER_HERE, help="A checkout of ToolTalk whose conversations are played instead of scenarios."
)
@click.option(
    "--instructions",
    metavar="FILE|one-shot",
    help="What the agent is told first: a file's text, or a worked example as ToolScan gives one. "
    "[default: the same few words for every agent]",
)
@click.option(
    "--rows",
    "row_places",
    multiple=True,
    type=PLACE_HERE,
    help="Play rows of MTU-Bench: one of its *_eval.jsonl files, or a folder of them. May be repeated.",
)
@click.option(
    "--row-answers",
    type=click.Choice(["calls", "text"]),
    default="calls",
    help="With --rows: call tools over MCP, or write down what to call as the benchmark's authors asked.",
)
@click.option("--keep-spoiled", is_flag=True, help="Also score sessions that their user spoiled.")
@click.option(
    "--fill",
    metavar="MODEL",
    help="Ask this model for what a tape has no answer to; such sessions are kept apart, see docs/worlds.md.",
)
@click.option("--scores", type=FILE, help="Also write scores to FILE.json, .csv, .xml (JUnit, with times) or .parquet.")
@row_options
@bounds_option
@quiet_option
@knowledge_options
@scenario_files
@as_json
def command(
    places: tuple[Path, ...],
    as_json: bool,
    threshold: float | None,
    threshold_by: str,
    rows: RowChoice,
    bounds: bool,
    scores: Path | None,
    models: tuple[str, ...],
    **options: Any,
) -> None:
    """Play scenarios with an agent, record every session, and sum up.

    SELECTORS are names, patterns such as 'late_*', category:NAME, family:NAME, extends:NAME, world:NAME, tags such as
    'hard:*', @FILE with one selector per line, or - for standard input; without any, all scenarios of your own files,
    or else of the phone, or with --rows all dialogues. The same command again plays only what is missing. Exits with 1
    if --threshold is missed, no session could be scored, or the budget was not enough.
    """
    from sandbox_grader.grading.scores import SCORE
    from sandbox_grader.reporting.tables import EXPLAINING, FORMS
    from sandbox_grader.reporting.wording import remarks

    from sandbox_mcp.app.benchmarks.mtu_bench.play import ROWS_METRIC

    if not options["selectors"] and not places and (worlds := worlds_in_files(click.get_current_context())):
        options["selectors"] = tuple(f"world:{name}" for name in worlds)  # a file with a world means that world
    learn_servers(places)
    if options["row_places"]:
        bounds = False  # neither a refusing agent nor the reference has been played on rows
        options["metric"] = ROWS_METRIC if options["metric"] == SCORE else options["metric"]
    check_threshold(threshold, threshold_by, options["metric"])
    if scores and scores.suffix not in FORMS:
        raise click.UsageError(f"--scores {str(scores)!r}: expected a file that ends with {', '.join(FORMS)}")
    runs = _runs(models, options)
    reports: list[Report] = []
    for chosen in runs:
        if len(runs) > 1 and not options["quiet"]:
            click.echo(f"model {chosen['model']}", err=True)
        details = scores is not None and scores.suffix in EXPLAINING
        report = _evaluated(Recipe(places, chosen), everything=rows.everything, bounds=bounds, details=details)
        if scores:
            beside = scores.with_stem(f"{scores.stem}-{chosen['out'].name}")
            report.write(beside if len(runs) > 1 else scores, threshold)
        reports.append(report)
    if len(runs) > 1:
        _print_models(models, reports, as_json=as_json)
    elif as_json:
        print_json(reports[0].summary())
    else:
        _print_report(reports[0], rows, families=bool(options["row_places"]))
    for report in reports:
        for remark in remarks(report):
            click.echo(f"{report.name}: {remark}" if len(runs) > 1 else remark, err=True)
    exit_if_missed(reports, threshold, threshold_by)
    unscored = (report.score is None and len(report.filled) < len(report.sessions) for report in reports)
    if any(report.stopped for report in reports) or any(unscored):
        raise click.exceptions.Exit(1)


def _runs(models: Sequence[str], options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The options of each model's run."""
    if len(models) < 2:
        return [{**options, "model": "".join(models)}]
    # several models are held against each other by what they are asked, paid and compared with
    if len(set(models)) < len(models):
        raise click.UsageError("a model is named twice with --model; --trials plays a scenario several times")
    if options["user"] == "llm" and not options["user_model"]:
        raise click.UsageError("several --model need --user-model, so that all talk to the same user")
    for name in ("price", "budget", "record_tape"):
        if options[name] is not None:
            raise click.UsageError(f"--{name.partition('_')[0]} is of one model; run the models one after the other")
    if "-" in options["selectors"]:
        raise click.UsageError(
            "standard input can be read once; name a file with @FILE where there are several --model"
        )
    folders: dict[str, str] = {}  # of each model, by what of its name a file system takes
    for model in models:
        name = re.sub(r"[^\w.-]+", "-", model).strip(".-") or "model"
        while name in folders:
            name += "~"
        folders[name] = model
    return [{**options, "model": model, "out": options["out"] / name} for name, model in folders.items()]


def _print_models(models: Sequence[str], reports: "Sequence[Report]", *, as_json: bool) -> None:
    """A row per model, and how each compares with the first."""
    from sandbox_grader.errors import GraderError

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
        rows.append((model, len(report.counted), len(report.sessions), report.score, low, high, report.name))
    print_table(("model", "scored", "sessions", "score", "low", "high", "in"), rows)
    if found:
        click.echo()
        print_comparisons(found)


def _print_report(report: "Report", rows: RowChoice, *, families: bool) -> None:
    """The tables of one run, and what its families of metrics say if that is wanted."""
    from sandbox_grader.reporting.wording import family_lines, tables_of

    chosen, left = rows.of(report.rows(), lambda row: row["score"], lambda row: row["turns"])
    for number, table in enumerate(tables_of(report, chosen)):
        click.echo("\n" * (number > 0), nl=False)
        if number or chosen:
            print_table(table.headers, table.rows)
        if not number and left:
            click.echo(left)
    for line in family_lines(report, report.families(), full=rows.everything) if families else ():
        click.echo(line)


@dataclass(frozen=True, slots=True)
class Recipe:
    """Makes the crew that the options ask for; a worker process makes its own."""

    places: tuple[Path, ...]
    options: Mapping[str, Any]

    def __call__(self) -> "Crew":
        """Make the crew."""
        from sandbox_mcp.app.run.evaluate import as_played
        from sandbox_mcp.app.run.folder import RunFolder
        from sandbox_mcp.app.run.instructions import instructions_from
        from sandbox_mcp.app.run.sessions import JUDGED, Crew

        options = self.options
        if options["row_places"] and (options["mode"] == "prefix" or options["tooltalk"]):
            raise click.UsageError("rows have histories of their own; leave out --mode prefix and --tooltalk")
        knowledge = chosen_knowledge(*(options[name] for name in ("live", "record_tape", "replay_tape")))
        agent, users, folder = chosen_agent(options), chosen_users(options), RunFolder(options["out"])
        family = options["metric"].partition(".")[0]
        told = instructions_from(options["instructions"])
        metrics = tuple(dict.fromkeys((*JUDGED, family)))
        crew = Crew(self.material(), agent, users, folder, knowledge, options["keep_spoiled"], metrics, told)
        return as_played(crew, options["mode"], options["row_answers"])

    def material(self) -> "PlayableSuite":
        """What there is to play: scenarios, rows, or the conversations of a checkout.

        Raises:
            click.UsageError: --tooltalk and --scenarios were named.
        """
        from sandbox_mcp.app.benchmarks.mtu_bench.suite import RowSuite
        from sandbox_mcp.app.run.by_hand import PlayableSuite

        if self.options["row_places"]:
            return RowSuite(self.options["row_places"])
        if self.options["tooltalk"] is None:
            return PlayableSuite(self.places, fill=self.options["fill"] or "")
        if self.places:
            raise click.UsageError("--tooltalk brings its own conversations; leave out --scenarios")
        from sandbox_mcp.app.benchmarks.tooltalk.conversations import Conversations

        return Conversations(self.options["tooltalk"])


def chosen_costs(options: Mapping[str, Any]) -> "tuple[Prices, Budget]":
    """The prices and the budget that the options give.

    Raises:
        RunError: a price is malformed, or the budget cannot be kept without one.
    """
    from sandbox_grader.grading.spending import Price, Prices

    from sandbox_mcp.app.run.cost import Budget, checked

    agent = Price.parse(options["price"]) if options["price"] else None
    same = options["user_model"] in (None, options["model"])
    user = Price.parse(options["user_price"]) if options["user_price"] else agent if same else None
    prices = Prices(agent, user)
    budget = Budget(options["budget"], options["token_budget"])
    return prices, checked(budget, prices, modelled_user=options["user"] == "llm")


AS_GIVEN = (
    "variants", "trials", "seed", "metric", "keep_spoiled", "out", "pack", "max_turn_seconds", "row_answers", "mode",
)  # fmt: skip
"""Options that playing takes as they are."""


def _evaluated(recipe: Recipe, *, everything: bool, bounds: bool, details: bool) -> "Report":
    """Play one run, with its floor and ceiling if they are wanted."""
    from sandbox_grader.grading.scores import KEPT_FROM
    from sandbox_grader.reporting.many import SuiteFinder

    from sandbox_mcp.app.authoring.over_tapes import check_answered
    from sandbox_mcp.app.run.by_hand import PlayableSuite
    from sandbox_mcp.app.run.evaluate import evaluate
    from sandbox_mcp.app.run.folder import RunFolder
    from sandbox_mcp.app.run.unit import Shard

    options = recipe.options
    # what a user's own agent prints is not a result; a person at a terminal needs stdout to edit lines
    aside = nullcontext() if options["user"] == "human" else redirect_stdout(sys.stderr)
    with terminated_as_interrupted(), aside:
        executor = _executor(recipe)
        crew = recipe()
        jobs = jobs_for(crew.users, options)  # before the selectors, which may be read from where a person types
        prices, budget = chosen_costs(options)
        part = Shard.parse(options["shard"])
        chosen = _picked(cast("PlayableSuite", crew.suite), options)
        if type(chosen) is PlayableSuite:
            check_answered(chosen, chosen.names())
        report = evaluate(
            crew.agent,
            chosen,
            **{name: options[name] for name in AS_GIVEN},
            user=crew.users,
            jobs=jobs,
            transport=options["transport"] or ("http" if crew.agent.needs_url else "memory"),
            shard=part,
            prices=prices,
            budget=budget,
            executor=executor,
            knowledge=crew.knowledge,
            instructions=crew.instructions,
            details=details,
            watch=Display(quiet=options["quiet"], every=everything).show,
        )
    if bounds:
        folder = RunFolder(options["out"])
        with_bounds(report, SuiteFinder(recipe.places), keep=len(report.sessions) >= KEPT_FROM, starts=True)
        folder.summarise(report.summary(), part if folder.summary(part).exists() else None)
    return report


def _picked(suite: "PlayableSuite", options: Mapping[str, Any]) -> "PlayableSuite":
    """The scenarios that the options name, or instances of them."""
    picked, count, secret = suite.select(*options["selectors"]), options["instances"], options["instance_seed"]
    if not count and not secret:
        return picked
    if options["row_places"] or options["tooltalk"]:
        raise click.UsageError("rows and ToolTalk's conversations have no instances; leave out --instances")
    return picked.instances(count or 1, secret or "")


def _executor(recipe: Recipe) -> "Executor | None":
    """On what the sessions are played; None for the tasks of this process."""
    from sandbox_mcp.app.run.errors import RunError
    from sandbox_mcp.app.run.executors import Processes
    from sandbox_mcp.app.run.on_ray import OnRay

    options = recipe.options
    name, address, actors = (options[key] for key in ("executor", "ray_address", "ray_actors"))
    if name != "tasks" and options["record_tape"]:
        raise RunError(f"processes cannot share one recording; leave out --record or --executor {name}")
    context = click.get_current_context(silent=True)
    elsewhere = address or os.environ.get("RAY_ADDRESS")  # otherwise all nodes are on this machine, as the copy is
    if name == "ray" and elsewhere and context and STORED in context.meta:
        raise RunError(
            f"the nodes of the cluster at {elsewhere} have to see the folder that --out names; for a URL let Ray start "
            "on this machine, without an address, or share the work with --shard"
        )
    if name != "ray" and (address or actors):
        raise RunError("--ray-address and --ray-actors say something of --executor ray alone")
    return {"processes": Processes(recipe), "ray": OnRay(recipe, address, actors)}.get(name)
