"""``sandbox-mcp view``: runs in a browser, also while one is going on."""

import webbrowser
from pathlib import Path
from typing import Any

import click

from sandbox_mcp.app.cli.logs import LogPlace
from sandbox_mcp.app.cli.options import FILE, mode_option, scenario_files


@click.command()
@click.argument("paths", nargs=-1, required=True, type=LogPlace())
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, show_default=False, help="0, the default, takes a free one."
)
@mode_option
@click.option("--index", "place", type=FILE, help="Keep the index in this file.")
@click.option("--open/--no-open", "opens", default=True, help="Open a browser.")
@scenario_files
def command(
    paths: tuple[Path, ...], port: int, mode: Any, place: Path | None, opens: bool, places: tuple[Path, ...]
) -> None:
    """Show recorded sessions in a browser until Ctrl-C.

    PATHS are folders of runs, or folders of those, or logs. A run that is going on is followed. With --index, what has
    been read is remembered, so that the next start is quick however many sessions there are.
    """
    import socket

    import uvicorn
    from sandbox_grader.reporting.scenario_of_log import SuiteFinder

    from sandbox_mcp.app.report.errors import ReportError
    from sandbox_mcp.app.report.viewer import Viewer, viewer_app
    from sandbox_mcp.play.server.patience import Patience, PatientConnections, uvicorn_config

    viewer = Viewer(paths, SuiteFinder(places), mode, place)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen(128)  # whoever reads the address may ask at once
    except OSError as error:
        raise ReportError(f"port {port} cannot be used: {error.strerror}; 0 takes a free one") from error
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    click.echo(url)
    viewer.start()
    if opens:
        webbrowser.open(url)
    try:
        uvicorn.Server(uvicorn_config(viewer_app(viewer), PatientConnections(Patience()))).run(sockets=[listener])
    finally:
        viewer.stop()
