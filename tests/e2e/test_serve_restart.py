"""``serve --http --state-dir`` killed and started again: the same URLs lead to the same sessions."""

import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from sandbox_mcp.engine.trajectory import ToolCall, read_trajectory
from sandbox_mcp.play.users.composing import THANKS
from tests.e2e.processes import ERAS, http_process, run
from tests.e2e.test_serve_http import TOKEN, api

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(os.name != "posix", reason="kills processes as the system's out-of-memory killer does"),
]
each_era = pytest.mark.parametrize("era", ERAS)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def agent(url: str, era: str, bearer: str) -> AsyncGenerator[Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {bearer}"}) as http,
        Client(streamable_http_client(url, http_client=http), mode=era) as connected,
    ):
        yield connected


async def ask(client: Client, tool: str, /, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


def port_of(said: dict[str, str]) -> str:
    return said["base"].rpartition(":")[2]


@each_era
async def test_a_killed_server_goes_on_with_its_sessions_at_the_same_urls(era: str, tmp_path: Path) -> None:
    options = ("--state-dir", str(tmp_path), "--auth", "--token", "seat")
    with http_process(*options, ends=signal.SIGKILL, SANDBOX_MCP_API_TOKEN=TOKEN) as said:
        wanted = {"scenario": "wifi_off", "variant": "all_tools", "agent": {"model": "m"}}
        new = api(said["base"], "POST", "/api/sessions", wanted)
        closed = api(said["base"], "POST", "/api/sessions", wanted)
        api(said["base"], "DELETE", f"/api/sessions/{closed['id']}")
        async with agent(new["url"], era, new["bearer"]) as client:
            await ask(client, "set_wifi_status", on=False)
        async with agent(said["lobby"], era, "seat") as client:
            await ask(client, "start_scenario", name="wifi_off")
            await ask(client, "set_wifi_status", on=False)
    with http_process(*options, "--port", port_of(said), SANDBOX_MCP_API_TOKEN=TOKEN) as later:
        async with agent(new["url"], era, new["bearer"]) as client:
            assert await ask(client, "get_wifi_status") == {"result": False}
        async with agent(later["lobby"], era, "seat") as client:
            assert await ask(client, "get_wifi_status") == {"result": False}
            assert (await ask(client, "end_scenario"))["ended"] == "wifi_off"
        here = f"{later['base']}/api/sessions/{new['id']}"
        reply = api(here, "POST", "/messages", {"text": "Wifi is off."})
        async with httpx2.AsyncClient() as http:
            seen = [
                (await http.post(url, headers={"Authorization": f"Bearer {bearer}"}, content=b"{}")).status_code
                for url, bearer in ((closed["url"], closed["bearer"]), (new["url"], closed["bearer"]))
            ]
    assert reply["over"]
    assert seen == [404, 404]
    logs = [read_trajectory(path) for path in tmp_path.glob("*.jsonl")]  # noqa: ASYNC240
    (played,) = (log for log in logs if log.ended and log.ended.reason == "user_ended")
    assert [event.tool for event in played.events if isinstance(event, ToolCall) and event.caller == "agent"] == [
        "set_wifi_status",
        "get_wifi_status",
    ]
    assert played.started.agent == {"model": "m"}
    assert [event.seq for event in played.events] == list(range(1, len(played.events) + 1))


async def test_one_scenario_has_the_same_url_whenever_it_is_served_from_the_folder(tmp_path: Path) -> None:
    options = ("--scenario", "wifi_off", "--user-channel", "tool", "--session", "mine", "--state-dir", str(tmp_path))
    with http_process(*options, ends=signal.SIGKILL) as said:
        async with Client(said["agent"]) as client:
            await ask(client, "set_wifi_status", on=False)
    with http_process(*options, "--port", port_of(said)) as later:
        assert later["agent"] == said["agent"]
        async with Client(later["agent"]) as client:
            told = await ask(client, "send_message_to_user", content="Wifi is off.")
    assert (told["reply"] in THANKS, told["conversation_over"]) == (True, True)
    with http_process("--session", "mine", "--state-dir", str(tmp_path), "--port", port_of(said)) as over:
        assert over["session"] == "mine is over (user_ended); nothing more can be done in it"
    assert [path.name for path in tmp_path.glob("*.jsonl")] == ["mine.jsonl"]  # noqa: ASYNC240


def test_a_folder_is_not_served_twice(tmp_path: Path) -> None:
    with http_process("--state-dir", str(tmp_path)):
        done = run("serve", "--http", "--port", "0", "--state-dir", str(tmp_path))
    assert done.code == 2
    assert done.err == (
        f"sandbox-mcp: another server takes care of {str(tmp_path)!r}; stop it, or choose another folder\n"
    )


def test_a_server_that_is_told_to_stop_leaves_its_sessions_to_the_next(tmp_path: Path) -> None:
    options = ("--state-dir", str(tmp_path))
    with http_process(*options, SANDBOX_MCP_API_TOKEN=TOKEN) as said:
        new = api(said["base"], "POST", "/api/sessions", {"scenario": "wifi_off"})
    with http_process(*options, SANDBOX_MCP_API_TOKEN=TOKEN) as later:
        info = api(later["base"], "GET", f"/api/sessions/{new['id']}")
    assert not info["over"]
