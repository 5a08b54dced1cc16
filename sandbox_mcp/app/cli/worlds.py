"""``sandbox-mcp worlds``: what scenarios can be played in."""

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox_mcp.app.cli.options import PLACE, world_files
from sandbox_mcp.app.cli.printing import as_json, print_json, print_table
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.plurals import counted

if TYPE_CHECKING:
    from sandbox_mcp.app.authoring.server_check.findings import ServerFinding
    from sandbox_mcp.engine.tools import Tool, World
    from sandbox_mcp.engine.world import Column
    from sandbox_mcp.engine.world.effects import Effects
    from sandbox_mcp.engine.world.schema import CellRole, TableSchema


@click.group()
def command() -> None:
    """List, show and check worlds, and start a new one.

    A world is found by its name if it is built in or an installed package declares it, and with --world FILE.
    """


@command.command()
@click.argument("places", nargs=-1, required=True, type=PLACE)
@click.option("--again", is_flag=True, help="Also for servers of which something is known already.")
def learn(places: tuple[Path, ...], again: bool) -> None:
    """Start live servers once, and keep their tools and state.

    PLACES are files or folders of scenarios whose world is {server: COMMAND}. They are read, listed and graded with
    what is kept, and no server is started for that. 'run' and 'scenarios lint' learn missing ones by themselves.
    """
    from sandbox_mcp.app.authoring.learning import learn as learn_servers

    if not learn_servers(places, lambda told: click.echo(told, err=True), again=again):
        click.echo("nothing to learn: each live server is known", err=True)


@command.command("list")
@world_files
@as_json
def list_(as_json: bool) -> None:
    """List the worlds that can be found here.

    The exit code is 2 if one of them cannot be loaded.
    """
    from sandbox_mcp.engine.worlds import named, names

    found: list[dict[str, Any]] = []
    broken: list[SandboxError] = []
    for name in names():
        try:
            found.append(_counts(named(name)))
        except SandboxError as error:
            broken.append(SandboxError(f"world {name!r}: {error}"))
    if as_json:
        print_json(found)
    else:
        headers = ("name", "version", "tables", "tools", "acts", "events", "gates")
        print_table(headers, [tuple(item[header] for header in headers) for item in found])
    if broken:
        broken[0].more = broken[1:]
        raise broken[0]


def _counts(world: "World") -> dict[str, Any]:
    counts = {"tables": world.tables, "tools": world.agent_tools, "acts": world.user_acts}
    sizes = {name: len(items) for name, items in counts.items()}
    return {
        "name": world.name,
        "version": world.version,
        **sizes,
        "events": len(world.events),
        "gates": len(world.gates),
    }


@command.command()
@click.argument("name")
@world_files
@as_json
def show(name: str, as_json: bool) -> None:
    """Print one world.

    Shown are its tables, its tools, what happens in it by itself, and what its agent is told.
    """
    from sandbox_grader.papers.toolscan.names import name_similarity

    from sandbox_mcp.engine.worlds import named

    world = named(name)
    likeness = dict(name_similarity(world.agent_tools))
    if as_json:
        print_json(_as_json(world, likeness))
        return
    click.echo(f"{world.name}, version {world.version}, digest {world.digest}\n\n{world.briefing}\n")
    columns = [
        (table, item.name, _kind(item), _notes(schema, item))
        for table, schema in world.tables.items()
        for item in schema.columns
    ]
    print_table(("table", "column", "holds", ""), columns)
    click.echo("")
    tools = [*world.agent_tools.values(), *world.user_acts.values()]
    rows = [(tool.name, tool.domain, _does(tool), tool.description.partition("\n")[0]) for tool in tools]
    print_table(("tool", "group", "does", "about"), rows)
    happens = [
        (event.name, "event", f"{event.table.name}.{event.column}", _writes(event.effects)) for event in world.events
    ]
    happens += [(gate.name, "gate", f"opened by {gate.opened_by}", "") for gate in world.gates.values()]
    if happens:
        click.echo("")
        print_table(("name", "kind", "at", "does"), happens)
    click.echo("")
    print_table(("likeness of tool names, mean of all pairs", "value"), list(likeness.items()))


def _kind(item: "Column") -> str:
    kind = " | ".join(map(str, item.choices)) or item.items or item.type
    told = _role(item.role) or (kind if item.type != "list" else f"list of {_role(item.item_role) or kind}")
    return f"{told}{' or null' if item.nullable else ''}"


def _role(role: "CellRole | None") -> str:
    return f"{role.kind}{f' of {role.table}' if role.table else ''}" if role else ""


def _notes(schema: "TableSchema", item: "Column") -> str:
    key = item.name == schema.key
    notes = {
        "a single row": key and schema.single,
        "lasting": key and schema.lasting,
        "fixed rows": key and schema.fixed is not None,
        "hidden": item.hidden,
        "passing": item.passing,
        "unsaid": item.unsaid,
        "a person's name": item.person,
        "true of the user": item.name == schema.owner,
        f"called {' or '.join(item.called)}": bool(item.called),
        f"compared {item.measure}": item.measure != "exact",
    }
    return ", ".join(name for name, holds in notes.items() if holds)


def _does(tool: "Tool") -> str:
    if not tool.action:
        return "looks"
    return f"{'the user acts' if tool.caller == 'user' else 'acts'}: {_writes(tool.effects)}"


def _writes(effects: "Effects | None") -> str:
    if effects is None:
        return "writes anything"
    parts = [f"adds {table}" for table in sorted(effects.adds)]
    parts += [f"updates {table} ({', '.join(sorted(columns))})" for table, columns in sorted(effects.updates.items())]
    parts += [f"removes {table}" for table in sorted(effects.removes)]
    return ", ".join(parts) or "writes nothing"


def _as_json(world: "World", likeness: dict[str, float]) -> dict[str, Any]:
    return {
        **_counts(world),
        "digest": world.digest,
        "briefing": world.briefing,
        "tables": {
            name: {item.name: {"holds": _kind(item), "notes": _notes(schema, item)} for item in schema.columns}
            for name, schema in world.tables.items()
        },
        "tools": {
            tool.name: {
                "group": tool.domain,
                "does": _does(tool),
                "about": tool.description,
                "takes": tool.input_schema(),
            }
            for tool in (*world.agent_tools.values(), *world.user_acts.values())
        },
        "events": {event.name: f"{event.table.name}.{event.column}" for event in world.events},
        "gates": {gate.name: gate.opened_by for gate in world.gates.values()},
        "likeness": likeness,
    }


@command.command()
@click.argument("names", nargs=-1)
@world_files
@as_json
def check(names: tuple[str, ...], as_json: bool) -> None:
    """Try worlds' tools, and look for forbidden names in their code.

    Without NAMES the worlds in the files that --world names, or else all. Their code is run, with your rights. A tape
    has no code; it is looked at as check-server does. The exit code is 1 if there is anything to mend.
    """
    from sandbox_mcp.app.authoring.world_check import OtherProcess, WorldFinding, check_world
    from sandbox_mcp.engine.worlds import TAPE, files, load, named
    from sandbox_mcp.engine.worlds import names as all_names

    own = [world for path in files() for world in load(path)]
    worlds, found = [named(name) for name in names] or own, list[WorldFinding]()
    for name in all_names() if not worlds else ():
        try:
            worlds.append(named(name))
        except SandboxError as error:
            found.append(WorldFinding(name, name, "declaration", str(error)))
    tapes = [world for world in worlds if world.origin.endswith(TAPE)]
    worlds = [world for world in worlds if world not in tapes]
    on_tapes = [(tape.name, finding) for tape in tapes for finding in _of_tape(tape)]
    refused: dict[str, dict[str, str]] = {world.name: {} for world in worlds}
    elsewhere = OtherProcess(worlds)
    with redirect_stdout(sys.stderr):  # for what a world prints; stdout is for the findings
        found += (finding for world in worlds for finding in check_world(world, refused[world.name]))
        seen = {(finding.world, finding.place) for finding in found}
        found += (item for item in elsewhere.differences() if (item.world, item.place) not in seen)
    if as_json:
        findings = [item.to_json() for item in found]
        findings += ({"world": name, **item.to_json()} for name, item in on_tapes)
        print_json({"worlds": [world.name for world in (*worlds, *tapes)], "findings": findings, "refused": refused})
    else:
        for tool, said in ((tool, said) for tools in refused.values() for tool, said in tools.items()):
            click.echo(f"not tried to its end: {tool}() refused every made-up call, last with {said}", err=True)
        for finding in (*found, *(item for _, item in on_tapes)):
            click.echo(str(finding))
    total = len(found) + len(on_tapes)
    click.echo(f"{counted(len(worlds) + len(tapes), 'world')}, {counted(total, 'finding')}", err=True)
    if total:
        raise click.exceptions.Exit(1)


def _of_tape(tape: "World") -> "tuple[ServerFinding, ...]":
    """Faults of a tape's tools, as ``check-server`` finds them."""
    from sandbox_mcp.app.authoring.server_check.findings import findings
    from sandbox_mcp.app.authoring.server_check.seen import seen_on

    return tuple(findings(seen_on(Path(tape.origin))))


@command.command()
@click.argument("name")
@click.option("--in", "folder", type=PLACE, help="The folder to write.  [default: one of the world's name]")
@as_json
def new(name: str, folder: Path | None, as_json: bool) -> None:
    """Start a world: write a package to change.

    It has a small world, two scenarios and a test, all of which pass as they are.
    """
    from sandbox_mcp.app.authoring.new_world import new_world

    written = new_world(name, folder or Path(name))
    if as_json:
        print_json({"name": name, "files": [str(path) for path in written]})
        return
    for path in written:
        click.echo(str(path))
    module = written[1]
    click.echo(f"now: sandbox-mcp worlds check --world {module}", err=True)
