"""``sandbox-mcp check-server``: what agents stumble over in a server's tools, and with which of two versions less.

Policy: without a model only facts are told, each with its reason. The exit code is 1 only where a limit was named.
"""

import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox_mcp.app.cli.printing import as_json, print_json, print_table
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.plurals import counted

if TYPE_CHECKING:
    from sandbox_mcp.app.authoring.server_check.seen import SeenServer


@click.command(name="check-server", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option(
    "--against", metavar="SERVER", help="Another version of it, for a comparison; with --model over the same wishes."
)
@click.option(
    "--model",
    metavar="NAME",
    help="Also ask this model, at OPENAI_BASE_URL, which tool it would call for drafted wishes.",
)
@click.option("--wishes", type=click.IntRange(1), default=2, help="With --model: wishes to draft for each tool.")
@click.option(
    "--calls",
    type=click.Choice(["looking", "all", "none"]),
    default="looking",
    help="Which tools to call without the arguments that they need, to see what their errors say.",
)
@click.option("--max-findings", type=click.IntRange(0), help="Exit with 1 if there are more findings.")
@as_json
@click.argument("server", nargs=-1, required=True, type=click.UNPROCESSED)
def command(
    server: tuple[str, ...], against: str | None, model: str | None, wishes: int, calls: str,
    max_findings: int | None, as_json: bool,
) -> None:  # fmt: skip
    """Say what agents stumble over in the tools of an MCP server.

    SERVER is a command, best after --, a URL, or a tape (.jsonl), and comes after all options. It looks at names,
    descriptions, schemas, annotations, errors, results, the cost of the list, and both eras of the protocol; each
    finding has its reason. Nothing that acts is called unless --calls all asks for it.
    """
    from sandbox_mcp.app.authoring.server_check.findings import findings, tokens_of

    seen = _seen(server, calls)
    other = _seen(tuple(shlex.split(against)), calls) if against else None
    found = {item.place: findings(item) for item in (seen, other) if item is not None}
    choices: Any = None
    if model is not None:
        from sandbox_mcp.app.authoring.server_check.choosing import choices_of

        choices = choices_of(seen, other, model, wishes, lambda told: click.echo(told, err=True))
    if as_json:
        print_json(
            {
                "servers": [
                    {"server": item.place, "name": item.name, "tools": len(item.tools), "tokens": tokens_of(item.tools),
                     "eras": item.eras, "findings": [one.to_json() for one in found[item.place]]}
                    for item in (seen, other) if item is not None
                ],
                "choices": choices.to_json() if choices else None,
            }
        )  # fmt: skip
    else:
        for item in (seen, other):
            if item is not None:
                eras = ", ".join(item.eras) or "not asked"
                cost = f"about {tokens_of(item.tools)} tokens"
                click.echo(f"{item.name}: {counted(len(item.tools), 'tool')}, {cost}, protocol {eras}")
                for one in found[item.place]:
                    click.echo(f"  {one}")
        if choices:
            print_table(choices.headers, choices.rows)
            click.echo(choices.verdict)
    total = sum(map(len, found.values()))
    click.echo(counted(total, "finding"), err=True)
    if max_findings is not None and total > max_findings:
        raise click.exceptions.Exit(1)


def _seen(server: tuple[str, ...], calls: str) -> "SeenServer":
    from sandbox_mcp.app.authoring.server_check.seen import seen_of, seen_on
    from sandbox_mcp.play.session.running_server import last_words
    from sandbox_mcp.play.session.upstream import Upstream

    if len(server) == 1 and server[0].endswith(".jsonl"):
        return seen_on(Path(server[0]))
    words = tuple(shlex.split(server[0])) if len(server) == 1 else server
    url = words[0] if words[0].startswith(("http://", "https://")) else ""
    with tempfile.TemporaryFile("w+", errors="replace") as errors:
        try:
            return seen_of(Upstream(url=url) if url else Upstream(command=words, errors=errors), calls=calls)
        except SandboxError as error:
            raise SandboxError(f"{error}{last_words(errors)}") from error
