"""``sandbox-mcp scenarios``: what there is to play."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox_mcp.app.cli import warn
from sandbox_mcp.app.cli.options import (
    FOLDER_HERE,
    PLACE_HERE,
    WRITTEN,
    learn_servers,
    quiet_option,
    scenario_files,
    scenarios_of_world,
)
from sandbox_mcp.app.cli.printing import as_json, print_json, print_table
from sandbox_mcp.app.cli.progress import TENTHS, counting
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.whole_files import write_whole

if TYPE_CHECKING:
    from sandbox_scenarios import Scenario
    from sandbox_scenarios.stats import Stats

    from sandbox_mcp.app.authoring.drafting.draft import Proof
    from sandbox_mcp.app.authoring.drafting.from_logs import DraftedLogs


@click.group()
def command() -> None:
    """List, show and check scenarios."""


@command.command("list")
@click.argument("selectors", nargs=-1)
@click.option("--category", metavar="NAME", help="Only scenarios of this category.")
@click.option("--search", metavar="WORDS", help="Only those in whose name, task, tools or tags all of the words occur.")
@scenarios_of_world
@as_json
def list_(
    selectors: tuple[str, ...],
    category: str | None,
    search: str | None,
    world: str,
    places: tuple[Path, ...],
    as_json: bool,
) -> None:
    """List scenarios that can be played.

    They are those of your own files, of the phone, or of the world named. SELECTORS are those of 'run': names,
    patterns such as 'late_*', category:NAME, world:NAME, tags such as 'hard:*'.
    """
    from sandbox_scenarios.selectors import check_category, in_worlds, select

    if category is not None:
        check_category(category)
    suite = _suite(places)
    found: list[Scenario] = list(in_worlds(suite, world)) if not selectors else []
    if selectors:
        found = [suite.get(name) for name in select(suite, [*([f"world:{world}"] if world else []), *selectors])]
    found = [item for item in found if category is None or category in item.categories]
    if search is not None:
        words = search.casefold().split()
        texts: dict[str, str] = {}
        for item in found:
            told = (item.about, item.user.goal, item.user.opening, item.name.replace("_", " "))
            texts[item.name] = "\n".join((item.name, *told, *item.tools, *item.categories, *item.tags)).casefold()
        found = [item for item in found if all(word in texts[item.name] for word in words)]
        if not found:
            raise click.UsageError(f"no scenario here has all the words of {search!r}; try fewer, or --world '*'")
    if as_json:
        shown = ("name", "about", "categories", "world", "tags", "tools")
        print_json(
            [{name: item.home.name if name == "world" else getattr(item, name) for name in shown} for item in found]
        )
    else:
        rows = [(item.name, ", ".join(item.categories), item.about) for item in found]
        print_table(("name", "categories", "about"), rows)


@command.command()
@click.argument("name")
@scenario_files
@as_json
def show(name: str, places: tuple[Path, ...], as_json: bool) -> None:
    """Print one scenario, with its answer.

    Shown are its user, tools, solutions, milestones and minefields.
    """
    scenario = _suite(places).get(name)
    if not as_json:
        click.echo(_as_text(scenario))
        return
    from dataclasses import fields

    from sandbox_mcp.engine.trajectory.log import plain

    hidden = {"world", "line", "home", "cache"}
    shown = {item.name: getattr(scenario, item.name) for item in fields(scenario) if item.name not in hidden}
    named = {"world": scenario.home.name, "state": scenario.world.tables}
    print_json(json.loads(json.dumps({**shown, **named}, default=plain)))


@command.command()
@click.argument("selectors", nargs=-1)
@click.option("--deep", is_flag=True, help="Also play every scenario soundly and badly, and say what scores wrongly.")
@click.option(
    "--mutant", metavar="NAME", help="With one scenario: play this mutant of deep lint again and show what happened."
)
@click.option("--jobs", type=click.IntRange(min=1), default=1, help="Processes for --deep.")
@click.option(
    "--instances", type=click.IntRange(0, 20), default=0, metavar="N", help="Also read N of the first twenty instances."
)
@quiet_option
@scenario_files
@as_json
def lint(
    selectors: tuple[str, ...],
    deep: bool,
    mutant: str | None,
    jobs: int,
    instances: int,
    quiet: bool,
    places: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Check scenarios.

    Without SELECTORS those of all worlds are checked. The exit code is 1 if there is anything to mend.
    """
    from sandbox_scenarios.lint import lint as lint_quickly
    from sandbox_scenarios.selectors import select

    from sandbox_mcp.app.authoring.over_tapes import unanswered

    learn_servers(places)
    suite = _suite(places)
    names = select(suite, selectors or ["world:*"])
    if mutant is not None:
        _show_mutant(suite, names, mutant)
        return
    complaints, played = (*lint_quickly(suite, names, instances), *unanswered(suite, names)), 0
    if deep:
        from sandbox_mcp.app.authoring.deep_lint import deep_lint

        linted = deep_lint(places, names, jobs, counting("played", quiet=quiet, many=TENTHS))
        complaints, played = (*complaints, *linted.complaints), linted.played
    if as_json:
        found = [item.to_json() for item in complaints]
        print_json({"scenarios": len(names), "mutants": played, "complaints": found})
    else:
        for complaint in complaints:
            click.echo(str(complaint))
    mutants = f", {counted(played, 'mutant')}" if deep else ""
    click.echo(f"{counted(len(names), 'scenario')}{mutants}, {counted(len(complaints), 'complaint')}", err=True)
    if complaints:
        raise click.exceptions.Exit(1)


def _show_mutant(suite: Any, names: Sequence[str], mutant: str) -> None:
    """One mutant's session, and what became of every milestone."""
    from sandbox_grader.grading.conversation import conversation
    from sandbox_grader.milestones.strict import evaluate

    from sandbox_mcp.app.authoring.deep_lint import rehearse

    if len(names) != 1:
        raise click.UsageError("--mutant needs exactly one scenario")
    found, log = rehearse(suite, names[0], mutant)
    scenario = suite.get(names[0])
    result = evaluate(scenario, log)
    click.echo(f"An agent that {found.about}:\n\n{conversation(log)}")
    for number, milestone in enumerate(scenario.milestones):
        place = result.placed.get(number)
        click.echo(f"milestone {milestone.id}: {place.similarity if place else 0.0:.3f}")
    for number in result.hit:
        click.echo(f"minefield {scenario.minefields[number].id}: hit")
    for change in result.unwanted:
        click.echo(f"unwanted: {change.tool} {change.kind} a row of {change.table}")
    click.echo(f"score {result.score:.3f}, expected {found.span.words}")


@command.command()
@click.option(
    "--markdown", type=WRITTEN, help="Write the tables into this page, between its marks, and the picture beside it."
)
@click.option("--check", is_flag=True, help="Exit with 1 if a published figure is not reached.")
@scenarios_of_world
@as_json
def stats(markdown: Path | None, check: bool, world: str, places: tuple[Path, ...], as_json: bool) -> None:
    """Count what the suite covers.

    The counts stand beside ToolSandbox's, ToolTalk's and ToolScan's figures, world by world.
    """
    from sandbox_grader.papers.toolscan.names import name_similarity
    from sandbox_scenarios.selectors import of_world
    from sandbox_scenarios.stats import measure, picture, update

    suite = _suite(places)
    if world:
        of_world(suite, world)
    found = measure(suite, name_similarity, world)
    if markdown is not None:
        drawing = markdown.with_suffix(".svg")
        try:
            text = markdown.read_text(encoding="utf-8") if markdown.exists() else ""
            write_whole(markdown, update(text, found, drawing.name))
            write_whole(drawing, picture(found))
        except UnicodeDecodeError as error:
            raise click.UsageError(f"{markdown} is not UTF-8 text (byte {error.start}), and stays as it is") from error
        except OSError as error:
            raise click.UsageError(f"{error.filename} cannot be written: {error.strerror or error}") from error
    elif as_json:
        print_json(found.to_json())
    else:
        _print_stats(found)
    if check and found.missed:
        click.echo(f"short of published figures: {', '.join(item.name for item in found.missed)}", err=True)
        raise click.exceptions.Exit(1)


def _print_stats(found: "Stats") -> None:
    for name in ("statistics", "categories", "columns", "tools"):
        items = getattr(found, name)
        rows = [(item.name, item.ours, item.theirs, "" if item.met else "short") for item in items]
        click.echo("")
        if any(item.theirs is not None for item in items):
            print_table((name, "ours", "ToolSandbox", ""), rows)
        else:  # as of any world but the one that is made after ToolSandbox's
            print_table((name, "ours"), [row[:2] for row in rows])
    click.echo("")
    print_table(("scenarios that have", "ours"), [(item.name, item.ours) for item in found.features])
    click.echo("")
    sizes = [
        (item.name, item.scenarios, item.calls, item.most_calls, item.rows, item.tools, item.turns)
        for item in found.tiers
    ]
    print_table(("tier", "scenarios", "calls", "at most", "rows", "tools", "turns"), sizes)
    mechanisms = [(name, item.name, count) for item in found.tiers for name, count in sorted(item.mechanisms.items())]
    if mechanisms:
        click.echo("")
        print_table(("mechanism", "tier", "scenarios"), mechanisms)
    for name, counts in (("world", found.worlds), ("file", found.families)):
        click.echo("")
        print_table((name, "scenarios"), list(counts.items()))
    click.echo("")
    rows = [(variant, *(item[reading] for reading in found.readings)) for variant, item in found.similarity.items()]
    print_table(("similarity of tool names", *found.readings), rows)
    if found.dialogues:
        rows = [(item.name, item.ours, item.theirs, "" if item.met else "short") for item in found.dialogues]
        click.echo("")
        print_table(("dialogues", "ours", "ToolTalk", ""), rows)
    if found.environments:
        from sandbox_scenarios.stats import environment_heads

        click.echo("")
        print_table(environment_heads(found), [item.row() for item in found.environments])


@command.command()
@click.argument("runs", nargs=-1, required=True, metavar="[LABEL=]RUN...")
@click.option("-o", "--out", type=WRITTEN, help="Also write the figures to this file, as JSON.")
@scenario_files
@as_json
def difficulty(runs: tuple[str, ...], out: Path | None, places: tuple[Path, ...], as_json: bool) -> None:
    """Tell how hard scenarios were.

    Prints the share of sessions in RUNS that solved each, with its 95 % interval. A session solves its scenario
    with a score of 1. Sessions of scenarios that have changed since are left out. LABEL= names who played;
    otherwise the log's agent and model do.
    """
    from sandbox_grader.reporting.difficulty import attempts
    from sandbox_grader.reporting.difficulty import difficulty as figures
    from sandbox_grader.reporting.scenario_of_log import SuiteFinder

    from sandbox_mcp.engine.trajectory.finding import find_logs

    find, counts, left_out = SuiteFinder(places), list[Any](), 0
    for run in runs:
        label, _, place = ("", "", run) if Path(run).exists() else run.partition("=")
        if not place or not Path(place).exists():
            raise click.UsageError(f"{run!r} does not exist; expected a log or a folder of them, or LABEL=RUN")
        found, out_of_count = attempts(find_logs([Path(place)]), find, label)
        counts, left_out = counts + found, left_out + out_of_count
    told = figures(counts, left_out)
    if out is not None:
        write_whole(out, json.dumps(told, indent=1) + "\n")
    if as_json:
        print_json(told)
        return
    for part in ("tiers", "scenarios"):
        rows = [
            (name, item["sessions"], item["solved"], *item["interval"], ", ".join(item["players"]))
            for name, item in told[part].items()
        ]
        print_table((part.removesuffix("s"), "sessions", "solved", "low", "high", "played by"), rows)
        click.echo("")
    click.echo(f"{counted(told['sessions'], 'session')}, {told['left_out']} left out")


@command.command()
@click.option(
    "--from",
    "sources",
    required=True,
    multiple=True,
    type=PLACE_HERE,
    help="A recorded session, a folder of them, or a tape; of any format that 'import' recognises. May be repeated.",
)
@click.option("--format", "format_name", default="auto", metavar="FORMAT", help="The format of logs from elsewhere.")
@click.option("-o", "--out", type=WRITTEN, help="The file to write; otherwise a single draft is printed.")
@click.option("--name", help="The draft's name; made from the session's if left out.")
@scenario_files
def new(
    sources: tuple[Path, ...], format_name: str, out: Path | None, name: str | None, places: tuple[Path, ...]
) -> None:  # fmt: skip
    """Draft scenarios from recorded sessions.

    A session of ours becomes a scenario with its world, user, solution, milestones and minefields. Of sessions that
    recorded no state, and of tapes, each task becomes a scenario over the tools that were called, with milestones on
    calls and on what was said; their tape is written beside --out. Written drafts are also played: the exit code is 1
    if a solution does not score 1.
    """
    from sandbox_mcp.app.authoring.drafting import draft, prove
    from sandbox_mcp.app.authoring.drafting.from_logs import draft_logs, draft_tape
    from sandbox_mcp.app.authoring.drafting.sources import is_tape, sessions_in, to_import
    from sandbox_mcp.app.authoring.drafting.words import snake

    if out is not None and out.exists():
        raise click.UsageError(f"{out} exists already; name another file")
    suite = _suite(places)
    first, *others = sources
    if is_tape(first):
        if others:
            raise click.UsageError("one tape at a time; --from names several")
        _tell_drafts(draft_tape(first, suite, _needed(out), name or snake(_needed(out).stem)), "LOGS")
        return
    sessions = sessions_in(sources, format_name, suite, warn)
    if len(sessions) > 1 or sessions[0].started.world is None:
        made = draft_logs(sessions, suite, _needed(out), name or snake(_needed(out).stem))
        given, foreign = shlex.join(map(str, sources)), to_import(sources, format_name)
        imported = (f"sandbox-mcp import {format_name} {given} -o imported",) if foreign else ()
        _tell_drafts(made, "imported" if foreign else given, *imported)
        return
    folder = out and out.resolve().parent
    made = draft(sessions[0], suite, name or f"{sessions[0].started.scenario}_draft", folder)
    if out is None:
        click.echo(made.text, nl=False)
        return
    try:
        write_whole(out, made.text)
    except OSError as error:
        raise click.UsageError(f"{out} cannot be written: {error.strerror or error}") from error
    proof = prove(out, made.name, places)
    click.echo(f"{out}: {_told(made.name, proof)}", err=True)
    if not proof.holds:
        raise click.exceptions.Exit(1)


def _needed(out: Path | None) -> Path:
    if out is None:
        raise click.UsageError("these drafts go into a file, with a tape of the tools beside it; name it with --out")
    return out


def _told(name: str, proof: "Proof") -> str:
    ending = "the user ends the conversation" if proof.ended else "the user does not end the conversation"
    return f"scenario {name!r}; its solution scores {proof.score:.3f}, and {ending}"


def _tell_drafts(made: "DraftedLogs", logs: str, *before: str) -> None:
    for name, why in made.left_out.items():
        click.echo(f"left out: {name}: {why}", err=True)
    for name, proof in made.proofs.items():
        click.echo(f"{made.path}: {_told(name, proof)}", err=True)
    click.echo(f"{counted(len(made.proofs), 'scenario')} in {made.path}; read and mend, then:")
    for line in (*before, f"sandbox-mcp grade {logs} --scenarios {shlex.quote(str(made.path))}"):
        click.echo(line)
    if not made.holds:
        raise click.exceptions.Exit(1)


@command.command()
@click.option("--server", required=True, metavar="COMMAND|URL", help="The MCP server, as you would start it here.")
@click.option("-o", "--out", type=WRITTEN, required=True, help="The file to write (.yaml).")
@click.option("--files", type=FOLDER_HERE, help="A folder that each session gets a copy of, called /sandbox.")
@click.option("--reset", multiple=True, metavar="COMMAND", help="A shell command before each start. May be repeated.")
@click.option("--reset-tool", metavar="TOOL", help="A tool of the server that puts its state back; a URL needs one.")
@click.option("--reads", multiple=True, metavar="TOOL", help="A tool that only looks, though the server is silent.")
@click.option("--skip", multiple=True, metavar="TOOL", help="A tool that must not be called. May be repeated.")
@click.option(
    "--value", "values", multiple=True, metavar="NAME=VALUE", help="A value for an argument NAME or TOOL.NAME."
)
@click.option("--mask", multiple=True, metavar="FIELD", help="A field, or /pattern/, that differs between sessions.")
@click.option("--pairs", type=click.IntRange(min=0), default=6, help="So many drafts with two tools, at most.")
@click.option("--model", metavar="NAME", help="Have this model, at OPENAI_BASE_URL, propose values and words.")
@quiet_option
@as_json
def draft(
    server: str, out: Path, files: Path | None, reset: tuple[str, ...], reset_tool: str | None, reads: tuple[str, ...],
    skip: tuple[str, ...], values: tuple[str, ...], mask: tuple[str, ...], pairs: int, model: str | None, quiet: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Draft scenarios for a live MCP server.

    It calls the server's tools, also those that act, each on a fresh start and with made-up values, and writes what
    can be done with one tool or two as scenarios with milestones on calls and on the state that the server's own tools
    show. Read and mend them; 'run --scenarios FILE' plays them. The exit code is 2 if no tool could be used.
    """
    from sandbox_mcp.app.authoring.server_drafts.drafts import DraftRequest, draft_for_server, live_config

    if out.exists():
        raise click.UsageError(f"{out} exists already; name another file")
    if out.suffix not in (".yaml", ".yml"):
        raise click.UsageError(f"the file is {str(out)!r}; expected a name that ends in .yaml")
    if wrong := [item for item in values if not item.partition("=")[0] or "=" not in item]:
        raise click.UsageError(f"--value {wrong[0]}: expected NAME=VALUE or TOOL.NAME=VALUE")
    if server.startswith(("http://", "https://")) and not (reset or reset_tool):
        raise click.UsageError("a server at a URL keeps its state; --reset-tool or --reset puts it back for each trial")
    steps: list[Any] = [*reset, *([{"tool": reset_tool}] if reset_tool else [])]
    config = live_config(server, out, files, steps, {"reads": reads, "mask": mask})
    given = {name: value for name, _, value in (item.partition("=") for item in values)}
    wanted = DraftRequest(config, out, given, frozenset(skip), pairs, model)
    made = draft_for_server(wanted, lambda told: None if quiet else click.echo(told, err=True))
    if as_json:
        print_json({"file": str(made.path), "scenarios": made.names, "left_out": dict(made.left_out)})
        return
    for name, why in made.left_out.items():
        click.echo(f"left out: {name}: {why}", err=True)
    click.echo(f"{made.path}: {counted(len(made.names), 'scenario')}; read and mend them, then:")
    click.echo(f"sandbox-mcp run --scenarios {made.path} --agent reference --threshold 1 --out proof 'world:*'")


@command.command()
@click.argument("selectors", nargs=-1)
@click.option(
    "--for",
    "framework",
    type=click.Choice(["nemo-gym", "skyrl", "plain"]),
    default="plain",
    help="The framework whose form the rows have.",
)
@click.option("--split", default="all", help="Only this split: train, validation, test, or all.")
@click.option("--instances", type=click.IntRange(min=0), default=0, help="So many fresh instances of each scenario.")
@click.option("--secret", default="", metavar="TEXT", help="Name the instances by what follows from this, not 1, 2, 3.")
@click.option("--first", type=click.IntRange(min=1), default=1, help="The number of the first instance.")
@click.option("--variant", metavar="NAME", default="base", help="How the scenarios' tools are presented.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Decides the worlds' ids.")
@click.option("--easiest-first", is_flag=True, help="In the order of how much the shortest solution takes.")
@click.option("-o", "--out", type=WRITTEN, help="The file to write; otherwise they are printed.")
@scenario_files
def rows(selectors: tuple[str, ...], places: tuple[Path, ...], out: Path | None, **asked: Any) -> None:
    """Write scenarios as rows of a data set.

    The rows are JSON Lines, for training. Splits keep families whole. Nothing in a row says what would solve it.
    SELECTORS are those of 'run'.
    """
    from sandbox_mcp.play.training.rows import FORMS
    from sandbox_mcp.play.training.tasks import tasks

    suite, form, split = _suite(places), FORMS[asked.pop("framework")], asked["split"]
    found = tasks(suite, selectors, count=asked.pop("instances"), **asked)
    lines = (json.dumps(form(suite, task, number, split), ensure_ascii=False) for number, task in enumerate(found))
    if out is None:
        for line in lines:
            click.echo(line)
        return
    write_whole(out, "".join(f"{line}\n" for line in lines))
    click.echo(f"wrote {counted(len(found), 'row')} to {out}", err=True)


@command.command()
def schema() -> None:
    """Print the JSON Schema of scenario files.

    With it an editor completes and checks them.
    """
    from sandbox_scenarios.schema import RawFile

    print_json(RawFile.model_json_schema())


def _suite(places: Sequence[Path]) -> Any:
    from sandbox_scenarios.loader import Suite

    return Suite(places)


def _as_text(scenario: "Scenario") -> str:
    user = scenario.user
    lines = [
        f"{scenario.name}: {scenario.about}",
        f"world: {scenario.home.name}",
        f"categories: {', '.join(scenario.categories)}",
        *([f"tags: {', '.join(scenario.tags)}"] if scenario.tags else []),
        f"tools: {', '.join(scenario.tools)}",
        *([f"withheld: {', '.join(scenario.without)}"] if scenario.without else []),
        f"goal: {user.goal}",
        f"opening: {user.opening}",
        *[f"refuses: {item}" for item in user.wants_not],
        *[f"knows: {item}" for item in user.knows],
        *[f"does not know: {item}" for item in user.does_not_know],
    ]
    for number, solution in enumerate(scenario.solutions, start=1):
        lines.append(f"solution {number}{': ' + solution.about if solution.about else ''}")
        for turn in solution.turns:
            lines += [f"  {call.tool}({json.dumps(call.arguments, ensure_ascii=False)})" for call in turn.calls]
            lines.append(f"  says: {turn.reply}")
    for kind, items in (("milestone", scenario.milestones), ("minefield", scenario.minefields)):
        lines += [f"{kind} {item.id}{' after ' + ', '.join(item.after) if item.after else ''}" for item in items]
    return "\n".join(lines)
