"""``sandbox-mcp run``: play scenarios with an agent, keep the logs, and sum up.

Policy: everything it needs is loaded only after the command line was understood. Results go to stdout, progress to
stderr, and no secret to either: keys are read from the environment.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox_mcp.cli.agent_options import agent_options, chosen_agent
from sandbox_mcp.cli.knowledge import chosen_knowledge, knowledge_options
from sandbox_mcp.cli.options import as_json, print_json, print_table, scenario_files
from sandbox_mcp.cli.user_options import chosen_users, user_options

if TYPE_CHECKING:
    from sandbox_mcp.run.batch import Batch, Progress


@click.command()
@click.argument("selectors", nargs=-1)
@agent_options
@user_options
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder for logs, manifest and summary.")
@click.option(
    "--variant",
    "variants",
    multiple=True,
    default=("base",),
    show_default=True,
    help="How tools are presented. May be repeated.",
)
@click.option(
    "--trials", type=click.IntRange(1), default=1, show_default=True, help="Sessions per scenario and variant."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Decides the world's ids.")
@click.option("--jobs", type=click.IntRange(1), default=4, show_default=True, help="Sessions played at a time.")
@click.option("--shard", default="1/1", metavar="I/N", help="Play only the I-th of N equal parts.")
@click.option(
    "--transport",
    type=click.Choice(["memory", "http", "direct"]),
    help="How the agent reaches its tools. [default: memory, or http where the agent needs a URL]",
)
@click.option(
    "--max-turn-seconds",
    type=click.FloatRange(0, min_open=True),
    default=1800.0,
    show_default=True,
    help="Seconds an agent may take to answer one message of the user.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    help="Exit with 1 below this similarity, or if a session was not scored.",
)
@knowledge_options
@scenario_files
@as_json
def command(
    selectors: tuple[str, ...], places: tuple[Path, ...], as_json: bool, threshold: float | None, **options: Any
) -> None:
    """Play scenarios with an agent, record every session, and sum up.

    SELECTORS are names, patterns such as 'late_*', category:NAME, @FILE with one selector per line, or - for standard
    input; all scenarios without any. The same command again plays only what is missing. Exits with 1 if --threshold is
    missed or no session could be scored.
    """
    summary = _run(_batch(selectors, places, options))
    if as_json:
        print_json(summary)
    else:
        _print(summary)
    for remark in _remarks(summary):
        click.echo(remark, err=True)
    if _missed(summary, threshold):
        raise click.exceptions.Exit(1)


def _batch(selectors: tuple[str, ...], places: tuple[Path, ...], options: dict[str, Any]) -> "Batch":
    from sandbox_mcp.run.batch import Batch, RunPlan
    from sandbox_mcp.run.errors import RunError
    from sandbox_mcp.run.folder import RunFolder
    from sandbox_mcp.run.select import select
    from sandbox_mcp.run.unit import Shard
    from scenarios import Suite

    suite = Suite(places)
    agent = chosen_agent(options)
    users = chosen_users(options)
    transport = options["transport"] or ("http" if agent.needs_url else "memory")
    if agent.needs_url and transport != "http":
        raise RunError(f"agent {agent.name!r} needs a URL; use --transport http")
    knowledge = chosen_knowledge(options["live"], options["record_tape"], options["replay_tape"])
    plan = RunPlan(
        scenarios=select(suite, selectors),
        variants=tuple(dict.fromkeys(options["variants"])),
        seed=options["seed"],
        trials=options["trials"],
        jobs=options["jobs"],
        shard=Shard.parse(options["shard"]),
        transport=transport,
        patience=options["max_turn_seconds"],
    )
    return Batch(suite, agent, users, RunFolder(options["out"]), plan, _show, knowledge=knowledge)


def _run(batch: "Batch") -> dict[str, Any]:
    import anyio

    return anyio.run(batch.run)


def _show(progress: "Progress") -> None:
    score = progress.score
    came = "not scored" if score.similarity is None else f"{score.similarity:.3f}"
    how = score.ending if progress.played else f"{score.ending}, played before"
    click.echo(
        f"[{progress.done}/{progress.total}] {score.scenario} {score.variant} t{score.trial}: {came} ({how})", err=True
    )


def _print(summary: dict[str, Any]) -> None:
    from sandbox_mcp.run.report import CATEGORY_HEADERS, SCENARIO_HEADERS, category_rows, scenario_rows

    print_table(SCENARIO_HEADERS, scenario_rows(summary))
    click.echo()
    print_table(CATEGORY_HEADERS, category_rows(summary))


def _remarks(summary: dict[str, Any]) -> list[str]:
    from sandbox_mcp.run.report import remarks

    return remarks(summary)


def _missed(summary: dict[str, Any], threshold: float | None) -> bool:
    sessions = summary["sessions"]
    if summary["similarity"] is None:
        return sessions["played"] > 0
    return threshold is not None and (summary["similarity"] < threshold or sessions["unscored"] > 0)
