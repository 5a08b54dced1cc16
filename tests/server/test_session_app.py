"""The lobby as an MCP App: a client that shows pages gets the session, and no model is told of it."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client
from mcp.client.client import ClientExtension

from sandbox_mcp.app.report.session_page import SessionPages
from sandbox_mcp.play.server.lobby.seats import Lobby, ManagedSeat
from sandbox_mcp.play.server.lobby.server import lobby_server
from sandbox_mcp.play.server.lobby.session_app import EXTENSION, MIME, PAGE, URI
from sandbox_mcp.play.session.manager import SessionManager
from tests.each import each
from tests.server.serving_kit import ERAS, SUITE, text_of
from tests.server.test_leaks import assert_clean

pytestmark = pytest.mark.anyio
each_era = each("era", ERAS)
WIFI_OFF = SUITE.get("wifi_off")
FROM_THE_ANSWER = ("score", "milestone", "minefield", WIFI_OFF.user.goal)


@asynccontextmanager
async def lobby(
    era: str,
    app: SessionPages | None = SessionPages(),  # noqa: B008
    extensions: Sequence[ClientExtension] = (),
) -> AsyncGenerator[Client]:
    manager = SessionManager(SUITE)
    server = lobby_server(SUITE, Lobby(manager, ManagedSeat(manager), app=app), app=app)
    async with Client(server, mode=era, extensions=extensions) as connected:
        yield connected


async def played(me: Client) -> None:
    """Play a scenario to its end."""
    await me.call_tool("start_scenario", {"name": "wifi_off"})
    await me.call_tool("set_wifi_status", {"on": False})
    for _ in range(3):
        said = await me.call_tool("send_message_to_user", {"content": "Wifi is now off."})
        if said.is_error or said.structured_content["conversation_over"]:
            return


def read_by_a_model(result: Any) -> str:
    return json.dumps([text_of(result), result.structured_content])


@each_era
async def test_a_session_that_is_over_is_shown_to_the_person_and_not_to_the_model(era: str) -> None:
    async with lobby(era) as me:
        await played(me)
        result = await me.call_tool("show_session", {})
    page = result.meta[PAGE]
    assert (page["scenario"], page["score"], page["state"]) == ("wifi_off", 1.0, "passed")
    assert json.loads(text_of(result)) == result.structured_content == {"shown": "wifi_off"}
    assert_clean(read_by_a_model(result), WIFI_OFF)


@each_era
async def test_giving_up_shows_what_there_was(era: str) -> None:
    async with lobby(era) as me:
        await me.call_tool("start_scenario", {"name": "wifi_off"})
        result = await me.call_tool("end_scenario", {})
    assert result.meta[PAGE]["ending"] == "abandoned"
    assert_clean(read_by_a_model(result), WIFI_OFF)


@each_era
async def test_a_session_that_is_played_is_not_shown(era: str) -> None:
    async with lobby(era) as me:
        before = await me.call_tool("show_session", {})
        await me.call_tool("start_scenario", {"name": "wifi_off"})
        during = await me.call_tool("show_session", {})
        others = [await me.call_tool("set_wifi_status", {"on": False}), await me.call_tool("list_scenarios", {})]
    assert text_of(before).startswith("NoScenarioError: no scenario has been played")
    assert text_of(during).startswith("ScenarioRunningError: scenario 'wifi_off' is running")
    assert not [result for result in (before, during, *others) if PAGE in (result.meta or {})]


@each_era
async def test_the_page_is_a_resource_that_the_tools_name(era: str) -> None:
    async with lobby(era) as me:
        tools = {tool.name: tool.meta for tool in (await me.list_tools()).tools}
        [listed] = (await me.list_resources()).resources
        [document] = (await me.read_resource(URI)).contents
    assert [name for name, meta in tools.items() if meta] == ["end_scenario", "show_session"]
    assert tools["show_session"] == {"ui": {"resourceUri": URI}}
    assert (str(listed.uri), listed.mime_type, document.mime_type) == (URI, MIME, MIME)
    assert document.text.startswith("<!doctype html>")
    assert len(document.text) < 200_000


@each("mode", ["legacy", "auto"])
async def test_the_server_says_that_it_has_pages(mode: str) -> None:
    async with lobby(mode) as me:
        assert (me.server_capabilities.extensions or {})[EXTENSION] == {"mimeTypes": [MIME]}


@each_era
async def test_the_document_knows_nothing_of_any_session(era: str) -> None:
    async with lobby(era) as me:
        before = (await me.read_resource(URI)).contents[0].text
        await played(me)
        assert (await me.read_resource(URI)).contents[0].text == before


class ShowsPages(ClientExtension):
    """A client that shows pages."""

    identifier = EXTENSION

    def settings(self) -> dict[str, Any]:
        return {"mimeTypes": [MIME]}


@each_era
async def test_only_a_client_with_pages_is_told_to_show_one(era: str) -> None:
    told = []
    for extensions in ([], [ShowsPages()]):
        async with lobby(era, extensions=extensions) as me:
            told.append((await me.call_tool("start_scenario", {"name": "wifi_off"})).structured_content["instructions"])
    assert "show_session" not in told[0]
    assert "call show_session and no other tool" in told[1]


@each_era
async def test_without_pages_the_lobby_is_what_it_was(era: str) -> None:
    async with lobby(era, None) as me:
        await me.call_tool("start_scenario", {"name": "wifi_off"})
        ended = await me.call_tool("end_scenario", {})
        assert "show_session" not in [tool.name for tool in (await me.list_tools()).tools]
        assert (await me.list_resources()).resources == []
    assert PAGE not in (ended.meta or {})
