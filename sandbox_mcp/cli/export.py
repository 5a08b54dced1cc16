"""``sandbox-mcp export``: our logs in the form of other tools."""

import json
from pathlib import Path

import click

from sandbox_mcp.plurals import counted


@click.command()
@click.argument("format_name", metavar="FORMAT")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), help="A folder to write to; stdout without it.")
def command(format_name: str, paths: tuple[Path, ...], out: Path | None) -> None:
    """Write recorded sessions as FORMAT: atif or openai-chat. PATHS are logs or folders of them."""
    from sandbox_grader.exporters import exporter

    from sandbox_mcp.trajectory import read_trajectory
    from sandbox_mcp.trajectory.log import find_logs

    write = exporter(format_name)
    logs = find_logs(paths)
    if out:
        out.mkdir(parents=True, exist_ok=True)
    for path in logs:
        text = json.dumps(write(read_trajectory(path)), ensure_ascii=False) + "\n"
        if out:
            (out / f"{path.stem}.json").write_text(text, encoding="utf-8")
        else:
            click.echo(text, nl=False)
    if out:
        click.echo(f"exported {counted(len(logs), 'session')} to {out}", err=True)
