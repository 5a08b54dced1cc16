"""Code of anybody's own as the agent, as a function and as a program: scenarios with a model of its own."""

import sys
from pathlib import Path

import pytest
from sandbox_clients.base import UnknownAgentError
from sandbox_clients.registry import agent_named
from sandbox_clients.settings import AgentSettings

from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.server import running
from sandbox_mcp.app.endpoint.solver import Solver
from tests.agents.kit import FIVE, REFUSED, TALK
from tests.clients.sessions import SUITE
from tests.run.runs import played

CHAT = '''
import asyncio, json, os, sys
import httpx2


async def chat(talk, listed, call):
    """Ask the model and make its calls until it answers."""
    offered = [{"type": "function", "function": {"name": n, "parameters": s}} for n, s in listed]
    async with httpx2.AsyncClient(base_url=os.environ["MY_MODEL"]) as model:
        while True:
            body = {"model": "m", "messages": talk, "tools": offered}
            message = (await model.post("chat/completions", json=body)).json()["choices"][0]["message"]
            talk.append(message)
            if not message.get("tool_calls"):
                return message["content"]
            for wanted in message["tool_calls"]:
                text = await call(wanted["function"]["name"], json.loads(wanted["function"]["arguments"]))
                talk.append({"role": "tool", "tool_call_id": wanted["id"], "content": text})
'''

FUNCTION = """
TALKS = {}


async def answer(asked):
    _, talk = TALKS.setdefault(id(asked.tools), (asked.tools, []))  # kept, so that the id stays theirs
    talk.append({"role": "user", "content": asked.said[-1].text})
    listed = [(tool.name, dict(tool.input_schema)) for tool in await asked.tools.list()]

    async def call(name, arguments):
        return (await asked.tools.call(name, arguments)).text

    return await chat(talk, listed, call)
"""

PROGRAM = """
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def turn(at, talk):
    async with httpx2.AsyncClient(headers=at["headers"]) as http:
        async with Client(streamable_http_client(at["url"], http_client=http)) as tools:
            listed = [(tool.name, tool.input_schema) for tool in (await tools.list_tools()).tools]

            async def call(name, arguments):
                return (await tools.call_tool(name, arguments)).content[0].text

            return await chat(talk, listed, call)


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        at, talk, answer = message["mcp"], [], {"type": "ready"}
    else:
        talk.append({"role": "user", "content": message["text"]})
        answer = {"type": "reply", "text": asyncio.run(turn(at, talk))}
    print(json.dumps(answer), flush=True)
"""


@pytest.mark.parametrize(("kind", "names"), [("function", FIVE), ("program", (REFUSED, TALK))])
def test_scenarios_are_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, names: tuple[str, ...]
) -> None:
    """A program takes a second to start for each, so that it plays the two that ask most of it."""
    file = tmp_path / f"own_{kind}.py"
    file.write_text(CHAT + (FUNCTION if kind == "function" else PROGRAM))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    with running(Endpoint(Solver([SUITE.get(name) for name in names]))) as url:
        monkeypatch.setenv("MY_MODEL", url)
        agent = agent_named(f"{file.stem}:answer" if kind == "function" else f"command:{sys.executable} {file}")
        summary, _ = played(tmp_path / "out", agent, scenarios=names, transport="http", jobs=2)
    assert {found["scenario"]: found["score"] for found in summary["scenarios"]} == dict.fromkeys(names, 1.0)


def test_a_function_that_waits_for_nothing_is_told_what_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain.py").write_text("def answers(asked):\n    return 'No.'\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UnknownAgentError, match=r"write 'async def answers\(asked\):'"):
        agent_named("plain:answers", AgentSettings())
