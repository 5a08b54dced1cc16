"""``sandbox-mcp report``: one file about one or more runs, to mail or to attach."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from sandbox_mcp.app.cli import warn
from sandbox_mcp.app.cli.logs import LogPlace
from sandbox_mcp.app.cli.options import WRITTEN, mode_option, quiet_option, scenario_files
from sandbox_mcp.app.cli.progress import counting
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.whole_files import write_whole


@click.command()
@click.argument("paths", nargs=-1, required=True, type=LogPlace())
@click.option("-o", "--out", required=True, type=WRITTEN, help="The file to write.")
@click.option("--title", help="What the page is called; by default the names of the runs.")
@mode_option
@quiet_option
@scenario_files
def command(
    paths: tuple[Path, ...], out: Path, title: str | None, mode: Any, quiet: bool, places: tuple[Path, ...]
) -> None:
    """Write one self-contained HTML file about recorded sessions.

    PATHS are folders of runs, or folders of those, or logs. The file needs no network and opens from disk. It holds the
    conversations of all sessions that did not pass, and of a sample of the others where there are many. Logs that
    cannot be read are named, and listed in it; folders and packs that cannot are named. The exit code is then 2.
    """
    from sandbox_grader.reporting.scenario_of_log import SuiteFinder

    from sandbox_mcp.app.report.errors import ReportError
    from sandbox_mcp.app.report.index import Index
    from sandbox_mcp.app.report.report_file import report
    from sandbox_mcp.app.report.run_sources import find_runs
    from sandbox_mcp.engine.trajectory import TrajectoryError
    from sandbox_mcp.engine.trajectory.finding import NOT_ALLOWED, logs_at

    if out.suffix not in (".html", ".htm"):
        raise click.UsageError(f"--out {str(out)!r}: expected a file that ends with .html")
    sources = find_runs(paths)
    index = Index(None, SuiteFinder(places), mode)
    read = 0
    watch = counting("graded", quiet=quiet)
    for read, of in index.add(sources):
        watch(read, of)
    if not read:
        raise ReportError(f"{', '.join(map(str, paths))}: holds no log; expected files that end in .jsonl")
    text = report(index, title or ", ".join(source.key for source in sources))
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_whole(out, text)
    except OSError as error:
        raise ReportError(f"{str(out)!r} cannot be written: {error.strerror}") from error
    unread, cut, beside = index.unreadable(), list[str](), list[str]()
    for path in paths:
        with suppress(TrajectoryError):  # of a pack that was named, of which the index has told
            found = logs_at(path, spoilt=True)
            cut += found.cut
            beside += (f"{folder}: {NOT_ALLOWED}" for folder in found.closed)
    warn(*unread, *beside, *cut)
    click.echo(f"{out}: {counted(read - len(unread), 'session')}, {len(text) / 1e6:.1f} MB", err=True)
    if unread or beside:
        raise click.exceptions.Exit(2)
