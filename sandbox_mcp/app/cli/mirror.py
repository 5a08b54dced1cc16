"""``sandbox-mcp mirror``: put a real MCP server's answers on a tape, which is a world.

Policy: stdout belongs to the protocol; what cannot be passed on unchanged is named on stderr.
"""

import os
from pathlib import Path

import click

from sandbox_mcp.app.cli import warn
from sandbox_mcp.app.cli.options import WRITTEN


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("-o", "--out", required=True, type=WRITTEN, help="The tape (.jsonl); one that exists is continued.")
@click.option(
    "--redact",
    multiple=True,
    metavar="NAME",
    help="A name whose values are left out. May be repeated.",
)
@click.option(
    "--reads",
    multiple=True,
    metavar="TOOL",
    help="A tool that only looks, though the server does not say so. May be repeated.",
)
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="NAME=VARIABLE",
    help="With a URL: a header, and the environment variable that holds its value. May be repeated.",
)
@click.argument("server", nargs=-1, required=True, type=click.UNPROCESSED)
def command(
    out: Path, redact: tuple[str, ...], reads: tuple[str, ...], headers: tuple[str, ...], server: tuple[str, ...]
) -> None:
    """Stand between a client and an MCP server, and record every call on a tape.

    SERVER is a command, best after --, or a URL, and comes after all options. Have your client start this command in
    its place: over stdio it offers the server's tools and passes every call on. Scenarios play on the tape with
    'world: {recorded: tape.jsonl}'.
    """
    if out.suffix != ".jsonl":
        raise click.UsageError(f"the tape is {str(out)!r}; expected a name that ends in .jsonl")
    url = server[0] if len(server) == 1 and server[0].startswith(("http://", "https://")) else ""
    if headers and not url:
        raise click.UsageError("--header is for a server that is given by its URL")
    values: dict[str, str] = {}
    for written in headers:
        name, equals, variable = written.partition("=")
        if not name or not equals or variable not in os.environ:
            told = f"--header {name}={variable}" if equals else f"--header {written!r}"
            raise click.UsageError(f"{told}: expected NAME=VARIABLE with a variable that is set")
        values[name] = os.environ[variable]

    import anyio

    from sandbox_mcp.play.server.mirror import LONGEST, Upstream, mirrored, recording
    from sandbox_mcp.play.server.stdio import serve_stdio

    upstream = Upstream(url=url, headers=values) if url else Upstream(command=server)

    async def mirror() -> None:
        with recording(out, frozenset(redact), frozenset(reads)) as recorder:
            async with mirrored(upstream, recorder, warn) as face:
                await serve_stdio(face, longest=LONGEST)

    anyio.run(mirror)
