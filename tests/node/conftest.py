"""Where the programs are, and a server for those of them that need nothing but the product."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from tests.e2e.processes import http_process
from tests.node.toolbox import ENDLESS, fuzzer_program, node_program

TOKEN = "the-harness-token"


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def conformance() -> list[str]:
    return node_program("@modelcontextprotocol", "conformance", "dist", "index.js")


@pytest.fixture(scope="session")
def inspector() -> list[str]:
    """The Inspector without its windows."""
    place = ("@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
    return [*node_program(*place), "--cli"]


@pytest.fixture(scope="session")
def fuzzer() -> str:
    return fuzzer_program()


@dataclass(frozen=True)
class Serve:
    """``sandbox-mcp serve --http`` as a process."""

    base: str
    logs: Path
    said: dict[str, str]

    @property
    def lobby(self) -> str:
        return f"{self.base}/mcp"

    def session(self) -> str:
        """The URL of a new session with every tool, which does not end by itself."""
        wanted = {"scenario": "endless", "variant": "all_tools"}
        headers = {"Authorization": f"Bearer {TOKEN}"}
        answer = httpx2.post(f"{self.base}/api/sessions", json=wanted, headers=headers)
        assert answer.status_code == 201, answer.text
        return answer.json()["url"]

    def url(self, which: str) -> str:
        return self.lobby if which == "lobby" else self.session()


@contextmanager
def serving_process(logs: Path) -> Generator[Serve]:
    """The server for as long as the context is open; ``said["rest"]`` is what it had to say after it was up."""
    with http_process("--scenarios", str(ENDLESS), "--log-dir", str(logs), SANDBOX_MCP_API_TOKEN=TOKEN) as said:
        yield Serve(said["base"], logs, said)


@pytest.fixture
def serve(tmp_path: Path) -> Generator[Serve]:
    with serving_process(tmp_path / "logs") as running:
        yield running
