"""``sandbox-mcp import``: logs of other harnesses, as trajectory logs of ours."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox_mcp.cli.options import as_json, print_json
from sandbox_mcp.plurals import counted

if TYPE_CHECKING:
    from sandbox_mcp.trajectory import Event


@click.command()
@click.argument("format_name", metavar="FORMAT")
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path), help="The folder to write logs to.")
@click.option(
    "--mapping", type=click.Path(path_type=Path), help="With the format 'any': the file that says what is where."
)
@click.option("--scenario", help="The scenario of all sessions, where the format has no place for its name.")
@as_json
def command(
    format_name: str, inputs: tuple[Path, ...], out: Path, mapping: Path | None, scenario: str | None, as_json: bool
) -> None:
    """Read logs in FORMAT from INPUT files and write one trajectory log per session.

    Formats: anthropic, atif, claude-code, codex, inspect, mcp-wire, mtu, openai-chat, openai-responses, otel,
    tau-bench, tau2, toolsandbox-results, toolscan, tooltalk; and any, which reads JSON of any shape as a --mapping
    says. What could not be mapped is listed, never dropped in silence.
    """
    from sandbox_grader.importers import importer, mapped

    from sandbox_mcp.trajectory import to_line

    if (format_name == "any") != (mapping is not None):
        raise click.UsageError("the format 'any' and --mapping FILE go together; see docs/grade-what-you-have.md")
    read = partial(mapped.read, mapping=mapped.mapping_in(mapping)) if mapping else importer(format_name)
    out.mkdir(parents=True, exist_ok=True)
    written: list[dict[str, Any]] = []
    for session in read(inputs):
        events = [_of_scenario(event, scenario) for event in session.events]
        path = _kept(out, session.name, "".join(map(to_line, events)))
        losses = [{"where": loss.where, "what": loss.what} for loss in session.losses]
        written.append({"session": session.name, "path": str(path), "losses": losses})
        if not as_json:
            for loss in losses:
                click.echo(f"{session.name}: {loss['where']}: {loss['what']}")
    if as_json:
        print_json(written)
    if not written:
        click.echo(f"nothing to import: no session in {', '.join(map(str, inputs))}", err=True)
        raise click.exceptions.Exit(1)
    lossy = sum(bool(item["losses"]) for item in written)
    click.echo(f"imported {counted(len(written), 'session')} to {out}, {lossy} with losses", err=True)


def _of_scenario(event: "Event", scenario: str | None) -> "Event":
    """The event, and if it opens a session, under the scenario that was named."""
    from sandbox_mcp.trajectory import SessionStarted

    return replace(event, scenario=scenario) if scenario and isinstance(event, SessionStarted) else event


def _kept(folder: Path, name: str, text: str) -> Path:
    """Write a log, with a number behind its name where another log has that name; the same log is not written twice."""
    number = 1
    while (path := folder / (f"{name}.jsonl" if number == 1 else f"{name}-{number}.jsonl")).exists():
        if path.read_bytes() == text.encode():
            return path
        number += 1
    draft = path.with_name(f"{path.name}.new")
    draft.write_text(text, encoding="utf-8", newline="\n")
    draft.replace(path)
    return path
