"""Programs of others that the server is held against, and where they are found.

``make test-node`` fetches them. What is not there makes a test skip, and say so.
"""

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
LEGACY, MODERN = REVISIONS = ("2025-11-25", "2026-07-28")
ENDLESS = HERE / "endless.yaml"
PATIENCE = 100
"""Seconds after which a program is taken to hang."""


@dataclass(frozen=True)
class Ran:
    """What a program came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


async def run(program: list[str], home: Path) -> Ran:
    """Run a program that leaves whatever it writes in ``home``."""
    env = {**os.environ, "HOME": str(home), "NO_COLOR": "1"}
    with anyio.fail_after(PATIENCE):
        done = await anyio.run_process(program, check=False, cwd=home, env=env, stderr=subprocess.PIPE)
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def node_program(*place: str) -> list[str]:
    """The command that starts a program for node which lies at ``place`` below the folder of packages."""
    folder = Path(os.environ.get("SANDBOX_MCP_NODE_MODULES") or ROOT / ".node" / "node_modules").resolve()
    found = [folder / "node" / "bin" / "node", folder.joinpath(*place)]
    missing = [path for path in found if not path.exists()]
    if missing:
        pytest.skip(f"{missing[0]} is not there; `make test-node` fetches it, which needs npm")
    return [str(path) for path in found]


def fuzzer_program() -> str:
    """The command that starts the fuzzer."""
    path = Path(os.environ.get("SANDBOX_MCP_FUZZER") or ROOT / ".venv-fuzz" / "bin" / "mcp-fuzzer").resolve()
    if not path.exists():
        pytest.skip(f"{path} is not there; `make test-node` fetches it")
    return str(path)


@dataclass(frozen=True)
class Check:
    """One thing that the conformance suite has looked at."""

    scenario: str
    id: str
    status: str
    reason: str


def checks_in(folder: Path) -> list[Check]:
    """What a run of the suite has left in a folder."""
    checks: list[Check] = []
    for path in sorted(folder.glob("*/checks.json")):
        scenario = path.parent.name.removeprefix("server-").rsplit("-", 6)[0]
        found: list[Mapping[str, Any]] = json.loads(path.read_text())
        checks += [Check(scenario, each["id"], each["status"], each.get("errorMessage", "")) for each in found]
    return checks
