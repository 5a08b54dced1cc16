"""``sandbox-mcp agents``: which agents there are, and environments for the frameworks among them."""

import sys
from typing import Any

import click

from sandbox_mcp.cli.options import as_json, print_json, print_table


@click.group(invoke_without_command=True)
@as_json
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List the agents that 'run' knows, or install a framework's environment."""
    if context.invoked_subcommand is not None:
        return
    rows = _rows()
    if as_json:
        print_json(rows)
    else:
        print_table(("agent", "is", "asks", "ready"), [tuple(row.values()) for row in rows])


@command.command()
@click.argument("names", nargs=-1, required=True)
def install(names: tuple[str, ...]) -> None:
    """Make an environment for each framework named, or bring it up to date.

    Environments are kept in the folder that SANDBOX_MCP_AGENTS names, one per framework, so that what a framework needs
    and what this package needs never meet.
    """
    from clients.base import UnknownAgentError
    from clients.environments import install as make
    from clients.frameworks import FRAMEWORKS
    from scenarios.problem import closest

    for name in names:
        if name not in FRAMEWORKS:
            raise UnknownAgentError(f"unknown framework {name!r}; {closest(name, FRAMEWORKS)}")
    for name in names:
        click.echo(f"installing {name}", err=True)
        click.echo(make(name, FRAMEWORKS[name].requires, FRAMEWORKS[name].node))


def _rows() -> list[dict[str, Any]]:
    from pathlib import Path

    from clients.environments import python_of
    from clients.frameworks import FRAMEWORKS, versions
    from clients.registry import AGENTS

    ours = [
        {"agent": name, "is": "built in", "asks": "a model" if name not in _MODELLESS else "nobody", "ready": "yes"}
        for name in AGENTS
    ]
    theirs: list[dict[str, Any]] = []
    for name, framework in FRAMEWORKS.items():
        found = versions(python_of(name) or Path(sys.executable), framework.distributions)
        ready = all(found.values())
        main = framework.distributions[0] if framework.distributions else framework.title
        state = f"{main} {found.get(main) or ''}".strip() if ready else f"sandbox-mcp agents install {name}"
        theirs.append({"agent": name, "is": framework.title, "asks": framework.protocol, "ready": state})
    return [*ours, *theirs]


_MODELLESS = frozenset({"reference", "refuse"})
