"""``sandbox-mcp endpoint``: a model endpoint that plays a script, for a dry run of a stack without a key."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandbox_mcp.app.cli.options import FILE_HERE, RealRange, scenario_files

if TYPE_CHECKING:
    from sandbox_mcp.app.endpoint import Brain

DEFAULT_PORT = 8099
FAULTS = ("hang", "half", "invalid_json", "empty")


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("program", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--scenario",
    "names",
    multiple=True,
    metavar="NAME",
    help="Scenario to know the answers of. May be repeated. [default: all]",
)
@click.option("--script", type=FILE_HERE, help="File that says what to answer.")
@click.option("--as-user", is_flag=True, help="Play the user, not the agent.")
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), show_default=f"{DEFAULT_PORT}, or a free one for PROGRAM", help="Port."
)
@click.option("--fault", help=f"Fail first: a status such as 429, or {', '.join(FAULTS)}.")
@click.option("--fault-times", type=click.IntRange(1), default=1, help="How often each request fails.")
@click.option("--retry-after", type=RealRange(0), help="Seconds that a failure asks to wait.")
@scenario_files
def command(program: tuple[str, ...], host: str, port: int | None, **options: Any) -> None:
    """Start a model endpoint that knows the reference solutions.

    It speaks chat completions, Responses, Anthropic's Messages and Google's Gemini API, streaming and not, and needs no
    key. Point an agent at it to see whether everything around the model works. With a PROGRAM and its arguments after
    --, it serves for as long as that runs, tells it the address and a key in the variables that the providers' clients
    read, and ends with its exit code.
    """
    from sandbox_mcp.app.endpoint.app import Endpoint
    from sandbox_mcp.app.endpoint.server import base_url, bind, root, running, serve

    endpoint = Endpoint(_brain(**options))
    if program:
        with running(endpoint, host, port or 0) as url:
            addresses = {"OPENAI_BASE_URL": url, "ANTHROPIC_BASE_URL": root(url), "GOOGLE_GEMINI_BASE_URL": root(url)}
            keys = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"), "any")
            env = {**os.environ, **addresses, **keys}
            try:
                sys.exit(subprocess.call(program, env=env))  # noqa: S603 - the user's own command line
            except OSError as error:
                raise click.UsageError(f"{program[0]!r} cannot be started: {error.strerror}") from error
    listener = bind(host, DEFAULT_PORT if port is None else port)
    url = base_url(listener)
    click.echo(
        f"listening on {url}; {root(url)} for Anthropic's and Google's clients; any model and any key will do", err=True
    )
    with suppress(KeyboardInterrupt):
        serve(endpoint, listener)


def _brain(
    names: tuple[str, ...],
    script: Path | None,
    as_user: bool,
    places: tuple[Path, ...],
    fault: str | None,
    fault_times: int,
    retry_after: float | None,
) -> "Brain":
    from sandbox_scenarios import Suite

    from sandbox_mcp.app.endpoint.reply import Failing, PlannedFault
    from sandbox_mcp.app.endpoint.script import ScriptedModel, read_script
    from sandbox_mcp.app.endpoint.solver import Solver
    from sandbox_mcp.app.endpoint.user import ScriptedUserModel

    if script and (names or as_user):
        raise click.UsageError("--script says what to answer, so it goes with neither --scenario nor --as-user")
    if script:
        brain = ScriptedModel(read_script(script))
    else:
        suite = Suite(places)
        scenarios = [suite.get(name) for name in names or suite.names("*")]
        brain = ScriptedUserModel(scenarios) if as_user else Solver(scenarios)
    if retry_after is not None and not (fault or "").isdecimal():
        raise click.UsageError("--retry-after is for a --fault that is a status, such as 429")
    if not fault:
        return brain
    if fault.isdecimal() and 400 <= int(fault) <= 599:
        return Failing(brain, PlannedFault("status", int(fault), retry_after, fault_times))
    if fault in FAULTS:
        return Failing(brain, PlannedFault(fault, times=fault_times))  # pyright: ignore[reportArgumentType]
    raise click.UsageError(f"unknown fault {fault!r}; expected a status from 400 to 599, or {', '.join(FAULTS)}")
