"""``sandbox-mcp import-suite``: a benchmark's own scenarios, from a user's checkout, as a suite to play."""

from datetime import datetime
from pathlib import Path

import click

from sandbox_mcp.app.cli.options import FOLDER_HERE, PLACE
from sandbox_mcp.engine.plurals import counted

FORMATS = ("toolsandbox",)
NOW, ZONE = datetime(2025, 3, 12, 9, 30), "America/Los_Angeles"  # noqa: DTZ001 - wall time of the zone beside it


@click.command()
@click.argument("format_name", metavar="FORMAT", type=click.Choice(FORMATS), expose_value=False)
@click.argument("checkout", metavar="DIR", type=FOLDER_HERE)
@click.option("-o", "--out", required=True, type=PLACE, help="The folder to write the suite to.")
@click.option(
    "--python",
    type=PLACE,
    help="A Python that has what the checkout needs. [default: that of 'agents install toolsandbox-import']",
)
@click.option("--now", type=click.DateTime(), default=NOW, help="When the scenarios take place.")
@click.option("--zone", metavar="NAME", default=ZONE, help="The time zone they take place in.")
def command(checkout: Path, out: Path, python: Path | None, now: datetime, zone: str) -> None:
    """Read the scenarios of a benchmark from a checkout in DIR and write them as scenario files.

    Formats: toolsandbox, a checkout of apple/ToolSandbox: 129 scenarios, each in eight variants. Its scenarios are
    programs, so a script runs in a Python that has the checkout's requirements; nothing else of it is needed later.
    """
    from sandbox_clients.environments import python_of

    from sandbox_mcp.app.benchmarks.toolsandbox import ENVIRONMENT, dump, write_suite
    from sandbox_mcp.engine.world import zone_info

    try:
        zone_info(zone)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    interpreter = python or python_of(ENVIRONMENT)
    if interpreter is None:
        told = f"name a Python that has ToolSandbox's requirements with --python, or run 'agents install {ENVIRONMENT}'"
        raise click.UsageError(f"{told} --checkout {checkout}")
    click.echo(f"asking {interpreter} for the scenarios of {checkout}", err=True)
    count = write_suite(dump(checkout, interpreter, now, zone), zone, out)
    click.echo(f"wrote {counted(count, 'scenario')} to {out}, each in eight variants", err=True)
