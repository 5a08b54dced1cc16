"""``sandbox-mcp export``: our logs in the form of other tools."""

import json
from pathlib import Path

import click

from sandbox_mcp.cli.options import of_each_log
from sandbox_mcp.plurals import counted


@click.command()
@click.argument("format_name", metavar="FORMAT")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), help="A folder to write to; stdout without it.")
def command(format_name: str, paths: tuple[Path, ...], out: Path | None) -> None:
    """Write recorded sessions as FORMAT: atif or openai-chat. PATHS are logs or folders of them.

    A log that cannot be read is named, and the others are written; the exit code is then 2.
    """
    from sandbox_grader.exporters import exporter

    write = exporter(format_name)
    if out:
        out.mkdir(parents=True, exist_ok=True)
    written, unusable = 0, list[Path]()
    for path, made in of_each_log(paths, write, unusable):
        text = json.dumps(made, ensure_ascii=False) + "\n"
        written += 1
        if out:
            (out / f"{path.stem}.json").write_text(text, encoding="utf-8")
        else:
            click.echo(text, nl=False)
    if out:
        click.echo(f"exported {counted(written, 'session')} to {out}", err=True)
    if unusable:
        raise click.exceptions.Exit(2)
