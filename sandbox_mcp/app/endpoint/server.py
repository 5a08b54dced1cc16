"""Running the endpoint: in a thread beside whatever uses it, or in the foreground.

Policy: the port is bound before anything is started, so that a port in use is told at once and port 0 is known.
"""

import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.engine.errors import SandboxError

HOST = "127.0.0.1"


class EndpointStartError(SandboxError):
    """The endpoint cannot be started."""


def bind(host: str, port: int) -> socket.socket:
    """Open a listening socket.

    Raises:
        EndpointStartError: the address is in use, or is not this machine's.
    """
    try:
        return socket.create_server((host, port))
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (while")[0]
        raise EndpointStartError(f"cannot listen on {host}:{port}: {reason}; choose another with --port") from error


def base_url(listener: socket.socket) -> str:
    """Base URL for a client."""
    host, port = listener.getsockname()[:2]
    return f"http://{host}:{port}/v1"


def root(url: str) -> str:
    """Base URL for clients of Anthropic and Google: they write the version themselves."""
    return url.removesuffix("/v1")


@contextmanager
def running(endpoint: Endpoint, host: str = HOST, port: int = 0) -> Generator[str]:
    """Serve in a thread for as long as the context lasts; gives the base URL.

    Raises:
        EndpointStartError: the address cannot be had.
    """
    listener = bind(host, port)
    server = _server(endpoint)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield base_url(listener)
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def serve(endpoint: Endpoint, listener: socket.socket) -> None:
    """Serve until the process is told to stop."""
    _server(endpoint).run(sockets=[listener])


def _server(endpoint: Endpoint) -> Any:
    import uvicorn

    config = uvicorn.Config(
        endpoint.app(),
        log_level="critical",
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=1,
        timeout_keep_alive=75,  # longer than clients keep theirs, so that no request is on its way when we close
    )
    return uvicorn.Server(config)
