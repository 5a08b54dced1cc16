"""``sandbox-mcp import``: logs of other harnesses, as trajectory logs of ours."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox_mcp.app.cli import warn
from sandbox_mcp.app.cli.options import PLACE, PLACE_HERE
from sandbox_mcp.app.cli.printing import as_json, print_json
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.whole_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sandbox_grader.errors import ImportFormatError
    from sandbox_grader.importers import Imported, Importer

    from sandbox_mcp.engine.trajectory import Event, SessionStarted

TOGETHER = frozenset({"mtu"})
"""Formats of which one file tells nothing without the others."""

MOST_TOLD = 5
"""How many faults of one file are told one by one."""


@click.command()
@click.argument("format_name", metavar="FORMAT")
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True, type=PLACE_HERE)
@click.option("-o", "--out", required=True, type=PLACE, help="The folder to write logs to.")
@click.option("--mapping", type=PLACE, help="With the format 'any': the file that says what is where.")
@click.option(
    "--tool-prefix", metavar="TEXT", multiple=True, help="What the host puts before names of tools; may be repeated."
)
@click.option(
    "--scenario", metavar="NAME", help="The scenario of all sessions, where the format has no place for its name."
)
@as_json
def command(
    format_name: str,
    inputs: tuple[Path, ...],
    out: Path,
    mapping: Path | None,
    tool_prefix: tuple[str, ...],
    scenario: str | None,
    as_json: bool,
) -> None:
    """Read logs in FORMAT from INPUT files and write one trajectory log per session.

    Formats: agentdojo, anthropic, atif, claude-code, codex, converse, copilot, gemini, gemini-cli, inspect, langchain,
    mcp-wire, mtu, nemo-gym, openai-chat, openai-responses, opencode, openhands, otel, pi, pydantic-ai, swe-agent,
    tau-bench, tau2, toolsandbox-results, toolscan, tooltalk, vercel, verifiers; those that installed packages add;
    auto, which recognises the format of each file, in folders too; and any, which reads JSON of any shape as a
    --mapping says. What could not be mapped is listed, never dropped in silence. Files that cannot be read, and files
    without a session, are named, and the others are read. Exit code 2: a file could not be read; 1: there was no
    session at all.
    """
    from sandbox_grader.errors import NothingToImportError
    from sandbox_grader.importers import files_of, importer, mapped

    if (format_name == "any") != (mapping is not None):
        raise click.UsageError("the format 'any' and --mapping FILE go together; see docs/grade-what-you-have.md")
    read = partial(mapped.read, mapping=mapped.mapping_in(mapping)) if mapping else importer(format_name)
    files = files_of(format_name, inputs)
    out.mkdir(parents=True, exist_ok=True)
    trials = _Trials(out)
    written: list[dict[str, Any]] = []
    unreadable: list[ImportFormatError] = []
    for session in _of_all(read, files, unreadable, together=format_name in TOGETHER):
        events = [_named(event, scenario, tool_prefix) for event in session.events]
        path, moved = _kept(out, session.name, events, trials)
        losses = [{"where": loss.where, "what": loss.what} for loss in session.losses]
        if moved is not None:
            losses.append({"where": "trial", "what": moved})
        written.append({"session": session.name, "path": str(path), "losses": losses})
        if not as_json:
            for loss in losses:
                click.echo(f"{session.name}: {loss['where']}: {loss['what']}")
    if as_json:
        print_json(written)
    warn(*_by_file(unreadable, format_name))
    if written:
        lossy = sum(bool(item["losses"]) for item in written)
        click.echo(f"imported {counted(len(written), 'session')} to {out}, {lossy} with losses", err=True)
    if not all(isinstance(error, NothingToImportError) for error in unreadable):
        raise click.exceptions.Exit(2)
    if not written:
        click.echo(f"nothing to import: no session in {', '.join(map(str, inputs))}", err=True)
        raise click.exceptions.Exit(1)


def _named(event: "Event", scenario: str | None, prefixes: "Sequence[str]") -> "Event":
    """An event under the names that the caller gave: the scenario of a session, and tools without a host's prefix.

    The digest of another scenario is not kept, and a sub-agent's session does not become a trial.
    """
    from sandbox_mcp.engine.trajectory import SessionStarted, ToolCall

    def bare(name: str) -> str:
        return next((name.removeprefix(prefix) for prefix in prefixes if name.startswith(prefix)), name)

    if isinstance(event, SessionStarted):
        tools = tuple(
            replace(tool, tool=bare(tool.name) if bare(tool.name) != tool.name else tool.tool) for tool in event.tools
        )
        event = replace(event, tools=tools)
        if scenario is None or (event.origin or {}).get("parent"):
            return event
        digest = event.digest if event.scenario == scenario else ""
        return replace(event, scenario=scenario, digest=digest)
    if isinstance(event, ToolCall) and event.tool is not None and bare(event.name) != event.name:
        return replace(event, tool=bare(event.name))
    return event


def _by_file(errors: "Sequence[ImportFormatError]", format_name: str) -> "Iterator[str]":
    """Unreadable logs, a line each; of a file with many, the first and how many more there are.

    For a file with one half of conversations only, the message says what to give instead.
    """
    from sandbox_grader.importers.reading.halves import half_in

    of_file: dict[str, list[ImportFormatError]] = {}
    for error in errors:
        of_file.setdefault(error.path, []).append(error)
    for path, faults in of_file.items():
        told = faults if len(faults) <= MOST_TOLD else faults[:1]
        yield from map(str, told)
        if len(told) < len(faults):
            yield f"{path}: and {counted(len(faults) - len(told), 'more part')} that cannot be read"
        if half := half_in(Path(path)):
            yield f"{path}: {half}"
        elif (nearest := _nearest(Path(path.partition("!")[0]))) and nearest != format_name:
            yield f"{path}: it looks like the format {nearest}; try 'sandbox-mcp import {nearest}'"


def _nearest(path: Path) -> str | None:
    """The format whose marks a file has."""
    from sandbox_grader.errors import ImportFormatError
    from sandbox_grader.importers.mapped import recognised
    from sandbox_grader.importers.reading.json_values import load

    try:
        return recognised(load(path).nodes[0])
    except ImportFormatError:
        return None


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


class _Trials:
    """The trials that a folder has of each agent in each scenario and variant.

    Most formats do not number repetitions; comparisons need each of them to be a trial of its own.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._taken: dict[tuple[str, str, str], set[int]] | None = None

    def free(self, first: "SessionStarted") -> int:
        """The session's own trial, or the next one that no other session has; it is taken from now on."""
        if not first.scenario:
            return first.trial
        if self._taken is None:
            self._taken = {}
            for path in self._folder.glob("*.jsonl"):
                with path.open("rb") as log:
                    there = _started(log.readline())
                if there is not None:
                    self._taken.setdefault(self._place(there), set()).add(there.trial)
        taken = self._taken.setdefault(self._place(first), set())
        trial = first.trial if first.trial not in taken else max(taken) + 1
        taken.add(trial)
        return trial

    def _place(self, first: "SessionStarted") -> tuple[str, str, str]:
        return first.scenario, first.variant, repr(sorted(first.agent.items(), key=str))


def _kept(folder: Path, name: str, events: "Sequence[Event]", trials: _Trials) -> tuple[Path, str | None]:
    """Write a log, with a number behind its name where another log has that name; the same log is not written twice.

    Gives where it is, and what its trial became where that of the source is another session's.
    """
    from sandbox_grader.errors import GraderError

    from sandbox_mcp.engine.trajectory import SessionStarted, to_line

    first = events[0] if events else None
    if not isinstance(first, SessionStarted):
        raise GraderError(f"session {name!r} begins with {type(first).__name__}; expected SessionStarted")
    rest, number = "".join(map(to_line, events[1:])), 1
    while True:
        called = name if number == 1 else f"{name}-{number}"
        path, head = folder / f"{called}.jsonl", replace(first, session=called) if first.session == name else first
        if not path.exists():
            break
        data = path.read_bytes()
        there = _started(data.partition(b"\n")[0])
        if there is not None and data == (to_line(replace(head, trial=there.trial)) + rest).encode():
            return path, None
        number += 1
    trial = trials.free(first)
    write_whole(path, to_line(replace(head, trial=trial)) + rest)
    if trial == first.trial:
        return path, None
    return path, f"trial {first.trial} of {first.scenario!r} is another session's; this one counts as trial {trial}"


def _started(line: bytes) -> "SessionStarted | None":
    """Read the first line of a log; None where the line does not begin a log."""
    from sandbox_mcp.engine.trajectory import TrajectoryError, parse_trajectory

    try:
        return parse_trajectory(line).started
    except TrajectoryError:
        return None
