"""A fuzzer for MCP servers against `serve --http`: whatever it sends, the session answers, and its log stays good.

What the fuzzer itself calls a finding is mostly a call that the schema allows, so the log is asked instead: it holds
every call that got through to the session, and whether it was let do anything.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import jsonschema
import pytest
from mcp import Client

from sandbox_mcp.engine.trajectory import ToolCall, Trajectory, read_trajectory
from tests.e2e.processes import run as command
from tests.node.conftest import Serve, serving_process
from tests.node.overhearing import overheard
from tests.node.toolbox import ENDLESS, run

pytestmark = pytest.mark.anyio
RUNS = 3
HARMLESS = {"accepted_malformed", "non_determinism", "injection_reflection"}
"""Sound texts that look like an attack are stored, setting what is set is refused, and texts come back as they were."""
NO_JSON = "Out of range float values are not JSON compliant"
"""How the fuzzer fails by itself when it has come up with an infinite number."""


@dataclass(frozen=True)
class Tried:
    """How often one tool was called, and how often that went wrong on the way."""

    sent: int
    broken: int


def tried_in(folder: Path) -> list[Tried]:
    (path,) = folder.glob("sessions/*/*_fuzzing_results.json")
    tools: list[dict[str, Any]] = json.loads(path.read_text())["data"]["tools_tested"]
    return [tried(tool, tool["outcomes"]) for tool in tools]


def tried(tool: dict[str, Any], outcomes: dict[str, int]) -> Tried:
    unsent = [failure for failure in tool.get("exception_details", ()) if failure["message"] == NO_JSON]
    kept_back = outcomes["safety_blocked"] + len(unsent)
    broken = outcomes["anomaly"] + outcomes["crashed"] + outcomes["exceptions"] - len(unsent)
    return Tried(tool["runs"] - kept_back, broken)


def findings_in(folder: Path) -> set[str]:
    return {finding["category"] for finding in json.loads((folder / "findings.json").read_text())["findings"]}


def allowed(log: Trajectory, call: ToolCall) -> bool:
    schemas = {tool.name: tool.input_schema for tool in log.started.tools}
    return jsonschema.Draft202012Validator(schemas[call.name]).is_valid(call.arguments)


async def fuzz(fuzzer: str, url: str, home: Path, *options: str) -> Path:
    """Let the fuzzer loose on a URL; the folder with what it found."""
    everything = ["--protocol", "streamablehttp", "--endpoint", url, "--seed", "1", "--no-network", *options]
    done = await run([fuzzer, *everything, "--output-dir", "found"], home)
    assert done.code == 0, done.out + done.err
    return home / "found"


async def test_whatever_tools_are_called_with_the_session_answers_and_its_log_is_good(
    fuzzer: str, tmp_path: Path
) -> None:
    with serving_process(tmp_path / "logs") as serve:
        url = serve.session()
        async with overheard(url) as tap:
            found = await fuzz(fuzzer, tap.url, tmp_path, "--mode", "tools", "--phase", "both", "--runs", str(RUNS))
        assert httpx2.get(f"{serve.base}/healthz").status_code == 200
        async with Client(url) as client:
            assert not (await client.call_tool("get_current_timestamp", {})).is_error
    assert (set(tap.statuses), tap.protocol_errors) == ({200, 202}, [])
    tools = tried_in(found)
    assert findings_in(found) <= HARMLESS
    assert [tool for tool in tools if tool.broken] == []
    (path,) = serve.logs.glob("*.jsonl")
    log = read_trajectory(path)
    calls = [event for event in log.events if isinstance(event, ToolCall)]
    assert len(calls) == sum(tool.sent for tool in tools) + 1
    assert [call for call in calls if call.error is None and not allowed(log, call)] == []
    assert serve.said["rest"] == ""
    assert command("replay", str(path)).code == 0
    assert command("grade", str(path), "--scenarios", str(ENDLESS), "--json").code == 0


async def test_whatever_messages_are_sent_the_server_stays_up(fuzzer: str, serve: Serve, tmp_path: Path) -> None:
    options = ("--mode", "protocol", "--protocol-phase", "aggressive", "--runs-per-type", "2")
    async with overheard(serve.session()) as tap:
        found = await fuzz(fuzzer, tap.url, tmp_path, *options)
    assert findings_in(found) <= HARMLESS
    assert tap.protocol_errors, "nothing was refused, so nothing odd was sent"
    assert [status for status in tap.statuses if status >= 500] == []
    async with Client(serve.session()) as client:
        assert not (await client.call_tool("get_current_timestamp", {})).is_error
