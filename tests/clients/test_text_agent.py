"""Any command that reads a line and writes a line, as real processes."""

import shlex
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from sandbox_clients.base import AgentError, Brief, UnknownAgentError
from sandbox_clients.mcp_tools import McpTarget
from sandbox_clients.registry import agent_named
from sandbox_clients.settings import AgentSettings
from sandbox_clients.text_agent import TextAgent

from sandbox_mcp.engine.errors import inner_errors
from sandbox_mcp.play.models.asking import EndpointSettings
from tests.each import each
from tests.run.runs import played

BRIEF = Brief("Be kind.", McpTarget("http://127.0.0.1:9/mcp", {"Authorization": "Bearer secret"}))
ECHO = 'while read -r said; do echo "You said $said"; done'


def answers(script: str, *said: str) -> list[str]:
    """What a shell script answers."""
    agent = TextAgent("mine", ("/bin/sh", "-c", script), AgentSettings(EndpointSettings("m", "http://models.example")))

    async def work() -> list[str]:
        async with agent.converse(BRIEF) as conversation:
            return [(await conversation.turn(text)).text for text in said]

    return anyio.run(work)


def test_a_line_for_a_line() -> None:
    assert answers(ECHO, "Hello", "Zoë") == ["You said Hello", "You said Zoë"]


def test_line_breaks_of_the_user_are_spaces() -> None:
    assert answers(ECHO, "Hello\nNotice: rain\r\n") == ["You said Hello Notice: rain"]


@each(
    ("variable", "value"),
    [
        ("SANDBOX_MCP_URL", "http://127.0.0.1:9/mcp"),
        ("SANDBOX_MCP_AUTHORIZATION", "Bearer secret"),
        ("SANDBOX_MCP_INSTRUCTIONS", "Be kind."),
        ("SANDBOX_MCP_MODEL", "m"),
        ("SANDBOX_MCP_BASE_URL", "http://models.example"),
    ],
)
def test_what_is_in_its_environment(variable: str, value: str) -> None:
    assert answers(f'read -r said; echo "${variable}"', "Hello") == [value]


def test_one_that_ends_without_an_answer_is_a_fault() -> None:
    with pytest.raises(BaseExceptionGroup) as caught:
        answers("read -r said; echo no key >&2; exit 3", "Hello")
    (error,) = inner_errors(caught.value)
    assert isinstance(error, AgentError)
    assert str(error) == "the agent's process ended with exit code 3; its last words: no key"


def test_a_shell_script_plays_a_scenario(tmp_path: Path) -> None:
    call: dict[str, Any] = {"name": "set_wifi_status", "arguments": {"on": False}}
    program = tmp_path / "agent.py"
    program.write_text(ACT.format(call=call))
    agent = agent_named(f"command-text:{shlex.join([sys.executable, '-IS', str(program)])}")
    summary, _ = played(tmp_path / "run", agent, scenarios=("wifi_off",), transport="http")
    assert summary["score"] == 1.0


ACT = """
import json, os, sys, urllib.request
HEADERS = {{
    "Authorization": os.environ["SANDBOX_MCP_AUTHORIZATION"],
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}}
def ask(method, params, **more):
    body = json.dumps({{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}}).encode()
    asked = urllib.request.Request(os.environ["SANDBOX_MCP_URL"], body, {{**HEADERS, **more}})
    with urllib.request.urlopen(asked) as answered:
        return dict(answered.headers)
for line in sys.stdin:
    hello = {{"protocolVersion": "2025-11-25", "capabilities": {{}}, "clientInfo": {{"name": "x", "version": "1"}}}}
    session = {{k.lower(): v for k, v in ask("initialize", hello).items()}}["mcp-session-id"]
    ask("tools/call", {call!r}, **{{"Mcp-Session-Id": session}})
    print("Wifi is off.", flush=True)
"""


@each("line", ["command:", "command-text:  ", "command:x 'y"])
def test_what_is_no_command_line_is_told(line: str) -> None:
    with pytest.raises(UnknownAgentError, match=r"names no command|is not a command line"):
        agent_named(line)


def test_what_it_says_before_it_was_asked_is_no_answer() -> None:
    with pytest.raises(BaseExceptionGroup) as caught:
        answers("read -r said; printf 'one\\ntwo\\n'; cat", "Hello", "Again")
    (error,) = inner_errors(caught.value)
    assert "wrote 'two' before it was asked" in str(error)
