"""``sandbox-mcp replay``: proof that a recorded session is deterministic."""

from dataclasses import asdict
from pathlib import Path

import click

from sandbox_mcp.cli.options import as_json, of_each_log, print_json, world_files
from sandbox_mcp.plurals import counted


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@world_files
@as_json
def command(paths: tuple[Path, ...], as_json: bool) -> None:
    """Execute every call of recorded sessions again and say whether results and state agree.

    PATHS are logs or folders of them. Exits with 1 if a session disagrees, with 2 if a log cannot be
    read; it is named, and the others are replayed.
    """
    from sandbox_mcp.session.replay import differences

    unusable: list[Path] = []
    found = {str(path): items for path, items in of_each_log(paths, lambda log: list(differences(log)), unusable)}
    if as_json:
        print_json({path: [asdict(item) for item in items] for path, items in found.items()})
    else:
        for path, items in found.items():
            click.echo(f"{path}: {'differs' if items else 'agrees'}")
            for item in items:
                click.echo(f"  event {item.seq}, {item.what}: recorded {item.recorded}, replayed {item.replayed}")
        agreeing = sum(not items for items in found.values())
        click.echo(f"agreeing with their replay: {agreeing} of {counted(len(found), 'session')}", err=True)
    if unusable or any(found.values()):
        raise click.exceptions.Exit(2 if unusable else 1)
