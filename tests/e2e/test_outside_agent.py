"""Agents that know nothing of this project finish a scenario, each in its own way of using MCP, and are graded alike.

The server is ``sandbox-mcp serve`` in a process of its own, the grader is ``sandbox-mcp grade`` on the log it left.
"""

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from sandbox_clients.base import AgentError, Brief
from sandbox_clients.mcp_tools import McpTarget, output
from sandbox_clients.openai_agent import OpenAIAgent
from sandbox_scenarios import Scenario
from sandbox_scenarios.plan import fill

from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.server import running
from sandbox_mcp.play.models.asking import EndpointSettings
from sandbox_mcp.play.models.completions import Completions
from tests.clients.sessions import SUITE, solver
from tests.each import each
from tests.warm import program

SCENARIO = SUITE.get("colleagues_to_friends")
"""Two turns of the user, and calls that are sent together."""
SHORT = SUITE.get("wifi_off")
TOKEN = "token-of-the-harness"
ERAS = ["legacy", "2026-07-28"]
Call = Callable[[str, Mapping[str, Any]], Awaitable[Any]]


@dataclass(frozen=True)
class Harness:
    """Somebody's own harness, in any language: it speaks HTTP to the control API and nothing else."""

    base: str

    def post(self, path: str, **body: Any) -> Any:
        answered = httpx2.post(f"{self.base}/api{path}", json=body, headers={"Authorization": f"Bearer {TOKEN}"})
        assert answered.is_success, answered.text
        return answered.json()


@contextmanager
def served(logs: Path, *options: str) -> Iterator[Harness]:
    """``sandbox-mcp serve`` over HTTP."""
    process = subprocess.Popen(
        [program(), "serve", "--http", "--port", "0", "--log-dir", str(logs), *options],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "SANDBOX_MCP_API_TOKEN": TOKEN},
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith("control API: "), line + process.stderr.read()
        yield Harness(line.split()[2].removesuffix("/api"))
    finally:
        process.terminate()
        process.wait(60)
        if process.stderr is not None:
            process.stderr.close()


def graded(logs: Path) -> Any:
    """What the grader says of the only log there is."""
    done = subprocess.run([program(), "grade", str(logs), "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (session,) = json.loads(done.stdout)["sessions"]
    return session


def assert_solved(logs: Path) -> None:
    session = graded(logs)
    assert session["scored"], session["reason"]
    assert session["metrics"]["toolsandbox"]["score"] == 1.0


# a framework, as it is published


@pytest.fixture(scope="module")
def outside_agent() -> Iterator[Callable[[object], str]]:
    """The agent as a process of its own, which takes seconds to start; the function puts one line to it."""
    pytest.importorskip("agents", reason="openai-agents is not installed; it comes with the dev extra")
    script = Path(__file__).parent / "outside" / "openai_agents_process.py"
    process = subprocess.Popen(
        [sys.executable, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None

    def ask(line: object) -> str:
        print(json.dumps(line), file=process.stdin, flush=True)
        if not isinstance(line, str):
            return ""
        answer = process.stdout.readline()
        assert answer, process.stderr.read()
        return str(json.loads(answer))

    with process.stdin, process.stdout, process.stderr:
        yield ask
        process.stdin.close()
        assert process.wait(60) == 0, process.stderr.read()


@each("protocol", ["responses", "chat_completions"])
def test_the_openai_agents_sdk_finishes_a_scenario(
    outside_agent: Callable[[object], str], tmp_path: Path, protocol: str
) -> None:
    seen: list[Mapping[str, Any]] = []
    with served(tmp_path, "--auth") as harness, running(Endpoint(solver(), seen.append)) as model_url:
        session = harness.post("/sessions", scenario=SCENARIO.name, agent={"name": "openai-agents"})
        at = {"url": session["url"], "bearer": session["bearer"]}
        outside_agent({**at, "model_url": model_url, "protocol": protocol})
        said, over = session["opening"], False
        while not over:
            reply = harness.post(f"/sessions/{session['id']}/messages", text=outside_agent(said))
            said, over = reply["reply"], reply["over"]
        assert reply["reason"] == "user_ended"
    assert_solved(tmp_path)
    assert len(seen) == 6, "three answers of the model per turn: look, change, reply"


# the protocol's own client


async def solve(call: Call, say: Callable[[str], Awaitable[Any]], scenario: Scenario = SCENARIO) -> None:
    """Play the scenario's solution, one call after the other."""
    results: dict[str, Any] = {}
    for turn in scenario.solutions[0].turns:
        for planned in turn.calls:
            found = await call(planned.tool, fill(planned.arguments, results))
            if planned.label:
                results[planned.label] = found
        await say(fill(turn.reply, results))


async def value_of(client: Client, name: str, arguments: Mapping[str, Any]) -> Any:
    result = output(await client.call_tool(name, dict(arguments)))
    assert not result.is_error, result.text
    return result.value


@pytest.mark.parametrize("era", ERAS)
def test_a_plain_client_plays_in_the_lobby_over_stdio(tmp_path: Path, era: str) -> None:
    server = StdioServerParameters(command=program(), args=["serve", "--log-dir", str(tmp_path)])

    async def work() -> None:
        async with Client(server, mode=era) as client:
            begun = await value_of(client, "start_scenario", {"name": SCENARIO.name})
            assert begun["user_says"] == SCENARIO.user.opening
            answers: list[Any] = []

            async def say(text: str) -> None:
                answers.append(await value_of(client, "send_message_to_user", {"content": text}))

            await solve(lambda name, arguments: value_of(client, name, arguments), say)
            assert [answer["conversation_over"] for answer in answers] == [False, True]

    anyio.run(work)
    assert_solved(tmp_path)


@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_connects_anew_for_every_call(tmp_path: Path, era: str) -> None:
    async def work(harness: Harness) -> None:
        session = harness.post("/sessions", scenario=SCENARIO.name)

        async def call(name: str, arguments: Mapping[str, Any]) -> Any:
            async with Client(session["url"], mode=era) as client:
                return await value_of(client, name, arguments)

        async def say(text: str) -> None:
            harness.post(f"/sessions/{session['id']}/messages", text=text)

        await solve(call, say)

    with served(tmp_path) as harness:
        anyio.run(work, harness)
    assert_solved(tmp_path)


@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_starts_a_process_for_every_call(tmp_path: Path, era: str) -> None:
    """Some frameworks do over stdio; the session outlives its processes."""
    options = ["--state-dir", str(tmp_path), "--session", "mine"]
    begin = ["serve", "--scenario", SHORT.name, "--user-channel", "tool", *options]
    server = StdioServerParameters(command=program(), args=[*begin])

    async def call(name: str, arguments: Mapping[str, Any]) -> Any:
        async with Client(server, mode=era) as client:
            return await value_of(client, name, arguments)

    anyio.run(solve, call, lambda text: call("send_message_to_user", {"content": text}), SHORT)
    assert_solved(tmp_path)


# a host with a chat window


@pytest.mark.parametrize("era", ERAS)
def test_a_host_plays_what_a_person_types_into_its_chat(tmp_path: Path, era: Any) -> None:
    """A chat with a model and one MCP server, as desktop hosts are; all else is in the texts of the lobby's tools."""
    server = StdioServerParameters(command=program(), args=["serve", "--log-dir", str(tmp_path)])

    async def work() -> list[str]:
        agent = OpenAIAgent(Completions(EndpointSettings("m", url)))
        brief = Brief("You are a helpful assistant.", McpTarget(server, era=era))
        try:
            async with agent.converse(brief) as chat:
                return [(await chat.turn(typed)).text for typed in (f"Run the scenario {SCENARIO.name}.", "Thanks!")]
        finally:
            await agent.aclose()

    with running(Endpoint(solver())) as url:
        assert anyio.run(work) == ["The user has left."] * 2
    assert_solved(tmp_path)
    assert graded(tmp_path)["variant"] == "all_tools"


def test_a_host_whose_server_does_not_start_is_told(tmp_path: Path) -> None:
    server = StdioServerParameters(command=sys.executable, args=["-c", "raise SystemExit('no such server')"])

    async def work() -> None:
        async with McpTarget(server).connect():
            raise AssertionError("connected to nothing")

    with pytest.raises(AgentError, match="cannot reach the tools at the MCP server"):
        anyio.run(work)
