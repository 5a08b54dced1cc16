"""``sandbox-mcp import``: logs of other harnesses, as trajectory logs of ours."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox_mcp.cli.options import PLACE, PLACE_HERE
from sandbox_mcp.cli.printing import as_json, print_json
from sandbox_mcp.plurals import counted
from sandbox_mcp.whole_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sandbox_grader.errors import ImportFormatError
    from sandbox_grader.importers import Imported, Importer

    from sandbox_mcp.trajectory import Event

TOGETHER = frozenset({"mtu"})
"""Formats of which one file tells nothing without the others."""


@click.command()
@click.argument("format_name", metavar="FORMAT")
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True, type=PLACE_HERE)
@click.option("-o", "--out", required=True, type=PLACE, help="The folder to write logs to.")
@click.option("--mapping", "--map", type=PLACE, help="With the format 'any': the file that says what is where.")
@click.option("--scenario", help="The scenario of all sessions, where the format has no place for its name.")
@as_json
def command(
    format_name: str, inputs: tuple[Path, ...], out: Path, mapping: Path | None, scenario: str | None, as_json: bool
) -> None:
    """Read logs in FORMAT from INPUT files and write one trajectory log per session.

    Formats: anthropic, atif, claude-code, codex, inspect, mcp-wire, mtu, openai-chat, openai-responses, otel,
    tau-bench, tau2, toolsandbox-results, toolscan, tooltalk; and any, which reads JSON of any shape as a --mapping
    says. What could not be mapped is listed, never dropped in silence. Files that cannot be read, and files without a
    session, are named, and the others are read. Exit code 2: a file could not be read; 1: there was no session at all.
    """
    from sandbox_grader.errors import NothingToImportError
    from sandbox_grader.importers import files_of, importer, mapped

    from sandbox_mcp.trajectory import SessionStarted

    if (format_name == "any") != (mapping is not None):
        raise click.UsageError("the format 'any' and --mapping FILE go together; see docs/grade-what-you-have.md")
    read = partial(mapped.read, mapping=mapped.mapping_in(mapping)) if mapping else importer(format_name)
    files = files_of(format_name, inputs)
    out.mkdir(parents=True, exist_ok=True)
    written: list[dict[str, Any]] = []
    unreadable: list[ImportFormatError] = []
    for session in _of_all(read, files, unreadable, together=format_name in TOGETHER):
        events = [
            replace(event, scenario=scenario) if scenario and isinstance(event, SessionStarted) else event
            for event in session.events
        ]
        path = _kept(out, session.name, events)
        losses = [{"where": loss.where, "what": loss.what} for loss in session.losses]
        written.append({"session": session.name, "path": str(path), "losses": losses})
        if not as_json:
            for loss in losses:
                click.echo(f"{session.name}: {loss['where']}: {loss['what']}")
    if as_json:
        print_json(written)
    for error in unreadable:
        click.echo(f"sandbox-mcp: {error}", err=True)
    if written:
        lossy = sum(bool(item["losses"]) for item in written)
        click.echo(f"imported {counted(len(written), 'session')} to {out}, {lossy} with losses", err=True)
    if not all(isinstance(error, NothingToImportError) for error in unreadable):
        raise click.exceptions.Exit(2)
    if not written:
        click.echo(f"nothing to import: no session in {', '.join(map(str, inputs))}", err=True)
        raise click.exceptions.Exit(1)


def _of_all(
    read: "Importer", inputs: "Sequence[Path]", unreadable: "list[ImportFormatError]", *, together: bool
) -> "Iterator[Imported]":
    """Each session; what cannot be read, or holds none, goes to ``unreadable``, and what comes after it is read."""
    from sandbox_grader.errors import ImportFormatError
    from sandbox_grader.importers.base import told_by

    left = list(inputs)
    while left:
        try:
            yield from read(left)
        except ImportFormatError as error:
            unreadable += told_by(error)
            place = Path(error.path.partition("!")[0])  # of an archive, not of the member in it
            at = next((n for n, given in enumerate(left) if given == place or given in place.parents), None)
            if at is None or together:
                return
            del left[: at + 1]
        else:
            return


def _kept(folder: Path, name: str, events: "Sequence[Event]") -> Path:
    """Write a log, with a number behind its name where another log has that name; the same log is not written twice."""
    from sandbox_mcp.trajectory import SessionStarted, to_line

    number = 1
    while True:
        called = name if number == 1 else f"{name}-{number}"
        first = events[0]
        ours = isinstance(first, SessionStarted) and first.session == name
        head = replace(first, session=called) if ours else first
        path, text = folder / f"{called}.jsonl", "".join(map(to_line, (head, *events[1:])))
        if not path.exists():
            break
        if path.read_bytes() == text.encode():
            return path
        number += 1
    write_whole(path, text)
    return path
