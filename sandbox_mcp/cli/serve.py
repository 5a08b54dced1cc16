"""``sandbox-mcp serve``: scenarios for MCP clients, over stdio or HTTP.

Policy: stdout belongs to the protocol; whatever a person should know goes to stderr. Secrets come from the environment
or are made here and shown once.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sandbox_mcp.cli.options import scenario_files
from sandbox_mcp.errors import SandboxError

if TYPE_CHECKING:
    from sandbox_mcp.session.manager import OpenSession, SessionManager

DEFAULT_PORT = 8930


@dataclass(frozen=True, slots=True)
class Play:
    """Which scenario to serve, and how."""

    scenario: str | None
    variant: str
    seed: int
    user_channel: str


@click.command()
@click.option("--scenario", help="Serve one session of this scenario; without it, the lobby.")
@click.option("--variant", default="base", show_default=True, help="How the scenario's tools are presented.")
@click.option("--seed", default=0, show_default=True, help="Fixes the ids that the world hands out.")
@click.option(
    "--user-channel",
    type=click.Choice(["harness", "tool"]),
    default="harness",
    show_default=True,
    help="Who brings the agent's words to the user: a harness, or the agent with a tool.",
)
@click.option("--http", is_flag=True, help="Serve over HTTP, with the control API; without it, over stdio.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=DEFAULT_PORT, show_default=True, help="Port to listen on; 0 takes a free one.")
@click.option("--allowed-host", "hosts", multiple=True, help="Another name this server answers to. May be repeated.")
@click.option(
    "--token", "tokens", multiple=True, help="A bearer token that opens the lobby; also in SANDBOX_MCP_TOKEN."
)
@click.option("--auth", is_flag=True, help="Demand each session's own bearer token at its URL.")
@click.option("--log-dir", type=click.Path(path_type=Path, file_okay=False), help="Write each session's log here.")
@click.option("--state-dir", type=click.Path(path_type=Path, file_okay=False), help="Keep sessions here across runs.")
@click.option("--session", "session_id", help="Over stdio: the session in --state-dir to continue or begin.")
@scenario_files
def command(
    scenario: str | None,
    variant: str,
    seed: int,
    user_channel: str,
    http: bool,
    host: str,
    port: int,
    hosts: tuple[str, ...],
    tokens: tuple[str, ...],
    auth: bool,
    log_dir: Path | None,
    state_dir: Path | None,
    session_id: str | None,
    places: tuple[Path, ...],
) -> None:
    """Serve scenarios to MCP clients.

    Over stdio it serves one client. Over HTTP it serves any number, each session at its own URL, and harnesses control
    it at /api with the token in SANDBOX_MCP_API_TOKEN, or the one that is printed.
    """
    play = Play(scenario, variant, seed, user_channel)
    manager = _manager(places, log_dir)
    if http:
        _serve_http(manager, play, host, port, hosts, tokens, auth)
    else:
        _serve_stdio(manager, play)


def _manager(places: tuple[Path, ...], log_dir: Path | None) -> "SessionManager":
    from sandbox_mcp.session.manager import SessionManager
    from scenarios import Suite

    return SessionManager(Suite(places), log_dir=log_dir)


def _open(manager: "SessionManager", play: Play) -> "OpenSession":
    from sandbox_mcp.session import SessionSpec

    scenario = manager.suite.get(play.scenario or "")
    spec = SessionSpec(
        scenario, play.variant, play.seed, user_channel="tool" if play.user_channel == "tool" else "harness"
    )
    return manager.create(spec, manager.user("scripted", scenario))


def _serve_stdio(manager: "SessionManager", play: Play) -> None:
    import anyio

    if play.scenario is None:
        raise SandboxError("no lobby yet")
    opened = _open(manager, play)
    click.echo(f"user: {opened.opening}", err=True)
    if opened.path:
        click.echo(f"log: {opened.path}", err=True)

    from sandbox_mcp.server.mcp_server import server_for
    from sandbox_mcp.server.stdio import serve_stdio

    async def serve() -> None:
        await serve_stdio(server_for(opened))
        await manager.close_all()

    anyio.run(serve)


def _serve_http(
    manager: "SessionManager",
    play: Play,
    host: str,
    port: int,
    hosts: tuple[str, ...],
    tokens: tuple[str, ...],
    auth: bool,
) -> None:
    import uvicorn

    from sandbox_mcp.server.app import base_url, build_app, listen, session_path, uvicorn_config
    from sandbox_mcp.server.settings import ServerSettings, check_exposed

    given = os.environ.get("SANDBOX_MCP_API_TOKEN")
    settings = ServerSettings(lobby_tokens=tokens, auth=auth, hosts=hosts, **({"api_token": given} if given else {}))
    check_exposed(host, settings)
    try:
        listener = listen(host, port)
    except OSError as error:
        raise SandboxError(f"cannot listen on {host} port {port}: {error.strerror}") from error
    base = base_url(listener)
    click.echo(f"control API: {base}/api", err=True)
    if not given:
        click.echo(f"control API token: {settings.api_token}", err=True)
    if play.scenario:
        opened = _open(manager, play)
        click.echo(f"agent: {base}{session_path(opened.token)}", err=True)
        click.echo(f"user: {opened.opening}", err=True)
    uvicorn.Server(uvicorn_config(build_app(manager, settings))).run(sockets=[listener])
