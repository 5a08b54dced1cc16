"""``sandbox-mcp serve``: scenarios for MCP clients, over stdio or HTTP.

Policy: stdout belongs to the protocol; whatever a person should know goes to stderr. Secrets come from the environment
or are made here and shown once. Nothing is imported before it is needed, because hosts give up on slow servers.
"""

import gc
import os
import signal
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from sandbox_mcp.app.cli.options import FILE_HERE, FOLDER, scenarios_of_world, together
from sandbox_mcp.app.cli.run_options import run_options
from sandbox_mcp.app.cli.served_session import Play, checked_play, checked_suite, offered
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.whole_files import check_writable

if TYPE_CHECKING:
    from sandbox_scenarios import Scenario, Suite

    from sandbox_mcp.engine.trajectory import Trajectory
    from sandbox_mcp.play.server.settings import ServerSettings
    from sandbox_mcp.play.server.wires import Wires
    from sandbox_mcp.play.session.kept_sessions import KeptSessions
    from sandbox_mcp.play.session.manager import SessionManager, UserFactory
    from sandbox_mcp.play.session.open_session import OpenSession
    from sandbox_mcp.play.session.share import Share

DEFAULT_PORT = 8930

tape_options = together(
    click.option("--tape", type=FILE_HERE, help="Serve a mock of the server that this tape was recorded from."),
    click.option(
        "--on-miss",
        default="error",
        metavar="HOW",
        help="With --tape: what is not on it is refused (error), answered by a model (fill:MODEL), or passed on to a "
        "server (its URL or command).",
    ),
    click.option(
        "--latency",
        default="none",
        metavar="HOW",
        help="With --tape: answer at once (none), as slowly as was recorded (recorded), or after so many seconds.",
    ),
    click.option(
        "--faults",
        multiple=True,
        metavar="KIND[:RATE]",
        help="With --tape: give some calls a fault: before, after, stale, partial, slow, rate_limit or dropped. May be "
        "repeated; --seed decides which calls.",
    ),
)

API_TOKEN = "SANDBOX_MCP_API_TOKEN"  # noqa: S105  (the name of a variable)


@click.command()
@click.option("--scenario", metavar="NAME", help="Serve one session of this scenario; without it, the lobby.")
@click.option(
    "--variant", metavar="NAME", help="How the scenario's tools are presented, such as all_tools.  [default: base]"
)
@click.option("--seed", type=int, help="Decides the world's ids.  [default: 0]")
@click.option(
    "--user-channel",
    type=click.Choice(["harness", "tool"]),
    help="Who brings the agent's words to the user: a harness, or the agent with a tool.  [default: harness]",
)
@click.option(
    "--elicitation/--no-elicitation",
    "elicits",
    default=True,
    help="Where no harness speaks: let the client ask its human for confirmations.",
)
@click.option("--http", is_flag=True, help="Serve over HTTP, with the control API; without it, over stdio.")
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", help="Address to listen on.")
@click.option(
    "--port", default=DEFAULT_PORT, type=click.IntRange(0, 65535), help="Port to listen on; 0 takes a free one."
)
@click.option(
    "--allowed-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    envvar="SANDBOX_MCP_ALLOWED_HOST",
    show_envvar=True,
    help="Another name this server answers to. May be repeated.",
)
@click.option(
    "--token",
    "tokens",
    multiple=True,
    envvar="SANDBOX_MCP_TOKEN",
    show_envvar=True,
    help="A bearer token that opens the lobby. May be repeated: each has a scenario of its own.",
)
@click.option("--auth", is_flag=True, help="Demand each session's own bearer token at its URL.")
@click.option(
    "--streams",
    is_flag=True,
    help="Answer with event streams, on which clients of 2025-11-25 can be asked for confirmations too.",
)
@click.option(
    "--max-sessions",
    type=click.IntRange(min=1),
    default=5000,
    help="Over HTTP: how many sessions may be open at a time; beyond it, new ones are refused with 503.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    help="Over HTTP: how many processes share the sessions, behind one port.",
)
@click.option(
    "--as",
    "served",
    type=click.Choice(["openenv", "nemo-gym", "openreward"]),
    help="Over HTTP: serve a framework of training at the root, in place of the lobby.",
)
@click.option(
    "--rollouts",
    type=FOLDER,
    help="Over HTTP: keep episodes of training that have ended in this folder, for 'view' and 'grade'.",
)
@click.option(
    "--log-dir",
    type=FOLDER,
    envvar="SANDBOX_MCP_LOG_DIR",
    show_envvar=True,
    help="Where each session's log goes.  [default: a folder of your account]",
)
@click.option(
    "--state-dir",
    type=FOLDER,
    help="Keep sessions, with their logs, in this folder, and go on with them in later processes.",
)
@click.option("--session", metavar="NAME", help="The session in --state-dir to continue, or with --scenario to begin.")
@click.option(
    "--user",
    type=click.Choice(["scripted", "llm", "human"]),
    default="scripted",
    help="Who plays the user, unless a harness asks for another; human is whoever sits at the client.",
)
@click.option("--user-model", metavar="NAME", help="Model of the llm user.")
@click.option(
    "--user-base-url",
    metavar="URL",
    help="OpenAI-compatible endpoint of the llm user's model.  [default: OPENAI_BASE_URL]",
)
@click.option("--user-api-key-env", metavar="NAME", help="Variable that holds its key.  [default: OPENAI_API_KEY]")
@click.option(
    "--user-tools",
    default="",
    show_default=False,
    metavar="NAMES",
    help="What the llm user may call beside its way to leave, as with 'run'.",
)
@click.option(
    "--user-without",
    multiple=True,
    type=click.Choice(["knows", "does_not_know", "demonstration"]),
    help="What the llm user is not told. May be repeated.",
)
@run_options("knowledge", "record", "replay")
@scenarios_of_world
@tape_options
def command(
    http: bool, state_dir: Path | None, world: str, places: tuple[Path, ...], tape: Path | None, **given: Any
) -> None:
    """Serve scenarios to MCP clients, or with --tape a mock of the server that a tape was recorded from.

    Over stdio it serves one client. Over HTTP it serves any number, each session at its own URL, and harnesses control
    it at /api with the token in SANDBOX_MCP_API_TOKEN, or the one printed.
    """
    from sandbox_mcp.app.run.knowledge import chosen_knowledge
    from sandbox_mcp.play.session.manager import SessionManager

    if tape is not None:
        from sandbox_mcp.app.cli.serve_tape import check_alone, serve_tape

        check_alone(click.get_current_context())
        serve_tape(tape, given, http=http)
        return
    check_no_tape(click.get_current_context())
    play = checked_play(click.get_current_context().params)
    given["home"] = world
    if given["served"] and (play.scenario or play.session):
        raise SandboxError("--as serves all scenarios of a world; leave out --scenario and --session")
    if not http:
        check_no_http(click.get_current_context())
    if given["workers"] > 1:
        from sandbox_mcp.play.server.workers import check_workers

        check_workers()
    suite = checked_suite(places, world)
    options: Mapping[str, Any] = {
        "max_sessions": given["max_sessions"],
        "users": _users(given),
        "default_user": given["user"],
        "knowledge": chosen_knowledge(given["knowledge"], given["record"], given["replay"]),
    }
    logs = given["log_dir"] or default_log_dir()
    if state_dir is None:
        check_log_dir(logs)
    with suppress(KeyboardInterrupt):
        if not http:
            _serve_stdio(SessionManager(suite, log_dir=logs, **options), play, state_dir)
            return
        if state_dir is None and given["workers"] == 1:
            _serve_http(SessionManager(suite, log_dir=logs, **options), play, given)
            return
        from sandbox_mcp.play.session.kept_sessions import KeptSessions, cared_for

        with ExitStack() as held:
            if state_dir is None:  # a worker's sessions outlive it all the same, but not the server
                urls = Path(held.enter_context(TemporaryDirectory(prefix="sandbox-mcp-")))
                kept = partial(KeptSessions, suite, log_dir=logs, addresses=urls, lasting=False, **options)
            else:
                held.enter_context(cared_for(state_dir))
                kept = partial(KeptSessions, suite, log_dir=state_dir, **options)
            ended_by = _serve_http(kept(), play, given, lambda share: kept(share=share))
        if ended_by == signal.SIGTERM:  # whoever sent it shall see that it was heard, now that all is put away
            signal.signal(ended_by, signal.SIG_DFL)
            signal.raise_signal(ended_by)


def check_no_tape(context: click.Context) -> None:
    """See that nothing was said about a mock where none is served."""
    for name, option in {"on_miss": "--on-miss", "latency": "--latency", "faults": "--faults"}.items():
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise SandboxError(f"{option} is for a mock; name the tape that it answers from with --tape")


def check_no_http(context: click.Context) -> None:
    """See that nothing was said about a network, which stdio does not use; variables may be set for other servers."""
    options = {
        "host": "--host", "port": "--port", "hosts": "--allowed-host", "tokens": "--token", "auth": "--auth",
        "streams": "--streams", "max_sessions": "--max-sessions", "workers": "--workers", "served": "--as",
        "rollouts": "--rollouts",
    }  # fmt: skip
    for name, option in options.items():
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise SandboxError(f"{option} is for serving over HTTP; add --http, or leave it out to serve over stdio")


def default_log_dir() -> Path:
    """Default folder of logs: one for state in the account of whoever runs the server."""
    if os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return base / "sandbox-mcp" / "logs"


def check_log_dir(folder: Path) -> None:
    """See that logs can be written, before a client is served whose first session would fail.

    Raises:
        SandboxError: they cannot.
    """
    try:
        check_writable(folder)
    except OSError as error:
        raise SandboxError(
            f"cannot write logs to {str(folder)!r}: {error.strerror or error}; choose another with --log-dir"
        ) from error


def _users(given: Mapping[str, Any]) -> Mapping[str, "UserFactory"]:
    """The users that a harness can ask for by name. The person at the client is one only if an option says so."""
    from sandbox_mcp.play.session.manager import USERS

    users = dict(USERS)
    if given["user_model"] is not None:
        from sandbox_mcp.app.run.users import user_tools, users_named
        from sandbox_mcp.play.models.asking import EndpointSettings
        from sandbox_mcp.play.session import SessionSpec

        model, base_url, key_variable = (given[f"user_{name}"] for name in ("model", "base_url", "api_key_env"))
        endpoint = EndpointSettings(model=model, base_url=base_url, key_variable=key_variable)
        made = users_named("llm", endpoint, frozenset(given["user_without"]), user_tools(given["user_tools"]))
        users["llm"] = lambda scenario: made.make(SessionSpec(scenario))
    if given["user"] == "human":
        from sandbox_mcp.play.users.human import HostUser

        users["human"] = lambda scenario: HostUser(scenario.user)
    return users


def _serve_stdio(manager: "SessionManager", play: Play, state_dir: Path | None) -> None:
    import anyio

    gc.disable()  # what is loaded here stays; looking through it even once takes a twelfth of the time to start
    try:
        from sandbox_mcp.play.session.state_folder import StateDir

        state = StateDir(state_dir, manager) if state_dir else None
        if play.scenario or play.session:
            opened = offered(manager, play, state)
            _announce(opened)
            from sandbox_mcp.play.server.mcp_server import server_for

            server = server_for(opened, elicits=play.elicits)
        else:
            from sandbox_mcp.play.server.lobby.seats import Lobby, ManagedSeat, StoredSeat
            from sandbox_mcp.play.server.lobby.server import lobby_server

            seat, app = StoredSeat(state) if state else ManagedSeat(manager), _Pages()
            lobby = Lobby(manager, seat, _announce, app)
            server = lobby_server(manager.suite, lobby, elicits=play.elicits, app=app)
    finally:
        gc.freeze()
        gc.enable()

    async def serve() -> None:
        from sandbox_mcp.play.server.stdio import serve_stdio

        try:
            await serve_stdio(server)
        finally:
            with anyio.CancelScope(shield=True):
                await manager.close_all()

    anyio.run(serve)


class _Pages:
    """Pages of sessions that are over. What makes them is loaded for the first, so that serving begins soon."""

    def html(self) -> str:
        """The document."""
        from sandbox_mcp.app.report.session_page import SessionPages

        return SessionPages().html()

    def page(self, trajectory: "Trajectory", scenario: "Scenario") -> Mapping[str, Any]:
        """Content of a session's document."""
        from sandbox_mcp.app.report.session_page import SessionPages

        return SessionPages().page(trajectory, scenario)


def _wires(settings: "ServerSettings", suite: "Suite", given: Mapping[str, Any]) -> "Wires":
    """The wires of training frameworks.

    Raises:
        ScenarioError: a framework is served at the root, and a file of the suite cannot be used.
    """
    from sandbox_mcp.engine.worlds import DEFAULT
    from sandbox_mcp.play.training.rollouts import Rollouts
    from sandbox_mcp.play.training.wires import TrainingWires

    if given["served"]:
        suite.worlds_played()  # some seconds where nothing is cached: no client's first request waits for it
    rollouts = Rollouts(given["rollouts"]) if given["rollouts"] else None
    return TrainingWires(settings, given["served"], given["home"] or DEFAULT, rollouts).wires()


def _announce(opened: "OpenSession") -> None:
    """Tell the person who runs this what has begun; an agent never sees stderr."""
    spec = opened.session.spec
    if opened.session.over:
        _note("session", f"{spec.id} is over ({opened.session.ended}); nothing more can be done in it")
    _note("user", opened.opening)
    if opened.path:
        _note("log", str(opened.path))


def _note(what: str, text: str) -> None:
    click.echo(f"{what}: {text}", err=True)


def _serve_http(
    manager: "SessionManager",
    play: Play,
    given: Mapping[str, Any],
    sessions: Callable[["Share"], "KeptSessions"] | None = None,
) -> int | None:
    """Serve over HTTP; ``sessions`` makes the manager of each worker where there may be several.

    Gives the signal that ended it, where that was not passed on already.
    """
    from sandbox_mcp.play.server.access import session_path
    from sandbox_mcp.play.server.app import base_url, listener_on, serve_forever
    from sandbox_mcp.play.server.settings import LOOPBACK, ServerSettings, check_exposed, new_token

    own = os.environ.get(API_TOKEN)
    settings = ServerSettings(
        api_token=own or new_token(),
        lobby_tokens=given["tokens"],
        auth=given["auth"] or given["host"] not in LOOPBACK,
        hosts=given["hosts"],
        lobby=play.scenario is None and play.session is None and given["served"] is None,
        elicits=play.elicits,
        streams=given["streams"],
    )
    check_exposed(given["host"], settings)
    opened = offered(manager, play) if play.scenario or play.session else None
    base = base_url(listener := listener_on(given["host"], given["port"]))
    _note("control API", f"{base}/api (described at {base}/openapi.json)")
    _note("control API token", f"in {API_TOKEN}" if own else settings.api_token)
    wires = _wires(settings, manager.suite, given)
    _note("training", base if given["served"] else f"{base}/openenv/WORLD, {base}/nemo-gym")
    if opened is not None:
        _note("agent", base + session_path(opened.token))
        if settings.auth:
            _note("agent's bearer", opened.bearer)
        _announce(opened)
    elif settings.lobby:
        _note("lobby", f"{base}/mcp")
    _note("logs", str(manager.log_dir))
    if sessions is None or given["workers"] == 1:
        serve_forever(manager, settings, listener, _announce, _Pages(), wires)
        return None
    from sandbox_mcp.play.server.workers import Keeper

    tell = partial(_note, "workers")
    return Keeper(sessions, settings, listener, given["workers"], tell, _announce, _Pages(), wires).run()
