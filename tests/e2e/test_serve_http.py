"""``serve --http`` as a process: harnesses, the lobby, one scenario, and the ways it refuses to start."""

import json
import os
import signal
import socket
import urllib.error
import urllib.request
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.server import running
from sandbox_mcp.engine.trajectory import parse_trajectory, read_trajectory
from sandbox_mcp.play.users.composing import THANKS
from tests.clients.sessions import scripted
from tests.e2e.processes import ERAS, http_process, run
from tests.suite import SUITE

pytestmark = pytest.mark.anyio
TOKEN = "the-harness-token"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def api(base: str, method: str, path: str, body: Any = None) -> Any:
    """What a harness in any language does."""
    request = urllib.request.Request(
        base + path,
        json.dumps(body).encode() if body is not None else None,
        {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
        method=method,
    )
    with urllib.request.urlopen(request) as answer:
        data = answer.read()
    return json.loads(data) if answer.headers["content-type"] == "application/json" else data


def logs_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.jsonl"))


@pytest.mark.parametrize("era", ERAS)
async def test_a_harness_plays_a_scenario_from_end_to_end(era: str, tmp_path: Path) -> None:
    with http_process("--auth", "--log-dir", str(tmp_path), SANDBOX_MCP_API_TOKEN=TOKEN) as said:
        base = said["base"]
        new = api(base, "POST", "/api/sessions", {"scenario": "wifi_off", "agent": {"model": "scripted"}})
        here = f"/api/sessions/{new['id']}"
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {new['bearer']}"}) as http,
            Client(streamable_http_client(new["url"], http_client=http), mode=era) as agent,
        ):
            assert [tool.name for tool in (await agent.list_tools()).tools] == new["tools"] == ["set_wifi_status"]
            assert not (await agent.call_tool("set_wifi_status", {"on": False})).is_error
        reply = api(base, "POST", f"{here}/messages", {"text": "Wifi is off now."})
        log = parse_trajectory(api(base, "GET", f"{here}/trajectory"))
    assert reply["over"]
    assert log.ended
    assert (log.ended.reason, log.started.agent, log.started.user_channel) == (
        "user_ended", {"model": "scripted"}, "harness",
    )  # fmt: skip
    assert read_trajectory(logs_in(tmp_path)[0]).events == log.events
    written = logs_in(tmp_path)[0].read_text() + "".join(said.values())
    assert not any(secret in written for secret in (new["id"], new["bearer"], TOKEN))


@pytest.mark.parametrize("era", ERAS)
async def test_one_scenario_is_served_at_a_url_that_is_printed(era: str, tmp_path: Path) -> None:
    with http_process("--scenario", "wifi_off", "--user-channel", "tool", "--log-dir", str(tmp_path)) as said:
        async with Client(said["agent"], mode=era) as agent:
            await agent.call_tool("set_wifi_status", {"on": False})
            told = await agent.call_tool("send_message_to_user", {"content": "Wifi is off."})
        async with httpx2.AsyncClient() as http:
            assert (await http.post(f"{said['base']}/mcp", content=b"{}")).status_code == 404
    assert told.structured_content is not None
    assert (told.structured_content["reply"] in THANKS, told.structured_content["conversation_over"]) == (True, True)
    assert said["user"] == SUITE.get("wifi_off").user.opening
    assert said["log"] == str(logs_in(tmp_path)[0])
    assert len(said["control API token"]) >= 32
    assert said["stdout"] == ""


async def test_the_lobby_needs_its_token_and_tells_the_person_where_the_log_is(tmp_path: Path) -> None:
    with http_process("--token", "open-sesame", "--log-dir", str(tmp_path)) as said:
        async with httpx2.AsyncClient() as http:
            assert (await http.post(said["lobby"], content=b"{}")).status_code == 401
        async with (
            httpx2.AsyncClient(headers={"Authorization": "Bearer open-sesame"}) as http,
            Client(streamable_http_client(said["lobby"], http_client=http)) as agent,
        ):
            await agent.call_tool("start_scenario", {"name": "wifi_off"})
    assert len(logs_in(tmp_path)) == 1
    assert "open-sesame" not in "".join(said.values()) + logs_in(tmp_path)[0].read_text()


async def test_a_model_can_play_the_user(tmp_path: Path) -> None:
    model = scripted('{repeat: true, steps: [{say: "Please just do it."}]}')
    with running(Endpoint(model, lambda _: None)) as endpoint:
        options = ("--user-model", "m", "--user-base-url", endpoint, "--log-dir", str(tmp_path))
        with http_process(*options, SANDBOX_MCP_API_TOKEN=TOKEN, OPENAI_API_KEY="k") as said:
            users = api(said["base"], "GET", "/api/scenarios")["users"]
            new = api(said["base"], "POST", "/api/sessions", {"scenario": "wifi_off", "user": "llm"})
            reply = api(said["base"], "POST", f"/api/sessions/{new['id']}/messages", {"text": "Which phone?"})
    assert users == ["scripted", "llm"]
    assert reply["reply"] == "Please just do it."


@pytest.mark.skipif(os.name != "posix", reason="sends signals as a terminal and a supervisor do")
@pytest.mark.parametrize(("ends", "code"), [(signal.SIGINT, "0"), (signal.SIGTERM, "-15")])
def test_a_server_that_is_told_to_stop_closes_its_logs(ends: signal.Signals, code: str, tmp_path: Path) -> None:
    with http_process("--log-dir", str(tmp_path), ends=ends, SANDBOX_MCP_API_TOKEN=TOKEN) as said:
        api(said["base"], "POST", "/api/sessions", {"scenario": "wifi_off"})
    log = read_trajectory(logs_in(tmp_path)[0])
    assert said["code"] == code
    assert "Traceback" not in said["rest"]
    assert log.ended
    assert log.ended.reason == "abandoned"


@pytest.mark.skipif(os.name != "posix", reason="sends signals as a supervisor does")
async def test_a_server_that_stops_ends_streams_and_breaks_off_what_never_comes(tmp_path: Path) -> None:
    """A stream without its end is an error to the client that reads it, and a stack per client hides what matters."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    begun = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
    with socket.socket() as half:
        async with httpx2.AsyncClient(headers=headers) as client, AsyncExitStack() as streams:
            with http_process("--log-dir", str(tmp_path), SANDBOX_MCP_API_TOKEN=TOKEN) as said:
                url = api(said["base"], "POST", "/api/sessions", {"scenario": "wifi_off"})["url"]
                answer = await client.post(url, json=begun)
                client.headers["Mcp-Session-Id"] = answer.headers["Mcp-Session-Id"]
                stream = await streams.enter_async_context(client.stream("GET", url))
                host = httpx2.URL(url)
                half.connect((host.host, host.port))
                half.sendall(f"POST {host.path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{{".encode())
                assert (await client.get(f"{said['base']}/healthz")).status_code == 200  # so it has read that too
            assert await stream.aread() == b""
    assert "Traceback" not in said["rest"]
    assert "without completing" not in said["rest"]


def test_a_port_in_use_is_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = run("serve", "--http", "--port", port, "--log-dir", str(tmp_path))
    assert done.code == 2
    assert done.err == (
        f"sandbox-mcp: cannot listen on 127.0.0.1 port {port}: {os.strerror(98)}; choose another with --port\n"
    )


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--host", "0.0.0.0"], "that needs --allowed-host and --token"),
        (["--host", "0.0.0.0", "--token", "t"], "that needs --allowed-host"),
        (["--host", "::", "--allowed-host", "me.example"], "that needs --token"),
        (["--token", ""], "a token must not be empty"),
        (["--token", TOKEN], "must differ"),
        (["--host", "no.such.host.invalid", "--token", "t", "--allowed-host", "x"], "cannot listen on"),
    ],
)
def test_what_would_be_unsafe_is_refused(
    args: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_MCP_API_TOKEN", TOKEN)
    done = run("serve", "--http", *args, "--log-dir", str(tmp_path))
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert len(done.err.splitlines()) == 1
    assert TOKEN not in done.err


async def test_no_more_sessions_are_opened_than_the_option_says(tmp_path: Path) -> None:
    with http_process("--max-sessions", "1", "--log-dir", str(tmp_path), SANDBOX_MCP_API_TOKEN=TOKEN) as said:
        api(said["base"], "POST", "/api/sessions", {"scenario": "wifi_off"})
        with pytest.raises(urllib.error.HTTPError, match="503"):
            api(said["base"], "POST", "/api/sessions", {"scenario": "wifi_off"})


async def test_beyond_loopback_sessions_need_their_bearer_and_a_known_name(tmp_path: Path) -> None:
    options = ("--host", "0.0.0.0", "--allowed-host", "sandbox.example", "--token", "t", "--log-dir", str(tmp_path))
    with http_process(*options, SANDBOX_MCP_API_TOKEN=TOKEN) as said:
        port = said["base"].rpartition(":")[2]
        base = f"http://127.0.0.1:{port}"
        new = api(base, "POST", "/api/sessions", {"scenario": "wifi_off"})
        async with httpx2.AsyncClient() as http:
            url = f"{base}/s/{new['id']}/mcp"
            assert (await http.post(url, content=b"{}")).status_code == 401
            assert (await http.get(f"{base}/healthz", headers={"Host": "sandbox.example"})).status_code == 200
            assert (await http.get(f"{base}/healthz", headers={"Host": "other.example"})).status_code == 421
