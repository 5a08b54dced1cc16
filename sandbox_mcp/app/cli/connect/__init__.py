"""``sandbox-mcp connect HOST``: what an MCP host has to be told to start the server, printed or put in its file.

Policy: printing is the default, so that no configuration is touched unasked.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from sandbox_mcp.app.cli.connect.hosts import HOSTS, NAME, Host, server_command, shell_line, this_system
from sandbox_mcp.app.cli.options import PLACE

if TYPE_CHECKING:
    from sandbox_mcp.app.cli.connect.serve_args import ServeArgs

__all__ = ("command",)
_Mode = Literal["print", "write", "undo"]
UNDRIVEN = (
    "No harness drives a host, so the server is started with --user-channel tool: the host's model speaks to the "
    "simulated user with the tool send_message_to_user."
)


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("host", type=click.Choice(list(HOSTS)), metavar="HOST")
@click.argument("serve_args", nargs=-1, type=click.UNPROCESSED)
@click.option("--print", "printing", is_flag=True, help="Print what HOST needs, the default.")
@click.option("--write", is_flag=True, help="Put it into HOST's configuration file.")
@click.option("--undo", is_flag=True, help="Take it out of that file again.")
@click.option("--config", type=PLACE, help="The configuration file, where it is not in its usual place.")
@click.option("--force", is_flag=True, help="With --write: replace another server of the same name.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the block for the file, or what was done to it.")
def command(
    host: str,
    serve_args: tuple[str, ...],
    printing: bool,
    write: bool,
    undo: bool,
    config: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Connect HOST to this server: print what it needs, or put that into its configuration file.

    HOST is claude-desktop, claude-code, cursor, vscode or other.

    SERVE_ARGS are passed on to 'serve', such as --scenario wifi_off. Without any, the host gets the lobby, where
    scenarios are started by name.
    """
    from sandbox_mcp.app.cli.connect.config_file import ConfigFile
    from sandbox_mcp.app.cli.connect.entry import HostEntry, UneditableConfigError
    from sandbox_mcp.app.cli.connect.serve_args import checked

    if printing + write + undo > 1:
        raise click.UsageError("--print, --write and --undo exclude each other; give one of them")
    mode: _Mode = "write" if write else "undo" if undo else "print"
    known = HOSTS[host]
    served = checked(serve_args)
    argv = [*server_command(), "serve", *served.args]
    block = json.dumps(known.block(argv), indent=2, ensure_ascii=False)
    by_hand = block if as_json else _printed(known, argv, block, config, served, mode)
    if mode == "print":
        click.echo(by_hand)
        return
    entry = HostEntry(known, ConfigFile((config or known.file()).absolute()))
    if mode == "undo":
        outcome, more = entry.undo(), ""
    else:
        try:
            outcome = entry.write(known.entry(argv), force=force)
        except UneditableConfigError:
            click.echo(by_hand)
            raise
        option = f" --config {shell_line([str(config)])}" if config else ""
        more = f"To take it out again: sandbox-mcp connect {host} --undo{option}\n{_then(known, served)}"
    if as_json:
        backup = str(outcome.backup) if outcome.backup else None
        done = {"host": host, "action": outcome.action, "file": str(outcome.file), "backup": backup}
        click.echo(json.dumps(done, indent=2))
    else:
        said = {
            "written": f"The server {NAME!r} is now in {outcome.file}",
            "unchanged": f"The server {NAME!r} is already in {outcome.file}; nothing was changed",
            "removed": f"The server {NAME!r} is no longer in {outcome.file}",
            "restored": f"The server {NAME!r} that was in {outcome.file} before is back",
            "nothing": f"There is no server {NAME!r} in {outcome.file}; nothing was changed",
            "foreign": f"The server {NAME!r} in {outcome.file} is not this one; nothing was changed",
        }[outcome.action]
        backup = f"\nThe file as it was: {outcome.backup}" if outcome.backup else ""
        click.echo(f"{said}{backup}\n{more}".rstrip())


def _printed(host: Host, argv: list[str], block: str, config: Path | None, served: "ServeArgs", mode: _Mode) -> str:
    mine, beside = this_system(), "if the file has other servers, add this one beside them"
    if not (config or host.places):
        where = f"Where a host asks for the command in one line:\n  {shell_line(argv)}"
    elif config or host.project:
        where = f"It goes into {config or f'{host.places[mine]} in your project'}; {beside}."
    else:
        where = f"It goes into this file; {beside}:"
        for system, path in host.places.items():
            where += f"\n  {system}{' (this machine)' if system == mine else ''}: {path}"
    how = ", or let --write do it" if mode == "print" else " by hand"
    own = f"\n\nOr let it do so itself:\n  {host.own_command(argv)}" if host.command else ""
    return f"Put this into the configuration of {host.title}{how}:\n\n{block}\n\n{where}{own}\n{_then(host, served)}"


def _then(host: Host, served: "ServeArgs") -> str:
    """Next steps, and notes on the server that was set up."""
    notes = [*([UNDRIVEN] if served.implied else []), *([host.beware] if host.beware else [])]
    if served.key_variable:
        notes.append(f'The llm user needs its key: give the host {served.key_variable}, under "env" in this entry.')
    type_this = "help your user" if served.scenario else 'run the scenario "wifi_off"'
    graded = f"How it went, afterwards: sandbox-mcp grade {shell_line([str(served.logs)])}"
    return "\n".join((*notes, f"{host.then}. Then type: {type_this}", graded))
