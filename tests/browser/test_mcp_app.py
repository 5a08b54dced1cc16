"""The session's page in a frame of a host, which speaks the protocol of MCP Apps to it, in a real browser."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from sandbox_mcp.app.report.session_page import SessionPages
from sandbox_mcp.play.server.lobby.seats import Lobby, ManagedSeat
from sandbox_mcp.play.server.lobby.server import lobby_server
from sandbox_mcp.play.server.lobby.session_app import URI
from sandbox_mcp.play.session.manager import SessionManager
from tests.browser.test_pages import shot
from tests.server.serving_kit import SUITE

HOST = """<!doctype html><meta charset="utf-8"><title>A host</title>
<iframe id="app" sandbox="allow-scripts" width="1200" height="800"></iframe>
<script id="given" type="application/json">%s</script>
<script>
window.heard = [];
const {html, result} = JSON.parse(document.getElementById("given").textContent);
const frame = document.getElementById("app");
const send = (message) => frame.contentWindow.postMessage({jsonrpc: "2.0", ...message}, "*");
addEventListener("message", ({data}) => {
  heard.push(data);
  if (data.method === "ui/initialize") send({id: data.id, result: {
    protocolVersion: "2026-01-26", hostInfo: {name: "host", version: "1"}, hostCapabilities: {},
    hostContext: {theme: "dark"}}});
  if (data.method === "ui/notifications/initialized") {
    send({method: "ui/notifications/tool-input", params: {arguments: {}}});
    send({method: "ui/notifications/tool-result", params: result});
  }
});
frame.srcdoc = html;
</script>"""


async def shown() -> tuple[str, dict[str, Any]]:
    """The document, and what a host gets of a session that went wrong."""
    manager, app = SessionManager(SUITE), SessionPages()
    async with Client(lobby_server(SUITE, Lobby(manager, ManagedSeat(manager), app=app), app=app)) as me:
        await me.call_tool("start_scenario", {"name": "wifi_off"})
        await me.call_tool("set_cellular_service_status", {"on": False})
        await me.call_tool("send_message_to_user", {"content": "<img src=x onerror=alert(1)> Wifi is now off."})
        result = await me.call_tool("show_session", {})
        document = (await me.read_resource(URI)).contents[0].text
    return document, result.model_dump(mode="json", by_alias=True, exclude_none=True)


@pytest.fixture(scope="module")
def report_file() -> Path:
    """Nothing: the browser of this module shows no report."""
    return Path()


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page that shows the session in a frame; the loop is a thread's own, as the browser's driver has one here."""
    with ThreadPoolExecutor(1) as thread:
        document, result = thread.submit(anyio.run, shown).result()
    place = tmp_path_factory.mktemp("host") / "host.html"
    place.write_text(HOST % json.dumps({"html": document, "result": result}).replace("<", "\\u003c"))
    return place


@pytest.fixture
def frame(host: Path, page: Any) -> Any:
    page.goto(host.as_uri())
    inside = page.frame_locator("#app")
    inside.locator("html[data-ready]").wait_for()
    return inside


def heard(page: Any, method: str) -> list[Any]:
    return page.evaluate("(method) => heard.filter((message) => message.method === method)", method)


def test_the_host_gives_the_page_its_session(page: Any, frame: Any) -> None:
    shot(page, "mcp-app")
    assert "wifi_off" in frame.locator(".session-head").inner_text()
    assert frame.locator(".milestone").count() == 2
    assert "<img src=x" in frame.locator(".conversation").inner_text()
    assert frame.locator("img").count() == 0


def test_the_page_says_how_large_it_is_and_takes_the_hosts_theme(page: Any, frame: Any) -> None:
    assert frame.locator("html").get_attribute("data-theme") == "dark"
    sizes = heard(page, "ui/notifications/size-changed")
    assert sizes
    assert all(size["params"]["height"] > 0 for size in sizes)


def test_keys_work_in_the_frame(page: Any, frame: Any) -> None:
    frame.locator(".conversation").click()
    before = frame.locator("#position").inner_text()
    page.keyboard.press("Home")
    assert frame.locator("#position").inner_text() != before


def test_the_page_lets_itself_be_taken_down(page: Any, frame: Any) -> None:
    page.evaluate("send({id: 77, method: 'ui/resource-teardown', params: {reason: 'done'}})")
    page.wait_for_function("heard.some((message) => message.id === 77 && message.result)")


def test_a_session_that_cannot_be_shown_says_why(page: Any, host: Path, tmp_path: Path) -> None:
    text = host.read_text()
    start, end = text.index('{"html"'), text.index("</script>\n<script>")
    given = json.loads(text[start:end])
    given["result"]["_meta"] = {"sandbox-mcp/page": {"problem": "This session is too large."}}
    place = tmp_path / "host.html"
    place.write_text(text[:start] + json.dumps(given).replace("<", "\\u003c") + text[end:])
    page.goto(place.as_uri())
    page.frame_locator("#app").get_by_text("This session is too large.").wait_for()
