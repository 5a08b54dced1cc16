"""``sandbox-mcp synth``: a model drafts scenarios, and lint decides."""

import asyncio
from pathlib import Path

import click

from sandbox_mcp.app.cli.options import FOLDER, quiet_option, scenario_files
from sandbox_mcp.app.cli.printing import as_json, print_json, print_table
from sandbox_mcp.app.cli.progress import counting
from sandbox_mcp.engine.plurals import counted

NAMES = ("tools", "constraint", "rewording", "irrelevance", "branch")


@click.command()
@click.argument("kind", type=click.Choice(NAMES))
@click.argument("selectors", nargs=-1)
@click.option("-o", "--out", required=True, type=FOLDER, help="Folder for drafts.")
@click.option("--model", metavar="NAME", required=True, help="Model that drafts.")
@click.option("--base-url", metavar="URL", help="Endpoint of that model. [default: OPENAI_BASE_URL, or OpenAI's]")
@click.option(
    "--api-key-env", metavar="NAME", help="Variable that holds the key of that endpoint. [default: OPENAI_API_KEY]"
)
@click.option("--count", type=click.IntRange(1), default=10, help="Drafts to ask for.")
@click.option("--seed", type=int, default=0, help="Decides which.")
@click.option("--mend", type=click.IntRange(0), default=1, help="Chances to mend a faulty draft.")
@click.option(
    "--base", "bases", multiple=True, metavar="NAME", help="With tools: a base world to draft for. [default: all]"
)
@quiet_option
@scenario_files
@as_json
def command(
    kind: str,
    selectors: tuple[str, ...],
    out: Path,
    model: str,
    base_url: str | None,
    api_key_env: str | None,
    count: int,
    seed: int,
    mend: int,
    bases: tuple[str, ...],
    quiet: bool,
    places: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Let a model draft new scenarios, and keep those that pass every filter.

    KIND is tools: a wish for three groups of tools, one of which has to be used; constraint, rewording, irrelevance:
    a harder, reworded or impossible wish made from the scenarios that SELECTORS name; branch: the same wish in another
    state, told bit by bit, or with a tool withheld. Prints the share that each filter kept. What comes out are drafts:
    read them. Exits with 1 if none is left.
    """
    from sandbox_scenarios import Suite
    from sandbox_scenarios.selectors import select

    from sandbox_mcp.app.authoring.synth import bases_of, orders, synthesise
    from sandbox_mcp.app.authoring.synth.synthesis import REJECTED, Workshop
    from sandbox_mcp.engine.worlds import DEFAULT
    from sandbox_mcp.play.models.asking import EndpointSettings

    if kind == "tools" and selectors:
        raise click.UsageError("tools drafts for base worlds: name those with --base, and no scenarios")
    if bases and kind != "tools":
        raise click.UsageError("--base goes with tools; the other kinds are made from scenarios")
    suite = Suite(places)
    names = () if kind == "tools" else select(suite, selectors)
    chosen = bases or (bases_of(suite, DEFAULT) if kind == "tools" else ())
    wanted = orders(suite, kind, names, chosen, count, seed)
    settings = EndpointSettings(model, base_url, api_key_env)
    shop = Workshop(suite, places, out, settings, mend)
    made = asyncio.run(synthesise(shop, wanted, counting("drafted", quiet=quiet)))
    if as_json:
        print_json(made.to_json())
    else:
        rows = [
            (item["filter"], item["came"], item["passed"], "-" if item["share"] is None else f"{item['share']:.0%}")
            for item in made.to_json()["filters"]
        ]
        print_table(("filter", "came", "passed", "share"), rows)
    rejected = made.drafted - len(made.kept)
    why = f"; why the others did not pass stands in {out / REJECTED}" if rejected else ""
    click.echo(f"kept {counted(len(made.kept), 'draft')} of {made.drafted} in {out}{why}", err=True)
    if not made.kept:
        raise click.exceptions.Exit(1)
