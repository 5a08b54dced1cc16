"""``sandbox-mcp replay``: proof that a recorded session is deterministic."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from sandbox_mcp.app.cli.logs import LogPlace, of_each_log
from sandbox_mcp.app.cli.options import FOLDER_HERE, PLACE, scenario_files
from sandbox_mcp.app.cli.printing import as_json, print_json
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.whole_files import write_whole

if TYPE_CHECKING:
    from sandbox_grader.reporting.scenario_of_log import SuiteFinder

    from sandbox_mcp.app.benchmarks.tooltalk.prefix import Truths
    from sandbox_mcp.app.run.by_hand import PlayableSuite
    from sandbox_mcp.engine.trajectory import Trajectory
    from sandbox_mcp.engine.worlds.office.tooltalk import ReplayedConversation
    from sandbox_mcp.play.session.replay import ReplayDifference


@click.command()
@click.argument("paths", nargs=-1, type=LogPlace())
@click.option(
    "--tooltalk",
    type=FOLDER_HERE,
    help="A checkout of ToolTalk: alone, its ground truth is executed in the office; with PATHS, they are runs of it.",
)
@click.option("-o", "--out", type=PLACE, help="With --tooltalk: where to write what came out.")
@scenario_files
@as_json
def command(
    paths: tuple[Path, ...], tooltalk: Path | None, out: Path | None, places: tuple[Path, ...], as_json: bool
) -> None:
    """Execute every call of recorded sessions again and say whether results and state agree.

    PATHS are logs or folders of them. Where a log's scenario is known, the state that it began with and what its user
    did are compared with it, too; an imported log, which has no state, is carried out in the world of its scenario.
    Exits with 1 if a session disagrees, with 2 if a log cannot be read; it is named, and the others are replayed. In
    logs of run --mode prefix every reply's calls are executed in the world that the ground truth had made; those of
    ToolTalk's conversations need --tooltalk.

    With --tooltalk and no PATHS, every call of ToolTalk's ground truth is executed on its databases, and the outcome is
    held against what was recorded: by ToolTalk's own metrics, and to the letter. Exits with 1 if a call is not
    accepted, or differs otherwise than in the original's own replay.
    """
    if tooltalk is not None and not paths:
        _replay_tooltalk(tooltalk, out, as_json)
        return
    if out is not None or not paths:
        raise click.UsageError("give logs or folders of them, or --tooltalk with a checkout and perhaps -o")
    from sandbox_grader.reporting.scenario_of_log import SuiteFinder

    unusable: list[Path] = []
    replayed = LogReplays(SuiteFinder(places), tooltalk)
    found = {str(path): items for path, items in of_each_log(paths, replayed.differences, unusable)}
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


class LogReplays:
    """Replays logs, those of prefixes with the material that they were made of."""

    def __init__(self, find: "SuiteFinder", checkout: Path | None = None) -> None:
        self._find = find
        self._checkout = checkout
        self._suites: dict[str, PlayableSuite] = {}

    def differences(self, log: "Trajectory") -> "list[ReplayDifference]":
        """The differences between the log and its replay.

        Raises:
            SandboxError: it cannot be replayed.
        """
        from sandbox_mcp.app.benchmarks.tooltalk.prefix_replay import is_prefix_replay

        if not is_prefix_replay(log):
            return list(_differences(log, self._find))
        import anyio

        from sandbox_mcp.app.benchmarks.tooltalk.conversations import Conversations
        from sandbox_mcp.app.benchmarks.tooltalk.prefix import ORIGIN, played_truth
        from sandbox_mcp.app.benchmarks.tooltalk.prefix_replay import prefix_differences
        from sandbox_mcp.app.run.by_hand import PlayableSuite
        from sandbox_mcp.app.run.errors import RunError
        from sandbox_mcp.play.session import SessionSpec
        from sandbox_mcp.play.session.manager import SessionManager

        started = log.started
        kind = str((started.origin or {}).get("format"))
        if kind not in self._suites:
            if kind != "tooltalk":
                self._suites[kind] = PlayableSuite(self._find.places)
            elif self._checkout is None:
                told = "it holds prefixes of a conversation of ToolTalk; name your checkout of it with --tooltalk"
                raise RunError(told)
            else:
                self._suites[kind] = Conversations(self._checkout)
        suite = self._suites[kind]
        scenario = suite.get(started.scenario)
        spec = SessionSpec(scenario, started.variant, started.seed, started.trial, agent=started.agent)
        truths: Truths = played_truth
        if isinstance(suite, Conversations):
            spec, truths = suite.completed(spec), suite.truth
        if kind == ORIGIN and scenario.digest != started.digest:
            raise RunError(f"scenario {started.scenario!r} has changed since {log.path!r} was recorded")
        return anyio.run(prefix_differences, log, SessionManager(suite), spec, truths)


def _differences(log: "Trajectory", find: "SuiteFinder") -> "Iterator[ReplayDifference]":
    """Every disagreement between a log and its replay; a log without a state is carried out in its scenario's world.

    Raises:
        RunError: the log has no state, and its scenario is not known here.
    """
    from sandbox_grader.grading.rebuild import can_rebuild, rebuilt
    from sandbox_grader.reporting.scenario_of_log import placed

    from sandbox_mcp.app.run.errors import RunError
    from sandbox_mcp.play.session.replay import ReplayDifference, differences

    log, scenario = placed(log, find)
    if not can_rebuild(log):
        yield from differences(log, scenario)
        return
    if scenario is None:
        told = f"records no state, and its scenario {log.started.scenario!r} is not known here"
        raise RunError(f"{log.path}: {told}; name the file or folder with --scenarios PATH")
    for item in rebuilt(log, scenario, always=True).mismatches:
        yield ReplayDifference(item.seq, f"outcome of {item.tool}", item.recorded, item.again)


def _replay_tooltalk(checkout: Path, out: Path | None, as_json: bool) -> None:
    from sandbox_mcp.engine.worlds.office.tooltalk import replay

    replayed = list(replay(checkout))
    calls = [call for conversation in replayed for call in conversation.calls]
    with TemporaryDirectory() as folder:
        accepted = _accepted(replayed, out or Path(folder))
    differing = [call for call in calls if call.difference]
    unknown = [call for call in differing if not call.known]
    if as_json:
        shown = [{**asdict(call), "known": call.known} for call in differing]
        print_json({"calls": len(calls), "accepted": accepted, "differences": shown})
    else:
        click.echo(f"accepted by ToolTalk's metrics: {accepted} of {counted(len(calls), 'call')}")
        kinds = Counter(call.difference for call in differing if call.known)
        told = ", ".join(f"{kind} {number}" for kind, number in kinds.items()) or "none"
        click.echo(f"differing as in the original's own replay: {sum(kinds.values())} ({told})")
        click.echo(f"differing otherwise: {len(unknown)}")
        for call in unknown:
            click.echo(f"  {call.name} {call.tool}: recorded {call.recorded}, replayed {call.replayed}")
    if unknown or accepted < len(calls):
        raise click.exceptions.Exit(1)


def _accepted(replayed: "Sequence[ReplayedConversation]", folder: Path) -> int:
    """Number of the ground truth's calls that ToolTalk's metrics find among those replayed, as its authors count."""
    from sandbox_grader.grading.metric import Subject
    from sandbox_grader.importers import importer
    from sandbox_grader.papers.tooltalk import ToolTalk

    from sandbox_mcp.engine.trajectory import parse_trajectory, to_line

    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{conversation.name}.json" for conversation in replayed]
    for path, conversation in zip(paths, replayed, strict=True):
        write_whole(path, json.dumps(conversation.document, indent=1))
    sessions = (parse_trajectory("".join(map(to_line, item.events)).encode()) for item in importer("tooltalk")(paths))
    return sum(ToolTalk().grade(Subject(session), "compat").values["matches"] for session in sessions)
