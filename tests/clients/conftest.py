"""An endpoint for the tests of agents that ask a model themselves."""

from collections.abc import Iterator

import pytest

from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.server import running
from tests.clients.chats import Play
from tests.clients.sessions import solver


@pytest.fixture(scope="module")
def play() -> Iterator[Play]:
    """Plays a conversation of an agent with a model, which all tests of a module share a server for."""
    endpoint = Endpoint(solver())
    with running(endpoint) as url:
        yield Play(endpoint, url)
