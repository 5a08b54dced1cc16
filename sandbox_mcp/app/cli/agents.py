"""``sandbox-mcp agents``: which agents there are, and environments for the frameworks among them."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from sandbox_mcp.app.cli.options import FOLDER_HERE
from sandbox_mcp.app.cli.printing import as_json, print_json, print_table

OTHERS = (
    "also: a program as command:LINE or command-text:LINE, a service by its URL, and your own code as MODULE:ATTRIBUTE"
)


@click.group(invoke_without_command=True)
@as_json
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List the agents that 'run' knows, or install a framework's environment."""
    if context.invoked_subcommand is not None:
        return
    from sandbox_clients.frameworks import FRAMEWORKS, installed
    from sandbox_clients.registry import AGENTS, ASKING

    from sandbox_mcp.play.models.asking import ANTHROPIC, OPENAI

    rows: list[dict[str, Any]] = []
    for name in AGENTS:
        told = {"agent": name, "is": "built in", "asks": "a model" if name in ASKING else "nobody"}
        client = (ANTHROPIC if name == "anthropic" else OPENAI).package if name in ASKING else ""
        ready = not client or find_spec(client) is not None
        rows.append({**told, "ready": ready, **({"needs": client} if client else {})})
    for name, framework in FRAMEWORKS.items():
        found = installed(name)
        ready = all(found.values()) and len(found) == len(framework.requires) + len(framework.node)
        told = {"agent": name, "is": framework.title, "asks": framework.protocol}
        rows.append({**told, "ready": ready, "versions": found})
    if as_json:
        print_json(rows)
        return
    shown: list[tuple[str, ...]] = []
    for row in rows:
        state = f"pip install {row['needs']}" if "needs" in row else f"sandbox-mcp agents install {row['agent']}"
        if row["ready"]:
            state = " ".join(next(iter(row.get("versions", {}).items()), ("yes",)))
        shown.append((row["agent"], row["is"], row["asks"], state))
    print_table(("agent", "is", "asks", "ready"), shown)
    click.echo(OTHERS, err=True)


@command.command()
@click.argument("names", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Every framework there is.")
@click.option("--jobs", type=click.IntRange(1), default=2, help="Environments made at a time.")
@click.option("--checkout", type=FOLDER_HERE, help="With toolsandbox-import: the checkout to install.")
def install(names: tuple[str, ...], everything: bool, jobs: int, checkout: Path | None) -> None:
    """Make or update frameworks' environments.

    There is one for each framework. They are kept in the folder that SANDBOX_MCP_AGENTS names, so that what a framework
    needs and what this package needs never meet. One that cannot be made does not keep the others from being made.

    toolsandbox-import is an environment with a checkout of ToolSandbox, from which import-suite reads its scenarios.
    """
    from sandbox_clients.environments import EnvironmentSpec, install_all
    from sandbox_clients.frameworks import FRAMEWORKS

    from sandbox_mcp.app.benchmarks.toolsandbox import ENVIRONMENT as TOOLSANDBOX

    if (checkout is not None) != (TOOLSANDBOX in names):
        raise click.UsageError(f"{TOOLSANDBOX} and --checkout DIR go together")
    named = [name for name in names if name != TOOLSANDBOX]
    chosen = _wanted(named, everything) if named or everything or checkout is None else []
    wanted = [EnvironmentSpec(name, FRAMEWORKS[name].requires, FRAMEWORKS[name].node) for name in chosen]
    if checkout is not None:
        wanted.append(EnvironmentSpec(TOOLSANDBOX, (str(checkout),)))
    install_all(wanted, jobs, lambda line: click.echo(line, err=True))


def _wanted(names: Sequence[str], everything: bool) -> list[str]:
    """The frameworks asked for, each once."""
    from sandbox_clients.base import UnknownAgentError
    from sandbox_clients.frameworks import FRAMEWORKS
    from sandbox_scenarios.problem import closest

    if bool(names) == everything:
        raise click.UsageError(f"name frameworks, or give --all; known: {', '.join(FRAMEWORKS)}")
    for name in names:
        if name not in FRAMEWORKS:
            raise UnknownAgentError(f"unknown framework {name!r}; {closest(name, FRAMEWORKS)}")
    return list(dict.fromkeys(names or FRAMEWORKS))
