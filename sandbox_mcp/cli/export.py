"""``sandbox-mcp export``: our logs in the form of other tools."""

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sandbox_mcp.cli.options import of_each_log
from sandbox_mcp.plurals import counted

if TYPE_CHECKING:
    from sandbox_mcp.trajectory import Trajectory


@click.command()
@click.argument("format_name", metavar="FORMAT")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), help="A folder to write to; stdout without it.")
def command(format_name: str, paths: tuple[Path, ...], out: Path | None) -> None:
    """Write recorded sessions as FORMAT: atif or openai-chat. PATHS are logs, folders or packs of them.

    FORMAT log takes sessions out of packs as they were written, a file each; pack puts logs into one. A log that cannot
    be read is named, and the others are written; the exit code is then 2.
    """
    if format_name in ("log", "pack"):
        _copy(paths, out, packed=format_name == "pack")
        return
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


def _copy(paths: tuple[Path, ...], out: Path | None, *, packed: bool) -> None:
    """Write logs again as they are, as files of their own or as a pack."""
    from contextlib import nullcontext

    from sandbox_mcp.trajectory.log import all_lines, log_bytes
    from sandbox_mcp.trajectory.packs import PackWriter, can_be_packed

    if out is None:
        raise click.UsageError(f"export {'pack' if packed else 'log'} writes into a folder; name it with -o")
    out.mkdir(parents=True, exist_ok=True)
    unusable, written = list[Path](), Counter[str]()
    with PackWriter(out, "pack") if packed else nullcontext() as pack:

        def write(trajectory: "Trajectory") -> None:
            path = Path(trajectory.path)
            lines = log_bytes(path)
            written[path.stem] += 1
            name = path.stem if written[path.stem] == 1 else f"{path.stem}-{written[path.stem]}"
            if pack:
                pack.add(name, lines if can_be_packed(lines) else all_lines(trajectory))
            else:
                (out / f"{name}.jsonl").write_bytes(lines)

        done = sum(1 for _ in of_each_log(paths, write, unusable))
    click.echo(f"exported {counted(done, 'session')} to {out}", err=True)
    if unusable:
        raise click.exceptions.Exit(2)
