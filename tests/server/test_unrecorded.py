"""What a server does when logs cannot be written, and that looking for scenarios keeps nobody waiting."""

import shutil
import threading
from pathlib import Path

import pytest
from sandbox_scenarios import Scenario, Suite

from sandbox_mcp.engine.worlds import default
from sandbox_mcp.play.session.manager import SessionManager
from tests.each import each
from tests.server.serving_kit import ERAS, SUITE, RawMcp, client, served, text_of
from tests.session.full_disks import no_file_beyond

pytestmark = pytest.mark.anyio


async def test_a_session_that_cannot_be_recorded_is_not_created_and_leaves_nothing(tmp_path: Path) -> None:
    async with served(SessionManager(SUITE, log_dir=tmp_path)) as server:
        SUITE.get("wifi_off")  # or it would be read, and what was read be kept, where there is room for nothing
        assert (await server.http.get("/healthz")).status_code == 200
        with no_file_beyond(500):
            answer = await server.api("POST", "/api/sessions", {"scenario": "wifi_off"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (500, "no_log")
        assert names_in(tmp_path) == []
        assert len(server.manager) == 0


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@each("era", ERAS)
@each("how", ["full", "removed"])
async def test_an_agent_is_told_that_its_call_did_not_happen(tmp_path: Path, era: str, how: str) -> None:
    async with served(SessionManager(SUITE, log_dir=tmp_path / "logs")) as server:
        created = await server.new()
        raw = await RawMcp(server.http, created["url"], era).open()
        if how == "removed":
            shutil.rmtree(tmp_path / "logs")
        with no_file_beyond(100 if how == "full" else 10**9):
            told = (await raw.call("set_wifi_status", '{"on": false}'))["result"]
        state = (await server.api("GET", f"/api/sessions/{created['id']}")).json()
        assert (told["isError"], told["content"][0]["text"][:9]) == (True, "LogError:")
        assert (state["over"], state["reason"]) == (True, "log_failed")


async def test_a_harness_is_told_that_the_session_is_over(tmp_path: Path) -> None:
    async with served(SessionManager(SUITE, log_dir=tmp_path)) as server:
        created = await server.new()
        with no_file_beyond(100):
            reply = await server.api("POST", f"/api/sessions/{created['id']}/messages", {"text": "Wifi is off."})
        assert (reply.json()["over"], reply.json()["reason"]) == (True, "log_failed")


class Watched(Suite):
    """A suite that knows which threads have looked into its files."""

    def __init__(self) -> None:
        super().__init__(worlds=[default()])  # which makes it one that has not looked into anything yet
        self.threads: set[threading.Thread] = set()

    def names(self, world: str = "") -> tuple[str, ...]:
        self.threads.add(threading.current_thread())
        return super().names(world)

    def get(self, name: str) -> Scenario:
        if name not in self._known.built:
            self.threads.add(threading.current_thread())
        return super().get(name)


async def test_looking_for_scenarios_holds_up_nobody_else() -> None:
    suite = Watched()
    async with served(SessionManager(suite)) as server:
        await server.api("POST", "/api/sessions", {"scenario": "nope"})
        await server.api("POST", "/api/sessions", {"scenario": "wifi_off"})
        async with client(f"{server.base}/mcp", ERAS[1]) as lobby:
            await lobby.call_tool("list_scenarios", {"search": "wifi"})
            assert "user_says" in text_of(await lobby.call_tool("start_scenario", {"name": "wifi_off"}))
        assert suite.threads
        assert threading.main_thread() not in suite.threads
