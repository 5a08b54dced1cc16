"""An endpoint for the tests of agents that ask a model themselves."""

from collections.abc import Iterator

import pytest

from sandbox_mcp.endpoint.app import Endpoint
from sandbox_mcp.endpoint.server import running
from tests.clients.chats import Play
from tests.clients.sessions import solver


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    """Plays a conversation of an agent with a model, which all tests of a module share a server for.

    Clients are kept from reading the machine's certificates, which takes longer than such a conversation.
    """
    endpoint = Endpoint(solver())
    with pytest.MonkeyPatch.context() as patch, running(endpoint) as url:
        patch.setenv("SSL_CERT_DIR", str(tmp_path_factory.mktemp("no-certificates")))
        yield Play(endpoint, url)
