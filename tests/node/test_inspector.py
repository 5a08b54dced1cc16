"""The MCP Inspector without its windows, as a client of both eras over both transports."""

import sys
from pathlib import Path
from typing import Any

import pytest

from sandbox_mcp.engine.worlds import default
from sandbox_mcp.engine.worlds.phone import phone
from sandbox_mcp.play.server.lobby.texts import lobby_tools
from tests.node.conftest import Serve
from tests.node.toolbox import run

pytestmark = pytest.mark.anyio
each_era = pytest.mark.parametrize("era", ["legacy", "modern"])
each_place = pytest.mark.parametrize("which", ["session", "lobby"])
COMMAND = str(Path(sys.executable).with_name("sandbox-mcp"))
LISTED = {
    "session": {name for name, tool in phone.agent_tools.items() if tool.domain != "account"},
    "lobby": {tool.name for tool in lobby_tools(default(), shows=True)},
}
NO_SUCH_TOOL_OR_AN_ERROR = 5


def names(listed: Any) -> set[str]:
    return {tool["name"] for tool in listed["result"]["tools"]}


def over_pipes(which: str, logs: Path) -> list[str]:
    play = ["--scenario", "wifi_off", "--variant", "all_tools"] if which == "session" else []
    return [COMMAND, "serve", *play, "--log-dir", str(logs)]


def strictly(era: str) -> list[str]:
    return ["--protocol-era", era, "--method", "tools/list", "--strict", "--format", "json"]


def calling(era: str, name: str, *arguments: str) -> list[str]:
    given = [part for argument in arguments for part in ("--tool-arg", argument)]
    return ["--protocol-era", era, "--method", "tools/call", "--tool-name", name, *given, "--format", "json"]


@each_era
@each_place
async def test_over_http_no_schema_is_at_fault(
    inspector: list[str], serve: Serve, which: str, era: str, tmp_path: Path
) -> None:
    done = await run([*inspector, serve.url(which), "--transport", "http", *strictly(era)], tmp_path)
    assert done.code == 0, done.err
    assert "\n0 errors" in done.err
    assert names(done.json) == LISTED[which]


@each_era
@each_place
async def test_over_pipes_no_schema_is_at_fault(inspector: list[str], which: str, era: str, tmp_path: Path) -> None:
    done = await run([*inspector, *strictly(era), *over_pipes(which, tmp_path / "logs")], tmp_path)
    assert done.code == 0, done.err
    assert "\n0 errors" in done.err
    assert names(done.json) == LISTED[which]


@each_era
async def test_over_http_a_call_gives_its_result_and_a_fault_is_an_error_of_the_tool(
    inspector: list[str], serve: Serve, era: str, tmp_path: Path
) -> None:
    url = serve.session()
    call = [*inspector, url, "--transport", "http", *calling(era, "set_wifi_status", "on=false")]
    first, again = await run(call, tmp_path), await run(call, tmp_path)
    assert (first.code, first.json["result"]["structuredContent"]) == (0, {"result": None})
    assert (again.code, again.json["result"]["isError"]) == (NO_SUCH_TOOL_OR_AN_ERROR, True)


@each_era
async def test_over_pipes_a_call_gives_its_result(inspector: list[str], era: str, tmp_path: Path) -> None:
    command = over_pipes("session", tmp_path / "logs")
    done = await run([*inspector, *calling(era, "set_wifi_status", "on=false"), *command], tmp_path)
    assert (done.code, done.json["result"]["structuredContent"]) == (0, {"result": None})
