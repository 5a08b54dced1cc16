"""``sandbox-mcp serve --tape``: a mock of the server that a tape was recorded from.

Policy: a mock that was asked for more than it knows says so while it runs, and exits with 1 when it ends.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

ALLOWED = frozenset({"tape", "on_miss", "latency", "faults", "seed", "http", "host", "port", "hosts"})


def check_alone(context: click.Context) -> None:
    """See that nothing was said about scenarios, which a mock has none of.

    Raises:
        click.UsageError: something was.
    """
    for item in context.command.params:
        name = item.name or ""
        if name not in ALLOWED and context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"{item.opts[0]} says something of scenarios; a mock has none, so leave it out with --tape"
            )


def serve_tape(tape: Path, given: Mapping[str, Any], *, http: bool) -> None:
    """Serve a tape until the client leaves, or a signal says to stop.

    Raises:
        SandboxError: the tape or an option cannot be used, or the server that answers misses cannot be reached.
    """
    import anyio

    from sandbox_mcp.engine.worlds.recorded import read_tape
    from sandbox_mcp.play.server.tape_mock import TapeMock, asking, check_options

    read = read_tape(tape)
    options = check_options(given["faults"], given["latency"], given["seed"] or 0)
    mock = TapeMock(read, options, tell=lambda told: click.echo(told, err=True))

    async def serve() -> None:
        async with asking(given["on_miss"], read) as ask:
            mock.answered_by(ask)
            if http:
                await _over_http(mock, given)
            else:
                from sandbox_mcp.play.server.stdio import serve_stdio

                await serve_stdio(mock.server())

    with suppress(KeyboardInterrupt):
        anyio.run(serve)
    click.echo(mock.told, err=True)
    if mock.misses:
        raise click.exceptions.Exit(1)


async def _over_http(mock: Any, given: Mapping[str, Any]) -> None:
    import uvicorn

    from sandbox_mcp.play.server.app import base_url, listener_on
    from sandbox_mcp.play.server.settings import LOOPBACK, ServerError

    if given["host"] not in LOOPBACK and not given["hosts"]:
        raise ServerError(f"listening on {given['host']!r} lets other machines in; that needs --allowed-host")
    listener = listener_on(given["host"], given["port"])
    click.echo(f"mock: {base_url(listener)}/mcp, or {base_url(listener)}/s/NAME/mcp for a state of its own", err=True)
    click.echo(f"misses: {base_url(listener)}/misses", err=True)
    app = mock.app(hosts=given["hosts"])
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, lifespan="on"))
    try:
        await server.serve([listener])
    finally:
        listener.close()
